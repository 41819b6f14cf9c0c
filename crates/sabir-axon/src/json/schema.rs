//! The JSON Schema of the encoding: strict, and worded for a model that is to fill it in.

use serde_json::{Map, Value, json};

use super::{MAX_APPROX, VERSION};
use crate::performative::Performative;
use crate::unit::Unit;
use crate::view::{Chain, Comparison};

/// JSON Schema 2020-12 of what `encode` writes. `decode` takes a little more: see the protocol.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "AXON as JSON",
        "description": "A document of AXON messages between agents. Every message is a speech act: \
            who says what to whom, and with which intent.",
        "type": "object",
        "properties": {
            "axon": { "const": VERSION, "description": "The version of this encoding." },
            "messages": {
                "type": "array",
                "items": { "$ref": "#/$defs/message" },
                "description": "The messages, in order.",
            },
        },
        "required": ["axon", "messages"],
        "additionalProperties": false,
        "$defs": definitions(),
    })
}

fn definitions() -> Value {
    let mut all = Map::new();
    let mut define = |name: &str, schema: Value| all.insert(name.to_owned(), schema);
    define("message", message());
    define("nested", nested());
    define("meta", meta());
    define("performative", performative());
    define("agent", agent());
    define("endpoint", endpoint());
    define("expression", expression());
    define("fields", fields());
    define("number", number());
    define("record", form("Key-value pairs.", &[("record", reference("fields"))], &["record"]));
    define(
        "ref",
        named("ref", "Something with an identity, such as an agent or a service.", SIGIL),
    );
    define("var", named("var", "A variable of the message.", SIGIL));
    define("name", name());
    define("tag", tag());
    define("call", call());
    define("argument", argument());
    define("approx", approx());
    define("chain", chain());
    define("pair", pair());
    Value::Object(all)
}

