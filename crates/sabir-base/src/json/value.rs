//! One value of a text: what it is, what it holds, where it stands, and whether it has the shape that
//! a decoder asks for.

use std::borrow::Cow;

use super::JsonError;
use super::read::{Item, Json, Place};
use crate::Span;

/// A value, its text and its place.
#[derive(Clone, Copy, Debug)]
pub struct JsonValue<'a> {
    pub(super) json: &'a Json<'a>,
    pub(super) id: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

impl JsonKind {
    /// With its article, as errors name it.
    pub fn name(self) -> &'static str {
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

impl<'a> JsonValue<'a> {
    fn item(self) -> &'a Item<'a> {
        &self.json.items[self.id]
    }

    pub fn kind(self) -> JsonKind {
        self.item().kind
    }

    /// The value as written.
    pub fn text(self) -> &'a str {
        &self.json.text[self.item().start..self.item().end]
    }

    /// The string that this value means; an error if it is none.
    pub fn string(self) -> Result<Cow<'a, str>, JsonError> {
        self.expect_kind(JsonKind::String)?;
        let Item { start, end, is_plain, .. } = *self.item();
        self.json.unescape(start, end, is_plain, Some(self.id))
    }

    /// The elements of an array, or the values of an object, in order. Others have none.
    pub fn children(self) -> impl Iterator<Item = JsonValue<'a>> {
        let mut next = self.item().first;
        std::iter::from_fn(move || {
            let value = JsonValue { json: self.json, id: next? };
            next = value.item().next;
            Some(value)
        })
    }

    /// The value and all that it holds, however deep, in the order of the text.
    pub fn within(self) -> impl Iterator<Item = JsonValue<'a>> {
        let (json, end) = (self.json, self.item().end);
        let inside = json.items[self.id..].iter().take_while(move |item| item.start < end);
        (self.id..).zip(inside).map(move |(id, _)| JsonValue { json, id })
    }

    /// The keys of an object with their values, in order. Others have none.
    pub fn fields(self) -> impl Iterator<Item = (&'a str, JsonValue<'a>)> {
        self.children().filter_map(|value| match &value.item().place {
            Place::Key(key) => Some((&**key, value)),
            Place::Top | Place::Index(_) => None,
        })
    }

    /// The value of an object under `key`. It looks at one field after the other, because the
    /// objects of a notation have few.
    pub fn get(self, key: &str) -> Option<JsonValue<'a>> {
        self.fields().find_map(|(name, value)| (name == key).then_some(value))
    }

    /// The value under `key`, which `what` (with its article) cannot do without.
    pub fn required(self, key: &str, what: &str) -> Result<JsonValue<'a>, JsonError> {
        self.get(key).ok_or_else(|| self.error(format!("{what} needs the key {key:?}")))
    }

    pub fn expect_kind(self, kind: JsonKind) -> Result<(), JsonError> {
        let found = self.kind();
        if found == kind {
            return Ok(());
        }
        Err(self.error(format!("expected {}, found {}", kind.name(), found.name())))
    }

    /// Refuses the fields of an object whose keys are not among `keys`.
    pub fn only_keys(self, keys: &[&str]) -> Result<(), JsonError> {
        match self.fields().find(|(key, _)| !keys.contains(key)) {
            Some((key, value)) => Err(value
                .error(format!("the key {key:?} does not belong here"))
                .help(format!("keys here: {}", keys.join(", ")))),
            None => Ok(()),
        }
    }

    /// An error about this value.
    pub fn error(self, message: impl Into<String>) -> JsonError {
        JsonError::at(self.pointer(), self.span(), message)
    }

    /// Where the value stands in the text, in bytes.
    pub fn span(self) -> Span {
        span_of(self.item().start, self.item().end)
    }

    /// Where the value stands, as RFC 6901 writes it; empty for the top.
    pub fn pointer(self) -> String {
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

    /// The value without white space, with the order, the keys and the digits as they were written.
    /// A string that no text can be is refused.
    pub fn compact(self) -> Result<String, JsonError> {
        let mut out = String::new();
        self.write_compact(&mut out)?;
        Ok(out)
    }

    fn write_compact(self, out: &mut String) -> Result<(), JsonError> {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        match self.kind() {
            JsonKind::Array => {
                out.push('[');
                for (index, item) in self.children().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    item.write_compact(out)?;
                }
                out.push(']');
            }
            JsonKind::Object => {
                out.push('{');
                for (index, (key, item)) in self.fields().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(&quote(key));
                    out.push(':');
                    item.write_compact(out)?;
                }
                out.push('}');
            }
            JsonKind::String => out.push_str(&quote(&self.string()?)),
            JsonKind::Null | JsonKind::True | JsonKind::False | JsonKind::Number => {
                out.push_str(self.text());
            }
        }
        Ok(())
    }
}

