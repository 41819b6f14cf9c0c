//! How the objects of the wire are read: null is absent, unknown keys are passed over, known keys
//! have their type and their bounds. It knows no message.

use std::borrow::Cow;
use std::str::FromStr;

use sabir_base::json::{
    Json, JsonError, JsonFault, JsonKind, JsonValue, is_long_integer, string_end,
};
use sabir_base::text::clip;
use serde_json::Value;

use crate::id::IdError;
use crate::mode::PayloadMode;
use crate::time::{Stamp, Timestamp};
use crate::value::{HexBytes, Score};

/// The longest text in a field that people read: reasons, messages, descriptions.
pub(crate) const MAX_TEXT_BYTES: usize = 64 * 1024;
/// The longest text in a field that is a name or a word.
pub(crate) const MAX_NAME_BYTES: usize = 1024;
/// The most entries in a list that is not itself the payload.
pub(crate) const MAX_ENTRIES: usize = 1024;
/// How deep objects nest that stand alone, as deep as an envelope may.
pub(crate) const MAX_JSON_DEPTH: usize = 64;
/// The most values in one text of a peer. A value of two bytes takes a hundred in memory.
pub(crate) const MAX_VALUES: usize = 200_000;
/// About what a value takes in memory beside its text: those that hold others take more, others less.
const VALUE_BYTES: usize = 256;

/// A text that a peer sent, as JSON. Its values are counted before anything is made of them.
pub(crate) fn read_json(text: &str) -> Result<Json<'_>, JsonError> {
    Counted::of(text).read()
}

/// A text whose values were counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'t> {
    text: &'t str,
    values: usize,
}

impl<'t> Counted<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { text, values: count_values(text) }
    }

    /// About how many bytes of memory it takes once it is read.
    pub(crate) fn weight(self) -> usize {
        self.text.len() + self.values.min(MAX_VALUES) * VALUE_BYTES
    }

    pub(crate) fn text(self) -> &'t str {
        self.text
    }

    pub(crate) fn read(self) -> Result<Json<'t>, JsonError> {
        if self.values > MAX_VALUES {
            let mut error = JsonError::new(format!("more than {MAX_VALUES} values"));
            error.fault = JsonFault::TooLarge;
            return Err(error);
        }
        Json::read(self.text, MAX_JSON_DEPTH)
    }
}

/// No fewer values than there are: each but the first comes after a comma or is the first in what
/// holds it. What is not JSON is counted somehow, and refused later.
fn count_values(text: &str) -> usize {
    let mut values = 1;
    let text = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        values += usize::from(matches!(byte, b',' | b'[' | b'{'));
        at = if *byte == b'"' { string_end(text, at) } else { at + 1 };
    }
    values
}

/// An object whose keys are asked for one by one.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(JsonValue<'a>);

impl<'a> Fields<'a> {
    pub(crate) fn of(value: JsonValue<'a>) -> Result<Self, JsonError> {
        value.expect_kind(JsonKind::Object)?;
        Ok(Self(value))
    }

