//! Messages: metadata, performative, routing, content.

use sabir_base::{Diagnostic, Edit, Span};

use super::brackets::Bracket;
use super::{Parser, Siblings};
use crate::codes;
use crate::lexer::{is_extension, is_identifier};
use crate::performative::Performative;
use crate::strings::unquote;
use crate::token::{Token, TokenKind};
use crate::tree::{EXTENSION, Kind, NodeId};

impl Parser<'_> {
    /// A message of the document; the cursor is on its metadata or its performative.
    #[inline]
    pub(super) fn message(&mut self) -> NodeId {
        let start = self.cur.start;
        let mut children = Siblings::NONE;
        if self.cur.kind != TokenKind::Name && self.cur.kind != TokenKind::BadName {
            let meta = self.meta();
            children.add(self, meta);
        }
        let performative = self.performative();
        children.add(self, performative);
        self.message_body(start, children)
    }

    fn meta(&mut self) -> NodeId {
        let open = self.cur;
        let braces = open.kind == TokenKind::LBrace;
        if braces {
            // Read as if the brackets were right; `wrong_braces` says so when both ends are known.
            self.cur.kind = TokenKind::LBracket;
        }
        let known = self.diagnostics.len();
        let fields = self.elements(Bracket::Meta);
        if braces {
            self.wrong_braces(open, known);
        }
        let meta = self.branch(Kind::Meta, open.start, 0, fields);
        if fields.is_some() {
            self.check_duplicate_keys(fields);
        } else {
            let span = self.span_of(meta);
            self.report(
                Diagnostic::error(codes::EMPTY_BRACKETS, span, "metadata is empty")
                    .help("leave it out, or give at least one field")
                    .fix(Edit::delete(span)),
            );
        }
        meta
    }

    #[cold]
    fn wrong_braces(&mut self, open: Token, known: usize) {
        let end = self.prev_end;
        let closed = self.text().as_bytes().get(end as usize - 1) == Some(&b'}');
        // The wrong closing brace was reported as such; one finding for both ends says it better.
        if !self.abandoned && closed {
            let start = open.start;
            let keep = |found: &Diagnostic| {
                found.code != codes::UNMATCHED_BRACKET || found.span.end != end
            };
            let later = self.diagnostics.split_off(known.min(self.diagnostics.len()));
            self.diagnostics.extend(later.into_iter().filter(keep));
            self.report(
                Diagnostic::error(
                    codes::UNMATCHED_BRACKET,
                    Span::new(start, end),
                    "metadata stands in square brackets",
                )
                .fix(Edit::replace(open.span(), "["))
                .fix(Edit::replace(Span::new(end - 1, end), "]")),
            );
        }
    }

    #[inline(always)]
    fn performative(&mut self) -> NodeId {
        let token = self.cur;
        let word = self.bytes(token);
        let extra = match Performative::from_bytes(word) {
            Some(performative) => performative as u8,
            None if token.kind == TokenKind::Name && is_extension(word) => EXTENSION,
            None => return self.unknown_performative(),
        };
        self.bump();
        let node = self.leaf(Kind::Performative, token);
        self.data(node).extra = extra;
        node
    }

    #[cold]
    fn unknown_performative(&mut self) -> NodeId {
        let token = self.cur;
        if !matches!(token.kind, TokenKind::Name | TokenKind::BadName) {
            let found = self.describe(token);
            // The closing bracket is the last place that certainly belongs to this message.
            let last = self.slice(Span::new(0, self.prev_end)).chars().next_back();
            let width = last.map_or(0, char::len_utf8) as u32;
            self.error(
                codes::UNKNOWN_PERFORMATIVE,
                Span::new(self.prev_end - width, self.prev_end),
                format!("expected a performative after the metadata, found {found}"),
            );
            self.abandoned = true;
            return self.error_node(Span::at(self.prev_end));
        }
        self.bump();
        let word = self.slice(token.span());
        let mut diagnostic = Diagnostic::error(
            codes::UNKNOWN_PERFORMATIVE,
            token.span(),
            format!("`{word}` is not a performative"),
        );
        let near = nearest_performative(word);
        diagnostic = match near {
            Some(near) => diagnostic
                .help(format!("did you mean `{}` ({})?", near.word(), near.info().name))
                .fix(Edit::replace(token.span(), near.word())),
            None => {
                let diagnostic =
                    diagnostic.help("a performative of your own is written `X.domain.NAME`");
                match word.strip_prefix("X.") {
                    Some(last) if is_identifier(last) => {
                        diagnostic.fix(Edit::insert(token.start + 2, "local."))
                    }
                    None if is_identifier(word) => {
                        diagnostic.fix(Edit::insert(token.start, "X.local."))
                    }
                    None if word.split('.').count() == 2 && word.split('.').all(is_identifier) => {
                        diagnostic.fix(Edit::insert(token.start, "X."))
                    }
                    _ => diagnostic,
                }
            }
        };
        self.report(diagnostic);
        let node = self.leaf(Kind::Performative, token);
        self.data(node).extra = near.map_or(EXTENSION, |near| near as u8);
        node
    }

    /// Routing and content, behind the performative.
    #[inline(always)]
    pub(super) fn message_body(&mut self, start: u32, mut children: Siblings) -> NodeId {
        if self.cur.kind == TokenKind::LParen {
            self.bump();
            let from = self.endpoint();
            children.add(self, from);
            if self.cur.kind == TokenKind::Gt {
                self.bump();
                let to = self.endpoint();
                children.add(self, to);
            } else {
                let to = self.odd_separator();
                children.add(self, to);
            }
            if self.cur.kind == TokenKind::RParen {
                self.bump();
            } else {
                self.unclosed_routing();
            }
        } else {
            self.missing_routing(&mut children);
        }
        if self.cur.kind == TokenKind::Colon {
            self.bump();
        } else {
            self.missing_colon();
        }
        let lacks = self.cur.kind == TokenKind::LBracket && self.lacks_content();
        let content = if self.abandoned || lacks {
            self.error_node(Span::at(self.prev_end))
        } else {
            self.expr()
        };
        children.add(self, content);
        self.branch(Kind::Message, start, 0, children.first)
    }

    /// The next message's metadata stands where the content should be.
    fn lacks_content(&mut self) -> bool {
        // `[]` is no metadata but a list, and a list may well be the content.
        let lacks = self.at_line_start(self.cur)
            && self.peek().kind != TokenKind::RBracket
            && self.at_message_start();
        if lacks {
            self.report(
                Diagnostic::error(
                    codes::EXPECTED_EXPRESSION,
                    Span::at(self.prev_end),
                    "the content is missing",
                )
                .help("write `_` for \"nothing\"")
                .fix(Edit::insert(self.prev_end, " _")),
            );
        }
        lacks
    }

    /// An agent, a wildcard or a list of agents.
    #[inline(always)]
    fn endpoint(&mut self) -> NodeId {
        let node = match self.cur.kind {
            TokenKind::Ref => {
                let token = self.bump();
                self.leaf(Kind::Agent, token)
            }
            TokenKind::Star => {
                let token = self.bump();
                self.leaf(Kind::Anyone, token)
            }
            TokenKind::LBracket => self.agents(),
            _ => self.odd_endpoint(),
        };
        let several = matches!(self.cur.kind, TokenKind::Amp | TokenKind::Comma | TokenKind::Pipe);
        if several { self.unbracketed_agents(node) } else { node }
    }

    fn agents(&mut self) -> NodeId {
        let open = self.cur;
        if !self.enter(b'[') {
            return self.error_node(open.span());
        }
        self.bump();
        if self.cur.kind == TokenKind::Star && self.peek().kind == TokenKind::RBracket {
            self.bump();
            self.bump();
            self.leave();
            let span = Span::new(open.start, self.prev_end);
            self.report(
                Diagnostic::error(codes::BAD_ENDPOINT, span, "`*` stands alone, not in a list")
                    .fix(Edit::replace(span, "*")),
            );
            return self.error_node(span);
        }
        let mut agents = Siblings::NONE;
        while self.cur.kind != TokenKind::RBracket {
            let token = self.cur;
            if token.kind == TokenKind::Ref {
                self.bump();
                let agent = self.leaf(Kind::Agent, token);
                agents.add(self, agent);
            } else {
                let agent = self.odd_endpoint();
                agents.add(self, agent);
                if self.cur == token && token.kind != TokenKind::Comma {
                    break;
                }
            }
            match self.cur.kind {
                TokenKind::RBracket => break,
                TokenKind::Comma => {
                    let comma = self.bump();
                    if self.cur.kind == TokenKind::RBracket {
                        self.report(
                            Diagnostic::error(
                                codes::EXTRA_COMMA,
                                comma.span(),
                                "a comma with nothing behind it",
                            )
                            .fix(Edit::delete(comma.span())),
                        );
                    }
                }
                TokenKind::Amp | TokenKind::Pipe | TokenKind::Semicolon => {
                    let token = self.bump();
                    self.report(
                        Diagnostic::error(
                            codes::UNEXPECTED_TOKEN,
                            token.span(),
                            "agents are separated by `,`",
                        )
                        .fix(Edit::replace(token.span(), ",")),
                    );
                }
                TokenKind::Ref => self.report(
                    Diagnostic::error(
                        codes::UNEXPECTED_TOKEN,
                        self.cur.span(),
                        "a comma is missing before this",
                    )
                    .fix(Edit::insert(self.prev_end, ",")),
                ),
                _ => break,
            }
        }
        if self.cur.kind == TokenKind::RBracket {
            self.bump();
        } else {
            self.unclosed(open, Bracket::List);
        }
        self.leave();
        let node = self.branch(Kind::Agents, open.start, 0, agents.first);
        if !agents.first.is_some() {
            let span = self.span_of(node);
            self.report(
                Diagnostic::error(codes::EMPTY_BRACKETS, span, "a list of agents is empty")
                    .help("name at least one agent, or write `*` for anyone")
                    .fix(Edit::replace(span, "*")),
            );
        }
        node
    }

    #[cold]
    fn odd_endpoint(&mut self) -> NodeId {
        let token = self.cur;
        if token.kind == TokenKind::RParen && self.is_behind_parenthesis() {
            // Whoever looks for the receiver says it for both.
            return self.error_node(Span::at(self.prev_end));
        }
        let written = self.slice(token.span());
        let help = "an endpoint is `@agent`, `*` or `[@a,@b]`";
        let next = self.peek();
        let (span, fix) = match token.kind {
            TokenKind::Name => {
                self.bump();
                (token.span(), Some(Edit::insert(token.start, "@")))
            }
            TokenKind::String if is_identifier(unquote(written)) => {
                self.bump();
                (token.span(), Some(Edit::replace(token.span(), format!("@{}", unquote(written)))))
            }
            TokenKind::Tag | TokenKind::Var => {
                self.bump();
                let sigil = Span::new(token.start, token.start + 1);
                (token.span(), Some(Edit::replace(sigil, "@")))
            }
            TokenKind::LoneSigil if next.kind == TokenKind::Star => {
                self.bump();
                self.bump();
                let span = token.span().to(next.span());
                (span, Some(Edit::replace(span, "*")))
            }
            TokenKind::LoneSigil if next.kind == TokenKind::Name => {
                self.bump();
                self.bump();
                let gap = Span::new(token.end, next.start);
                (token.span().to(next.span()), Some(Edit::delete(gap)))
            }
            TokenKind::RParen | TokenKind::Gt => {
                (token.span(), Some(Edit::insert(token.start, "*")))
            }
            _ => (token.span(), None),
        };
        let found = self.describe(token);
        let mut diagnostic = Diagnostic::error(
            codes::BAD_ENDPOINT,
            span,
            format!("expected an agent, found {found}"),
        )
        .help(help);
        diagnostic.fixes.extend(fix);
        self.report(diagnostic);
        if self.cur == token {
            return self.error_node(Span::at(self.prev_end));
        }
        self.error_node(span)
    }

    /// Whether the routing was opened and nothing of it was read yet.
    fn is_behind_parenthesis(&self) -> bool {
        self.slice(Span::new(0, self.prev_end)).ends_with('(')
    }

    /// `@a, @b` or `@a & @b` where one endpoint is expected.
    #[cold]
    fn unbracketed_agents(&mut self, first: NodeId) -> NodeId {
        let start = self.span_of(first).start;
        let mut separators = Vec::new();
        let mut agents = Siblings::NONE;
        agents.add(self, first);
        while matches!(self.cur.kind, TokenKind::Amp | TokenKind::Comma | TokenKind::Pipe) {
            separators.push(self.bump());
            if self.cur.kind != TokenKind::Ref {
                break;
            }
            let token = self.bump();
            let agent = self.leaf(Kind::Agent, token);
            agents.add(self, agent);
        }
        let span = Span::new(start, self.prev_end);
        let mut diagnostic =
            Diagnostic::error(codes::UNBRACKETED_AGENTS, span, "several agents stand in brackets")
                .help("write `[@a,@b]`")
                .fix(Edit::insert(start, "["));
        for separator in separators.into_iter().filter(|token| token.kind != TokenKind::Comma) {
            diagnostic = diagnostic.fix(Edit::replace(separator.span(), ","));
        }
        self.report(diagnostic.fix(Edit::insert(span.end, "]")));
        self.branch(Kind::Agents, start, 0, agents.first)
    }

    /// Between the endpoints, where `>` should be.
    #[cold]
    fn odd_separator(&mut self) -> NodeId {
        let token = self.cur;
        match token.kind {
            TokenKind::Then | TokenKind::FatArrow | TokenKind::Ge => {
                // A name may end in `-`, which would make an arrow of the `>` behind it.
                let dashed = self.slice(Span::new(0, token.start)).ends_with('-');
                let instead = if dashed { " >" } else { ">" };
                self.bump();
                self.report(
                    Diagnostic::error(
                        codes::ROUTING_ARROW,
                        token.span(),
                        "routing is written with `>`",
                    )
                    .help("write `(@sender>@receiver)`")
                    .fix(Edit::replace(token.span(), instead)),
                );
                self.endpoint()
            }
            TokenKind::Dot if self.peek().kind == TokenKind::Name => self.spaced_agent(),
            TokenKind::Ref | TokenKind::LBracket | TokenKind::Star => {
                self.report(
                    Diagnostic::error(
                        codes::MISSING_ROUTING,
                        token.span(),
                        "`>` is missing between sender and receiver",
                    )
                    .fix(Edit::insert(self.prev_end, ">")),
                );
                self.endpoint()
            }
            TokenKind::RParen => {
                // `(*` alone would open a comment, so both ends are written at once.
                let (missing, text) = match self.is_behind_parenthesis() {
                    true => ("sender and receiver are missing", "*>*"),
                    false => ("the receiver is missing", ">*"),
                };
                self.report(
                    Diagnostic::error(codes::MISSING_ROUTING, token.span(), missing)
                        .help("write `(@sender>@receiver)`, or `*` for anyone")
                        .fix(Edit::insert(self.prev_end, text)),
                );
                self.error_node(Span::at(self.prev_end))
            }
            _ => {
                let found = self.describe(token);
                self.error(
                    codes::MISSING_ROUTING,
                    token.span(),
                    format!("expected `>` between sender and receiver, found {found}"),
                );
                self.error_node(Span::at(self.prev_end))
            }
        }
    }

    /// `@a . b`: white space around the dot of an agent's name.
    fn spaced_agent(&mut self) -> NodeId {
        let before = Span::new(self.prev_end, self.cur.start);
        let dot = self.bump();
        let after = Span::new(dot.end, self.cur.start);
        self.bump();
        let mut diagnostic =
            Diagnostic::error(codes::SPACE_INSIDE_NAME, dot.span(), "no white space inside a name");
        let gaps = [before, after].into_iter().filter(|gap| !gap.is_empty());
        diagnostic.fixes.extend(gaps.map(Edit::delete));
        self.report(diagnostic);
        match self.cur.kind {
            TokenKind::Gt => {
                self.bump();
                self.endpoint()
            }
            _ => self.error_node(Span::at(self.prev_end)),
        }
    }

    #[cold]
    fn unclosed_routing(&mut self) {
        let token = self.cur;
        if token.kind == TokenKind::Colon {
            self.report(
                Diagnostic::error(
                    codes::UNCLOSED_BRACKET,
                    token.span(),
                    "`)` is missing before this",
                )
                .fix(Edit::insert(self.prev_end, ")")),
            );
            return;
        }
        let found = self.describe(token);
        self.error(
            codes::MISSING_ROUTING,
            token.span(),
            format!("expected `)` after the receiver, found {found}"),
        );
        // Whatever stands there, the content starts behind `):`.
        while !matches!(self.cur.kind, TokenKind::RParen | TokenKind::Colon) && !self.at_boundary()
        {
            self.bump();
        }
        self.eat(TokenKind::RParen);
    }

    #[cold]
    fn missing_routing(&mut self, children: &mut Siblings) {
        let at = self.prev_end;
        let token = self.cur;
        if matches!(token.kind, TokenKind::Ref | TokenKind::Star | TokenKind::LBracket)
            && !self.at_line_start(token)
        {
            let from = self.endpoint();
            children.add(self, from);
            let to = if self.eat(TokenKind::Gt) { self.endpoint() } else { self.odd_separator() };
            children.add(self, to);
            self.report(
                Diagnostic::error(
                    codes::MISSING_ROUTING,
                    Span::new(token.start, self.prev_end),
                    "routing stands in parentheses",
                )
                .fix(Edit::replace(Span::new(at, token.start), "("))
                .fix(Edit::insert(self.prev_end, ")")),
            );
            return;
        }
        self.report(
            Diagnostic::error(codes::MISSING_ROUTING, Span::at(at), "routing is missing")
                .help("write `(@sender>@receiver)` after the performative, `*` for anyone")
                .fix(Edit::insert(at, "(*>*)")),
        );
        for _ in 0..2 {
            let endpoint = self.error_node(Span::at(at));
            children.add(self, endpoint);
        }
    }

    #[cold]
    fn missing_colon(&mut self) {
        let found = self.describe(self.cur);
        let empty = !self.starts_operand() || self.at_boundary();
        let text = if empty { ": _" } else { ":" };
        self.report(
            Diagnostic::error(
                codes::MISSING_COLON,
                self.cur.span(),
                format!("expected `:` after the routing, found {found}"),
            )
            .fix(Edit::insert(self.prev_end, text)),
        );
        if empty {
            // The content is missing too; one finding is enough.
            self.abandoned = true;
            if !self.at_boundary() {
                self.skip_to_boundary();
            }
        }
    }
}

/// A performative that was meant: in other case, spelled out, or by another word for it.
fn nearest_performative(word: &str) -> Option<Performative> {
    let upper = word.to_ascii_uppercase();
    if let Some(exact) = Performative::from_word(&upper) {
        return Some(exact);
    }
    let lower = word.to_ascii_lowercase();
    let spelled =
        Performative::ALL.into_iter().find(|performative| lower == performative.info().name);
    spelled.or(match lower.as_str() {
        "response" | "answer" | "reply-to" | "resp" => Some(Performative::Rpl),
        "ask" | "question" => Some(Performative::Qry),
        "tell" | "info" => Some(Performative::Inf),
        "nack" => Some(Performative::Nak),
        "notify" => Some(Performative::Inf),
        _ => None,
    })
}
