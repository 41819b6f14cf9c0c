//! Documents: one message after the other, and what lies between.

use sabir_base::{Diagnostic, Edit, Span};

use super::recover::starts_message;
use super::{Parsed, Parser, Siblings};
use crate::codes;
use crate::lexer::{BOM, Lexer};
use crate::strings::quote;
use crate::token::{LETTER, NAME_PART, TokenKind, is};
use crate::tree::{NodeId, Tree};

impl<'t> Parser<'t> {
    pub(super) fn document(mut self) -> Parsed<'t> {
        if self.text().as_bytes().starts_with(BOM) {
            self.byte_order_mark();
        }
        self.cur = self.lexer.next();
        let mut messages = Siblings::NONE;
        let mut after_message = false;
        while self.cur.kind != TokenKind::Eof {
            let node = if self.at_message_start() {
                if after_message && self.touches() {
                    self.not_separated();
                }
                after_message = true;
                self.abandoned = false;
                self.depth = 0;
                let message = self.message();
                self.end_of_message(message);
                message
            } else {
                after_message = false;
                self.abandoned = false;
                self.text_outside()
            };
            messages.add(&mut self, node);
        }
        self.abandoned = false;
        if let Some(start) = self.lexer.unclosed_comment {
            self.unclosed_comment(start);
        }
        self.data(NodeId::ROOT).first = messages.first;
        Parsed {
            tree: Tree { text: self.lexer.text(), nodes: self.nodes },
            diagnostics: self.diagnostics,
        }
    }

    #[cold]
    fn byte_order_mark(&mut self) {
        let span = Span::new(0, BOM.len() as u32);
        self.lexer.jump(span.end);
        self.report(
            Diagnostic::warning(
                codes::BYTE_ORDER_MARK,
                span,
                "the text starts with a byte order mark",
            )
            .help("AXON is UTF-8 and needs none")
            .fix(Edit::delete(span)),
        );
    }

    #[cold]
    fn not_separated(&mut self) {
        self.report(
            Diagnostic::error(
                codes::MESSAGES_NOT_SEPARATED,
                self.cur.span(),
                "messages are separated by white space",
            )
            .fix(Edit::insert(self.prev_end, "\n")),
        );
    }

    #[cold]
    fn unclosed_comment(&mut self, start: u32) {
        let span = Span::new(start, start + 2);
        let diagnostic = Diagnostic::error(
            codes::UNTERMINATED_COMMENT,
            span,
            "a comment is never closed with `*)`",
        );
        let text = self.text();
        let end = text.len() as u32;
        let star = &text[start as usize..];
        self.report(if star.starts_with("(*)") {
            diagnostic
                .help("`(*` opens a comment; write `(\"*\")` for an argument")
                .fix(Edit::replace(Span::new(start + 1, start + 2), "\"*\""))
        } else {
            // One closing mark for every level that is still open.
            let opened = count_open_comments(star);
            diagnostic.help("add `*)`").fix(Edit::insert(end, " *)".repeat(opened)))
        });
    }

    /// Behind a message's content: nothing of it may be left.
    #[inline]
    fn end_of_message(&mut self, message: NodeId) {
        if self.cur.kind != TokenKind::Eof && !self.at_next_message() {
            self.rest_of_message(message);
        }
    }

    /// Whether the cursor is where a next message or the text between messages may start.
    #[inline]
    fn at_next_message(&self) -> bool {
        self.cur.kind == TokenKind::LBracket && self.at_message_start()
            || self.at_line_start(self.cur) && !self.cur.kind.is_closer()
            || self.at_message_start()
    }

    /// Something is left over behind a message's content.
    #[cold]
    fn rest_of_message(&mut self, message: NodeId) {
        self.depth = 0;
        let token = self.cur;
        // A fence that closes a code block is not part of the message.
        if self.abandoned || self.slice(token.span()) == "`" {
            if self.abandoned {
                self.skip_to_boundary_if_needed();
            }
            return;
        }
        let found = self.describe(token);
        if token.kind.is_closer() {
            self.report(
                Diagnostic::error(
                    codes::UNMATCHED_BRACKET,
                    token.span(),
                    format!("{found} closes nothing"),
                )
                .fix(Edit::delete(token.span())),
            );
            self.bump();
            if self.cur.kind == TokenKind::Eof || self.at_next_message() {
                return;
            }
            self.abandoned = true;
        }
        let content = self.content_of(message);
        let start = self.cur.start;
        self.skip_to_boundary();
        let span = Span::new(start.min(self.prev_end), self.prev_end);
        let node = self.error_node(span);
        self.adopt(message, node);
        let whole = Span::new(content.start.min(span.start), span.end);
        let fix = Edit::replace(whole, quote(self.slice(whole).trim_end()));
        if self.abandoned {
            return;
        }
        let same = self.diagnostics.last_mut().filter(|last| {
            last.code == codes::EXPECTED_EXPRESSION && last.span.start == token.start
        });
        if let Some(last) = same {
            last.fixes = vec![fix];
            return;
        }
        self.report(
            Diagnostic::error(codes::UNEXPECTED_TOKEN, token.span(), format!("unexpected {found}"))
                .help("quote text, or put an operator before this")
                .fix(fix),
        );
    }

    fn skip_to_boundary_if_needed(&mut self) {
        if self.cur.kind != TokenKind::Eof && !self.at_next_message() {
            self.skip_to_boundary();
        }
    }

    /// The span of a message's content, which is its last child.
    fn content_of(&self, message: NodeId) -> Span {
        let mut id = self.nodes[message.0 as usize].first;
        let mut last = id;
        while id.is_some() {
            last = id;
            id = self.nodes[id.0 as usize].next;
        }
        self.span_of(last)
    }

    /// Hangs a node behind a message's children: what follows the content belongs to it.
    fn adopt(&mut self, message: NodeId, node: NodeId) {
        let end = self.span_of(node).end;
        let mut id = self.nodes[message.0 as usize].first;
        while self.nodes[id.0 as usize].next.is_some() {
            id = self.nodes[id.0 as usize].next;
        }
        self.data(id).next = node;
        let message = self.data(message);
        message.end = message.end.max(end);
    }

    /// Prose, code fences, leftovers: kept as a comment by the fix.
    #[cold]
    fn text_outside(&mut self) -> NodeId {
        let start = self.cur.start;
        let next = find_message_start(self.lexer, start);
        let text = &self.text()[start as usize..next as usize];
        let end = start + text.trim_end().len() as u32;
        let span = Span::new(start, end.max(start));
        let first_line = text.lines().next().unwrap_or_default().trim_end();
        let at = Span::new(start, start + first_line.len() as u32);
        self.report(
            Diagnostic::error(
                codes::TEXT_OUTSIDE_MESSAGE,
                at,
                "text stands outside of any message",
            )
            .help("a message starts with `[` or a performative; put remarks in `(* ... *)`")
            .fix(Edit::replace(span, as_comment(text))),
        );
        self.lexer.jump(next);
        self.prev_end = span.end;
        self.cur = self.lexer.next();
        self.error_node(span)
    }
}

