//! What a word of an LLMX text means: the table of blocks and fields, in sentences.

use sabir_base::Span;
use sabir_llmx::{Block, BlockInfo, BlockKind, FieldInfo, FieldKind, Presence, Tree};

use crate::lsp::hover::quote;
use crate::lsp::navigation::touches;
use crate::notation::Notation;

use super::navigation;

/// What stands at `offset`, and what it means.
pub(in crate::lsp) fn explain(tree: &Tree<'_>, offset: u32) -> Option<(Span, String)> {
    let block = navigation::block_at(tree, offset)?;
    if touches(block.word_span(), offset) {
        return Some((block.word_span(), explain_type(block)));
    }
    let field = navigation::field_at(block, offset)?;
    if touches(field.key_span(), offset) && field.is_extension() {
        let text = format!("**{}**: an extension field, {AGREED}", field.key());
        return Some((field.key_span(), text));
    }
    if let Some(action) = navigation::linked(tree, offset).and_then(|linked| linked.target()) {
        let action = quote(Notation::Llmx, &tree.text()[action.range()]);
        return Some((field.value.span(), format!("answers\n\n{action}")));
    }
    let info = block.kind().info()?;
    let known = info.field(field.key())?;
    let span = match touches(field.key_span(), offset) {
        true => field.key_span(),
        // Of a text there is nothing to say; of a word, what the words mean.
        false if matches!(known.kind, FieldKind::OneOf(_) | FieldKind::Operation(_)) => {
            field.value.span()
        }
        false => return None,
    };
    Some((span, describe_field(info, known)))
}

fn explain_type(block: Block<'_>) -> String {
    match (block.kind().info(), block.kind()) {
        (Some(info), _) => describe_block(info),
        (None, BlockKind::Extension) => format!("**{}**: an extension, {AGREED}", block.word()),
        (None, _) => format!("**{}**: not a type of this notation", block.word()),
    }
}

const AGREED: &str = "kept as it is\n\nIts meaning is agreed between the agents.";

pub(super) fn describe_block(info: &BlockInfo) -> String {
    let fields: Vec<String> = info
        .fields
        .iter()
        .map(|field| format!("- `{}`: {}{}", field.key, field.name, mark(field.presence)))
        .collect();
    format!("**{}**: {}\n\nIt {}.\n\n{}", info.word, info.name, info.summary, fields.join("\n"))
}

fn mark(presence: Presence) -> &'static str {
    match presence {
        Presence::Required => ", required",
        Presence::RequiredIfOk => ", required for `OK`",
        Presence::Optional => "",
    }
}

pub(super) fn describe_field(block: &BlockInfo, field: &FieldInfo) -> String {
    let presence = match field.presence {
        Presence::Required => "Required.",
        Presence::RequiredIfOk => "Required when the status is `OK`.",
        Presence::Optional => "Optional.",
    };
    format!(
        "**{}**: {} ({})\n\n{}\n\nTakes {}. {presence}",
        field.key,
        field.name,
        block.word,
        field.summary,
        describe_kind(field.kind),
    )
}

fn describe_kind(kind: FieldKind) -> String {
    let listed = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        words.join(", ")
    };
    match kind {
        FieldKind::Name => "a name: a plain word, or text in quotes".to_owned(),
        FieldKind::Receiver => "a name, or `ALL`".to_owned(),
        FieldKind::StepId => "a number or a name".to_owned(),
        FieldKind::Text => "text in quotes".to_owned(),
        FieldKind::Target => "text in quotes; a file may be written as `p:path#L10-25`".to_owned(),
        FieldKind::Texts => "a list of texts".to_owned(),
        FieldKind::Paths => "a list of file paths".to_owned(),
        FieldKind::Integer { min, max } => format!("a whole number from {min} to {max}"),
        FieldKind::Bool => "`true` or `false`".to_owned(),
        FieldKind::Object => "keys and values in braces".to_owned(),
        FieldKind::OneOf(words) => format!("one of {}", listed(words)),
        FieldKind::Operation(words) => format!("one of {}, or another word", listed(words)),
    }
}
