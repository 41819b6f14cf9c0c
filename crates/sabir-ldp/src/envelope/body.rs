//! The twelve messages. It knows what each holds, not how it is written.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::card::Capability;
use crate::contract::Contract;
use crate::error::LdpError;
use crate::id::{DelegateId, SessionId, SkillName, TaskId};
use crate::mode::PayloadMode;
use crate::provenance::Provenance;
use crate::value::KeyBytes;

/// How long a session lasts without a message, unless its proposal says otherwise.
pub const DEFAULT_TTL_SECS: u64 = 3600;

/// The message of a TASK_UPDATE with which an initiator asks how a task stands.
pub const STATUS_QUERY: &str = "status_query";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MessageType {
    Hello,
    CapabilityManifest,
    SessionPropose,
    SessionAccept,
    SessionReject,
    TaskSubmit,
    TaskUpdate,
    TaskResult,
    TaskFailed,
    TaskCancel,
    Attestation,
    SessionClose,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Hello(Hello),
    CapabilityManifest(Manifest),
    SessionPropose(Proposal),
    SessionAccept(Acceptance),
    SessionReject(Rejection),
    TaskSubmit(Submission),
    TaskUpdate(Update),
    TaskResult(Outcome),
    TaskFailed(Failure),
    TaskCancel(Cancellation),
    Attestation(Attestation),
    SessionClose(Closing),
}

/// HELLO
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    pub delegate_id: DelegateId,
    pub supported_modes: Vec<PayloadMode>,
    pub public_key: Option<KeyBytes>,
}

/// CAPABILITY_MANIFEST
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    pub capabilities: Vec<Capability>,
    /// None in the dialect that does not say: then the card does.
    pub supported_modes: Option<Vec<PayloadMode>>,
    pub max_concurrent_tasks: Option<u64>,
    pub public_key: Option<KeyBytes>,
}

/// SESSION_PROPOSE
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The initiator's preference. Empty if it named only modes that nobody has heard of.
    pub preferred_payload_modes: Vec<PayloadMode>,
    pub ttl_secs: u64,
    /// The domain that the responder must be in.
    pub required_trust_domain: Option<String>,
    /// The domain that the initiator says to be in.
    pub trust_domain: Option<String>,
    /// The initiator's half of the key agreement (X25519).
    pub key_share: Option<KeyBytes>,
    /// The suspended session that is to go on.
    pub resume_session_id: Option<SessionId>,
}

/// SESSION_ACCEPT
#[derive(Clone, Debug, PartialEq)]
pub struct Acceptance {
    /// The session's id, whatever the proposal said.
    pub session_id: SessionId,
    pub negotiated_mode: PayloadMode,
    pub fallback_chain: Vec<PayloadMode>,
    pub trust_domain: Option<String>,
    /// The responder's half of the key agreement (X25519).
    pub key_share: Option<KeyBytes>,
    pub resumed: bool,
}

/// SESSION_REJECT
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub reason: String,
    pub error: Option<LdpError>,
}

/// TASK_SUBMIT
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub task_id: TaskId,
    pub skill: SkillName,
    pub input: Value,
    pub contract: Option<Contract>,
    /// Through whose hands the task came, the oldest first.
    pub delegation_path: Vec<DelegateId>,
}

/// TASK_UPDATE
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub task_id: TaskId,
    pub progress: Option<f64>,
    pub message: Option<String>,
    /// None also for a state that we never heard of.
    pub state: Option<TaskState>,
    /// Counts the updates of a task from one.
    pub seq: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Queued,
    Working,
    WaitingForApproval,
    Completed,
    Failed,
    Cancelled,
}

/// TASK_RESULT
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub task_id: TaskId,
    pub output: Value,
    pub provenance: Provenance,
}

/// TASK_FAILED
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// None where the message that is refused named no task.
    pub task_id: Option<TaskId>,
    pub error: LdpError,
}

/// TASK_CANCEL
#[derive(Clone, Debug, PartialEq)]
pub struct Cancellation {
    pub task_id: TaskId,
}

