//! The JSON Schema of the encoding: strict, worded for a model that is to fill it in, and made from
//! the table of blocks.

use serde_json::{Map, Value, json};

use super::{VERSION, form};
use crate::block::{BlockInfo, BlockKind, FieldInfo, FieldKind, Presence, Shape};

/// JSON Schema 2020-12 of what `encode` writes for a valid document. `decode` takes a little more:
/// see the protocol.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "LLMX as JSON",
        "description": "A document of LLMX messages between agents. Every message has a header, \
            which says who speaks to whom, and blocks, which say what.",
        "type": "object",
        "properties": {
            "llmx": { "const": VERSION, "description": "The version of this encoding." },
            "messages": {
                "type": "array",
                "items": reference("message"),
                "description": "The messages, in order.",
            },
        },
        "required": ["llmx", "messages"],
        "additionalProperties": false,
        "$defs": definitions(),
    })
}

/// A key in the strict form, which leaves a wrong first letter as it is.
const KEY: &str = "^[a-z0-9_]+$";
const EXTENSION_KEY: &str = "^[xX]_[A-Za-z0-9_]*$";
const ANY_KEY: &str = "^[A-Za-z0-9_]+$";
const TYPE: &str = "^[A-Z][A-Z0-9_]*$";
const WORD: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

