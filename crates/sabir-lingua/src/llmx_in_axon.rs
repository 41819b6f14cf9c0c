//! How an LLMX message is said in AXON: one message whose content is its blocks.
//!
//! `f` and `t` become routing, `s` and `b` become the metadata `seq` and `batch`, `x_` fields of the
//! HEADER that are AXON's own metadata become that, and the others keep their names. The blocks
//! choose the performative. A block in braces is a tag with a record, one in brackets a call with a
//! list; several are joined by `&`.

use sabir_axon::{MetaField, MetaValue, is_agent_name};
use sabir_llmx::{Block, BlockKind, Field, Kind, Message, Node, quote_into};
use serde_json::{Map, Value, json};

use crate::speech::{Speech, number};

/// Says one LLMX message, which is in its strict form.
pub(crate) fn say(text: &str) -> Option<Speech> {
    let parsed = sabir_llmx::parse(text);
    say_message(parsed.tree.messages().next()?)
}

fn say_message(message: Message<'_>) -> Option<Speech> {
    let Heading { meta, from, to } = heading(message.header()?);
    let mut contents: Vec<Value> = message.blocks().map(block).collect();
    let content = match contents.len() {
        0 => Value::Null,
        1 => contents.remove(0),
        _ => json!({ "op": "&", "args": contents }),
    };
    Speech::build(json!({
        "meta": meta,
        "performative": performative(message),
        "from": from,
        "to": to,
        "content": content,
    }))
}

/// The LLMX message that an AXON message says, if `say` would say it so.
pub(crate) fn unsay(speech: &Speech) -> Option<String> {
    let mut out = String::from("HEADER:");
    read_heading(&mut out, speech)?;
    out.push('\n');
    match speech.content() {
        Value::Null => {}
        content if content["op"] == "&" => {
            for part in content["args"].as_array()? {
                read_block(&mut out, part)?;
            }
        }
        content => read_block(&mut out, content)?,
    }
    let parsed = sabir_llmx::check_messages(&out);
    if parsed.has_errors() {
        return None;
    }
    let strict = sabir_llmx::print(&parsed.tree);
    say(&strict)?.same(speech).then_some(strict)
}

struct Heading {
    meta: Map<String, Value>,
    from: Value,
    to: Value,
}

/// What the HEADER says, natively if AXON has a word for all of it in this order, and otherwise as
/// a record of its own.
fn heading(header: Block<'_>) -> Heading {
    native_heading(header).unwrap_or_else(|| {
        let from = header.get("f").and_then(agent).unwrap_or_else(|| json!("@_"));
        let to = header.get("t").and_then(receiver).unwrap_or_else(|| json!("@_"));
        let fields = json!({ "record": record(header.body, Keep::Strict, 1) });
        Heading { meta: Map::from_iter([("header".to_owned(), fields)]), from, to }
    })
}

fn native_heading(header: Block<'_>) -> Option<Heading> {
    let mut fields = header.fields();
    let mut next = |key: &str| fields.next().filter(|field| field.key() == key);
    let from = agent(next("f")?.value)?;
    let to = receiver(next("t")?.value)?;
    let sequence = next("s")?.value;
    let is_whole = sequence.kind() == Kind::Number
        && sequence.text().bytes().all(|byte| byte.is_ascii_digit());
    let mut meta = Map::new();
    meta.insert("seq".to_owned(), is_whole.then(|| number(sequence.text()))?);
    for (index, field) in fields.enumerate() {
        let (key, value) = match field.key() {
            "b" if index == 0 => {
                ("batch".to_owned(), Value::String(field.value.as_text()?.into_owned()))
            }
            _ => metadata(field)?,
        };
        if meta.insert(key, value).is_some() {
            return None;
        }
    }
    Some(Heading { meta, from, to })
}

/// A field of the HEADER as metadata. `None` when AXON would read something else into it.
fn metadata(field: Field<'_>) -> Option<(String, Value)> {
    let key = field.key();
    let keep = if field.is_extension() { Keep::Verbatim } else { Keep::Strict };
    let value = value(field.value, keep, 1);
    if let Some(own) = key.strip_prefix("x_") {
        let own = match own {
            "v" => "%%",
            "pri" => "^",
            own => own,
        };
        let core = MetaField::ALL.iter().find(|core| core.key == own);
        if core.is_some_and(|core| fits(core.value, &value)) {
            return Some((own.to_owned(), value));
        }
    }
    let is_taken = matches!(key, "seq" | "batch" | "header" | "f" | "t" | "s" | "b")
        || MetaField::ALL.iter().any(|core| core.key == key);
    let is_name = key.starts_with(|first: char| first.is_ascii_alphabetic());
    (is_name && !is_taken).then(|| (key.to_owned(), value))
}