/// Texts that were read are shorter than offsets reach.
pub(super) fn span_of(start: usize, end: usize) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span { start: offset(start), end: offset(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(result: Result<impl Sized, JsonError>) -> String {
        let error = result.err().unwrap();
        let help = error.help.as_ref().map(|help| format!(" ({help})"));
        format!("{error}{}", help.unwrap_or_default())
    }

    #[test]
    fn values_keep_what_was_written() {
        let text = r#" { "b" : 1.50 , "a":[ -0, 1E+2 ,true,null], "": "x\ny\u00e9" } "#;
        let json = Json::read(text, 8).unwrap();
        let top = json.top();
        assert_eq!(top.text(), text.trim());
        assert_eq!(&text[top.get("a").unwrap().span().range()], "[ -0, 1E+2 ,true,null]");
        let fields: Vec<_> = top.fields().map(|(key, value)| (key, value.text())).collect();
        let expected = [("b", "1.50"), ("a", "[ -0, 1E+2 ,true,null]"), ("", r#""x\ny\u00e9""#)];
        assert_eq!(fields, expected);
        let elements = top.get("a").unwrap().children();
        let elements: Vec<_> = elements.map(|value| (value.kind(), value.text())).collect();
        let expected = [
            (JsonKind::Number, "-0"),
            (JsonKind::Number, "1E+2"),
            (JsonKind::True, "true"),
            (JsonKind::Null, "null"),
        ];
        assert_eq!(elements, expected);
        assert_eq!(top.get("").unwrap().string().unwrap(), "x\nyé");
        assert_eq!(top.get("a").unwrap().fields().count(), 0);
        assert_eq!(top.get("b").unwrap().children().count(), 0);
    }

    #[test]
    fn strings_without_escapes_are_borrowed() {
        let json = Json::read(r#"["plain","\\"]"#, 1).unwrap();
        let strings: Vec<_> = json.top().children().map(|it| it.string().unwrap()).collect();
        assert!(matches!(strings[..], [Cow::Borrowed("plain"), Cow::Owned(_)]));
        assert_eq!(strings[1], "\\");
    }

    #[test]
    fn a_value_knows_all_that_it_holds() {
        let json = Json::read(r#"[{"a":[1,{}],"b":"x"},[],2]"#, 8).unwrap();
        fn texts(value: JsonValue<'_>) -> Vec<&str> {
            value.within().map(JsonValue::text).collect()
        }
        assert_eq!(texts(json.top()).len(), 8);
        let mut children = json.top().children();
        let first = children.next().unwrap();
        assert_eq!(texts(first)[1..], ["[1,{}]", "1", "{}", r#""x""#]);
        assert_eq!(children.map(texts).collect::<Vec<_>>(), [["[]"], ["2"]]);
    }

    #[test]
    fn pointers_escape_tildes_and_slashes() {
        let json = Json::read(r#"[0,{"a/b~\"c":{"":[1]}}]"#, 8).unwrap();
        let mut value = json.top();
        assert_eq!(value.pointer(), "");
        while let Some(last) = value.children().last() {
            value = last;
        }
        assert_eq!(value.pointer(), "/1/a~1b~0\"c//0");
    }

    #[test]
    fn errors_of_shape_name_the_place() {
        let json = Json::read(r#"{"a":[1],"b":true}"#, 8).unwrap();
        let top = json.top();
        assert_eq!(
            error(top.only_keys(&["a", "c"])),
            r#"at /b: the key "b" does not belong here (keys here: a, c)"#
        );
        assert!(top.only_keys(&["b", "a"]).is_ok());
        assert_eq!(error(top.required("c", "a message")), r#"a message needs the key "c""#);
        let a = top.required("a", "a message").unwrap();
        assert_eq!(
            error(a.expect_kind(JsonKind::Object)),
            "at /a: expected an object, found an array"
        );
        assert_eq!(
            error(top.get("b").unwrap().string()),
            "at /b: expected a string, found a boolean"
        );
    }
}
