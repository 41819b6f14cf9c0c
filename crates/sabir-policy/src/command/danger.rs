//! Looks for what is destructive, wherever in a command it stands: behind other commands that run
//! it, in scripts, in substitutions, in here-documents that a shell reads.

use super::destructive::{self, Row, When};
use super::word::{self, Word};
use super::{known_safe, shell_call, tree};

/// One search through one command, with a bound on its work.
#[derive(Debug)]
pub(super) struct Search {
    steps_left: usize,
    unclear: Option<&'static str>,
}

impl Search {
    pub(super) fn new() -> Self {
        Self { steps_left: MAX_STEPS, unclear: None }
    }

    /// Why the search could not see everything.
    pub(super) fn unclear(&self) -> Option<&'static str> {
        self.unclear
    }

    /// What is destructive about this command, in words.
    pub(super) fn words(&mut self, words: &[Word], depth: usize) -> Option<String> {
        let words = without_assignments(words);
        let name = word::base_name(&words.first()?.text);
        if let Some(why) = self.here(words, depth) {
            return Some(why);
        }
        destructive::RUNNERS.contains(&name).then(|| self.behind(words, depth))?
    }

    /// What stands in a script.
    fn script(&mut self, script: &str, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return self.give_up(TOO_DEEP);
        }
        if !self.spend(PARSE_STEPS + script.len()) {
            return None;
        }
        let Some(tree) = tree::parse(script) else {
            return self.give_up("it is too long to judge");
        };
        if tree.root_node().has_error() {
            self.give_up("its script cannot be parsed");
        }
        let mut source = tree::Source::new(script);
        tree::walk(&tree, |node| {
            if node.kind() == "variable_assignment" {
                source.learn(node);
            }
        });
        let mut commands: Vec<Vec<Word>> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        let mut found = None;
        tree::walk(&tree, |node| match node.kind() {
            "command" => {
                let words = source.command(node);
                if words.first().is_some_and(|word| matches!(&*word.text, "echo" | "printf")) {
                    let said: Vec<&str> = words[1..].iter().map(|word| &*word.text).collect();
                    texts.push(said.join(" "));
                }
                commands.push(words);
            }
            "heredoc_body" => texts.push(source.slice(node).to_owned()),
            "herestring_redirect" => texts
                .extend(tree::children(node).flat_map(|it| source.words(it)).map(|word| word.text)),
            "file_redirect" => {
                let mut targets: Vec<Word> = tree::children(node)
                    .filter(|child| child.is_named() && child.kind() != "file_descriptor")
                    .flat_map(|child| source.words(child))
                    .collect();
                if source.slice(node).contains('>')
                    && let Some(target) = targets.iter().find(|word| is_device(&word.text))
                {
                    found = Some(format!(
                        "`> {}` writes over a whole device",
                        word::shown(&target.text)
                    ));
                }
                // Only the first is the file; the grammar keeps what follows it in here too.
                if targets.len() > 1 {
                    targets.remove(0);
                    let mut beside = body_of(node).map_or(Vec::new(), |it| source.command(it));
                    beside.extend(targets.iter().cloned());
                    commands.push(beside);
                    commands.push(targets);
                }
            }
            _ => {}
        });
        if found.is_some() {
            return found;
        }
        for words in &commands {
            if let Some(why) = self.words(words, depth) {
                return Some(why);
            }
        }
        let reads_scripts = commands.iter().any(|words| {
            let mut names = words.iter().map(|word| word::base_name(&word.text));
            names.clone().next().is_some_and(|it| destructive::SCRIPT_READERS.contains(&it))
                || names.any(|name| destructive::SHELLS.contains(&name))
        });
        if reads_scripts {
            return texts.iter().find_map(|text| self.script(text, depth + 1));
        }
        None
    }

    /// What this command itself does; not what it runs.
    fn here(&mut self, words: &[Word], depth: usize) -> Option<String> {
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
        if first.loose && removes_by_its_flags(arguments) {
            return Some("an unknown command is given the flags of `rm -rf`".to_owned());
        }
        if name == "git" {
            return self.git(arguments, depth);
        }
        if destructive::SHELLS.contains(&name) {
            return self.shell(arguments, depth);
        }
        if destructive::EVALUATORS.contains(&name) {
            let joined: Vec<&str> = arguments.iter().map(|word| &*word.text).collect();
            return self
                .script(&joined.join(" "), depth + 1)
                .or_else(|| self.script_arguments(arguments, depth));
        }
        None
    }

    /// Every argument is looked at as if a command began there.
    fn behind(&mut self, words: &[Word], depth: usize) -> Option<String> {
        let mut words = words;
        if words.first().is_some_and(|word| word::base_name(&word.text) == "find") {
            let runs = |word: &Word| word.text.starts_with("-exec") || word.text.starts_with("-ok");
            words = &words[words.iter().position(runs)?..];
            if let Some(why) = self.repeated(words.get(1)) {
                return Some(why);
            }
        }
        let mut repeats = false;
        for at in 0..words.len() {
            let name = word::base_name(&words[at].text);
            if at > 0
                && let Some(why) = self.here(&words[at..], depth)
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
        }
        self.script_arguments(words, depth)
    }

    fn repeated(&mut self, word: Option<&Word>) -> Option<String> {
        let name = word::base_name(&word?.text);
        let removes = destructive::REMOVERS.contains(&name);
        removes.then(|| format!("`{name}` is run for everything that was found"))
    }

    fn shell(&mut self, arguments: &[Word], depth: usize) -> Option<String> {
        if !self.spend(arguments.len()) {
            return None;
        }
        let texts: Vec<&str> = arguments.iter().map(|word| &*word.text).collect();
        let script = shell_call::read(&texts).script;
        if let Some(why) = script.and_then(|script| self.script(script, depth + 1)) {
            return Some(why);
        }
        // `sh -c '"$@"' sh rm -rf x`: what follows the script can be its command.
        if script.is_some()
            && let Some(why) =
                (1..arguments.len()).find_map(|at| self.here(&arguments[at..], depth + 1))
        {
            return Some(why);
        }
        self.script_arguments(arguments, depth)
    }

    /// An argument with blanks in it may be a script to whoever gets it.
    fn script_arguments(&mut self, words: &[Word], depth: usize) -> Option<String> {
        for word in words.iter().filter(|word| word.text.contains(char::is_whitespace)) {
            let text = &word.text;
            // `--split-string=rm -rf`, `alias x=rm -rf`, `-Srm -rf`.
            let value = text.split_once('=').map(|(_, value)| value);
            let behind_letter = text.strip_prefix('-').and_then(|it| {
                let letter = it.chars().next()?;
                it.get(letter.len_utf8()..)
            });
            for script in [Some(text.as_str()), value, behind_letter].into_iter().flatten() {
                if let Some(why) = self.script(script, depth + 1) {
                    return Some(why);
                }
            }
        }
        None
    }

    fn git(&mut self, arguments: &[Word], depth: usize) -> Option<String> {
        if !self.spend(arguments.len()) {
            return None;
        }
        let mut rest = arguments;
        while let [option, tail @ ..] = rest
            && option.text.starts_with('-')
        {
            rest = tail;
            if destructive::GIT_OPTIONS_WITH_VALUE.contains(&&*option.text) {
                let value = tail.first();
                rest = tail.get(1..).unwrap_or_default();
                if option.text == "-c"
                    && let Some((_, value)) = value.and_then(|word| word.text.split_once('='))
                    && let Some(why) = self.git_setting(value, depth)
                {
                    return Some(why);
                }
            }
        }
        let (name, arguments) = rest.split_first()?;
        if let Some(why) = git_row(&name.text, arguments) {
            return Some(why);
        }
        if destructive::GIT_RUNNERS.contains(&&*name.text) {
            return (0..arguments.len())
                .find_map(|at| self.here(&arguments[at..], depth + 1))
                .or_else(|| self.script_arguments(arguments, depth));
        }
        None
    }

    /// The value of a setting can be a command, and an alias one of git's own.
    fn git_setting(&mut self, value: &str, depth: usize) -> Option<String> {
        let mut words =
            value.split_whitespace().map(|text| Word { text: text.to_owned(), loose: false });
        let alias = words.next().and_then(|name| git_row(&name.text, &words.collect::<Vec<_>>()));
        alias.or_else(|| self.script(value.strip_prefix('!').unwrap_or(value), depth + 1))
    }

    fn spend(&mut self, steps: usize) -> bool {
        match self.steps_left.checked_sub(steps) {
            Some(left) => self.steps_left = left,
            None => {
                self.steps_left = 0;
                self.unclear = Some("it is too long to judge");
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
    name == "git" || destructive::COMMANDS.iter().any(|row| names(row, name))
}

/// What a row of the table says about a command, whoever runs it.
pub(super) fn listed(name: &str, arguments: &[Word]) -> Option<String> {
    if name == "git" {
        // Without a parse nobody knows where the options of git end.
        return (0..arguments.len().min(MAX_GLOBAL_OPTIONS))
            .find_map(|at| git_row(&arguments[at].text, &arguments[at + 1..]));
    }
    row_for(destructive::COMMANDS, name, arguments)
        .map(|why| format!("`{}` {why}", word::shown(name)))
}

fn git_row(name: &str, arguments: &[Word]) -> Option<String> {
    row_for(destructive::GIT, name, arguments).map(|why| format!("`git {name}` {why}"))
}

fn row_for(rows: &'static [Row], name: &str, arguments: &[Word]) -> Option<&'static str> {
    rows.iter().find(|row| names(row, name) && applies(row.when, arguments)).map(|row| row.why)
}

fn names(row: &Row, name: &str) -> bool {
    match row.name.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == row.name,
    }
}

fn applies(when: When, arguments: &[Word]) -> bool {
    let mut texts = arguments.iter().map(|word| word.text.as_str());
    match when {
        When::Always => true,
        When::Flag { short, long } => has_flag(texts, short, long),
        When::NoFlag { short, long } => !has_flag(texts, short, long),
        When::Argument(listed) => texts.any(|text| listed.contains(&text)),
        When::Beginning(listed) => texts.any(|text| listed.iter().any(|it| text.starts_with(it))),
        When::Phrase(phrase) => arguments
            .windows(phrase.len())
            .any(|words| words.iter().zip(phrase).all(|(word, listed)| word.text == *listed)),
        When::Device => texts.any(|text| is_device(text.strip_prefix("of=").unwrap_or(text))),
    }
}

fn has_flag<'a>(texts: impl Iterator<Item = &'a str>, short: &str, long: &[&str]) -> bool {
    texts.take_while(|text| *text != "--").any(|text| match text.strip_prefix("--") {
        Some(option) => {
            let option = option.split('=').next().unwrap_or_default();
            !option.is_empty() && long.iter().any(|listed| listed.starts_with(option))
        }
        None => text.strip_prefix('-').is_some_and(|it| it.contains(|c| short.contains(c))),
    })
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

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
        && !destructive::HARMLESS_DEVICES.iter().any(|harmless| match harmless.strip_suffix('/') {
            Some(_) => path.starts_with(harmless),
            None => path == *harmless,
        })
}

/// `A=1 B=2 rm -rf x` is `rm -rf x`.
fn without_assignments(words: &[Word]) -> &[Word] {
    let is_assignment = |word: &Word| {
        word.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let start = words.iter().take_while(|word| is_assignment(word)).count();
    &words[start..]
}

/// The command whose output is redirected.
fn body_of(redirect: tree_sitter::Node<'_>) -> Option<tree_sitter::Node<'_>> {
    let statement = redirect.parent()?;
    if statement.kind() == "command" {
        return Some(statement);
    }
    let body = statement.child_by_field_name("body")?;
    (body.kind() == "command").then_some(body)
}

/// Enough for every script under the limit of bytes, with scripts inside.
const MAX_STEPS: usize = 400_000;
/// What it costs to parse even the shortest script.
const PARSE_STEPS: usize = 200;
/// Scripts within scripts; each level needs another level of quotes.
const MAX_DEPTH: usize = 8;
const TOO_DEEP: &str = "it is nested too deeply to judge";
/// How far behind the word `git` its subcommand is looked for where nothing was parsed.
const MAX_GLOBAL_OPTIONS: usize = 16;
