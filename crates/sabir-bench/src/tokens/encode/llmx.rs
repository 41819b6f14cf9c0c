//! LLMX: a header, and the block that fits the intent.
//!
//! What has a native place goes there: actions, observations, plans, blockers, questions,
//! handoffs. Free text fields hold the phrases of the English encoder. The rest goes into `x_`
//! fields, and an intent without a block of its own into an `X_` block.

use super::english::QUOTED;
use crate::tokens::scenario::{Act, Call, Fields, Message, MetaKey, Term, To};

/// What section 3.5 lets an action do.
const OPERATIONS: [&str; 6] = ["read", "write", "edit", "shell", "search", "spawn"];

/// `REQ` demands a priority; this is what stands there when the record gives none.
const MIDDLE: &str = "3";

pub(super) fn message(message: &Message, number: usize) -> String {
    let body = Body::of(message);
    let mut header = vec![field("f", bare(message.from))];
    header.push(field(
        "t",
        match &message.to {
            To::One(name) => bare(name),
            // The header names one receiver or all of them.
            To::Many(_) | To::Anyone => "ALL".to_owned(),
        },
    ));
    header.push(field("s", number.to_string()));
    if body.batch {
        header.push(field("b", format!("B{number}")));
    }
    if let To::Many(names) = &message.to {
        let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
        header.push(field("x_to", format!("[{}]", names.join(","))));
    }
    if let Some(act) = body.act {
        header.push(field("x_act", quoted(act)));
    }
    for (key, value_of) in &message.meta {
        if let Some(key) = meta_key(*key, body.has_priority) {
            header.push(field(key, value(value_of)));
        }
    }
    let mut out = format!("HEADER:{{{}}}", header.join(","));
    for block in &body.blocks {
        out.push('\n');
        out.push_str(block);
    }
    out
}

/// The blocks after the header, and what they need in it.
struct Body {
    blocks: Vec<String>,
    batch: bool,
    /// The intent, where the blocks alone would be taken for another one.
    act: Option<&'static str>,
    /// Whether a block says the priority.
    has_priority: bool,
}

impl Body {
    fn of(message: &Message) -> Self {
        let plain = |blocks| Self { blocks, batch: false, act: None, has_priority: false };
        let act = message.act;
        let native_to = |expected: Act| (act != expected).then_some(act.info().name);
        match (act, &message.content) {
            (_, Term::Tagged("blocked", fields)) => {
                Self { act: native_to(Act::Inf), ..plain(vec![blocker(fields)]) }
            }
            (_, Term::Tagged("handoff", fields)) => {
                Self { act: native_to(Act::Inf), ..plain(vec![handoff(fields)]) }
            }
            (_, Term::Tagged("plan", fields)) => {
                Self { act: native_to(Act::Inf), ..plain(vec![plan_table(fields)]) }
            }
            (_, Term::Sequence(steps)) => {
                Self { act: native_to(Act::Req), ..plain(vec![plan(steps)]) }
            }
            (Act::Req | Act::Cmd, Term::Parallel(parts)) if parts.iter().all(is_action) => Self {
                batch: true,
                act: native_to(Act::Req),
                ..plain(parts.iter().filter_map(action).collect())
            },
            (Act::Req | Act::Cmd, content) if is_action(content) => {
                Self { act: native_to(Act::Req), ..plain(action(content).into_iter().collect()) }
            }
            (Act::Req | Act::Cmd | Act::Del, content) => Self {
                act: native_to(Act::Req),
                has_priority: true,
                ..plain(vec![request(content, priority(message))])
            },
            (Act::Qry, content) => plain(vec![question(content)]),
            (Act::Rpl, Term::List(items)) if items.iter().all(is_observation) => {
                Self { batch: true, ..plain(items.iter().map(observation).collect()) }
            }
            (Act::Rpl, content) if is_observation(content) => plain(vec![observation(content)]),
            (Act::Rpl, content) if content.is_leaf() => {
                plain(vec![block("RES", vec![field("o", quoted(&words(content)))])])
            }
            (Act::Rpl, content) => {
                let content = object(content);
                plain(vec![block("OBS", vec![field("s", "OK".into()), field("c", content)])])
            }
            (Act::Err, content) => plain(vec![failure(content)]),
            (Act::Ack, content) => plain(vec![response("ACK", content)]),
            (Act::Nak, content) => plain(vec![response("NACK", content)]),
            (Act::Acc | Act::Rej | Act::Cfm | Act::Dny | Act::Ctr, content) => {
                plain(vec![response(act.info().name, content)])
            }
            (
                Act::Inf | Act::Pro | Act::Can | Act::Sub | Act::Uns | Act::Pub | Act::Syn,
                content,
            ) => {
                let kind = act.info().name.to_uppercase();
                plain(vec![format!("X_{kind}:{}", object(content))])
            }
        }
    }
}

