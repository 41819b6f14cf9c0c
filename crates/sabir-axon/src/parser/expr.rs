//! Expressions: operands, and the operators between them by precedence climbing.

use sabir_base::{Diagnostic, Edit, Span};

use super::{Parser, Siblings};
use crate::codes;
use crate::lexer::is_extension;
use crate::performative::Performative;
use crate::strings::quote;
use crate::token::{Token, TokenKind};
use crate::tree::{EXTENSION, Kind, NodeId};
use crate::unit::{Unit, UnitCategory};
use crate::view::Comparison;

/// Not between expressions at all: a comma, a closing bracket, the end.
const NONE: u8 = 0;
const CAUSE: u8 = 1;
const THEN: u8 = 2;
const ALL: u8 = 3;
const ANY: u8 = 4;
const COMPARE: u8 = 5;
const RANGE: u8 = 6;
/// Something that cannot follow an operand in AXON, but people and models write it.
const ODD: u8 = 7;

/// The level of every token kind, from section 5.
static LEVEL: [u8; 64] = {
    use TokenKind as K;
    let mut table = [ODD; 64];
    table[K::Eof as usize] = NONE;
    table[K::Comma as usize] = NONE;
    table[K::Colon as usize] = NONE;
    table[K::Semicolon as usize] = NONE;
    table[K::RParen as usize] = NONE;
    table[K::RBracket as usize] = NONE;
    table[K::RBrace as usize] = NONE;
    table[K::Unknown as usize] = NONE;
    table[K::Version as usize] = NONE;
    table[K::Cause as usize] = CAUSE;
    table[K::Then as usize] = THEN;
    table[K::Amp as usize] = ALL;
    table[K::Pipe as usize] = ANY;
    table[K::Lt as usize] = COMPARE;
    table[K::Gt as usize] = COMPARE;
    table[K::Le as usize] = COMPARE;
    table[K::Ge as usize] = COMPARE;
    table[K::Ne as usize] = COMPARE;
    table[K::Eq as usize] = COMPARE;
    table[K::Range as usize] = RANGE;
    table
};

#[inline(always)]
fn level_of(kind: TokenKind) -> u8 {
    LEVEL[kind as usize & 63]
}