/// Whether a value is what AXON demands of a core field.
fn fits(kind: MetaValue, value: &Value) -> bool {
    let whole = || value["num"].as_str().and_then(|digits| digits.parse::<u64>().ok());
    match kind {
        MetaValue::Text => value.as_str().is_some_and(|text| !text.is_empty()),
        MetaValue::PositiveInteger => whole().is_some_and(|number| number > 0),
        MetaValue::Priority => whole().is_some_and(|number| number <= 5),
    }
}

fn agent(node: Node<'_>) -> Option<Value> {
    let name = node.as_text()?;
    is_agent_name(&name).then(|| Value::String(format!("@{name}")))
}

fn receiver(node: Node<'_>) -> Option<Value> {
    if let sabir_llmx::Value::Array(items) = node.value() {
        let agents: Option<Vec<Value>> = items.map(agent).collect();
        return agents.filter(|agents| !agents.is_empty()).map(Value::Array);
    }
    match node.as_text()?.as_ref() {
        "ALL" => Some(json!("*")),
        _ => agent(node),
    }
}

/// What kind of speech act the blocks are: the first of these that is there decides.
fn performative(message: Message<'_>) -> &'static str {
    const ORDER: [BlockKind; 9] = [
        BlockKind::Req,
        BlockKind::Act,
        BlockKind::Blk,
        BlockKind::Ask,
        BlockKind::Obs,
        BlockKind::Res,
        BlockKind::End,
        BlockKind::Plan,
        BlockKind::Ctx,
    ];
    let decisive =
        ORDER.iter().find_map(|kind| message.blocks().find(|block| block.kind() == *kind));
    let Some(block) = decisive else { return "INF" };
    let says = |key: &str, word: &str| {
        block.get(key).and_then(Node::as_text).is_some_and(|text| text == word)
    };
    match block.kind() {
        BlockKind::Req => "REQ",
        BlockKind::Act => "CMD",
        BlockKind::Blk => "ERR",
        BlockKind::Ask => "QRY",
        BlockKind::Obs if says("s", "ERR") => "ERR",
        BlockKind::Res if says("o", "ACK") => "ACK",
        BlockKind::Res if says("o", "NACK") => "NAK",
        BlockKind::Res if says("o", "WARN") => "INF",
        BlockKind::Obs | BlockKind::Res => "RPL",
        BlockKind::Plan => "PRO",
        BlockKind::End
        | BlockKind::Ctx
        | BlockKind::Header
        | BlockKind::Extension
        | BlockKind::Unknown => "INF",
    }
}

/// Whether words and nulls are kept apart from text, as extensions demand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Strict,
    Verbatim,
}

fn block(block: Block<'_>) -> Value {
    let keep = match block.kind() {
        BlockKind::Extension | BlockKind::Unknown => Keep::Verbatim,
        _ => Keep::Strict,
    };
    let word = block.word();
    match block.body.kind() {
        Kind::Object => json!({ "tag": word, "record": record(block.body, keep, 1) }),
        _ => json!({ "call": word, "args": [value(block.body, keep, 1)] }),
    }
}

fn read_block(out: &mut String, part: &Value) -> Option<()> {
    match (part["tag"].as_str(), part["call"].as_str()) {
        (Some(word), _) => {
            let keep = keep_of(word);
            out.push_str(word);
            out.push(':');
            read_record(out, part["record"].as_object()?, ('{', '}'), keep)?;
        }
        (_, Some(word)) => {
            let keep = keep_of(word);
            let [Value::Array(items)] = part["args"].as_array()?.as_slice() else { return None };
            out.push_str(word);
            out.push_str(":[");
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                match item.get("record").and_then(Value::as_object) {
                    Some(step) if word == "PLAN" => read_record(out, step, ('(', ')'), keep)?,
                    _ => read_value(out, item, keep)?,
                }
            }
            out.push(']');
        }
        _ => return None,
    }
    out.push('\n');
    Some(())
}

fn keep_of(word: &str) -> Keep {
    match BlockKind::from_word(word) {
        BlockKind::Extension | BlockKind::Unknown => Keep::Verbatim,
        _ => Keep::Strict,
    }
}