fn priority(message: &Message) -> String {
    let given = message.meta.iter().find(|(key, _)| *key == MetaKey::Priority);
    // AXON counts up to five for critical, LLMX down to one.
    match given {
        Some((_, Term::Number { digits, .. })) => match digits.parse::<u8>() {
            Ok(level) => (6 - level.clamp(1, 5)).to_string(),
            Err(_) => MIDDLE.to_owned(),
        },
        _ => MIDDLE.to_owned(),
    }
}

fn request(content: &Term, priority: String) -> String {
    let (content, why) = split_cause(content);
    let (objective, rest) = match content {
        // The first field says what it is about.
        Term::Record(fields) => match fields.split_first() {
            Some(((key, value), rest)) => {
                (format!("{} {}", key.replace('_', " "), words(value)), rest)
            }
            None => (String::new(), &[][..]),
        },
        Term::Tagged(kind, fields) => ((*kind).to_owned(), fields.as_slice()),
        content => (words(content), &[][..]),
    };
    let mut fields = vec![field("o", quoted(&objective)), field("pr", priority)];
    fields.extend(extensions(rest));
    fields.extend(why.map(|why| field("x_why", value(why))));
    block("REQ", fields)
}

fn question(content: &Term) -> String {
    let (content, why) = split_cause(content);
    let mut options = "[]".to_owned();
    let mut default = None;
    let text = match content {
        Term::Call(call) => {
            let (known, rest): (Vec<_>, Vec<_>) =
                call.named.iter().partition(|(key, _)| matches!(*key, "options" | "default"));
            for (key, term) in known {
                match *key {
                    "options" => options = value(term),
                    _ => default = Some(value(term)),
                }
            }
            QUOTED.call_of(call, &rest)
        }
        Term::AnyOf(parts) => {
            options = array(parts);
            "which".to_owned()
        }
        content => words(content),
    };
    let mut fields = vec![field("q", quoted(&text)), field("o", options)];
    fields.extend(default.map(|default| field("def", default)));
    fields.extend(why.map(|why| field("x_why", value(why))));
    block("ASK", fields)
}

fn blocker(fields: &Fields) -> String {
    native("BLK", fields, |key| match key {
        "why" => Some("w"),
        "alternatives" => Some("a"),
        "escalate" => Some("esc"),
        _ => None,
    })
}

fn handoff(fields: &Fields) -> String {
    native("END", fields, |key| match key {
        "next" => Some("n"),
        "tests" => Some("t"),
        "risks" => Some("r"),
        "deliverables" => Some("del"),
        _ => None,
    })
}

fn native(kind: &str, fields: &Fields, key_of: fn(&str) -> Option<&'static str>) -> String {
    let fields = fields.iter().map(|(key, term)| match key_of(key) {
        Some(key) => field(key, value(term)),
        None => field(&format!("x_{key}"), value(term)),
    });
    block(kind, fields.collect())
}

fn plan(steps: &[Term]) -> String {
    let steps = steps.iter().enumerate();
    let steps: Vec<_> =
        steps.map(|(index, step)| tuple(&(index + 1).to_string(), &words(step), "P")).collect();
    format!("PLAN:[{}]", steps.join(","))
}

/// A plan that says how far each step is: the steps are a table of number, task and status.
fn plan_table(fields: &Fields) -> String {
    let mut steps = Vec::new();
    for (_, term) in fields {
        let Term::Table { rows, .. } = term else { continue };
        for row in rows {
            if let [number, task, Term::Symbol(status)] = row.as_slice() {
                let status = match *status {
                    "pending" => "P",
                    "in-progress" => "I",
                    "completed" => "C",
                    _ => "X",
                };
                steps.push(tuple(&words(number), &words(task), status));
            }
        }
    }
    format!("PLAN:[{}]", steps.join(","))
}

