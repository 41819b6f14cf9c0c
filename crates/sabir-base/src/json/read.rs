//! From a text to the flat list of its values.
//!
//! `serde_json` checks the syntax, without recursion, and this reader walks the text that it found
//! valid.

use std::borrow::Cow;

use super::scan::string_end;
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
        // The open arrays and objects, each with its last child and its number of children.
        let mut open: Vec<(usize, Option<usize>, usize)> = Vec::new();
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
                    if let Some((id, ..)) = open.pop() {
                        self.items[id].end = at;
                        self.refuse_duplicate_keys(id)?;
                    }
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            at = match kind {
                JsonKind::Object | JsonKind::Array => start + 1,
                JsonKind::String => string_end(bytes, start),
                _ => scalar_end(bytes, start),
            };
            let (parent, last, count) = match open.last() {
                Some(&(id, last, count)) => (Some(id), last, count),
                None => (None, None, 0),
            };
            let in_object = parent.is_some_and(|id| self.items[id].kind == JsonKind::Object);
            if in_object && key.is_none() {
                key = Some(self.unescape(start, at, parent)?);
                continue;
            }
            let place = match (key.take(), parent) {
                (Some(key), _) => Place::Key(key),
                (None, Some(_)) => Place::Index(count),
                (None, None) => Place::Top,
            };
            let id = self.items.len();
            let (first, next) = (None, None);
            self.items.push(Item { kind, start, end: at, parent, first, next, place });
            match (last, parent) {
                (Some(last), _) => self.items[last].next = Some(id),
                (None, Some(parent)) => self.items[parent].first = Some(id),
                (None, None) => {}
            }
            if let Some((_, last, count)) = open.last_mut() {
                *last = Some(id);
                *count += 1;
            }
            if matches!(kind, JsonKind::Object | JsonKind::Array) {
                if open.len() == max_depth {
                    let message = format!("deeper than {max_depth} levels of JSON");
                    return Err(self.value(id).error(message).fault(JsonFault::TooDeep));
                }
                open.push((id, None, 0));
            }
        }
        Ok(())
    }

    fn value(&self, id: usize) -> JsonValue<'_> {
        JsonValue { json: self, id }
    }

    /// The string literal at `start..end`, which stands in or under `holder`.
    pub(super) fn unescape(
        &self,
        start: usize,
        end: usize,
        holder: Option<usize>,
    ) -> Result<Cow<'t, str>, JsonError> {
        let literal = &self.text[start..end];
        if !literal.contains('\\') {
            return Ok(Cow::Borrowed(&literal[1..literal.len() - 1]));
        }
        serde_json::from_str::<String>(literal).map(Cow::Owned).map_err(|_| {
            let pointer = holder.map_or_else(String::new, |id| self.value(id).pointer());
            let message = format!("{literal} holds an escape that names no character");
            JsonError::at(pointer, span_of(start, end), message).fault(JsonFault::Escape)
        })
    }

    fn refuse_duplicate_keys(&self, id: usize) -> Result<(), JsonError> {
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
