//! Text to tree, in one pass, without ever failing.
//!
//! The parser reads a token, decides, and pushes nodes; children come before their parents in the
//! arena. Where the text is wrong it reports what was meant, with the edit that would say it, and
//! goes on as if the edit had been made: so one pass reports many errors, and repair is nothing but
//! applying the edits.
//!
//! `document` finds messages, `message` reads headers, `expr` reads expressions, `brackets` reads
//! what is in brackets. `odd` and `suffix` know what people and models write instead, and `recover`
//! knows how to go on after an error.

mod brackets;
mod document;
mod expr;
mod message;
mod odd;
mod recover;
mod suffix;

pub(crate) use document::as_comment;
use sabir_base::{Code, Diagnostic, Severity, Span};

use crate::codes;
use crate::lexer::Lexer;
use crate::strings::{self, Escape};
use crate::token::{STRING_CONTROLS, STRING_ESCAPES, Token, TokenKind};
use crate::tree::{Kind, NodeData, NodeId, Tree};

/// Deep enough for any message a person or model means, shallow enough for every walker's stack.
pub const MAX_DEPTH: u8 = 128;

/// More errors than this in one text help nobody, and a hostile text could make millions.
const MAX_DIAGNOSTICS: usize = 1_000;

/// An edit with more text than this helps nobody who reads it; repair has other means.
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
    parse_reporting(text, MAX_DIAGNOSTICS)
}

/// Reads a document and reports at most so many findings about it.
pub(crate) fn parse_reporting(text: &str, max_diagnostics: usize) -> Parsed<'_> {
    if u32::try_from(text.len()).is_err() {
        let root = NodeData {
            start: 0,
            end: 0,
            mid: 0,
            first: NodeId::NONE,
            next: NodeId::NONE,
            kind: Kind::Document,
            extra: 0,
        };
        let message = "the text is four gigabytes or more";
        return Parsed {
            tree: Tree { text: "", nodes: vec![root] },
            diagnostics: vec![Diagnostic::error(codes::TEXT_TOO_LARGE, Span::at(0), message)],
        };
    }
    Parser::new(text, max_diagnostics).document()
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The token under the cursor.
    cur: Token,
    /// Where the token before the cursor ended: trivia lies between it and `cur`.
    prev_end: u32,
    nodes: Vec<NodeData>,
    diagnostics: Vec<Diagnostic>,
    max_diagnostics: usize,
    /// The open brackets by their opening character, and `m` for a nested message.
    open: [u8; MAX_DEPTH as usize],
    depth: usize,
    /// The rest of this message is being skipped; what is wrong with it is known already.
    abandoned: bool,
}

