//! What colour each word of an LLMX text deserves.

use sabir_base::Span;
use sabir_llmx::{Block, BlockInfo, BlockKind, FieldKind, Kind};

use crate::lsp::semantic::Colour;

use super::navigation;

/// The words that have a colour, in order.
pub(in crate::lsp) fn coloured(text: &str) -> Vec<(Span, Colour)> {
    let parsed = sabir_llmx::parse(text);
    let mut found = Vec::new();
    for block in navigation::blocks(&parsed.tree) {
        let colour = match block.kind() {
            BlockKind::Extension => Some(Colour::Decorator),
            BlockKind::Unknown => None,
            _ => Some(Colour::Keyword),
        };
        found.extend(colour.map(|colour| (block.word_span(), colour)));
        colour_body(block, &mut found);
    }
    found.sort_by_key(|&(span, _)| span.start);
    found
}

/// What a place says about what stands there.
#[derive(Clone, Copy)]
enum Place {
    /// The fields of the block itself, or the steps of a PLAN.
    Own(&'static BlockInfo),
    /// A value; words in it have this colour.
    Value(Colour),
}

/// With a stack of its own, so that the depth of the text costs none of ours.
fn colour_body(block: Block<'_>, found: &mut Vec<(Span, Colour)>) {
    let place = block.kind().info().map_or(Place::Value(Colour::String), Place::Own);
    let mut todo = vec![(block.body, place)];
    while let Some((node, place)) = todo.pop() {
        let colour = match node.kind() {
            Kind::String | Kind::Run => Colour::String,
            Kind::Word => match place {
                Place::Own(_) => Colour::String,
                Place::Value(word) => word,
            },
            Kind::Number => Colour::Number,
            Kind::True | Kind::False | Kind::Null => Colour::EnumMember,
            Kind::Object | Kind::Tuple => {
                for field in node.fields() {
                    found.push((field.key_span(), Colour::Property));
                    // Deeper down, a key that looks like the block's own is the sender's.
                    let word = match place {
                        Place::Own(info) => word_colour(info, field.key()),
                        Place::Value(_) => Colour::String,
                    };
                    todo.push((field.value, Place::Value(word)));
                }
                continue;
            }
            Kind::Array => {
                todo.extend(node.children().map(|item| (item, place)));
                continue;
            }
            Kind::Document | Kind::Message | Kind::Block | Kind::Field | Kind::Error => continue,
        };
        found.push((node.span(), colour));
    }
}

/// The colour of a word in the field of that name.
fn word_colour(info: &BlockInfo, key: &str) -> Colour {
    match info.field(key).map(|field| field.kind) {
        Some(FieldKind::OneOf(_) | FieldKind::Operation(_)) => Colour::EnumMember,
        Some(FieldKind::Receiver) => Colour::Class,
        // The sender is an agent as the receiver is; other names are of things.
        Some(FieldKind::Name) if info.kind == BlockKind::Header && key == "f" => Colour::Class,
        Some(FieldKind::Name | FieldKind::StepId) => Colour::Variable,
        _ => Colour::String,
    }
}
