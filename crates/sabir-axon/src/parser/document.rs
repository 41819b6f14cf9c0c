//! Documents: one message after the other, and what lies between.

use sabir_base::{Diagnostic, Edit, Span};

use super::recover::starts_message;
use super::{LONGEST_FIX, Parsed, Parser, Siblings};
use crate::codes;
use crate::lexer::{BOM, Lexer};
use crate::strings::quote;
use crate::token::{LETTER, NAME_PART, TokenKind, is};
use crate::tree::{Kind, NodeId, Tree};

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
            // One closing mark for every level that is still open, unless that is absurd.
            const MOST: usize = 64;
            let diagnostic = diagnostic.help("add `*)`");
            match count_open_comments(star) {
                opened @ 1..=MOST => diagnostic.fix(Edit::insert(end, " *)".repeat(opened))),
                _ => diagnostic,
            }
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
        let mut content = self.last_child(message);
        while !self.abandoned && self.cur.kind != TokenKind::Eof && !self.at_next_message() {
            let token = self.cur;
            match token.kind {
                // A fence that closes a code block is not part of the message.
                TokenKind::Unknown if self.slice(token.span()) == "`" => break,
                kind if kind.is_closer() => {
                    let found = self.describe(token);
                    self.report(
                        Diagnostic::error(
                            codes::UNMATCHED_BRACKET,
                            token.span(),
                            format!("{found} closes nothing"),
                        )
                        .fix(Edit::delete(token.span())),
                    );
                    self.bump();
                    // What follows belongs to the expression before the bracket; the next look,
                    // without the bracket, will read it so.
                    self.abandoned = true;
                }
                TokenKind::Comma | TokenKind::Semicolon if self.ends_message() => {
                    self.bump();
                    self.report(
                        Diagnostic::error(
                            codes::UNEXPECTED_TOKEN,
                            token.span(),
                            "messages are separated by white space alone",
                        )
                        .fix(Edit::delete(token.span())),
                    );
                }
                // Words in a row with a comma among them are prose; anything else is a list.
                TokenKind::Comma | TokenKind::Semicolon if self.kind_of(content) != Kind::Error => {
                    self.bump();
                    self.report(
                        Diagnostic::error(
                            codes::UNEXPECTED_TOKEN,
                            token.span(),
                            "the content of a message is one expression",
                        )
                        .help("join expressions with `&`, or put them in a list")
                        .fix(Edit::replace(token.span(), " &")),
                    );
                    let more = self.expr();
                    self.data(content).next = more;
                    content = more;
                }
                _ => return self.garbage(message, content),
            }
        }
        if self.abandoned && self.cur.kind != TokenKind::Eof && !self.at_next_message() {
            self.skip_to_boundary();
        }
        let end = self.prev_end;
        let message = self.data(message);
        message.end = message.end.max(end);
    }

    /// Whether the token behind the cursor starts something new.
    fn ends_message(&self) -> bool {
        let mut ahead = self.lexer;
        let next = ahead.next();
        next.kind == TokenKind::Eof || self.at_line_start(next) || starts_message(ahead, next)
    }

    /// Quotes a message's content together with what cannot be read behind it.
    fn garbage(&mut self, message: NodeId, content: NodeId) {
        let token = self.cur;
        let found = self.describe(token);
        self.skip_to_boundary();
        let span = Span::new(token.start, self.prev_end.max(token.start));
        let node = self.error_node(span);
        self.data(content).next = node;
        self.data(message).end = span.end;
        let start = self.span_of(content).start.min(span.start);
        let start = self.skip_space(start);
        let whole = Span::new(start, span.end);
        let fix = Edit::replace(whole, quote(self.slice(whole)));
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

    /// The first offset at or behind `offset` that is not white space.
    fn skip_space(&self, offset: u32) -> u32 {
        let rest = &self.text()[offset as usize..];
        offset + (rest.len() - rest.trim_start().len()) as u32
    }

    fn last_child(&self, node: NodeId) -> NodeId {
        let mut id = self.nodes[node.0 as usize].first;
        let mut last = id;
        while id.is_some() {
            last = id;
            id = self.nodes[id.0 as usize].next;
        }
        last
    }

    /// Prose, code fences, leftovers: kept as a comment by the fix.
    #[cold]
    fn text_outside(&mut self) -> NodeId {
        let start = self.cur.start;
        if self.cur.kind == TokenKind::BadSpace {
            self.bad_space();
            return self.error_node(Span::new(start, self.prev_end));
        }
        let next = find_message_start(self.lexer, start);
        let text = &self.text()[start as usize..next as usize];
        let end = start + text.trim_end().len() as u32;
        let span = Span::new(start, end.max(start));
        let first_line = text.lines().next().unwrap_or_default().trim_end();
        let at = Span::new(start, start + first_line.len() as u32);
        let mut diagnostic = Diagnostic::error(
            codes::TEXT_OUTSIDE_MESSAGE,
            at,
            "text stands outside of any message",
        )
        .help("a message starts with `[` or a performative; put remarks in `(* ... *)`");
        if text.len() <= LONGEST_FIX {
            diagnostic = diagnostic.fix(Edit::replace(span, as_comment(text)));
        }
        self.report(diagnostic);
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
            ahead.ends_at_comment = true;
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
