//! One line, for people or as JSON. Every value is cleaned on its way in.

use std::fmt::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tracing::Level;
use tracing::field::{Field, Visit};

use crate::{Withheld, clean};

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
}

pub(super) struct Line<'a> {
    pub(super) at: SystemTime,
    pub(super) level: Level,
    pub(super) topic: &'static str,
    pub(super) fields: Fields<'a>,
}

/// What an event says, cleaned.
pub(super) struct Fields<'a> {
    withheld: &'a Withheld,
    message: String,
    others: Vec<(&'static str, Value)>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(withheld: &'a Withheld) -> Self {
        Self { withheld, message: String::new(), others: Vec::new() }
    }

    /// Something that we made ourselves.
    pub(super) fn push_own(&mut self, name: &'static str, value: String) {
        self.others.push((name, value.into()));
    }

    fn push_text(&mut self, field: &Field, text: &str) {
        let text = clean(text, self.withheld);
        match field.name() {
            "message" => self.message = text,
            name => self.others.push((name, text.into())),
        }
    }
}

impl Visit for Fields<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.others.push((field.name(), value.into()));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push_text(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push_text(field, &format!("{value:?}"));
    }
}

impl Line<'_> {
    pub(super) fn written(&self, format: Format) -> String {
        let mut line = match format {
            Format::Text => self.text(),
            Format::Json => self.json(),
        };
        line.push('\n');
        line
    }

    fn text(&self) -> String {
        let Fields { message, others, .. } = &self.fields;
        let mut line = format!("{} {:<5} {}: {message}", Utc(self.at), self.level, self.topic);
        for (name, value) in others {
            let _ = match value {
                Value::String(text) if is_plain(text) => write!(line, " {name}={text}"),
                value => write!(line, " {name}={value}"),
            };
        }
        line
    }

    fn json(&self) -> String {
        let Fields { message, others, .. } = &self.fields;
        let mut object = Map::new();
        object.insert("time".to_owned(), Utc(self.at).to_string().into());
        object.insert("level".to_owned(), self.level.as_str().to_ascii_lowercase().into());
        object.insert("topic".to_owned(), self.topic.into());
        object.insert("message".to_owned(), message.as_str().into());
        for (name, value) in others {
            object.insert((*name).to_owned(), value.clone());
        }
        Value::Object(object).to_string()
    }
}

/// Whether a value can stand without quotes and be read back.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '=' | '\\'))
}

/// A time as RFC 3339 has it, to the millisecond.
struct Utc(SystemTime);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.0.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, millis) = (since.as_secs(), since.subsec_millis());
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// The date of a day since 1970. Years are counted from March, so that the odd day comes last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_others_read_them() {
        let at =
            |seconds: u64| Utc(UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7)).to_string();
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.007Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(1_709_251_200), "2024-03-01T00:00:00.007Z");
        assert_eq!(at(4_102_444_799), "2099-12-31T23:59:59.007Z");
    }
}
