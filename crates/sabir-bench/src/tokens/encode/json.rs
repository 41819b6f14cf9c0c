//! JSON as a protocol designed by hand would send it: with keys that speak, and with AXON's own
//! short words.
//!
//! Names are plain strings and a number keeps its unit in a string, which is what people do and
//! what costs JSON least.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::axon;
use crate::tokens::scenario::{Act, Call, Comparison, Fields, Message, MetaKey, Term, To};

pub(super) fn descriptive(message: &Message) -> Result<Value> {
    Writer { words: &DESCRIPTIVE }.message(message)
}

pub(super) fn short(message: &Message) -> Result<Value> {
    Writer { words: &SHORT }.message(message)
}

/// The keys that differ between the two vocabularies.
struct Words {
    act: &'static str,
    act_name: fn(&Message) -> String,
    from: &'static str,
    to: &'static str,
    to_many: &'static str,
    content: &'static str,
    meta: fn(MetaKey) -> &'static str,
    kind: &'static str,
    call: &'static str,
    args: &'static str,
    sequence: &'static str,
    parallel: &'static str,
    any_of: &'static str,
    claim: &'static str,
    because: &'static str,
    about: &'static str,
    compare: fn(Value, Comparison, Value) -> Value,
    range: fn(Value, Value) -> Value,
}

const DESCRIPTIVE: Words = Words {
    act: "intent",
    act_name: |message| match message.act {
        // What everybody calls it; the specification's own name is longer.
        Act::Nak => "nack".to_owned(),
        act => act.info().name.to_owned(),
    },
    from: "sender",
    to: "receiver",
    to_many: "receivers",
    content: "content",
    meta: |key| match key {
        MetaKey::Id => "message_id",
        MetaKey::Version => "protocol_version",
        MetaKey::ReplyTo => "in_reply_to",
        MetaKey::SentAt => "timestamp",
        MetaKey::Conversation => "conversation_id",
        MetaKey::TimeToLive => "ttl_seconds",
        MetaKey::Priority => "priority",
        MetaKey::Signature => "signature",
        MetaKey::Authorization => "authorization",
        MetaKey::Tenant => "tenant",
        MetaKey::ErrorNamespace => "error_namespace",
        MetaKey::Transaction => "transaction_id",
        MetaKey::TransactionState => "transaction_state",
    },
    kind: "type",
    call: "action",
    args: "arguments",
    sequence: "sequence",
    parallel: "parallel",
    any_of: "any_of",
    claim: "claim",
    because: "because",
    about: "approximately",
    compare: |left, comparison, right| json!({ "left": left, "operator": comparison.symbol(), "right": right }),
    range: |from, to| json!({ "from": from, "to": to }),
};

const SHORT: Words = Words {
    act: "p",
    act_name: |message| message.act.word().to_owned(),
    from: "f",
    to: "t",
    to_many: "t",
    content: "c",
    meta: axon::meta_key,
    kind: "#",
    call: "()",
    args: "a",
    sequence: "->",
    parallel: "&",
    any_of: "|",
    claim: "c",
    because: "<-",
    about: "~",
    compare: |left, comparison, right| json!({ comparison.symbol(): [left, right] }),
    range: |from, to| json!({ "..": [from, to] }),
};

struct Writer {
    words: &'static Words,
}

impl Writer {
    fn message(&self, message: &Message) -> Result<Value> {
        let words = self.words;
        let mut out = Map::new();
        for (key, value) in &message.meta {
            out.insert((words.meta)(*key).to_owned(), self.term(value)?);
        }
        out.insert(words.act.to_owned(), (words.act_name)(message).into());
        out.insert(words.from.to_owned(), message.from.into());
        match &message.to {
            To::One(name) => out.insert(words.to.to_owned(), (*name).into()),
            To::Many(names) => out.insert(words.to_many.to_owned(), names.clone().into()),
            To::Anyone => out.insert(words.to.to_owned(), "*".into()),
        };
        if !matches!(message.content, Term::Nothing) {
            out.insert(words.content.to_owned(), self.term(&message.content)?);
        }
        Ok(Value::Object(out))
    }

    fn term(&self, term: &Term) -> Result<Value> {
        let words = self.words;
        Ok(match term {
            Term::Nothing => Value::Null,
            Term::Text(text) => (*text).into(),
            Term::Number { digits, unit: None } => serde_json::from_str(digits)
                .with_context(|| format!("{digits} is not how JSON writes a number"))?,
            Term::Number { digits, unit: Some(unit) } => format!("{digits}{}", unit.text()).into(),
            Term::Bool(value) => (*value).into(),
            Term::Entity(name) | Term::Symbol(name) | Term::Name(name) => (*name).into(),
            Term::Variable(name) => format!("${name}").into(),
            Term::List(items) => self.terms(items)?,
            Term::Record(fields) => self.fields(Map::new(), fields)?,
            Term::Tagged(kind, fields) if fields.is_empty() => (*kind).into(),
            Term::Tagged(kind, fields) => {
                let mut out = Map::new();
                out.insert(words.kind.to_owned(), (*kind).into());
                self.fields(out, fields)?
            }
            Term::Call(call) => self.call(call)?,
            Term::Sequence(steps) => json!({ words.sequence: self.terms(steps)? }),
            Term::Parallel(parts) => json!({ words.parallel: self.terms(parts)? }),
            Term::AnyOf(parts) => json!({ words.any_of: self.terms(parts)? }),
            Term::Because(effect, cause) => {
                let cause = self.term(cause)?;
                match self.term(effect)? {
                    // A reason is one more thing to say about an object that is there already.
                    Value::Object(mut out) if !out.contains_key(words.because) => {
                        out.insert(words.because.to_owned(), cause);
                        Value::Object(out)
                    }
                    effect => json!({ words.claim: effect, words.because: cause }),
                }
            }
            Term::Compare(left, comparison, right) => {
                (words.compare)(self.term(left)?, *comparison, self.term(right)?)
            }
            Term::Range(from, to) => (words.range)(self.term(from)?, self.term(to)?),
            Term::About(of) => json!({ words.about: self.term(of)? }),
            Term::Table { columns, rows } => {
                let rows = rows.iter().map(|row| {
                    let cells = columns.iter().zip(row);
                    let cells = cells.map(|(key, cell)| Ok(((*key).to_owned(), self.term(cell)?)));
                    Ok(Value::Object(cells.collect::<Result<_>>()?))
                });
                Value::Array(rows.collect::<Result<_>>()?)
            }
            Term::Message(message) => self.message(message)?,
        })
    }

    fn call(&self, call: &Call) -> Result<Value> {
        let mut out = Map::new();
        out.insert(self.words.call.to_owned(), call.name.into());
        if !call.args.is_empty() {
            out.insert(self.words.args.to_owned(), self.terms(&call.args)?);
        }
        self.fields(out, &call.named)
    }

    fn terms(&self, terms: &[Term]) -> Result<Value> {
        Ok(Value::Array(terms.iter().map(|term| self.term(term)).collect::<Result<_>>()?))
    }

    fn fields(&self, mut out: Map<String, Value>, fields: &Fields) -> Result<Value> {
        for (key, value) in fields {
            let replaced = out.insert((*key).to_owned(), self.term(value)?);
            anyhow::ensure!(replaced.is_none(), "the key {key} is taken");
        }
        Ok(Value::Object(out))
    }
}
