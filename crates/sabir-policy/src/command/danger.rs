//! Looks for what is destructive, wherever in a command it stands: behind other commands that run
//! it, in scripts, in substitutions, in here-documents that a shell reads.
//!
//! Where a word is not known, the question is what it could be. A command whose name is not known
//! can be any command, and so can a subcommand of git; an argument of `rm` that can be an option
//! can be `-rf`.

use super::contents::{self, Contents};
use super::destructive::{self, CommandAt, Row, Runner, When};
use super::source::{Source, Values};
use super::word::{self, Word};
use super::{TOO_LONG, git, known_safe, rough, shell_call, tree};

/// One search through one command, with a bound on its work.
#[derive(Debug)]
pub(super) struct Search {
    steps_left: usize,
    unclear: Option<&'static str>,
    /// The values of variables around what is looked at.
    values: Values,
    sight: Sight,
    /// Something here decides which settings git believes.
    pub(super) changes_git: bool,
}

/// How sure it is that a text is a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Script,
    /// It may be prose, or a script in another language: only what is destructive by its own words
    /// counts, and that it cannot be parsed says nothing.
    Perhaps,
}

impl Search {
    pub(super) fn new() -> Self {
        Self {
            steps_left: MAX_STEPS,
            unclear: None,
            values: Values::new(),
            sight: Sight::Script,
            changes_git: false,
        }
    }

