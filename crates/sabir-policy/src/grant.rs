//! What a person approved for the rest of a session, as data that can be listed, described and
//! taken back.

use sabir_base::text::with_hidden_shown;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::command::{Place, Verdict, assess, runs_a_script};
use crate::gate::Confinement;

/// One approval and what it covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Grant {
    /// This command, word for word, in this folder.
    Command { argv: Vec<String>, cwd: String, confinement: Confinement },
    /// Commands that begin with these words, in one folder or in any.
    Prefix { argv_prefix: Vec<String>, cwd: Option<String>, confinement: Confinement },
    /// Changes to these files.
    Files { paths: Vec<String> },
    /// A tool of a server.
    Tool { server: String, tool: String },
}

/// What would have to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    Command { argv: &'a [String], cwd: &'a str, confinement: Confinement },
    Files { paths: &'a [String] },
    Tool { server: &'a str, tool: &'a str },
}

impl Grant {
    pub fn covers(&self, request: &Request<'_>) -> bool {
        match (self, request) {
            (
                Self::Command { argv, cwd, confinement },
                Request::Command { argv: asked, cwd: place, confinement: held },
            ) => argv == asked && cwd == place && held <= confinement,
            (
                Self::Prefix { argv_prefix, cwd, confinement },
                Request::Command { argv: asked, cwd: place, confinement: held },
            ) => {
                !argv_prefix.is_empty()
                    && asked.starts_with(argv_prefix)
                    && cwd.as_ref().is_none_or(|cwd| cwd == place)
                    && held <= confinement
                    && !runs_a_script(asked)
                    // Where it runs matters to what is safe only.
                    && assess(asked, Place::Session).verdict() != Verdict::Dangerous
            }
            (Self::Files { paths }, Request::Files { paths: asked }) => {
                !asked.is_empty() && asked.iter().all(|path| paths.contains(path))
            }
            (Self::Tool { server, tool }, Request::Tool { server: of, tool: asked }) => {
                server == of && tool == asked
            }
            (
                Self::Command { .. } | Self::Prefix { .. } | Self::Files { .. } | Self::Tool { .. },
                Request::Command { .. } | Request::Files { .. } | Request::Tool { .. },
            ) => false,
        }
    }

    /// In words, for the person who is about to say yes.
    pub fn describe(&self) -> String {
        match self {
            Self::Command { argv, cwd, confinement } => {
                format!(
                    "exactly `{}` in {}{}",
                    as_typed(argv),
                    with_hidden_shown(cwd),
                    outside(*confinement)
                )
            }
            Self::Prefix { argv_prefix, .. } if argv_prefix.is_empty() => "nothing".to_owned(),
            Self::Prefix { argv_prefix, cwd, confinement } => {
                let place = cwd.as_ref().map_or("any folder".into(), |cwd| with_hidden_shown(cwd));
                format!(
                    "every command that begins with `{}` in {place}{}, but no scripts and nothing \
                     destructive",
                    as_typed(argv_prefix),
                    outside(*confinement)
                )
            }
            Self::Files { paths } => {
                let paths: Vec<_> = paths.iter().map(|path| with_hidden_shown(path)).collect();
                format!("changes to {}", paths.join(", "))
            }
            Self::Tool { server, tool } => {
                format!(
                    "every call of the tool `{}` of the server `{}`",
                    with_hidden_shown(tool),
                    with_hidden_shown(server)
                )
            }
        }
    }
}

fn outside(confinement: Confinement) -> &'static str {
    match confinement {
        Confinement::Confined => "",
        Confinement::Unconfined => ", outside of the sandbox",
    }
}

/// A command as it would be typed, so that it is seen where a word ends. What is hidden in it is
/// spelled out: somebody decides about it.
pub fn as_typed(argv: &[String]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,+@%=^".contains(c);
    let quote = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", with_hidden_shown(word).replace('\'', r"'\''")),
    };
    argv.iter().map(quote).collect::<Vec<_>>().join(" ")
}