fn read_heading(out: &mut String, speech: &Speech) -> Option<()> {
    if let Some((_, header)) = speech.meta().find(|(key, _)| *key == "header") {
        return read_record(out, header["record"].as_object()?, ('{', '}'), Keep::Strict);
    }
    out.push_str("{f:");
    let bare = |agent: &Value| Some(agent.as_str()?.strip_prefix('@')?.to_owned());
    quote_into(out, &bare(&speech.value["from"])?);
    out.push_str(",t:");
    match &speech.value["to"] {
        Value::Array(agents) => {
            for (index, agent) in agents.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                quote_into(out, &bare(agent)?);
            }
            out.push(']');
        }
        Value::String(anyone) if anyone == "*" => out.push_str("ALL"),
        agent => quote_into(out, &bare(agent)?),
    }
    let mut meta = speech.meta();
    let (_, sequence) = meta.next().filter(|(key, _)| *key == "seq")?;
    out.push_str(",s:");
    out.push_str(sequence["num"].as_str()?);
    for (key, value) in meta {
        let key = match key {
            "batch" => "b",
            "%%" => "x_v",
            "^" => "x_pri",
            key if MetaField::ALL.iter().any(|core| core.key == key) => &format!("x_{key}"),
            key => key,
        };
        out.push(',');
        out.push_str(key);
        out.push(':');
        let keep = if sabir_llmx::is_extension(key) { Keep::Verbatim } else { Keep::Strict };
        read_value(out, value, keep)?;
    }
    out.push('}');
    Some(())
}

/// Deeper than this, what is left is written as LLMX in a string: calls make AXON deeper than LLMX.
const DEEPEST: usize = sabir_axon::MAX_DEPTH as usize - 16;

fn record(object: Node<'_>, keep: Keep, depth: usize) -> Map<String, Value> {
    object
        .fields()
        .map(|field| {
            let keep = if field.is_extension() { Keep::Verbatim } else { keep };
            (field.key().to_owned(), value(field.value, keep, depth + 1))
        })
        .collect()
}

/// An LLMX value as an AXON expression: texts, numbers, truth values, arrays and objects are what
/// they are. In extensions a bare word is a name, and what AXON has no word for is a call.
fn value(node: Node<'_>, keep: Keep, depth: usize) -> Value {
    let call = |name: &str, text: &str| json!({ "call": name, "args": [text] });
    match node.kind() {
        Kind::Array | Kind::Object | Kind::Tuple if depth > DEEPEST => call("llmx", node.text()),
        Kind::Array => node.children().map(|item| value(item, keep, depth + 1)).collect(),
        Kind::Tuple if keep == Keep::Verbatim => {
            json!({ "call": "tuple", "args": [{ "record": record(node, keep, depth + 1) }] })
        }
        Kind::Object | Kind::Tuple => json!({ "record": record(node, keep, depth) }),
        Kind::Number => number(node.text()),
        Kind::True => Value::Bool(true),
        Kind::False => Value::Bool(false),
        Kind::Word if keep == Keep::Verbatim => match node.text() {
            word if is_name(word) => json!({ "name": word }),
            word => call("word", word),
        },
        Kind::Run if keep == Keep::Verbatim => call("run", node.text()),
        Kind::String | Kind::Word | Kind::Run => {
            Value::String(node.as_text().unwrap_or_default().into_owned())
        }
        // In the strict form there are no others; `Null` stands in extensions.
        Kind::Null | Kind::Error | Kind::Document | Kind::Message | Kind::Block | Kind::Field => {
            Value::Null
        }
    }
}

/// Whether AXON reads the word as a name.
fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic()) && !matches!(word, "T" | "F")
}

fn read_value(out: &mut String, value: &Value, keep: Keep) -> Option<()> {
    match value {
        Value::String(text) => quote_into(out, text),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Null => out.push_str("null"),
        Value::Number(_) => return None,
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                read_value(out, item, keep)?;
            }
            out.push(']');
        }
        Value::Object(form) => {
            if let Some(fields) = form.get("record").filter(|_| form.len() == 1) {
                return read_record(out, fields.as_object()?, ('{', '}'), keep);
            }
            if let Some(word) = form.get("name") {
                out.push_str(word.as_str()?);
                return Some(());
            }
            match (form.get("num"), form.get("call").and_then(Value::as_str)) {
                (Some(digits), _) if form.len() == 1 => out.push_str(digits.as_str()?),
                (_, Some("tuple")) => {
                    let fields = form["args"].get(0)?.get("record")?.as_object()?;
                    return read_record(out, fields, ('(', ')'), keep);
                }
                (_, Some("word" | "run" | "num" | "llmx")) => {
                    out.push_str(form["args"].get(0)?.as_str()?);
                }
                _ => return None,
            }
        }
    }
    Some(())
}

fn read_record(
    out: &mut String,
    fields: &Map<String, Value>,
    (open, close): (char, char),
    keep: Keep,
) -> Option<()> {
    out.push(open);
    for (index, (key, value)) in fields.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        out.push_str(key);
        out.push(':');
        let keep = if sabir_llmx::is_extension(key) { Keep::Verbatim } else { keep };
        read_value(out, value, keep)?;
    }
    out.push(close);
    Some(())
}
