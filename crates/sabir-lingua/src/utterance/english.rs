//! Messages as English sentences. Everything that a message says is in them; how the content was
//! written is not.

use sabir_base::json::{Json, JsonKind, JsonValue};
use sabir_base::text::{one_line, with_hidden_shown};

use super::{Act, MAX_DEPTH, Message};

pub(super) fn say(messages: &[Message]) -> String {
    messages.iter().map(sentence).collect::<Vec<_>>().join("\n")
}

/// On one line, without when and where; at most so many characters.
pub(super) fn gist(message: &Message, most: usize) -> String {
    one_line(&spoken(message), most)
}

fn sentence(message: &Message) -> String {
    let mut out = moment(message.at_ms);
    if !message.ctx.is_empty() {
        out.push_str(&format!(", in {}", shown(&message.ctx)));
    }
    out.push_str(", ");
    out.push_str(&spoken(message));
    out
}

/// Who says what to whom.
fn spoken(message: &Message) -> String {
    let from = party(&message.from, "somebody");
    let to = party(&message.to, "nobody");
    let topic = match message.what.as_str() {
        "" => "a message".to_owned(),
        what => words(what),
    };
    let mut out = match message.act {
        Act::Request => format!("{from} asks {to} for {topic}"),
        Act::Question => format!("{from} asks {to} about {topic}"),
        Act::Inform => format!("{from} tells {to} of {topic}"),
        Act::Answer => format!("{from} answers {to} with {topic}"),
        Act::Failure => format!("{from} reports to {to} a failure, {topic}"),
        Act::Accept => format!("{from} agrees with {to} on {topic}"),
        Act::Refuse => format!("{from} refuses {to} {topic}"),
        Act::Cancel => format!("{from} calls off with {to} {topic}"),
    };
    if !message.of.is_empty() {
        out.push_str(&format!(" ({})", shown(&message.of)));
    }
    match content(message) {
        None => out.push('.'),
        Some(text) if text.contains('\n') => {
            out.push(':');
            for line in text.lines() {
                out.push_str("\n  ");
                out.push_str(line);
            }
        }
        Some(text) => {
            out.push_str(": ");
            out.push_str(&text);
        }
    }
    out
}

/// The content in words; nothing where there is nothing to say.
fn content(message: &Message) -> Option<String> {
    let json = Json::read(message.content.as_json(), MAX_DEPTH).ok()?;
    let top = json.top();
    let text = match top.kind() {
        JsonKind::Null => return None,
        JsonKind::String => text(top),
        JsonKind::Object if top.fields().next().is_none() => return None,
        JsonKind::Object => fields(top, "; "),
        _ => phrase(top),
    };
    Some(text)
}

fn phrase(value: JsonValue<'_>) -> String {
    match value.kind() {
        JsonKind::Null => "nothing".to_owned(),
        JsonKind::True => "yes".to_owned(),
        JsonKind::False => "no".to_owned(),
        JsonKind::Number => value.text().to_owned(),
        JsonKind::String => {
            let text = text(value);
            match text.is_empty() || text.contains(|c: char| !is_plain(c)) {
                true => format!("“{text}”"),
                false => text,
            }
        }
        JsonKind::Array => {
            let items: Vec<String> = value.children().map(phrase).collect();
            match items.as_slice() {
                [] => "none".to_owned(),
                [one] => one.clone(),
                [most @ .., last] => format!("{} and {last}", most.join(", ")),
            }
        }
        JsonKind::Object => match value.fields().next() {
            None => "nothing".to_owned(),
            Some(_) => format!("({})", fields(value, ", ")),
        },
    }
}

fn fields(value: JsonValue<'_>, between: &str) -> String {
    let fields = value.fields().map(|(key, value)| format!("{}: {}", words(key), phrase(value)));
    fields.collect::<Vec<_>>().join(between)
}

/// Nothing in it that a terminal would obey or nobody would see.
fn text(value: JsonValue<'_>) -> String {
    let text = value.string().map(String::from).unwrap_or_default();
    with_hidden_shown(&text).into_owned()
}

fn shown(name: &str) -> String {
    with_hidden_shown(name).replace('\n', " ")
}

fn party(name: &str, unknown: &str) -> String {
    match name {
        "" => unknown.to_owned(),
        "*" => "everyone".to_owned(),
        name => shown(name),
    }
}

/// `task_complete` is `task complete`.
fn words(name: &str) -> String {
    shown(name).replace('_', " ")
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "._/:@#+-".contains(c)
}

/// `16 November 2026, 21:47:03 UTC`.
fn moment(at_ms: u64) -> String {
    let seconds = at_ms / 1000;
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let (year, month, day) = civil(seconds / 86_400);
    let month = usize::try_from(month).ok().and_then(|month| MONTHS.get(month - 1));
    let month = month.copied().unwrap_or_default();
    format!("{day} {month} {year}, {hour:02}:{minute:02}:{second:02} UTC")
}

/// The date of a day, counted from 1970-01-01. Months are counted from March, so that the leap day is
/// the last of its year, and years in cycles of 400.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + cycle * 400, if month < 10 { month + 3 } else { month - 9 });
    (if month <= 2 { year + 1 } else { year }, month, day)
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
