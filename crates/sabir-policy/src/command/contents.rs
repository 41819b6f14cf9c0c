//! What stands in a script, taken out of its tree: commands, texts that a shell may be fed, and
//! where its output goes.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::danger::{is_device, is_listed, runner};
use super::source::Source;
use super::word::{self, Word};
use super::{destructive, said, shell_call, tree};

#[derive(Debug, Default)]
pub(super) struct Contents {
    /// What is destructive without any command.
    pub(super) found: Option<String>,
    /// Each command, once for every choice of values.
    pub(super) commands: Vec<Vec<Word>>,
    pub(super) texts: Vec<Text>,
    pub(super) assignments: Vec<(String, String)>,
    /// A shell reads what a command prints of which that is not known.
    pub(super) is_fed_blindly: bool,
    /// A file is written that may hold the settings of git.
    pub(super) writes_settings: bool,
    aliases: Vec<(String, Vec<Word>)>,
    /// The names of files that are written, without their folders.
    written: Vec<String>,
}

/// What is said, or stands in a here-document.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: String,
    /// A shell reads it. Otherwise it may be prose.
    pub(super) is_fed: bool,
    at: usize,
}

impl Contents {
    /// The command that is meant, where the first word is an alias.
    pub(super) fn without_alias(&self, words: &[Word]) -> Option<Vec<Word>> {
        let (first, rest) = words.split_first()?;
        let name = word::base_name(&first.text);
        let (_, meant) = self.aliases.iter().find(|(alias, _)| *alias == name)?;
        Some([meant, rest].concat())
    }

    /// Something here reads a script from its input or from a file that was just written.
    pub(super) fn reads_scripts(&self) -> bool {
        self.commands.iter().any(|words| {
            let mut names = words.iter().map(|word| word::base_name(&word.text));
            names.clone().next().is_some_and(|first| {
                destructive::SCRIPT_READERS.contains(&first)
                    || self.written.iter().any(|written| written == first)
            }) || names.any(|name| destructive::SHELLS.contains(&name))
        })
    }
}

/// `None` when there are more choices of values than can be looked at.
pub(super) fn read(source: &Source<'_>, tree: &Tree) -> Option<Contents> {
    let mut contents = Contents::default();
    let mut shells: Vec<Range<usize>> = Vec::new();
    let mut strangers: Vec<usize> = Vec::new();
    let mut pipes: Vec<Range<usize>> = Vec::new();
    let mut words_left = MAX_WORDS;
    for node in tree::nodes(tree.root_node()) {
        match node.kind() {
            "command" => {
                for words in source.command(node) {
                    words_left = words_left.checked_sub(words.len() + 1)?;
                    contents.take_sayings(&words, node);
                    if !is_teller(&words) {
                        strangers.push(node.start_byte());
                    }
                    if reads_its_input(&words) {
                        let (fed, piped) = fed_from(node);
                        shells.push(fed);
                        pipes.extend(piped);
                    }
                    contents.take_aliases(&words);
                    contents.commands.push(words);
                }
            }
            "process_substitution" if source.slice(node).starts_with('<') => {
                let reader = node.parent().filter(|it| it.kind() == "command");
                let reader = reader.map_or(Vec::new(), |it| source.command(it)).concat();
                if reader.iter().any(|word| reads_files(&word.text)) {
                    shells.push(node.byte_range());
                    pipes.push(node.byte_range());
                }
            }
            "variable_assignment" => {
                let name = node.child_by_field_name("name").map_or("", |it| source.slice(it));
                let values = node.child_by_field_name("value").map(|it| source.words(it));
                for value in values.unwrap_or_default() {
                    contents.assignments.push((name.to_owned(), value.text));
                }
            }
            "heredoc_body" => {
                let body = source.slice(node);
                let mark = node.parent().and_then(|it| it.named_child(0));
                if !mark.is_some_and(|it| source.slice(it).contains(['\'', '"', '\\'])) {
                    contents.take_backquoted(body);
                }
                contents.tell(body.to_owned(), node);
                if body.contains("\\$") {
                    contents.tell(body.replace("\\$", "$"), node);
                }
            }
            "herestring_redirect" => {
                for word in tree::children(node).flat_map(|it| source.words(it)) {
                    contents.tell(word.as_script(), node);
                }
            }
            "expansion" => contents.take_backquoted(source.slice(node)),
            "heredoc_redirect" => contents.take_arguments(source, node),
            "file_redirect" => contents.take_redirect(source, node),
            _ => {}
        }
    }
    for text in &mut contents.texts {
        text.is_fed |= shells.iter().any(|fed| fed.contains(&text.at));
    }
    contents.is_fed_blindly = pipes.iter().any(|pipe| strangers.iter().any(|at| pipe.contains(at)));
    Some(contents)
}

impl Contents {
    fn tell(&mut self, text: String, node: Node<'_>) {
        if !text.trim().is_empty() {
            self.texts.push(Text { text, is_fed: false, at: node.start_byte() });
        }
    }

    /// Commands in backquotes, where the grammar does not look for them.
    fn take_backquoted(&mut self, text: &str) {
        let text = text.replace("\\`", "");
        let scripts = text.split('`').skip(1).step_by(2);
        self.texts.extend(scripts.map(|it| Text { text: it.to_owned(), is_fed: true, at: 0 }));
    }

