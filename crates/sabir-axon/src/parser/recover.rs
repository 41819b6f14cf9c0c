//! Where the parser may stop, and how it goes on after an error.

use sabir_base::{Diagnostic, Edit, Span};

use super::Parser;
use super::brackets::Bracket;
use crate::codes;
use crate::lexer::{Lexer, is_performative};
use crate::performative::Performative;
use crate::strings::quote;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Whether the cursor, right behind a complete expression, is where this message ends.
    #[cold]
    pub(super) fn at_boundary(&self) -> bool {
        let token = self.cur;
        if token.kind == TokenKind::Eof {
            return true;
        }
        let nested_only = self.open[..self.depth].iter().all(|&bracket| bracket == b'm');
        if nested_only {
            // No expression can be followed by `[`, so it opens the next message's metadata. What
            // stands at the front of a line starts something new.
            token.kind == TokenKind::LBracket
                || self.at_line_start(token)
                || self.at_message_start()
        } else {
            self.at_hard_boundary()
        }
    }

    /// A new message at the front of a line, whatever is still open.
    pub(super) fn at_hard_boundary(&self) -> bool {
        self.cur.kind == TokenKind::Eof || self.at_line_start(self.cur) && self.at_message_start()
    }

    /// Whether a message starts under the cursor: metadata, or a performative with its routing.
    pub(super) fn at_message_start(&self) -> bool {
        starts_message(self.lexer, self.cur)
    }

    /// The cursor is on the `(` behind a core performative: does routing start here?
    pub(super) fn at_routing(&self) -> bool {
        let mut ahead = self.lexer;
        if !skip_endpoint(&mut ahead) {
            return false;
        }
        match ahead.next().kind {
            TokenKind::Gt => true,
            // `@a->@b`: only a whole routing with its colon is certain to mean one.
            TokenKind::Then | TokenKind::FatArrow => {
                skip_endpoint(&mut ahead)
                    && ahead.next().kind == TokenKind::RParen
                    && ahead.next().kind == TokenKind::Colon
            }
            _ => false,
        }
    }

    /// The cursor is on the `(` behind an extension performative: does a message start here?
    pub(super) fn at_whole_routing(&self) -> bool {
        let mut ahead = self.lexer;
        skip_whole_routing(&mut ahead)
    }

    /// In a record or in arguments: `value key:` with no comma between.
    pub(super) fn at_missing_comma(&self) -> bool {
        let keyed = self.depth > 0 && matches!(self.open[self.depth - 1], b'{' | b'(' | b'[');
        keyed && self.at_key()
    }

    /// Whether a name and a colon are next.
    pub(super) fn at_key(&self) -> bool {
        self.cur.kind == TokenKind::Name && self.peek().kind == TokenKind::Colon
    }

    pub(super) fn starts_operand(&self) -> bool {
        use TokenKind as K;
        !matches!(
            self.cur.kind,
            K::Eof
                | K::Comma
                | K::Colon
                | K::RParen
                | K::RBracket
                | K::RBrace
                | K::Semicolon
                | K::Unknown
                | K::Version
                | K::Cause
                | K::Then
                | K::Amp
                | K::Pipe
                | K::AmpAmp
                | K::PipePipe
                | K::FatArrow
        )
    }

    /// What a token is, for people.
    #[cold]
    pub(super) fn describe(&self, token: Token) -> String {
        /// Enough to recognise the place, short enough for one line.
        const LONGEST: usize = 24;
        if token.kind == TokenKind::Eof {
            return "the end of the text".to_owned();
        }
        let text = self.slice(token.span());
        if text.chars().count() <= LONGEST {
            return format!("`{}`", text.escape_debug());
        }
        let short: String = text.chars().take(LONGEST).collect();
        format!("`{}...`", short.escape_debug())
    }

    /// The cursor is behind an element, on neither a comma nor the closing bracket. Says whether
    /// there are more elements.
    #[cold]
    pub(super) fn recover_element(&mut self, bracket: Bracket, start: u32) -> bool {
        if self.abandoned || self.at_hard_boundary() {
            return false;
        }
        let token = self.cur;
        if token.kind.is_closer() {
            return self.wrong_closer(bracket);
        }
        if token.kind == TokenKind::Semicolon {
            self.report(
                Diagnostic::error(
                    codes::UNEXPECTED_TOKEN,
                    token.span(),
                    "elements are separated by `,`",
                )
                .fix(Edit::replace(token.span(), ",")),
            );
            self.bump();
            return !self.cur.kind.is_closer() && self.cur.kind != TokenKind::Eof;
        }
        if self.at_missing_comma() {
            self.report(
                Diagnostic::error(
                    codes::UNEXPECTED_TOKEN,
                    token.span(),
                    "a comma is missing before this",
                )
                .fix(Edit::insert(self.prev_end, ",")),
            );
            return true;
        }
        self.skip_element();
        let skipped = Span::new(token.start, self.prev_end.max(token.start));
        let whole = Span::new(self.value_start(start).min(skipped.start), skipped.end);
        let fix = Edit::replace(whole, quote(self.slice(whole)));
        let help = "quote text, or put an operator or a comma before this";
        // An expression that was expected right here is the same finding.
        let same = self.diagnostics.last_mut().filter(|last| {
            !self.abandoned
                && last.code == codes::EXPECTED_EXPRESSION
                && last.span.start == token.start
        });
        if let Some(last) = same {
            last.fixes = vec![fix];
        } else {
            let found = self.describe(token);
            self.report(
                Diagnostic::error(
                    codes::UNEXPECTED_TOKEN,
                    token.span(),
                    format!("unexpected {found}"),
                )
                .help(help)
                .fix(fix),
            );
        }
        if self.cur.kind == TokenKind::Comma {
            self.bump();
            return self.cur.kind != bracket.closer();
        }
        false
    }

    /// Behind the key of the element that starts at `start`, if it has one.
    fn value_start(&self, start: u32) -> u32 {
        let mut ahead = self.lexer;
        ahead.jump(start);
        let key = ahead.next();
        let colon = ahead.next();
        let keyed = matches!(
            key.kind,
            TokenKind::Name
                | TokenKind::String
                | TokenKind::Caret
                | TokenKind::Version
                | TokenKind::Underscore
        );
        if keyed && colon.kind == TokenKind::Colon { ahead.next().start } else { start }
    }

    fn wrong_closer(&mut self, bracket: Bracket) -> bool {
        let token = self.cur;
        let open = match token.kind {
            TokenKind::RParen => b'(',
            TokenKind::RBracket => b'[',
            _ => b'{',
        };
        // It closes something further out: this bracket was never closed.
        if self.open[..self.depth - 1].contains(&open) {
            return false;
        }
        self.report(
            Diagnostic::error(
                codes::UNMATCHED_BRACKET,
                token.span(),
                format!("this closes with `{}`", bracket.closing_text()),
            )
            .fix(Edit::replace(token.span(), bracket.closing_text())),
        );
        // Go on as if it had been the right one.
        self.cur.kind = bracket.closer();
        false
    }

    #[cold]
    pub(super) fn unclosed(&mut self, open: Token, bracket: Bracket) {
        let closer = bracket.closing_text();
        self.report(
            Diagnostic::error(
                codes::UNCLOSED_BRACKET,
                open.span(),
                format!("this bracket is never closed with `{closer}`"),
            )
            .help(format!("add `{closer}`"))
            .fix(Edit::insert(self.prev_end, closer)),
        );
    }

    /// Skips to the comma or closing bracket that ends this element.
    fn skip_element(&mut self) {
        let mut inner = 0u32;
        while !self.at_hard_boundary() {
            match self.cur.kind {
                TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => inner += 1,
                TokenKind::Comma if inner == 0 => return,
                kind if kind.is_closer() => {
                    if inner == 0 {
                        return;
                    }
                    inner -= 1;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips what is left of a message.
    #[cold]
    pub(super) fn skip_to_boundary(&mut self) {
        let mut inner = 0i64;
        loop {
            match self.cur.kind {
                TokenKind::Eof => return,
                TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => inner += 1,
                kind if kind.is_closer() => inner -= 1,
                _ => {}
            }
            self.bump();
            let outside = inner <= 0 && self.depth == 0;
            let ends = self.at_line_start(self.cur) && (outside || self.at_message_start())
                || outside && self.at_message_start();
            if ends {
                return;
            }
        }
    }
}

/// Whether `token`, the last one that `lexer` gave, starts a message.
pub(super) fn starts_message(lexer: Lexer<'_>, token: Token) -> bool {
    let mut ahead = lexer;
    let text = lexer.text();
    let word = &text.as_bytes()[token.span().range()];
    match token.kind {
        TokenKind::LBracket | TokenKind::LBrace => {
            let key = ahead.next();
            let keyed = matches!(
                key.kind,
                TokenKind::Name
                    | TokenKind::Caret
                    | TokenKind::Version
                    | TokenKind::String
                    | TokenKind::Underscore
            );
            let key_text = &text[key.span().range()];
            let behind = ahead.next();
            match behind.kind {
                // Braces are not metadata, but some write it so; the protocol's own keys tell.
                TokenKind::Colon if token.kind == TokenKind::LBrace => {
                    matches!(key_text.trim_matches('"'), "id" | "%%" | "^" | "ts")
                }
                TokenKind::Colon => keyed,
                // A forgotten colon, or `=` for it, behind a key that only metadata has.
                TokenKind::String | TokenKind::Number | TokenKind::Eq => {
                    matches!(key_text.trim_matches('"'), "id" | "%%")
                }
                TokenKind::Name => {
                    let word = &text.as_bytes()[behind.span().range()];
                    key.kind == TokenKind::RBracket && is_performative(word)
                }
                _ => false,
            }
        }
        TokenKind::Name if is_performative(word) => {
            let at = ahead;
            match ahead.next().kind {
                TokenKind::Colon => Performative::from_bytes(word).is_some(),
                TokenKind::LParen => {
                    if skip_endpoint(&mut ahead) {
                        matches!(
                            ahead.next().kind,
                            TokenKind::Gt
                                | TokenKind::Then
                                | TokenKind::FatArrow
                                | TokenKind::Amp
                                | TokenKind::Comma
                        ) || closes_with_colon(at)
                    } else {
                        closes_with_colon(at)
                    }
                }
                TokenKind::Ref => skip_bare_routing(at),
                _ => false,
            }
        }
        // A word that is no performative, used as one.
        TokenKind::Name | TokenKind::BadName => {
            ahead.next().kind == TokenKind::LParen && skip_whole_routing(&mut ahead)
        }
        _ => false,
    }
}

/// `(...)` and a colon, with at most a few plain tokens inside: routing gone wrong.
fn closes_with_colon(mut lexer: Lexer<'_>) -> bool {
    /// More than any mistake in routing has, and a bound on looking ahead.
    const MOST: usize = 12;
    if lexer.next().kind != TokenKind::LParen {
        return false;
    }
    for _ in 0..MOST {
        match lexer.next().kind {
            TokenKind::RParen => return lexer.next().kind == TokenKind::Colon,
            TokenKind::LParen | TokenKind::LBrace | TokenKind::RBrace | TokenKind::Eof => {
                return false;
            }
            _ => {}
        }
    }
    false
}

/// `@a>@b:` with no parentheses.
fn skip_bare_routing(mut lexer: Lexer<'_>) -> bool {
    skip_endpoint(&mut lexer)
        && matches!(lexer.next().kind, TokenKind::Gt | TokenKind::Then)
        && skip_endpoint(&mut lexer)
        && lexer.next().kind == TokenKind::Colon
}

/// Behind the `(`: `endpoint > endpoint ) :`.
fn skip_whole_routing(lexer: &mut Lexer<'_>) -> bool {
    skip_endpoint(lexer)
        && matches!(lexer.next().kind, TokenKind::Gt | TokenKind::Then)
        && skip_endpoint(lexer)
        && lexer.next().kind == TokenKind::RParen
        && lexer.next().kind == TokenKind::Colon
}

/// `@a`, `*`, `@*` or `[@a, @b]`.
fn skip_endpoint(lexer: &mut Lexer<'_>) -> bool {
    match lexer.next().kind {
        TokenKind::Ref | TokenKind::Star => true,
        TokenKind::LoneSigil => lexer.next().kind == TokenKind::Star,
        TokenKind::LBracket => loop {
            if lexer.next().kind != TokenKind::Ref {
                return false;
            }
            match lexer.next().kind {
                TokenKind::Comma => {}
                TokenKind::RBracket => return true,
                _ => return false,
            }
        },
        _ => false,
    }
}
