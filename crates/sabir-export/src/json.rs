//! An artifact as a JSON object for programs, and the schema of that. `docs/protocol/export.md`
//! promises its shape.

use sabir_document::document_definitions;
use serde_json::{Value, json};

use crate::Artifact;

/// A JSON Schema (2020-12) for what [`crate::Format::Json`] gives. It allows keys that a later version
/// may add.
pub fn export_schema() -> Value {
    let text = || json!({ "type": "string" });
    let number = json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX });
    let properties = json!({
        "format": { "const": FORMAT },
        "version": { "const": VERSION },
        "id": text(),
        "title": text(),
        "made_at": text(),
        "markdown": text(),
        "document": { "$ref": "#/$defs/document" },
        "references": { "type": "array", "items": { "$ref": "#/$defs/reference" } },
    });
    let reference = json!({
        "number": number,
        "quote": text(),
        "status": text(),
        "title": text(),
        "url": { "type": ["string", "null"] },
    });
    let mut definitions = document_definitions();
    definitions.insert("reference".to_owned(), object(reference));
    let mut schema = object(properties);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Artifact");
    schema["description"] = json!("An artifact as it is exported, with its references.");
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// Of an object that has all of these keys.
fn object(properties: Value) -> Value {
    let required: Vec<&String> =
        properties.as_object().into_iter().flat_map(|it| it.keys()).collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

pub(crate) fn write(artifact: &Artifact) -> String {
    let document = artifact.document.normalised();
    let references: Vec<_> = artifact
        .references
        .iter()
        .map(|reference| {
            json!({
                "number": reference.number,
                "quote": reference.quote,
                "status": reference.status,
                "title": reference.title,
                "url": reference.shown_url(),
            })
        })
        .collect();
    let object = json!({
        "format": FORMAT,
        "version": VERSION,
        "id": artifact.id,
        "title": artifact.title,
        "made_at": artifact.made_at,
        "markdown": document.to_markdown(),
        "document": document.to_json(),
        "references": references,
    });
    format!("{object:#}\n")
}

const FORMAT: &str = "sabir.artifact";
const VERSION: u32 = 1;
