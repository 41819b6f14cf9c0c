//! Expressions: operands, and the operators between them by precedence climbing.

use sabir_base::{Diagnostic, Edit, Span};

use super::{Parser, Siblings};
use crate::codes;
use crate::lexer::is_extension;
use crate::performative::Performative;
use crate::token::{Token, TokenKind};
use crate::tree::{EXTENSION, Kind, NodeId};
use crate::view::Comparison;

/// Not between expressions at all: a comma, a closing bracket, the end.
const NONE: u8 = 0;
const CAUSE: u8 = 1;
const THEN: u8 = 2;
const ALL: u8 = 3;
const ANY: u8 = 4;
pub(super) const COMPARE: u8 = 5;
pub(super) const RANGE: u8 = 6;
/// Something that cannot follow an operand in AXON, but people and models write it.
pub(super) const ODD: u8 = 7;

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
pub(super) fn level_of(kind: TokenKind) -> u8 {
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
    pub(super) fn operand(&mut self) -> NodeId {
        let primary = self.primary();
        self.with_suffix(primary)
    }

    #[inline(always)]
    pub(super) fn with_suffix(&mut self, primary: NodeId) -> NodeId {
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
        let start = self.span_of(left).start;
        let op = self.operator();
        let right = self.operand();
        let right = self.climb(right, level + 1);
        self.data(left).next = right;
        let kind = if level == RANGE { Kind::Range } else { Kind::Compare };
        let node = self.branch(kind, start, 0, left);
        self.data(node).extra = comparison(op.kind) as u8;
        if self.at_level(level) { self.chained_pair(node, level) } else { node }
    }

    /// Whether the operator under the cursor is of this level, or stands for one that is.
    #[inline(always)]
    fn at_level(&self, level: u8) -> bool {
        level_of(self.cur.kind) == level
            || matches!(self.cur.kind, TokenKind::EqEq | TokenKind::EqLt) && level == COMPARE
    }

    /// More operators of a level that does not chain. However many they are, they become one node:
    /// depth is bounded by brackets alone, in a wrong text too.
    #[cold]
    fn chained_pair(&mut self, first: NodeId, level: u8) -> NodeId {
        let what = if level == RANGE { "ranges" } else { "comparisons" };
        let whole = self.span_of(first);
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
        let mut operands = Siblings::NONE;
        operands.add(self, first);
        while self.at_level(level) {
            self.operator();
            let right = self.operand();
            let right = self.climb(right, level + 1);
            operands.add(self, right);
        }
        self.branch(Kind::Error, whole.start, 0, operands.first)
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
    pub(super) fn primary(&mut self) -> NodeId {
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
    pub(super) fn approx(&mut self) -> NodeId {
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
