//! From JSON to a tree, strictly: whatever does not belong is named with its place, and all of it at
//! once. Nothing is guessed or repaired.

use std::borrow::Cow;

use sabir_base::json::{JsonError, JsonKind, JsonValue};

use crate::{Align, Block, Cell, Document, Inline, ListItem, MAX_DEPTH, Table, is_safe_href};

impl Document {
    /// Reads a document, or adds what is wrong with it to `problems`. When it adds something, the
    /// answer is `None`.
    pub fn read(value: JsonValue<'_>, problems: &mut Vec<JsonError>) -> Option<Document> {
        let mut reader = Reader { problems: Vec::new(), left_out: 0 };
        let document = reader.document(value);
        let is_sound = reader.problems.is_empty();
        if reader.left_out > 0 {
            reader.problems.push(value.error(format!("and {} more problems", reader.left_out)));
        }
        problems.append(&mut reader.problems);
        document.filter(|_| is_sound)
    }
}

struct Reader {
    problems: Vec<JsonError>,
    left_out: usize,
}

/// What a place of the tree takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Blocks,
    /// Blocks, and inlines that make paragraphs.
    Both,
}

impl Reader {
    fn problem(&mut self, problem: JsonError) {
        match self.problems.len() < MAX_PROBLEMS {
            true => self.problems.push(problem),
            false => self.left_out += 1,
        }
    }

    fn ok<T>(&mut self, result: Result<T, JsonError>) -> Option<T> {
        result.map_err(|error| self.problem(error)).ok()
    }

    fn document(&mut self, value: JsonValue<'_>) -> Option<Document> {
        let node = self.node(value)?;
        if node != "doc" {
            let message = format!("the root of a document is \"doc\", not {node:?}");
            self.problem(value.error(message));
            return None;
        }
        self.keys(value, &["type", "children"]);
        Some(Document { children: self.blocks(value, "a doc", Takes::Blocks, 0) })
    }

