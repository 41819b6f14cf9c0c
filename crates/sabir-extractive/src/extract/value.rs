//! A piece of text as a value of the type that is wanted, or nothing. It never guesses: what does not
//! read as the type is not of it.

use serde_json::{Number, Value};

use super::shape::{Form, Shape};
use crate::draft::one_line;
use crate::{date, number, word};

/// Reads a value that a label was found for, so that the whole text is about it.
pub(super) fn read(text: &str, shape: &Shape) -> Option<Value> {
    match shape {
        Shape::Text { form, least, most } => {
            let found = read_text(text, *form)?;
            let length = found.chars().count();
            (length >= *least && length <= *most).then_some(Value::String(found))
        }
        Shape::Number { whole, bounds } => {
            let found = number::find(text).into_iter().next()?;
            bounds.hold(found.value()).then(|| to_number(&found.digits, *whole)).flatten()
        }
        Shape::Boolean => read_boolean(text).map(Value::Bool),
        Shape::Choice(choices) => {
            read_choice(text, choices).map(|choice| Value::String(choice.to_owned()))
        }
        Shape::Object(_) | Shape::List { .. } | Shape::Unknown => None,
    }
}

/// Reads a value out of a sentence that also says other things: only what stands out by its form.
pub(super) fn read_within(sentence: &str, after: usize, shape: &Shape) -> Option<Value> {
    match shape {
        Shape::Number { whole, bounds } => {
            let dates = date::find(sentence);
            let mut numbers: Vec<number::Found> = number::find(sentence)
                .into_iter()
                .filter(|found| !dates.iter().any(|date| date.range.contains(&found.range.start)))
                .filter(|found| bounds.hold(found.value()))
                .collect();
            // The number that stands nearest to the label is the one that it is about.
            numbers.sort_by_key(|found| found.range.start.abs_diff(after));
            numbers.iter().find_map(|found| to_number(&found.digits, *whole))
        }
        Shape::Text { form: Form::Date | Form::Email | Form::Uri, .. } | Shape::Choice(_) => {
            read(sentence, shape)
        }
        Shape::Text { form: Form::Plain, .. }
        | Shape::Boolean
        | Shape::Object(_)
        | Shape::List { .. }
        | Shape::Unknown => None,
    }
}

fn read_text(text: &str, form: Form) -> Option<String> {
    match form {
        Form::Plain => Some(one_line(text, TEXT_BYTES)).filter(|line| !line.is_empty()),
        Form::Date => date::find(text)
            .iter()
            .find(|found| found.date.day.is_some())
            .map(|found| found.date.to_string()),
        Form::Email => {
            text.split(is_gap).map(trim_marks).find(|word| is_email(word)).map(str::to_owned)
        }
        Form::Uri => {
            text.split(is_gap).map(trim_marks).find(|word| is_uri(word)).map(str::to_owned)
        }
    }
}

fn to_number(digits: &str, whole: bool) -> Option<Value> {
    if let Ok(integer) = digits.parse::<i64>() {
        return Some(Value::Number(integer.into()));
    }
    let value: f64 = digits.parse().ok()?;
    if !whole {
        return Number::from_f64(value).map(Value::Number);
    }
    // `3.00` is whole, `3.5` is not.
    let (integer, fraction) = digits.split_once('.')?;
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    integer.parse::<i64>().ok().filter(|_| is_whole).map(|integer| Value::Number(integer.into()))
}

fn read_boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    match text {
        "✓" | "✔" | "✅" => return Some(true),
        "✗" | "✘" | "❌" => return Some(false),
        _ => {}
    }
    match word::folded_text(text).split(' ').next()? {
        "yes" | "true" | "ja" | "oui" | "si" | "included" | "available" => Some(true),
        "no" | "false" | "nein" | "non" | "none" | "unavailable" => Some(false),
        _ => None,
    }
}

fn read_choice<'c>(text: &str, choices: &'c [String]) -> Option<&'c str> {
    let spaced = |text: &str| format!(" {} ", word::folded_text(text));
    let text = spaced(&text[..text.floor_char_boundary(TEXT_BYTES)]);
    let named = |choice: &&'c String| spaced(choice).len() > 2 && text.contains(&spaced(choice));
    let longest = choices.iter().filter(named).max_by_key(|choice| choice.len())?;
    // Two choices in one text are none, unless one is a part of the other's name.
    let rivals =
        choices.iter().filter(named).any(|choice| !spaced(longest).contains(&spaced(choice)));
    (!rivals).then_some(longest)
}

pub(super) fn is_email(word: &str) -> bool {
    let Some((user, host)) = word.split_once('@') else { return false };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let well_placed =
        |part: &str| !part.starts_with('.') && !part.ends_with('.') && !part.contains("..");
    !user.is_empty()
        && user.len() <= 64
        && host.len() <= 253
        && user.chars().all(plain)
        && well_placed(user)
        && well_placed(host)
        && host.contains('.')
        && host.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        })
}

pub(super) fn is_uri(word: &str) -> bool {
    let rest = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let host = &rest[..host_end];
        let host_is_plain =
            host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
        let path_is_plain = rest[host_end..].chars().all(|c| {
            c.is_ascii_alphanumeric()
                || matches!(c, '/' | '?' | '.' | '-' | '_' | '~' | '=' | '&' | '+' | ',')
        });
        host.contains('.') && host_is_plain && path_is_plain && word.len() <= TEXT_BYTES
    })
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '"' | '[' | ']' | '“' | '”' | '|')
}

fn trim_marks(word: &str) -> &str {
    word.trim_matches(|c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\''))
}

/// A value is a line, not a chapter.
const TEXT_BYTES: usize = 600;
