//! What we send, before it is text: JSON that borrows the texts of whoever says it. A message is
//! built of it for its signature and for its text, and nothing is copied on the way.

use std::borrow::Cow;

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

#[derive(Clone, Debug)]
pub(crate) enum Wire<'a> {
    Null,
    Flag(bool),
    Whole(u64),
    /// Finite.
    Amount(f64),
    Text(Cow<'a, str>),
    /// A value that is not ours: passed on as it is.
    Free(Cow<'a, Value>),
    List(Vec<Wire<'a>>),
    Object(Object<'a>),
}

/// Keys in the order in which they are written. Each is put in once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object<'a>(Vec<(&'static str, Wire<'a>)>);

impl<'a> Object<'a> {
    /// With room for so many keys.
    pub(crate) fn with_room(keys: usize) -> Self {
        Self(Vec::with_capacity(keys))
    }

    pub(crate) fn put(&mut self, key: &'static str, value: impl Into<Wire<'a>>) {
        self.0.push((key, value.into()));
    }

    /// Leaves the key out where there is nothing; [`put`](Self::put) writes a null.
    pub(crate) fn put_some(&mut self, key: &'static str, value: Option<impl Into<Wire<'a>>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, &Wire<'a>)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }
}

impl<'a> Wire<'a> {
    pub(crate) fn list<T: Into<Wire<'a>>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Flag(flag) => Value::Bool(*flag),
            Self::Whole(number) => (*number).into(),
            Self::Amount(number) => (*number).into(),
            Self::Text(text) => Value::String(text.clone().into_owned()),
            Self::Free(value) => value.clone().into_owned(),
            Self::List(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(object) => {
                let fields = object.fields().map(|(key, value)| (key.to_owned(), value.to_value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// One line of JSON.
    pub(crate) fn to_text(&self) -> String {
        let mut out = Vec::with_capacity(TYPICAL_BYTES);
        // Keys are texts, numbers are finite and memory does not fail: there is always a text.
        if serde_json::to_writer(&mut out, self).is_err() {
            return String::new();
        }
        String::from_utf8(out).unwrap_or_default()
    }

    /// The text at the end of a path of keys.
    pub(crate) fn text_at(&self, path: &[&str]) -> Option<&str> {
        match (self, path) {
            (Self::Text(text), []) => Some(text),
            (Self::Free(value), _) => {
                path.iter().try_fold(&**value, |value, key| value.get(key))?.as_str()
            }
            (Self::Object(object), [key, rest @ ..]) => {
                object.fields().find(|(it, _)| it == key)?.1.text_at(rest)
            }
            (_, _) => None,
        }
    }
}

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Whole(number) => serializer.serialize_u64(*number),
            Self::Amount(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Free(value) => value.serialize(serializer),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.0.len()))?;
                object.fields().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

impl<'a> From<&'a str> for Wire<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Wire<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<bool> for Wire<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Wire<'_> {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Wire<'_> {
    /// JSON has no infinity.
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Amount(number) } else { Self::Null }
    }
}

impl<'a> From<&'a Value> for Wire<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Free(Cow::Borrowed(value))
    }
}

impl From<Value> for Wire<'_> {
    fn from(value: Value) -> Self {
        Self::Free(Cow::Owned(value))
    }
}

impl<'a> From<&'a [String]> for Wire<'a> {
    fn from(texts: &'a [String]) -> Self {
        Self::list(texts.iter().map(String::as_str))
    }
}

impl<'a> From<Object<'a>> for Wire<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

impl<'a, T: Into<Wire<'a>>> From<Option<T>> for Wire<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Most answers fit.
pub(crate) const TYPICAL_BYTES: usize = 2048;