/// Where the next message starts behind `from`, or the end of the text.
fn find_message_start(lexer: Lexer<'_>, from: u32) -> u32 {
    let text = lexer.text();
    let bytes = text.as_bytes();
    let mut at = from as usize;
    // The first character is known not to start one.
    at += text[at..].chars().next().map_or(0, char::len_utf8);
    while at < bytes.len() {
        let byte = bytes[at];
        let fresh =
            !is(bytes[at - 1], NAME_PART) && !matches!(bytes[at - 1], b'.' | b'@' | b'#' | b'$');
        let candidate = match byte {
            b'[' => true,
            byte if is(byte, LETTER) && fresh => may_be_performative(&bytes[at..]),
            _ => false,
        };
        if candidate {
            let mut ahead = lexer;
            ahead.jump(at as u32);
            let token = ahead.next();
            if token.start as usize == at && starts_message(ahead, token) {
                return at as u32;
            }
        }
        at += 1;
    }
    bytes.len() as u32
}

/// Three upper-case letters or `X.`: cheap, so that prose is skipped quickly.
fn may_be_performative(bytes: &[u8]) -> bool {
    match bytes {
        [b'X', b'.', ..] => true,
        [a, b, c, rest @ ..] => {
            let upper = a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_uppercase();
            upper && !rest.first().is_some_and(|&byte| is(byte, NAME_PART))
        }
        _ => false,
    }
}

/// `text` as a comment. Code fences with their language are markup and are dropped; comment marks
/// inside are broken up, because they would nest.
pub(crate) fn as_comment(text: &str) -> String {
    let is_fence = |line: &str| {
        let language = line.trim_start().strip_prefix("```");
        language.is_some_and(|language| language.split_whitespace().count() <= 1)
    };
    let lines = text.lines().filter(|line| !is_fence(line));
    let kept = lines.collect::<Vec<_>>().join("\n");
    let kept = kept.trim().replace("(*", "( *").replace("*)", "* )");
    if kept.is_empty() { String::new() } else { format!("(* {kept} *)") }
}

/// How many comments are still open at the end of `text`.
fn count_open_comments(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'(', b'*') => {
                depth += 1;
                at += 2;
            }
            (b'*', b')') => {
                depth = depth.saturating_sub(1);
                at += 2;
            }
            _ => at += 1,
        }
    }
    depth
}
