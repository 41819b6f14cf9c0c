//! Finding things in an LLMX text: the field under the cursor, the action that an observation
//! answers, the outline.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sabir_base::Span;
use sabir_llmx::{Block, BlockKind, Field, Message, Node, Presence, Tree};

use crate::lsp::navigation::{Cursor, Linked, touches};
use crate::lsp::server::View;
use crate::lsp::types::{DocumentSymbol, symbol_kind};

/// How much of a name and of a value an outline shows.
const MAX_NAME: usize = 80;
const MAX_DETAIL: usize = 60;

/// The block at `offset`. Where one ends and the next starts, the cursor means the next.
pub(super) fn block_at<'a>(tree: &'a Tree<'a>, offset: u32) -> Option<Block<'a>> {
    blocks(tree).filter(|block| touches(block.node.span(), offset)).last()
}

/// What holds the block's own fields at `offset`: its body, or the step of a PLAN.
pub(super) fn holder_at(block: Block<'_>, offset: u32) -> Option<Node<'_>> {
    if block.kind() != BlockKind::Plan {
        return Some(block.body);
    }
    block.body.children().find(|step| touches(step.span(), offset))
}

/// The field of the block at `offset`.
pub(super) fn field_at(block: Block<'_>, offset: u32) -> Option<Field<'_>> {
    holder_at(block, offset)?.fields().find(|field| touches(field.node.span(), offset))
}

/// Every block of every message, in order.
pub(super) fn blocks<'a>(tree: &'a Tree<'a>) -> impl Iterator<Item = Block<'a>> {
    tree.messages().flat_map(Message::all_blocks)
}

/// What carries the id in the `ACT.i` or `OBS.ai` under the cursor.
pub(in crate::lsp) fn linked(tree: &Tree<'_>, offset: u32) -> Option<Linked> {
    let block = block_at(tree, offset)?;
    let (key, cursor) = id_key(block)?;
    let id = field_at(block, offset).filter(|field| field.is(key))?.value;
    let carriers = Carriers::of(tree, id.as_text()?.as_ref());
    let named = match cursor {
        Cursor::OnName => Some(Action { block: block.node.span(), id: id.span() }),
        Cursor::OnUse => {
            let here = carriers.observations.iter().find(|found| found.id == id.span());
            here.and_then(|here| carriers.answered_by(here))
        }
    };
    let used = carriers.observations.iter().filter(|used| carriers.answered_by(used) == named);
    Some(Linked {
        cursor,
        named: named.map(|action| action.block),
        given: named.map(|action| action.id),
        used: used.map(|used| used.id).collect(),
    })
}

/// Which field of the block holds the id of an action, and in which role.
fn id_key(block: Block<'_>) -> Option<(&'static str, Cursor)> {
    match block.kind() {
        BlockKind::Act => Some(("i", Cursor::OnName)),
        BlockKind::Obs => Some(("ai", Cursor::OnUse)),
        _ => None,
    }
}

/// The actions and observations of one id, in order.
#[derive(Default)]
struct Carriers<'a> {
    observations: Vec<Observation<'a>>,
    actions: Vec<Action>,
    /// The same actions by batch.
    batches: BTreeMap<Batch<'a>, Vec<Action>>,
}

/// `None` outside of batches.
type Batch<'a> = Option<Cow<'a, str>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Action {
    block: Span,
    id: Span,
}

struct Observation<'a> {
    batch: Batch<'a>,
    id: Span,
}

impl<'a> Carriers<'a> {
    fn of(tree: &'a Tree<'a>, wanted: &str) -> Self {
        let mut carriers = Self::default();
        for message in tree.messages() {
            let batch = message.header().and_then(|header| header.get("b")).and_then(Node::as_text);
            for block in message.blocks() {
                let Some((key, role)) = id_key(block) else { continue };
                let id = block.get(key);
                let Some(id) = id.filter(|id| id.as_text().is_some_and(|id| id == wanted)) else {
                    continue;
                };
                let (block, id) = (block.node.span(), id.span());
                match role {
                    Cursor::OnName => {
                        carriers.actions.push(Action { block, id });
                        let batch = carriers.batches.entry(batch.clone()).or_default();
                        batch.push(Action { block, id });
                    }
                    Cursor::OnUse => {
                        carriers.observations.push(Observation { batch: batch.clone(), id });
                    }
                }
            }
        }
        carriers
    }

    /// Ids are given anew in every batch, so an observation answers an action of its own batch if
    /// there is one.
    fn answered_by(&self, observation: &Observation<'_>) -> Option<Action> {
        let at = observation.id.start;
        let in_batch = self.batches.get(&observation.batch);
        in_batch.and_then(|actions| nearest(actions, at)).or_else(|| nearest(&self.actions, at))
    }
}

/// The last action before `offset`; if none came before, the first one after it.
fn nearest(actions: &[Action], offset: u32) -> Option<Action> {
    let before = actions.partition_point(|action| action.id.start < offset);
    actions.get(before.saturating_sub(1)).copied()
}

/// One entry for each message, and below it one for each block.
pub(in crate::lsp) fn outline(view: &View<'_>) -> Vec<DocumentSymbol> {
    let parsed = sabir_llmx::parse(view.text);
    let symbols = parsed.tree.messages().map(|message| {
        let header = message.header();
        let first = message.all_blocks().next();
        let selected = first.map_or(message.node.span(), Block::word_span);
        let shown = |key: &str| header.and_then(|header| header.get(key)).map(Node::text);
        let (from, to) = (shown("f").unwrap_or("?"), shown("t").unwrap_or("?"));
        DocumentSymbol {
            name: crate::render::clip(&format!("{from} > {to}"), MAX_NAME),
            detail: shown("s").map(|sequence| crate::render::clip(sequence, MAX_DETAIL)),
            kind: symbol_kind::EVENT,
            range: view.lines.range(message.node.span()),
            selection_range: view.lines.range(selected),
            children: message.blocks().map(|block| block_symbol(view, block)).collect(),
        }
    });
    symbols.collect()
}

fn block_symbol(view: &View<'_>, block: Block<'_>) -> DocumentSymbol {
    DocumentSymbol {
        name: crate::render::clip(block.word(), MAX_NAME),
        detail: block_detail(block),
        kind: symbol_kind::OBJECT,
        range: view.lines.range(block.node.span()),
        selection_range: view.lines.range(block.word_span()),
        children: Vec::new(),
    }
}

/// What tells a block from others of its type: its id, and the first field that it must have.
fn block_detail(block: Block<'_>) -> Option<String> {
    let info = block.kind().info()?;
    if block.kind() == BlockKind::Plan {
        return Some(match block.body.children().count() {
            1 => "1 step".to_owned(),
            steps => format!("{steps} steps"),
        });
    }
    let id = id_key(block).map(|(key, _)| key);
    let required = info.fields.iter().find(|field| field.presence == Presence::Required);
    let keys = id.into_iter().chain(required.map(|field| field.key));
    let values: Vec<Cow<'_, str>> =
        keys.filter_map(|key| block.get(key).and_then(Node::as_text)).collect();
    Some(crate::render::clip(&values.join(" "), MAX_DETAIL))
}