    /// Why the search could not see everything.
    pub(super) fn unclear(&self) -> Option<&'static str> {
        self.unclear
    }

    /// What is destructive about this command, in words.
    pub(super) fn words(&mut self, words: &[Word], depth: usize) -> Option<String> {
        for word in words {
            if let Some((name, value)) = word::as_assignment(&word.text)
                && let Some(why) = self.assignment(name, value, depth)
            {
                return Some(why);
            }
        }
        let words = &with_input(without_assignments(words))[..];
        if self.sight == Sight::Script
            && let Some(why) = loose_name(words)
        {
            return Some(why);
        }
        if let Some(why) = self.here(words, depth) {
            return Some(why);
        }
        let name = word::base_name(&words.first()?.text);
        if destructive::CONTAINERS.contains(&name) {
            let runs = |word: &Word| matches!(&*word.text, "exec" | "run");
            let at = words.iter().position(runs)?;
            return self.behind(&words[at..], depth);
        }
        runner(name).is_some().then(|| self.behind(words, depth))?
    }

    /// What stands in a script.
    pub(super) fn script(&mut self, script: &str, depth: usize) -> Option<String> {
        // A backslash before a line break joins the lines, in the middle of a word too. Where it
        // does not (in a comment, in quotes) the script as it stands is the one that counts.
        let joined = script.contains("\\\n").then(|| script.replace("\\\n", ""));
        [Some(script), joined.as_deref()]
            .into_iter()
            .flatten()
            .find_map(|script| self.one_script(script, depth))
    }

    /// What stands in a text that may be a script.
    pub(super) fn perhaps_script(&mut self, text: &str, depth: usize) -> Option<String> {
        let sight = std::mem::replace(&mut self.sight, Sight::Perhaps);
        let found = self.script(text, depth);
        self.sight = sight;
        found
    }

    fn one_script(&mut self, script: &str, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return self.give_up(TOO_DEEP);
        }
        if !self.spend(PARSE_STEPS + script.len()) {
            return None;
        }
        let tree = tree::parse(script);
        if self.sight == Sight::Perhaps && tree.as_ref().is_none_or(|it| it.root_node().has_error())
        {
            return rough::scan([script].into_iter());
        }
        let Some(tree) = tree else { return self.give_up(TOO_LONG) };
        if tree.root_node().has_error() {
            self.give_up("its script cannot be parsed");
        }
        let mut source = Source::new(script, self.values.clone());
        source.learn(&tree);
        let Some(contents) = contents::read(&source, &tree) else { return self.give_up(TOO_LONG) };
        let outer = std::mem::replace(&mut self.values, source.into_values());
        let found = self.contents(&contents, depth);
        self.values = outer;
        found
    }

    fn contents(&mut self, contents: &Contents, depth: usize) -> Option<String> {
        if contents.found.is_some() {
            return contents.found.clone();
        }
        self.changes_git |= contents.writes_settings;
        for (name, value) in &contents.assignments {
            if let Some(why) = self.assignment(name, value, depth) {
                return Some(why);
            }
        }
        for words in &contents.commands {
            if let Some(why) = self.words(words, depth) {
                return Some(why);
            }
            if let Some(meant) = contents.without_alias(words)
                && let Some(why) = self.words(&meant, depth)
            {
                return Some(why);
            }
        }
        if contents.is_fed_blindly && self.sight == Sight::Script {
            return Some("a shell runs what another command prints".to_owned());
        }
        let reads_scripts = contents.reads_scripts();
        contents.texts.iter().find_map(|text| match text.is_fed {
            true => self.script(&text.text, depth + 1),
            false if reads_scripts => self.perhaps_script(&text.text, depth + 1),
            false => None,
        })
    }

    /// `A=b`, wherever it stands: git and shells take commands from some variables.
    fn assignment(&mut self, name: &str, value: &str, depth: usize) -> Option<String> {
        self.changes_git |= starred(destructive::GIT_VARIABLES, name);
        let is_command = starred(destructive::COMMAND_VARIABLES, name);
        is_command.then(|| self.git_value(value, depth))?
    }

    /// What this command itself does; not what it runs.
    pub(super) fn here(&mut self, words: &[Word], depth: usize) -> Option<String> {
        let (first, arguments) = words.split_first()?;
        if depth > MAX_DEPTH {
            return self.give_up(TOO_DEEP);
        }
        if !self.spend(1) {
            return None;
        }
        let name = word::base_name(&first.text);
        if is_listed(name) {
            if !self.spend(words.len()) {
                return None;
            }
            if let Some(why) = row_for(destructive::COMMANDS, name, arguments) {
                return Some(format!("`{}` {why}", word::shown(name)));
            }
        }
        if first.is_loose() && removes_by_its_flags(arguments) {
            return Some("an unknown command is given the flags of `rm -rf`".to_owned());
        }
        if destructive::BY_SUBCOMMAND.contains(&name)
            && arguments.first().is_some_and(|it| it.is_loose() && it.text.is_empty())
        {
            return Some(format!("which subcommand of `{name}` runs is not known"));
        }
        if name == "git" {
            return self.git(arguments, depth);
        }
        if let Some(why) = name.strip_prefix("git-").and_then(|it| git::row(it, arguments)) {
            return Some(why);
        }
        if destructive::SHELLS.contains(&name) {
            return self.shell(arguments, depth);
        }
        if starred(destructive::INTERPRETERS, name) {
            return rough::scan_each(arguments.iter().map(|word| &*word.text));
        }
        match name {
            "eval" => {
                if arguments.iter().any(Word::is_loose) {
                    return Some("`eval` runs a text that is not known".to_owned());
                }
                let is_end = arguments.first().is_some_and(|word| word.text == "--");
                let text = Word::joined(&arguments[usize::from(is_end)..], " ").text;
                self.script(&text, depth + 1)
            }
            "trap" => {
                let handler = arguments.iter().find(|word| !word.text.starts_with('-'))?;
                self.script(&handler.as_script(), depth + 1)
            }
            "alias" => arguments
                .iter()
                .filter_map(|word| word.text.split_once('='))
                .find_map(|(_, value)| self.perhaps_script(value, depth + 1)),
            _ => None,
        }
    }

    /// Every argument is looked at as if a command began there.
    fn behind(&mut self, words: &[Word], depth: usize) -> Option<String> {
        let mut words = words;
        let name = word::base_name(&words.first()?.text);
        if name == "find" {
            let runs = |word: &Word| word.text.starts_with("-exec") || word.text.starts_with("-ok");
            let mut first = None;
            for (at, _) in words.iter().enumerate().filter(|(_, word)| runs(word)) {
                first = first.or(Some(at));
                if let Some(why) = self.repeated(words.get(at + 1)) {
                    return Some(why);
                }
            }
            words = &words[first?..];
        }
        if destructive::COMMAND_TAKERS.contains(&name)
            && let Some(at) =
                words.iter().position(|it| word::is_option(&it.text, "c", &["command"]))
            && let Some(script) = words.get(at + 1)
            && let Some(why) = self.script(&script.as_script(), depth + 1)
        {
            return Some(why);
        }
        let (mut repeats, mut reads) = (false, false);
        for at in 0..words.len() {
            let name = word::base_name(&words[at].text);
            // What `xargs` adds is not for the arguments of a reader: `xargs grep rm`.
            let end =
                words.len() - usize::from(reads && words.last().is_some_and(Word::is_anything));
            if at > 0
                && let Some(why) = self.here(words.get(at..end).unwrap_or_default(), depth)
            {
                return Some(why);
            }
            if repeats && let Some(why) = self.repeated(words.get(at)) {
                return Some(why);
            }
            // Once a reader was named, what follows are its arguments.
            let is_reader = known_safe::COMMANDS.iter().any(|(listed, _)| *listed == name);
            let is_repeater = destructive::REPEATERS.contains(&name);
            repeats = is_repeater || (repeats && !is_reader);
            reads |= is_reader;
        }
        self.script_arguments(words, depth)
    }

    fn repeated(&mut self, word: Option<&Word>) -> Option<String> {
        let word = word?;
        let name = word::base_name(&word.text);
        if destructive::REMOVERS.contains(&name) {
            return Some(format!("`{name}` is run for everything that was found"));
        }
        None
    }

    fn shell(&mut self, arguments: &[Word], depth: usize) -> Option<String> {
        if !self.spend(arguments.len()) {
            return None;
        }
        let texts: Vec<String> = arguments.iter().map(Word::as_script).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let script = shell_call::read(&texts).script;
        if let Some(why) = script.and_then(|script| self.script(script, depth + 1)) {
            return Some(why);
        }
        // `sh -c '"$@"' sh rm -rf x`: what follows the script can be its command.
        let behind = match script.and_then(|script| texts.iter().position(|it| *it == script)) {
            Some(at) => &arguments[at + 1..],
            None => arguments,
        };
        if script.is_some()
            && let Some(why) = (0..behind.len()).find_map(|at| self.here(&behind[at..], depth + 1))
        {
            return Some(why);
        }
        self.script_arguments(behind, depth)
    }

    /// An argument with blanks in it may be a script to whoever gets it.
    pub(super) fn script_arguments(&mut self, words: &[Word], depth: usize) -> Option<String> {
        for (at, word) in words.iter().enumerate() {
            let text = &word.text;
            if !text.contains(char::is_whitespace) {
                continue;
            }
            // `--split-string=rm -rf`, `ext::rm -rf`.
            let mut readings = vec![text.as_str()];
            readings.extend(text.strip_prefix("--").and_then(|it| Some(it.split_once('=')?.1)));
            readings.extend(text.split_once("::").map(|(_, address)| address));
            // `-Srm -rf`, `-iSrm -rf`.
            if text.starts_with('-') {
                readings.extend((2..=MAX_LETTERS).filter_map(|letters| text.get(letters..)));
            }
            // `env -S 'nice rm' -rf x`: what follows belongs to it.
            let whole = Word::joined(&words[at..], " ").text;
            readings.push(&whole);
            for script in readings {
                if let Some(why) = self.perhaps_script(script, depth + 1) {
                    return Some(why);
                }
            }
        }
        None
    }

    pub(super) fn spend(&mut self, steps: usize) -> bool {
        match self.steps_left.checked_sub(steps) {
            Some(left) => self.steps_left = left,
            None => {
                self.steps_left = 0;
                self.unclear = Some(TOO_LONG);
                return false;
            }
        }
        true
    }

    fn give_up(&mut self, why: &'static str) -> Option<String> {
        self.unclear = self.unclear.or(Some(why));
        None
    }
}

