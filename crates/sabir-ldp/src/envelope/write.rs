//! An envelope as it is sent: one form that every dialect can read. Where dialects want a thing in
//! different places, it stands in each of them.

use serde_json::Value;

use super::{Acceptance, Body, Closing, Envelope, Failure, Hello, Manifest, Proposal, Update};
use crate::canonical::{Canonical, Fields, Written};
use crate::card::Capability;
use crate::id::{DelegateId, SessionId, TaskId};
use crate::mode::PayloadMode;
use crate::provenance::Provenance;
use crate::value::KeyBytes;
use crate::wire::{Object, Wire};

impl Envelope {
    pub fn to_value(&self) -> Value {
        self.to_wire().to_value()
    }

    /// One line of JSON.
    pub fn to_text(&self) -> String {
        self.to_wire().to_text()
    }

    pub(crate) fn to_wire(&self) -> Wire<'_> {
        let mut out = Object::with_room(11);
        out.put("message_id", self.message_id.as_str());
        out.put("session_id", self.session_id.as_ref().map_or("", SessionId::as_str));
        out.put("from", self.from.as_str());
        out.put("to", self.to.as_str());
        out.put("body", self.body.to_wire());
        out.put("payload_mode", self.payload_mode.wire_name());
        out.put("timestamp", self.timestamp.text.as_str());
        out.put("provenance", self.provenance.as_ref().map(Provenance::to_wire));
        out.put_some("signature", self.signature.as_deref());
        out.put_some("signature_algorithm", self.signature_algorithm.as_deref());
        out.put_some("nonce", self.nonce.as_deref());
        out.into()
    }

    /// Writes what [`to_wire`](Self::to_wire) says in its canonical form, without the signature.
    pub(crate) fn write_unsigned(&self, out: &mut Canonical<'_>) {
        let mut out = Fields::of(0, out);
        out.put("body", &self.body);
        out.put("from", self.from.as_str());
        out.put("message_id", self.message_id.as_str());
        out.put_some("nonce", self.nonce.as_ref());
        out.put("payload_mode", self.payload_mode.wire_name());
        out.put("provenance", &self.provenance);
        out.put("session_id", self.session_id.as_ref().map_or("", SessionId::as_str));
        out.put_some("signature_algorithm", self.signature_algorithm.as_ref());
        out.put("timestamp", &self.timestamp.text);
        out.put("to", self.to.as_str());
        out.end();
    }
}

impl Written for DelegateId {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        self.as_str().write(depth, out);
    }
}

impl Written for Body {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        match self {
            // Of a session's messages, most are these.
            Self::TaskSubmit(body) => {
                let mut out = Fields::of(depth, out);
                let path = body.delegation_path.as_slice();
                out.put_some("contract", body.contract.as_ref().map(|it| it.to_wire()).as_ref());
                out.put_some("delegation_path", (!path.is_empty()).then_some(path));
                out.put("input", &body.input);
                out.put("skill", body.skill.as_str());
                out.put("task_id", body.task_id.as_str());
                out.put("type", self.message_type().wire_name());
                out.end();
            }
            Self::TaskResult(body) => {
                let mut out = Fields::of(depth, out);
                out.put("output", &body.output);
                out.put("provenance", &body.provenance);
                out.put("task_id", body.task_id.as_str());
                out.put("type", self.message_type().wire_name());
                out.end();
            }
            _ => self.to_wire().write(depth, out),
        }
    }
}

impl Body {
    pub fn to_value(&self) -> Value {
        self.to_wire().to_value()
    }

