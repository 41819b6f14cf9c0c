//! What a command is, judged from its words alone: known to only read, destructive, or neither.
//!
//! Scripts of shells are parsed before anything in them is called safe. What cannot be read, or
//! cannot be known before it runs, is never safe.

mod contents;
mod danger;
mod destructive;
mod git;
mod known_safe;
mod plain;
mod rough;
mod safe;
mod said;
mod shell_call;
mod source;
mod tree;
mod word;
mod written;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::roots::plain_parts;
use danger::Search;

/// What a command is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assessment {
    /// It is known to only read.
    Safe,
    /// Not known to be safe, and nothing destructive was seen.
    Ordinary { why: String },
    /// It destroys what cannot be brought back.
    Dangerous { why: String },
}

impl Assessment {
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Safe => Verdict::Safe,
            Self::Ordinary { .. } => Verdict::Ordinary,
            Self::Dangerous { .. } => Verdict::Dangerous,
        }
    }

    /// In words for a person.
    pub fn why(&self) -> &str {
        match self {
            Self::Safe => "it only reads",
            Self::Ordinary { why } | Self::Dangerous { why } => why,
        }
    }
}

/// An assessment without its words, from harmless to destructive.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Safe,
    Ordinary,
    Dangerous,
}

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the folder that a person chose for the session.
    Session,
    /// In any other, below it too: what stands there can be anybody's.
    Elsewhere,
}

impl Place {
    /// Tells from the text of two absolute paths.
    pub fn of(folder: &str, session: &str) -> Self {
        let is_same = plain_parts(folder).is_some_and(|it| plain_parts(session) == Some(it));
        if is_same || folder == session { Self::Session } else { Self::Elsewhere }
    }
}

/// Judges a command as a program would be started with it: `argv[0]` is the program, and no shell
/// stands in between unless it is named.
pub fn assess(argv: &[String], place: Place) -> Assessment {
    if argv.is_empty() {
        return Assessment::Ordinary { why: "there is no command".to_owned() };
    }
    if argv.iter().any(|word| word.contains('\0')) {
        return Assessment::Ordinary { why: "an argument holds a NUL byte".to_owned() };
    }
    let shorter: Vec<String> =
        argv.iter().map(|word| written::without_written_text(word).into_owned()).collect();
    let argv = shorter.as_slice();
    if argv.iter().map(|word| word.len() + 1).sum::<usize>() > MAX_BYTES {
        return looked_over(argv, TOO_LONG);
    }
    let mut search = Search::new();
    if let Some(why) = search.words(&word::literal(argv), 0) {
        return Assessment::Dangerous { why };
    }
    if let Some(why) = search.unclear() {
        return looked_over(argv, why);
    }
    match safe::check(argv, place) {
        Ok(()) => Assessment::Safe,
        Err(why) => Assessment::Ordinary { why },
    }
}

/// What could not be judged can be anything. If a look at its words finds a better reason, it is
/// given.
fn looked_over(argv: &[String], why: &str) -> Assessment {
    let found = rough::scan(argv.iter().map(String::as_str));
    Assessment::Dangerous { why: found.unwrap_or_else(|| why.to_owned()) }
}

/// Whether a shell reads a script somewhere in this command: such a command does what its script
/// says, not what its first words say.
pub(crate) fn runs_a_script(argv: &[String]) -> bool {
    let names: Vec<&str> = argv.iter().map(|word| word::base_name(word)).collect();
    let Some(first) = names.first() else { return false };
    let is_shell =
        |name: &&str| destructive::SHELLS.contains(name) || destructive::EVALUATORS.contains(name);
    is_shell(first)
        || ((danger::runner(first).is_some() || first.contains('=')) && names.iter().any(is_shell))
}

/// More than anybody writes by hand, and little enough that judging it is not felt.
const MAX_BYTES: usize = 64 * 1024;
const TOO_LONG: &str = "it is too long to judge";
