//! An envelope as it is sent: one form that every dialect can read. Where dialects want a thing in
//! different places, it stands in each of them.

use serde_json::{Map, Value, json};

use super::{Acceptance, Body, Closing, Envelope, Failure, Hello, Manifest, Proposal, Update};
use crate::card::Capability;
use crate::id::{DelegateId, SessionId, TaskId};
use crate::mode::PayloadMode;
use crate::provenance::Provenance;
use crate::value::KeyBytes;

impl Envelope {
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        put(&mut out, "message_id", self.message_id.as_str());
        put(&mut out, "session_id", self.session_id.as_ref().map_or("", SessionId::as_str));
        put(&mut out, "from", self.from.as_str());
        put(&mut out, "to", self.to.as_str());
        put(&mut out, "body", self.body.to_value());
        put(&mut out, "payload_mode", self.payload_mode.wire_name());
        put(&mut out, "timestamp", self.timestamp.text.as_str());
        put(&mut out, "provenance", self.provenance.as_ref().map(Provenance::to_value));
        put_some(&mut out, "signature", self.signature.as_deref());
        put_some(&mut out, "signature_algorithm", self.signature_algorithm.as_deref());
        put_some(&mut out, "nonce", self.nonce.as_deref());
        Value::Object(out)
    }

    /// One line of JSON.
    pub fn to_text(&self) -> String {
        self.to_value().to_string()
    }
}

impl Body {
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        put(&mut out, "type", self.message_type().wire_name());
        match self {
            Self::Hello(body) => hello(&mut out, body),
            Self::CapabilityManifest(body) => manifest(&mut out, body),
            Self::SessionPropose(body) => put(&mut out, "config", config(body)),
            Self::SessionAccept(body) => acceptance(&mut out, body),
            Self::SessionReject(body) => {
                put(&mut out, "reason", body.reason.as_str());
                put_some(&mut out, "error", body.error.as_ref().map(|error| error.to_value()));
            }
            Self::TaskSubmit(body) => {
                put(&mut out, "task_id", body.task_id.as_str());
                put(&mut out, "skill", body.skill.as_str());
                put(&mut out, "input", body.input.clone());
                put_some(&mut out, "contract", body.contract.as_ref().map(|it| it.to_value()));
                if !body.delegation_path.is_empty() {
                    let path: Vec<&str> =
                        body.delegation_path.iter().map(DelegateId::as_str).collect();
                    put(&mut out, "delegation_path", path);
                }
            }
            Self::TaskUpdate(body) => update(&mut out, body),
            Self::TaskResult(body) => {
                put(&mut out, "task_id", body.task_id.as_str());
                put(&mut out, "output", body.output.clone());
                put(&mut out, "provenance", body.provenance.to_value());
            }
            Self::TaskFailed(body) => failure(&mut out, body),
            Self::TaskCancel(body) => put(&mut out, "task_id", body.task_id.as_str()),
            Self::Attestation(body) => {
                put(&mut out, "claim", body.claim.clone());
                put(&mut out, "evidence", body.evidence.clone());
            }
            Self::SessionClose(Closing { reason, suspend }) => {
                put(&mut out, "reason", reason.as_deref());
                put_some(&mut out, "suspend", suspend.then_some(true));
            }
        }
        Value::Object(out)
    }
}

fn hello(out: &mut Map<String, Value>, body: &Hello) {
    put(out, "delegate_id", body.delegate_id.as_str());
    put(out, "supported_modes", names(&body.supported_modes));
    put_some(out, "public_key", body.public_key.map(|key| key.to_hex()));
}

/// The Rust reference reads the object, the specification's diagram shows the modes beside it, and
/// the Python one passes over both.
fn manifest(out: &mut Map<String, Value>, body: &Manifest) {
    let capabilities: Vec<Value> = body.capabilities.iter().map(Capability::to_value).collect();
    let modes = body.supported_modes.as_deref().map(names);
    let mut inner = Map::new();
    put(&mut inner, "capabilities", capabilities);
    put_some(&mut inner, "supported_modes", modes.clone());
    put_some(&mut inner, "max_concurrent_tasks", body.max_concurrent_tasks);
    put(out, "capabilities", Value::Object(inner));
    put_some(out, "supported_modes", modes);
    put_some(out, "public_key", body.public_key.map(|key| key.to_hex()));
}

fn config(body: &Proposal) -> Value {
    let mut config = json!({
        "preferred_payload_modes": names(&body.preferred_payload_modes),
        "ttl_secs": body.ttl_secs,
        "required_trust_domain": body.required_trust_domain,
    });
    if let Value::Object(out) = &mut config {
        // The Rust reference knows one mode only: the one that is liked best.
        let first = body.preferred_payload_modes.first();
        put(out, "payload_mode", first.copied().unwrap_or(PayloadMode::Text).wire_name());
        put_some(out, "trust_domain", body.trust_domain.as_deref());
        put_some(out, "key_share", body.key_share.map(|key| KeyBytes::to_hex(&key)));
        put_some(out, "resume_session_id", body.resume_session_id.as_ref().map(SessionId::as_str));
    }
    config
}

fn acceptance(out: &mut Map<String, Value>, body: &Acceptance) {
    put(out, "session_id", body.session_id.as_str());
    put(out, "negotiated_mode", body.negotiated_mode.wire_name());
    put(out, "fallback_chain", names(&body.fallback_chain));
    put_some(out, "trust_domain", body.trust_domain.as_deref());
    put_some(out, "key_share", body.key_share.map(|key| key.to_hex()));
    put_some(out, "resumed", body.resumed.then_some(true));
}

/// Progress and message are null where there are none: one reference asks for the keys.
fn update(out: &mut Map<String, Value>, body: &Update) {
    put(out, "task_id", body.task_id.as_str());
    put(out, "progress", body.progress);
    put(out, "message", body.message.as_deref());
    put_some(out, "state", body.state.map(|state| state.wire_name()));
    put_some(out, "seq", body.seq);
}

fn failure(out: &mut Map<String, Value>, body: &Failure) {
    put(out, "task_id", body.task_id.as_ref().map_or("", TaskId::as_str));
    put(out, "error", body.error.to_value());
}

fn names(modes: &[PayloadMode]) -> Vec<&'static str> {
    modes.iter().map(|mode| mode.wire_name()).collect()
}

fn put(out: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    out.insert(key.to_owned(), value.into());
}

fn put_some(out: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        put(out, key, value);
    }
}
