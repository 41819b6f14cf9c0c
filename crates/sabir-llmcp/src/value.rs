//! Values that are checked when they are made: ids, texts of bounded length, times, URLs, numbers
//! within limits. It knows no packet.

use std::fmt;
use std::ops::Deref;

use sabir_base::Code;
use sabir_base::json::{JsonKind, JsonValue};
use sabir_base::text::is_hidden;
use serde_json::{Value, json};
use url::Url;

use crate::codes;
use crate::problem::{Problems, quoted};
use crate::wire::{Wire, expect, read_string};

/// Why a value cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueError {
    Blank,
    TooLong { most: usize },
    NotTime { text: String },
    NotUrl { text: String },
    HiddenInUrl { text: String },
    NotHostFirst { text: String },
    NameInUrl { text: String },
    WrongScheme { scheme: String, allowed: &'static [&'static str] },
    NotWhole { text: String },
    NotFinite,
    OutOfRange { least: u64, most: u64 },
    WrongCount { least: usize, most: usize, found: usize },
}

impl ValueError {
    fn code(&self) -> Code {
        match self {
            ValueError::Blank => codes::BLANK_TEXT,
            ValueError::TooLong { .. } => codes::LONG_TEXT,
            ValueError::NotTime { .. } => codes::BAD_TIME,
            ValueError::NotUrl { .. }
            | ValueError::HiddenInUrl { .. }
            | ValueError::NotHostFirst { .. }
            | ValueError::NameInUrl { .. }
            | ValueError::WrongScheme { .. } => codes::BAD_URL,
            ValueError::NotWhole { .. } => codes::WRONG_TYPE,
            ValueError::NotFinite
            | ValueError::OutOfRange { .. }
            | ValueError::WrongCount { .. } => codes::OUT_OF_RANGE,
        }
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueError::Blank => f.write_str("expected a text that is not blank"),
            ValueError::TooLong { most } => write!(f, "expected at most {most} characters"),
            ValueError::NotTime { text } => {
                write!(f, "{} is not a time like 2026-01-28T12:34:56.789Z", quoted(text))
            }
            ValueError::NotUrl { text } => write!(f, "{} is not an absolute URL", quoted(text)),
            ValueError::HiddenInUrl { text } => {
                write!(f, "{} has white space or hidden characters in it", shown(text))
            }
            ValueError::NotHostFirst { text } => {
                write!(f, "{} does not name its host behind two slashes", quoted(text))
            }
            ValueError::NameInUrl { text } => {
                let (scheme, rest) = text.split_once("://").unwrap_or_default();
                let host = rest.rsplit('@').next().unwrap_or_default();
                let without = quoted(&format!("{scheme}://{host}"));
                write!(f, "a URL here has no user name and no password; write {without}")
            }
            ValueError::WrongScheme { scheme, allowed } => {
                let allowed = allowed.join(" or ");
                write!(f, "the scheme {} is not allowed here, only {allowed}", quoted(scheme))
            }
            ValueError::NotWhole { text } => {
                write!(f, "expected a whole number, found {}", sabir_base::text::clip(text, 60))
            }
            ValueError::NotFinite => f.write_str("the number is too great"),
            ValueError::OutOfRange { least, most } => {
                write!(f, "expected a number from {least} to {most}")
            }
            ValueError::WrongCount { least, most, found } => {
                write!(f, "expected {least} to {most} items, found {found}")
            }
        }
    }
}

impl std::error::Error for ValueError {}

fn told<T>(
    made: Result<T, ValueError>,
    value: JsonValue<'_>,
    problems: &mut Problems,
) -> Option<T> {
    made.map_err(|error| problems.error(value, error.code(), error.to_string())).ok()
}

fn bounded(text: String, most: usize) -> Result<String, ValueError> {
    if text.chars().all(is_unseen) {
        return Err(ValueError::Blank);
    }
    // Bytes first: they are known, and characters are not more.
    if text.len() > most && text.chars().count() > most {
        return Err(ValueError::TooLong { most });
    }
    Ok(text)
}

/// White space and what is hidden; joiners join something, and never stand alone.
fn is_unseen(c: char) -> bool {
    c.is_whitespace() || is_hidden(c) || matches!(c, '\u{200C}' | '\u{200D}')
}

