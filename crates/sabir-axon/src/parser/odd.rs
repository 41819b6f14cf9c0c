//! What cannot start an expression in AXON, but people and models write it: what was meant, and how
//! to say it.

use sabir_base::{Code, Diagnostic, Edit, Span};

use super::expr::{COMPARE, RANGE, level_of};
use super::{LONGEST_FIX, Parser};
use crate::codes;
use crate::strings::quote;
use crate::token::TokenKind;
use crate::tree::{Kind, NodeId};
use crate::unit::{Unit, UnitCategory};

impl Parser<'_> {
    /// What cannot start an expression in AXON.
    #[cold]
    pub(super) fn odd_primary(&mut self) -> NodeId {
        use TokenKind as K;
        let token = self.cur;
        let written = self.slice(token.span());
        match token.kind {
            K::TildeTilde => self.approx(),
            K::BadNumber => self.bad_number(),
            K::BadString => {
                self.bump();
                let mut diagnostic = Diagnostic::error(
                    codes::UNTERMINATED_STRING,
                    token.span(),
                    "a string has no closing quote",
                )
                .help("add `\"` where the string ends");
                if written.len() <= LONGEST_FIX {
                    let closed = unterminated_fix(written);
                    diagnostic = diagnostic.fix(Edit::replace(token.span(), closed));
                }
                self.report(diagnostic);
                self.leaf(Kind::Error, token)
            }
            K::WrongQuotes => {
                self.bump();
                let inner: String = {
                    let mut chars = written.chars();
                    chars.next();
                    chars.next_back();
                    chars.collect()
                };
                self.report(
                    Diagnostic::error(
                        codes::WRONG_QUOTES,
                        token.span(),
                        "strings are written with `\"`",
                    )
                    .fix(Edit::replace(token.span(), quote(&inner))),
                );
                self.leaf(Kind::Error, token)
            }
            K::BadName => {
                self.bump();
                self.report(
                    Diagnostic::error(
                        codes::NON_ASCII_NAME,
                        token.span(),
                        format!("`{written}` is not a name"),
                    )
                    .help("names are ASCII letters, digits, `-` and `_`, and start with a letter; quote other text")
                    .fix(Edit::replace(token.span(), quote(written))),
                );
                self.leaf(Kind::Error, token)
            }
            K::BadSpace => {
                while self.cur.kind == K::BadSpace {
                    self.bad_space();
                }
                // One more try, and no more: the next token is not a space of any kind.
                self.primary()
            }
            K::LoneSigil => self.lone_sigil(),
            K::Bang => self.negation(),
            K::Caret => {
                self.quoted_prefix("`^` is metadata, not an operator", codes::PREFIX_OPERATOR)
            }
            K::Plus | K::Minus | K::Slash => {
                self.quoted_prefix("AXON has no arithmetic", codes::UNKNOWN_OPERATOR)
            }
            K::AmpAmp | K::PipePipe | K::CaretCaret => self.quoted_prefix(
                "this operator is reserved for a future version (section 14)",
                codes::RESERVED_OPERATOR,
            ),
            K::Lt
            | K::Gt
            | K::Le
            | K::Ge
            | K::Ne
            | K::Eq
            | K::EqEq
            | K::EqLt
            | K::Range
            | K::Cause
            | K::Then
            | K::Amp
            | K::Pipe
            | K::FatArrow => {
                self.quoted_prefix("this operator has no left side", codes::PREFIX_OPERATOR)
            }
            K::Star => {
                self.bump();
                self.report(
                    Diagnostic::error(
                        codes::EXPECTED_EXPRESSION,
                        token.span(),
                        "`*` stands for agents in routing, not for a value",
                    )
                    .fix(Edit::replace(token.span(), "\"*\"")),
                );
                self.leaf(Kind::Error, token)
            }
            K::Dot if self.peek().kind == K::Number && self.peek().start == token.end => {
                self.bump();
                let number = self.bump();
                let span = Span::new(token.start, number.end);
                self.report(
                    Diagnostic::error(
                        codes::MALFORMED_NUMBER,
                        span,
                        "a number starts with a digit",
                    )
                    .help("write `0.5`")
                    .fix(Edit::insert(token.start, "0")),
                );
                self.error_node(span)
            }
            _ => {
                self.expected_expression();
                self.error_node(Span::at(self.prev_end))
            }
        }
    }

    pub(super) fn bad_space(&mut self) {
        let token = self.bump();
        let written = self.slice(token.span());
        self.report(
            Diagnostic::error(
                codes::UNKNOWN_CHARACTER,
                token.span(),
                format!("`{}` is not white space in AXON", written.escape_unicode()),
            )
            .help("use spaces, tabs and newlines")
            .fix(Edit::replace(token.span(), " ")),
        );
    }

    #[cold]
    fn expected_expression(&mut self) {
        let token = self.cur;
        let found = self.describe(token);
        let before = self.text().as_bytes().get((self.prev_end as usize).wrapping_sub(1)).copied();
        let separated = matches!(before, Some(b',' | b'(' | b'[' | b'{'));
        if token.kind == TokenKind::Comma && self.depth > 0 && separated {
            self.report(
                Diagnostic::error(
                    codes::EXTRA_COMMA,
                    token.span(),
                    "a comma with nothing before it",
                )
                .fix(Edit::delete(token.span())),
            );
            return;
        }
        let mut diagnostic = Diagnostic::error(
            codes::EXPECTED_EXPRESSION,
            token.span(),
            format!("expected an expression, found {found}"),
        )
        .help("write `_` for \"nothing\"");
        if token.kind == TokenKind::Comma || token.kind.is_closer() || self.at_boundary() {
            let spaced = before == Some(b':') && self.depth == 0 || self.cur.start > self.prev_end;
            let nothing = if spaced { " _" } else { "_" };
            diagnostic = diagnostic.fix(Edit::insert(self.prev_end, nothing));
        }
        self.report(diagnostic);
    }

    fn bad_number(&mut self) -> NodeId {
        let token = self.bump();
        let written = self.slice(token.span());
        let digits =
            written.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let (message, help) = if written.contains(':') || is_date(written) {
            (format!("`{written}` is not a number"), "dates and times are strings: quote them")
        } else if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let message = format!("`{digits}` is not a unit");
            (message, "units are % ms s min h d B KB MB GB tok usd eur; quote anything else")
        } else {
            (format!("`{written}` is not a number"), "quote what is not a plain number with a unit")
        };
        self.report(
            Diagnostic::error(codes::MALFORMED_NUMBER, token.span(), message)
                .help(help)
                .fix(Edit::replace(token.span(), quote(written))),
        );
        self.leaf(Kind::Error, token)
    }

    fn lone_sigil(&mut self) -> NodeId {
        use TokenKind as K;
        let sigil = self.bump();
        let written = self.slice(sigil.span());
        let next = self.cur;
        let adjacent = next.start == sigil.end;
        let span = Span::new(sigil.start, next.end);
        let currency =
            Unit::from_index(next.aux).map(Unit::category) == Some(UnitCategory::Currency);
        let (fix, help) = match next.kind {
            K::Number if adjacent && written == "$" && currency => {
                (Edit::delete(sigil.span()), "the unit says the currency already")
            }
            K::Name if !adjacent && !self.at_boundary() => {
                let gap = Span::new(sigil.end, next.start);
                (Edit::delete(gap), "no white space inside a name")
            }
            K::Number | K::BadNumber | K::BadName | K::String | K::Star
                if next.kind == K::BadNumber || adjacent =>
            {
                (Edit::replace(span, quote(self.slice(span))), "quote it")
            }
            _ => {
                let text = quote(written);
                self.report(
                    Diagnostic::error(
                        codes::LONE_SIGIL,
                        sigil.span(),
                        format!("`{written}` needs a name directly behind it"),
                    )
                    .fix(Edit::replace(sigil.span(), text)),
                );
                return self.leaf(Kind::Error, sigil);
            }
        };
        self.bump();
        let code = if adjacent { codes::LONE_SIGIL } else { codes::SPACE_INSIDE_NAME };
        self.report(
            Diagnostic::error(code, span, format!("`{written}` needs a name directly behind it"))
                .help(help)
                .fix(fix),
        );
        self.error_node(span)
    }

    /// `!x` says that x is false, which AXON writes `x=F`.
    fn negation(&mut self) -> NodeId {
        // Emphasis, most likely: `!!x` is kept as text.
        if self.peek().kind == TokenKind::Bang {
            return self.quoted_prefix("AXON has no `!x`", codes::NEGATION);
        }
        let bang = self.bump();
        // What is negated may hold another negation, so it counts as depth.
        if !self.enter(b'!') {
            return self.error_node(bang.span());
        }
        let primary = self.primary();
        // `!x + 5` negates `x` alone, which no text around the sum could say.
        if matches!(self.cur.kind, TokenKind::Plus | TokenKind::Minus | TokenKind::Slash) {
            self.leave();
            return self.arithmetic(bang.start);
        }
        let operand = self.with_suffix(primary);
        self.leave();
        let span = Span::new(bang.start, self.prev_end);
        if self.kind_of(operand) == Kind::Error {
            return operand;
        }
        let level = level_of(self.cur.kind);
        let needs_parens = level == COMPARE || level == RANGE;
        let (open, close) = if needs_parens { ("(", "=F)") } else { ("", "=F") };
        self.report(
            Diagnostic::error(codes::NEGATION, bang.span(), "AXON has no `!x`")
                .help("write `x=F` for \"x does not hold\"")
                .fix(Edit::replace(bang.span(), open))
                .fix(Edit::insert(self.prev_end, close)),
        );
        self.error_node(span)
    }

    /// An operator at the front, with the operand it stands before: together they become text.
    fn quoted_prefix(&mut self, message: &str, code: Code) -> NodeId {
        let operator = self.bump();
        let starts = !matches!(
            self.cur.kind,
            TokenKind::Comma
                | TokenKind::Colon
                | TokenKind::RParen
                | TokenKind::RBracket
                | TokenKind::RBrace
                | TokenKind::Eof
                | TokenKind::Unknown
        );
        // Inner findings are moot when the whole becomes text.
        let known = self.diagnostics.len();
        if starts && !self.at_boundary() && self.enter(b'!') {
            self.operand();
            self.leave();
        }
        if !self.abandoned {
            self.diagnostics.truncate(known);
        }
        let span = Span::new(operator.start, self.prev_end);
        self.report(
            Diagnostic::error(code, operator.span(), message)
                .help("quote it as text")
                .fix(Edit::replace(span, quote(self.slice(span)))),
        );
        self.error_node(span)
    }
}

/// `2025-03-01` and its kin.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() == 3 && parts.iter().take(2).all(|part| part.bytes().all(|b| b.is_ascii_digit()))
}

/// The rest of the line as a closed string. Closing brackets at its end most likely stood behind
/// the quote that is missing.
fn unterminated_fix(written: &str) -> String {
    let inner = &written[1..];
    let trimmed = inner.trim_end();
    let body = trimmed.trim_end_matches([')', ']', '}', ',']);
    let tail = &trimmed[body.len()..];
    // Escapes that are there are meant; only a backslash at the very end would eat the new quote.
    let dangling = body.len() - body.trim_end_matches('\\').len();
    let guard = if dangling % 2 == 1 { "\\" } else { "" };
    format!("\"{body}{guard}\"{tail}")
}
