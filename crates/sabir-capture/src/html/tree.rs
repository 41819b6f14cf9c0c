//! Parsing that stays small: the tree is no deeper and no larger than it may be, whatever the page
//! says, and parsing takes time that grows with the page's length only. It judges no content.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use dom_query::{Document, NodeId};
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName, TokenizerResult, local_name};

use super::style;

/// A page as a tree.
pub(crate) struct Parsed {
    pub(crate) dom: Document,
    /// Whether the page had more nodes than fit.
    pub(crate) cut: bool,
}

/// Parses a whole page. What is nested too deeply becomes flat, and its text stays; what is hidden
/// down there goes. What comes after too many nodes is left out.
pub(crate) fn parse(html: &str) -> Parsed {
    let builder = TreeBuilder::new(
        Sink {
            dom: Document::default(),
            depths: RefCell::new(vec![0]),
            deepest: Cell::new(0),
            too_deep: Cell::new(None),
        },
        // Without scripts `noscript` has elements in it, which are looked at and removed.
        TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
    );
    let gate = Gate { builder, skipped: RefCell::new(None), cut: Cell::new(false) };
    let tokenizer = Tokenizer::new(gate, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(&*with_few_attributes(html)));
    // It stops at the end of each script, and at each name of an encoding.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    let cut = tokenizer.sink.cut.get();
    Parsed { dom: tokenizer.sink.builder.sink.finish(), cut }
}

/// Looks at each token before the tree builder does.
struct Gate {
    builder: TreeBuilder<Handle, Sink>,
    /// The hidden element below the deepest level, whose content is left out: its name, and how many
    /// elements of that name are open.
    skipped: RefCell<Option<(LocalName, u32)>>,
    cut: Cell<bool>,
}

impl Gate {
    /// Whether this token belongs to an element that is left out.
    fn skips(&self, token: &Token) -> bool {
        let mut skipped = self.skipped.borrow_mut();
        let Some((name, open)) = skipped.as_mut() else { return false };
        match token {
            Token::EOFToken => return false,
            Token::TagToken(tag) if tag.name == *name => match tag.kind {
                TagKind::StartTag => *open += 1,
                TagKind::EndTag => *open -= 1,
            },
            _ => {}
        }
        if *open == 0 {
            *skipped = None;
        }
        true
    }

    fn start(&self, tag: Tag, line: u64) -> TokenSinkResult<Handle> {
        let sink = &self.builder.sink;
        sink.deepest.set(0);
        let name = tag.name.clone();
        let hidden = tag.attrs.iter().any(|attr| match &*attr.name.local {
            "hidden" => true,
            "style" => style::hides(&attr.value),
            _ => false,
        });
        let result = self.builder.process_token(Token::TagToken(tag), line);
        let flat = sink.deepest.get() > MAX_DEPTH
            && matches!(result, TokenSinkResult::Continue)
            && !is_void(&name);
        if !flat {
            return result;
        }
        if hidden {
            *self.skipped.borrow_mut() = Some((name.clone(), 1));
        }
        // Closed at once, so that its content stands beside it and not in it.
        let end = Tag {
            kind: TagKind::EndTag,
            name,
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        };
        let result = self.builder.process_token(Token::TagToken(end), line);
        sink.remove_too_deep();
        result
    }
}

