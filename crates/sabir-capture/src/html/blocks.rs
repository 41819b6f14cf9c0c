//! From elements to blocks. What an element means is decided here; where the article is in the page
//! is not. The tree has no hidden text any more; attributes may have.

use std::collections::HashSet;

use dom_query::{NodeData, NodeId, NodeRef};
use html5ever::LocalName;
use sabir_document::{Block, Inline};
use url::Url;

use super::code;
use super::elements::is_block;
use super::inlines::{Mark, Run, plain};
use super::invisible::visible_text;
use super::{list, math, table};

/// The blocks below an element. Links are resolved against `base`.
pub(crate) fn convert(root: &NodeRef<'_>, base: &Url) -> Vec<Block> {
    let converter = Converter { base, holders: holders_of_blocks(root) };
    let mut flow = Flow::default();
    converter.flow(root, &mut flow, Place::default());
    flow.finish()
}

pub(super) struct Converter<'a> {
    base: &'a Url,
    /// Elements that have a block somewhere inside.
    holders: HashSet<NodeId>,
}

/// How deep in the tree, and how deep in lists and quotes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    depth: u16,
    pub(super) nesting: u16,
}

impl Place {
    fn below(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    pub(super) fn nested(self) -> Self {
        Self { nesting: self.nesting + 1, ..self }
    }

    /// Whether lists and quotes may still open a level.
    pub(super) fn may_nest(self) -> bool {
        self.nesting < MAX_NESTING
    }
}

/// Blocks that are being collected, and the line that is being written.
#[derive(Debug, Default)]
pub(super) struct Flow {
    blocks: Vec<Block>,
    pub(super) run: Run,
    /// Everything goes into one line: a heading, a cell.
    is_line: bool,
    /// A link around blocks, for the first line with text in it.
    link: Option<String>,
    /// Whether a block quote or a figure is around, where pictures have words.
    in_link: bool,
}

impl Flow {
    fn line() -> Self {
        Self { is_line: true, ..Self::default() }
    }

    /// Ends the line that is being written.
    pub(super) fn flush(&mut self) {
        if self.is_line {
            self.run.push_space();
            return;
        }
        let inlines = self.run.take();
        if !inlines.is_empty() {
            let children = self.linked(inlines);
            self.blocks.push(Block::Paragraph { children });
        }
    }

    pub(super) fn push(&mut self, block: Block) {
        self.flush();
        self.blocks.push(block);
    }

    pub(super) fn finish(mut self) -> Vec<Block> {
        self.flush();
        self.blocks
    }

    fn linked(&mut self, inlines: Vec<Inline>) -> Vec<Inline> {
        match self.link.take() {
            Some(href) => vec![Inline::Link { href, children: without_links(inlines) }],
            None => inlines,
        }
    }
}

impl Converter<'_> {
    pub(super) fn flow(&self, node: &NodeRef<'_>, flow: &mut Flow, place: Place) {
        if place.depth > MAX_DEPTH {
            flow.run.push_text(&node.text());
            return;
        }
        for child in node.children_it(false) {
            self.node(&child, flow, place.below());
        }
    }

    pub(super) fn node(&self, node: &NodeRef<'_>, flow: &mut Flow, place: Place) {
        let text = node.query_or(None, |inner| match &inner.data {
            NodeData::Text { contents } => Some(contents.clone()),
            _ => None,
        });
        if let Some(text) = text {
            flow.run.push_text(&text);
            return;
        }
        let name = node.qual_name_ref().map(|name| name.local.clone());
        if let Some(name) = name {
            self.element(node, &name, flow, place);
        }
    }

