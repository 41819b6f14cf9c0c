//! How values stand in JSON. A type is described once, by [`record!`], [`choice!`], [`tagged!`] or
//! [`constant!`]; its strict reader, its writer and its JSON Schema follow from that description. It
//! knows no packet.

use sabir_base::Code;
use sabir_base::json::{JsonKind, JsonValue};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::problem::{Problems, quoted};

/// A type that can be read from JSON and written to it.
pub(crate) trait Wire: Sized {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self>;
    fn write(&self) -> Value;
    fn schema() -> Value;
}

/// A type that is an object of known keys.
pub(crate) trait Record: Sized {
    /// What it is, from its doc comment.
    const ABOUT: &'static [&'static str];

    /// `tag` is a key that was looked at before and belongs to the object, too.
    fn read_fields(
        object: JsonValue<'_>,
        tag: Option<&'static str>,
        problems: &mut Problems,
    ) -> Option<Self>;
    fn write_fields(&self, out: &mut FieldWriter);
    fn describe_fields(out: &mut FieldSchemas);

    fn about() -> String {
        Self::ABOUT.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}

impl<T: Record> Record for Box<T> {
    const ABOUT: &'static [&'static str] = T::ABOUT;

    fn read_fields(
        object: JsonValue<'_>,
        tag: Option<&'static str>,
        problems: &mut Problems,
    ) -> Option<Self> {
        T::read_fields(object, tag, problems).map(Box::new)
    }

    fn write_fields(&self, out: &mut FieldWriter) {
        T::write_fields(self, out);
    }

    fn describe_fields(out: &mut FieldSchemas) {
        T::describe_fields(out);
    }
}

/// Reads the fields of an object whose keys are all known.
#[derive(Debug)]
pub(crate) struct FieldReader<'a> {
    object: JsonValue<'a>,
}

impl<'a> FieldReader<'a> {
    /// Tells of every key that is neither in `keys` nor `tag`.
    pub(crate) fn open(
        object: JsonValue<'a>,
        keys: &[&str],
        tag: Option<&str>,
        problems: &mut Problems,
    ) -> Option<Self> {
        expect(object, JsonKind::Object, problems)?;
        for (key, value) in object.fields() {
            if keys.contains(&key) || tag == Some(key) {
                continue;
            }
            let message = format!("the key {} does not belong here", quoted(key));
            let known: Vec<&str> = tag.into_iter().chain(keys.iter().copied()).collect();
            let help = match known.iter().find(|known| sabir_base::is_near(known, key)) {
                Some(near) => format!("did you mean {near:?}?"),
                None if known.is_empty() => "leave the object empty".to_owned(),
                None => format!("keys here: {}", known.join(", ")),
            };
            problems.error_with_help(value, codes::UNKNOWN_KEY, message, help);
        }
        Some(Self { object })
    }

    /// A field that cannot be missing.
    pub(crate) fn needed<T: Wire>(&self, key: &str, problems: &mut Problems) -> Option<T> {
        match self.object.get(key) {
            Some(value) => T::read(value, problems),
            None => {
                let message = format!("the key {key:?} is missing");
                problems.error(self.object, codes::MISSING_KEY, message);
                None
            }
        }
    }

    /// A field that has a value of its own while it is not there.
    pub(crate) fn optional<T: Wire + Default>(
        &self,
        key: &str,
        problems: &mut Problems,
    ) -> Option<T> {
        match self.object.get(key) {
            Some(value) => T::read(value, problems),
            None => Some(T::default()),
        }
    }

    /// The same, for what is written even when there is nothing in it.
    pub(crate) fn listed<T: Wire + Default>(
        &self,
        key: &str,
        problems: &mut Problems,
    ) -> Option<T> {
        self.optional(key, problems)
    }
}

/// The fields of an object that is being written.
#[derive(Debug, Default)]
pub(crate) struct FieldWriter(pub(crate) Map<String, Value>);

impl FieldWriter {
    pub(crate) fn needed<T: Wire>(&mut self, key: &str, value: &T) {
        self.0.insert(key.to_owned(), value.write());
    }

    pub(crate) fn optional<T: Wire + Default + PartialEq>(&mut self, key: &str, value: &T) {
        if *value != T::default() {
            self.needed(key, value);
        }
    }

    pub(crate) fn listed<T: Wire>(&mut self, key: &str, value: &T) {
        self.needed(key, value);
    }
}