/// Quoted as [`quoted`] does it, but with its white space and what is hidden spelled out.
fn shown(text: &str) -> String {
    let text = sabir_base::text::clip(text, MOST_SHOWN);
    let letters = text.chars().flat_map(|c| {
        let spelled: String = match is_unseen(c) && c != ' ' {
            true => c.escape_default().collect(),
            false => c.into(),
        };
        spelled.chars().collect::<Vec<_>>()
    });
    format!("\"{}\"", letters.collect::<String>())
}

fn bounded_schema(most: usize) -> Value {
    json!({ "type": "string", "pattern": "\\S", "maxLength": most })
}

/// A text that says something, of at most `MAX` characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    pub fn new(text: impl Into<String>) -> Result<Self, ValueError> {
        bounded(text.into(), MAX).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for Text<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const MAX: usize> Wire for Text<MAX> {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        let text = read_string(value, problems)?;
        told(Self::new(text), value, problems)
    }

    fn write(&self) -> Value {
        self.0.as_str().into()
    }

    fn schema() -> Value {
        bounded_schema(MAX)
    }
}

/// A list of `MIN` to `MAX` items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize> List<T, MIN, MAX> {
    pub fn new(items: Vec<T>) -> Result<Self, ValueError> {
        match items.len() {
            found if (MIN..=MAX).contains(&found) => Ok(Self(items)),
            found => Err(ValueError::WrongCount { least: MIN, most: MAX, found }),
        }
    }

    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

/// Only where none at all is allowed, too.
impl<T, const MAX: usize> Default for List<T, 0, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MIN: usize, const MAX: usize> Deref for List<T, MIN, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Wire, const MIN: usize, const MAX: usize> Wire for List<T, MIN, MAX> {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        let items = Vec::read(value, problems)?;
        told(Self::new(items), value, problems)
    }

    fn write(&self) -> Value {
        self.0.write()
    }

    fn schema() -> Value {
        let mut schema = Vec::<T>::schema();
        if MIN > 0 {
            schema["minItems"] = MIN.into();
        }
        schema["maxItems"] = MAX.into();
        schema
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Whole<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Whole<MIN, MAX> {
    pub fn new(number: u64) -> Result<Self, ValueError> {
        match (MIN..=MAX).contains(&number) {
            true => Ok(Self(number)),
            false => Err(Self::out_of_range()),
        }
    }

    pub fn value(self) -> u64 {
        self.0
    }

    fn out_of_range() -> ValueError {
        ValueError::OutOfRange { least: MIN, most: MAX }
    }

    /// JSON has one kind of number: `7.0` is seven.
    fn parse(text: &str) -> Result<Self, ValueError> {
        if let Ok(number) = text.parse() {
            return Self::new(number);
        }
        match text.parse::<f64>() {
            Ok(number) if number.fract() != 0.0 => {
                Err(ValueError::NotWhole { text: text.to_owned() })
            }
            Ok(number) if (0.0..MOST_EXACT).contains(&number) => Self::new(number as u64),
            _ => Err(Self::out_of_range()),
        }
    }
}

impl<const MIN: u64, const MAX: u64> Wire for Whole<MIN, MAX> {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        expect(value, JsonKind::Number, problems)?;
        told(Self::parse(value.text()), value, problems)
    }

    fn write(&self) -> Value {
        self.0.into()
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A number that is neither infinite nor none.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Finite(f64);

impl Finite {
    pub fn new(number: f64) -> Result<Self, ValueError> {
        match number.is_finite() {
            true => Ok(Self(number)),
            false => Err(ValueError::NotFinite),
        }
    }

    pub fn value(self) -> f64 {
        self.0
    }
}

impl Wire for Finite {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        told(Self::new(read_number(value, problems)?), value, problems)
    }

    fn write(&self) -> Value {
        write_number(self.0)
    }

    fn schema() -> Value {
        json!({ "type": "number" })
    }
}

/// A number from 0 to 1: how sure somebody says to be.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    pub fn new(number: f64) -> Result<Self, ValueError> {
        match (0.0..=1.0).contains(&number) {
            true => Ok(Self(number)),
            false => Err(ValueError::OutOfRange { least: 0, most: 1 }),
        }
    }

    pub fn value(self) -> f64 {
        self.0
    }
}

