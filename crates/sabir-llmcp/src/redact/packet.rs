//! Packets as they are stored: who asked what, what was answered and called, and of each document
//! only what tells it apart. Bodies live with their sources, once.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{REMOVED, redact_text, redact_url, words};

/// A request or a response, fit to be stored: bodies of context documents become
/// `{sha256, chars, preview}`, and so does what a tool brought from a page; no value keeps a
/// credential.
pub fn redact_packet(packet: &Value) -> Value {
    let Some(fields) = packet.as_object() else { return redact_value(packet, "", 0) };
    let kept = fields.iter().map(|(key, value)| {
        let kept = match (key.as_str(), value) {
            (CONTEXT, Value::Object(context)) => redact_context(context),
            _ => redact_value(value, key, 1),
        };
        (key.clone(), kept)
    });
    Value::Object(kept.collect())
}

/// The same in at most `most` bytes of JSON. Of too many documents only the names stay, and of a
/// packet that is still too long only what tells it apart.
pub fn redact_packet_within(packet: &Value, most: usize) -> Value {
    let mut stored = redact_packet(packet);
    let fits = |stored: &Value| stored.to_string().len() <= most;
    if fits(&stored) {
        return stored;
    }
    if let Some(documents) = stored.get_mut(CONTEXT).and_then(|it| it.get_mut(DOCUMENTS)) {
        let names = documents.as_array().into_iter().flatten();
        let names: Vec<Value> = names.filter_map(|it| it.get("doc_id").cloned()).collect();
        *documents = Value::Array(names);
        if fits(&stored) {
            return stored;
        }
    }
    digest(packet)
}

fn redact_context(context: &Map<String, Value>) -> Value {
    let kept = context.iter().map(|(key, value)| {
        let kept = match (key.as_str(), value) {
            (DOCUMENTS, Value::Array(documents)) => documents.iter().map(redact_document).collect(),
            _ => redact_value(value, key, 2),
        };
        (key.clone(), kept)
    });
    Value::Object(kept.collect())
}

fn redact_document(document: &Value) -> Value {
    let Some(fields) = document.as_object() else { return redact_value(document, DOCUMENTS, 3) };
    let kept = fields.iter().map(|(key, value)| {
        let kept = match key.as_str() {
            "content" => redact_content(document, value),
            _ => redact_value(value, key, 4),
        };
        (key.clone(), kept)
    });
    Value::Object(kept.collect())
}

/// Only what is known to be small and about the document stays as it is: a kind or a key that is
/// added later is stored as a digest until somebody decides otherwise.
fn redact_content(document: &Value, content: &Value) -> Value {
    let kind = document.get("kind").and_then(Value::as_str).unwrap_or("");
    let Some(fields) = content.as_object() else { return digest(content) };
    let brings_bodies = kind == TOOL_RESULT && brings_bodies(fields);
    let kept = fields.iter().map(|(key, value)| {
        let stays = WHOLE_KINDS.contains(&kind) || ABOUT_KEYS.contains(&key.as_str());
        let value = match () {
            () if brings_bodies && key == PAYLOAD => redact_payload(value),
            () if stays => redact_value(value, key, 0),
            () => digest(value),
        };
        (key.clone(), value)
    });
    Value::Object(kept.collect())
}

/// Whether the result of a tool may hold what a page, a program or an artifact says, rather than
/// what became of a call. Failures say that only.
fn brings_bodies(result: &Map<String, Value>) -> bool {
    let word = |key| result.get(key).and_then(Value::as_str).unwrap_or("");
    let failed = matches!(word("status"), "error" | "cancelled");
    !failed && !WHOLE_RESULTS.contains(&word("tool"))
}

fn redact_payload(payload: &Value) -> Value {
    let Some(fields) = payload.as_object() else { return digest(payload) };
    let kept = fields.iter().map(|(key, value)| {
        let is_small = matches!(value, Value::Null | Value::Bool(_) | Value::Number(_));
        let is_about = |keys: &[&str]| keys.contains(&key.as_str());
        let stays = is_small || is_about(ABOUT_KEYS) || is_about(ID_KEYS);
        (key.clone(), if stays { redact_value(value, key, 0) } else { digest(value) })
    });
    Value::Object(kept.collect())
}

