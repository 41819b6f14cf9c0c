//! How an AXON message is said in LLMX: one HEADER and one block.
//!
//! Routing becomes `f` and `t`, metadata becomes `x_` fields of the HEADER, the performative chooses
//! the block, and the content goes where the block has room for it. What has no native place
//! travels in extension fields: the performative as `x_perf` where the block does not imply it, and
//! `x_lang:axon` where a text is an AXON expression.

use std::fmt::Write;

use sabir_llmx::{Block, BlockKind, Node, Operation, is_key, is_word, quote_into};
use serde_json::{Map, Value, json};

use crate::faithful;
use crate::numbering::Numbering;
use crate::speech::{Speech, expression, is_json_number};

/// Says a message, with the next number of its sender.
pub(crate) fn say(speech: &Speech, numbering: &Numbering) -> Option<String> {
    let mut out = String::new();
    let sender = sender(speech);
    out.push_str("HEADER:{f:");
    quote_into(&mut out, &sender);
    out.push_str(",t:");
    receiver(&mut out, &speech.value["to"]);
    // Writing to a string does not fail, here and below.
    let _ = write!(out, ",s:{}", numbering.next(&sender));
    let mut block = String::new();
    body(&mut block, speech)?;
    let mut meta: Vec<(&str, &Value)> = speech.meta().collect();
    if block.starts_with("REQ:") && says_priority(&meta) {
        meta.pop();
    }
    metadata(&mut out, &meta);
    out.push_str("}\n");
    out.push_str(&block);
    let parsed = sabir_llmx::check_messages(&out);
    (!parsed.has_errors()).then(|| sabir_llmx::print(&parsed.tree))
}

/// The message that one LLMX message says, if `say` would say it so.
pub(crate) fn unsay(text: &str, numbering: &Numbering) -> Option<Speech> {
    let parsed = sabir_llmx::parse(text);
    let message = parsed.tree.messages().next()?;
    let header = message.header()?;
    let mut blocks = message.blocks();
    let block = blocks.next().filter(|_| blocks.next().is_none())?;
    let (performative, content) = read_body(block)?;
    let mut value = Map::new();
    let mut meta = read_metadata(header)?;
    let priority = block.get("pr").and_then(|node| node.text().parse::<u8>().ok());
    if let Some(number @ (1 | 2 | 4 | 5)) = priority
        && !meta.contains_key("^")
    {
        meta.insert("^".to_owned(), json!({ "num": (6 - number).to_string() }));
    }
    if !meta.is_empty() {
        value.insert("meta".to_owned(), Value::Object(meta));
    }
    value.insert("performative".to_owned(), Value::String(performative));
    value.insert("from".to_owned(), read_sender(header.get("f")?)?);
    value.insert("to".to_owned(), read_receiver(header.get("t")?)?);
    value.insert("content".to_owned(), content);
    let speech = Speech::build(Value::Object(value))?;
    let said = say(&speech, numbering)?;
    sabir_llmx::same(&parsed.tree, &sabir_llmx::parse(&said).tree).then_some(speech)
}

/// The text of `f`: a name, `*`, or a list of agents as AXON writes it.
fn sender(speech: &Speech) -> String {
    match &speech.value["from"] {
        Value::String(agent) => agent.strip_prefix('@').unwrap_or(agent).to_owned(),
        Value::Array(agents) => {
            let agents: Vec<&str> = agents.iter().filter_map(Value::as_str).collect();
            format!("[{}]", agents.join(","))
        }
        _ => String::new(),
    }
}

fn read_sender(node: Node<'_>) -> Option<Value> {
    let text = node.as_text()?;
    if text == "*" {
        return Some(json!("*"));
    }
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(list) => Some(list.split(',').map(Value::from).collect()),
        None => Some(Value::String(format!("@{text}"))),
    }
}