/// Whether the table has a row for commands of this name.
pub(super) fn is_listed(name: &str) -> bool {
    name == "git" || destructive::COMMANDS.iter().any(|row| is_named(row.name, name))
}

/// What a row of the table says about a command, whoever runs it.
pub(super) fn listed(name: &str, arguments: &[Word]) -> Option<String> {
    if name == "git" {
        // Without a parse nobody knows where the options of git end.
        return (0..arguments.len().min(MAX_GLOBAL_OPTIONS))
            .find_map(|at| git::row(&arguments[at].text, &arguments[at + 1..]));
    }
    row_for(destructive::COMMANDS, name, arguments)
        .map(|why| format!("`{}` {why}", word::shown(name)))
}

pub(super) fn row_for(
    rows: &'static [Row],
    name: &str,
    arguments: &[Word],
) -> Option<&'static str> {
    let mut rows = rows.iter();
    rows.find(|row| is_named(row.name, name) && applies(row.when, arguments)).map(|row| row.why)
}

/// Whether a list has this name; a star at the end of an entry stands for anything.
pub(super) fn starred(listed: &[&str], name: &str) -> bool {
    listed.iter().any(|listed| is_named(listed, name))
}

fn is_named(listed: &str, name: &str) -> bool {
    match listed.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == listed,
    }
}

pub(super) fn runner(name: &str) -> Option<&'static Runner> {
    destructive::RUNNERS.iter().find(|runner| runner.name == name)
}

/// Why the name of this command, or of one that it runs, may be any.
fn loose_name(words: &[Word]) -> Option<String> {
    let first = words.first()?;
    if !first.names_a_command() {
        return Some("which command runs is not known".to_owned());
    }
    let name = word::base_name(&first.text);
    if name == "find" {
        let runs = |word: &Word| word.text.starts_with("-exec") || word.text.starts_with("-ok");
        return words
            .iter()
            .zip(words.iter().skip(1))
            .filter(|(word, _)| runs(word))
            .find_map(|(_, command)| loose_name(std::slice::from_ref(command)));
    }
    run_by(runner(name)?, words).and_then(loose_name)
}