fn redact_value(value: &Value, key: &str, depth: usize) -> Value {
    match value {
        Value::Null => Value::Null,
        _ if words::keeps_secret(key) => Value::from(REMOVED),
        Value::Object(_) | Value::Array(_) if depth >= MAX_DEPTH => digest(value),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), redact_value(value, key, depth + 1)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| redact_value(item, key, depth + 1)).collect())
        }
        Value::String(text) => redact_string(text, key),
        Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn redact_string(text: &str, key: &str) -> Value {
    if ADDRESS_KEYS.contains(&key)
        && let Some(redacted) = redact_url(text)
    {
        return Value::from(redacted.url);
    }
    if text.len() > MAX_TEXT {
        return digest(&Value::from(text));
    }
    Value::from(redact_text(text))
}

/// Enough to find the body again and to recognise it, and too little to be one.
fn digest(body: &Value) -> Value {
    let (printed, masked);
    let (text, shown) = match body {
        Value::String(text) => (text.as_str(), text.as_str()),
        other => {
            printed = other.to_string();
            masked = without_secrets(other, "", 0).to_string();
            (printed.as_str(), masked.as_str())
        }
    };
    let head = &shown[..shown.floor_char_boundary(PREVIEW_WINDOW)];
    let preview: String = redact_text(head).chars().take(PREVIEW).collect();
    let sha256: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "sha256": sha256, "chars": text.chars().count(), "preview": preview })
}

/// The value as far as a preview may show it: nothing under a name of a secret, nothing deep down.
fn without_secrets(value: &Value, key: &str, depth: usize) -> Value {
    match value {
        Value::Null => Value::Null,
        _ if words::keeps_secret(key) => Value::from(REMOVED),
        Value::Object(_) | Value::Array(_) if depth >= PREVIEW_DEPTH => Value::from("…"),
        Value::Object(fields) => {
            let shown = |(key, value): (&String, &Value)| {
                (key.clone(), without_secrets(value, key, depth + 1))
            };
            Value::Object(fields.iter().map(shown).collect())
        }
        Value::Array(items) => {
            items.iter().map(|item| without_secrets(item, key, depth + 1)).collect()
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

const CONTEXT: &str = "context";
const DOCUMENTS: &str = "documents";

const PAYLOAD: &str = "payload";
const TOOL_RESULT: &str = "tool.result.v1";

/// Documents that are part of the conversation rather than of the web.
const WHOLE_KINDS: &[&str] = &["collection.index.v1", TOOL_RESULT, "conversation.turn.v1"];

/// Tools that answer with ids, titles, numbers and what became of a call. The results of all others
/// are bodies, until somebody decides otherwise.
const WHOLE_RESULTS: &[&str] = &[
    "app.calculate",
    "artifact.save",
    "artifact.share",
    "collection.add_sources",
    "collection.create",
    "collection.list_sources",
    "source.capture",
    "source.refresh",
    "transform.list_types",
];

const ID_KEYS: &[&str] = &["artifactId", "collectionId", "sourceId", "tab"];

const ABOUT_KEYS: &[&str] = &[
    "captured_at",
    "chunk_count",
    "chunk_index",
    "collection_id",
    "doc_type",
    "signals",
    "source_id",
    "summary_only",
    "title",
    "url",
];

const ADDRESS_KEYS: &[&str] = &["href", "url"];

/// What a packet may nest, with room to spare.
const MAX_DEPTH: usize = 128;

/// A long answer stays whole; a page that a tool brought back does not.
const MAX_TEXT: usize = 32 * 1024;

const PREVIEW: usize = 200;

/// Deeper down there is nothing that a preview has room for.
const PREVIEW_DEPTH: usize = 16;

/// More than the preview, so that a credential which it would cut is seen whole.
const PREVIEW_WINDOW: usize = 8192;