    fn element(&self, node: &NodeRef<'_>, name: &LocalName, flow: &mut Flow, place: Place) {
        match &**name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name.as_bytes().get(1).map_or(6, |digit| digit - b'0');
                self.heading(node, level, flow, place);
            }
            "br" => {
                if flow.run.push_break() {
                    flow.flush();
                }
            }
            "hr" if !flow.is_line => flow.push(Block::ThematicBreak),
            "ul" | "ol" | "menu" | "dir" if !flow.is_line => {
                list::convert(self, node, name, flow, place);
            }
            "dl" if !flow.is_line => list::convert_definitions(self, node, flow, place),
            "pre" | "listing" | "xmp" | "plaintext" if !flow.is_line => {
                if let Some(block) = code::convert(node) {
                    flow.push(block);
                }
            }
            "table" if !flow.is_line => table::convert(self, node, flow, place),
            "blockquote" if !flow.is_line && place.may_nest() => {
                let children = self.blocks(node, place.nested());
                if !children.is_empty() {
                    flow.push(Block::Quote { children });
                }
            }
            "figure" => self.figure(node, flow, place),
            "img" => {
                // A picture that is a link is its words.
                if flow.in_link
                    && let Some(alt) = node.attr("alt")
                {
                    flow.run.push_text(&visible_text(&alt));
                }
            }
            "a" => self.link(node, flow, place),
            "strong" | "b" => self.marked(node, Mark::Strong, flow, place),
            "em" | "i" | "dfn" => self.marked(node, Mark::Em, flow, place),
            "code" | "kbd" | "samp" | "tt" | "var" => self.inline_code(node, flow, place),
            "sup" => script(node, '^', SUPERSCRIPTS, flow),
            "sub" => script(node, '_', SUBSCRIPTS, flow),
            "q" => {
                flow.run.push_text("“");
                self.flow(node, flow, place);
                flow.run.push_text("”");
            }
            "rt" => {
                flow.run.push_text("(");
                self.flow(node, flow, place);
                flow.run.push_text(")");
            }
            "math" => math(node, flow),
            "rp" | "wbr" | "input" | "select" | "textarea" | "button" | "option" | "optgroup"
            | "progress" | "meter" | "iframe" | "frame" | "frameset" | "noscript" | "script"
            | "style" | "template" | "svg" | "head" | "title" | "meta" | "link" | "base" => {}
            _ if is_heading_role(node) => self.heading(node, heading_level(node), flow, place),
            name if is_block(name) => {
                flow.flush();
                self.flow(node, flow, place);
                flow.flush();
            }
            _ => self.flow(node, flow, place),
        }
    }

    pub(super) fn blocks(&self, node: &NodeRef<'_>, place: Place) -> Vec<Block> {
        let mut flow = Flow::default();
        self.flow(node, &mut flow, place);
        flow.finish()
    }

    /// All of an element in one line.
    pub(super) fn line(&self, node: &NodeRef<'_>, place: Place) -> Vec<Inline> {
        let mut flow = Flow::line();
        self.flow(node, &mut flow, place);
        flow.run.take()
    }

    fn heading(&self, node: &NodeRef<'_>, level: u8, flow: &mut Flow, place: Place) {
        if flow.is_line {
            flow.flush();
            self.flow(node, flow, place);
            flow.flush();
            return;
        }
        if self.holders.contains(&node.id) && node.descendants_it().any(|inner| is_prose(&inner)) {
            // Nobody closed it: its first line is the heading, and the rest is not.
            let mut blocks = self.blocks(node, place);
            if let Some(Block::Paragraph { children }) = blocks.first_mut() {
                blocks[0] = Block::Heading { level, children: std::mem::take(children) };
            }
            blocks.into_iter().for_each(|block| flow.push(block));
            return;
        }
        let inlines = self.line(node, place);
        if !inlines.is_empty() {
            flow.flush();
            let children = flow.linked(inlines);
            flow.push(Block::Heading { level, children });
        }
    }

    fn link(&self, node: &NodeRef<'_>, flow: &mut Flow, place: Place) {
        let raw = node.attr("href");
        if raw.as_deref().is_some_and(|href| href.starts_with('#')) && is_permalink(node) {
            return;
        }
        let Some(href) = raw.and_then(|href| resolve(self.base, &href)) else {
            self.flow(node, flow, place);
            return;
        };
        let was_in_link = std::mem::replace(&mut flow.in_link, true);
        if self.holders.contains(&node.id) && !flow.is_line {
            flow.flush();
            flow.link = Some(href);
            self.flow(node, flow, place);
            flow.flush();
            flow.link = None;
        } else {
            let opened = flow.run.open(Mark::Link(href));
            self.flow(node, flow, place);
            if opened {
                flow.run.close();
            }
        }
        flow.in_link = was_in_link;
    }

    fn marked(&self, node: &NodeRef<'_>, mark: Mark, flow: &mut Flow, place: Place) {
        // Around blocks a mark would have to be repeated in each; it is not worth the noise.
        let opened = !self.holders.contains(&node.id) && flow.run.open(mark);
        self.flow(node, flow, place);
        if opened {
            flow.run.close();
        }
    }

    fn inline_code(&self, node: &NodeRef<'_>, flow: &mut Flow, place: Place) {
        let text = node.text();
        if text.contains('\n') && node.has_name("code") && !flow.is_line {
            if let Some(block) = code::convert(node) {
                flow.push(block);
            }
            return;
        }
        let has_link = node.descendants_it().any(|inner| inner.has_name("a"));
        if has_link {
            self.flow(node, flow, place);
            return;
        }
        if text.starts_with(char::is_whitespace) {
            flow.run.push_space();
        }
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !words.is_empty() {
            flow.run.push(Inline::Code { text: words });
        }
        if text.ends_with(char::is_whitespace) {
            flow.run.push_space();
        }
    }

    fn figure(&self, node: &NodeRef<'_>, flow: &mut Flow, place: Place) {
        flow.flush();
        let mut caption = Vec::new();
        for child in node.children_it(false) {
            match child.has_name("figcaption") {
                true => caption.extend(self.line(&child, place.below())),
                false => self.node(&child, flow, place.below()),
            }
        }
        flow.flush();
        if caption.is_empty() {
            let picture = node.descendants_it().find(|inner| inner.has_name("img"));
            let alt = picture.and_then(|picture| picture.attr("alt"));
            let mut run = Run::default();
            run.push_text(&visible_text(alt.as_deref().unwrap_or_default()));
            caption = run.take();
        }
        if !caption.is_empty() && !flow.is_line {
            flow.push(Block::Paragraph { children: vec![Inline::Em { children: caption }] });
        }
    }
}

