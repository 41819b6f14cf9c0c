//! What cannot stand behind an operand in AXON, but people and models write it there: records glued
//! to names, indexing, arithmetic, words in a row.

use sabir_base::{Diagnostic, Edit, Span};

use super::Parser;
use super::expr::{ODD, level_of};
use crate::codes;
use crate::strings::quote;
use crate::token::{Token, TokenKind};
use crate::tree::{Kind, NodeId};
use crate::unit::Unit;

impl Parser<'_> {
    /// Something stands right behind an operand that cannot.
    #[cold]
    pub(super) fn suffix(&mut self, mut node: NodeId) -> NodeId {
        use TokenKind as K;
        loop {
            let start = self.span_of(node).start;
            let adjacent = self.touches();
            node = match self.cur.kind {
                K::LBrace => self.glued_record(node),
                K::LParen if adjacent && self.kind_of(node) == Kind::Tag => {
                    self.glued_arguments(node)
                }
                K::LParen | K::LBracket if adjacent && !self.at_boundary() => self.postfix(start),
                K::Dot => match self.spaced_dot(node) {
                    Some(node) => node,
                    None if adjacent => self.postfix(start),
                    None => return node,
                },
                K::Plus | K::Minus | K::Slash | K::Star => self.arithmetic(start),
                K::Number if self.bytes(self.cur).starts_with(b"-") => self.arithmetic(start),
                K::Name if !self.at_boundary() && !self.at_missing_comma() => {
                    match self.words(node) {
                        Some(node) => node,
                        None => return node,
                    }
                }
                K::BadSpace => {
                    self.bad_space();
                    node
                }
                _ => return node,
            };
            if level_of(self.cur.kind) != ODD {
                return node;
            }
        }
    }

    /// `name{..}`, `call(..){..}`, `$var{..}`.
    fn glued_record(&mut self, node: NodeId) -> NodeId {
        let at = self.span_of(node);
        let kind = self.kind_of(node);
        let brace = self.cur;
        let gap = Span::new(self.prev_end, brace.start);
        let message = "a record cannot be glued to this";
        let record = self.record();
        let diagnostic = Diagnostic::error(codes::GLUED_RECORD, brace.span(), message);
        match kind {
            Kind::Name => {
                let name = self.slice(at);
                self.report(
                    diagnostic
                        .help(format!("write `#{name}{{...}}` for a tagged record"))
                        .fix(Edit::insert(at.start, "#")),
                );
                self.branch(Kind::Tag, at.start, at.end, record)
            }
            Kind::Call => {
                let close = Span::new(at.end - 1, at.end);
                let empty = !self.nodes[node.0 as usize].first.is_some();
                self.report(
                    diagnostic
                        .help("give it to the call as an argument")
                        .fix(Edit::replace(close.to(gap), if empty { "" } else { "," }))
                        .fix(Edit::insert(self.prev_end, ")")),
                );
                self.data(node).end = self.prev_end;
                node
            }
            _ => {
                self.report(
                    diagnostic
                        .help("write `=` between a thing and the record that says what it is")
                        .fix(Edit::replace(gap, "=")),
                );
                self.error_node(Span::new(at.start, self.prev_end))
            }
        }
    }

    /// `#tag(..)`: tags carry records, not arguments.
    fn glued_arguments(&mut self, node: NodeId) -> NodeId {
        let at = self.span_of(node);
        let open = self.cur;
        let known = self.diagnostics.len();
        let call = self.call(Token { start: at.start, ..open });
        let span = Span::new(at.start, self.prev_end);
        let closed = self.slice(span).ends_with(')');
        let wrong_inside = self.diagnostics[known..].iter().any(Diagnostic::is_error);
        if !closed || wrong_inside {
            // What is wrong inside comes first; the next look sees the brackets.
            return self.error_node(span);
        }
        let close = Span::new(self.prev_end - 1, self.prev_end);
        let mut diagnostic =
            Diagnostic::error(codes::POSTFIX, open.span(), "a tag takes a record, not arguments")
                .help("write `#tag{key:value}`")
                .fix(Edit::replace(open.span(), "{"));
        // Without keys the brackets would trade one error for as many as there are values.
        diagnostic.fixes.extend(self.keys_for_arguments(call));
        self.report(diagnostic.fix(Edit::replace(close, "}")));
        self.error_node(span)
    }

    /// `x[0]`, `f(1).y`, `$g(1)`: kept as text, because AXON has no word for it.
    fn postfix(&mut self, start: u32) -> NodeId {
        let at = self.cur;
        let known = self.diagnostics.len();
        loop {
            match self.cur.kind {
                TokenKind::LBracket if self.touches() => {
                    self.list();
                }
                TokenKind::LParen if self.touches() => {
                    self.call(self.cur);
                }
                TokenKind::Dot if self.touches() => {
                    self.bump();
                    if matches!(self.cur.kind, TokenKind::Name | TokenKind::Number)
                        && self.touches()
                    {
                        self.bump();
                    }
                }
                TokenKind::Name if self.touches() => {
                    self.bump();
                }
                _ => break,
            }
        }
        if !self.abandoned {
            self.diagnostics.truncate(known);
        }
        let span = Span::new(start, self.prev_end);
        let message = match at.kind {
            TokenKind::LBracket => "AXON has no indexing",
            TokenKind::Dot => "AXON has no member access here",
            _ => "only a name can be called",
        };
        self.report(
            Diagnostic::error(codes::POSTFIX, at.span(), message)
                .help("quote it as text, or say it with a call")
                .fix(Edit::replace(span, quote(self.slice(span)))),
        );
        self.error_node(span)
    }

    /// `a . b`: white space around the dot of a path.
    fn spaced_dot(&mut self, node: NodeId) -> Option<NodeId> {
        let next = self.peek();
        let names = matches!(self.kind_of(node), Kind::Name | Kind::Ref | Kind::Var | Kind::Tag);
        if !names || next.kind != TokenKind::Name {
            return None;
        }
        let start = self.span_of(node).start;
        let before = Span::new(self.prev_end, self.cur.start);
        let dot = self.bump();
        let after = Span::new(dot.end, self.cur.start);
        self.bump();
        let span = Span::new(start, self.prev_end);
        let mut diagnostic =
            Diagnostic::error(codes::SPACE_INSIDE_NAME, span, "no white space inside a name");
        for gap in [before, after] {
            if !gap.is_empty() {
                diagnostic = diagnostic.fix(Edit::delete(gap));
            }
        }
        self.report(diagnostic);
        Some(self.error_node(span))
    }

    /// `a + b - c`: the whole becomes text.
    pub(super) fn arithmetic(&mut self, start: u32) -> NodeId {
        let at = self.cur;
        let known = self.diagnostics.len();
        loop {
            let negative =
                self.cur.kind == TokenKind::Number && self.bytes(self.cur).starts_with(b"-");
            match self.cur.kind {
                TokenKind::Plus | TokenKind::Minus | TokenKind::Slash | TokenKind::Star => {
                    self.bump();
                }
                TokenKind::Number if negative => {
                    self.bump();
                    continue;
                }
                _ => break,
            }
            if !self.starts_operand() || self.at_boundary() {
                break;
            }
            let operand = self.primary();
            if self.kind_of(operand) == Kind::Error && self.span_of(operand).is_empty() {
                break;
            }
            if matches!(self.cur.kind, TokenKind::LBracket | TokenKind::LParen | TokenKind::Dot)
                && self.touches()
            {
                self.postfix(start);
            }
        }
        if !self.abandoned {
            self.diagnostics.truncate(known);
        }
        let span = Span::new(start, self.prev_end);
        self.report(
            Diagnostic::error(codes::UNKNOWN_OPERATOR, at.span(), "AXON has no arithmetic")
                .help("quote it as text, or say it with a call")
                .fix(Edit::replace(span, quote(self.slice(span)))),
        );
        self.error_node(span)
    }

    /// `5 s`, or words in a row that nobody quoted.
    fn words(&mut self, node: NodeId) -> Option<NodeId> {
        let at = self.span_of(node);
        let unit = Unit::from_bytes(self.bytes(self.cur)).is_some();
        if self.kind_of(node) == Kind::Number && unit && self.nodes[node.0 as usize].extra == 0 {
            let gap = Span::new(self.prev_end, self.cur.start);
            self.bump();
            let span = Span::new(at.start, self.prev_end);
            self.report(
                Diagnostic::error(
                    codes::SPACE_INSIDE_NAME,
                    span,
                    "no white space between a number and its unit",
                )
                .fix(Edit::delete(gap)),
            );
            return Some(self.error_node(span));
        }
        if self.kind_of(node) != Kind::Name {
            return None;
        }
        let mut taken = false;
        while self.cur.kind == TokenKind::Name
            && !matches!(
                self.peek().kind,
                TokenKind::LParen | TokenKind::LBrace | TokenKind::Colon | TokenKind::LBracket
            )
            && !self.at_boundary()
        {
            self.bump();
            taken = true;
        }
        if !taken {
            return None;
        }
        let span = Span::new(at.start, self.prev_end);
        self.report(
            Diagnostic::error(
                codes::MISSING_OPERATOR,
                span,
                "words in a row with no operator between them",
            )
            .help("quote text, or write an operator")
            .fix(Edit::replace(span, quote(self.slice(span)))),
        );
        Some(self.error_node(span))
    }
}
