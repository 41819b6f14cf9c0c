//! Scripts as trees, by the grammar of bash, and the words that stand in them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::word::{self, Word};

/// The tree of a script; `None` when the grammar takes too long over it.
pub(super) fn parse(script: &str) -> Option<Tree> {
    // The scanner keeps what it knows of here-documents in a small buffer of its own.
    if script.matches("<<").count() > MAX_HERE_DOCUMENTS
        || script.matches(['|', '<', '>', ')']).count() > MAX_OPERATORS
        || script.contains('\0')
    {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut calls_left = MIN_CALLS + script.len() / BYTES_PER_CALL;
    let mut calls_left_after_error = MAX_CALLS_AFTER_ERROR;
    let mut count = |state: &ParseState| {
        let left = if state.has_error() { &mut calls_left_after_error } else { &mut calls_left };
        match left.checked_sub(1) {
            Some(less) => *left = less,
            None => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    };
    let bytes = script.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut count)),
    )
}

/// Every node from the top, in the order of the text.
pub(super) fn walk<'tree>(tree: &'tree Tree, mut visit: impl FnMut(Node<'tree>)) {
    let mut cursor = tree.walk();
    loop {
        visit(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The words of each command, if the script has nothing but plain commands, joined by `&&`, `||`,
/// `;` and `|`.
pub(super) fn plain_commands(script: &str) -> Option<Vec<Vec<String>>> {
    let tree = parse(script)?;
    if tree.root_node().has_error() {
        return None;
    }
    let source = Source::new(script);
    let mut commands = Some(Vec::new());
    walk(&tree, |node| {
        if !PLAIN.contains(&node.kind()) {
            commands = None;
        }
        if let ("command", Some(commands)) = (node.kind(), &mut commands) {
            commands.push(source.command(node));
        }
    });
    commands?
        .into_iter()
        .map(|words| {
            // A tilde alone is loose to nobody; patterns and variables are.
            let plain = words.iter().all(|word| !word.loose);
            plain.then(|| words.into_iter().map(|word| word.text).collect())
        })
        .collect()
}

/// A script, and the variables whose values stand in it.
#[derive(Debug)]
pub(super) struct Source<'a> {
    text: &'a str,
    variables: BTreeMap<&'a str, String>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        // Unless somebody changed it, this is what takes words apart: `rm${IFS}-rf`.
        Self { text, variables: BTreeMap::from([("IFS", " ".to_owned())]) }
    }

    pub(super) fn slice(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Remembers `name=value` where the value is known.
    pub(super) fn learn(&mut self, assignment: Node<'_>) {
        let name = assignment.child_by_field_name("name").map(|node| self.slice(node));
        let (Some(name), Some(value)) = (name, assignment.child_by_field_name("value")) else {
            return;
        };
        let (mut text, mut loose) = (String::new(), false);
        self.push(value, &mut text, &mut loose);
        if !loose && text.len() <= MAX_VALUE {
            self.variables.insert(name, text);
        }
    }

    /// The words of a `command` node; assignments and redirections are not among them.
    pub(super) fn command(&self, command: Node<'_>) -> Vec<Word> {
        let mut words = Vec::new();
        for child in children(command) {
            match child.kind() {
                "variable_assignment"
                | "file_redirect"
                | "heredoc_redirect"
                | "herestring_redirect"
                | "comment" => {}
                "command_name" => children(child).for_each(|it| words.extend(self.words(it))),
                _ => words.extend(self.words(child)),
            }
        }
        words
    }

    /// The words that one node becomes.
    pub(super) fn words(&self, node: Node<'_>) -> Vec<Word> {
        let (mut text, mut loose) = (String::new(), false);
        self.push(node, &mut text, &mut loose);
        word::finish(text, loose)
    }

    fn push(&self, node: Node<'_>, into: &mut String, loose: &mut bool) {
        let raw = self.slice(node);
        match node.kind() {
            "word" | "number" | "test_operator" | "variable_name" | "$" => {
                word::push_unquoted(raw, into, loose);
            }
            "raw_string" => {
                into.push_str(raw.trim_start_matches('\'').trim_end_matches('\''));
            }
            "ansi_c_string" => {
                let inside = raw.strip_prefix("$'").unwrap_or(raw);
                word::push_ansi_quoted(inside.strip_suffix('\'').unwrap_or(inside), into);
            }
            "string" => self.push_string(node, into, loose),
            "translated_string" => {
                children(node)
                    .filter(|child| child.kind() == "string")
                    .for_each(|child| self.push_string(child, into, loose));
            }
            "concatenation" => children(node).for_each(|child| self.push(child, into, loose)),
            "``" => {}
            "simple_expansion" | "expansion" => match self.value(raw) {
                Some(value) => word::push_split(value, into),
                None => *loose = true,
            },
            "command_substitution" | "process_substitution" | "arithmetic_expansion" => {
                *loose = true;
            }
            _ => {
                *loose = true;
                word::push_unquoted(raw, into, loose);
            }
        }
    }

    /// Blanks beside an expansion belong to no child, so the text between children is taken too.
    fn push_string(&self, string: Node<'_>, into: &mut String, loose: &mut bool) {
        let mut at = string.start_byte() + 1;
        for child in children(string).filter(|child| child.kind() != "\"") {
            word::push_double_quoted(
                self.text.get(at..child.start_byte()).unwrap_or_default(),
                into,
            );
            at = child.end_byte();
            match child.kind() {
                "string_content" | "$" => word::push_double_quoted(self.slice(child), into),
                _ => match self.value(self.slice(child)) {
                    Some(value) => into.push_str(value),
                    None => *loose = true,
                },
            }
        }
        let end = string.end_byte().saturating_sub(1);
        word::push_double_quoted(self.text.get(at..end).unwrap_or_default(), into);
    }

    /// The value behind `$name` or `${name}`.
    fn value(&self, expansion: &str) -> Option<&str> {
        let name = expansion.strip_prefix('$')?;
        let name = name.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(name);
        self.variables.get(name).map(String::as_str)
    }
}

pub(super) fn children<'tree>(node: Node<'tree>) -> impl Iterator<Item = Node<'tree>> {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        let child = more.then(|| cursor.node());
        more = more && cursor.goto_next_sibling();
        child
    })
}

/// What a plain script is made of.
const PLAIN: &[&str] = &[
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "number",
    "string",
    "string_content",
    "raw_string",
    "concatenation",
    "test_operator",
    "&&",
    "||",
    "|",
    ";",
    "\"",
];

/// The grammar asks after every hundred steps whether to go on. One question for twenty bytes is the
/// most that was seen with a script without errors.
const MIN_CALLS: usize = 1_000;
const BYTES_PER_CALL: usize = 16;
/// Recovery from errors takes time that grows with the square of what is skipped. Few questions
/// are enough for a mistake; more is not a script.
const MAX_CALLS_AFTER_ERROR: usize = 20;
/// Long pipelines and rows of redirections take the same kind of time, errors or not. This is more
/// than scripts that somebody wrote have.
const MAX_OPERATORS: usize = 1_000;
const MAX_HERE_DOCUMENTS: usize = 64;
/// A value that is used a hundred times should not become a hundred times a script.
const MAX_VALUE: usize = 256;
