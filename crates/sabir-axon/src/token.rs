//! Tokens: kinds and character classes.

use sabir_base::Span;

/// A token, its place, and one byte about it that the lexer knew anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// `Number`: the unit's index, zero for none. `String`: `STRING_*` flags. `Name`: whether it
    /// has dots.
    pub(crate) aux: u8,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

pub(crate) const STRING_ESCAPES: u8 = 1;
pub(crate) const STRING_CONTROLS: u8 = 2;

/// What a run of characters is. The kinds after `Underscore` are grouped: brackets and separators,
/// operators of AXON, then what AXON does not have but people and models write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenKind {
    Eof,
    Whitespace,
    Comment,
    /// `a` or `a.b.c`.
    Name,
    /// `@a.b`.
    Ref,
    /// `$a.b`.
    Var,
    /// `#a.b`.
    Tag,
    Number,
    String,
    Underscore,

    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Comma,
    Colon,

    /// `<-`
    Cause,
    /// `->`
    Then,
    Amp,
    Pipe,
    Lt,
    Gt,
    Le,
    Ge,
    Ne,
    Eq,
    /// `..`
    Range,
    Tilde,
    Star,
    Caret,
    /// `%%`
    Version,

    AmpAmp,
    PipePipe,
    CaretCaret,
    TildeTilde,
    /// `==`
    EqEq,
    /// `=>`
    FatArrow,
    /// `=<`
    EqLt,
    Bang,
    Plus,
    Minus,
    Slash,
    Semicolon,
    Dot,
    /// `@`, `#` or `$` with no name behind it.
    LoneSigil,
    /// A number that runs on: `2025-03-01`, `02:00`, `5sec`.
    BadNumber,
    /// A name with letters outside ASCII, with or without a sigil.
    BadName,
    /// A string that never ends; it covers the rest of its line.
    BadString,
    /// `'...'` or a pair of typographic quotes.
    WrongQuotes,
    /// White space that is not AXON's: no-break space, zero-width space, form feed.
    BadSpace,
    Unknown,
}

impl TokenKind {
    /// An operator of AXON: an operand must follow.
    pub fn is_operator(self) -> bool {
        matches!(
            self,
            Self::Cause
                | Self::Then
                | Self::Amp
                | Self::Pipe
                | Self::Lt
                | Self::Gt
                | Self::Le
                | Self::Ge
                | Self::Ne
                | Self::Eq
                | Self::Range
                | Self::Tilde
        )
    }

    pub(crate) fn is_closer(self) -> bool {
        matches!(self, Self::RParen | Self::RBracket | Self::RBrace)
    }
}

pub(crate) const LETTER: u8 = 1;
pub(crate) const DIGIT: u8 = 2;
/// `-` and `_`: in a name, not at its front.
pub(crate) const JOINER: u8 = 4;
pub(crate) const SPACE: u8 = 8;
/// Ends the fast scan of a string: quote, backslash, control characters.
pub(crate) const STRING_STOP: u8 = 16;
/// A letter, a digit or an underscore: what must not follow a unit.
pub(crate) const WORD: u8 = 32;
pub(crate) const NAME_PART: u8 = LETTER | DIGIT | JOINER;

pub(crate) static CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0usize;
    while byte < 256 {
        let b = byte as u8;
        let mut class = 0;
        if b.is_ascii_alphabetic() {
            class |= LETTER | WORD;
        }
        if b.is_ascii_digit() {
            class |= DIGIT | WORD;
        }
        if b == b'-' || b == b'_' {
            class |= JOINER;
        }
        if b == b'_' {
            class |= WORD;
        }
        if b == b' ' || b == b'\t' || b == b'\r' || b == b'\n' {
            class |= SPACE;
        }
        if b == b'"' || b == b'\\' || b < 0x20 || b == 0x7f {
            class |= STRING_STOP;
        }
        table[byte] = class;
        byte += 1;
    }
    table
};

#[inline(always)]
pub(crate) fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}
