//! Controlled English: one sentence a message, from a template for each intent.
//!
//! The same phrases stand in LLMX, whose objectives, tasks and questions are free text.

use std::fmt::Write as _;

use crate::tokens::scenario::{Act, Call, Comparison, Message, MetaKey, Term, To, Unit};

pub(super) fn message(message: &Message) -> String {
    let mut out = PROSE.sentence(message);
    out.push(if message.act == Act::Qry { '?' } else { '.' });
    out
}

/// How a phrase is written where it stands.
pub(super) struct Phrases {
    quote: char,
    unit: fn(Unit) -> &'static str,
}

const PROSE: Phrases = Phrases { quote: '"', unit: words };

/// Inside a string: quotes that need no escape, units as in the rest of the notation.
pub(super) const QUOTED: Phrases = Phrases { quote: '\'', unit: Unit::text };

fn words(unit: Unit) -> &'static str {
    match unit {
        Unit::Percent => "%",
        Unit::Milliseconds => " milliseconds",
        Unit::Seconds => " seconds",
        Unit::Minutes => " minutes",
        Unit::Hours => " hours",
        Unit::Days => " days",
        Unit::Bytes => " bytes",
        Unit::Kilobytes => " KB",
        Unit::Megabytes => " MB",
        Unit::Gigabytes => " GB",
        Unit::Tokens => " tokens",
        Unit::Dollars => " dollars",
        Unit::Euros => " euros",
    }
}

impl Phrases {
    pub(super) fn sentence(&self, message: &Message) -> String {
        let mut out = String::new();
        for (index, (key, value)) in message.meta.iter().enumerate() {
            // A value of metadata is a name there, not a quotation.
            let value = match value {
                Term::Text(text) => (*text).to_owned(),
                other => self.phrase(other),
            };
            let before = if index == 0 { "" } else { ", " };
            let _ = write!(out, "{before}{}", meta(*key, &value));
        }
        if !out.is_empty() {
            out.push_str(": ");
        }
        let to = match &message.to {
            To::One(name) => (*name).to_owned(),
            To::Many(names) => joined(names.iter().map(|name| (*name).to_owned()).collect(), ", "),
            To::Anyone => "everyone".to_owned(),
        };
        let _ = write!(out, "{} {} {to}", message.from, verb(message.act));
        if !matches!(message.content, Term::Nothing) {
            let _ = write!(out, ": {}", self.phrase(&message.content));
        }
        out
    }

    /// A phrase that can stand after a colon.
    pub(super) fn phrase(&self, term: &Term) -> String {
        match term {
            Term::Nothing => "nothing".to_owned(),
            Term::Text(text) => format!("{0}{text}{0}", self.quote),
            Term::Number { digits, unit } => {
                format!("{digits}{}", unit.map_or("", |unit| (self.unit)(unit)))
            }
            Term::Bool(value) => value.to_string(),
            Term::Entity(name) | Term::Symbol(name) | Term::Name(name) => (*name).to_owned(),
            Term::Variable(name) => format!("the given {name}"),
            Term::List(items) => {
                let simple = items.iter().all(Term::is_leaf);
                let items = items.iter().map(|item| self.operand(item)).collect();
                if simple { joined(items, ", ") } else { joined(items, "; ") }
            }
            Term::Record(fields) => {
                self.fields(fields, |key| if is_plural(key) { " are " } else { " is " })
            }
            Term::Tagged(kind, fields) if fields.is_empty() => (*kind).to_owned(),
            Term::Tagged(kind, fields) => format!("{kind} with {}", self.fields(fields, |_| " ")),
            Term::Call(call) => self.call_of(call, &call.named.iter().collect::<Vec<_>>()),
            Term::Sequence(steps) => {
                let steps: Vec<_> = steps.iter().map(|step| self.operand(step)).collect();
                format!("first {}", steps.join(", then "))
            }
            Term::Parallel(parts) => self.between(parts, " and also "),
            Term::AnyOf(parts) => self.between(parts, " or "),
            Term::Because(effect, cause) => {
                let because = if is_clause(cause) { "because" } else { "because of" };
                let cause = match &**cause {
                    Term::Because(..) => self.phrase(cause),
                    cause => self.operand(cause),
                };
                format!("{} {because} {cause}", self.operand(effect))
            }
            Term::Compare(left, comparison, right) => {
                let comparison = match comparison {
                    Comparison::Less => "less than",
                    Comparison::More => "more than",
                    Comparison::AtMost => "at most",
                    Comparison::AtLeast => "at least",
                    Comparison::Differs => "not",
                    Comparison::Equals => "equal to",
                };
                format!("{} is {comparison} {}", self.operand(left), self.operand(right))
            }
            Term::Range(from, to) => format!("{} to {}", self.operand(from), self.operand(to)),
            Term::About(of) => format!("about {}", self.operand(of)),
            Term::Table { columns, rows } => {
                let columns = columns.iter().map(|column| spaced(column)).collect();
                let rows = rows.iter().map(|row| {
                    let cells: Vec<_> = row.iter().map(|cell| self.operand(cell)).collect();
                    cells.join(", ")
                });
                format!("by {}: {}", joined(columns, ", "), rows.collect::<Vec<_>>().join("; "))
            }
            Term::Message(message) => self.sentence(message),
        }
    }

