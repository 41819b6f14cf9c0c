//! Scripts as trees, by the grammar of bash.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::source::{Source, Values};

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
pub(super) fn walk<'tree>(tree: &'tree Tree, visit: impl FnMut(Node<'tree>)) {
    nodes(tree.root_node()).for_each(visit);
}

/// A node and everything below it, in the order of the text.
pub(super) fn nodes<'tree>(top: Node<'tree>) -> impl Iterator<Item = Node<'tree>> {
    let mut cursor = top.walk();
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let node = cursor.node();
        if !cursor.goto_first_child() {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    done = true;
                    break;
                }
            }
        }
        Some(node)
    })
}

/// The words of each command, if the script has nothing but plain commands, joined by `&&`, `||`,
/// `;` and `|`.
pub(super) fn plain_commands(script: &str) -> Option<Vec<Vec<String>>> {
    let tree = parse(script)?;
    if tree.root_node().has_error() {
        return None;
    }
    let source = Source::new(script, Values::new());
    let mut commands = Some(Vec::new());
    walk(&tree, |node| {
        if !PLAIN.contains(&node.kind()) {
            commands = None;
        }
        if let ("command", Some(commands)) = (node.kind(), &mut commands) {
            commands.extend(source.command(node));
        }
    });
    commands?
        .into_iter()
        .map(|words| {
            // A tilde alone is loose to nobody; patterns and variables are.
            let plain = words.iter().all(|word| !word.is_loose());
            plain.then(|| words.into_iter().map(|word| word.text).collect())
        })
        .collect()
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
