//! The JSON Schemas of cards and envelopes, for other implementations. A schema shows the shape that
//! is read and written; what compares values with each other is beyond it.

use serde_json::{Map, Value, json};

use crate::card::{ClaimType, CostTier};
use crate::envelope::{MessageType, TaskState};
use crate::error::{ErrorCategory, Severity};
use crate::id::MAX_ID_BYTES;
use crate::mode::PayloadMode;
use crate::provenance::VerificationStatus;

/// Of identity cards.
pub fn card_schema() -> Value {
    let mut schema = object(
        &["delegate_id", "name", "model_family", "model_version", "trust_domain", "context_window"],
        &[
            ("delegate_id", json!({ "type": "string", "pattern": "^ldp:delegate:\\S+$" })),
            ("name", filled()),
            ("description", or_null(text())),
            ("model_family", filled()),
            ("model_version", filled()),
            ("weights_fingerprint", or_null(text())),
            ("trust_domain", reference("trust_domain")),
            ("context_window", whole()),
            ("reasoning_profile", or_null(text())),
            ("cost_profile", or_null(text())),
            ("latency_profile", or_null(text())),
            ("jurisdiction", or_null(text())),
            ("capabilities", or_null(list(reference("capability")))),
            ("supported_payload_modes", or_null(text_mode_listed())),
            ("endpoint", or_null(text())),
            ("metadata", or_null(json!({ "type": "object", "additionalProperties": text() }))),
            ("public_key", or_null(hex(32))),
        ],
    );
    let about = "Who a delegate says to be, what it can do, and how well it says it does it.";
    schema = titled("LDP identity card", about, schema);
    schema["$defs"] = json!({ "trust_domain": trust_domain(), "capability": capability() });
    schema
}

/// Of envelopes with any of the twelve messages.
pub fn envelope_schema() -> Value {
    let schema = object(
        &["message_id", "from", "body", "timestamp"],
        &[
            ("message_id", id()),
            ("session_id", or_null(text())),
            ("from", id()),
            ("to", or_null(text())),
            ("body", reference("body")),
            ("payload_mode", or_null(mode())),
            ("timestamp", time()),
            ("provenance", or_null(reference("provenance"))),
            ("signature", or_null(text())),
            ("signature_algorithm", or_null(text())),
            ("nonce", or_null(text())),
        ],
    );
    let about = "One message between agents, in the form that every dialect can read.";
    let mut schema = titled("LDP envelope", about, schema);
    let bodies: Vec<Value> = MessageType::ALL.into_iter().map(body).collect();
    schema["$defs"] = json!({
        "body": { "oneOf": bodies },
        "capability": capability(),
        "contract": contract(),
        "error": error(),
        "provenance": provenance(),
    });
    schema
}