/// `t`: a name, `ALL` for anyone, or a list of names. An agent called `ALL` keeps its sigil.
fn receiver(out: &mut String, to: &Value) {
    let bare = |agent: &Value| {
        let agent = agent.as_str().unwrap_or_default();
        agent.strip_prefix('@').unwrap_or(agent).to_owned()
    };
    match to {
        Value::Array(agents) => {
            let items = agents.iter().map(|agent| sabir_llmx::quote(&bare(agent)));
            let _ = write!(out, "[{}]", items.collect::<Vec<_>>().join(","));
        }
        Value::String(agent) if agent == "*" => out.push_str("ALL"),
        Value::String(agent) if agent == "@ALL" => out.push_str("\"@ALL\""),
        agent => quote_into(out, &bare(agent)),
    }
}

fn read_receiver(node: Node<'_>) -> Option<Value> {
    if let sabir_llmx::Value::Array(items) = node.value() {
        return items.map(|item| Some(Value::String(format!("@{}", item.as_text()?)))).collect();
    }
    let text = node.as_text()?;
    Some(match &*text {
        "ALL" => json!("*"),
        "@ALL" => json!("@ALL"),
        name => Value::String(format!("@{name}")),
    })
}

/// Each metadata field as an extension of the HEADER; if one of them has a key that LLMX could not
/// write or tell apart, all of them as one list of pairs.
fn metadata(out: &mut String, meta: &[(&str, &Value)]) {
    let keys: Option<Vec<String>> = meta.iter().map(|(key, _)| header_key(key)).collect();
    let distinct = keys.filter(|keys| {
        let mut lower: Vec<String> = keys.iter().map(|key| key.to_ascii_lowercase()).collect();
        lower.sort_unstable();
        lower.windows(2).all(|pair| pair[0] != pair[1])
    });
    match distinct {
        Some(keys) => {
            for (key, (_, value)) in keys.iter().zip(meta) {
                let _ = write!(out, ",{key}:");
                structure(out, value, 1);
            }
        }
        None => {
            out.push_str(",x_meta:");
            pairs(out, meta.iter().copied(), 1);
        }
    }
}

fn read_metadata(header: Block<'_>) -> Option<Map<String, Value>> {
    let mut meta = Map::new();
    for field in header.fields().filter(|field| field.is_extension()) {
        if field.key() == "x_meta" {
            meta.extend(read_pairs(field.value)?);
        } else {
            let key = match field.key() {
                "x_v" => "%%",
                "x_pri" => "^",
                key => &key[2..],
            };
            meta.insert(key.to_owned(), read_structure(field.value)?);
        }
    }
    Some(meta)
}

fn header_key(key: &str) -> Option<String> {
    match key {
        "%%" => Some("x_v".to_owned()),
        "^" => Some("x_pri".to_owned()),
        "v" | "pri" | "meta" => None,
        key => {
            let fits = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            fits.then(|| format!("x_{key}"))
        }
    }
}

/// The block that says it.
fn body(out: &mut String, speech: &Speech) -> Option<()> {
    let content = speech.content();
    let performative = speech.performative();
    let implied = match performative {
        "QRY" => {
            out.push_str("ASK:{");
            let language = text(out, "q", speech)?;
            out.push_str(",o:[]");
            end(out, None, language);
            return Some(());
        }
        "ACK" | "NAK" | "ACC" | "REJ" | "CTR" => {
            let option = if performative == "NAK" { "NACK" } else { performative };
            let _ = write!(out, "RES:{{o:\"{option}\"");
            let language = if content.is_null() {
                Language::Plain
            } else {
                out.push(',');
                text(out, "msg", speech)?
            };
            end(out, None, language);
            return Some(());
        }
        "ERR" => {
            out.push_str("OBS:{s:ERR,");
            let language = text(out, "e", speech)?;
            end(out, None, language);
            return Some(());
        }
        "CMD" if action(out, content).is_some() => return Some(()),
        "PRO" if plan(out, content).is_some() => return Some(()),
        "REQ" | "CMD" | "PRO" | "DEL" | "SUB" | "UNS" | "CAN" => "REQ",
        _ => "RPL",
    };
    let told = (performative != implied).then_some(performative);
    if implied == "REQ" {
        out.push_str("REQ:{");
        let language = text(out, "o", speech)?;
        let _ = write!(out, ",pr:{}", priority(speech));
        end(out, told, language);
    } else {
        out.push_str("OBS:{s:OK,c:");
        content_object(out, content);
        end(out, told, Language::Plain);
    }
    Some(())
}

