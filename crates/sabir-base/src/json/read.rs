//! From a text to the flat list of its values.
//!
//! `serde_json` checks the syntax, without recursion, and this reader walks the text that it found
//! valid.

use std::borrow::Cow;

use super::scan::plain_string;
use super::value::span_of;
use super::{JsonError, JsonFault, JsonKind, JsonValue};
use crate::Span;

/// The longest text that is read, in bytes: an eighth of what offsets reach, because escapes may grow
/// on the way to a notation.
pub const MAX_BYTES: usize = u32::MAX as usize / 8;

/// What a value takes in a text with its key, mostly.
const TYPICAL_BYTES: usize = 24;

/// Values that there is room for from the start: those of a message.
const MOST_LIKELY: usize = 64;

/// Arrays and objects within each other that there is room for from the start.
const LIKELY_DEPTH: usize = 8;

/// Keys of an object that are few enough to compare each with each.
const FEW_KEYS: usize = 16;

/// A JSON text whose values can be looked at.
#[derive(Debug)]
pub struct Json<'t> {
    pub(super) text: &'t str,
    /// Each before what it holds, the top first. A text that was read has at least one.
    pub(super) items: Vec<Item<'t>>,
}

#[derive(Debug)]
pub(super) struct Item<'t> {
    pub(super) kind: JsonKind,
    /// Whether it is written without a backslash; of arrays and objects it says nothing.
    pub(super) is_plain: bool,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) parent: Option<usize>,
    /// The first of its children.
    pub(super) first: Option<usize>,
    /// The next child of its parent.
    pub(super) next: Option<usize>,
    pub(super) place: Place<'t>,
}

/// Where a value stands in what holds it.
#[derive(Debug)]
pub(super) enum Place<'t> {
    Top,
    Index(usize),
    Key(Cow<'t, str>),
}

impl<'t> Json<'t> {
    /// Reads a text in which arrays and objects nest at most `max_depth` deep. Memory grows
    /// with the length of the text, the stack with nothing that it says.
    pub fn read(text: &'t str, max_depth: usize) -> Result<Self, JsonError> {
        if text.len() > MAX_BYTES {
            return Err(JsonError::new("the text is too large").fault(JsonFault::TooLarge));
        }
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
            let place = place_of(&error, text);
            let message = format!("not JSON: {error}");
            JsonError::at(String::new(), place, message).fault(JsonFault::Syntax)
        })?;
        let likely = (text.len() / TYPICAL_BYTES).min(MOST_LIKELY);
        let mut json = Self { text, items: Vec::with_capacity(likely) };
        json.walk(max_depth)?;
        Ok(json)
    }

    /// The value that is the whole text.
    pub fn top(&self) -> JsonValue<'_> {
        JsonValue { json: self, id: 0 }
    }

    /// Walks valid JSON: what is not checked here was checked before.
    fn walk(&mut self, max_depth: usize) -> Result<(), JsonError> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<Open> = Vec::with_capacity(LIKELY_DEPTH.min(max_depth));
        let mut key: Option<Cow<'t, str>> = None;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            let kind = match byte {
                b'{' => JsonKind::Object,
                b'[' => JsonKind::Array,
                b'"' => JsonKind::String,
                b't' => JsonKind::True,
                b'f' => JsonKind::False,
                b'n' => JsonKind::Null,
                b'-' | b'0'..=b'9' => JsonKind::Number,
                b'}' | b']' => {
                    at += 1;
                    if let Some(Open { id, count, is_object, .. }) = open.pop() {
                        self.items[id].end = at;
                        if is_object {
                            self.refuse_duplicate_keys(id, count)?;
                        }
                    }
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            let is_plain;
            (at, is_plain) = match kind {
                JsonKind::Object | JsonKind::Array => (start + 1, true),
                JsonKind::String => plain_string(bytes, start),
                _ => (scalar_end(bytes, start), true),
            };
            let id = self.items.len();
            let (parent, place) = match open.last_mut() {
                None => (None, Place::Top),
                Some(holder) => {
                    let place = match key.take() {
                        Some(key) => Place::Key(key),
                        None if holder.is_object => {
                            key = Some(self.unescape(start, at, is_plain, Some(holder.id))?);
                            continue;
                        }
                        None => Place::Index(holder.count),
                    };
                    match holder.last.replace(id) {
                        Some(last) => self.items[last].next = Some(id),
                        None => self.items[holder.id].first = Some(id),
                    }
                    holder.count += 1;
                    (Some(holder.id), place)
                }
            };
            let (first, next) = (None, None);
            self.items.push(Item { kind, is_plain, start, end: at, parent, first, next, place });
            if matches!(kind, JsonKind::Object | JsonKind::Array) {
                if open.len() == max_depth {
                    let message = format!("deeper than {max_depth} levels of JSON");
                    return Err(self.value(id).error(message).fault(JsonFault::TooDeep));
                }
                let is_object = kind == JsonKind::Object;
                open.push(Open { id, is_object, last: None, count: 0 });
            }
        }
        Ok(())
    }

    fn value(&self, id: usize) -> JsonValue<'_> {
        JsonValue { json: self, id }
    }

    /// The string literal at `start..end`, which stands in or under `holder`. It is plain if it has no
    /// backslash.
    pub(super) fn unescape(
        &self,
        start: usize,
        end: usize,
        is_plain: bool,
        holder: Option<usize>,
    ) -> Result<Cow<'t, str>, JsonError> {
        let literal = &self.text[start..end];
        if is_plain {
            return Ok(Cow::Borrowed(&literal[1..literal.len() - 1]));
        }
        serde_json::from_str::<String>(literal).map(Cow::Owned).map_err(|_| {
            let pointer = holder.map_or_else(String::new, |id| self.value(id).pointer());
            let message = format!("{literal} holds an escape that names no character");
            JsonError::at(pointer, span_of(start, end), message).fault(JsonFault::Escape)
        })
    }

    fn refuse_duplicate_keys(&self, id: usize, count: usize) -> Result<(), JsonError> {
        if count <= FEW_KEYS && !self.has_duplicate_of_few(id, count) {
            return Ok(());
        }
        let mut keys: Vec<(&str, usize)> =
            self.value(id).fields().map(|(key, value)| (key, value.id)).collect();
        // Ids tell the first from the second, and sorting keeps an object of many keys quick.
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(&[_, (key, again)]) => Err(self
                .value(again)
                .error(format!("the key {key:?} stands twice"))
                .fault(JsonFault::DuplicateKey)
                .help("give every key once")),
            _ => Ok(()),
        }
    }

    /// Whether two of so many keys, which are few, are the same.
    fn has_duplicate_of_few(&self, id: usize, count: usize) -> bool {
        let mut keys = [""; FEW_KEYS];
        for (slot, (key, _)) in keys.iter_mut().zip(self.value(id).fields()) {
            *slot = key;
        }
        let keys = &keys[..count];
        keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key))
    }
}