/// The command that a runner runs, if its place is known.
pub(super) fn run_by<'w>(runner: &Runner, words: &'w [Word]) -> Option<&'w [Word]> {
    let CommandAt::Argument(skipped) = runner.command else { return None };
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        // `command -v x` asks where `x` is.
        if runner.name == "command" && matches!(text, "-v" | "-V") {
            return None;
        }
        if text == "--" {
            at += 1;
            break;
        }
        if let Some(letters) = text.strip_prefix('-').filter(|it| !it.is_empty()) {
            let takes_next =
                !letters.starts_with('-') && letters.ends_with(|c| runner.values.contains(c));
            at += if takes_next { 2 } else { 1 };
        } else if word::as_assignment(text).is_some() {
            at += 1;
        } else {
            break;
        }
    }
    words.get(at + skipped..).filter(|it| !it.is_empty())
}

fn applies(when: When, arguments: &[Word]) -> bool {
    let mut texts = arguments.iter().map(|word| word.text.as_str());
    let mut options = arguments.iter().take_while(|word| word.text != "--" || word.is_loose());
    match when {
        When::Always => true,
        When::Flag { short, long } => {
            options.any(|it| word::is_option(&it.text, short, long) || it.is_unfinished_option())
        }
        When::NoFlag { short, long } => !options.any(|it| word::is_option(&it.text, short, long)),
        When::PerhapsOptions => options.any(Word::may_be_options),
        When::Argument(listed) => texts.any(|text| listed.contains(&text)),
        When::Beginning(listed) => texts.any(|text| listed.iter().any(|it| text.starts_with(it))),
        When::Phrase(phrase) => arguments
            .windows(phrase.len())
            .any(|words| words.iter().zip(phrase).all(|(word, listed)| word.text == *listed)),
        When::Device => texts.any(|text| is_device(text.strip_prefix("of=").unwrap_or(text))),
    }
}

/// `-rf`, `-fr`, `-r -f`: letters that `rm` takes and hardly anything else takes together.
fn removes_by_its_flags(arguments: &[Word]) -> bool {
    let letters: String = arguments
        .iter()
        .filter_map(|word| word.text.strip_prefix('-'))
        .filter(|it| !it.is_empty() && it.chars().all(|letter| "rRfvdiI".contains(letter)))
        .collect();
    letters.contains('f') && letters.contains(['r', 'R'])
}

pub(super) fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
        && !destructive::HARMLESS_DEVICES.iter().any(|harmless| match harmless.strip_suffix('/') {
            Some(_) => path.starts_with(harmless),
            None => path == *harmless,
        })
}

/// `A=1 B=2 rm -rf x` is `rm -rf x`.
fn without_assignments(words: &[Word]) -> &[Word] {
    let start = words.iter().take_while(|word| word::as_assignment(&word.text).is_some()).count();
    &words[start..]
}

/// `xargs` and `parallel` add words that nobody knows, at the end or in the place of `{}`.
fn with_input(words: &[Word]) -> Vec<Word> {
    let mut words = words.to_vec();
    let is_first_a_runner =
        words.first().is_some_and(|word| runner(word::base_name(&word.text)).is_some());
    let adds = |word: &Word| matches!(word::base_name(&word.text), "xargs" | "parallel");
    let Some(at) = words.iter().position(adds).filter(|_| is_first_a_runner) else { return words };
    let mut place = "{}".to_owned();
    for (option, next) in words[at..].iter().zip(words[at..].iter().skip(1)) {
        let text = option.text.as_str();
        match text.strip_prefix("-I").or_else(|| text.strip_prefix("--replace=")) {
            Some("") => place = next.text.clone(),
            Some(it) => place = it.to_owned(),
            None => {}
        }
    }
    let mut is_placed = false;
    for word in &mut words[at + 1..] {
        if !place.is_empty() && word.text.contains(&place) && !word.text.starts_with('-') {
            *word = word.with_unknown(&place);
            is_placed = true;
        }
    }
    let xargs = runner("xargs").filter(|_| word::base_name(&words[at].text) == "xargs");
    if !is_placed && xargs.is_some_and(|xargs| run_by(xargs, &words[at..]).is_some()) {
        words.push(Word::anything());
    }
    words
}

/// Enough for every script under the limit of bytes, with scripts inside.
const MAX_STEPS: usize = 400_000;
/// What it costs to parse even the shortest script.
const PARSE_STEPS: usize = 200;
/// Scripts within scripts; each level needs another level of quotes.
const MAX_DEPTH: usize = 8;
const TOO_DEEP: &str = "it is nested too deeply to judge";
/// Where in a cluster of short options the value of the last one is looked for.
const MAX_LETTERS: usize = 4;
/// How far behind the word `git` its subcommand is looked for where nothing was parsed.
const MAX_GLOBAL_OPTIONS: usize = 16;
