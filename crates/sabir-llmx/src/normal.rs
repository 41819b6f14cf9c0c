//! The strict form as a view of a tree: what the printer writes, the encoder encodes and `same`
//! compares.
//!
//! Here is the one place that knows what strict output leaves out or renames: `null` is dropped,
//! keys are lower case, and the content of a failed observation travels as an extension, because
//! only an `OK` has content. Extensions are left as they are.

use std::borrow::Cow;

use crate::block::{BlockInfo, BlockKind};
use crate::tree::Kind;
use crate::view::{Block, Field, Node, is_extension};

/// A field as the strict form has it.
#[derive(Clone, Debug)]
pub(crate) struct Normal<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) value: Node<'a>,
    /// Kept as it is.
    pub(crate) verbatim: bool,
    /// How text in it is written.
    pub(crate) bare: bool,
}

/// Whether the whole block is kept as it is.
pub(crate) fn is_verbatim(block: Block<'_>) -> bool {
    matches!(block.kind(), BlockKind::Extension | BlockKind::Unknown)
}

/// The fields of a standard block in braces.
pub(crate) fn block_fields<'a>(block: Block<'a>) -> impl Iterator<Item = Normal<'a>> {
    let kind = block.kind();
    let failed = kind == BlockKind::Obs && is_failure(block);
    // Which extension the content travels in: the first that is not taken.
    let content_key = failed.then(|| {
        let keys = std::iter::once("x_c".to_owned()).chain((2..).map(|nth| format!("x_c_{nth}")));
        keys.into_iter().find(|key| block.field(key).is_none()).unwrap_or_default()
    });
    let info = kind.info();
    block.fields().filter_map(move |field| {
        let mut normal = normalise(field, info)?;
        if failed && field.is("c") {
            if is_empty(field.value) {
                return None;
            }
            normal.key = Cow::Owned(content_key.clone().unwrap_or_default());
        }
        Some(normal)
    })
}

/// The fields of a step of a PLAN.
pub(crate) fn step_fields<'a>(step: Node<'a>) -> impl Iterator<Item = Normal<'a>> {
    let info = BlockKind::Plan.info();
    step.fields().filter_map(move |field| normalise(field, info))
}

/// The fields of an object inside a field.
pub(crate) fn object_fields<'a>(object: Node<'a>) -> impl Iterator<Item = Normal<'a>> {
    object.fields().filter_map(|field| normalise(field, None))
}

/// The items of an array.
pub(crate) fn items<'a>(array: Node<'a>) -> impl Iterator<Item = Node<'a>> {
    array.children().filter(|item| item.kind() != Kind::Null)
}

/// Whether an observation says that it failed.
pub(crate) fn is_failure(obs: Block<'_>) -> bool {
    obs.get("s").and_then(Node::as_text).is_some_and(|status| status == "ERR")
}

pub(crate) fn is_empty(value: Node<'_>) -> bool {
    matches!(value.kind(), Kind::Object | Kind::Tuple | Kind::Array)
        && value.children().all(|child| {
            let inner = child.as_field().map_or(child, |field| field.value);
            inner.kind() == Kind::Null
        })
}

/// A field of a block that `info` describes, or of an object that nothing does.
#[inline]
fn normalise<'a>(field: Field<'a>, info: Option<&BlockInfo>) -> Option<Normal<'a>> {
    let key = field.key();
    if is_extension(key) {
        let key = match key.strip_prefix("X_") {
            Some(name) => Cow::Owned(format!("x_{name}")),
            None => Cow::Borrowed(key),
        };
        return Some(Normal { key, value: field.value, verbatim: true, bare: false });
    }
    if field.value.kind() == Kind::Null {
        return None;
    }
    let known = info.and_then(|info| info.field(key));
    let bare = known.is_some_and(|known| known.kind.is_bare());
    let key = match key.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(key.to_ascii_lowercase()),
        false => Cow::Borrowed(key),
    };
    Some(Normal { key, value: field.value, verbatim: false, bare })
}