/// An array or object whose end has not come.
struct Open {
    id: usize,
    is_object: bool,
    /// The last of its children.
    last: Option<usize>,
    /// How many it has.
    count: usize,
}

/// The character before which `serde_json` gave up. It counts lines from one, and columns in bytes,
/// the one at fault included.
fn place_of(error: &serde_json::Error, text: &str) -> Span {
    let lines_before = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let line_start: usize = lines_before.map(str::len).sum();
    let at = (line_start + error.column().saturating_sub(1)).min(text.len());
    let start = text.floor_char_boundary(at);
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    span_of(start, start + length)
}

fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let is_end = |&byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
    bytes[start..].iter().position(is_end).map_or(bytes.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(text: &str, expected: &str) {
        assert_eq!(Json::read(text, 3).unwrap_err().to_string(), expected, "{text}");
    }

    #[test]
    fn what_is_not_json_is_refused() {
        check_error("", "not JSON: EOF while parsing a value at line 1 column 0");
        check_error("[1,]", "not JSON: expected value at line 1 column 4");
        check_error("1 2", "not JSON: trailing characters at line 1 column 3");
        check_error("'a'", "not JSON: expected value at line 1 column 1");
    }

    #[test]
    fn errors_know_their_place_and_kind() {
        let place = |text: &str| {
            let error = Json::read(text, 2).unwrap_err();
            (text[error.span.range()].to_owned(), error.fault)
        };
        assert_eq!(place("[1,\n é]"), ("é".to_owned(), JsonFault::Syntax));
        assert_eq!(place("[1"), ("1".to_owned(), JsonFault::Syntax));
        assert_eq!(place("[[{}]]"), ("{".to_owned(), JsonFault::TooDeep));
        assert_eq!(place(r#"{"a":1,"a":23}"#), ("23".to_owned(), JsonFault::DuplicateKey));
        assert_eq!(place(r#"{"\ud800":1}"#), (r#""\ud800""#.to_owned(), JsonFault::Escape));
    }

    #[test]
    fn depth_is_bounded() {
        assert!(Json::read("[[[1]],{}]", 3).is_ok());
        assert!(Json::read("1", 0).is_ok());
        check_error(r#"[0,{"a":[{}]}]"#, "at /1/a/0: deeper than 3 levels of JSON");
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        check_error(&deep, "at /0/0/0: deeper than 3 levels of JSON");
        assert!(Json::read(&deep, 100_000).is_ok());
    }

    #[test]
    fn a_key_stands_once() {
        check_error(r#"[{"a":1,"b":2,"a":3}]"#, r#"at /0/a: the key "a" stands twice"#);
        check_error(r#"{"a":1,"\u0061":3}"#, r#"at /a: the key "a" stands twice"#);
        assert!(Json::read(r#"{"a":{"a":1},"A":2}"#, 3).is_ok());
        // Of several the first in the order of keys is named, however many there are.
        for count in [4, FEW_KEYS - 2, FEW_KEYS - 1, FEW_KEYS, FEW_KEYS + 1, 100] {
            let keys: Vec<String> = (0..count).map(|it| format!("\"k{it:03}\":0")).collect();
            let text = format!("{{{}}}", keys.join(","));
            assert!(Json::read(&text, 1).is_ok(), "{text}");
            let again = format!("{{{},\"k003\":1,\"k002\":2}}", keys.join(","));
            check_error(&again, r#"at /k002: the key "k002" stands twice"#);
            assert_eq!(&again[Json::read(&again, 1).unwrap_err().span.range()], "2");
        }
    }

    #[test]
    fn escapes_name_characters() {
        let message = r#"at /0: "\ud800" holds an escape that names no character"#;
        check_error(r#"[{"\ud800":1}]"#, message);
        // Strings are unescaped when somebody asks for them.
        let json = Json::read(r#"["\ud800"]"#, 3).unwrap();
        let value = json.top().children().next().unwrap();
        assert_eq!(value.string().unwrap_err().to_string(), message);
    }
}