fn tuple(id: &str, task: &str, status: &str) -> String {
    format!("(i:{id},t:{},s:{status})", quoted(task))
}

fn is_action(term: &Term) -> bool {
    matches!(term, Term::Call(call) if OPERATIONS.contains(&call.name) && call.args.len() == 1)
}

fn action(term: &Term) -> Option<String> {
    let Term::Call(call) = term else { return None };
    let mut fields = Vec::new();
    let id = call.named.iter().find(|(key, _)| *key == "id");
    fields.extend(id.map(|(_, id)| field("i", bare(&words(id)))));
    fields.push(field("op", call.name.to_owned()));
    fields.push(field("tgt", quoted(&target(call))));
    let rest: Vec<_> = call.named.iter().filter(|(key, _)| *key != "id").collect();
    if !rest.is_empty() {
        let rest: Vec<_> = rest.iter().map(|(key, term)| field(key, value(term))).collect();
        fields.push(field("args", format!("{{{}}}", rest.join(","))));
    }
    Some(block("ACT", fields))
}

fn target(call: &Call) -> String {
    let target = call.args.first().map(words).unwrap_or_default();
    // Commands are no paths.
    if matches!(call.name, "shell" | "spawn") { target } else { format!("p:{target}") }
}

fn is_observation(term: &Term) -> bool {
    matches!(term, Term::Tagged("observation", _))
}

fn observation(term: &Term) -> String {
    let Term::Tagged(_, fields) = term else { return String::new() };
    let mut out = Vec::new();
    let mut content = Vec::new();
    let failed = fields.iter().any(|(key, _)| *key == "error");
    for (key, term) in fields {
        match *key {
            "action" => {
                out.push(field("ai", bare(&words(term))));
                out.push(field("s", if failed { "ERR" } else { "OK" }.to_owned()));
            }
            "error" => out.push(field("e", quoted(&words(term)))),
            key if failed => out.push(field(&format!("x_{key}"), value(term))),
            key => content.push(field(key, value(term))),
        }
    }
    if !failed {
        out.push(field("c", format!("{{{}}}", content.join(","))));
    }
    block("OBS", out)
}

fn failure(content: &Term) -> String {
    let (content, why) = split_cause(content);
    let mut out = vec![field("s", "ERR".to_owned())];
    match content {
        Term::Record(fields) | Term::Tagged(_, fields) => {
            let what = fields.iter().find(|(key, _)| *key == "what");
            if let Some((_, what)) = what {
                out.push(field("e", quoted(&words(what))));
            }
            if let Term::Tagged(kind, _) = content {
                out.push(field("x_type", quoted(kind)));
            }
            let rest = fields.iter().filter(|(key, _)| *key != "what");
            out.extend(rest.map(|(key, term)| field(&format!("x_{key}"), value(term))));
        }
        content => out.push(field("e", quoted(&words(content)))),
    }
    out.extend(why.map(|why| field("x_why", value(why))));
    block("OBS", out)
}

fn response(option: &str, content: &Term) -> String {
    let (content, why) = split_cause(content);
    let mut out = vec![field("o", quoted(option))];
    match content {
        Term::Nothing => {}
        Term::Record(fields) => out.extend(extensions(fields)),
        Term::Tagged(kind, fields) => {
            out.push(field("x_type", quoted(kind)));
            out.extend(extensions(fields));
        }
        content => out.push(field("msg", quoted(&words(content)))),
    }
    out.extend(why.map(|why| field("x_why", value(why))));
    block("RES", out)
}

/// The reason of what is said is a field of its own wherever a block has fields.
fn split_cause(content: &Term) -> (&Term, Option<&Term>) {
    match content {
        Term::Because(effect, cause) => (effect, Some(cause)),
        content => (content, None),
    }
}