    pub(crate) fn to_wire(&self) -> Wire<'_> {
        let mut out = Object::with_room(6);
        out.put("type", self.message_type().wire_name());
        match self {
            Self::Hello(body) => hello(&mut out, body),
            Self::CapabilityManifest(body) => manifest(&mut out, body),
            Self::SessionPropose(body) => out.put("config", config(body)),
            Self::SessionAccept(body) => acceptance(&mut out, body),
            Self::SessionReject(body) => {
                out.put("reason", body.reason.as_str());
                out.put_some("error", body.error.as_ref().map(|error| error.to_wire()));
            }
            Self::TaskSubmit(body) => {
                out.put("task_id", body.task_id.as_str());
                out.put("skill", body.skill.as_str());
                out.put("input", &body.input);
                out.put_some("contract", body.contract.as_ref().map(|it| it.to_wire()));
                if !body.delegation_path.is_empty() {
                    let path = body.delegation_path.iter().map(DelegateId::as_str);
                    out.put("delegation_path", Wire::list(path));
                }
            }
            Self::TaskUpdate(body) => update(&mut out, body),
            Self::TaskResult(body) => {
                out.put("task_id", body.task_id.as_str());
                out.put("output", &body.output);
                out.put("provenance", body.provenance.to_wire());
            }
            Self::TaskFailed(body) => failure(&mut out, body),
            Self::TaskCancel(body) => out.put("task_id", body.task_id.as_str()),
            Self::Attestation(body) => {
                out.put("claim", &body.claim);
                out.put("evidence", &body.evidence);
            }
            Self::SessionClose(Closing { reason, suspend }) => {
                out.put("reason", reason.as_deref());
                out.put_some("suspend", suspend.then_some(true));
            }
        }
        out.into()
    }
}

fn hello<'a>(out: &mut Object<'a>, body: &'a Hello) {
    out.put("delegate_id", body.delegate_id.as_str());
    out.put("supported_modes", names(&body.supported_modes));
    out.put_some("public_key", body.public_key.map(|key| key.to_hex()));
}

/// The Rust reference reads the object, the specification's diagram shows the modes beside it, and
/// the Python one passes over both.
fn manifest<'a>(out: &mut Object<'a>, body: &'a Manifest) {
    let capabilities = Wire::list(body.capabilities.iter().map(Capability::to_value));
    let modes = body.supported_modes.as_deref().map(names);
    let mut inner = Object::default();
    inner.put("capabilities", capabilities);
    inner.put_some("supported_modes", modes.clone());
    inner.put_some("max_concurrent_tasks", body.max_concurrent_tasks);
    out.put("capabilities", inner);
    out.put_some("supported_modes", modes);
    out.put_some("public_key", body.public_key.map(|key| key.to_hex()));
}

fn config(body: &Proposal) -> Wire<'_> {
    let mut out = Object::default();
    out.put("preferred_payload_modes", names(&body.preferred_payload_modes));
    out.put("ttl_secs", body.ttl_secs);
    out.put("required_trust_domain", body.required_trust_domain.as_deref());
    // The Rust reference knows one mode only: the one that is liked best.
    let first = body.preferred_payload_modes.first();
    out.put("payload_mode", first.copied().unwrap_or(PayloadMode::Text).wire_name());
    out.put_some("trust_domain", body.trust_domain.as_deref());
    out.put_some("key_share", body.key_share.map(|key| KeyBytes::to_hex(&key)));
    let resumed = body.resume_session_id.as_ref();
    out.put_some("resume_session_id", resumed.map(SessionId::as_str));
    out.into()
}

fn acceptance<'a>(out: &mut Object<'a>, body: &'a Acceptance) {
    out.put("session_id", body.session_id.as_str());
    out.put("negotiated_mode", body.negotiated_mode.wire_name());
    out.put("fallback_chain", names(&body.fallback_chain));
    out.put_some("trust_domain", body.trust_domain.as_deref());
    out.put_some("key_share", body.key_share.map(|key| key.to_hex()));
    out.put_some("resumed", body.resumed.then_some(true));
}

/// Progress and message are null where there are none: one reference asks for the keys.
fn update<'a>(out: &mut Object<'a>, body: &'a Update) {
    out.put("task_id", body.task_id.as_str());
    out.put("progress", body.progress);
    out.put("message", body.message.as_deref());
    out.put_some("state", body.state.map(|state| state.wire_name()));
    out.put_some("seq", body.seq);
}

fn failure<'a>(out: &mut Object<'a>, body: &'a Failure) {
    out.put("task_id", body.task_id.as_ref().map_or("", TaskId::as_str));
    out.put("error", body.error.to_wire());
}

fn names(modes: &[PayloadMode]) -> Wire<'static> {
    Wire::list(modes.iter().map(|mode| mode.wire_name()))
}
