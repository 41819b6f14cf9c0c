//! Reading JSON of servers that take types lightly: a field of a strange type loses that field, never
//! the event it stands in.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Text wherever it can be found: a string, a number in digits, the `text` of the parts of a list.
/// Null, booleans and objects are no text.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

impl Text<'_> {
    /// Empty text says nothing either.
    pub(super) fn as_str(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    pub(super) fn into_string(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty()).map(Cow::into_owned)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut out = String::new();
        while let Some(part) = seq.next_element::<Value>()? {
            if let Some(text) = part.as_str().or_else(|| part.get("text")?.as_str()) {
                out.push_str(text);
            }
        }
        Ok(Text(Some(Cow::Owned(out))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}

/// The arguments of a call: JSON as text, or, where a server did not write it as text, as it is.
#[derive(Debug, Default)]
pub(super) struct Arguments(pub(super) String);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        }))
    }
}

/// A place in a list, or nothing when it is not one.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Index(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Text::deserialize(deserializer)?.as_str().and_then(|digits| digits.parse().ok())))
    }
}

/// A list, or nothing where a server writes null.
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::<Vec<T>>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads JSON, and mends what is no UTF-8 before giving up: one broken letter must not lose a delta.
/// The way over `read` keeps the borrow short.
pub(super) fn with_text(data: &[u8], read: impl FnOnce(&str)) {
    match std::str::from_utf8(data) {
        Ok(text) => read(text),
        Err(_) => read(&String::from_utf8_lossy(data)),
    }
}

/// A count of tokens somewhere below `value`.
pub(super) fn count(value: &Value, pointer: &str) -> Option<u64> {
    let value = value.pointer(pointer)?;
    // Some servers count in floats; the cast saturates.
    let count = value.as_u64().or_else(|| value.as_f64().map(|it| it as u64))?;
    Some(count.min(MOST_TOKENS))
}

/// No response has as many, and the sums of all responses of a lifetime can be counted.
const MOST_TOKENS: u64 = u32::MAX as u64;