fn extensions(fields: &[(&'static str, Term)]) -> Vec<String> {
    fields.iter().map(|(key, term)| field(&format!("x_{key}"), value(term))).collect()
}

fn words(term: &Term) -> String {
    match term {
        // The string that it becomes is quotation enough.
        Term::Text(text) => (*text).to_owned(),
        Term::Variable(name) => format!("${name}"),
        term => QUOTED.phrase(term),
    }
}

fn object(term: &Term) -> String {
    let text = value(term);
    if text.starts_with('{') { text } else { format!("{{value:{text}}}") }
}

fn value(term: &Term) -> String {
    match term {
        // There is no null; a word has to do.
        Term::Nothing => quoted("none"),
        Term::Text(text) => quoted(text),
        Term::Number { digits, unit: None } => (*digits).to_owned(),
        Term::Number { digits, unit: Some(unit) } => quoted(&format!("{digits}{}", unit.text())),
        Term::Bool(value) => value.to_string(),
        Term::Entity(name) | Term::Symbol(name) | Term::Name(name) => quoted(name),
        Term::Variable(name) => quoted(&format!("${name}")),
        Term::List(items) => array(items),
        Term::Record(fields) => braces(Vec::new(), fields),
        Term::Tagged(kind, fields) if fields.is_empty() => quoted(kind),
        Term::Tagged(kind, fields) => braces(vec![field("type", quoted(kind))], fields),
        Term::Call(call) => {
            let mut out = vec![field("call", quoted(call.name))];
            if !call.args.is_empty() {
                out.push(field("args", array(&call.args)));
            }
            braces(out, &call.named)
        }
        Term::Sequence(steps) => format!("{{seq:{}}}", array(steps)),
        Term::Parallel(parts) => format!("{{all:{}}}", array(parts)),
        Term::AnyOf(parts) => format!("{{any:{}}}", array(parts)),
        Term::Because(effect, cause) => {
            let (effect, cause) = (value(effect), field("why", value(cause)));
            match effect.strip_suffix('}') {
                Some(open) => format!("{open},{cause}}}"),
                None => format!("{{what:{effect},{cause}}}"),
            }
        }
        Term::Compare(left, comparison, right) => format!(
            "{{left:{},op:{},right:{}}}",
            value(left),
            quoted(comparison.symbol()),
            value(right)
        ),
        Term::Range(from, to) => format!("{{from:{},to:{}}}", value(from), value(to)),
        Term::About(of) => format!("{{about:{}}}", value(of)),
        Term::Table { columns, rows } => {
            let rows = rows.iter().map(|row| {
                let cells = columns.iter().zip(row);
                let cells: Vec<_> = cells.map(|(key, cell)| field(key, value(cell))).collect();
                format!("{{{}}}", cells.join(","))
            });
            format!("[{}]", rows.collect::<Vec<_>>().join(","))
        }
        Term::Message(message) => {
            let to = match &message.to {
                To::One(name) => quoted(name),
                To::Many(names) => {
                    let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
                    format!("[{}]", names.join(","))
                }
                To::Anyone => quoted("ALL"),
            };
            let mut out = vec![
                field("act", quoted(message.act.info().name)),
                field("f", quoted(message.from)),
                field("t", to),
            ];
            let meta = message.meta.iter();
            out.extend(
                meta.filter_map(|(key, term)| Some(field(meta_key(*key, false)?, value(term)))),
            );
            if !matches!(message.content, Term::Nothing) {
                out.push(field("c", value(&message.content)));
            }
            format!("{{{}}}", out.join(","))
        }
    }
}

fn braces(mut out: Vec<String>, fields: &Fields) -> String {
    out.extend(fields.iter().map(|(key, term)| field(key, value(term))));
    format!("{{{}}}", out.join(","))
}

fn array(items: &[Term]) -> String {
    format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(","))
}

fn block(kind: &str, fields: Vec<String>) -> String {
    format!("{kind}:{{{}}}", fields.join(","))
}

fn field(key: &str, value: String) -> String {
    format!("{key}:{value}")
}

/// A name that stands without quotes where the specification shows it so.
fn bare(name: &str) -> String {
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if starts && characters.all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-')) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// Strings are escaped as in JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn meta_key(key: MetaKey, in_block: bool) -> Option<&'static str> {
    Some(match key {
        MetaKey::Id => "x_id",
        MetaKey::Version => "x_v",
        MetaKey::ReplyTo => "x_re",
        MetaKey::SentAt => "x_ts",
        MetaKey::Conversation => "x_ctx",
        MetaKey::TimeToLive => "x_ttl",
        MetaKey::Priority if in_block => return None,
        MetaKey::Priority => "x_priority",
        MetaKey::Signature => "x_sig",
        MetaKey::Authorization => "x_authz",
        MetaKey::Tenant => "x_tenant",
        MetaKey::ErrorNamespace => "x_err_ns",
        MetaKey::Transaction => "x_txn_id",
        MetaKey::TransactionState => "x_txn_state",
    })
}
