//! Messages as AXON: who speaks to whom is the routing, the act is the performative, what is said about
//! the content is metadata, and the content is strings, numbers, lists and records.

use sabir_axon::is_agent_name;
use sabir_base::json::Json;
use serde_json::{Map, Value, json};

use super::{Act, Content, MAX_DEPTH, Message};
use crate::convert::Refused;
use crate::frame_in_axon::{expression, read_expression};
use crate::speech::{self, Speech};

pub(super) fn say(messages: &[Message]) -> Result<String, Refused> {
    let speeches: Vec<Speech> =
        messages.iter().map(|message| Speech { value: speech(message) }).collect();
    speech::write(&speeches).ok_or(Refused::TooLarge { message: messages.len() })
}

pub(super) fn unsay(text: &str) -> Option<Vec<Message>> {
    let parsed = sabir_axon::parse(text);
    if parsed.has_errors() {
        return None;
    }
    speech::read(&parsed.tree).ok()?.iter().map(message).collect()
}

fn speech(message: &Message) -> Value {
    let mut meta = Map::new();
    let mut put = |key: &str, value: Value| {
        if value != "" {
            meta.insert(key.to_owned(), value);
        }
    };
    let number = |number: u64| json!({ "num": number.to_string() });
    put("id", message.id.as_str().into());
    put("%%", number(1));
    // AXON counts seconds, from one on; what is left over stands beside.
    let (seconds, rest) = (message.at_ms / 1000, message.at_ms % 1000);
    if seconds > 0 {
        put("ts", number(seconds));
    }
    put("ctx", message.ctx.as_str().into());
    if rest > 0 {
        put("ms", number(rest));
    }
    put("of", message.of.as_str().into());
    put("what", message.what.as_str().into());
    let (from, to) = (Party::of(&message.from), Party::of(&message.to));
    put("from", from.told.into());
    put("to", to.told.into());
    json!({
        "meta": meta,
        "performative": message.act.performative(),
        "from": from.name,
        "to": to.name,
        "content": content(&message.content),
    })
}

fn message(speech: &Speech) -> Option<Message> {
    let meta: Map<String, Value> =
        speech.meta().map(|(key, value)| (key.to_owned(), value.clone())).collect();
    if meta.keys().any(|key| !KEYS.contains(&key.as_str())) {
        return None;
    }
    let text = |key: &str| match meta.get(key) {
        Some(value) => value.as_str().map(str::to_owned),
        None => Some(String::new()),
    };
    let number = |key: &str| match meta.get(key) {
        Some(value) => value["num"].as_str()?.parse::<u64>().ok(),
        None => Some(0),
    };
    let party = |key: &str| match meta.get(key) {
        Some(told) => told.as_str().map(str::to_owned),
        None => {
            let name = speech.value[key].as_str()?;
            let name = name.strip_prefix('@').unwrap_or(name);
            Some(if name == NOBODY { "" } else { name }.to_owned())
        }
    };
    Some(Message {
        id: text("id")?,
        at_ms: number("ts")?.checked_mul(1000)?.checked_add(number("ms")?)?,
        ctx: text("ctx")?,
        of: text("of")?,
        act: Act::from_performative(speech.performative())?,
        from: party("from")?,
        to: party("to")?,
        what: text("what")?,
        content: read_content(speech.content())?,
    })
}

/// Somebody as AXON can name them, and their own name where that is another.
struct Party<'a> {
    name: String,
    told: &'a str,
}

impl<'a> Party<'a> {
    fn of(own: &'a str) -> Self {
        // A name may end with `-`, but before `>` nobody reads it as one.
        if is_agent_name(own) && !own.ends_with('-') && own != NOBODY {
            return Self { name: format!("@{own}"), told: "" };
        }
        if own == "*" {
            return Self { name: own.to_owned(), told: "" };
        }
        if own.is_empty() {
            return Self { name: format!("@{NOBODY}"), told: "" };
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = own.chars().take(MAX_NAME).map(plain).collect();
        let front = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "x" };
        Self { name: format!("@{front}{name}"), told: own }
    }
}

/// A record with `vote_id` would be a vote of the coordination profile, and is one only by chance: it is
/// said to be data.
fn content(content: &Content) -> Value {
    let Ok(json) = Json::read(content.as_json(), MAX_DEPTH) else { return Value::Null };
    let said = expression(json.top());
    match json.top().get("vote_id") {
        Some(_) => json!({ "call": DATA, "args": [said] }),
        None => said,
    }
}

fn read_content(value: &Value) -> Option<Content> {
    let said = match value.get("call") {
        Some(name) if name == DATA => value["args"].get(0)?,
        _ => value,
    };
    let mut out = String::new();
    read_expression(&mut out, said)?;
    Some(Content(out))
}

const KEYS: &[&str] = &["id", "%%", "ts", "ctx", "ms", "of", "what", "from", "to"];
const DATA: &str = "data";
/// Who speaks or is spoken to where that is not known.
const NOBODY: &str = "_";
/// The whole name stands in the metadata.
const MAX_NAME: usize = 64;
