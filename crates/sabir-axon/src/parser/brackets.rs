//! Lists, records, arguments and parentheses.

use std::borrow::Cow;

use sabir_base::{Diagnostic, Edit, Span};

use super::{Parser, Siblings};
use crate::codes;
use crate::lexer::is_identifier;
use crate::strings::{quote, unescape, unquote};
use crate::token::{Token, TokenKind};
use crate::tree::{Kind, NodeId};
use crate::view::{Comparison, is_bare_key};

/// What a bracket holds; it decides what `key:` means and which brackets close it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    List,
    Record,
    Arguments,
    Paren,
    Meta,
}

impl Bracket {
    fn open(self) -> u8 {
        match self {
            Bracket::List | Bracket::Meta => b'[',
            Bracket::Record => b'{',
            Bracket::Arguments | Bracket::Paren => b'(',
        }
    }

    pub(super) fn closer(self) -> TokenKind {
        match self {
            Bracket::List | Bracket::Meta => TokenKind::RBracket,
            Bracket::Record => TokenKind::RBrace,
            Bracket::Arguments | Bracket::Paren => TokenKind::RParen,
        }
    }

    pub(super) fn closing_text(self) -> &'static str {
        match self {
            Bracket::List | Bracket::Meta => "]",
            Bracket::Record => "}",
            Bracket::Arguments | Bracket::Paren => ")",
        }
    }
}