    /// The type of a node, which must be an object.
    fn node<'a>(&mut self, value: JsonValue<'a>) -> Option<Cow<'a, str>> {
        self.ok(value.expect_kind(JsonKind::Object))?;
        let node = self.ok(value.required("type", "a node"))?;
        self.ok(node.string())
    }

    fn keys(&mut self, value: JsonValue<'_>, keys: &[&str]) {
        for (key, field) in value.fields().filter(|(key, _)| !keys.contains(key)) {
            let help = format!("keys here: {}", keys.join(", "));
            self.problem(field.error(format!("the key {key:?} does not belong here")).help(help));
        }
    }

    /// The elements of the array under `key`; none when there is no such array.
    fn elements<'a>(&mut self, value: JsonValue<'a>, key: &str, what: &str) -> Vec<JsonValue<'a>> {
        let Some(array) = self.ok(value.required(key, what)) else { return Vec::new() };
        match self.ok(array.expect_kind(JsonKind::Array)) {
            Some(()) => array.children().collect(),
            None => Vec::new(),
        }
    }

    fn string(&mut self, value: JsonValue<'_>, key: &str, what: &str) -> String {
        let string = self.ok(value.required(key, what)).and_then(|field| self.ok(field.string()));
        string.map(Cow::into_owned).unwrap_or_default()
    }

    fn blocks(
        &mut self,
        value: JsonValue<'_>,
        what: &str,
        takes: Takes,
        depth: usize,
    ) -> Vec<Block> {
        let mut blocks = Vec::new();
        // Inlines that stand where blocks belong, up to the next block.
        let mut loose = Vec::new();
        for child in self.elements(value, "children", what) {
            let Some(node) = self.node(child) else { continue };
            if takes == Takes::Both && INLINES.contains(&&*node) {
                loose.extend(self.inline(child, &node, 0));
                continue;
            }
            if !loose.is_empty() {
                blocks.push(Block::Paragraph { children: std::mem::take(&mut loose) });
            }
            blocks.extend(self.block(child, &node, depth));
        }
        if !loose.is_empty() {
            blocks.push(Block::Paragraph { children: loose });
        }
        blocks
    }

    fn block(&mut self, value: JsonValue<'_>, node: &str, depth: usize) -> Option<Block> {
        match node {
            "heading" => {
                self.keys(value, &["type", "level", "children"]);
                let level = self.level(value);
                Some(Block::Heading { level, children: self.inlines(value, "a heading", 0) })
            }
            "paragraph" => {
                self.keys(value, &["type", "children"]);
                Some(Block::Paragraph { children: self.inlines(value, "a paragraph", 0) })
            }
            "list" | "blockquote" if depth >= MAX_DEPTH => {
                let message = format!("a block stands in at most {MAX_DEPTH} lists and quotes");
                self.problem(value.error(message));
                None
            }
            "list" => self.list(value, depth + 1),
            "blockquote" => {
                self.keys(value, &["type", "children"]);
                let children = self.blocks(value, "a blockquote", Takes::Both, depth + 1);
                Some(Block::Quote { children })
            }
            "code_block" => {
                self.keys(value, &["type", "language", "text"]);
                let language = value.get("language").and_then(|field| self.ok(field.string()));
                let text = self.string(value, "text", "a code_block");
                Some(Block::CodeBlock { language: language.map(Cow::into_owned), text })
            }
            "table" => Some(Block::Table(self.table(value))),
            "thematic_break" => {
                self.keys(value, &["type"]);
                Some(Block::ThematicBreak)
            }
            _ => {
                self.misplaced(value, node, "a block");
                None
            }
        }
    }

    fn misplaced(&mut self, value: JsonValue<'_>, node: &str, wanted: &str) {
        let nodes = if wanted == "a block" { &BLOCKS[..] } else { &INLINES[..] };
        let is_known = BLOCKS.contains(&node) || INLINES.contains(&node) || OTHERS.contains(&node);
        let message = match is_known {
            true => format!("{node:?} stands where {wanted} belongs"),
            false => format!("there is no node {node:?}"),
        };
        self.problem(value.error(message).help(format!("nodes here: {}", nodes.join(", "))));
    }

    fn level(&mut self, value: JsonValue<'_>) -> u8 {
        let Some(level) = self.ok(value.required("level", "a heading")) else { return 1 };
        match level.text().parse::<u8>() {
            Ok(number @ 1..=6) if level.kind() == JsonKind::Number => number,
            _ => {
                self.problem(level.error("the level of a heading is a number from 1 to 6"));
                1
            }
        }
    }

    fn list(&mut self, value: JsonValue<'_>, depth: usize) -> Option<Block> {
        self.keys(value, &["type", "ordered", "items"]);
        let ordered = self.ok(value.required("ordered", "a list")).is_some_and(|ordered| {
            if !matches!(ordered.kind(), JsonKind::True | JsonKind::False) {
                let found = ordered.kind().name();
                self.problem(ordered.error(format!("expected a boolean, found {found}")));
            }
            ordered.kind() == JsonKind::True
        });
        let mut items = Vec::new();
        for item in self.elements(value, "items", "a list") {
            match self.node(item).as_deref() {
                Some("list_item") => {
                    self.keys(item, &["type", "children"]);
                    let children = self.blocks(item, "a list_item", Takes::Both, depth);
                    items.push(ListItem { children });
                }
                Some(node) => {
                    let message = format!("{node:?} stands where a list_item belongs");
                    self.problem(item.error(message));
                }
                None => {}
            }
        }
        Some(Block::List { ordered, items })
    }

    fn table(&mut self, value: JsonValue<'_>) -> Table {
        self.keys(value, &["type", "header", "rows", "align"]);
        let header: Vec<Cell> = self
            .elements(value, "header", "a table")
            .into_iter()
            .map(|cell| self.cell(cell))
            .collect();
        if header.is_empty() && value.get("header").is_some_and(|it| it.kind() == JsonKind::Array) {
            self.problem(value.error("a table has at least one column"));
        }
        let mut rows = Vec::new();
        for row in self.elements(value, "rows", "a table") {
            if self.ok(row.expect_kind(JsonKind::Array)).is_none() {
                continue;
            }
            let cells: Vec<Cell> = row.children().map(|cell| self.cell(cell)).collect();
            if cells.len() != header.len() {
                let (found, width) = (cells.len(), header.len());
                let message = format!("a row of {found} cells in a table of {width} columns");
                self.problem(row.error(message));
            }
            rows.push(cells);
        }
        let align = match value.get("align") {
            None => Vec::new(),
            Some(align) => self.align(align, header.len()),
        };
        Table { header, rows, align }
    }

    fn align(&mut self, value: JsonValue<'_>, width: usize) -> Vec<Align> {
        if self.ok(value.expect_kind(JsonKind::Array)).is_none() {
            return Vec::new();
        }
        let mut align = Vec::new();
        for column in value.children() {
            let Some(word) = self.ok(column.string()) else { continue };
            match Align::ALL.into_iter().find(|align| align.word() == word) {
                Some(found) => align.push(found),
                None => {
                    let words = Align::ALL.map(Align::word).join(", ");
                    let problem = column.error(format!("there is no alignment {word:?}"));
                    self.problem(problem.help(format!("one of {words}")));
                }
            }
        }
        if value.children().count() != width {
            self.problem(
                value.error(format!("one alignment for each of {width} columns is needed")),
            );
        }
        align
    }

    /// A cell is a list of inlines, or a string.
    fn cell(&mut self, value: JsonValue<'_>) -> Cell {
        match value.kind() {
            JsonKind::String => {
                self.ok(value.string()).map(|text| vec![Inline::text(text)]).unwrap_or_default()
            }
            JsonKind::Array => self.inline_list(value.children(), 0),
            kind => {
                let message =
                    format!("a cell is an array of inlines or a string, not {}", kind.name());
                self.problem(value.error(message));
                Cell::new()
            }
        }
    }

    fn inlines(&mut self, value: JsonValue<'_>, what: &str, depth: usize) -> Vec<Inline> {
        let children = self.elements(value, "children", what);
        self.inline_list(children.into_iter(), depth)
    }

    fn inline_list<'a>(
        &mut self,
        children: impl Iterator<Item = JsonValue<'a>>,
        depth: usize,
    ) -> Vec<Inline> {
        let mut inlines = Vec::new();
        for child in children {
            let Some(node) = self.node(child) else { continue };
            inlines.extend(self.inline(child, &node, depth));
        }
        inlines
    }

    fn inline(&mut self, value: JsonValue<'_>, node: &str, depth: usize) -> Option<Inline> {
        if depth >= MAX_DEPTH && matches!(node, "strong" | "em" | "link") {
            self.problem(value.error(format!("a text stands in at most {MAX_DEPTH} marks")));
            return None;
        }
        match node {
            "text" => {
                self.keys(value, &["type", "text"]);
                Some(Inline::Text { text: self.string(value, "text", "a text") })
            }
            "code" => {
                self.keys(value, &["type", "text"]);
                Some(Inline::Code { text: self.string(value, "text", "a code") })
            }
            "strong" => {
                self.keys(value, &["type", "children"]);
                Some(Inline::Strong { children: self.inlines(value, "a strong", depth + 1) })
            }
            "em" => {
                self.keys(value, &["type", "children"]);
                Some(Inline::Em { children: self.inlines(value, "an em", depth + 1) })
            }
            "link" => {
                self.keys(value, &["type", "href", "children"]);
                let href = self.href(value);
                Some(Inline::Link { href, children: self.inlines(value, "a link", depth + 1) })
            }
            "cite" => {
                self.keys(value, &["type", "ref"]);
                self.reference(value).map(|reference| Inline::Cite { reference })
            }
            _ => {
                self.misplaced(value, node, "an inline");
                None
            }
        }
    }

    fn href(&mut self, value: JsonValue<'_>) -> String {
        let href = self.string(value, "href", "a link");
        if let Some(field) = value.get("href")
            && field.kind() == JsonKind::String
            && !is_safe_href(&href)
        {
            let problem = field.error("a link leads to an address of http, https or mailto");
            self.problem(problem.help("leave the link out, and keep its text"));
        }
        href
    }

    fn reference(&mut self, value: JsonValue<'_>) -> Option<u32> {
        let field = self.ok(value.required("ref", "a cite"))?;
        match field.text().parse::<u32>() {
            Ok(number) if number > 0 && field.kind() == JsonKind::Number => Some(number),
            _ => {
                self.problem(field.error("the ref of a cite is the number of a citation, from 1"));
                None
            }
        }
    }
}

const BLOCKS: [&str; 7] =
    ["heading", "paragraph", "list", "blockquote", "code_block", "table", "thematic_break"];
const INLINES: [&str; 6] = ["text", "strong", "em", "code", "link", "cite"];
const OTHERS: [&str; 2] = ["doc", "list_item"];

/// Enough to mend a document by, and few enough to read.
const MAX_PROBLEMS: usize = 100;
