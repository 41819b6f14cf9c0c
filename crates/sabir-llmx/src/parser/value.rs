//! Single values: strings, words, numbers, and text that lacks its quotes.

use sabir_base::{Diagnostic, Edit, Span};

use super::{DIGIT, LETTER, LONGEST_FIX, Parser, RUN_STOP, SPACE, STRING_STOP, WORD, is};
use crate::codes;
use crate::strings::{self, Escape};
use crate::tree::{Kind, NodeId, STRING_CONTROLS, STRING_ESCAPES, STRING_OPEN};

impl Parser<'_> {
    /// A value in something that `close` ends.
    #[inline(always)]
    pub(super) fn value(&mut self, close: u8) -> NodeId {
        let start = self.at;
        let byte = self.byte();
        match byte {
            b'"' => {
                let flags = self.string();
                let id = self.leaf(Kind::String, start, flags);
                if flags != 0 {
                    self.check_string(id, flags);
                }
                id
            }
            b'{' => self.object(b'}', Kind::Object),
            b'[' => self.array(false),
            _ if is(byte, LETTER) || byte == b'_' => self.word(close),
            _ if is(byte, DIGIT) || byte == b'-' => self.number(close),
            b'(' => {
                if !self.verbatim {
                    self.tuple_outside_plan();
                }
                self.object(b')', Kind::Tuple)
            }
            b',' | b'}' | b']' => self.missing_value(),
            b')' if close == b')' => self.missing_value(),
            _ if self.at_end() => self.missing_value(),
            _ if self.text[start..].starts_with(WRONG_QUOTES) => self.wrong_quotes(close),
            _ => self.run(start, close),
        }
    }

    #[cold]
    fn missing_value(&mut self) -> NodeId {
        self.report(
            Diagnostic::error(codes::MISSING_VALUE, self.here(), "a value is missing before this")
                .help("write a value; \"\" is the empty text"),
        );
        self.leaf(Kind::Error, self.at, 0)
    }

    #[cold]
    fn tuple_outside_plan(&mut self) {
        self.report(
            Diagnostic::warning(
                codes::TUPLE_OUTSIDE_PLAN,
                self.here(),
                "only the steps of a PLAN are written in parentheses",
            )
            .help("write braces"),
        );
    }

    /// Reads a string, and says what is in it. The cursor is at its opening quote.
    pub(super) fn string(&mut self) -> u8 {
        let start = self.at;
        let mut flags = 0;
        // Where a block starts a line inside the string, first of all.
        let mut suspect = None;
        self.at += 1;
        if start < self.unclosed_strings_from {
            loop {
                let rest = &self.bytes[self.at..];
                let plain = rest.iter().position(|&byte| is(byte, STRING_STOP));
                self.at += plain.unwrap_or(rest.len());
                match self.byte() {
                    b'"' => {
                        self.at += 1;
                        return match suspect {
                            // The quote that ends a string stands before a comma or a bracket. This
                            // one opens a string of the block inside, so its own is missing.
                            Some(end) if !self.at_value_end() => self.unterminated(start, end),
                            _ => flags,
                        };
                    }
                    _ if self.at_end() => break,
                    b'\\' => {
                        flags |= STRING_ESCAPES;
                        self.at += 1;
                        // Only a quote or a backslash must not be seen again.
                        if matches!(self.byte(), b'"' | b'\\') {
                            self.at += 1;
                        }
                    }
                    b'\n' if suspect.is_none() && self.at_sure_head(self.at + 1) => {
                        suspect = Some(self.at);
                    }
                    _ => {
                        flags |= STRING_CONTROLS;
                        self.at += 1;
                    }
                }
            }
            // Every later quote was read as escaped just now, so none of them opens a string that
            // ends.
            self.unclosed_strings_from = start;
        }
        let line = self.bytes[start..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        self.unterminated(start, line.map_or(self.bytes.len(), |length| start + length))
    }

    /// Whether the value before the cursor is over: a comma, a bracket or the end of the text
    /// follows.
    fn at_value_end(&self) -> bool {
        let next = self.bytes[self.at..].iter().find(|byte| !is(**byte, SPACE));
        matches!(next, None | Some(b',' | b'}' | b']' | b')'))
    }

    /// Takes the string to go to `end`.
    #[cold]
    fn unterminated(&mut self, start: usize, end: usize) -> u8 {
        self.at = end;
        self.broken_string_end = self.text[..self.at].trim_end().len();
        self.report(
            Diagnostic::error(
                codes::UNTERMINATED_STRING,
                Span::new(start as u32, start as u32 + 1),
                "this string is never closed",
            )
            .help("write a closing `\"`; a quote inside the string is written \\\""),
        );
        STRING_OPEN
    }

    /// Reports what is wrong inside a string that has escapes or control characters.
    #[cold]
    fn check_string(&mut self, id: NodeId, flags: u8) {
        let span = self.span_of(id);
        let text = &self.text[span.range()];
        if flags & STRING_CONTROLS != 0 {
            self.check_controls(span, text);
        }
        if flags & STRING_ESCAPES == 0 {
            return;
        }
        let mut at = 1usize;
        while let Some(found) = text[at..].find('\\') {
            at += found;
            let start = span.start + at as u32;
            let (code, message) = match strings::read_escape(&text[at..]) {
                Escape::Char(_, length) => {
                    at += length;
                    continue;
                }
                Escape::Unknown => {
                    let escaped = text[at + 1..].chars().next().unwrap_or('"');
                    let message = format!("`\\{}` is not an escape", escaped.escape_debug());
                    (codes::UNKNOWN_ESCAPE, message)
                }
                Escape::NoCharacter => {
                    (codes::INVALID_UNICODE_ESCAPE, "this escape names no character".to_owned())
                }
            };
            self.report(
                Diagnostic::error(code, Span::new(start, start + 1), message)
                    .help("escapes are those of JSON; write \\\\ for a backslash")
                    .fix(Edit::insert(start, "\\")),
            );
            at += 1;
        }
    }

    fn check_controls(&mut self, span: Span, text: &str) {
        let is_control = |c: char| c < ' ' || c == '\u{7f}';
        let Some(at) = text.find(is_control) else { return };
        let first = span.start + at as u32;
        let mut diagnostic = Diagnostic::warning(
            codes::RAW_CONTROL,
            Span::new(first, first + 1),
            "a raw control character in a string",
        )
        .help("write \\n for a newline, \\t for a tab, \\u0000 to \\u001f for the others");
        // Long strings get the first few edits only: the formatter mends them all.
        for (at, c) in text.match_indices(is_control).take(100) {
            let quoted = strings::quote(c);
            let start = span.start + at as u32;
            let edit = Edit::replace(Span::new(start, start + 1), strings::unquote(&quoted));
            diagnostic = diagnostic.fix(edit);
        }
        self.report(diagnostic);
    }

    /// A literal, a word, or more than a word.
    #[inline(always)]
    fn word(&mut self, close: u8) -> NodeId {
        let start = self.at;
        self.skip_class(WORD);
        // Where a comma or a bracket follows, nothing more belongs to it.
        let plain = matches!(self.byte(), b',' | b'}' | b']') || self.byte() == close;
        if !plain && self.goes_on(close) {
            return self.run(start, close);
        }
        let kind = match &self.bytes[start..self.at] {
            b"true" => Kind::True,
            b"false" => Kind::False,
            b"null" => {
                if !self.verbatim {
                    self.null_value(start);
                }
                Kind::Null
            }
            _ => Kind::Word,
        };
        self.leaf(kind, start, 0)
    }

    #[cold]
    fn null_value(&mut self, start: usize) {
        self.report(
            Diagnostic::warning(codes::NULL_VALUE, self.since(start), "the notation has no null")
                .help("leave the field out; the formatter does"),
        );
    }

    /// Whether text without quotes goes on at the cursor, at once or after blanks on its line.
    fn goes_on(&self, close: u8) -> bool {
        if self.at_end() {
            return false;
        }
        if !is(self.byte(), RUN_STOP) {
            return !(close == b')' && self.byte() == b')');
        }
        let mut at = self.at;
        while matches!(self.byte_at(at), b' ' | b'\t') {
            at += 1;
        }
        let ends = at >= self.bytes.len()
            || is(self.byte_at(at), RUN_STOP)
            || close == b')' && self.byte_at(at) == b')';
        // A quote, a bracket or a key start the next item, which lacks its comma.
        !(ends || matches!(self.byte_at(at), b'"' | b'{' | b'[' | b'(') || self.is_key_at(at))
    }

    fn is_key_at(&self, at: usize) -> bool {
        let mut end = at;
        while is(self.byte_at(end), super::KEY) {
            end += 1;
        }
        end > at && self.byte_at(end) == b':'
    }

    #[inline(always)]
    fn number(&mut self, close: u8) -> NodeId {
        let start = self.at;
        self.at += usize::from(self.byte() == b'-');
        let whole = self.at;
        self.skip_class(DIGIT);
        let mut fits = self.at > whole && (self.bytes[whole] != b'0' || self.at == whole + 1);
        if self.byte() == b'.' {
            self.at += 1;
            let fraction = self.at;
            self.skip_class(DIGIT);
            fits &= self.at > fraction;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), b'+' | b'-'));
            let exponent = self.at;
            self.skip_class(DIGIT);
            fits &= self.at > exponent;
        }
        let plain = matches!(self.byte(), b',' | b'}' | b']') || self.byte() == close;
        if !plain && self.goes_on(close) {
            return self.run(start, close);
        }
        if !fits {
            self.malformed_number(start);
        }
        self.leaf(Kind::Number, start, 0)
    }

    #[cold]
    fn malformed_number(&mut self, start: usize) {
        self.report(
            Diagnostic::error(
                codes::MALFORMED_NUMBER,
                self.since(start),
                "numbers are written as in JSON: 0, -1.5, 1e3",
            )
            .help("take off leading zeros, add the missing digits, or put it into quotes"),
        );
    }

    /// Text that lacks its quotes, from `start` on: to the next comma or closing bracket. With
    /// blanks in it, it is an error; without, it is read as what it looks like.
    #[cold]
    fn run(&mut self, start: usize, close: u8) -> NodeId {
        let ends_here =
            |parser: &Self| is(parser.byte(), RUN_STOP) || close == b')' && parser.byte() == b')';
        while !self.at_end() && !ends_here(self) {
            self.at += 1;
        }
        let mut broken = false;
        while self.goes_on(close) && self.at > start {
            broken = true;
            while matches!(self.byte(), b' ' | b'\t') {
                self.at += 1;
            }
            while !self.at_end() && !ends_here(self) {
                self.at += 1;
            }
        }
        let span = self.since(start);
        let text = &self.text[span.range()];
        let is_schema = !broken && text.contains(['|', '?']);
        // A quote that nothing closes here may find its end in what is written behind it.
        let has_signs = text.contains(['"', '{', '[']) || text.starts_with(WRONG_QUOTES);
        let mut found = if is_schema {
            let sign = if text.contains('|') { "`|`" } else { "`?`" };
            let message =
                format!("{sign} belongs to descriptions of the notation, not to messages");
            Diagnostic::error(codes::SCHEMA_NOTATION, span, message)
                .help("write one of the values, or put the text into quotes")
        } else if broken || has_signs {
            Diagnostic::error(codes::UNQUOTED_TEXT, span, "this text needs quotes")
                .help("put it into quotes")
        } else {
            Diagnostic::warning(codes::UNQUOTED_TEXT, span, "this text needs quotes")
                .help("put it into quotes")
        };
        if !is_schema && text.len() <= LONGEST_FIX {
            found = found.fix(Edit::replace(span, strings::quote(text)));
        }
        self.report(found);
        self.leaf(Kind::Run, start, 0)
    }

    /// `'text'` and its typographic kin.
    #[cold]
    fn wrong_quotes(&mut self, close: u8) -> NodeId {
        // A quotation is short; the bound keeps a text of nothing but quotes linear.
        const LONGEST_QUOTATION: usize = 256;
        let start = self.at;
        let mut chars = self.text[start..].char_indices();
        let open = chars.next().map_or('\'', |(_, c)| c);
        let closers: &[char] = match open {
            '\'' => &['\''],
            '‘' | '’' => &['’', '‘'],
            '«' => &['»'],
            _ => &['”', '“', '"'],
        };
        let end = chars
            .take(LONGEST_QUOTATION)
            .take_while(|&(_, c)| c != '\n')
            .find(|(_, c)| closers.contains(c));
        let Some((length, closer)) = end else { return self.run(start, close) };
        self.at = start + length + closer.len_utf8();
        let span = self.since(start);
        let inner = &self.text[start + open.len_utf8()..start + length];
        self.report(
            Diagnostic::error(codes::WRONG_QUOTES, span, "strings are written in double quotes")
                .help("write \"...\"")
                .fix(Edit::replace(span, strings::quote(inner))),
        );
        self.leaf(Kind::Error, start, 0)
    }
}

/// What people and programs write instead of `"`.
const WRONG_QUOTES: [char; 7] = ['\'', '“', '”', '‘', '’', '«', '„'];
