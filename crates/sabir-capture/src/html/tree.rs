//! Parsing that stays small: the tree is no deeper and no larger than it may be, whatever the page
//! says, and parsing takes time that grows with the page's length only. It judges no content.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use dom_query::{Document, NodeId};
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName, local_name};

use super::gather::read_sheet;
use super::hidden::{is_hidden_by_attribute, is_never_text};
use super::markup::{self, Fed, MOST_ATTRIBUTES, Reader, Reading};
use super::sheet::Sheet;
use super::skipped::{Fate, Opened};

/// A page as a tree.
pub(crate) struct Parsed {
    pub(crate) dom: Document,
    /// The sheets that stand in it.
    pub(crate) sheet: Sheet,
    /// Whether the page had more than fits.
    pub(crate) cut: bool,
}

/// Parses a whole page. What is nested too deeply becomes flat, and its text stays; what is hidden
/// down there goes. What comes after too many nodes is left out.
pub(crate) fn parse(html: &str) -> Parsed {
    let first = parse_with(html, None);
    let sheet = read_sheet(&first.dom);
    // What became flat has lost its class. What a sheet says about it is known only now.
    let read = match first.is_flat {
        true => parse_with(html, Some(&sheet)),
        false => first,
    };
    Parsed { dom: read.dom, sheet, cut: read.cut }
}

struct Read {
    dom: Document,
    cut: bool,
    is_flat: bool,
}

fn parse_with(html: &str, sheet: Option<&Sheet>) -> Read {
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
    let gate = Gate {
        builder,
        sheet,
        opened: RefCell::default(),
        reading: RefCell::default(),
        is_flat: Cell::new(false),
        cut: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(gate, TokenizerOpts::default());
    let fed = markup::feed(&tokenizer, html);
    tokenizer.end();
    let gate = tokenizer.sink;
    let cut = gate.cut.get() || fed == Fed::Cut;
    Read { dom: gate.builder.sink.finish(), cut, is_flat: gate.is_flat.get() }
}

/// Looks at each token before the tree builder does.
struct Gate<'a> {
    builder: TreeBuilder<Handle, Sink>,
    sheet: Option<&'a Sheet>,
    opened: RefCell<Opened>,
    reading: RefCell<Reading>,
    /// Whether something was nested too deeply.
    is_flat: Cell<bool>,
    cut: Cell<bool>,
}

impl Gate<'_> {
    fn start(&self, tag: Tag, line: u64) -> TokenSinkResult<Handle> {
        if self.opened.borrow_mut().start(&tag) == Fate::Skipped {
            return self.opened.borrow().reading_of(&tag.name);
        }
        let sink = &self.builder.sink;
        sink.deepest.set(0);
        let (name, attributes) = (tag.name.clone(), tag.attrs.clone());
        let result = self.builder.process_token(Token::TagToken(tag), line);
        let flat = sink.deepest.get() > MAX_DEPTH
            && matches!(result, TokenSinkResult::Continue)
            && !is_void(&name);
        if !flat {
            return result;
        }
        self.is_flat.set(true);
        if self.hides(&name, &attributes) {
            self.opened.borrow_mut().hide_last();
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

    /// Whether an element that becomes flat is hidden, as far as that can be said without a tree.
    fn hides(&self, name: &str, attributes: &[Attribute]) -> bool {
        let has = |name: &str| attributes.iter().any(|attr| *attr.name.local == *name);
        is_never_text(name)
            || matches!(name, "noscript" | "mphantom" | "annotation" | "annotation-xml")
            || (name == "details" && !has("open"))
            || is_hidden_by_attribute(name, attributes)
            || self.sheet.is_some_and(|sheet| sheet.may_hide(name, attributes))
            || attributes
                .iter()
                .any(|attr| *attr.name.local == *"style" && self.hides_by_style(&attr.value))
    }

    fn hides_by_style(&self, style: &str) -> bool {
        match self.sheet {
            Some(sheet) => sheet.hides_inline(style),
            // The page is read once more, with its sheets.
            None => Sheet::default().hides_inline(style),
        }
    }

    fn take(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        match token {
            Token::EOFToken => {
                if self.opened.borrow().is_hidden() {
                    self.cut.set(true);
                }
                self.builder.process_token(token, line)
            }
            // One unclosed tag of an earlier place may be repeated for every paragraph, so that a
            // short page can ask for a tree of any size.
            _ if self.builder.sink.depths.borrow().len() >= MAX_NODES => {
                self.cut.set(true);
                TokenSinkResult::Continue
            }
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => self.start(tag, line),
            Token::TagToken(tag) => match self.opened.borrow_mut().end(&tag.name) {
                Fate::Skipped => TokenSinkResult::Continue,
                Fate::Kept => self.builder.process_token(Token::TagToken(tag), line),
            },
            _ if self.opened.borrow().is_hidden() => TokenSinkResult::Continue,
            Token::CommentToken(_) => TokenSinkResult::Continue,
            token => self.builder.process_token(token, line),
        }
    }
}

impl TokenSink for Gate<'_> {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        let tag = match &token {
            Token::TagToken(tag) => Some((tag.kind, tag.name.clone())),
            _ => None,
        };
        let result = self.take(token, line);
        match (tag, &result) {
            (Some((TagKind::StartTag, name)), TokenSinkResult::RawData(_)) => {
                *self.reading.borrow_mut() = Reading::Raw(name);
            }
            (Some(_), TokenSinkResult::Plaintext) => *self.reading.borrow_mut() = Reading::Plain,
            (Some((TagKind::EndTag, _)), _) => *self.reading.borrow_mut() = Reading::Markup,
            _ => {}
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Reader for Gate<'_> {
    fn reading(&self) -> Reading {
        self.reading.borrow().clone()
    }
}

/// A node, and its place in the list of depths.
#[derive(Clone, Copy)]
pub(super) struct Handle {
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

pub(super) fn is_void(name: &LocalName) -> bool {
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
