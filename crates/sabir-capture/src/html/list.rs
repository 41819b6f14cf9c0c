//! Lists, and lists of terms and what they mean. It knows nothing of the page around them.

use dom_query::NodeRef;
use sabir_document::{Block, Inline, ListItem};

use super::blocks::{Converter, Flow, Place};

/// An ordered or unordered list. What stands between its items is an item, too.
pub(super) fn convert(
    converter: &Converter<'_>,
    node: &NodeRef<'_>,
    name: &str,
    flow: &mut Flow,
    place: Place,
) {
    flow.flush();
    if !place.may_nest() {
        converter.flow(node, flow, place);
        flow.flush();
        return;
    }
    let mut items: Vec<ListItem> = Vec::new();
    for child in node.children_it(false) {
        if child.has_name("li") {
            push_item(&mut items, converter.blocks(&child, place.nested()));
        } else if child.has_name("ul") || child.has_name("ol") {
            // Lists are often put beside the item that they belong to.
            let blocks = nested_list(converter, &child, place);
            match items.last_mut() {
                Some(item) => item.children.extend(blocks),
                None => push_item(&mut items, blocks),
            }
        } else if child.is_element() || child.is_nonempty_text() {
            push_item(&mut items, stray(converter, &child, place));
        }
    }
    if !items.is_empty() {
        flow.push(Block::List { ordered: name == "ol", items });
    }
}

/// `dl`: each term in strong letters, with what it means behind it.
pub(super) fn convert_definitions(
    converter: &Converter<'_>,
    node: &NodeRef<'_>,
    flow: &mut Flow,
    place: Place,
) {
    flow.flush();
    if !place.may_nest() {
        converter.flow(node, flow, place);
        flow.flush();
        return;
    }
    let mut items: Vec<ListItem> = Vec::new();
    let mut after_term = false;
    for child in terms_and_meanings(node) {
        if child.has_name("dt") {
            let term = converter.line(&child, place);
            if term.is_empty() {
                continue;
            }
            let term = Block::Paragraph { children: vec![Inline::Strong { children: term }] };
            items.push(ListItem { children: vec![term] });
            after_term = true;
            continue;
        }
        let meaning = converter.blocks(&child, place.nested());
        match items.last_mut() {
            Some(item) => explain(item, meaning, after_term),
            None => push_item(&mut items, meaning),
        }
        after_term = false;
    }
    if !items.is_empty() {
        flow.push(Block::List { ordered: false, items });
    }
}

/// `dt` and `dd`, which may stand in groups.
fn terms_and_meanings<'a>(node: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    let is_part = |child: &NodeRef<'a>| child.has_name("dt") || child.has_name("dd");
    node.children_it(false)
        .flat_map(|child| match child.has_name("div") {
            true => child.children_it(false).filter(is_part).collect(),
            false if is_part(&child) => vec![child],
            false => Vec::new(),
        })
        .collect()
}

/// Puts a meaning behind its term: on its line where it begins with a line.
fn explain(item: &mut ListItem, mut meaning: Vec<Block>, after_term: bool) {
    if after_term
        && let Some(Block::Paragraph { children: line }) = item.children.last_mut()
        && let Some(Block::Paragraph { .. }) = meaning.first()
        && let Block::Paragraph { children } = meaning.remove(0)
    {
        line.push(Inline::text(": "));
        line.extend(children);
    }
    item.children.extend(meaning);
}

fn nested_list(converter: &Converter<'_>, node: &NodeRef<'_>, place: Place) -> Vec<Block> {
    let mut flow = Flow::default();
    let name = if node.has_name("ol") { "ol" } else { "ul" };
    convert(converter, node, name, &mut flow, place.nested());
    flow.finish()
}

fn stray(converter: &Converter<'_>, node: &NodeRef<'_>, place: Place) -> Vec<Block> {
    let mut flow = Flow::default();
    converter.node(node, &mut flow, place.nested());
    flow.finish()
}

fn push_item(items: &mut Vec<ListItem>, children: Vec<Block>) {
    if !children.is_empty() {
        items.push(ListItem { children });
    }
}
