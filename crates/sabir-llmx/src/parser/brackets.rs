//! What stands in brackets: objects, tuples and arrays.

use sabir_base::{Diagnostic, Edit, Span};

use super::{KEY, LOWER_KEY, MAX_DEPTH, Parser, RUN_STOP, Siblings, is};
use crate::codes;
use crate::tree::{Kind, NodeId};

/// What a container finds where an item or its end should be.
enum Next {
    Item,
    Closed,
    /// The text or the enclosing bracket ends, or the next block starts: reported.
    Ended,
}

impl Parser<'_> {
    /// An object or a tuple; the cursor is at its opening bracket.
    pub(super) fn object(&mut self, close: u8, kind: Kind) -> NodeId {
        let start = self.at;
        if !self.enter(close) {
            return self.too_deep(start);
        }
        let id = self.push(kind, start, start, 0);
        self.at += 1;
        let mut fields = Siblings::NONE;
        let mut count = 0usize;
        while let Next::Item = self.next_item(start, close, count > 0) {
            let field = self.field(close);
            fields.add(self, field);
            count += 1;
        }
        self.depth -= 1;
        self.close(id, fields.first);
        if count > 1 {
            self.refuse_duplicates(fields.first, count);
        }
        id
    }

    /// The cursor is at the opening bracket. In a PLAN the items are steps.
    pub(super) fn array(&mut self, steps: bool) -> NodeId {
        let start = self.at;
        if !self.enter(b']') {
            return self.too_deep(start);
        }
        let id = self.push(Kind::Array, start, start, 0);
        self.at += 1;
        let mut items = Siblings::NONE;
        while let Next::Item = self.next_item(start, b']', items.first.is_some()) {
            let item = if steps && self.byte() == b'(' {
                self.object(b')', Kind::Tuple)
            } else {
                self.value(b']')
            };
            items.add(self, item);
        }
        self.depth -= 1;
        self.close(id, items.first);
        id
    }

    #[inline(always)]
    fn enter(&mut self, close: u8) -> bool {
        let fits = self.depth < MAX_DEPTH as usize;
        if fits {
            self.awaited[self.depth] = close;
            self.depth += 1;
        }
        fits
    }

    #[cold]
    fn too_deep(&mut self, start: usize) -> NodeId {
        let message = format!("brackets go deeper than {MAX_DEPTH} levels");
        self.error(codes::TOO_DEEP, self.here(), message);
        self.skip_brackets();
        self.leaf(Kind::Error, start, 0)
    }

    /// Goes to the next item or past the closing bracket. `open` is where the bracket was opened.
    #[inline(always)]
    fn next_item(&mut self, open: usize, close: u8, after_item: bool) -> Next {
        let crossed = self.skip_space() || self.at == self.ended_at;
        let byte = self.byte();
        if byte == close {
            self.at += 1;
            return Next::Closed;
        }
        if after_item && byte == b',' {
            self.at += 1;
            let crossed = self.skip_space();
            let byte = self.byte();
            if !matches!(byte, b',' | b'}' | b']' | b')' | 0) && !crossed {
                return Next::Item;
            }
            return self.odd_item(open, close, crossed, true);
        }
        if !after_item && !matches!(byte, b',' | b'}' | b']' | b')' | 0) && !crossed {
            return Next::Item;
        }
        self.odd_item(open, close, crossed, !after_item)
    }

    /// Everything but the plain case. `fresh`: an item may start here, because the bracket has just
    /// been opened or a comma stands before.
    fn odd_item(&mut self, open: usize, close: u8, crossed: bool, mut fresh: bool) -> Next {
        let mut crossed = crossed;
        let mut reported_commas = 0usize;
        loop {
            if self.at_end() || crossed && self.at_sure_head(self.at) {
                self.ended_at = self.at;
                self.unclosed(open, close);
                return Next::Ended;
            }
            match self.byte() {
                byte if byte == close => {
                    if fresh {
                        self.refuse_comma_before(reported_commas);
                    }
                    self.at += 1;
                    return Next::Closed;
                }
                b'}' | b']' | b')' => {
                    if self.awaited[..self.depth - 1].contains(&self.byte()) {
                        self.unclosed(open, close);
                        return Next::Ended;
                    }
                    let span = self.here();
                    self.report(
                        Diagnostic::error(
                            codes::UNMATCHED_BRACKET,
                            span,
                            format!("this closes nothing; `{}` is awaited", close as char),
                        )
                        .label(Span::new(open as u32, open as u32 + 1), "opened here")
                        .fix(Edit::delete(span)),
                    );
                    self.at += 1;
                }
                b',' => {
                    if fresh {
                        let span = self.here();
                        self.report(
                            Diagnostic::error(codes::EXTRA_COMMA, span, "a comma too many")
                                .help("take it out")
                                .fix(Edit::delete(span)),
                        );
                        reported_commas += 1;
                    }
                    fresh = true;
                    self.at += 1;
                }
                _ if fresh => return Next::Item,
                _ if self.starts_item(close) => {
                    self.missing_comma();
                    return Next::Item;
                }
                _ => self.unexpected(close),
            }
            crossed = self.skip_space();
        }
    }

    /// Reports the last comma before the cursor that has not been reported, if only commas and
    /// white space follow it.
    #[cold]
    fn refuse_comma_before(&mut self, reported: usize) {
        let mut skip = reported;
        let comma =
            self.bytes[..self.at].iter().enumerate().rev().find_map(|(at, &byte)| match byte {
                b',' if skip == 0 => Some(Some(at)),
                b',' => {
                    skip -= 1;
                    None
                }
                _ if byte.is_ascii_whitespace() => None,
                _ => Some(None),
            });
        let Some(Some(at)) = comma else { return };
        let span = Span::new(at as u32, at as u32 + 1);
        self.report(
            Diagnostic::error(codes::EXTRA_COMMA, span, "a comma with nothing after it")
                .help("take it out")
                .fix(Edit::delete(span)),
        );
    }

    /// Where an item is over and no comma follows: whether the next item plainly starts.
    fn starts_item(&self, close: u8) -> bool {
        match close {
            b']' => matches!(self.byte(), b'"' | b'{' | b'[' | b'('),
            _ => self.at_key(),
        }
    }

    /// Whether a key and its colon stand here.
    pub(super) fn at_key(&self) -> bool {
        let mut end = self.at;
        while is(self.byte_at(end), KEY) {
            end += 1;
        }
        end > self.at && self.byte_at(end) == b':'
    }

    #[cold]
    fn missing_comma(&mut self) {
        let before = &self.text[..self.at];
        let at = before.trim_end().len() as u32;
        self.report(
            Diagnostic::error(codes::MISSING_COMMA, self.here(), "a comma is missing before this")
                .help("write `,`")
                .fix(Edit::insert(at, ",")),
        );
    }

    #[cold]
    fn unexpected(&mut self, close: u8) {
        let start = self.at;
        self.skip_to_delimiter(close);
        let span = self.since(start);
        let message = format!("expected `,` or `{}`", close as char);
        self.report(
            Diagnostic::error(codes::UNEXPECTED_TEXT, span, message)
                .help("put text into quotes, and write a quote inside them as \\\""),
        );
    }

    #[cold]
    fn unclosed(&mut self, open: usize, close: u8) {
        let bracket = self.bytes[open] as char;
        let span = Span::new(open as u32, open as u32 + 1);
        let at = self.text[..self.at].trim_end().len() as u32;
        if at as usize == self.broken_string_end {
            // The bracket went into the string with the rest of the line, and that is reported.
            return;
        }
        self.report(
            Diagnostic::error(
                codes::UNCLOSED_BRACKET,
                span,
                format!("this `{bracket}` is never closed"),
            )
            .label(Span::at(at), format!("`{}` is missing here", close as char))
            .help(format!("write `{}`", close as char))
            .fix(Edit::insert(at, (close as char).to_string())),
        );
    }

    /// `key:value`; the cursor is at something that is no comma and no closing bracket.
    #[inline(always)]
    fn field(&mut self, close: u8) -> NodeId {
        let start = self.at;
        if is(self.byte(), LOWER_KEY) && !self.byte().is_ascii_digit() && self.byte() != b'_' {
            self.at += 1;
            self.skip_class(LOWER_KEY);
            if self.byte() == b':' {
                let mid = self.at;
                self.at += 1;
                if matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
                    self.skip_space();
                }
                return self.field_value(start, mid, close);
            }
            self.at = start;
        }
        self.odd_field(close)
    }

    #[inline(always)]
    fn field_value(&mut self, start: usize, mid: usize, close: u8) -> NodeId {
        let id = self.push(Kind::Field, start, mid, 0);
        let outer = self.verbatim;
        let key = start + usize::from(self.bytes[start] == b'"');
        let is_extension =
            matches!(self.byte_at(key), b'x' | b'X') && self.byte_at(key + 1) == b'_';
        self.verbatim |= is_extension;
        let value = self.value(close);
        self.verbatim = outer;
        self.close(id, value);
        id
    }

    /// A key that is not in the strict form, or none at all.
    fn odd_field(&mut self, close: u8) -> NodeId {
        let start = self.at;
        if self.byte() == b'"' {
            self.string();
            let mid = self.at;
            self.skip_space();
            if self.byte() != b':' {
                return self.keyless(start);
            }
            self.quoted_key(start, mid);
            self.at += 1;
            self.skip_space();
            return self.field_value(start, mid, close);
        }
        if matches!(self.byte(), b'{' | b'[' | b'(') {
            let _ = self.value(close);
            return self.keyless(start);
        }
        while !is(self.byte(), RUN_STOP) && !matches!(self.byte(), b':' | b'?' | 0) {
            if close == b')' && self.byte() == b')' || matches!(self.byte(), b'{' | b'[' | b'(') {
                break;
            }
            self.at += 1;
        }
        let mid = self.at;
        self.skip_space();
        if self.byte() == b'?' {
            self.optional_mark();
        }
        match self.byte() {
            b':' if mid == start => {
                self.at += 1;
                self.skip_space();
                let _ = self.value(close);
                return self.keyless(start);
            }
            b':' => self.at += 1,
            b',' | b'}' | b']' | b')' => return self.keyless(start),
            _ if mid == start => {
                self.skip_to_delimiter(close);
                return self.keyless(start);
            }
            _ if self.at_end() => return self.keyless(start),
            _ => self.missing_colon(mid),
        }
        self.check_key(start, mid);
        self.skip_space();
        self.field_value(start, mid, close)
    }

    /// `b?:` is how a description says that a field is optional.
    #[cold]
    fn optional_mark(&mut self) {
        let span = self.here();
        self.report(
            Diagnostic::error(
                codes::SCHEMA_NOTATION,
                span,
                "`?` marks an optional field in a description; a message does not write it",
            )
            .help("leave out the `?`")
            .fix(Edit::delete(span)),
        );
        self.at += 1;
        self.skip_space();
    }

    #[cold]
    fn missing_colon(&mut self, mid: usize) {
        self.report(
            Diagnostic::error(codes::MISSING_COLON, self.here(), "a `:` is missing before this")
                .help("write the key, `:` and the value")
                .fix(Edit::insert(mid as u32, ":")),
        );
    }

    #[cold]
    fn keyless(&mut self, start: usize) -> NodeId {
        // What was skipped behind it on the way to a colon is white space.
        let end = self.text[start..self.at].trim_end().len() + start;
        let span = Span::new(start as u32, end as u32);
        self.report(
            Diagnostic::error(codes::MISSING_KEY, span, "a value without a key")
                .help("write key:value"),
        );
        let id = self.leaf(Kind::Error, start, 0);
        self.data(id).end = end as u32;
        id
    }

    #[cold]
    fn quoted_key(&mut self, start: usize, mid: usize) {
        let span = Span::new(start as u32, mid as u32);
        let inner = Span::new(start as u32 + 1, (mid as u32 - 1).max(start as u32 + 1));
        let key = &self.text[inner.range()];
        if key.is_empty() || !key.bytes().all(|byte| is(byte, KEY)) {
            return self.bad_key(inner);
        }
        if !self.verbatim {
            self.report(
                Diagnostic::warning(codes::QUOTED_KEY, span, "a key needs no quotes")
                    .help(format!("write {key}"))
                    .fix(Edit::replace(span, key)),
            );
            self.check_key(start + 1, mid - 1);
        }
    }

    #[cold]
    fn check_key(&mut self, start: usize, mid: usize) {
        let span = Span::new(start as u32, mid as u32);
        let key = &self.bytes[start..mid];
        if !key.iter().all(|&byte| is(byte, KEY)) {
            return self.bad_key(span);
        }
        let strict = key[0].is_ascii_lowercase() && key.iter().all(|&byte| is(byte, LOWER_KEY));
        if strict || self.verbatim || key.starts_with(b"x_") {
            return;
        }
        // Of an extension only the prefix is ours.
        let lower = match key.strip_prefix(b"X_") {
            Some(_) => format!("x_{}", &self.text[start + 2..mid]),
            None => self.text[start..mid].to_ascii_lowercase(),
        };
        let same = lower.as_bytes() == key;
        let mut found = Diagnostic::warning(
            codes::KEY_CASE,
            span,
            if same { "a key starts with a letter" } else { "keys are written in lower case" },
        );
        if !same && lower.len() <= super::LONGEST_FIX {
            found = found.help(format!("write {lower}")).fix(Edit::replace(span, lower));
        }
        self.report(found);
    }

    #[cold]
    fn bad_key(&mut self, span: Span) {
        self.report(
            Diagnostic::error(codes::BAD_KEY, span, "a key holds letters, digits and `_` only")
                .help("choose another key"),
        );
    }

    /// Keys count as equal in any case, because they are written in lower case; not so in
    /// extensions.
    fn refuse_duplicates(&mut self, first: NodeId, count: usize) {
        let verbatim = self.verbatim;
        let key = |parser: &Self, id: NodeId| {
            let data = &parser.nodes[id.0 as usize];
            let raw = &parser.bytes[data.start as usize..data.mid as usize];
            raw.strip_prefix(b"\"").and_then(|raw| raw.strip_suffix(b"\"")).unwrap_or(raw)
        };
        // Few keys are compared with each other, many are sorted.
        const FEW: usize = 8;
        if count <= FEW {
            let mut ids = [NodeId::NONE; FEW];
            let mut length = 0;
            let mut next = first;
            while next.is_some() {
                let id = next;
                next = self.nodes[id.0 as usize].next;
                if self.nodes[id.0 as usize].kind != Kind::Field {
                    continue;
                }
                let this = key(self, id);
                let earlier = ids[..length].iter().copied().find(|&other| {
                    let other = key(self, other);
                    other == this || !verbatim && other.eq_ignore_ascii_case(this)
                });
                if let Some(earlier) = earlier {
                    self.duplicate(earlier, id);
                }
                ids[length] = id;
                length += 1;
            }
            return;
        }
        let mut keys: Vec<(Vec<u8>, NodeId)> = Vec::with_capacity(count);
        let mut next = first;
        while next.is_some() {
            if self.nodes[next.0 as usize].kind == Kind::Field {
                let mut bytes = key(self, next).to_vec();
                if !verbatim {
                    bytes.make_ascii_lowercase();
                }
                keys.push((bytes, next));
            }
            next = self.nodes[next.0 as usize].next;
        }
        keys.sort_unstable();
        for pair in keys.windows(2) {
            if pair[0].0 == pair[1].0 {
                self.duplicate(pair[0].1, pair[1].1);
            }
        }
    }

    #[cold]
    fn duplicate(&mut self, earlier: NodeId, id: NodeId) {
        let key_span = |parser: &Self, id: NodeId| {
            let data = &parser.nodes[id.0 as usize];
            Span { start: data.start, end: data.mid }
        };
        let span = key_span(self, id);
        let message = format!("the key `{}` stands twice", &self.text[span.range()]);
        let first = key_span(self, earlier);
        self.report(
            Diagnostic::error(codes::DUPLICATE_KEY, span, message)
                .label(first, "first here")
                .help("keep one of them, or rename one"),
        );
    }
}
