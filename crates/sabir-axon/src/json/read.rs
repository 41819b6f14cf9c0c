//! JSON text as a flat list of values.
//!
//! `serde_json::Value` would lose what the decoder needs: a key that stands twice, the digits of
//! `1.50`, and the place of a value. So `serde_json` checks the syntax, without recursion, and this
//! reader walks the text that it found valid.

use std::borrow::Cow;

use super::DecodeError;

/// A document of AXON's own greatest depth stays below: sixteen levels of JSON for each of its
/// levels (six operators and `approx`, then a call with a named argument), and the document itself.
const MAX_JSON_DEPTH: usize = 16 * 128 + 16;

/// An eighth of what offsets reach, because escapes may grow on the way to AXON.
const MAX_BYTES: usize = u32::MAX as usize / 8;

#[derive(Debug)]
pub(super) struct Json<'t> {
    text: &'t str,
    items: Vec<Item<'t>>,
}

#[derive(Debug)]
struct Item<'t> {
    kind: JsonKind,
    start: usize,
    end: usize,
    parent: Option<usize>,
    first: Option<usize>,
    next: Option<usize>,
    place: Place<'t>,
}

/// Where a value stands in what holds it.
#[derive(Debug)]
enum Place<'t> {
    Top,
    Index(usize),
    Key(Cow<'t, str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonKind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

impl JsonKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            JsonKind::Null => "null",
            JsonKind::True | JsonKind::False => "a boolean",
            JsonKind::Number => "a number",
            JsonKind::String => "a string",
            JsonKind::Array => "an array",
            JsonKind::Object => "an object",
        }
    }
}

impl<'t> Json<'t> {
    pub(super) fn read(text: &'t str) -> Result<Self, DecodeError> {
        if text.len() > MAX_BYTES {
            return Err(DecodeError::new(String::new(), "the text is too large"));
        }
        serde_json::from_str::<serde::de::IgnoredAny>(text)
            .map_err(|error| DecodeError::new(String::new(), format!("not JSON: {error}")))?;
        let mut json = Self { text, items: Vec::new() };
        json.items()?;
        Ok(json)
    }

    pub(super) fn top(&self) -> JsonValue<'_> {
        JsonValue { json: self, id: 0 }
    }

    /// Walks valid JSON: what is not checked here was checked before.
    fn items(&mut self) -> Result<(), DecodeError> {
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
                if open.len() == MAX_JSON_DEPTH {
                    let message = format!("deeper than {MAX_JSON_DEPTH} levels of JSON");
                    return Err(self.value(id).error(message));
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
    fn unescape(
        &self,
        start: usize,
        end: usize,
        holder: Option<usize>,
    ) -> Result<Cow<'t, str>, DecodeError> {
        let literal = &self.text[start..end];
        if !literal.contains('\\') {
            return Ok(Cow::Borrowed(&literal[1..literal.len() - 1]));
        }
        serde_json::from_str::<String>(literal).map(Cow::Owned).map_err(|_| {
            let pointer = holder.map_or_else(String::new, |id| self.value(id).pointer());
            DecodeError::new(pointer, format!("{literal} holds an escape that names no character"))
        })
    }

    fn refuse_duplicate_keys(&self, object: usize) -> Result<(), DecodeError> {
        let mut keys: Vec<(&str, usize)> = Vec::new();
        let mut next = self.items[object].first;
        while let Some(id) = next {
            if let Place::Key(key) = &self.items[id].place {
                keys.push((key, id));
            }
            next = self.items[id].next;
        }
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => {
                let error =
                    self.value(pair[1].1).error(format!("the key {:?} stands twice", pair[1].0));
                Err(error.help("give every key once"))
            }
            None => Ok(()),
        }
    }
}

/// A value, its text and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonValue<'a> {
    json: &'a Json<'a>,
    id: usize,
}

impl<'a> JsonValue<'a> {
    fn item(self) -> &'a Item<'a> {
        &self.json.items[self.id]
    }

    pub(super) fn kind(self) -> JsonKind {
        self.item().kind
    }

    /// The value as written.
    pub(super) fn text(self) -> &'a str {
        &self.json.text[self.item().start..self.item().end]
    }

    pub(super) fn string(self) -> Result<Cow<'a, str>, DecodeError> {
        if self.kind() != JsonKind::String {
            let found = self.kind().name();
            return Err(self.error(format!("expected a string, found {found}")));
        }
        self.json.unescape(self.item().start, self.item().end, Some(self.id))
    }

    /// The elements of an array, or the values of an object.
    pub(super) fn children(self) -> impl Iterator<Item = JsonValue<'a>> {
        let mut next = self.item().first;
        std::iter::from_fn(move || {
            let value = JsonValue { json: self.json, id: next? };
            next = value.item().next;
            Some(value)
        })
    }

    /// The key of a value in an object.
    pub(super) fn key(self) -> &'a str {
        match &self.item().place {
            Place::Key(key) => key,
            Place::Top | Place::Index(_) => "",
        }
    }

    pub(super) fn get(self, key: &str) -> Option<JsonValue<'a>> {
        self.children().find(|value| value.key() == key)
    }

    pub(super) fn error(self, message: impl Into<String>) -> DecodeError {
        DecodeError::new(self.pointer(), message)
    }

    /// RFC 6901.
    fn pointer(self) -> String {
        let mut steps = Vec::new();
        let mut at = Some(self.id);
        while let Some(id) = at {
            let item = &self.json.items[id];
            match &item.place {
                Place::Top => {}
                Place::Index(index) => steps.push(index.to_string()),
                Place::Key(key) => steps.push(key.replace('~', "~0").replace('/', "~1")),
            }
            at = item.parent;
        }
        steps.iter().rev().flat_map(|step| ["/", step]).collect()
    }
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let is_end = |&byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
    bytes[start..].iter().position(is_end).map_or(bytes.len(), |length| start + length)
}
