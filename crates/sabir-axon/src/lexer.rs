//! Text to tokens. Never fails: what has no meaning becomes a token that says so.
//!
//! The lexer is a small value, so that looking ahead is copying it.

use crate::performative::Performative;
use crate::token::{
    DIGIT, JOINER, LETTER, NAME_PART, SPACE, STRING_CONTROLS, STRING_ESCAPES, STRING_STOP, Token,
    TokenKind, WORD, is,
};
use crate::unit::Unit;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'t> {
    bytes: &'t [u8],
    text: &'t str,
    pos: u32,
    /// The last token that was not trivia: `(*` means a wildcard only behind a performative.
    last: Token,
    /// From here on no string is ever closed, so that looking for a quote again would be quadratic.
    unclosed_strings_from: u32,
    /// Where a comment started that never ended. It swallows the rest of the text.
    pub(crate) unclosed_comment: Option<u32>,
    /// Whether a comment ends the text. Looking for a message in what is not AXON tries many places,
    /// and reading on through a comment from each of them would be quadratic.
    pub(crate) ends_at_comment: bool,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            bytes: text.as_bytes(),
            text,
            pos: 0,
            last: Token { kind: TokenKind::Eof, aux: 0, start: 0, end: 0 },
            unclosed_strings_from: u32::MAX,
            unclosed_comment: None,
            ends_at_comment: false,
        }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Continue at `offset`, as if nothing stood before it.
    pub(crate) fn jump(&mut self, offset: u32) {
        self.pos = offset;
        self.last = Token { kind: TokenKind::Eof, aux: 0, start: offset, end: offset };
    }

    /// The next token that is not trivia.
    #[inline]
    pub(crate) fn next(&mut self) -> Token {
        self.skip_trivia();
        let token = self.token();
        self.last = token;
        token
    }

    /// The next token, trivia included; every byte belongs to exactly one.
    pub(crate) fn next_with_trivia(&mut self) -> Token {
        let start = self.pos;
        if start == 0 && self.bytes.starts_with(BOM) {
            self.pos = BOM.len() as u32;
            return self.finish(TokenKind::Whitespace, start);
        }
        while is(self.byte(), SPACE) {
            self.pos += 1;
        }
        if self.pos > start {
            return self.finish(TokenKind::Whitespace, start);
        }
        if self.opens_comment() {
            self.comment();
            return self.finish(TokenKind::Comment, start);
        }
        let token = self.token();
        self.last = token;
        token
    }

    #[inline(always)]
    fn byte(&self) -> u8 {
        // Past the end reads as NUL; a real NUL is told apart by its position.
        self.bytes.get(self.pos as usize).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn peek(&self, ahead: u32) -> u8 {
        self.bytes.get((self.pos + ahead) as usize).copied().unwrap_or(0)
    }

    fn finish(&self, kind: TokenKind, start: u32) -> Token {
        Token { kind, aux: 0, start, end: self.pos }
    }

    #[inline(always)]
    fn skip_trivia(&mut self) {
        loop {
            match self.byte() {
                b' ' | b'\n' | b'\r' | b'\t' => self.pos += 1,
                b'(' if self.opens_comment() => self.comment(),
                _ => return,
            }
        }
    }

    /// `(*` opens a comment, except as `(*>` in routing position, which is a wildcard.
    #[inline]
    fn opens_comment(&self) -> bool {
        self.byte() == b'(' && self.peek(1) == b'*' && !self.is_wildcard_routing()
    }

    #[cold]
    fn is_wildcard_routing(&self) -> bool {
        let mut ahead = 2;
        while is(self.peek(ahead), SPACE) {
            ahead += 1;
        }
        self.peek(ahead) == b'>'
            && self.last.kind == TokenKind::Name
            && is_performative(&self.bytes[self.last.span().range()])
    }

    #[cold]
    fn comment(&mut self) {
        if self.ends_at_comment {
            self.pos = self.bytes.len() as u32;
            return;
        }
        let start = self.pos;
        self.pos += 2;
        let mut depth = 1u32;
        while depth > 0 {
            if self.pos as usize >= self.bytes.len() {
                self.unclosed_comment = Some(start);
                return;
            }
            match (self.byte(), self.peek(1)) {
                (b'(', b'*') => {
                    depth += 1;
                    self.pos += 2;
                }
                (b'*', b')') => {
                    depth -= 1;
                    self.pos += 2;
                }
                _ => self.pos += 1,
            }
        }
    }

    /// Brackets, commas, colons and names are three tokens in four; they are read right here, and
    /// everything else by a call.
    #[inline(always)]
    fn token(&mut self) -> Token {
        let start = self.pos;
        let byte = self.byte();
        let kind = SINGLE[byte as usize];
        if kind != TokenKind::Eof {
            self.pos += 1;
            return self.finish(kind, start);
        }
        if is(byte, LETTER) { self.name(TokenKind::Name, start) } else { self.other_token(byte) }
    }

    #[inline(never)]
    fn other_token(&mut self, byte: u8) -> Token {
        use TokenKind as K;
        let start = self.pos;
        let (kind, length) = match byte {
            b'@' => return self.sigil(K::Ref),
            b'#' => return self.sigil(K::Tag),
            b'$' => return self.sigil(K::Var),
            b'"' => return self.string(),
            b'0'..=b'9' => return self.number(),
            b'>' if self.peek(1) == b'=' => (K::Ge, 2),
            b'>' => (K::Gt, 1),
            b'-' => match self.peek(1) {
                b'>' => (K::Then, 2),
                b'0'..=b'9' => return self.number(),
                _ => (K::Minus, 1),
            },
            b'<' => match self.peek(1) {
                b'-' => (K::Cause, 2),
                b'=' => (K::Le, 2),
                _ => (K::Lt, 1),
            },
            b'&' if self.peek(1) == b'&' => (K::AmpAmp, 2),
            b'&' => (K::Amp, 1),
            b'|' if self.peek(1) == b'|' => (K::PipePipe, 2),
            b'|' => (K::Pipe, 1),
            b'~' if self.peek(1) == b'~' => (K::TildeTilde, 2),
            b'~' => (K::Tilde, 1),
            b'^' if self.peek(1) == b'^' => (K::CaretCaret, 2),
            b'^' => (K::Caret, 1),
            b'=' => match self.peek(1) {
                b'=' => (K::EqEq, 2),
                b'>' => (K::FatArrow, 2),
                b'<' => (K::EqLt, 2),
                _ => (K::Eq, 1),
            },
            b'!' if self.peek(1) == b'=' => (K::Ne, 2),
            b'!' => (K::Bang, 1),
            b'%' if self.peek(1) == b'%' => (K::Version, 2),
            b'.' if self.peek(1) == b'.' => (K::Range, 2),
            b'.' => (K::Dot, 1),
            b'_' if !is(self.peek(1), NAME_PART) || self.at_arrow(1) => (K::Underscore, 1),
            b'*' => (K::Star, 1),
            b'+' => (K::Plus, 1),
            b'/' => (K::Slash, 1),
            b';' => (K::Semicolon, 1),
            0 if start as usize >= self.bytes.len() => (K::Eof, 0),
            _ => return self.odd(),
        };
        self.pos += length;
        self.finish(kind, start)
    }

    /// Whether `->` starts `ahead` bytes from here.
    #[inline(always)]
    fn at_arrow(&self, ahead: u32) -> bool {
        self.peek(ahead) == b'-' && self.peek(ahead + 1) == b'>'
    }

    /// Moves over the bytes of `class`. The position is kept in a local: the loop is the hottest of
    /// all, and a store for every byte would double its price.
    #[inline(always)]
    fn skip_class(&mut self, class: u8) {
        let rest = &self.bytes[(self.pos as usize).min(self.bytes.len())..];
        let length = rest.iter().position(|&byte| !is(byte, class)).unwrap_or(rest.len());
        self.pos += length as u32;
    }

    /// One segment of a name.
    #[inline(always)]
    fn identifier(&mut self) {
        let start = self.pos;
        self.skip_class(NAME_PART);
        // `-` belongs to a name unless it starts `->`.
        if self.byte() == b'>' && self.pos > start && self.bytes[self.pos as usize - 1] == b'-' {
            self.pos -= 1;
        }
    }

    /// A qualified name; `start` may lie before the name, at its sigil.
    #[inline(always)]
    fn name(&mut self, kind: TokenKind, start: u32) -> Token {
        self.skip_class(NAME_PART);
        // Most names end here; the others need a closer look.
        match self.byte() {
            b'.' | b'>' | 0x80.. => self.long_name(kind, start),
            _ => Token { kind, aux: 0, start, end: self.pos },
        }
    }

    /// The rest of a name whose first segment has been read, or read one byte too far.
    #[inline(never)]
    fn long_name(&mut self, kind: TokenKind, start: u32) -> Token {
        let mut dotted = 0;
        if self.byte() == b'>' && self.bytes[self.pos as usize - 1] == b'-' {
            self.pos -= 1;
        }
        while self.byte() == b'.' && self.starts_segment(1) {
            self.pos += 1;
            dotted = 1;
            self.identifier();
        }
        if self.byte() >= 0x80 && self.letter_here() {
            return self.bad_name(start);
        }
        Token { kind, aux: dotted, start, end: self.pos }
    }

    /// A letter, or `_` on its own: `x._` and `@_` are names.
    #[inline(always)]
    fn starts_segment(&self, ahead: u32) -> bool {
        let byte = self.peek(ahead);
        is(byte, LETTER)
            || byte == b'_' && (!is(self.peek(ahead + 1), NAME_PART) || self.at_arrow(ahead + 1))
    }

    fn sigil(&mut self, kind: TokenKind) -> Token {
        let start = self.pos;
        if self.starts_segment(1) {
            self.pos += 1;
            return self.name(kind, start);
        }
        self.pos += 1;
        if self.byte() >= 0x80 && self.letter_here() {
            return self.bad_name(start);
        }
        self.finish(TokenKind::LoneSigil, start)
    }

    fn letter_here(&self) -> bool {
        self.char_here().is_some_and(char::is_alphanumeric)
    }

    fn char_here(&self) -> Option<char> {
        self.text.get(self.pos as usize..)?.chars().next()
    }

    #[cold]
    fn bad_name(&mut self, start: u32) -> Token {
        while let Some(c) = self.char_here() {
            let joins = c == '_' || c == '-' && self.peek(1) != b'>';
            let dot = c == '.' && {
                let next = self.text[self.pos as usize + 1..].chars().next();
                next.is_some_and(char::is_alphabetic)
            };
            if !(joins || dot || c.is_alphanumeric()) {
                break;
            }
            self.pos += c.len_utf8() as u32;
        }
        self.finish(TokenKind::BadName, start)
    }

    fn string(&mut self) -> Token {
        let start = self.pos;
        let mut flags = 0;
        self.pos += 1;
        if start < self.unclosed_strings_from {
            loop {
                let rest = &self.bytes[(self.pos as usize).min(self.bytes.len())..];
                let plain = rest.iter().position(|&byte| is(byte, STRING_STOP));
                self.pos += plain.unwrap_or(rest.len()) as u32;
                let byte = self.byte();
                if byte == b'"' {
                    self.pos += 1;
                    return Token { kind: TokenKind::String, aux: flags, start, end: self.pos };
                } else if self.pos as usize >= self.bytes.len() {
                    break;
                } else if byte == b'\\' {
                    flags |= STRING_ESCAPES;
                    self.pos += 1;
                    if (self.pos as usize) < self.bytes.len() {
                        // The escaped character may be a control or several bytes long; only a
                        // quote or a backslash must not be seen again.
                        if matches!(self.byte(), b'"' | b'\\') {
                            self.pos += 1;
                        }
                    }
                } else {
                    flags |= STRING_CONTROLS;
                    self.pos += 1;
                }
            }
        }
        // Every later quote was read as escaped just now, so none of them opens a string that ends.
        self.unclosed_strings_from = self.unclosed_strings_from.min(start);
        self.pos = start + 1;
        while (self.pos as usize) < self.bytes.len() && !matches!(self.byte(), b'\n' | b'\r') {
            self.pos += 1;
        }
        self.finish(TokenKind::BadString, start)
    }

    fn number(&mut self) -> Token {
        let start = self.pos;
        self.pos += 1;
        self.skip_class(DIGIT);
        if self.byte() == b'.' && is(self.peek(1), DIGIT) {
            self.pos += 2;
            self.skip_class(DIGIT);
        }
        let mut unit = 0;
        let byte = self.byte();
        if byte == b'%' {
            self.pos += 1;
            unit = Unit::Percent as u8;
        } else if is(byte, LETTER) {
            let from = self.pos as usize;
            self.skip_class(WORD);
            match Unit::from_bytes(&self.bytes[from..self.pos as usize]) {
                Some(known) => unit = known as u8,
                None => return self.bad_number(start),
            }
        }
        let runs_on = match self.byte() {
            b'.' => self.peek(1) != b'.',
            b':' => is(self.peek(1), DIGIT),
            b'-' => is(self.peek(1), WORD),
            b'/' | b'%' | b'_' => true,
            byte => is(byte, WORD) || byte >= 0x80 && self.letter_here(),
        };
        if runs_on {
            return self.bad_number(start);
        }
        Token { kind: TokenKind::Number, aux: unit, start, end: self.pos }
    }

    /// Takes in everything that a date, a time, a rate or an invented unit may be made of.
    #[cold]
    fn bad_number(&mut self, start: u32) -> Token {
        let first = self.pos;
        let mut clock = self.bytes[start as usize..self.pos as usize].contains(&b'-');
        while let Some(c) = self.char_here() {
            let next = self.peek(1);
            let take = match c {
                '_' | '%' | '/' => true,
                ':' => is(next, DIGIT),
                '-' => is(next, WORD),
                '+' => clock && is(next, DIGIT),
                '.' if next == b'.' => clock && is(self.peek(2), DIGIT),
                '.' => is(next, WORD) || self.pos == first,
                c => c.is_alphanumeric(),
            };
            if !take {
                break;
            }
            clock |= matches!(c, ':' | '-');
            self.pos += c.len_utf8() as u32;
            if c == '.' && self.byte() == b'.' {
                self.pos += 1;
            }
        }
        self.finish(TokenKind::BadNumber, start)
    }

    /// What no rule of AXON starts with.
    #[cold]
    fn odd(&mut self) -> Token {
        let start = self.pos;
        let Some(c) = self.char_here() else {
            // Only reachable inside a character, which no caller does; one byte keeps us moving.
            self.pos += 1;
            return self.finish(TokenKind::Unknown, start);
        };
        self.pos += c.len_utf8() as u32;
        let kind = match c {
            '_' => {
                self.identifier();
                TokenKind::BadName
            }
            '\'' | '‘' | '’' | '“' | '”' | '„' | '«' => match self.closing_quote(c) {
                Some(end) => {
                    self.pos = end;
                    TokenKind::WrongQuotes
                }
                None => TokenKind::Unknown,
            },
            c if c.is_alphanumeric() => return self.bad_name(start),
            c if c.is_whitespace() || is_invisible(c) => TokenKind::BadSpace,
            _ => TokenKind::Unknown,
        };
        self.finish(kind, start)
    }

    /// The end of a quotation that opened with `open`, if it closes on the same line.
    fn closing_quote(&self, open: char) -> Option<u32> {
        let closers: &[char] = match open {
            '\'' => &['\''],
            '‘' | '’' => &['’', '‘'],
            '«' => &['»'],
            _ => &['”', '“', '"'],
        };
        // A quotation is short; the bound keeps a text of nothing but openers linear.
        const LONGEST_QUOTATION: usize = 256;
        let rest = self.text.get(self.pos as usize..)?;
        let (at, close) = rest
            .char_indices()
            .take(LONGEST_QUOTATION)
            .take_while(|&(_, c)| c != '\n')
            .find(|(_, c)| closers.contains(c))?;
        Some(self.pos + (at + close.len_utf8()) as u32)
    }
}