/// What the text of a block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Plain,
    Axon,
}

/// The content as text under `key`.
fn text(out: &mut String, key: &str, speech: &Speech) -> Option<Language> {
    let _ = write!(out, "{key}:");
    match speech.content() {
        Value::String(text) => {
            quote_into(out, text);
            Some(Language::Plain)
        }
        _ => {
            quote_into(out, &speech.content_text()?);
            Some(Language::Axon)
        }
    }
}

/// The extension fields, and the closing brace.
fn end(out: &mut String, performative: Option<&str>, language: Language) {
    if let Some(word) = performative {
        out.push_str(",x_perf:");
        if is_word(word) {
            out.push_str(word);
        } else {
            quote_into(out, word);
        }
    }
    if language == Language::Axon {
        out.push_str(",x_lang:axon");
    }
    out.push('}');
}

/// AXON counts priorities upwards from 0 to 5, LLMX downwards from 1 to 5; 3 says nothing.
fn priority(speech: &Speech) -> u8 {
    let stated = speech.meta().find(|(key, _)| *key == "^");
    stated.and_then(|(_, value)| as_priority(value)).unwrap_or(3)
}

fn as_priority(value: &Value) -> Option<u8> {
    let form = value.as_object().filter(|form| form.len() == 1)?;
    match form.get("num")?.as_str()? {
        "1" => Some(5),
        "2" => Some(4),
        "4" => Some(2),
        "5" => Some(1),
        _ => None,
    }
}

/// Whether the last field is a priority that the `pr` of a request says: then the HEADER need not.
fn says_priority(meta: &[(&str, &Value)]) -> bool {
    meta.last().is_some_and(|(key, value)| *key == "^" && as_priority(value).is_some())
}

/// `read("p:a",from:1)` is an action: operation, target, arguments.
fn action(out: &mut String, content: &Value) -> Option<()> {
    let operation = Operation::from_word(content["call"].as_str()?.into());
    let mut args = content["args"].as_array()?.iter();
    let target = args.next()?.as_str()?;
    let named: Option<Vec<(&str, &Value)>> = args
        .map(|arg| Some((arg["arg"].as_str()?, arg.get("value")?)))
        .map(|arg| arg.filter(|(key, _)| is_key(key)))
        .collect();
    let named = named.filter(|_| operation.is_known())?;
    // A target that no reader of LLMX accepts is not made into one.
    if operation.targets_a_path() && sabir_llmx::escape(target).is_some() {
        return None;
    }
    let _ = write!(out, "ACT:{{op:{},tgt:", operation.as_str());
    quote_into(out, target);
    for (index, (key, value)) in named.iter().enumerate() {
        let _ = write!(out, "{}{key}:", if index == 0 { ",args:{" } else { "," });
        structure(out, value, 2);
    }
    out.push_str(if named.is_empty() { "}" } else { "}}" });
    Some(())
}

/// `"survey"->"build"->"inspect"` is a plan whose steps are all still to be done.
fn plan(out: &mut String, content: &Value) -> Option<()> {
    let steps = content["args"].as_array().filter(|_| content["op"] == "->")?;
    let steps: Vec<&str> = steps.iter().map(Value::as_str).collect::<Option<_>>()?;
    out.push_str("PLAN:[");
    for (index, step) in steps.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(out, "{comma}(i:{},t:", index + 1);
        quote_into(out, step);
        out.push_str(",s:P)");
    }
    out.push(']');
    Some(())
}

