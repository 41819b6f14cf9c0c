//! From JSON to a body, in each of the dialects: the specification's, that of the Rust reference, and
//! that of the Python one, which writes every key of every message with null where it has none.

use sabir_base::json::{JsonError, JsonKind, JsonValue};
use serde_json::Value;

use super::{
    Acceptance, Attestation, Body, Cancellation, Closing, DEFAULT_TTL_SECS, Failure, Hello,
    Manifest, MessageType, Outcome, Proposal, Rejection, Submission, TaskState, Update,
};
use crate::card::capability_list;
use crate::contract::Contract;
use crate::error::{LdpError, Refusal};
use crate::id::DelegateId;
use crate::mode::PayloadMode;
use crate::provenance::Provenance;
use crate::read::{Fields, MAX_ENTRIES, free_json, id, limited, list, number, quoted, wire_serde};

pub(super) fn read_body(value: JsonValue<'_>) -> Result<Body, JsonError> {
    let fields = Fields::of(value)?;
    let kind = fields.required("type")?;
    let name = limited(kind, crate::read::MAX_NAME_BYTES)?;
    let Some(kind) = MessageType::from_wire(&name) else {
        return Err(kind.error(format!("unknown message type {}", quoted(&name))));
    };
    Ok(match kind {
        MessageType::Hello => Body::Hello(hello(fields)?),
        MessageType::CapabilityManifest => Body::CapabilityManifest(manifest(fields)?),
        MessageType::SessionPropose => Body::SessionPropose(proposal(fields)?),
        MessageType::SessionAccept => Body::SessionAccept(acceptance(fields)?),
        MessageType::SessionReject => Body::SessionReject(Rejection {
            reason: fields.text("reason")?.unwrap_or_default(),
            error: fields.read("error", LdpError::read)?,
        }),
        MessageType::TaskSubmit => Body::TaskSubmit(submission(fields)?),
        MessageType::TaskUpdate => Body::TaskUpdate(update(fields)?),
        MessageType::TaskResult => Body::TaskResult(Outcome {
            task_id: fields.required_id("task_id")?,
            output: free(fields, "output")?,
            provenance: Provenance::read(fields.required("provenance")?)?,
        }),
        MessageType::TaskFailed => Body::TaskFailed(failure(fields)?),
        MessageType::TaskCancel => {
            Body::TaskCancel(Cancellation { task_id: fields.required_id("task_id")? })
        }
        MessageType::Attestation => Body::Attestation(Attestation {
            claim: free(fields, "claim")?,
            evidence: free(fields, "evidence")?,
        }),
        MessageType::SessionClose => Body::SessionClose(Closing {
            reason: fields.text("reason")?,
            suspend: fields.flag("suspend")?.unwrap_or(false),
        }),
    })
}

impl Body {
    pub(crate) fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        read_body(value)
    }
}

wire_serde!(Body);

fn hello(fields: Fields<'_>) -> Result<Hello, JsonError> {
    Ok(Hello {
        delegate_id: fields.required_id("delegate_id")?,
        supported_modes: fields.modes("supported_modes")?.unwrap_or_default(),
        public_key: fields.hex("public_key")?,
    })
}

/// The list of capabilities itself, or an object that holds it as `capabilities` or `skills`. Modes
/// stand in that object or beside it.
fn manifest(fields: Fields<'_>) -> Result<Manifest, JsonError> {
    let mut manifest = Manifest {
        capabilities: Vec::new(),
        supported_modes: fields.modes("supported_modes")?,
        max_concurrent_tasks: None,
        public_key: fields.hex("public_key")?,
    };
    let Some(value) = fields.optional("capabilities") else { return Ok(manifest) };
    if value.kind() == JsonKind::Array {
        manifest.capabilities = capability_list(value)?;
        return Ok(manifest);
    }
    if value.kind() != JsonKind::Object {
        let found = value.kind().name();
        return Err(value.error(format!("expected an array or an object, found {found}")));
    }
    let inner = Fields::of(value)?;
    let listed = inner.optional("capabilities").or_else(|| inner.optional("skills"));
    manifest.capabilities = listed.map(capability_list).transpose()?.unwrap_or_default();
    if manifest.supported_modes.is_none() {
        manifest.supported_modes = inner.modes("supported_modes")?;
    }
    manifest.max_concurrent_tasks = inner.whole("max_concurrent_tasks")?;
    Ok(manifest)
}

fn proposal(fields: Fields<'_>) -> Result<Proposal, JsonError> {
    let Some(config) = fields.optional("config") else { return Ok(Proposal::default()) };
    let config = Fields::of(config)?;
    let modes = match config.modes("preferred_payload_modes")? {
        Some(modes) => modes,
        // One dialect proposes a single mode; text is behind it, because everybody speaks that.
        None => match config.mode("payload_mode")? {
            Some(PayloadMode::Text) => vec![PayloadMode::Text],
            Some(mode) => vec![mode, PayloadMode::Text],
            None => Proposal::default().preferred_payload_modes,
        },
    };
    Ok(Proposal {
        preferred_payload_modes: modes,
        ttl_secs: config.whole("ttl_secs")?.unwrap_or(DEFAULT_TTL_SECS),
        required_trust_domain: config.name("required_trust_domain")?,
        trust_domain: config.name("trust_domain")?,
        key_share: config.hex("key_share")?,
        resume_session_id: config.id("resume_session_id")?,
    })
}

fn acceptance(fields: Fields<'_>) -> Result<Acceptance, JsonError> {
    fields.required("negotiated_mode")?;
    Ok(Acceptance {
        session_id: fields.required_id("session_id")?,
        negotiated_mode: fields.mode("negotiated_mode")?.unwrap_or(PayloadMode::Text),
        fallback_chain: fields.modes("fallback_chain")?.unwrap_or_default(),
        trust_domain: fields.name("trust_domain")?,
        key_share: fields.hex("key_share")?,
        resumed: fields.flag("resumed")?.unwrap_or(false),
    })
}

fn submission(fields: Fields<'_>) -> Result<Submission, JsonError> {
    let path =
        fields.read("delegation_path", |value| list(value, MAX_ENTRIES, id::<DelegateId>))?;
    Ok(Submission {
        task_id: fields.required_id("task_id")?,
        skill: fields.required_id("skill")?,
        input: free(fields, "input")?,
        contract: fields.read("contract", Contract::read)?,
        delegation_path: path.unwrap_or_default(),
    })
}

fn update(fields: Fields<'_>) -> Result<Update, JsonError> {
    Ok(Update {
        task_id: fields.required_id("task_id")?,
        progress: fields.read("progress", number)?,
        message: fields.text("message")?,
        state: fields.name("state")?.and_then(|name| TaskState::from_wire(&name)),
        seq: fields.whole("seq")?,
    })
}

/// The error is an object or a string; the specification's diagram calls it `reason`.
fn failure(fields: Fields<'_>) -> Result<Failure, JsonError> {
    let error = match fields.optional("error") {
        Some(error) => LdpError::read(error)?,
        None => match fields.text("reason")? {
            Some(reason) => Refusal::TaskFailed.error(reason),
            None => LdpError::read(fields.required("error")?)?,
        },
    };
    Ok(Failure { task_id: fields.id_or_empty("task_id")?, error })
}

/// Any JSON; null where the key is missing, as the dialect that always writes it does.
fn free(fields: Fields<'_>, key: &str) -> Result<Value, JsonError> {
    Ok(fields.read(key, free_json)?.unwrap_or(Value::Null))
}