/// ATTESTATION
#[derive(Clone, Debug, PartialEq)]
pub struct Attestation {
    pub claim: Value,
    pub evidence: Value,
}

/// SESSION_CLOSE
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Closing {
    pub reason: Option<String>,
    /// The session rests and may be resumed.
    pub suspend: bool,
}

impl MessageType {
    pub const ALL: [MessageType; 12] = [
        MessageType::Hello,
        MessageType::CapabilityManifest,
        MessageType::SessionPropose,
        MessageType::SessionAccept,
        MessageType::SessionReject,
        MessageType::TaskSubmit,
        MessageType::TaskUpdate,
        MessageType::TaskResult,
        MessageType::TaskFailed,
        MessageType::TaskCancel,
        MessageType::Attestation,
        MessageType::SessionClose,
    ];

    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Hello => "HELLO",
            Self::CapabilityManifest => "CAPABILITY_MANIFEST",
            Self::SessionPropose => "SESSION_PROPOSE",
            Self::SessionAccept => "SESSION_ACCEPT",
            Self::SessionReject => "SESSION_REJECT",
            Self::TaskSubmit => "TASK_SUBMIT",
            Self::TaskUpdate => "TASK_UPDATE",
            Self::TaskResult => "TASK_RESULT",
            Self::TaskFailed => "TASK_FAILED",
            Self::TaskCancel => "TASK_CANCEL",
            Self::Attestation => "ATTESTATION",
            Self::SessionClose => "SESSION_CLOSE",
        }
    }

    pub fn from_wire(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.wire_name() == name)
    }
}

impl std::fmt::Display for MessageType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.wire_name())
    }
}

impl Body {
    pub fn message_type(&self) -> MessageType {
        match self {
            Self::Hello(_) => MessageType::Hello,
            Self::CapabilityManifest(_) => MessageType::CapabilityManifest,
            Self::SessionPropose(_) => MessageType::SessionPropose,
            Self::SessionAccept(_) => MessageType::SessionAccept,
            Self::SessionReject(_) => MessageType::SessionReject,
            Self::TaskSubmit(_) => MessageType::TaskSubmit,
            Self::TaskUpdate(_) => MessageType::TaskUpdate,
            Self::TaskResult(_) => MessageType::TaskResult,
            Self::TaskFailed(_) => MessageType::TaskFailed,
            Self::TaskCancel(_) => MessageType::TaskCancel,
            Self::Attestation(_) => MessageType::Attestation,
            Self::SessionClose(_) => MessageType::SessionClose,
        }
    }

    /// The task that the message is about.
    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::TaskSubmit(body) => Some(&body.task_id),
            Self::TaskUpdate(body) => Some(&body.task_id),
            Self::TaskResult(body) => Some(&body.task_id),
            Self::TaskFailed(body) => body.task_id.as_ref(),
            Self::TaskCancel(body) => Some(&body.task_id),
            Self::Hello(_)
            | Self::CapabilityManifest(_)
            | Self::SessionPropose(_)
            | Self::SessionAccept(_)
            | Self::SessionReject(_)
            | Self::Attestation(_)
            | Self::SessionClose(_) => None,
        }
    }
}

impl Default for Proposal {
    /// What the specification says where a proposal is silent.
    fn default() -> Self {
        Self {
            preferred_payload_modes: vec![PayloadMode::SemanticFrame, PayloadMode::Text],
            ttl_secs: DEFAULT_TTL_SECS,
            required_trust_domain: None,
            trust_domain: None,
            key_share: None,
            resume_session_id: None,
        }
    }
}

impl Update {
    /// Whether it asks how a task stands, instead of saying so.
    pub fn is_status_query(&self) -> bool {
        self.message.as_deref() == Some(STATUS_QUERY)
    }
}

impl TaskState {
    pub const ALL: [TaskState; 6] = [
        TaskState::Queued,
        TaskState::Working,
        TaskState::WaitingForApproval,
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Cancelled,
    ];

    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Working => "working",
            Self::WaitingForApproval => "waiting_for_approval",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn from_wire(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.wire_name() == name)
    }
}