/// The address that a link leads to, where following it is safe. Names and passwords are left out.
pub(crate) fn resolve(base: &Url, href: &str) -> Option<String> {
    let href = href.trim();
    if href.is_empty() || href.starts_with('#') {
        return None;
    }
    let mut url = base.join(href).ok()?;
    match url.scheme() {
        "http" | "https" => {
            // These fail for addresses without a host only, which these schemes do not have.
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        "mailto" => {}
        _ => return None,
    }
    let text = String::from(url);
    (text.len() <= MAX_HREF).then_some(text)
}

/// The sign beside a heading that links to itself.
fn is_permalink(node: &NodeRef<'_>) -> bool {
    matches!(node.text().trim(), "" | "#" | "¶" | "§" | "🔗" | "↩" | "↩︎" | "^")
}

/// What stands in no heading.
fn is_prose(node: &NodeRef<'_>) -> bool {
    node.qual_name_ref().is_some_and(|name| {
        matches!(
            &*name.local,
            "p" | "ul" | "ol" | "dl" | "table" | "pre" | "blockquote" | "h1" | "h2" | "h3"
        )
    })
}

fn is_heading_role(node: &NodeRef<'_>) -> bool {
    node.attr("role").is_some_and(|role| &*role == "heading")
}

fn heading_level(node: &NodeRef<'_>) -> u8 {
    let level = node.attr("aria-level").and_then(|level| level.trim().parse::<u8>().ok());
    level.unwrap_or(2).clamp(1, 6)
}

/// Raised or lowered text: in Unicode where it has the letters, and a note's number in brackets.
fn script(node: &NodeRef<'_>, mark: char, letters: &[(char, char)], flow: &mut Flow) {
    let text = node.text();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return;
    }
    let is_note = node.descendants_it().any(|inner| inner.has_name("a"));
    let raised: Option<String> = words
        .chars()
        .map(|c| letters.iter().find(|(plain, _)| *plain == c).map(|(_, raised)| *raised))
        .collect();
    let shown = match raised {
        _ if is_note && words.starts_with('[') => words,
        _ if is_note => format!("[{words}]"),
        Some(raised) => raised,
        None => format!("{mark}({words})"),
    };
    flow.run.push_text(&shown);
}

/// A formula is its TeX where the page has it and it says the same, and otherwise its letters.
fn math(node: &NodeRef<'_>, flow: &mut Flow) {
    match math::source(node) {
        Some(text) => flow.run.push(Inline::Code { text }),
        None => flow.run.push_text(&node.text()),
    }
}

/// Every element with a block inside, found from the blocks upwards: each one is marked once.
fn holders_of_blocks(root: &NodeRef<'_>) -> HashSet<NodeId> {
    let mut holders = HashSet::new();
    for node in root.descendants_it() {
        if !node.qual_name_ref().is_some_and(|name| is_block(&name.local)) {
            continue;
        }
        for ancestor in node.ancestors_it(None) {
            if ancestor.id == root.id || !holders.insert(ancestor.id) {
                break;
            }
        }
    }
    holders
}

fn without_links(inlines: Vec<Inline>) -> Vec<Inline> {
    let has_link = |inline: &Inline| matches!(inline, Inline::Link { .. });
    match inlines.iter().any(has_link) {
        true => vec![Inline::text(plain(&inlines))],
        false => inlines,
    }
}

/// Deeper than the parser lets a tree grow, save for what it moves about afterwards.
const MAX_DEPTH: u16 = 2 * super::tree::MAX_DEPTH;

/// Nobody can read more levels of lists and quotes.
const MAX_NESTING: u16 = 12;

/// Longer ones carry data and lead nowhere.
const MAX_HREF: usize = 2_048;

const SUPERSCRIPTS: &[(char, char)] = &[
    ('0', '⁰'),
    ('1', '¹'),
    ('2', '²'),
    ('3', '³'),
    ('4', '⁴'),
    ('5', '⁵'),
    ('6', '⁶'),
    ('7', '⁷'),
    ('8', '⁸'),
    ('9', '⁹'),
    ('+', '⁺'),
    ('-', '⁻'),
    ('−', '⁻'),
    ('n', 'ⁿ'),
    ('i', 'ⁱ'),
];

const SUBSCRIPTS: &[(char, char)] = &[
    ('0', '₀'),
    ('1', '₁'),
    ('2', '₂'),
    ('3', '₃'),
    ('4', '₄'),
    ('5', '₅'),
    ('6', '₆'),
    ('7', '₇'),
    ('8', '₈'),
    ('9', '₉'),
    ('+', '₊'),
    ('-', '₋'),
    ('−', '₋'),
    ('n', 'ₙ'),
    ('i', 'ᵢ'),
];