    /// What a command says, whole and word by word.
    fn take_sayings(&mut self, words: &[Word], node: Node<'_>) {
        if !words.first().is_some_and(|word| said::is_teller(&word.text)) {
            return;
        }
        if let Some(said) = said::output(words) {
            self.tell(Word::of_value(&said).as_script(), node);
        }
        for word in words[1..].iter().filter(|word| word.text.contains(char::is_whitespace)) {
            self.tell(word.as_script(), node);
        }
    }

    /// Another name for a command: `alias`, `hash -p`, a link or a copy.
    fn take_aliases(&mut self, words: &[Word]) {
        let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
        match texts[..] {
            ["alias", ..] => {
                for (name, value) in texts[1..].iter().filter_map(|it| it.split_once('=')) {
                    let meant = value.split_whitespace().map(Word::literal).collect();
                    self.aliases.push((name.to_owned(), meant));
                }
            }
            ["hash", "-p", path, name]
            | ["cp" | "ln" | "mv", path, name]
            | ["cp" | "ln" | "mv", _, path, name]
                if is_listed(word::base_name(path)) =>
            {
                let name = word::base_name(name).to_owned();
                self.aliases.push((name, vec![Word::literal(path)]));
            }
            _ => {}
        }
    }

    fn take_redirect(&mut self, source: &Source<'_>, node: Node<'_>) {
        let mut targets: Vec<Word> = tree::children(node)
            .filter(|child| child.is_named() && child.kind() != "file_descriptor")
            .flat_map(|child| source.words(child))
            .collect();
        if source.slice(node).contains('>') {
            if let Some(target) = targets.iter().find(|word| is_device(&word.text)) {
                let target = word::shown(&target.text);
                self.found = Some(format!("`> {target}` writes over a whole device"));
            }
            let is_setting = |word: &Word| word::base_name(&word.text).ends_with("config");
            self.writes_settings |= targets.iter().any(is_setting);
            self.written.extend(targets.iter().map(|it| word::base_name(&it.text).to_owned()));
        }
        // Only the first is the file; the grammar keeps what follows it in here too.
        if targets.len() > 1 {
            targets.remove(0);
            self.take_beside(source, node, targets);
        }
    }

    /// `rm <<EOF -rf x`. The grammar takes a body that begins with a backslash for arguments, too.
    fn take_arguments(&mut self, source: &Source<'_>, node: Node<'_>) {
        let mut cursor = node.walk();
        let arguments: Vec<Node<'_>> =
            node.children_by_field_name("argument", &mut cursor).collect();
        let (Some(first), Some(last)) = (arguments.first(), arguments.last()) else { return };
        let text = source.between(first.start_byte(), last.end_byte());
        self.tell(text.replace("\\$", "$"), node);
        self.tell(text.to_owned(), node);
        let words = arguments.iter().flat_map(|argument| source.words(*argument)).collect();
        self.take_beside(source, node, words);
    }

    /// Words that stand behind a redirection and belong to the command in front of it.
    fn take_beside(&mut self, source: &Source<'_>, redirect: Node<'_>, words: Vec<Word>) {
        for mut beside in body_of(redirect).map_or(Vec::new(), |it| source.command(it)) {
            beside.extend(words.iter().cloned());
            self.commands.push(beside);
        }
        self.commands.push(words);
    }
}

/// All that it prints stands in the script.
fn is_teller(words: &[Word]) -> bool {
    match words {
        [name] if word::base_name(&name.text) == "cat" => true,
        [name, ..] => said::is_teller(&name.text),
        [] => true,
    }
}

/// A shell, perhaps behind a runner, that runs what its input says.
fn reads_its_input(words: &[Word]) -> bool {
    let is_shell = |word: &Word| destructive::SHELLS.contains(&word::base_name(&word.text));
    let Some(at) = words.iter().position(is_shell) else { return false };
    let is_run =
        at == 0 || words.first().is_some_and(|word| runner(word::base_name(&word.text)).is_some());
    let texts: Vec<String> = words[at + 1..].iter().map(Word::as_script).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    is_run && shell_call::read(&texts).reads_input
}

fn reads_files(name: &str) -> bool {
    let name = word::base_name(name);
    destructive::SHELLS.contains(&name) || destructive::SCRIPT_READERS.contains(&name)
}

/// Where the texts are that a shell gets, and the part of a pipeline in front of it.
fn fed_from(shell: Node<'_>) -> (Range<usize>, Option<Range<usize>>) {
    let mut fed = shell.byte_range();
    let mut piped = None;
    let mut at = shell;
    while let Some(around) = at.parent() {
        match around.kind() {
            "pipeline" => {
                fed = around.byte_range();
                piped = Some(around.start_byte()..at.start_byte())
                    .filter(|it| !it.is_empty())
                    .or(piped);
            }
            "redirected_statement" => fed = around.byte_range(),
            "function_definition" | "command_substitution" | "process_substitution" => break,
            _ => {}
        }
        at = around;
    }
    (fed, piped)
}

/// The command whose output is redirected.
fn body_of(redirect: Node<'_>) -> Option<Node<'_>> {
    let statement = redirect.parent()?;
    if statement.kind() == "command" {
        return Some(statement);
    }
    let body = statement.child_by_field_name("body")?;
    (body.kind() == "command").then_some(body)
}

/// More than a script under the limit of bytes has, with few choices of values.
const MAX_WORDS: usize = 100_000;
