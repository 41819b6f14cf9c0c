//! The shape of a document as a JSON Schema. The reader asks for more: depths, widths of rows, and
//! addresses are beyond a schema.

use serde_json::{Map, Value, json};

use crate::Align;

/// A JSON Schema (2020-12) for the node `doc`, with a definition of every node in `$defs`.
pub fn document_schema() -> Value {
    let mut schema = document();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Document");
    schema["$defs"] = Value::Object(nodes());
    schema
}

/// The same for the `$defs` of a schema that has documents in it: `document`, and every node.
pub fn document_definitions() -> Map<String, Value> {
    std::iter::once(("document".to_owned(), document())).chain(nodes()).collect()
}

fn document() -> Value {
    let mut schema = node("doc", &[("children", array_of("block"))], &[]);
    schema["description"] =
        json!("Rich text as data: blocks of inlines, without markup in its texts.");
    schema
}

fn nodes() -> Map<String, Value> {
    let inlines = || array_of("inline");
    // Inlines in them make paragraphs.
    let content = || json!({ "type": "array", "items": { "anyOf": [reference("block"), reference("inline")] } });
    let text = || json!({ "type": "string" });
    let row = || array_of("cell");
    let level = json!({ "type": "integer", "minimum": 1, "maximum": 6 });
    let align = json!({ "type": "array", "items": { "enum": Align::ALL.map(Align::word) } });
    let header = json!({ "type": "array", "items": reference("cell"), "minItems": 1 });
    let href = json!({ "type": "string", "pattern": "^([hH][tT][tT][pP][sS]?://|[mM][aA][iI][lL][tT][oO]:)\\S+$" });
    let number = json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX });
    let nodes = json!({
        "block": any_of(&["heading", "paragraph", "list", "blockquote", "code_block", "table", "thematic_break"]),
        "inline": any_of(&["text", "strong", "em", "code", "link", "cite"]),
        "cell": { "anyOf": [{ "type": "string" }, inlines()] },
        "heading": node("heading", &[("level", level), ("children", inlines())], &[]),
        "paragraph": node("paragraph", &[("children", inlines())], &[]),
        "list": node("list", &[("ordered", json!({ "type": "boolean" })), ("items", array_of("list_item"))], &[]),
        "list_item": node("list_item", &[("children", content())], &[]),
        "blockquote": node("blockquote", &[("children", content())], &[]),
        "code_block": node("code_block", &[("text", text())], &[("language", text())]),
        "table": node("table", &[("header", header), ("rows", json!({ "type": "array", "items": row() }))], &[("align", align)]),
        "thematic_break": node("thematic_break", &[], &[]),
        "text": node("text", &[("text", text())], &[]),
        "strong": node("strong", &[("children", inlines())], &[]),
        "em": node("em", &[("children", inlines())], &[]),
        "code": node("code", &[("text", text())], &[]),
        "link": node("link", &[("href", href), ("children", inlines())], &[]),
        "cite": node("cite", &[("ref", number)], &[]),
    });
    match nodes {
        Value::Object(nodes) => nodes,
        _ => Map::new(),
    }
}

fn node(name: &str, required: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let mut properties = json!({ "type": { "const": name } });
    for (key, schema) in required.iter().chain(optional) {
        properties[*key] = schema.clone();
    }
    let required: Vec<&str> =
        std::iter::once("type").chain(required.iter().map(|(key, _)| *key)).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn array_of(name: &str) -> Value {
    json!({ "type": "array", "items": reference(name) })
}

fn any_of(names: &[&str]) -> Value {
    json!({ "anyOf": names.iter().map(|name| reference(name)).collect::<Vec<_>>() })
}
