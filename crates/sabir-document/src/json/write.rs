//! From a tree to JSON. It writes what it is given, in normal form or not.

use serde_json::{Value, json};

use crate::{Align, Block, Document, Inline, ListItem, Table};

impl Document {
    /// The tree as the wire carries it: every node has a `type`.
    pub fn to_json(&self) -> Value {
        json!({ "type": "doc", "children": blocks(&self.children) })
    }
}

fn blocks(blocks: &[Block]) -> Value {
    blocks.iter().map(block).collect()
}

fn block(block: &Block) -> Value {
    match block {
        Block::Heading { level, children } => {
            json!({ "type": "heading", "level": level, "children": inlines(children) })
        }
        Block::Paragraph { children } => {
            json!({ "type": "paragraph", "children": inlines(children) })
        }
        Block::List { ordered, items } => {
            let items: Value = items.iter().map(item).collect();
            json!({ "type": "list", "ordered": ordered, "items": items })
        }
        Block::Quote { children } => json!({ "type": "blockquote", "children": blocks(children) }),
        Block::CodeBlock { language: Some(language), text } => {
            json!({ "type": "code_block", "language": language, "text": text })
        }
        Block::CodeBlock { language: None, text } => json!({ "type": "code_block", "text": text }),
        Block::Table(it) => table(it),
        Block::ThematicBreak => json!({ "type": "thematic_break" }),
    }
}

fn item(item: &ListItem) -> Value {
    json!({ "type": "list_item", "children": blocks(&item.children) })
}

fn table(table: &Table) -> Value {
    let row = |cells: &[Vec<Inline>]| cells.iter().map(|cell| inlines(cell)).collect::<Value>();
    let rows: Value = table.rows.iter().map(|cells| row(cells)).collect();
    let mut value = json!({ "type": "table", "header": row(&table.header), "rows": rows });
    if !table.align.is_empty() {
        value["align"] = table.align.iter().map(|align| align.word()).collect();
    }
    value
}

fn inlines(inlines: &[Inline]) -> Value {
    inlines.iter().map(inline).collect()
}

fn inline(inline: &Inline) -> Value {
    match inline {
        Inline::Text { text } => json!({ "type": "text", "text": text }),
        Inline::Strong { children } => json!({ "type": "strong", "children": inlines(children) }),
        Inline::Em { children } => json!({ "type": "em", "children": inlines(children) }),
        Inline::Code { text } => json!({ "type": "code", "text": text }),
        Inline::Link { href, children } => {
            json!({ "type": "link", "href": href, "children": inlines(children) })
        }
        Inline::Cite { reference } => json!({ "type": "cite", "ref": reference }),
    }
}

impl Align {
    pub(super) const ALL: [Align; 4] = [Align::None, Align::Left, Align::Center, Align::Right];

    /// As the wire names it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Align::None => "none",
            Align::Left => "left",
            Align::Center => "center",
            Align::Right => "right",
        }
    }
}
