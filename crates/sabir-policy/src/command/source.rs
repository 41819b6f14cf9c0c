//! The words that stand in a script, with the values that its variables can have.
//!
//! In which order assignments happen is not followed: a variable can have every value that the
//! script gives it, or none.

use std::collections::BTreeMap;

use tree_sitter::{Node, Tree};

use super::word::{self, SEVERAL, UNKNOWN, Word};
use super::{said, tree};

/// The values that each variable can have. A part of a value that is not known is a mark in it.
pub(super) type Values = BTreeMap<String, Vec<String>>;

/// A script, and the variables whose values stand in it.
#[derive(Debug)]
pub(super) struct Source<'a> {
    text: &'a str,
    values: Values,
    /// What separates words besides blanks.
    separators: String,
}

impl<'a> Source<'a> {
    /// `values` are those of the script around this one.
    pub(super) fn new(text: &'a str, values: Values) -> Self {
        Self { text, values, separators: String::new() }
    }

    pub(super) fn slice(&self, node: Node<'_>) -> &'a str {
        self.between(node.start_byte(), node.end_byte())
    }

    pub(super) fn between(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Takes in every value that the script gives to a variable.
    pub(super) fn learn(&mut self, tree: &Tree) {
        tree::walk(tree, |node| match node.kind() {
            "variable_assignment" => self.assign(node),
            "for_statement" => self.repeat(node),
            "command" => self.read(node),
            "declaration_command" => self.declare(node),
            _ => {}
        });
        self.separators = self.values.get("IFS").map(|values| values.concat()).unwrap_or_default();
    }

    pub(super) fn into_values(self) -> Values {
        self.values
    }

    /// The words of a `command` node, once for each choice of values; assignments and redirections
    /// are not among them.
    pub(super) fn command(&self, command: Node<'_>) -> Vec<Vec<Word>> {
        self.choices(command).into_iter().map(|reader| reader.command(command)).collect()
    }

    /// The words that one node becomes, with all choices of values one after the other.
    pub(super) fn words(&self, node: Node<'_>) -> Vec<Word> {
        self.choices(node).into_iter().flat_map(|reader| reader.words(node)).collect()
    }

    fn assign(&mut self, assignment: Node<'_>) {
        let name = assignment.child_by_field_name("name").map(|node| self.slice(node));
        let Some(name) = name else { return };
        let Some(value) = assignment.child_by_field_name("value") else {
            return self.give(name, String::new());
        };
        let found: Vec<String> = self
            .choices(value)
            .into_iter()
            .map(|reader| {
                let mut text = String::new();
                reader.push(value, Place::Quoted, &mut text);
                // Braces and patterns mean nothing here.
                word::finish(text).iter().map(Word::as_value).collect::<Vec<_>>().join(" ")
            })
            .collect();
        let appends =
            self.slice(assignment).get(name.len()..).is_some_and(|it| it.starts_with("+="));
        for value in found {
            if appends {
                let before = self.values.get(name).cloned().unwrap_or_default();
                before.into_iter().for_each(|before| self.give(name, before + &value));
            }
            self.give(name, value);
        }
    }

    fn repeat(&mut self, statement: Node<'_>) {
        let Some(variable) = statement.child_by_field_name("variable") else { return };
        let mut cursor = statement.walk();
        let listed: Vec<Node<'_>> =
            statement.children_by_field_name("value", &mut cursor).collect();
        let mut values: Vec<String> =
            listed.into_iter().flat_map(|it| self.words(it)).map(|word| word.as_value()).collect();
        if values.is_empty() {
            // Without a list these are the arguments of the script.
            values.push(UNKNOWN.to_string());
        }
        let name = self.slice(variable);
        values.into_iter().for_each(|value| self.give(name, value));
    }

    /// `read x`: what a command puts into a variable is not known.
    fn read(&mut self, command: Node<'_>) {
        let name = command.child_by_field_name("name").map(|node| self.slice(node));
        if !name.is_some_and(|name| SETTERS.contains(&name)) {
            return;
        }
        let words: Vec<Word> =
            tree::children(command).flat_map(|child| self.words(child)).collect();
        for word in words {
            let name = word.text.strip_prefix("-v").unwrap_or(&word.text);
            if word::is_variable(name) {
                self.give(name, UNKNOWN.to_string());
            }
        }
    }

    /// `declare -n x=y`: one name stands for another.
    fn declare(&mut self, declaration: Node<'_>) {
        let is_reference =
            |node: Node<'_>| word::is_option(self.slice(node), "n", &[]) && node.kind() == "word";
        if !tree::children(declaration).any(is_reference) {
            return;
        }
        for child in tree::children(declaration) {
            let name = self.slice(child).split('=').next().unwrap_or_default();
            if word::is_variable(name) {
                self.give(name, UNKNOWN.to_string());
            }
        }
    }

    fn give(&mut self, name: &str, value: String) {
        // It may be used where it is not set.
        let unset = if name == "IFS" { " " } else { "" };
        let values = self.values.entry(name.to_owned()).or_insert_with(|| vec![unset.to_owned()]);
        let value = if value.len() > MAX_VALUE || values.len() >= MAX_VALUES {
            UNKNOWN.to_string()
        } else {
            value
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }

    /// One reader for every choice among the values of the variables that stand in a node.
    fn choices<'s>(&'s self, node: Node<'_>) -> Vec<Reader<'s, 'a>> {
        let mut names: Vec<&str> = Vec::new();
        for node in tree::nodes(node).take(MAX_NODES) {
            if matches!(node.kind(), "simple_expansion" | "expansion")
                && let Some(name) = plain_name(self.slice(node))
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        let mut choices: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
        for (name, values) in names.into_iter().filter_map(|it| self.values.get_key_value(it)) {
            // With more choices than can be tried, this one stays unknown.
            if choices.len() * values.len() <= MAX_CHOICES {
                choices = choices
                    .iter()
                    .flat_map(|choice| {
                        let with = |value| [&choice[..], &[(name.as_str(), value)]].concat();
                        values.iter().map(String::as_str).map(with)
                    })
                    .collect();
            }
        }
        choices.into_iter().map(|chosen| Reader { source: self, chosen, level: 0 }).collect()
    }
}

/// Reads the words of a script with one choice of values.
#[derive(Debug, Clone)]
struct Reader<'s, 'a> {
    source: &'s Source<'a>,
    chosen: Vec<(&'s str, &'s str)>,
    /// Substitutions around what is read.
    level: usize,
}

/// Whether a shell takes apart what stands for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Quoted,
    Bare,
}

impl Reader<'_, '_> {
    fn command(&self, command: Node<'_>) -> Vec<Word> {
        let mut words = Vec::new();
        for child in tree::children(command) {
            match child.kind() {
                "variable_assignment"
                | "file_redirect"
                | "heredoc_redirect"
                | "herestring_redirect"
                | "comment" => {}
                "command_name" => tree::children(child).for_each(|it| words.extend(self.words(it))),
                _ => words.extend(self.words(child)),
            }
        }
        words
    }

    fn words(&self, node: Node<'_>) -> Vec<Word> {
        let mut text = String::new();
        self.push(node, Place::Bare, &mut text);
        // `$x` alone is no word when `x` is empty; `"$x"` is one.
        if text.is_empty() && !self.source.slice(node).contains(['"', '\'']) {
            return Vec::new();
        }
        word::finish(text)
    }

    fn push(&self, node: Node<'_>, place: Place, into: &mut String) {
        let raw = self.source.slice(node);
        match node.kind() {
            "word" | "number" | "test_operator" | "variable_name" | "$" => {
                word::push_unquoted(raw, into);
            }
            "raw_string" => {
                into.push_str(raw.trim_start_matches('\'').trim_end_matches('\''));
            }
            "ansi_c_string" => {
                let inside = raw.strip_prefix("$'").unwrap_or(raw);
                word::push_ansi_quoted(inside.strip_suffix('\'').unwrap_or(inside), into);
            }
            "string" => self.push_string(node, into),
            "translated_string" => {
                tree::children(node)
                    .filter(|child| child.kind() == "string")
                    .for_each(|child| self.push_string(child, into));
            }
            "concatenation" => {
                tree::children(node).for_each(|child| self.push(child, place, into));
            }
            "``" => {}
            // `time (x)`: the commands in it are found by themselves.
            "subshell" => into.push('('),
            "simple_expansion" | "expansion" => {
                let name = plain_name(raw);
                match name.and_then(|name| self.value(name)) {
                    Some(value) => self.push_value(value, place, into),
                    None => into.push(self.unknown(raw, place)),
                }
            }
            "command_substitution" => match self.output(node) {
                Some(text) => self.push_value(text.trim_end_matches('\n'), place, into),
                None => into.push(if place == Place::Bare { SEVERAL } else { UNKNOWN }),
            },
            "process_substitution" | "arithmetic_expansion" | "brace_expression" => {
                into.push(UNKNOWN);
            }
            _ => {
                into.push(SEVERAL);
                word::push_unquoted(raw, into);
            }
        }
    }

    /// Blanks beside an expansion belong to no child, so the text between children is taken too.
    fn push_string(&self, string: Node<'_>, into: &mut String) {
        let text = self.source.text;
        let mut at = string.start_byte() + 1;
        for child in tree::children(string).filter(|child| child.kind() != "\"") {
            word::push_double_quoted(text.get(at..child.start_byte()).unwrap_or_default(), into);
            at = child.end_byte();
            match child.kind() {
                "string_content" | "$" => {
                    word::push_double_quoted(self.source.slice(child), into);
                }
                _ => self.push(child, Place::Quoted, into),
            }
        }
        let end = string.end_byte().saturating_sub(1);
        word::push_double_quoted(text.get(at..end).unwrap_or_default(), into);
    }

    fn push_value(&self, value: &str, place: Place, into: &mut String) {
        match place {
            Place::Quoted => into.push_str(value),
            Place::Bare => word::push_split(value, &self.source.separators, into),
        }
    }

    fn value(&self, name: &str) -> Option<&str> {
        let chosen = self.chosen.iter().find(|(chosen, _)| *chosen == name);
        // Unless somebody changed it, this is what takes words apart: `rm${IFS}-rf`.
        let default = (name == "IFS" && !self.source.values.contains_key(name)).then_some(" ");
        chosen.map(|(_, value)| *value).or(default)
    }

    /// The mark for an expansion whose value is not known.
    fn unknown(&self, raw: &str, place: Place) -> char {
        let is_list = matches!(raw, "$@" | "$*" | "${@}" | "${*}")
            || ["${@", "${*"].iter().any(|it| raw.starts_with(it))
            || raw.contains("[@]")
            || raw.contains("[*]");
        // The script gives it no value: it comes from outside, where nobody waits with blanks.
        let is_from_outside = plain_name(raw).is_some_and(|name| {
            !self.source.values.contains_key(name)
                && (word::is_variable(name) || matches!(name, "?" | "$" | "#" | "!"))
        });
        match place {
            _ if is_list => SEVERAL,
            Place::Bare if !is_from_outside => SEVERAL,
            Place::Bare | Place::Quoted => UNKNOWN,
        }
    }

    /// What a substitution becomes, if that can be told without running it.
    fn output(&self, substitution: Node<'_>) -> Option<String> {
        if self.level >= MAX_LEVEL {
            return None;
        }
        let mut inside = tree::children(substitution).filter(Node::is_named);
        let command = inside.next().filter(|it| it.kind() == "command")?;
        if inside.next().is_some() {
            return None;
        }
        said::output(&Self { level: self.level + 1, ..self.clone() }.command(command))
    }
}

/// The name in `$name` and `${name}`.
fn plain_name(expansion: &str) -> Option<&str> {
    let name = expansion.strip_prefix('$')?;
    Some(name.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(name))
}

/// Commands that put something into the variables they name.
const SETTERS: &[&str] = &["getopts", "mapfile", "printf", "read", "readarray"];

/// A value that is used a hundred times should not become a hundred times a script.
const MAX_VALUE: usize = 256;
/// A variable that is given more values than this can be anything.
const MAX_VALUES: usize = 16;
/// Ways to read one command: six variables that are set once.
const MAX_CHOICES: usize = 64;
/// How much of a command is searched for variables.
const MAX_NODES: usize = 500;
/// Substitutions in substitutions that are followed.
const MAX_LEVEL: usize = 4;