impl Parser<'_> {
    #[inline(always)]
    pub(super) fn expr(&mut self) -> NodeId {
        let operand = self.operand();
        self.climb(operand, CAUSE)
    }

    /// The rest of an expression whose first token, a name, is already taken.
    #[inline(always)]
    pub(super) fn expr_from_name(&mut self, name: Token) -> NodeId {
        let primary = self.name(name);
        self.expr_from(primary)
    }

    /// The rest of an expression whose first primary is already read.
    #[inline(always)]
    pub(super) fn expr_from(&mut self, primary: NodeId) -> NodeId {
        let operand = self.with_suffix(primary);
        self.climb(operand, CAUSE)
    }

    #[inline(always)]
    fn operand(&mut self) -> NodeId {
        let primary = self.primary();
        self.with_suffix(primary)
    }

    #[inline(always)]
    fn with_suffix(&mut self, primary: NodeId) -> NodeId {
        if level_of(self.cur.kind) == ODD { self.suffix(primary) } else { primary }
    }

    /// Operators of level `min` and above behind `left`.
    #[inline]
    fn climb(&mut self, mut left: NodeId, min: u8) -> NodeId {
        loop {
            let mut level = level_of(self.cur.kind);
            if level == ODD {
                level = self.odd_level();
            }
            if level < min || level == NONE {
                return left;
            }
            left = match level {
                COMPARE | RANGE => self.pair(left, level),
                _ => self.chain(left, level),
            };
        }
    }

    /// A chain of one operator. It becomes one node however long it is, so that depth is bounded by
    /// brackets alone.
    fn chain(&mut self, left: NodeId, level: u8) -> NodeId {
        let start = self.span_of(left).start;
        let mut operands = Siblings::NONE;
        operands.add(self, left);
        loop {
            let operator = self.operator();
            let missing = operator.start == self.cur.start;
            let right = if missing && self.at_key() {
                self.trailing_fields()
            } else {
                let right = self.operand();
                self.climb(right, level + 1)
            };
            operands.add(self, right);
            let mut next = level_of(self.cur.kind);
            if next == ODD {
                next = self.odd_level();
            }
            if next != level {
                break;
            }
        }
        let kind = match level {
            CAUSE => Kind::Cause,
            THEN => Kind::Then,
            ALL => Kind::All,
            _ => Kind::Any,
        };
        self.branch(kind, start, 0, operands.first)
    }

    /// A comparison or a range: exactly two operands.
    fn pair(&mut self, left: NodeId, level: u8) -> NodeId {
        let left_span = self.span_of(left);
        let op = self.operator();
        let right = self.operand();
        let right = self.climb(right, level + 1);
        self.data(left).next = right;
        let kind = if level == RANGE { Kind::Range } else { Kind::Compare };
        let node = self.branch(kind, left_span.start, 0, left);
        self.data(node).extra = comparison(op.kind) as u8;
        let again = level_of(self.cur.kind) == level
            || matches!(self.cur.kind, TokenKind::EqEq | TokenKind::EqLt) && level == COMPARE;
        if again {
            self.chained_pair(left_span.start, level);
        }
        node
    }

    #[cold]
    fn chained_pair(&mut self, start: u32, level: u8) {
        let what = if level == RANGE { "ranges" } else { "comparisons" };
        let whole = Span::new(start, self.prev_end);
        self.report(
            Diagnostic::error(
                codes::CHAINED_COMPARISON,
                self.cur.span(),
                format!("{what} cannot be chained"),
            )
            .label(whole, "this is one already")
            .help("put one of them in parentheses")
            .fix(Edit::insert(whole.start, "("))
            .fix(Edit::insert(whole.end, ")")),
        );
    }

    /// Takes an operator, and reports it if it is not one of AXON's.
    #[inline(always)]
    fn operator(&mut self) -> Token {
        let token = self.cur;
        if level_of(token.kind) == ODD { self.odd_operator() } else { self.bump() }
    }

    /// What level an odd token stands for when it follows an operand.
    #[cold]
    fn odd_level(&mut self) -> u8 {
        use TokenKind as K;
        match self.cur.kind {
            K::AmpAmp | K::CaretCaret | K::TildeTilde => ALL,
            K::PipePipe => ANY,
            K::EqEq | K::EqLt => COMPARE,
            K::FatArrow => THEN,
            K::Dot | K::BadSpace => NONE,
            // Two operands side by side: the weakest relation that AXON has is `&`.
            _ if self.at_boundary() || self.at_missing_comma() => NONE,
            _ => ALL,
        }
    }

    #[cold]
    fn odd_operator(&mut self) -> Token {
        use TokenKind as K;
        let token = self.cur;
        let written = self.slice(token.span());
        let (code, instead, help) = match token.kind {
            K::AmpAmp => {
                (codes::RESERVED_OPERATOR, "&", "`&&` is reserved (section 14); write `&`")
            }
            K::PipePipe => {
                (codes::RESERVED_OPERATOR, "|", "`||` is reserved (section 14); write `|`")
            }
            K::CaretCaret => (codes::RESERVED_OPERATOR, "&", "`^^` is reserved (section 14)"),
            K::TildeTilde => (codes::RESERVED_OPERATOR, "&~", "`~~` is reserved (section 14)"),
            K::EqEq => (codes::UNKNOWN_OPERATOR, "=", "write `=`"),
            K::EqLt => (codes::UNKNOWN_OPERATOR, "<=", "write `<=`"),
            K::FatArrow => (codes::UNKNOWN_OPERATOR, "->", "write `->`"),
            _ => {
                let gap = Span::new(self.prev_end, token.start);
                let text = if gap.is_empty() { "&" } else { " &" };
                self.report(
                    Diagnostic::error(
                        codes::MISSING_OPERATOR,
                        token.span(),
                        "an operator is missing before this",
                    )
                    .help("write `&` for \"and\", `->` for \"then\", or a comma between elements")
                    .fix(Edit::insert(self.prev_end, text)),
                );
                return token;
            }
        };
        let reserved = code == codes::RESERVED_OPERATOR;
        let message = if reserved {
            format!("`{written}` is reserved for a future version")
        } else {
            format!("AXON has no operator `{written}`")
        };
        self.report(
            Diagnostic::error(code, token.span(), message)
                .help(help)
                .fix(Edit::replace(token.span(), instead)),
        );
        self.bump()
    }

    #[inline(always)]
    fn primary(&mut self) -> NodeId {
        use TokenKind as K;
        match self.cur.kind {
            K::Name => {
                let token = self.bump();
                self.name(token)
            }
            K::String => {
                let token = self.bump();
                self.string(token)
            }
            K::Number => {
                let token = self.bump();
                self.leaf(Kind::Number, token)
            }
            K::Tag => {
                let token = self.bump();
                self.tag(token)
            }
            K::Ref => {
                let token = self.bump();
                self.leaf(Kind::Ref, token)
            }
            K::Var => {
                let token = self.bump();
                self.leaf(Kind::Var, token)
            }
            K::Underscore => {
                let token = self.bump();
                self.leaf(Kind::Null, token)
            }
            K::LBrace => self.record(),
            K::LBracket => self.list(),
            K::LParen => self.paren(),
            K::Tilde => self.approx(),
            _ => self.odd_primary(),
        }
    }

    #[inline(always)]
    pub(super) fn string(&mut self, token: Token) -> NodeId {
        if token.aux != 0 {
            self.check_string(token);
        }
        self.leaf(Kind::String, token)
    }

    #[inline(always)]
    fn tag(&mut self, token: Token) -> NodeId {
        let record = if self.cur.kind == TokenKind::LBrace { self.record() } else { NodeId::NONE };
        self.branch(Kind::Tag, token.start, token.end, record)
    }

    /// What starts with a name: a literal, a path, a call or a nested message.
    #[inline(always)]
    fn name(&mut self, token: Token) -> NodeId {
        if self.cur.kind == TokenKind::LParen {
            return self.call_or_message(token);
        }
        let kind = match self.bytes(token) {
            b"T" => Kind::True,
            b"F" => Kind::False,
            _ => Kind::Name,
        };
        self.leaf(kind, token)
    }

    fn call_or_message(&mut self, token: Token) -> NodeId {
        let word = self.bytes(token);
        let core = Performative::from_bytes(word);
        let nested = match core {
            Some(_) => self.at_routing(),
            None => is_extension(word) && self.at_whole_routing(),
        };
        if !nested {
            return self.call(token);
        }
        if !self.enter(b'm') {
            return self.error_node(Span::new(token.start, self.prev_end));
        }
        let extra = core.map_or(EXTENSION, |performative| performative as u8);
        let performative = self.leaf(Kind::Performative, token);
        self.data(performative).extra = extra;
        let mut children = Siblings::NONE;
        children.add(self, performative);
        let message = self.message_body(token.start, children);
        self.leave();
        message
    }

    /// `~x`; a run of them is one node, because operators are no depth.
    fn approx(&mut self) -> NodeId {
        let start = self.cur.start;
        let mut times = 0;
        loop {
            match self.cur.kind {
                TokenKind::Tilde => {
                    self.bump();
                    times += 1;
                }
                TokenKind::TildeTilde => {
                    let span = self.cur.span();
                    self.report(
                        Diagnostic::error(
                            codes::RESERVED_OPERATOR,
                            span,
                            "`~~` is reserved for a future version",
                        )
                        .help("section 14 reserves `~~`; write `~ ~` or one `~`")
                        .fix(Edit::replace(span, "~ ~")),
                    );
                    self.bump();
                    times += 2;
                }
                _ => break,
            }
        }
        let operand = self.primary();
        self.branch(Kind::Approx, start, times, operand)
    }

    /// What cannot start an expression in AXON.
    #[cold]
    fn odd_primary(&mut self) -> NodeId {
        use TokenKind as K;
        let token = self.cur;
        let written = self.slice(token.span());
        match token.kind {
            K::TildeTilde => self.approx(),
            K::BadNumber => self.bad_number(),
            K::BadString => {
                self.bump();
                self.report(
                    Diagnostic::error(
                        codes::UNTERMINATED_STRING,
                        token.span(),
                        "a string has no closing quote",
                    )
                    .help("add `\"` where the string ends")
                    .fix(Edit::replace(token.span(), unterminated_fix(written))),
                );
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

    fn bad_space(&mut self) {
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
        let bang = self.bump();
        // A run of `!` nests, so it counts as depth.
        if !self.enter(b'!') {
            return self.error_node(bang.span());
        }
        let operand = self.operand();
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
    fn quoted_prefix(&mut self, message: &str, code: sabir_base::Code) -> NodeId {
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

    /// Something stands right behind an operand that cannot.
    #[cold]
    fn suffix(&mut self, mut node: NodeId) -> NodeId {
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
                let empty = !self.nodes[node_index(node)].first.is_some();
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
        self.call(Token { start: at.start, ..open });
        let span = Span::new(at.start, self.prev_end);
        let closed = self.slice(span).ends_with(')');
        if !closed || self.diagnostics.len() > known {
            // What is wrong inside comes first; the next look sees the brackets.
            return self.error_node(span);
        }
        let close = Span::new(self.prev_end - 1, self.prev_end);
        self.report(
            Diagnostic::error(codes::POSTFIX, open.span(), "a tag takes a record, not arguments")
                .help("write `#tag{key:value}`")
                .fix(Edit::replace(open.span(), "{"))
                .fix(Edit::replace(close, "}")),
        );
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
    fn arithmetic(&mut self, start: u32) -> NodeId {
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
        if self.kind_of(node) == Kind::Number && unit && self.nodes[node_index(node)].extra == 0 {
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

fn node_index(id: NodeId) -> usize {
    id.0 as usize
}

fn comparison(kind: TokenKind) -> Comparison {
    match kind {
        TokenKind::Lt => Comparison::Lt,
        TokenKind::Gt => Comparison::Gt,
        TokenKind::Le | TokenKind::EqLt => Comparison::Le,
        TokenKind::Ge => Comparison::Ge,
        TokenKind::Ne => Comparison::Ne,
        _ => Comparison::Eq,
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