/// The schemas of an object's fields.
#[derive(Debug, Default)]
pub(crate) struct FieldSchemas {
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl FieldSchemas {
    pub(crate) fn needed<T: Wire>(&mut self, key: &'static str) {
        self.required.push(key);
        self.optional::<T>(key);
    }

    pub(crate) fn optional<T: Wire>(&mut self, key: &'static str) {
        self.properties.insert(key.to_owned(), T::schema());
    }

    pub(crate) fn listed<T: Wire>(&mut self, key: &'static str) {
        self.optional::<T>(key);
    }

    fn constant(&mut self, key: &'static str, value: &str) {
        self.required.push(key);
        self.properties.insert(key.to_owned(), json!({ "const": value }));
    }

    fn into_schema(self) -> Value {
        let mut schema = json!({ "type": "object", "properties": self.properties });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        schema["additionalProperties"] = json!(false);
        schema
    }
}

pub(crate) fn write_record<T: Record>(record: &T) -> Value {
    let mut out = FieldWriter::default();
    record.write_fields(&mut out);
    Value::Object(out.0)
}

pub(crate) fn write_tagged<T: Record>(tag: &str, name: &str, record: &T) -> Value {
    let mut out = FieldWriter::default();
    out.0.insert(tag.to_owned(), name.into());
    record.write_fields(&mut out);
    Value::Object(out.0)
}

pub(crate) fn record_schema<T: Record>() -> Value {
    let mut fields = FieldSchemas::default();
    T::describe_fields(&mut fields);
    fields.into_schema()
}

pub(crate) fn tagged_schema<T: Record>(tag: &'static str, name: &str) -> Value {
    let mut fields = FieldSchemas::default();
    fields.constant(tag, name);
    T::describe_fields(&mut fields);
    fields.into_schema()
}

/// Tells if `value` is of another kind.
pub(crate) fn expect(value: JsonValue<'_>, kind: JsonKind, problems: &mut Problems) -> Option<()> {
    if value.kind() == kind {
        return Some(());
    }
    let message = format!("expected {}, found {}", kind.name(), value.kind().name());
    match value.kind() {
        JsonKind::Null => {
            let help = "write the value, or leave the key out if it is not needed";
            problems.error_with_help(value, codes::WRONG_TYPE, message, help);
        }
        _ => problems.error(value, codes::WRONG_TYPE, message),
    }
    None
}

/// The string that `value` means.
pub(crate) fn read_string(value: JsonValue<'_>, problems: &mut Problems) -> Option<String> {
    expect(value, JsonKind::String, problems)?;
    match value.string() {
        Ok(text) => Some(text.into_owned()),
        Err(error) => {
            problems.json(error);
            None
        }
    }
}

/// Looks a string up among the names that its place allows.
pub(crate) fn read_choice<T: Copy>(
    value: JsonValue<'_>,
    names: &[(&'static str, T)],
    code: Code,
    problems: &mut Problems,
) -> Option<T> {
    let text = read_string(value, problems)?;
    if let Some((_, found)) = names.iter().find(|(name, _)| *name == text) {
        return Some(*found);
    }
    let help = match names.iter().find(|(name, _)| sabir_base::is_near(name, &text)) {
        Some((near, _)) => format!("did you mean {near:?}?"),
        None => {
            let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            format!("write one of: {}", names.join(", "))
        }
    };
    let message = format!("{} is not known here", quoted(&text));
    problems.error_with_help(value, code, message, help);
    None
}

/// Any JSON.
pub(crate) fn read_any(value: JsonValue<'_>, problems: &mut Problems) -> Option<Value> {
    // The depth was bounded when the text was read.
    match serde_json::from_str(value.text()) {
        Ok(value) => Some(value),
        Err(error) => {
            let message = format!("holds what no value can be: {error}");
            problems.error(value, codes::OUT_OF_RANGE, message);
            None
        }
    }
}

impl<T: Wire> Wire for Option<T> {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        T::read(value, problems).map(Some)
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }

    fn schema() -> Value {
        T::schema()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        expect(value, JsonKind::Array, problems)?;
        let mut complete = true;
        let mut items = Vec::new();
        for item in value.children() {
            match T::read(item, problems) {
                Some(item) => items.push(item),
                None => complete = false,
            }
        }
        complete.then_some(items)
    }

    fn write(&self) -> Value {
        self.iter().map(T::write).collect()
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
}

impl Wire for String {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        read_string(value, problems)
    }

    fn write(&self) -> Value {
        self.as_str().into()
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

impl Wire for bool {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        match value.kind() {
            JsonKind::True => Some(true),
            JsonKind::False => Some(false),
            other => {
                let message = format!("expected a boolean, found {}", other.name());
                problems.error(value, codes::WRONG_TYPE, message);
                None
            }
        }
    }

    fn write(&self) -> Value {
        (*self).into()
    }

    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

/// An object that others give its shape.
impl Wire for Map<String, Value> {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        expect(value, JsonKind::Object, problems)?;
        match read_any(value, problems)? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::Object(self.clone())
    }

    fn schema() -> Value {
        json!({ "type": "object" })
    }
}

/// Any JSON, `null` included.
impl Wire for Value {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        read_any(value, problems)
    }

    fn write(&self) -> Value {
        self.clone()
    }

    fn schema() -> Value {
        json!(true)
    }
}

/// A struct that is an object: each field with its key, `needed` or `optional` (then its type has a
/// default, which is what a missing key means and what is not written) or `listed` (such a one that is
/// always written).
macro_rules! record {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident {
            $( $(#[doc = $note:literal])* $key:literal $presence:ident $field:ident: $kind:ty, )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name { $( $(#[doc = $note])* $vis $field: $kind, )* }

        impl $crate::wire::Record for $name {
            const ABOUT: &'static [&'static str] = &[$($about),+];

            fn read_fields(
                object: sabir_base::json::JsonValue<'_>,
                tag: Option<&'static str>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                let _fields =
                    $crate::wire::FieldReader::open(object, &[$($key),*], tag, problems)?;
                $( let $field = _fields.$presence::<$kind>($key, problems); )*
                Some(Self { $( $field: $field?, )* })
            }

            fn write_fields(&self, _out: &mut $crate::wire::FieldWriter) {
                $( _out.$presence($key, &self.$field); )*
            }

            fn describe_fields(_out: &mut $crate::wire::FieldSchemas) {
                $( _out.$presence::<$kind>($key); )*
            }
        }

        impl $crate::wire::Wire for $name {
            fn read(
                value: sabir_base::json::JsonValue<'_>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                <Self as $crate::wire::Record>::read_fields(value, None, problems)
            }

            fn write(&self) -> serde_json::Value {
                $crate::wire::write_record(self)
            }

            fn schema() -> serde_json::Value {
                $crate::wire::record_schema::<Self>()
            }
        }
    };
}

/// An enum that is one of several words.
macro_rules! choice {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {
            $( $(#[doc = $note:literal])* $variant:ident $text:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[doc = $note])* $variant, )+ }

        impl $name {
            /// Every one, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As packets spell it.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::wire::Wire for $name {
            fn read(
                value: sabir_base::json::JsonValue<'_>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                let names = [$(($text, Self::$variant)),+];
                $crate::wire::read_choice(value, &names, $crate::codes::UNKNOWN_CHOICE, problems)
            }

            fn write(&self) -> serde_json::Value {
                self.as_str().into()
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$($text),+] })
            }
        }
    };
}

/// An enum of records, told apart by the text under one key.
macro_rules! tagged {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident by $tag:literal {
            $( $(#[doc = $note:literal])* $variant:ident($kind:ty) $text:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name { $( $(#[doc = $note])* $variant($kind), )+ }

        impl $crate::wire::Wire for $name {
            fn read(
                value: sabir_base::json::JsonValue<'_>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                $crate::wire::expect(value, sabir_base::json::JsonKind::Object, problems)?;
                let Some(tag) = value.get($tag) else {
                    let message = format!("the key {:?} is missing", $tag);
                    problems.error(value, $crate::codes::MISSING_KEY, message);
                    return None;
                };
                let names = [$(($text, $text)),+];
                let code = $crate::codes::UNKNOWN_CHOICE;
                match $crate::wire::read_choice(tag, &names, code, problems)? {
                    $(
                        $text => {
                            let fields = <$kind as $crate::wire::Record>::read_fields(
                                value, Some($tag), problems,
                            );
                            fields.map(Self::$variant)
                        }
                    )+
                    _ => None,
                }
            }

            fn write(&self) -> serde_json::Value {
                match self {
                    $( Self::$variant(record) => $crate::wire::write_tagged($tag, $text, record), )+
                }
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({
                    "oneOf": [$($crate::wire::tagged_schema::<$kind>($tag, $text)),+]
                })
            }
        }
    };
}

/// A value that can only be one.
macro_rules! constant {
    ($(#[doc = $about:literal])+ struct $name:ident = $value:literal, $code:ident;) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name;

        impl $crate::wire::Wire for $name {
            fn read(
                value: sabir_base::json::JsonValue<'_>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                let found = $crate::wire::read_any(value, problems)?;
                if found == serde_json::json!($value) {
                    return Some(Self);
                }
                let message = format!("expected {:?}", $value);
                problems.error(value, $crate::codes::$code, message);
                None
            }

            fn write(&self) -> serde_json::Value {
                serde_json::json!($value)
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({ "const": $value })
            }
        }
    };
}

pub(crate) use {choice, constant, record, tagged};
