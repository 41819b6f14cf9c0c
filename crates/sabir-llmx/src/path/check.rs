//! Which fields of a document hold paths, and what is wrong with those.

use std::borrow::Cow;

use sabir_base::Diagnostic;

use super::error::{PathError, quoted};
use super::escape;
use crate::block::BlockKind;
use crate::codes;
use crate::tree::{Kind, Tree};
use crate::view::{Block, Node};

/// A text that names a file, and where it stands.
#[derive(Clone, Debug)]
pub struct PathPlace<'a> {
    pub node: Node<'a>,
    pub text: Cow<'a, str>,
}

/// Every path of a document: the files of CTX, the deliverables of END, and the targets of ACT,
/// except those of the operations that take a command or an agent.
pub fn paths<'a>(tree: &'a Tree<'a>) -> impl Iterator<Item = PathPlace<'a>> {
    tree.messages().flat_map(|message| message.all_blocks()).flat_map(block_paths)
}

/// Refuses every path of a document that may leave the root.
pub fn check_paths(tree: &Tree<'_>) -> Vec<Diagnostic> {
    paths(tree).filter_map(|place| check_path(&place)).collect()
}

/// What is wrong with one path by its text.
pub fn check_path(place: &PathPlace<'_>) -> Option<Diagnostic> {
    escape(&place.text).map(|error| place.refuse(&error))
}

impl PathPlace<'_> {
    /// The finding that this path is refused, and why.
    pub fn refuse(&self, error: &PathError) -> Diagnostic {
        let path = quoted(&self.text);
        let (code, message) = match error {
            PathError::Empty | PathError::Lines => {
                (codes::MALFORMED_PATH, format!("{path} is no path: {error}"))
            }
            PathError::LinkLeavesRoot { .. }
            | PathError::LinkLoop { .. }
            | PathError::LinkUnreadable { .. } => {
                (codes::LINK_OUT_OF_ROOT, format!("the path {path} may leave the root: {error}"))
            }
            PathError::Control(_)
            | PathError::Absolute
            | PathError::Home
            | PathError::Drive
            | PathError::Backslash
            | PathError::Url
            | PathError::Variable
            | PathError::LookAlike
            | PathError::Disguised
            | PathError::LeavesRoot
            | PathError::RelativeRoot => {
                (codes::ESCAPING_PATH, format!("the path {path} may leave the root: {error}"))
            }
        };
        Diagnostic::error(code, self.node.span(), message).help(error.help())
    }
}

/// Reports every path of a block that may leave the root.
pub(crate) fn check_block(block: Block<'_>, report: impl FnMut(Diagnostic)) {
    block_paths(block).iter().filter_map(check_path).for_each(report);
}

fn block_paths<'a>(block: Block<'a>) -> Vec<PathPlace<'a>> {
    let key = match block.kind() {
        BlockKind::Ctx => "f",
        BlockKind::End => "del",
        BlockKind::Act if !takes_no_path(block) => "tgt",
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    // A key may stand twice; nobody knows which of them a careless reader takes.
    for field in block.fields().filter(|field| field.is(key)) {
        collect(field.value, &mut found);
    }
    found
}

/// Only these two are known to take something else than a path. An operation that we do not know
/// is given no more than one that we do.
fn takes_no_path(act: Block<'_>) -> bool {
    let mut ops = act.fields().filter(|field| field.is("op")).map(|field| field.value).peekable();
    ops.peek().is_some()
        && ops.all(|op| op.as_text().is_some_and(|op| matches!(&*op, "shell" | "spawn")))
}

/// The texts of a value. A list where one path belongs is wrong, and its paths are still paths.
fn collect<'a>(value: Node<'a>, found: &mut Vec<PathPlace<'a>>) {
    match value.kind() {
        Kind::Array => value.children().for_each(|item| collect(item, found)),
        Kind::Object | Kind::Tuple => {
            value.fields().for_each(|field| collect(field.value, found));
        }
        _ => {
            let text = value.as_text();
            found.extend(text.map(|text| PathPlace { node: value, text }));
        }
    }
}