fn read_body(block: Block<'_>) -> Option<(String, Value)> {
    let told = block.get("x_perf").and_then(Node::as_text);
    let text = |key: &str| {
        let text = block.get(key)?.as_text()?;
        match block.get("x_lang") {
            Some(_) => expression(&text),
            None => Some(Value::String(text.into_owned())),
        }
    };
    let (implied, content) = match block.kind() {
        BlockKind::Req => ("REQ", text("o")?),
        BlockKind::Ask => ("QRY", text("q")?),
        BlockKind::Obs if block.get("e").is_some() => ("ERR", text("e")?),
        BlockKind::Obs => ("RPL", read_content_object(block.get("c")?)?),
        BlockKind::Res => {
            let performative = match &*block.get("o")?.as_text()? {
                "NACK" => "NAK",
                "ACK" => "ACK",
                "ACC" => "ACC",
                "REJ" => "REJ",
                "CTR" => "CTR",
                _ => return None,
            };
            let content = if block.get("msg").is_some() { text("msg")? } else { Value::Null };
            (performative, content)
        }
        BlockKind::Plan => {
            let steps = block.body.children().map(|step| {
                let task = step.fields().find(|field| field.is("t"))?;
                Some(Value::String(task.value.as_text()?.into_owned()))
            });
            ("PRO", json!({ "op": "->", "args": steps.collect::<Option<Vec<_>>>()? }))
        }
        BlockKind::Act => {
            let mut args = vec![Value::String(block.get("tgt")?.as_text()?.into_owned())];
            for field in block.get("args").into_iter().flat_map(Node::fields) {
                args.push(json!({ "arg": field.key(), "value": read_structure(field.value)? }));
            }
            ("CMD", json!({ "call": block.get("op")?.as_text()?, "args": args }))
        }
        BlockKind::Header
        | BlockKind::Ctx
        | BlockKind::Blk
        | BlockKind::End
        | BlockKind::Extension
        | BlockKind::Unknown => return None,
    };
    Some((told.map_or_else(|| implied.to_owned(), Into::into), content))
}

/// The content of an observation is an object: what is none becomes the `value` of one.
fn content_object(out: &mut String, content: &Value) {
    let mut whole = String::new();
    structure(&mut whole, content, 2);
    if whole.starts_with('{') {
        out.push_str(&whole);
    } else {
        let _ = write!(out, "{{value:{whole}}}");
    }
}

fn read_content_object(node: Node<'_>) -> Option<Value> {
    let mut fields = node.fields();
    match fields.next() {
        Some(field) if field.key() == "value" && fields.next().is_none() => {
            read_structure(field.value)
        }
        _ => read_structure(node),
    }
}

/// A key that an object cannot start with when it stands for a record: it would be read as one of
/// the forms.
const FORMS: &[&str] = &[
    "num",
    "ref",
    "var",
    "name",
    "tag",
    "call",
    "arg",
    "op",
    "approx",
    "performative",
    "record",
    "pairs",
    "nil",
    "json",
    "value",
];

/// Deeper than this, what is left is written as JSON in a string: LLMX goes less deep than AXON's
/// structure does.
const DEEPEST: usize = sabir_llmx::MAX_DEPTH as usize - 32;

/// An AXON expression as an LLMX value: texts, numbers, truth values, lists and records are what
/// they are, everything else is an object that names its form.
fn structure(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::String(text) => quote_into(out, text),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Null => out.push_str("{nil:true}"),
        Value::Array(_) | Value::Object(_) if depth > DEEPEST => {
            out.push_str("{json:");
            quote_into(out, &value.to_string());
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                structure(out, item, depth + 1);
            }
            out.push(']');
        }
        Value::Object(form) => match (form.get("num"), form.get("record")) {
            (Some(Value::String(digits)), _) if form.len() == 1 && is_json_number(digits) => {
                out.push_str(digits);
            }
            (_, Some(Value::Object(fields))) if form.len() == 1 && is_plain(fields) => {
                record(out, fields, depth);
            }
            _ => named_form(out, form, depth),
        },
    }
}