impl Parser<'_> {
    #[inline(always)]
    pub(super) fn list(&mut self) -> NodeId {
        let start = self.cur.start;
        let children = self.elements(Bracket::List);
        self.branch(Kind::List, start, 0, children)
    }

    #[inline(always)]
    pub(super) fn record(&mut self) -> NodeId {
        let start = self.cur.start;
        let fields = self.elements(Bracket::Record);
        let record = self.branch(Kind::Record, start, 0, fields);
        self.check_duplicate_keys(fields);
        record
    }

    /// The arguments under the cursor, for the name before it.
    #[inline(always)]
    pub(super) fn call(&mut self, name: Token) -> NodeId {
        let args = self.elements(Bracket::Arguments);
        let call = self.branch(Kind::Call, name.start, name.end, args);
        self.check_duplicate_keys(args);
        call
    }

    pub(super) fn paren(&mut self) -> NodeId {
        let start = self.cur.start;
        let open = self.cur;
        let inner = self.elements(Bracket::Paren);
        let node = self.branch(Kind::Paren, start, 0, inner);
        if !inner.is_some() {
            self.report(
                Diagnostic::error(
                    codes::EXPECTED_EXPRESSION,
                    Span::new(start, self.prev_end),
                    "empty parentheses",
                )
                .help("write `_` for \"nothing\"")
                .fix(Edit::insert(open.end, "_")),
            );
        } else if self.nodes[inner.0 as usize].next.is_some() {
            self.tuple(open);
        }
        node
    }

    /// `(a, b)` is a list in AXON.
    #[cold]
    fn tuple(&mut self, open: Token) {
        let span = Span::new(open.start, self.prev_end);
        if !self.slice(span).ends_with(')') {
            return;
        }
        let close = Span::new(self.prev_end - 1, self.prev_end);
        self.report(
            Diagnostic::error(codes::TUPLE, span, "parentheses hold one expression")
                .help("several values are a list: `[a,b]`")
                .fix(Edit::replace(open.span(), "["))
                .fix(Edit::replace(close, "]")),
        );
    }

    /// The elements of the bracket under the cursor, and both its ends.
    #[inline(always)]
    pub(super) fn elements(&mut self, bracket: Bracket) -> NodeId {
        let open = self.cur;
        if !self.enter(bracket.open()) {
            return NodeId::NONE;
        }
        self.bump();
        let closer = bracket.closer();
        let mut elements = Siblings::NONE;
        if self.cur.kind != closer {
            loop {
                let start = self.cur.start;
                let element = match bracket {
                    Bracket::Record => self.field(),
                    Bracket::Arguments => self.argument(),
                    Bracket::List | Bracket::Paren => self.plain_element(bracket),
                    Bracket::Meta => self.meta_field(),
                };
                elements.add(self, element);
                if self.cur.kind == TokenKind::Comma {
                    let comma = self.bump();
                    if self.cur.kind == closer {
                        self.trailing_comma(comma);
                        break;
                    }
                } else if self.cur.kind == closer || !self.recover_element(bracket, start) {
                    break;
                }
            }
        }
        if self.cur.kind == closer {
            self.bump();
        } else {
            self.unclosed(open, bracket);
        }
        self.leave();
        elements.first
    }

    #[cold]
    fn trailing_comma(&mut self, comma: Token) {
        self.report(
            Diagnostic::error(codes::EXTRA_COMMA, comma.span(), "a comma with nothing behind it")
                .fix(Edit::delete(comma.span())),
        );
    }

    /// `key:value`, where `key` ends at `mid` and the cursor is on the colon.
    #[inline(always)]
    fn keyed(&mut self, start: u32, mid: u32) -> NodeId {
        self.bump();
        let value = self.expr();
        self.branch(Kind::Field, start, mid, value)
    }

    /// A field of a record.
    #[inline(always)]
    fn field(&mut self) -> NodeId {
        let token = self.cur;
        let value = match token.kind {
            TokenKind::Name => {
                self.bump();
                if self.cur.kind == TokenKind::Colon {
                    if token.aux != 0 {
                        self.bad_record_key(token.span());
                    }
                    return self.keyed(token.start, token.end);
                }
                self.expr_from_name(token)
            }
            TokenKind::String => {
                self.bump();
                let string = self.string(token);
                if self.cur.kind == TokenKind::Colon {
                    return self.keyed(token.start, token.end);
                }
                self.expr_from(string)
            }
            TokenKind::Underscore => {
                self.bump();
                if self.cur.kind == TokenKind::Colon {
                    return self.keyed(token.start, token.end);
                }
                let null = self.leaf(Kind::Null, token);
                self.expr_from(null)
            }
            TokenKind::BadNumber if self.number_key(token) => {
                return self.keyed(token.start, self.prev_end);
            }
            _ => self.expr(),
        };
        self.keyless_field(value)
    }

    #[cold]
    fn keyless_field(&mut self, value: NodeId) -> NodeId {
        let span = self.span_of(value);
        if self.cur.kind == TokenKind::Colon && !span.is_empty() {
            self.bad_record_key(span);
            return self.keyed(span.start, span.end);
        }
        if let Some(field) = self.assigned_field(value) {
            return field;
        }
        if self.kind_of(value) != Kind::Error {
            // The key is chosen when the whole record is known.
            return self.branch(Kind::Field, span.start, span.start, value);
        }
        value
    }

    /// `key=value` in a record.
    fn assigned_field(&mut self, value: NodeId) -> Option<NodeId> {
        let compare = &self.nodes[value.0 as usize];
        let key = &self.nodes[compare.first.0 as usize];
        let named =
            key.kind == Kind::Name && is_identifier(self.slice(Span::new(key.start, key.end)));
        if compare.kind != Kind::Compare || compare.extra != Comparison::Eq as u8 || !named {
            return None;
        }
        let (start, mid, right) = (key.start, key.end, key.next);
        let mut ahead = self.lexer;
        ahead.jump(mid);
        let equals = ahead.next();
        self.report(
            Diagnostic::error(codes::BAD_KEY, equals.span(), "a key is followed by `:`")
                .help("write `key:value`")
                .fix(Edit::replace(equals.span(), ":")),
        );
        Some(self.branch(Kind::Field, start, mid, right))
    }

    /// `key:value` pairs behind an expression: a record that lacks its braces and its operator.
    #[cold]
    pub(super) fn trailing_fields(&mut self) -> NodeId {
        let start = self.cur.start;
        let mut diagnostic = Diagnostic::error(
            codes::MISSING_OPERATOR,
            self.cur.span(),
            "a property stands in a record",
        )
        .help("write `& {key:value}`")
        .fix(Edit::insert(start, "{"));
        if !self.enter(b'{') {
            return self.error_node(Span::at(start));
        }
        let mut fields = Siblings::NONE;
        while self.at_key() && !self.at_hard_boundary() {
            let key = self.bump();
            let field = self.keyed(key.start, key.end);
            fields.add(self, field);
            if self.cur.kind == TokenKind::Comma && self.peek().kind == TokenKind::Name {
                self.bump();
            } else if self.at_key() && !self.at_hard_boundary() {
                diagnostic = diagnostic.fix(Edit::insert(self.prev_end, ","));
            }
        }
        self.leave();
        self.report(diagnostic.fix(Edit::insert(self.prev_end, "}")));
        self.check_duplicate_keys(fields.first);
        self.branch(Kind::Record, start, 0, fields.first)
    }

    /// `{1:2}`: the lexer took the key for the front of a time. A time has two digits in each part.
    #[cold]
    fn number_key(&mut self, token: Token) -> bool {
        let written = self.slice(token.span());
        let Some((digits, rest)) = written.split_once(':') else { return false };
        let clock =
            digits.len() <= 2 && rest.bytes().take(2).filter(u8::is_ascii_digit).count() == 2;
        if clock || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        let key = Span::new(token.start, token.start + digits.len() as u32);
        self.bad_record_key(key);
        self.lexer.jump(key.end);
        self.prev_end = key.end;
        self.cur = self.lexer.next();
        true
    }

    #[cold]
    fn bad_record_key(&mut self, span: Span) {
        let written = self.slice(span);
        self.report(
            Diagnostic::error(codes::BAD_KEY, span, format!("`{written}` is not a key"))
                .help("a key is one identifier or a string")
                .fix(Edit::replace(span, quote(written))),
        );
    }

    /// An argument: positional, or `name:value`.
    #[inline(always)]
    fn argument(&mut self) -> NodeId {
        let token = self.cur;
        let value = match token.kind {
            TokenKind::Name => {
                self.bump();
                if self.cur.kind == TokenKind::Colon && token.aux == 0 {
                    return self.keyed(token.start, token.end);
                }
                self.expr_from_name(token)
            }
            TokenKind::Underscore => {
                self.bump();
                if self.cur.kind == TokenKind::Colon {
                    return self.keyed(token.start, token.end);
                }
                let null = self.leaf(Kind::Null, token);
                self.expr_from(null)
            }
            _ => self.expr(),
        };
        if self.cur.kind == TokenKind::Colon { self.bad_argument_key(value) } else { value }
    }

    /// `f($x: y)`, `f("x": y)`, `(x: y)`: a key that no argument can have.
    #[cold]
    fn bad_argument_key(&mut self, key: NodeId) -> NodeId {
        let span = self.span_of(key);
        if span.is_empty() {
            return key;
        }
        let colon = self.cur;
        let field = self.keyed(span.start, span.end);
        let written = self.slice(span);
        let bare = unquote(written);
        let diagnostic =
            Diagnostic::error(codes::BAD_KEY, span, format!("`{written}` cannot name an argument"));
        if written.starts_with('"')
            && is_identifier(bare)
            && self.depth > 0
            && self.open[self.depth - 1] == b'('
        {
            self.report(
                diagnostic.help("write the name without quotes").fix(Edit::replace(span, bare)),
            );
        } else {
            let value = self.nodes[field.0 as usize].first;
            let compound = matches!(
                self.kind_of(value),
                Kind::Compare | Kind::Any | Kind::All | Kind::Then | Kind::Cause | Kind::Message
            );
            let (open, close) = if compound { ("=(", ")") } else { ("=", "") };
            let mut diagnostic = diagnostic
                .help("write `=` to say what something is")
                .fix(Edit::replace(colon.span(), open));
            if compound {
                diagnostic = diagnostic.fix(Edit::insert(self.prev_end, close));
            }
            self.report(diagnostic);
        }
        field
    }

    /// An element of a list, or what is in parentheses.
    #[inline(always)]
    fn plain_element(&mut self, bracket: Bracket) -> NodeId {
        let value = self.expr();
        if self.cur.kind == TokenKind::Colon { self.keyed_element(value, bracket) } else { value }
    }

    #[cold]
    fn keyed_element(&mut self, key: NodeId, bracket: Bracket) -> NodeId {
        if bracket == Bracket::Paren {
            return self.bad_argument_key(key);
        }
        let span = self.span_of(key);
        if span.is_empty() {
            return key;
        }
        let field = self.keyed(span.start, span.end);
        self.report(
            Diagnostic::error(codes::BAD_KEY, span, "the elements of a list have no keys")
                .help("write a record in the list: `[{key:value}]`")
                .fix(Edit::insert(span.start, "{"))
                .fix(Edit::insert(self.prev_end, "}")),
        );
        field
    }

    /// A field of the metadata block.
    fn meta_field(&mut self) -> NodeId {
        let token = self.cur;
        match token.kind {
            TokenKind::Name | TokenKind::Caret | TokenKind::Version | TokenKind::Underscore => {
                self.bump();
                if token.kind == TokenKind::Name && token.aux != 0 {
                    self.error(
                        codes::BAD_KEY,
                        token.span(),
                        format!("`{}` is not a key", self.slice(token.span())),
                    );
                }
            }
            TokenKind::String => {
                self.bump();
                let bare = unquote(self.slice(token.span()));
                let mut diagnostic = Diagnostic::error(
                    codes::BAD_KEY,
                    token.span(),
                    "keys of metadata are not quoted",
                );
                if is_bare_key(bare) || bare == "^" || bare == "%%" {
                    diagnostic = diagnostic.fix(Edit::replace(token.span(), bare));
                }
                self.report(diagnostic);
            }
            _ => {
                let found = self.describe(token);
                self.error(codes::BAD_KEY, token.span(), format!("expected a key, found {found}"));
                return self.error_node(Span::at(self.prev_end));
            }
        }
        if self.cur.kind == TokenKind::Colon {
            return self.keyed(token.start, token.end);
        }
        let found = self.describe(self.cur);
        if self.cur.kind == TokenKind::Eq {
            self.report(
                Diagnostic::error(
                    codes::MISSING_COLON,
                    self.cur.span(),
                    "a key is followed by `:`",
                )
                .fix(Edit::replace(self.cur.span(), ":")),
            );
            return self.keyed(token.start, token.end);
        }
        self.report(
            Diagnostic::error(
                codes::MISSING_COLON,
                self.cur.span(),
                format!("expected `:` after the key, found {found}"),
            )
            .fix(Edit::insert(token.end, ":")),
        );
        if self.starts_operand() {
            let value = self.expr();
            return self.branch(Kind::Field, token.start, token.end, value);
        }
        self.leaf(Kind::Error, token)
    }

    /// Reports keys that stand twice, and gives keyless values a key.
    #[inline(always)]
    pub(super) fn check_duplicate_keys(&mut self, first: NodeId) {
        // Most records are small: comparing neighbours' lengths and bytes beats a table.
        let mut count = 0usize;
        let mut keyless = false;
        let mut id = first;
        while id.is_some() {
            let node = &self.nodes[id.0 as usize];
            let fresh = node.kind == Kind::Field;
            keyless |= fresh && node.mid == node.start;
            count += usize::from(fresh);
            id = node.next;
        }
        if count < 2 && !keyless {
            return;
        }
        if count <= 8 && !keyless && !self.may_repeat_key(first) {
            return;
        }
        self.check_keys_slowly(first);
    }

    /// Whether two keys start with the same byte and have the same length, or any is quoted.
    #[inline]
    fn may_repeat_key(&self, first: NodeId) -> bool {
        let bytes = self.text().as_bytes();
        let mut seen = [0u16; 8];
        let mut count = 0;
        let mut id = first;
        while id.is_some() {
            let node = &self.nodes[id.0 as usize];
            id = node.next;
            if node.kind != Kind::Field {
                continue;
            }
            let lead = bytes[node.start as usize];
            if lead == b'"' {
                return true;
            }
            let mark = u16::from(lead) << 8 | (node.mid - node.start).min(255) as u16;
            if seen[..count].contains(&mark) {
                return true;
            }
            seen[count] = mark;
            count += 1;
        }
        false
    }

    #[cold]
    fn check_keys_slowly(&mut self, first: NodeId) {
        let text = self.text();
        let mut keyed: Vec<(Cow<'_, str>, Span)> = Vec::new();
        let mut keyless: Vec<(usize, NodeId)> = Vec::new();
        let mut id = first;
        let mut position = 0usize;
        while id.is_some() {
            let node = &self.nodes[id.0 as usize];
            position += 1;
            if node.kind == Kind::Field && node.mid == node.start {
                keyless.push((position, node.first));
            } else if node.kind == Kind::Field {
                let span = Span::new(node.start, node.mid);
                let raw = &text[span.range()];
                let quoted = raw.starts_with('"');
                let key = if quoted { unescape(unquote(raw)) } else { Cow::Borrowed(raw) };
                keyed.push((key, span));
            }
            id = node.next;
        }
        keyed.sort();
        let mut duplicates: Vec<(Span, Span)> = keyed
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| (pair[0].1, pair[1].1))
            .collect();
        duplicates.sort_by_key(|&(_, second)| second);
        let mut taken: Vec<String> = keyed.into_iter().map(|(key, _)| key.into_owned()).collect();
        taken.sort_unstable();
        for (number, (before, again)) in duplicates.into_iter().enumerate() {
            let written = self.slice(again);
            let mut diagnostic = Diagnostic::error(
                codes::DUPLICATE_KEY,
                again,
                format!("the key `{written}` stands twice"),
            )
            .label(before, "first here")
            .help("give every key once");
            let quoted = written.strip_suffix('"');
            if quoted.is_some() || is_bare_key(written) && written != "_" {
                // Numbered on through the record, so that three of a kind differ as well.
                let (stem, end) = quoted.map_or((written, ""), |stem| (stem, "\""));
                let mut renamed = format!("{stem}-{}{end}", number + 2);
                while taken.binary_search_by(|known| known.as_str().cmp(unquote(&renamed))).is_ok()
                {
                    renamed.insert(stem.len(), '-');
                }
                diagnostic = diagnostic.fix(Edit::replace(again, renamed));
            }
            self.report(diagnostic);
        }
        let mut given: Vec<String> = Vec::new();
        for (position, value) in keyless {
            let key = self.key_for(value, position, &taken, &given);
            let span = self.span_of(value);
            self.report(
                Diagnostic::error(codes::KEYLESS_FIELD, span, "a value in a record needs a key")
                    .help("write `key:value`; the key `_` says that there is none")
                    .fix(Edit::insert(span.start, format!("{key}:"))),
            );
            given.push(key);
        }
    }

    /// Keys for the arguments of a call that have none, as if it were a record.
    #[cold]
    pub(super) fn keys_for_arguments(&self, call: NodeId) -> Vec<Edit> {
        let mut taken: Vec<String> = Vec::new();
        let mut keyless: Vec<(usize, NodeId)> = Vec::new();
        let mut id = self.nodes[call.0 as usize].first;
        let mut position = 0usize;
        while id.is_some() {
            let node = &self.nodes[id.0 as usize];
            position += 1;
            if node.kind == Kind::Field {
                taken
                    .push(unquote(&self.text()[node.start as usize..node.mid as usize]).to_owned());
            } else {
                keyless.push((position, id));
            }
            id = node.next;
        }
        taken.sort_unstable();
        let mut given: Vec<String> = Vec::new();
        let mut edits = Vec::new();
        for (position, value) in keyless {
            let key = self.key_for(value, position, &taken, &given);
            edits.push(Edit::insert(self.span_of(value).start, format!("{key}:")));
            given.push(key);
        }
        edits
    }

    /// A key that adds nothing: the value's own tag, `_`, or its position.
    fn key_for(
        &self,
        value: NodeId,
        position: usize,
        taken: &[String],
        given: &[String],
    ) -> String {
        let free = |key: &str| {
            taken.binary_search_by(|known| known.as_str().cmp(key)).is_err()
                && (given.len() > 64 || !given.iter().any(|known| known == key))
        };
        let node = &self.nodes[value.0 as usize];
        if node.kind == Kind::Tag {
            let name = &self.text()[node.start as usize + 1..node.mid as usize];
            if is_identifier(name) && given.len() <= 64 && free(name) {
                return name.to_owned();
            }
        }
        if given.is_empty() && free("_") {
            return "_".to_owned();
        }
        // Positions differ from each other; a key that already is that number gets primes.
        let mut key = position.to_string();
        while !free(&key) {
            key.push('\'');
        }
        quote(&key)
    }
}
