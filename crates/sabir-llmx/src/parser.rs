//! Text to tree, in one pass, without ever failing.
//!
//! The parser reads bytes, decides, and pushes nodes. Where the text is wrong it says so, with the
//! edit that would mend it, and goes on as if the edit had been made.
//!
//! `document` finds blocks and groups them into messages, `brackets` reads what is in brackets,
//! `value` reads the rest, and `recover` knows how to go on after an error.

mod brackets;
mod document;
mod recover;
mod value;

use sabir_base::{Code, Diagnostic, Findings, Span};

use crate::codes;
use crate::tree::{Kind, NodeData, NodeId, Tree};

/// Deep enough for any message a person or model means, shallow enough for every walker's stack.
pub const MAX_DEPTH: u8 = 128;

/// An edit with more text than this helps nobody who reads it.
const LONGEST_FIX: usize = 64 << 10;

/// A tree, and everything that is wrong with the text it was read from.
#[derive(Clone, Debug)]
pub struct Parsed<'t> {
    pub tree: Tree<'t>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed<'_> {
    /// Strict acceptance: no diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads a document. Total: every text gives a tree.
pub fn parse(text: &str) -> Parsed<'_> {
    if u32::try_from(text.len()).is_err() {
        let message = "the text is four gigabytes or more";
        return Parsed {
            tree: Tree { text: "", nodes: vec![root(0)] },
            diagnostics: vec![Diagnostic::error(codes::TEXT_TOO_LARGE, Span::at(0), message)],
        };
    }
    Parser::new(text).document()
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    nodes: Vec<NodeData>,
    findings: Findings,
    /// The closing brackets that are awaited, outermost first.
    awaited: [u8; MAX_DEPTH as usize],
    depth: usize,
    /// From here on no quote opens a string that ends: a scan to the end of the text has shown it.
    unclosed_strings_from: usize,
    /// Where the last string that has no closing quote ends, without the blanks at its end.
    broken_string_end: usize,
    /// Inside an extension, which is kept as it is.
    verbatim: bool,
    /// Where a bracket ended because a block starts there: those around it end there too.
    ended_at: usize,
}

/// The children of a node while it is being read.
#[derive(Clone, Copy)]
struct Siblings {
    first: NodeId,
    last: NodeId,
}

fn root(end: u32) -> NodeData {
    let (first, next) = (NodeId::NONE, NodeId::NONE);
    NodeData { start: 0, end, mid: 0, first, next, kind: Kind::Document, extra: 0 }
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        // A node for every six bytes is a little more than compact messages need.
        let mut nodes = Vec::with_capacity(text.len() / 6 + 8);
        nodes.push(root(text.len() as u32));
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            nodes,
            findings: Findings::new(codes::TOO_MANY_ERRORS),
            awaited: [0; MAX_DEPTH as usize],
            depth: 0,
            unclosed_strings_from: usize::MAX,
            broken_string_end: usize::MAX,
            verbatim: false,
            ended_at: usize::MAX,
        }
    }

    /// The byte under the cursor; zero at the end, where no rule starts with one.
    #[inline(always)]
    fn byte(&self) -> u8 {
        self.byte_at(self.at)
    }

    #[inline(always)]
    fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Skips white space. Whether a line ended in it: only then may the next block start here.
    #[inline(always)]
    fn skip_space(&mut self) -> bool {
        let mut crossed = false;
        while is(self.byte(), SPACE) {
            crossed |= self.byte() == b'\n';
            self.at += 1;
        }
        crossed
    }

    #[inline(always)]
    fn skip_class(&mut self, class: u8) {
        while is(self.byte(), class) {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn push(&mut self, kind: Kind, start: usize, mid: usize, extra: u8) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(NodeData {
            start: start as u32,
            end: self.at as u32,
            mid: mid as u32,
            first: NodeId::NONE,
            next: NodeId::NONE,
            kind,
            extra,
        });
        id
    }

    /// A node without children that ends at the cursor.
    #[inline(always)]
    fn leaf(&mut self, kind: Kind, start: usize, extra: u8) -> NodeId {
        self.push(kind, start, self.at, extra)
    }

    /// Gives a node its children, and its end at the cursor.
    #[inline(always)]
    fn close(&mut self, id: NodeId, first: NodeId) {
        let end = self.at as u32;
        let data = self.data(id);
        data.first = first;
        data.end = end;
    }

    #[inline(always)]
    fn data(&mut self, id: NodeId) -> &mut NodeData {
        &mut self.nodes[id.0 as usize]
    }

    fn span_of(&self, id: NodeId) -> Span {
        let data = &self.nodes[id.0 as usize];
        Span { start: data.start, end: data.end }
    }

    /// From `start` to the cursor.
    fn since(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    /// The character under the cursor, or the empty place at the end.
    fn here(&self) -> Span {
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        Span { start: self.at as u32, end: (self.at + length) as u32 }
    }

    #[cold]
    fn report(&mut self, diagnostic: Diagnostic) {
        self.findings.push(diagnostic);
    }

    #[cold]
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }
}

impl Siblings {
    const NONE: Siblings = Siblings { first: NodeId::NONE, last: NodeId::NONE };

    #[inline(always)]
    fn add(&mut self, parser: &mut Parser<'_>, id: NodeId) {
        if self.last.is_some() {
            parser.data(self.last).next = id;
        } else {
            self.first = id;
        }
        self.last = id;
    }
}

/// Space, tab, carriage return, line feed.
const SPACE: u8 = 1;
const DIGIT: u8 = 2;
const LETTER: u8 = 4;
/// What joins the letters of a word: `_` and `-`.
const JOINER: u8 = 8;
/// What may stand in a key: letters, digits, `_`.
const KEY: u8 = 16;
/// What ends the plain part of a string: a quote, a backslash, a control character.
const STRING_STOP: u8 = 32;
/// What ends text without quotes wherever it stands: white space, `,`, `]`, `}`.
const RUN_STOP: u8 = 64;
/// What a strict key holds after its first letter.
const LOWER_KEY: u8 = 128;

const WORD: u8 = LETTER | DIGIT | JOINER;

static CLASSES: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0usize;
    while byte < 256 {
        let b = byte as u8;
        let mut class = 0;
        if matches!(b, b' ' | b'\t' | b'\r' | b'\n') {
            class |= SPACE;
        }
        if b.is_ascii_digit() {
            class |= DIGIT;
        }
        if b.is_ascii_alphabetic() {
            class |= LETTER;
        }
        if matches!(b, b'_' | b'-') {
            class |= JOINER;
        }
        if b.is_ascii_alphanumeric() || b == b'_' {
            class |= KEY;
        }
        if b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' {
            class |= LOWER_KEY;
        }
        if matches!(b, b'"' | b'\\' | 0..=0x1f | 0x7f) {
            class |= STRING_STOP;
        }
        if matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']' | b'}') {
            class |= RUN_STOP;
        }
        table[byte] = class;
        byte += 1;
    }
    table
};

#[inline(always)]
fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}