/// Whether a record can be an object of its own, without its form being named.
fn is_plain(fields: &Map<String, Value>) -> bool {
    let is_form = fields.keys().next().is_some_and(|key| FORMS.contains(&&**key));
    !is_form && fields.keys().all(|key| is_key(key))
}

fn record(out: &mut String, fields: &Map<String, Value>, depth: usize) {
    out.push('{');
    for (index, (key, value)) in fields.iter().enumerate() {
        let _ = write!(out, "{}{key}:", if index > 0 { "," } else { "" });
        structure(out, value, depth + 1);
    }
    out.push('}');
}

fn named_form(out: &mut String, form: &Map<String, Value>, depth: usize) {
    out.push('{');
    for (index, (key, value)) in form.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match value {
            Value::Object(fields) if key == "record" => {
                if fields.keys().all(|key| is_key(key)) {
                    out.push_str("record:");
                    record(out, fields, depth + 1);
                } else {
                    out.push_str("pairs:");
                    pairs(out, fields.iter().map(|(key, value)| (key.as_str(), value)), depth + 1);
                }
            }
            _ => {
                let _ = write!(out, "{key}:");
                structure(out, value, depth + 1);
            }
        }
    }
    out.push('}');
}

fn pairs<'a>(out: &mut String, fields: impl Iterator<Item = (&'a str, &'a Value)>, depth: usize) {
    out.push('[');
    for (index, (key, value)) in fields.enumerate() {
        out.push_str(if index > 0 { ",[" } else { "[" });
        quote_into(out, key);
        out.push(',');
        structure(out, value, depth + 2);
        out.push(']');
    }
    out.push(']');
}

fn read_pairs(node: Node<'_>) -> Option<Map<String, Value>> {
    let mut map = Map::new();
    for pair in node.children() {
        let mut parts = pair.children();
        let key = parts.next()?.as_text()?.into_owned();
        map.insert(key, read_structure(parts.next()?)?);
    }
    Some(map)
}

fn read_structure(node: Node<'_>) -> Option<Value> {
    use sabir_llmx::Value as Is;
    Some(match node.value() {
        Is::Text(text) => Value::String(text.into_owned()),
        Is::Number(lexeme) => json!({ "num": lexeme }),
        Is::Bool(truth) => Value::Bool(truth),
        Is::Array(items) => Value::Array(items.map(read_structure).collect::<Option<_>>()?),
        Is::Object(object) => read_object(object)?,
        Is::Word(_) | Is::Run(_) | Is::Null | Is::Error => return None,
    })
}

fn read_object(object: Node<'_>) -> Option<Value> {
    let Some(first) = object.fields().next() else { return Some(json!({ "record": {} })) };
    match first.key() {
        "nil" => return Some(Value::Null),
        "json" => return faithful::value(&first.value.as_text()?),
        _ => {}
    }
    let is_form = FORMS.contains(&first.key());
    let mut map = Map::new();
    for field in object.fields() {
        match field.key() {
            "record" if is_form => {
                map.insert("record".to_owned(), Value::Object(read_fields(field.value)?));
            }
            "pairs" if is_form => {
                map.insert("record".to_owned(), Value::Object(read_pairs(field.value)?));
            }
            "times" if is_form => {
                let times: u32 = field.value.text().parse().ok()?;
                map.insert("times".to_owned(), Value::from(times));
            }
            key => {
                map.insert(key.to_owned(), read_structure(field.value)?);
            }
        }
    }
    Some(if is_form { Value::Object(map) } else { json!({ "record": map }) })
}

fn read_fields(object: Node<'_>) -> Option<Map<String, Value>> {
    let fields = object.fields();
    fields.map(|field| Some((field.key().to_owned(), read_structure(field.value)?))).collect()
}