impl Wire for Confidence {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        told(Self::new(read_number(value, problems)?), value, problems)
    }

    fn write(&self) -> Value {
        write_number(self.0)
    }

    fn schema() -> Value {
        json!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

fn read_number(value: JsonValue<'_>, problems: &mut Problems) -> Option<f64> {
    expect(value, JsonKind::Number, problems)?;
    // A number that is too great becomes infinite and is refused by who asked.
    value.text().parse().ok()
}

/// Whole numbers are written without a fraction.
fn write_number(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < MOST_EXACT {
        true => (number as i64).into(),
        false => number.into(),
    }
}

/// From here on not every whole number is one of a float.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A URL of the web, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WebUrl(String);

impl WebUrl {
    pub fn new(text: impl Into<String>) -> Result<Self, ValueError> {
        let text = checked_url(text.into(), &["http", "https"])?;
        // What stands before an @ is taken for the host by those who read quickly.
        match text.split(['/', '?', '#']).nth(2).is_some_and(|it| it.contains('@')) {
            true => Err(ValueError::NameInUrl { text }),
            false => Ok(Self(text)),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where a page or a file was found: a URL of the web, or of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(String);

impl Address {
    pub fn new(text: impl Into<String>) -> Result<Self, ValueError> {
        checked_url(text.into(), &["http", "https", "file"]).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<WebUrl> for Address {
    fn from(url: WebUrl) -> Self {
        Self(url.0)
    }
}

fn checked_url(text: String, allowed: &'static [&'static str]) -> Result<String, ValueError> {
    let text = bounded(text, MAX_URL)?;
    // The parser forgives white space and hidden characters; those who read the text may not.
    if text.contains(is_unseen) {
        return Err(ValueError::HiddenInUrl { text });
    }
    let Ok(url) = Url::parse(&text) else {
        return Err(ValueError::NotUrl { text });
    };
    if !allowed.contains(&url.scheme()) {
        return Err(ValueError::WrongScheme { scheme: url.scheme().to_owned(), allowed });
    }
    // It forgives `https:host` and backslashes, too, which others read as a path.
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    let names_host = rest
        .strip_prefix("//")
        .is_some_and(|rest| url.scheme() == "file" || !rest.starts_with(['/', '?', '#']));
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    match names_host && !path.contains('\\') {
        true => Ok(text),
        false => Err(ValueError::NotHostFirst { text }),
    }
}

macro_rules! urls {
    ($($name:ident $pattern:literal;)+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Wire for $name {
            fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
                let text = read_string(value, problems)?;
                told(Self::new(text), value, problems)
            }

            fn write(&self) -> Value {
                self.0.as_str().into()
            }

            fn schema() -> Value {
                json!({ "type": "string", "pattern": $pattern, "maxLength": MAX_URL })
            }
        }
    )+};
}

urls! {
    WebUrl r"^[hH][tT][tT][pP][sS]?://[^/\\?#@\s]+(/[^\\?#\s]*)?([?#]\S*)?$";
    Address r"^([hH][tT][tT][pP][sS]?://[^/\\?#\s]|[fF][iI][lL][eE]://)[^\\?#\s]*([?#]\S*)?$";
}

/// What browsers and servers agree to carry, generously.
const MAX_URL: usize = 8_192;

/// Of a text in a message.
const MOST_SHOWN: usize = 60;

/// A moment in UTC, as RFC 3339 writes it: `2026-01-28T12:34:56.789Z`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(String);

impl Timestamp {
    pub fn new(text: impl Into<String>) -> Result<Self, ValueError> {
        let text = text.into();
        match is_time(&text) {
            true => Ok(Self(text)),
            false => Err(ValueError::NotTime { text }),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Wire for Timestamp {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        let text = read_string(value, problems)?;
        told(Self::new(text), value, problems)
    }

    fn write(&self) -> Value {
        self.0.as_str().into()
    }

    fn schema() -> Value {
        let pattern = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$";
        json!({ "type": "string", "format": "date-time", "pattern": pattern })
    }
}

fn is_time(text: &str) -> bool {
    const FORM: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let Some((head, tail)) = bytes.split_at_checked(FORM.len()) else { return false };
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'd' => byte.is_ascii_digit(),
        other => byte == other,
    };
    if !head.iter().zip(FORM).all(fits) {
        return false;
    }
    let fraction = match tail {
        b"Z" => true,
        [b'.', digits @ .., b'Z'] => {
            (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    let number = |at: usize, length: usize| {
        head[at..at + length].iter().fold(0_u32, |sum, byte| sum * 10 + u32::from(byte - b'0'))
    };
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2));
    // A leap second is the last of a month.
    let leaps = (hour, minute, second, day) == (23, 59, 60, days);
    let clock = hour < 24 && minute < 60 && (second < 60 || leaps);
    fraction && (1..=days).contains(&day) && clock
}

/// Ids: any text that is not blank, because peers name things as they like. Each kind of thing has
/// its own, so that none is taken for another.
macro_rules! ids {
    ($($(#[doc = $about:literal])+ $name:ident;)+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Result<Self, ValueError> {
                bounded(text.into(), MAX_ID).map(Self)
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Wire for $name {
            fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
                let text = read_string(value, problems)?;
                told(Self::new(text), value, problems)
            }

            fn write(&self) -> Value {
                self.0.as_str().into()
            }

            fn schema() -> Value {
                bounded_schema(MAX_ID)
            }
        }
    )+};
}

ids! {
    /// Of one packet.
    PacketId;
    /// Of all packets that belong together.
    ConversationId;
    /// Of what a person wrote.
    MessageId;
    /// Of a context document, within its request.
    DocId;
    /// Of a collection of sources.
    CollectionId;
    /// Of a source in a collection.
    SourceId;
    /// Of a saved artifact.
    ArtifactId;
    /// Of an element on an observed page.
    HandleId;
    /// Of a tool call, within its response.
    CallId;
}

/// Room for a UUID with any prefix, or a path of names; too little to hide a page in.
const MAX_ID: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_and_exist() {
        for good in [
            "2026-01-28T12:34:56.789Z",
            "2026-01-28T12:34:56Z",
            "2024-02-29T00:00:00.1Z",
            "2016-12-31T23:59:60Z",
        ] {
            assert!(Timestamp::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "2026-01-28",
            "2026-01-28T12:34:56",
            "2026-01-28T12:34:56+00:00",
            "2026-01-28 12:34:56Z",
            "2026-01-28t12:34:56z",
            "2026-02-29T12:34:56Z",
            "2026-13-01T12:34:56Z",
            "2026-01-00T12:34:56Z",
            "2026-01-28T24:00:00Z",
            "2026-01-28T12:34:60Z",
            "2026-01-28T23:59:60Z",
            "2016-12-31T23:59:61Z",
            "2026-01-28T12:34:56.Z",
            "2026-01-28T12:34:56.0123456789Z",
            "２026-01-28T12:34:56Z",
        ] {
            assert!(Timestamp::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn urls_have_a_scheme_of_the_web() {
        for good in ["https://example.com", "HTTP://example.com/a?b#c", "http://[::1]:8/"] {
            assert!(WebUrl::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "example.com",
            "//example.com",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://",
            " https://example.com",
            "https://exam\nple.com",
            "java\tscript:alert(1)",
            "https:a",
            "https:/a",
            "https:///a",
            "https:\\\\a",
            "https://a\\b",
            "https://u:p@a/",
            "https://u@a",
            "https://@a",
            "https://a\u{200b}/",
            "https://a/\u{200d}b",
        ] {
            assert!(WebUrl::new(bad).is_err(), "{bad}");
        }
        for good in ["https://a/@b", "https://a?@", "https://a#@", "https://ü.de/ß"] {
            assert!(WebUrl::new(good).is_ok(), "{good}");
        }
        let told = |text: &str| WebUrl::new(text).unwrap_err().to_string();
        assert_eq!(told(" https://a"), "\" https://a\" has white space or hidden characters in it");
        assert_eq!(
            told("https://a\u{200b}"),
            r#""https://a\u{200b}" has white space or hidden characters in it"#
        );
        assert!(!told("https://me:secret@a/").contains("secret"));
        assert!(Address::new("file:///notes.md").is_ok());
        assert!(Address::new("file:notes.md").is_err());
        assert!(Address::new("data:text/plain,x").is_err());
    }

    #[test]
    fn an_id_that_nobody_sees_is_none() {
        for bad in ["", " ", "\u{200b}", "\u{a0}\u{2060}\u{ad}", "\u{200d}", "\t\0"] {
            assert_eq!(PacketId::new(bad), Err(ValueError::Blank), "{bad:?}");
        }
        assert!(PacketId::new("\u{200b}a").is_ok());
    }

    #[test]
    fn whole_numbers_may_have_an_empty_fraction() {
        type Small = Whole<1, 200>;
        for (text, number) in [("1", 1), ("200", 200), ("7.0", 7), ("2e1", 20)] {
            assert_eq!(Small::parse(text), Small::new(number), "{text}");
        }
        for bad in ["0", "-1", "201", "1.5", "1e300", "1e999", "-0.0"] {
            assert!(Small::parse(bad).is_err(), "{bad}");
        }
    }
}