/// What is a token by itself, whatever follows; `Eof` for all other bytes.
static SINGLE: [TokenKind; 256] = {
    let mut table = [TokenKind::Eof; 256];
    table[b'(' as usize] = TokenKind::LParen;
    table[b')' as usize] = TokenKind::RParen;
    table[b'[' as usize] = TokenKind::LBracket;
    table[b']' as usize] = TokenKind::RBracket;
    table[b'{' as usize] = TokenKind::LBrace;
    table[b'}' as usize] = TokenKind::RBrace;
    table[b',' as usize] = TokenKind::Comma;
    table[b':' as usize] = TokenKind::Colon;
    table
};

pub(crate) const BOM: &[u8] = "\u{feff}".as_bytes();

/// Characters that show nothing and separate nothing.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// A core performative, or an extension: `X.domain.ACT`.
pub(crate) fn is_performative(name: &[u8]) -> bool {
    Performative::from_bytes(name).is_some() || is_extension(name)
}

pub(crate) fn is_extension(name: &[u8]) -> bool {
    name.starts_with(b"X.") && name.iter().filter(|&&byte| byte == b'.').count() == 2
}

/// Whether `@` can stand before `name`: identifiers joined by dots, each of which may also be the
/// lone `_`. `a->` never occurs here, because `>` is in no name.
pub fn is_agent_name(name: &str) -> bool {
    name.split('.').all(|segment| segment == "_" || is_identifier(segment))
}

/// `letter { letter | digit | "-" | "_" }`, and nothing else.
pub fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|&byte| is(byte, LETTER))
        && bytes.iter().all(|&byte| is(byte, LETTER | DIGIT | JOINER))
}