    /// The value under a key; null is absent, because one dialect writes every key it knows.
    pub(crate) fn optional(self, key: &str) -> Option<JsonValue<'a>> {
        self.0.get(key).filter(|value| value.kind() != JsonKind::Null)
    }

    pub(crate) fn required(self, key: &str) -> Result<JsonValue<'a>, JsonError> {
        self.optional(key).ok_or_else(|| self.0.error(format!("the key {key:?} is missing")))
    }

    /// Reads what stands under a key, if anything does.
    pub(crate) fn read<T>(
        self,
        key: &str,
        read: impl FnOnce(JsonValue<'a>) -> Result<T, JsonError>,
    ) -> Result<Option<T>, JsonError> {
        self.optional(key).map(read).transpose()
    }

    pub(crate) fn text(self, key: &str) -> Result<Option<String>, JsonError> {
        self.read(key, |value| limited_text(value, MAX_TEXT_BYTES))
    }

    pub(crate) fn name(self, key: &str) -> Result<Option<String>, JsonError> {
        self.read(key, |value| limited_text(value, MAX_NAME_BYTES))
    }

    pub(crate) fn flag(self, key: &str) -> Result<Option<bool>, JsonError> {
        self.read(key, |value| match value.kind() {
            JsonKind::True => Ok(true),
            JsonKind::False => Ok(false),
            other => Err(value.error(format!("expected a boolean, found {}", other.name()))),
        })
    }

    pub(crate) fn whole(self, key: &str) -> Result<Option<u64>, JsonError> {
        self.read(key, whole)
    }

    /// A finite number that is not negative.
    pub(crate) fn amount(self, key: &str) -> Result<Option<f64>, JsonError> {
        self.read(key, |value| match number(value)? {
            amount if amount >= 0.0 => Ok(amount + 0.0),
            _ => Err(value.error("expected a number that is not negative")),
        })
    }

    pub(crate) fn score(self, key: &str) -> Result<Option<Score>, JsonError> {
        self.read(key, |value| {
            Score::new(number(value)?).ok_or_else(|| value.error("expected a number from 0 to 1"))
        })
    }

    pub(crate) fn id<T: FromStr<Err = IdError>>(self, key: &str) -> Result<Option<T>, JsonError> {
        self.read(key, id)
    }

    pub(crate) fn required_id<T: FromStr<Err = IdError>>(self, key: &str) -> Result<T, JsonError> {
        id(self.required(key)?)
    }

    /// An id that one dialect writes as an empty string where there is none.
    pub(crate) fn id_or_empty<T: FromStr<Err = IdError>>(
        self,
        key: &str,
    ) -> Result<Option<T>, JsonError> {
        match self.optional(key) {
            Some(value) if value.kind() == JsonKind::String && value.text() == "\"\"" => Ok(None),
            Some(value) => id(value).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn hex<const N: usize>(self, key: &str) -> Result<Option<HexBytes<N>>, JsonError> {
        self.read(key, |value| {
            HexBytes::from_hex(&limited(value, MAX_NAME_BYTES)?)
                .ok_or_else(|| value.error(format!("expected {} hex digits", 2 * N)))
        })
    }

    pub(crate) fn stamp(self, key: &str) -> Result<Option<Stamp>, JsonError> {
        self.read(key, stamp)
    }

    pub(crate) fn mode(self, key: &str) -> Result<Option<PayloadMode>, JsonError> {
        self.read(key, |value| {
            let name = limited(value, MAX_NAME_BYTES)?;
            PayloadMode::from_wire(&name)
                .ok_or_else(|| value.error(format!("unknown payload mode {}", quoted(&name))))
        })
    }

    pub(crate) fn modes(self, key: &str) -> Result<Option<Vec<PayloadMode>>, JsonError> {
        self.read(key, |value| Ok(mode_list(value)?.0))
    }

    /// A list of texts; absent is empty.
    pub(crate) fn texts(self, key: &str) -> Result<Vec<String>, JsonError> {
        let read = |value| limited_text(value, MAX_TEXT_BYTES);
        Ok(self.read(key, |value| list(value, MAX_ENTRIES, read))?.unwrap_or_default())
    }
}

/// The elements of a list that has no more than `most`.
pub(crate) fn list<'a, T>(
    value: JsonValue<'a>,
    most: usize,
    read: impl FnMut(JsonValue<'a>) -> Result<T, JsonError>,
) -> Result<Vec<T>, JsonError> {
    value.expect_kind(JsonKind::Array)?;
    let count = value.children().count();
    if count > most {
        return Err(value.error(format!("expected at most {most} entries, found {count}")));
    }
    value.children().map(read).collect()
}

/// The modes of a list, each once, and the names in it that are none. A name that we never heard of
/// is a newer peer and no error: refusing it would make every addition a day on which all must
/// change at once.
pub(crate) fn mode_list(
    value: JsonValue<'_>,
) -> Result<(Vec<PayloadMode>, Vec<String>), JsonError> {
    let names = list(value, MAX_ENTRIES, |name| limited(name, MAX_NAME_BYTES))?;
    let (mut modes, mut unknown) = (Vec::new(), Vec::new());
    for name in names {
        match PayloadMode::from_wire(&name) {
            Some(mode) if modes.contains(&mode) => {}
            Some(mode) => modes.push(mode),
            None => unknown.push(name.into_owned()),
        }
    }
    Ok((modes, unknown))
}

pub(crate) fn limited_text(value: JsonValue<'_>, most: usize) -> Result<String, JsonError> {
    limited(value, most).map(Cow::into_owned)
}

/// The same where the text is only looked at, or kept in another form.
pub(crate) fn limited(value: JsonValue<'_>, most: usize) -> Result<Cow<'_, str>, JsonError> {
    let text = value.string()?;
    if text.len() > most {
        return Err(value.error(format!("expected at most {most} bytes, found {}", text.len())));
    }
    Ok(text)
}

pub(crate) fn id<T: FromStr<Err = IdError>>(value: JsonValue<'_>) -> Result<T, JsonError> {
    value.string()?.parse().map_err(|error: IdError| value.error(error.to_string()))
}

pub(crate) fn stamp(value: JsonValue<'_>) -> Result<Stamp, JsonError> {
    let text = limited_text(value, MAX_NAME_BYTES)?;
    match Timestamp::parse(&text) {
        Ok(at) => Ok(Stamp { text, at }),
        Err(error) => Err(value.error(error.to_string())),
    }
}

/// JSON has one kind of number, so that `7.0` is seven; what has a fraction or a sign is refused.
pub(crate) fn whole(value: JsonValue<'_>) -> Result<u64, JsonError> {
    value.expect_kind(JsonKind::Number)?;
    if let Ok(number) = value.text().parse() {
        return Ok(number);
    }
    let number = number(value)?;
    if number.fract() == 0.0 && (0.0..MOST_EXACT).contains(&number) {
        return Ok(number as u64);
    }
    Err(value.error(format!("expected a whole number, found {}", clip(value.text(), 60))))
}

pub(crate) fn number(value: JsonValue<'_>) -> Result<f64, JsonError> {
    value.expect_kind(JsonKind::Number)?;
    match value.text().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(value.error("the number is too great")),
    }
}

/// A value that is kept as it is. Its depth was bounded when the text was read.
pub(crate) fn free_json(value: JsonValue<'_>) -> Result<Value, JsonError> {
    // Many inputs are a text alone. One that cannot be read is refused in the words below.
    if value.kind() == JsonKind::String
        && let Ok(text) = value.string()
    {
        return Ok(Value::String(text.into_owned()));
    }
    if let Some(number) = value.within().find(|it| is_long(*it)) {
        // It would be kept as the nearest float, which is another number.
        let digits = clip(number.text(), 60);
        return Err(number.error(format!("the integer {digits} is too long: send it as a string")));
    }
    serde_json::from_str(value.text()).map_err(|error| {
        value.error(match error.is_syntax() && error.to_string().starts_with("number") {
            true => "holds a number that is too great",
            false => "holds an escape that names no character",
        })
    })
}

fn is_long(value: JsonValue<'_>) -> bool {
    value.kind() == JsonKind::Number && is_long_integer(value.text())
}

/// Words of a stranger, short and in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", clip(text, 60))
}

/// From here on not every whole number is one of a float.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a value that a program kept, in the form in which it is sent.
pub(crate) fn reread<T>(
    value: &Value,
    read: impl FnOnce(JsonValue<'_>) -> Result<T, JsonError>,
) -> Result<T, JsonError> {
    let text = value.to_string();
    let json = Json::read(&text, MAX_JSON_DEPTH)?;
    read(json.top())
}

/// Types of the wire are stored as they are sent: one form, one reader. The form is that of
/// `to_wire`, or of what is named beside the type.
macro_rules! wire_serde {
    ($type:ty) => {
        $crate::read::wire_serde!($type, to_wire);
    };
    ($type:ty, $form:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.$form().serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = <serde_json::Value as serde::Deserialize>::deserialize(deserializer)?;
                crate::read::reread(&value, Self::read).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use wire_serde;