/// The children of a node while it is being read.
#[derive(Clone, Copy)]
struct Siblings {
    first: NodeId,
    last: NodeId,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, max_diagnostics: usize) -> Self {
        // A node for every six bytes is a little more than compact messages need.
        let mut nodes = Vec::with_capacity(text.len() / 6 + 8);
        nodes.push(NodeData {
            start: 0,
            end: text.len() as u32,
            mid: 0,
            first: NodeId::NONE,
            next: NodeId::NONE,
            kind: Kind::Document,
            extra: 0,
        });
        let lexer = Lexer::new(text);
        Self {
            lexer,
            cur: Token { kind: TokenKind::Eof, aux: 0, start: 0, end: 0 },
            prev_end: 0,
            nodes,
            diagnostics: Vec::new(),
            max_diagnostics,
            open: [0; MAX_DEPTH as usize],
            depth: 0,
            abandoned: false,
        }
    }

    fn text(&self) -> &'t str {
        self.lexer.text()
    }

    fn slice(&self, span: Span) -> &'t str {
        &self.lexer.text()[span.range()]
    }

    #[inline(always)]
    fn bytes(&self, token: Token) -> &'t [u8] {
        &self.lexer.text().as_bytes()[token.start as usize..token.end as usize]
    }

    /// Takes the token under the cursor.
    #[inline(always)]
    fn bump(&mut self) -> Token {
        let token = self.cur;
        self.prev_end = token.end;
        self.cur = self.lexer.next();
        token
    }

    #[inline(always)]
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.cur.kind == kind;
        if found {
            self.bump();
        }
        found
    }

    /// Whether the token under the cursor touches the one before it.
    fn touches(&self) -> bool {
        self.cur.start == self.prev_end
    }

    /// Whether `token` stands at the very front of a line.
    fn at_line_start(&self, token: Token) -> bool {
        token.start == 0 || self.text().as_bytes()[token.start as usize - 1] == b'\n'
    }

    /// The token after the one under the cursor.
    fn peek(&self) -> Token {
        let mut ahead = self.lexer;
        ahead.next()
    }

    #[inline(always)]
    fn push(&mut self, node: NodeData) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        id
    }

    #[inline(always)]
    fn leaf(&mut self, kind: Kind, token: Token) -> NodeId {
        self.push(NodeData {
            start: token.start,
            end: token.end,
            mid: token.end,
            first: NodeId::NONE,
            next: NodeId::NONE,
            kind,
            extra: token.aux,
        })
    }

    #[inline(always)]
    fn branch(&mut self, kind: Kind, start: u32, mid: u32, first: NodeId) -> NodeId {
        let end = self.prev_end.max(start);
        let next = NodeId::NONE;
        self.push(NodeData { start, end, mid, first, next, kind, extra: 0 })
    }

    fn error_node(&mut self, span: Span) -> NodeId {
        self.push(NodeData {
            start: span.start,
            end: span.end,
            mid: span.end,
            first: NodeId::NONE,
            next: NodeId::NONE,
            kind: Kind::Error,
            extra: 0,
        })
    }

    #[inline(always)]
    fn data(&mut self, id: NodeId) -> &mut NodeData {
        &mut self.nodes[id.0 as usize]
    }

    fn span_of(&self, id: NodeId) -> Span {
        let data = &self.nodes[id.0 as usize];
        Span { start: data.start, end: data.end }
    }

    fn kind_of(&self, id: NodeId) -> Kind {
        self.nodes[id.0 as usize].kind
    }

    /// Opens a bracket (or a nested message). `false` when that goes too deep; then the message is
    /// given up.
    #[inline(always)]
    fn enter(&mut self, bracket: u8) -> bool {
        if self.depth == MAX_DEPTH as usize {
            self.too_deep();
            return false;
        }
        self.open[self.depth] = bracket;
        self.depth += 1;
        true
    }

    #[inline(always)]
    fn leave(&mut self) {
        self.depth -= 1;
    }

    #[cold]
    fn too_deep(&mut self) {
        let message = format!("brackets and nested messages go deeper than {MAX_DEPTH} levels");
        self.report(
            Diagnostic::error(codes::TOO_DEEP, self.cur.span(), message)
                .help("move the inner part into a message of its own"),
        );
        self.abandoned = true;
        self.skip_to_boundary();
    }

    #[cold]
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.abandoned {
            return;
        }
        match self.diagnostics.len().cmp(&self.max_diagnostics) {
            std::cmp::Ordering::Less => self.diagnostics.push(diagnostic),
            std::cmp::Ordering::Equal => {
                let message =
                    format!("more than {} findings; the rest is not listed", self.max_diagnostics);
                let span = diagnostic.span;
                self.diagnostics.push(Diagnostic::error(codes::TOO_MANY_ERRORS, span, message));
            }
            std::cmp::Ordering::Greater => {}
        }
    }

    #[cold]
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// Reports what is wrong inside a string that has escapes or control characters.
    #[cold]
    fn check_string(&mut self, token: Token) {
        let text = self.slice(token.span());
        if token.aux & STRING_CONTROLS != 0 {
            self.check_controls(token, text);
        }
        if token.aux & STRING_ESCAPES == 0 {
            return;
        }
        let mut at = 1usize;
        while let Some(found) = text[at..].find('\\') {
            at += found;
            let start = token.start + at as u32;
            match strings::read_escape(&text[at..]) {
                Escape::Char(_, length) => at += length,
                Escape::Unknown(length) => {
                    let escaped = text[at + 1..].chars().next().unwrap_or('"');
                    let span = Span::new(start, start + 1 + escaped.len_utf8() as u32);
                    self.report(
                        Diagnostic::error(
                            codes::UNKNOWN_ESCAPE,
                            span,
                            format!("`\\{}` is not an escape", escaped.escape_debug()),
                        )
                        .help("escapes are \\\" \\\\ \\n \\t and \\u{...}; write \\\\ for a backslash")
                        .fix(sabir_base::Edit::insert(start, "\\")),
                    );
                    at += length;
                }
                Escape::NoCharacter(length) => {
                    let span = Span::new(start, start + length as u32);
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_UNICODE_ESCAPE,
                            span,
                            format!("`{}` names no character", &text[at..at + length]),
                        )
                        .help("characters go up to 10FFFF, and D800 to DFFF are not characters")
                        .fix(sabir_base::Edit::insert(start, "\\")),
                    );
                    at += length;
                }
            }
        }
    }

    fn check_controls(&mut self, token: Token, text: &str) {
        let is_control = |c: char| c < ' ' || c == '\u{7f}';
        let Some(at) = text.find(is_control) else { return };
        let mut diagnostic = Diagnostic::new(
            codes::RAW_CONTROL,
            Severity::Warning,
            Span::new(token.start + at as u32, token.start + at as u32 + 1),
            "a raw control character in a string",
        )
        .help("write \\n for a newline, \\t for a tab, \\u{...} for the others");
        // An escape before a raw control is reported on its own, so the two never overlap. Long
        // strings get the first few edits only: the formatter mends them all.
        for (at, c) in text.match_indices(is_control).take(100) {
            let quoted = strings::quote(c);
            let start = token.start + at as u32;
            let span = Span::new(start, start + 1);
            diagnostic = diagnostic.fix(sabir_base::Edit::replace(span, strings::unquote(&quoted)));
        }
        self.report(diagnostic);
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