fn body(kind: MessageType) -> Value {
    let (required, mut fields): (&[&str], Vec<(&str, Value)>) = match kind {
        MessageType::Hello => (
            &["delegate_id"],
            vec![
                ("delegate_id", id()),
                ("supported_modes", or_null(list(text()))),
                ("public_key", or_null(hex(32))),
            ],
        ),
        MessageType::CapabilityManifest => (
            &[],
            vec![
                ("capabilities", json!({ "type": ["object", "array", "null"] })),
                ("supported_modes", or_null(list(text()))),
                ("public_key", or_null(hex(32))),
            ],
        ),
        MessageType::SessionPropose => (&[], vec![("config", or_null(config()))]),
        MessageType::SessionAccept => (
            &["session_id", "negotiated_mode"],
            vec![
                ("session_id", id()),
                ("negotiated_mode", mode()),
                ("fallback_chain", or_null(list(text()))),
                ("trust_domain", or_null(text())),
                ("key_share", or_null(hex(32))),
                ("resumed", or_null(flag())),
            ],
        ),
        MessageType::SessionReject => (
            &[],
            vec![
                ("reason", or_null(text())),
                ("error", json!({ "anyOf": [reference("error"), text(), { "type": "null" }] })),
            ],
        ),
        MessageType::TaskSubmit => (
            &["task_id", "skill"],
            vec![
                ("task_id", id()),
                ("skill", id()),
                ("input", json!(true)),
                ("contract", or_null(reference("contract"))),
                ("delegation_path", or_null(list(id()))),
            ],
        ),
        MessageType::TaskUpdate => (
            &["task_id"],
            vec![
                ("task_id", id()),
                ("progress", or_null(json!({ "type": "number" }))),
                ("message", or_null(text())),
                ("state", state()),
                ("seq", or_null(whole())),
            ],
        ),
        MessageType::TaskResult => (
            &["task_id", "provenance"],
            vec![
                ("task_id", id()),
                ("output", json!(true)),
                ("provenance", reference("provenance")),
            ],
        ),
        MessageType::TaskFailed => (
            &[],
            vec![
                ("task_id", or_null(text())),
                ("error", json!({ "anyOf": [reference("error"), text(), { "type": "null" }] })),
                ("reason", or_null(text())),
            ],
        ),
        MessageType::TaskCancel => (&["task_id"], vec![("task_id", id())]),
        MessageType::Attestation => (&[], vec![("claim", json!(true)), ("evidence", json!(true))]),
        MessageType::SessionClose => {
            (&[], vec![("reason", or_null(text())), ("suspend", or_null(flag()))])
        }
    };
    fields.insert(0, ("type", json!({ "const": kind.wire_name() })));
    let mut keys = vec!["type"];
    keys.extend(required);
    object(&keys, &fields)
}

fn config() -> Value {
    object(
        &[],
        &[
            ("preferred_payload_modes", or_null(list(text()))),
            ("payload_mode", or_null(text())),
            ("ttl_secs", or_null(whole())),
            ("required_trust_domain", or_null(text())),
            ("trust_domain", or_null(text())),
            ("key_share", or_null(hex(32))),
            ("resume_session_id", or_null(id())),
        ],
    )
}

fn trust_domain() -> Value {
    object(
        &["name"],
        &[
            ("name", filled()),
            ("allow_cross_domain", or_null(flag())),
            ("trusted_peers", or_null(list(text()))),
        ],
    )
}

fn capability() -> Value {
    let quality = object(
        &[],
        &[
            ("quality_score", or_null(score())),
            ("latency_p50_ms", or_null(whole())),
            ("latency_p99_ms", or_null(whole())),
            ("cost_per_call_usd", or_null(amount())),
            ("max_tokens", or_null(whole())),
            ("supports_streaming", or_null(flag())),
            ("claim_type", or_null(hinted(ClaimType::ALL.map(ClaimType::wire_name)))),
        ],
    );
    let described = object(
        &["name"],
        &[
            ("name", id()),
            ("description", or_null(text())),
            ("input_schema", json!({ "type": ["object", "null"] })),
            ("output_schema", json!({ "type": ["object", "null"] })),
            ("quality", or_null(quality)),
            ("domains", or_null(list(text()))),
            ("quality_hint", or_null(score())),
            ("latency_hint_ms_p50", or_null(whole())),
            ("cost_hint", or_null(hinted(CostTier::ALL.map(CostTier::wire_name)))),
        ],
    );
    json!({ "anyOf": [described, id()] })
}

fn contract() -> Value {
    let budget =
        closed(&[], &[("max_tokens", or_null(whole())), ("max_cost_usd", or_null(amount()))]);
    let policy = closed(
        &[],
        &[
            ("failure_policy", json!({ "enum": ["fail_closed", "fail_open", null] })),
            ("budget", or_null(budget)),
            ("safety_constraints", or_null(list(text()))),
            ("max_delegation_depth", or_null(whole())),
        ],
    );
    closed(
        &["contract_id"],
        &[
            ("contract_id", id()),
            ("objective", or_null(text())),
            ("success_criteria", or_null(list(text()))),
            ("policy", or_null(policy)),
            ("deadline", or_null(time())),
            ("created_at", or_null(time())),
        ],
    )
}