impl TokenSink for Gate {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        if self.skips(&token) {
            return TokenSinkResult::Continue;
        }
        match token {
            Token::EOFToken => self.builder.process_token(token, line),
            // One unclosed tag of an earlier place may be repeated for every paragraph, so that a
            // short page can ask for a tree of any size.
            _ if self.builder.sink.depths.borrow().len() >= MAX_NODES => {
                self.cut.set(true);
                TokenSinkResult::Continue
            }
            Token::CommentToken(_) => TokenSinkResult::Continue,
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => self.start(tag, line),
            token => self.builder.process_token(token, line),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// A node, and its place in the list of depths.
#[derive(Clone, Copy)]
struct Handle {
    id: NodeId,
    at: usize,
}

/// dom_query's own sink, with the depth of each node written down.
struct Sink {
    dom: Document,
    depths: RefCell<Vec<u16>>,
    /// How deep the deepest element was that has been put into the tree since this was set to zero.
    deepest: Cell<u16>,
    /// The last element that was too deep.
    too_deep: Cell<Option<NodeId>>,
}

impl Sink {
    fn new_handle(&self, id: NodeId) -> Handle {
        let mut depths = self.depths.borrow_mut();
        depths.push(0);
        Handle { id, at: depths.len() - 1 }
    }

    /// Writes down that `child` stands `below` so many elements, and hands out what dom_query knows.
    fn placed(&self, child: NodeOrText<Handle>, below: u16) -> NodeOrText<NodeId> {
        match child {
            NodeOrText::AppendText(text) => NodeOrText::AppendText(text),
            NodeOrText::AppendNode(node) => {
                self.set_depth(node, below.saturating_add(1));
                NodeOrText::AppendNode(node.id)
            }
        }
    }

    fn set_depth(&self, node: Handle, depth: u16) {
        if let Some(place) = self.depths.borrow_mut().get_mut(node.at) {
            *place = depth;
        }
        self.deepest.set(self.deepest.get().max(depth));
        if depth > MAX_DEPTH {
            self.too_deep.set(Some(node.id));
        }
    }

    /// Takes the last element out that was too deep, if there is nothing in it.
    fn remove_too_deep(&self) {
        if let Some(id) = self.too_deep.take()
            && self.dom.tree.first_child_of(&id).is_none()
        {
            self.dom.tree.remove_from_parent(&id);
        }
    }

    fn depth(&self, node: &Handle) -> u16 {
        self.depths.borrow().get(node.at).copied().unwrap_or_default()
    }
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Document;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Document {
        self.dom
    }

    // Broken pages are the rule, and a list of what is wrong with one grows with it.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: self.dom.get_document(), at: 0 }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> Ref<'a, QualName> {
        self.dom.elem_name(&target.id)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Handle {
        self.new_handle(self.dom.create_element(name, attrs, flags))
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.new_handle(self.dom.create_comment(text))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        self.new_handle(self.dom.create_pi(target, data))
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let child = self.placed(child, self.depth(parent));
        self.dom.append(&parent.id, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        // One of the two becomes the parent or the neighbour; the deeper one is the safe guess.
        let below = self.depth(element).max(self.depth(previous));
        let child = self.placed(child, below);
        self.dom.append_based_on_parent_node(&element.id, &previous.id, child);
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        Handle { id: self.dom.get_template_contents(&target.id), at: target.at }
    }

    fn same_node(&self, left: &Handle, right: &Handle) -> bool {
        left.id == right.id
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.dom.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let child = self.placed(child, self.depth(sibling).saturating_sub(1));
        self.dom.append_before_sibling(&sibling.id, child);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        // Every further `<body x=…>` adds to the one body, and each one is compared with all.
        let has = self.dom.tree.query_node_or(&target.id, 0, |node| {
            node.as_element().map_or(0, |element| element.attrs.len())
        });
        if has < MOST_ATTRIBUTES {
            self.dom.add_attrs_if_missing(&target.id, attrs);
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.dom.remove_from_parent(&target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        self.dom.reparent_children(&node.id, &new_parent.id);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        self.dom.is_mathml_annotation_xml_integration_point(&handle.id)
    }
}

/// The page without the tails of tags that have very many attributes: the tokenizer compares each
/// name with all before it. Inside of a script this may find a tag that is none, which does no harm.
fn with_few_attributes(html: &str) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let mut kept = String::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(start) = find(b'<', bytes, at) {
        at = start + 1;
        if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        match tag_end(bytes, at) {
            TagEnd::At(end) => at = end,
            TagEnd::TooMany(cut) => {
                kept.push_str(&html[from..cut]);
                from = find(b'>', bytes, cut).unwrap_or(bytes.len());
                at = from;
            }
        }
    }
    match from {
        0 => Cow::Borrowed(html),
        _ => Cow::Owned(kept + &html[from..]),
    }
}

enum TagEnd {
    /// Behind the tag.
    At(usize),
    /// Here a tag has had more than enough; an ASCII character stands here.
    TooMany(usize),
}

/// Where the tag whose name starts `at` ends. Each attribute has at least one mark before it: white
/// space, a slash or the quote that ends the one before.
fn tag_end(bytes: &[u8], mut at: usize) -> TagEnd {
    let mut marks = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => return TagEnd::At(at + 1),
            b'"' | b'\'' => {
                marks += 1;
                match find(*byte, bytes, at + 1) {
                    Some(end) => at = end,
                    // An open quote: the rest of the page is one attribute, or no tag at all.
                    None => return TagEnd::At(at + 1),
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' => marks += 1,
            _ => {}
        }
        if marks > 4 * MOST_ATTRIBUTES {
            return TagEnd::TooMany(at);
        }
        at += 1;
    }
    TagEnd::At(at)
}

fn find(byte: u8, bytes: &[u8], from: usize) -> Option<usize> {
    Some(from + memchr::memchr(byte, bytes.get(from..)?)?)
}

fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("basefont")
            | local_name!("bgsound")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("frame")
            | local_name!("hr")
            | local_name!("img")
            | local_name!("image")
            | local_name!("input")
            | local_name!("keygen")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

/// Pages that people read are a fraction as deep, and whatever walks the tree by calling itself
/// needs little stack for this.
pub(crate) const MAX_DEPTH: u16 = 120;

/// A long article has some ten thousand.
const MAX_NODES: usize = 200_000;

/// Nobody writes a tag with more.
const MOST_ATTRIBUTES: usize = 500;