fn definitions() -> Value {
    let mut all = Map::new();
    let mut define = |name: &str, schema: Value| all.insert(name.to_owned(), schema);
    define("message", message());
    define("block", block());
    for kind in BlockKind::STANDARD {
        let Some(info) = kind.info() else { continue };
        match info.shape {
            Shape::Object => define(info.name, fields(info, info.summary)),
            Shape::Steps => {
                define("step", fields(info, "a step of the plan"));
                let items = reference("step");
                define(
                    info.name,
                    json!({ "type": "array", "description": sentence(info.summary), "items": items }),
                )
            }
        };
    }
    define("value", value());
    define("object", object());
    define("extension", extension());
    Value::Object(all)
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// An object with exactly this property.
fn only(key: &str, value: &Value, description: &str) -> Value {
    json!({
        "type": "object",
        "description": description,
        "properties": { key: value },
        "required": [key],
        "additionalProperties": false,
    })
}

/// The words of the table start in lower case and have no stop.
fn sentence(text: &str) -> String {
    format!("{}.", capital(text))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn message() -> Value {
    json!({
        "type": "object",
        "description": "One message from one agent to another, or to all.",
        "properties": {
            "header": reference("header"),
            "blocks": {
                "type": "array",
                "items": reference("block"),
                "description": "What the message says, in order; give at least one block.",
            },
        },
        "required": ["header", "blocks"],
        "additionalProperties": false,
    })
}

fn block() -> Value {
    let standard = || BlockKind::STANDARD.into_iter().filter_map(BlockKind::info);
    let mut all: Vec<Value> = standard()
        .filter(|info| info.kind != BlockKind::Header)
        .map(|info| {
            let description = format!("{}: {}.", capital(info.name), info.summary);
            only(info.word, &reference(info.name), &description)
        })
        .collect();
    let words: Vec<&str> = standard().map(|info| info.word).collect();
    let body = json!({
        "anyOf": [
            { "type": "object", "additionalProperties": reference("extension"),
              "propertyNames": { "pattern": ANY_KEY } },
            { "type": "array", "items": reference("extension") },
        ],
    });
    all.push(json!({
        "type": "object",
        "description": "A block of your own, whose type starts with X_: it is kept as it is, and \
            ignored by those who do not know it.",
        "propertyNames": { "pattern": TYPE, "not": { "enum": words } },
        "additionalProperties": body,
        "minProperties": 1,
        "maxProperties": 1,
    }));
    json!({ "description": "A block: one key, which is its type.", "anyOf": all })
}

/// The fields of a block, or of a step.
fn fields(info: &BlockInfo, description: &str) -> Value {
    let properties: Map<String, Value> = info
        .fields
        .iter()
        .map(|info_field| (info_field.key.to_owned(), field(info, info_field)))
        .collect();
    let required: Vec<&str> = info
        .fields
        .iter()
        .filter(|field| field.presence == Presence::Required)
        .map(|field| field.key)
        .collect();
    let mut schema = json!({
        "type": "object",
        "description": sentence(description),
        "properties": properties,
        "required": required,
        "patternProperties": { EXTENSION_KEY: reference("extension") },
        // A field that is not known is kept, with a warning: a newer peer may have sent it.
        "additionalProperties": reference("value"),
        "propertyNames": { "anyOf": [{ "pattern": KEY }, { "pattern": EXTENSION_KEY }] },
    });
    let if_ok: Vec<&str> = info
        .fields
        .iter()
        .filter(|field| field.presence == Presence::RequiredIfOk)
        .map(|field| field.key)
        .collect();
    if !if_ok.is_empty() {
        schema["if"] = json!({ "properties": { "s": { "const": "OK" } }, "required": ["s"] });
        schema["then"] = json!({ "required": if_ok });
    }
    schema
}

fn field(info: &BlockInfo, field: &FieldInfo) -> Value {
    // Without a sender and a receiver nobody can answer; elsewhere an empty text is a warning.
    let needs_text = info.kind == BlockKind::Header && field.presence == Presence::Required;
    let text = match needs_text {
        true => json!({ "type": "string", "minLength": 1 }),
        false => json!({ "type": "string" }),
    };
    let mut schema = match field.kind {
        FieldKind::Name | FieldKind::Text | FieldKind::Target => text,
        FieldKind::Receiver => {
            let several = json!({ "type": "array", "items": text.clone(), "minItems": 1 });
            json!({ "anyOf": [text, several] })
        }
        FieldKind::StepId => json!({ "type": ["integer", "number", "string"] }),
        FieldKind::Texts | FieldKind::Paths => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        FieldKind::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        FieldKind::Bool => json!({ "type": "boolean" }),
        FieldKind::Object => reference("object"),
        FieldKind::OneOf(words) => json!({ "enum": words }),
        FieldKind::Operation(words) => json!({ "anyOf": [{ "enum": words }, text] }),
    };
    schema["description"] = Value::String(format!("{}: {}.", capital(field.name), field.summary));
    schema
}

fn value() -> Value {
    json!({
        "description": "Text, a number, true or false, a list, or an object. There is no null: leave \
            out what you do not know.",
        "anyOf": [
            { "type": "string" },
            { "type": "number" },
            { "type": "boolean" },
            { "type": "array", "items": reference("value") },
            reference("object"),
        ],
    })
}

fn object() -> Value {
    json!({
        "type": "object",
        "description": "Keys and values. Keys are lower-case letters, digits and _.",
        "patternProperties": { EXTENSION_KEY: reference("extension") },
        "additionalProperties": reference("value"),
        "propertyNames": { "anyOf": [{ "pattern": KEY }, { "pattern": EXTENSION_KEY }] },
    })
}

fn extension() -> Value {
    let word =
        json!({ "type": "string", "pattern": WORD, "not": { "enum": ["true", "false", "null"] } });
    let keys = json!({
        "type": "object",
        "propertyNames": { "pattern": ANY_KEY },
        "additionalProperties": reference("extension"),
    });
    json!({
        "description": "A value of an extension, which is kept as it is.",
        "anyOf": [
            { "type": ["string", "number", "boolean", "null"] },
            { "type": "array", "items": reference("extension") },
            keys.clone(),
            only(form::WORD, &word, "A word without quotes."),
            only(form::RUN, &json!({ "type": "string", "minLength": 1 }), "Other text without quotes."),
            only(form::TUPLE, &keys, "Keys and values in parentheses."),
        ],
    })
}