    /// A phrase within another: in parentheses when it could be taken apart wrongly.
    fn operand(&self, term: &Term) -> String {
        let phrase = self.phrase(term);
        let whole = term.is_leaf()
            || match term {
                Term::Call(call) => call.args.len() + call.named.len() < 2,
                Term::Compare(..) | Term::Range(..) | Term::About(_) => true,
                _ => false,
            };
        if whole { phrase } else { format!("({phrase})") }
    }

    /// A call with these of its named arguments.
    pub(super) fn call_of(&self, call: &Call, named: &[&(&'static str, Term)]) -> String {
        if let ("if", [condition, then, otherwise]) = (call.name, call.args.as_slice()) {
            let [condition, then, otherwise] =
                [condition, then, otherwise].map(|term| self.operand(term));
            return format!("if {condition}, then {then}, otherwise {otherwise}");
        }
        let mut out = call.name.to_owned();
        if !call.args.is_empty() {
            let of = if NOUNS.contains(&call.name) { " of" } else { "" };
            let args = call.args.iter().map(|arg| self.operand(arg)).collect();
            let _ = write!(out, "{of} {}", joined(args, ", "));
        }
        if !named.is_empty() {
            let _ = write!(out, " with {}", self.fields(named.iter().copied(), |_| " "));
        }
        out
    }

    fn fields<'f>(
        &self,
        fields: impl IntoIterator<Item = &'f (&'static str, Term)>,
        is: fn(&str) -> &'static str,
    ) -> String {
        let fields = fields.into_iter();
        let fields =
            fields.map(|(key, value)| format!("{}{}{}", spaced(key), is(key), self.operand(value)));
        joined(fields.collect(), ", ")
    }

    fn between(&self, parts: &[Term], word: &str) -> String {
        parts.iter().map(|part| self.operand(part)).collect::<Vec<_>>().join(word)
    }
}

/// What is called with "of" in English. Everything else is a verb and takes its object as it is.
const NOUNS: [&str; 13] = [
    "backup",
    "balance",
    "booking",
    "capacity",
    "cave",
    "deadline",
    "interaction",
    "partitions",
    "positions",
    "quotes",
    "readings",
    "status",
    "timeout",
];

fn is_plural(key: &str) -> bool {
    key.len() > 3 && key.ends_with('s') && !key.ends_with("ss") && !key.ends_with("us")
}

/// Whether the phrase has a verb of its own.
fn is_clause(term: &Term) -> bool {
    match term {
        Term::Compare(..) | Term::Record(_) => true,
        Term::Because(effect, _) => is_clause(effect),
        Term::Call(call) => !NOUNS.contains(&call.name),
        Term::Parallel(parts) => parts.iter().any(is_clause),
        _ => false,
    }
}

fn joined(mut items: Vec<String>, separator: &str) -> String {
    let Some(last) = items.pop() else { return "none".to_owned() };
    if items.is_empty() { last } else { format!("{} and {last}", items.join(separator)) }
}

fn spaced(key: &str) -> String {
    key.replace('_', " ")
}

fn meta(key: MetaKey, value: &str) -> String {
    match key {
        MetaKey::Id => format!("Message {value}"),
        MetaKey::Version => format!("protocol version {value}"),
        MetaKey::ReplyTo => format!("in reply to {value}"),
        MetaKey::SentAt => format!("sent at {value}"),
        MetaKey::Conversation => format!("in conversation {value}"),
        MetaKey::TimeToLive => format!("valid for {value} seconds"),
        MetaKey::Priority => format!("priority {value}"),
        MetaKey::Signature => format!("signed {value}"),
        MetaKey::Authorization => format!("authorized by {value}"),
        MetaKey::Tenant => format!("for tenant {value}"),
        MetaKey::ErrorNamespace => format!("with error namespace {value}"),
        MetaKey::Transaction => format!("in transaction {value}"),
        MetaKey::TransactionState => format!("which is {value}"),
    }
}

fn verb(act: Act) -> &'static str {
    match act {
        Act::Inf => "informs",
        Act::Qry => "asks",
        Act::Rpl => "replies to",
        Act::Cfm => "confirms to",
        Act::Dny => "denies to",
        Act::Err => "reports an error to",
        Act::Req => "requests from",
        Act::Cmd => "orders",
        Act::Pro => "proposes to",
        Act::Acc => "accepts the proposal of",
        Act::Rej => "rejects the proposal of",
        Act::Ctr => "makes a counterproposal to",
        Act::Del => "delegates to",
        Act::Can => "cancels with",
        Act::Sub => "subscribes with",
        Act::Uns => "unsubscribes from",
        Act::Pub => "publishes to",
        Act::Ack => "acknowledges the message of",
        Act::Nak => "cannot process the message of",
        Act::Syn => "synchronizes with",
    }
}