/// A path: `a.b`. The parts behind the first may be `_`.
const PATH: &str = r"^[A-Za-z][A-Za-z0-9_-]*(\.([A-Za-z][A-Za-z0-9_-]*|_))*$";
/// What stands behind a sigil.
const SIGIL: &str = r"^([A-Za-z][A-Za-z0-9_-]*|_)(\.([A-Za-z][A-Za-z0-9_-]*|_))*$";
const AGENT: &str = r"^@([A-Za-z][A-Za-z0-9_-]*|_)(\.([A-Za-z][A-Za-z0-9_-]*|_))*$";
const EXTENSION: &str = r"^X(\.([A-Za-z][A-Za-z0-9_-]*|_)){2}$";
const KEY: &str = "^([A-Za-z][A-Za-z0-9_-]*|_)$";
const META_KEY: &str = r"^([A-Za-z][A-Za-z0-9_-]*|_|\^|%%)$";
const NUMBER: &str = r"^-?[0-9]+(\.[0-9]+)?$";

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// An object with exactly these properties.
fn form(description: &str, properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        properties.iter().map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    json!({
        "type": "object",
        "description": description,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn named(key: &str, description: &str, pattern: &str) -> Value {
    form(description, &[(key, json!({ "type": "string", "pattern": pattern }))], &[key])
}

fn message() -> Value {
    let properties = [
        ("meta", reference("meta")),
        ("performative", reference("performative")),
        ("from", reference("endpoint")),
        ("to", reference("endpoint")),
        ("content", reference("expression")),
    ];
    let required = ["performative", "from", "to", "content"];
    form("A message.", &properties, &required)
}

fn nested() -> Value {
    let properties = [
        ("performative", reference("performative")),
        ("from", reference("endpoint")),
        ("to", reference("endpoint")),
        ("content", reference("expression")),
    ];
    let required = ["performative", "from", "to", "content"];
    form(
        "A message inside a message, such as what is delegated. It has no meta.",
        &properties,
        &required,
    )
}

fn meta() -> Value {
    json!({
        "type": "object",
        "description": "About the message: id and re are message ids, %% is the protocol version, ts \
            a time in Unix seconds, ctx a conversation, ttl seconds to live, ^ a priority from 0 to 5; \
            other keys are free.",
        "propertyNames": { "pattern": META_KEY },
        "additionalProperties": reference("expression"),
        "minProperties": 1,
    })
}

fn performative() -> Value {
    let words = Performative::ALL.map(Performative::word);
    let meanings = Performative::ALL.map(|performative| {
        let info = performative.info();
        format!("{} {}", info.word, info.name)
    });
    json!({
        "description": format!("The intent: {}.", meanings.join(", ")),
        "anyOf": [
            { "enum": words },
            {
                "type": "string",
                "pattern": EXTENSION,
                "description": "A performative of a domain: X.trade.BID.",
            },
        ],
    })
}

fn agent() -> Value {
    json!({ "type": "string", "pattern": AGENT, "description": "An agent: @name." })
}

fn endpoint() -> Value {
    json!({
        "description": "One agent, several, or * for anyone.",
        "anyOf": [
            reference("agent"),
            { "const": "*" },
            { "type": "array", "items": reference("agent"), "minItems": 1 },
        ],
    })
}

fn expression() -> Value {
    let forms = [
        "number", "record", "ref", "var", "name", "tag", "call", "approx", "chain", "pair",
        "nested",
    ];
    let plain = [
        json!({ "type": "string", "description": "Text." }),
        json!({ "type": "boolean" }),
        json!({ "type": "null", "description": "No value." }),
        json!({ "type": "array", "items": reference("expression"), "description": "A list." }),
    ];
    let all: Vec<Value> = plain.into_iter().chain(forms.map(reference)).collect();
    json!({ "description": "A value, a term, or terms joined by operators.", "anyOf": all })
}

fn fields() -> Value {
    json!({ "type": "object", "additionalProperties": reference("expression") })
}

fn number() -> Value {
    let properties = [
        (
            "num",
            json!({ "type": "string", "pattern": NUMBER, "description": "The digits as written." }),
        ),
        ("unit", json!({ "enum": Unit::ALL.map(Unit::text) })),
    ];
    form("A number, kept as written, with or without a unit.", &properties, &["num"])
}

fn name() -> Value {
    let pattern = json!({ "type": "string", "pattern": PATH, "not": { "enum": ["T", "F"] } });
    form("A bare name or path, such as load.peak.", &[("name", pattern)], &["name"])
}

fn tag() -> Value {
    let properties =
        [("tag", json!({ "type": "string", "pattern": SIGIL })), ("record", reference("fields"))];
    form("A category, such as healthy, with or without fields.", &properties, &["tag"])
}

fn call() -> Value {
    let args = json!({
        "type": "array",
        "items": { "anyOf": [reference("expression"), reference("argument")] },
    });
    let properties = [("call", json!({ "type": "string", "pattern": PATH })), ("args", args)];
    form("An action or a question: restart(@db).", &properties, &["call", "args"])
}

fn argument() -> Value {
    let properties =
        [("arg", json!({ "type": "string", "pattern": KEY })), ("value", reference("expression"))];
    form("An argument with a name.", &properties, &["arg", "value"])
}

fn approx() -> Value {
    let times = json!({
        "type": "integer",
        "minimum": 2,
        "maximum": MAX_APPROX,
        "description": "How many times, if more than once.",
    });
    let properties = [("approx", reference("expression")), ("times", times)];
    form("Approximately.", &properties, &["approx"])
}

fn chain() -> Value {
    let op = json!({
        "enum": Chain::ALL.map(Chain::symbol),
        "description": "-> then, <- because, & and, | or.",
    });
    let args = json!({ "type": "array", "items": reference("expression"), "minItems": 2 });
    form("Terms joined by one operator.", &[("op", op), ("args", args)], &["op", "args"])
}

fn pair() -> Value {
    let comparisons = Comparison::ALL.map(Comparison::symbol);
    let symbols: Vec<&str> = comparisons.into_iter().chain([".."]).collect();
    let op = json!({ "enum": symbols, "description": "A comparison, or .. for a range." });
    let args = json!({
        "type": "array",
        "items": reference("expression"),
        "minItems": 2,
        "maxItems": 2,
    });
    form(
        "Two terms compared, or the ends of a range.",
        &[("op", op), ("args", args)],
        &["op", "args"],
    )
}
