//! A message of a record in four forms: JSON, AXON, LLMX and English, and what each costs in tokens.
//!
//! Who speaks to whom, which speech act it is and what it is about stand beside the content, which is
//! any JSON. `docs/protocol/record.md` has the rules. Where messages come from is not known here.

mod english;
mod in_axon;
mod in_json;

use sabir_base::json::{Json, JsonKind};
use serde_json::{Value, json};

use crate::convert::{Refused, Tongue, convert};
use crate::tokens::Tokenizer;

/// One message of a record. A text that is empty says nothing, and is left out of every form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Names it among all messages; never empty.
    pub id: String,
    /// When it was written down, in milliseconds since 1970.
    pub at_ms: u64,
    /// The conversation that it belongs to.
    pub ctx: String,
    /// The task, the call or the submission that it is about.
    pub of: String,
    pub act: Act,
    pub from: String,
    /// `*` is anyone.
    pub to: String,
    /// The kind of message, in the words of its own protocol: `user_input`, `task_complete`.
    pub what: String,
    pub content: Content,
}

/// The speech acts that a record tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    Request,
    Question,
    Inform,
    Answer,
    Failure,
    Accept,
    Refuse,
    Cancel,
}

/// JSON without white space, as deep as every form goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content(String);

/// What a message can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    Json,
    Axon,
    Llmx,
    English,
}

/// A message, or several that were written down at once, in every form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    pub json: String,
    pub axon: String,
    pub llmx: String,
    pub english: String,
    pub tokens: Costs,
    /// Whose tokens.
    pub vocabulary: Tokenizer,
}

/// Tokens of each form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    pub json: usize,
    pub axon: usize,
    pub llmx: usize,
    pub english: usize,
}

/// Messages in one form. Refused is only what is larger than a notation holds.
pub fn utter(messages: &[Message], form: Form) -> Result<String, Refused> {
    match form {
        Form::Json => Ok(in_json::say(messages)),
        Form::Axon => in_axon::say(messages),
        Form::Llmx => in_llmx(&in_axon::say(messages)?),
        Form::English => Ok(english::say(messages)),
    }
}

/// The messages that [`utter`] gave this text for. English cannot be taken back.
pub fn hear(text: &str, form: Form) -> Option<Vec<Message>> {
    match form {
        Form::Json => in_json::unsay(text),
        Form::Axon => in_axon::unsay(text),
        Form::Llmx => in_axon::unsay(&convert(text, Tongue::Llmx, Tongue::Axon).ok()?),
        Form::English => None,
    }
}

fn in_llmx(axon: &str) -> Result<String, Refused> {
    convert(axon, Tongue::Axon, Tongue::Llmx)
}

impl Message {
    /// What it says, on one line of at most so many characters.
    pub fn gist(&self, most: usize) -> String {
        english::gist(self, most)
    }
}

impl Utterance {
    /// All forms at once. Time is in proportion to the size of the messages.
    pub fn of(messages: &[Message], vocabulary: Tokenizer) -> Result<Self, Refused> {
        let json = in_json::say(messages);
        let axon = in_axon::say(messages)?;
        let llmx = in_llmx(&axon)?;
        let english = english::say(messages);
        let count = |text: &str| vocabulary.count(text.trim_end());
        let tokens = Costs {
            json: count(&json),
            axon: count(&axon),
            llmx: count(&llmx),
            english: count(&english),
        };
        Ok(Self { json, axon, llmx, english, tokens, vocabulary })
    }

    pub fn form(&self, form: Form) -> &str {
        match form {
            Form::Json => &self.json,
            Form::Axon => &self.axon,
            Form::Llmx => &self.llmx,
            Form::English => &self.english,
        }
    }

    /// `{"forms":{…},"tokens":{…},"vocabulary":"o200k"}`.
    pub fn to_value(&self) -> Value {
        let Costs { json, axon, llmx, english } = self.tokens;
        json!({
            "forms": {
                "json": self.json, "axon": self.axon, "llmx": self.llmx, "english": self.english,
            },
            "tokens": { "json": json, "axon": axon, "llmx": llmx, "english": english },
            "vocabulary": self.vocabulary.name(),
        })
    }
}

impl Costs {
    pub fn of(self, form: Form) -> usize {
        match form {
            Form::Json => self.json,
            Form::Axon => self.axon,
            Form::Llmx => self.llmx,
            Form::English => self.english,
        }
    }
}

impl Form {
    pub const ALL: [Form; 4] = [Form::Json, Form::Axon, Form::Llmx, Form::English];

    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Axon => "axon",
            Self::Llmx => "llmx",
            Self::English => "english",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

impl Act {
    pub const ALL: [Act; 8] = [
        Act::Request,
        Act::Question,
        Act::Inform,
        Act::Answer,
        Act::Failure,
        Act::Accept,
        Act::Refuse,
        Act::Cancel,
    ];

    /// The performative of AXON that says it, which names it in JSON, too.
    pub fn performative(self) -> &'static str {
        match self {
            Self::Request => "REQ",
            Self::Question => "QRY",
            Self::Inform => "INF",
            Self::Answer => "RPL",
            Self::Failure => "ERR",
            Self::Accept => "ACC",
            Self::Refuse => "REJ",
            Self::Cancel => "CAN",
        }
    }

    fn from_performative(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.performative() == word)
    }
}

impl Content {
    /// The JSON that `text` is. What is none, or deeper than 96 levels, or has a key twice, is a text.
    pub fn read(text: &str) -> Self {
        let compact = Json::read(text, MAX_DEPTH).and_then(|json| json.top().compact());
        compact.map_or_else(|_| Self::text(text), Self)
    }

    pub fn text(text: &str) -> Self {
        Self(Value::from(text).to_string())
    }

    pub fn nothing() -> Self {
        Self("null".to_owned())
    }

    /// Compact JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// The text that it is, if it is one.
    pub fn as_text(&self) -> Option<String> {
        let json = Json::read(&self.0, MAX_DEPTH).ok()?;
        let top = json.top();
        (top.kind() == JsonKind::String).then(|| top.string().ok().map(Into::into))?
    }
}

/// AXON and LLMX go a little deeper, for what stands around the content.
const MAX_DEPTH: usize = 96;