fn error() -> Value {
    object(
        &[],
        &[
            ("code", or_null(text())),
            ("category", or_null(hinted(ErrorCategory::ALL.map(ErrorCategory::wire_name)))),
            ("message", or_null(text())),
            ("severity", or_null(hinted(Severity::ALL.map(Severity::wire_name)))),
            ("retryable", or_null(flag())),
            ("partial_output", json!(true)),
        ],
    )
}

fn provenance() -> Value {
    let status = || or_null(hinted(VerificationStatus::ALL.map(VerificationStatus::wire_name)));
    let evidence = object(
        &[],
        &[
            ("source", or_null(text())),
            ("kind", or_null(text())),
            ("uri", or_null(text())),
            ("summary", or_null(text())),
        ],
    );
    let hop = object(
        &["delegate_id"],
        &[
            ("delegate_id", id()),
            ("model_version", or_null(text())),
            ("step", or_null(text())),
            ("timestamp", or_null(time())),
            ("verification_status", status()),
        ],
    );
    let signature = object(
        &[],
        &[
            ("algorithm", or_null(text())),
            ("public_key", or_null(text())),
            ("signature", or_null(text())),
        ],
    );
    object(
        &["produced_by", "payload_mode_used"],
        &[
            ("produced_by", id()),
            ("model_version", or_null(text())),
            ("payload_mode_used", mode()),
            ("confidence", or_null(json!({ "type": "number" }))),
            ("verified", or_null(flag())),
            ("verification_status", status()),
            ("verified_by", or_null(text())),
            ("session_id", or_null(text())),
            ("timestamp", or_null(time())),
            ("tokens_used", or_null(whole())),
            ("cost_usd", or_null(amount())),
            ("latency_ms", or_null(whole())),
            ("contract_id", or_null(text())),
            ("contract_satisfied", or_null(flag())),
            ("contract_violations", or_null(list(text()))),
            ("evidence", or_null(list(evidence))),
            ("lineage", or_null(list(hop))),
            ("signature", or_null(signature)),
        ],
    )
}

fn object(required: &[&str], fields: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

/// With no other keys than these: what nobody understands is refused, unless it says nothing.
fn closed(required: &[&str], fields: &[(&str, Value)]) -> Value {
    let mut schema = object(required, fields);
    schema["additionalProperties"] = json!({ "type": "null" });
    schema
}

/// Null is absent.
fn or_null(schema: Value) -> Value {
    match schema.get("type") {
        Some(Value::String(kind)) if schema.get("enum").is_none() => {
            let mut schema = schema.clone();
            schema["type"] = json!([kind, "null"]);
            schema
        }
        _ => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn filled() -> Value {
    json!({ "type": "string", "pattern": "\\S" })
}

/// The bound is in bytes, which a schema cannot count.
fn id() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": MAX_ID_BYTES })
}

fn hex(bytes: usize) -> Value {
    json!({ "type": "string", "pattern": format!("^[0-9a-f]{{{}}}$", 2 * bytes) })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn amount() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

fn score() -> Value {
    json!({ "type": "number", "minimum": 0, "maximum": 1 })
}

fn mode() -> Value {
    json!({ "type": "string", "enum": PayloadMode::ALL.map(PayloadMode::wire_name) })
}

/// Any mode may be listed, and text must be.
fn text_mode_listed() -> Value {
    json!({ "type": "array", "items": text(), "contains": { "const": "text" } })
}

/// A word for which these are the known ones, and others are passed over.
fn hinted<const N: usize>(words: [&str; N]) -> Value {
    json!({ "type": "string", "examples": words.as_slice() })
}

fn state() -> Value {
    or_null(hinted(TaskState::ALL.map(TaskState::wire_name)))
}

fn titled(title: &str, about: &str, schema: Value) -> Value {
    let mut all = Map::new();
    all.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    all.insert("title".to_owned(), title.into());
    all.insert("description".to_owned(), about.into());
    if let Value::Object(keys) = schema {
        all.extend(keys);
    }
    Value::Object(all)
}
