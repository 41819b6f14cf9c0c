//! What a peer is told when something went wrong: the error object of the wire, and the codes that a
//! node refuses with. It knows words, not when they are due.

use sabir_base::json::{JsonError, JsonKind, JsonValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::read::{Fields, MAX_TEXT_BYTES, free_json, limited_text, wire_serde};
use crate::wire::{Object, Wire};

/// Who or what is at fault, in the words of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    Identity,
    Capability,
    Policy,
    Runtime,
    Quality,
    Session,
    Transport,
    /// Read and never sent: a released SDK fails on the word. `Policy` and the code say it instead.
    Security,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Warning,
    Error,
    Fatal,
}

/// The error object of the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct LdpError {
    pub code: String,
    pub category: ErrorCategory,
    pub message: String,
    pub severity: Severity,
    pub retryable: bool,
    /// What was done before it went wrong.
    pub partial_output: Option<Value>,
}

/// Why a node refuses a message or ends a task. Each has a code that peers may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Refusal {
    SessionNotFound,
    SessionNotYours,
    SessionExpired,
    SessionClosed,
    SessionSuspended,
    SkillNotFound,
    TimestampOutOfWindow,
    ReplayDetected,
    TrustDomainMismatch,
    BadSignature,
    SignatureRequired,
    FrameInvalid,
    ModeNotNegotiated,
    ContractViolated,
    LoopDetected,
    DepthExceeded,
    WrongRecipient,
    TaskNotFound,
    Cancelled,
    MessageInvalid,
    UnexpectedMessage,
    LimitReached,
    TaskFailed,
    /// The node died while the task ran, or was lost sight of: nobody knows how far it came.
    Interrupted,
}

impl Refusal {
    pub const ALL: [Refusal; 24] = [
        Refusal::SessionNotFound,
        Refusal::SessionNotYours,
        Refusal::SessionExpired,
        Refusal::SessionClosed,
        Refusal::SessionSuspended,
        Refusal::SkillNotFound,
        Refusal::TimestampOutOfWindow,
        Refusal::ReplayDetected,
        Refusal::TrustDomainMismatch,
        Refusal::BadSignature,
        Refusal::SignatureRequired,
        Refusal::FrameInvalid,
        Refusal::ModeNotNegotiated,
        Refusal::ContractViolated,
        Refusal::LoopDetected,
        Refusal::DepthExceeded,
        Refusal::WrongRecipient,
        Refusal::TaskNotFound,
        Refusal::Cancelled,
        Refusal::MessageInvalid,
        Refusal::UnexpectedMessage,
        Refusal::LimitReached,
        Refusal::TaskFailed,
        Refusal::Interrupted,
    ];

    pub fn code(self) -> &'static str {
        match self {
            Self::SessionNotFound => "SESSION_NOT_FOUND",
            Self::SessionNotYours => "SESSION_NOT_YOURS",
            Self::SessionExpired => "SESSION_EXPIRED",
            Self::SessionClosed => "SESSION_CLOSED",
            Self::SessionSuspended => "SESSION_SUSPENDED",
            Self::SkillNotFound => "SKILL_NOT_FOUND",
            Self::TimestampOutOfWindow => "TIMESTAMP_OUT_OF_WINDOW",
            Self::ReplayDetected => "REPLAY_DETECTED",
            Self::TrustDomainMismatch => "TRUST_DOMAIN_MISMATCH",
            Self::BadSignature => "BAD_SIGNATURE",
            Self::SignatureRequired => "SIGNATURE_REQUIRED",
            Self::FrameInvalid => "FRAME_INVALID",
            Self::ModeNotNegotiated => "MODE_NOT_NEGOTIATED",
            Self::ContractViolated => "CONTRACT_VIOLATED",
            Self::LoopDetected => "LOOP_DETECTED",
            Self::DepthExceeded => "DEPTH_EXCEEDED",
            Self::WrongRecipient => "WRONG_RECIPIENT",
            Self::TaskNotFound => "TASK_NOT_FOUND",
            Self::Cancelled => "CANCELLED",
            Self::MessageInvalid => "MESSAGE_INVALID",
            Self::UnexpectedMessage => "UNEXPECTED_MESSAGE",
            Self::LimitReached => "LIMIT_REACHED",
            Self::TaskFailed => "TASK_FAILED",
            Self::Interrupted => "INTERRUPTED",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| refusal.code() == code)
    }

    pub fn category(self) -> ErrorCategory {
        match self {
            Self::SessionNotFound
            | Self::SessionExpired
            | Self::SessionClosed
            | Self::SessionSuspended
            | Self::UnexpectedMessage => ErrorCategory::Session,
            Self::SkillNotFound | Self::ModeNotNegotiated | Self::FrameInvalid => {
                ErrorCategory::Capability
            }
            Self::WrongRecipient => ErrorCategory::Identity,
            Self::SessionNotYours
            | Self::TimestampOutOfWindow
            | Self::ReplayDetected
            | Self::TrustDomainMismatch
            | Self::BadSignature
            | Self::SignatureRequired
            | Self::ContractViolated
            | Self::LoopDetected
            | Self::DepthExceeded => ErrorCategory::Policy,
            Self::MessageInvalid => ErrorCategory::Transport,
            Self::TaskNotFound
            | Self::Cancelled
            | Self::LimitReached
            | Self::TaskFailed
            | Self::Interrupted => ErrorCategory::Runtime,
        }
    }

    pub fn severity(self) -> Severity {
        match self.category() {
            ErrorCategory::Policy | ErrorCategory::Security => Severity::Fatal,
            ErrorCategory::Quality => Severity::Warning,
            ErrorCategory::Identity
            | ErrorCategory::Capability
            | ErrorCategory::Runtime
            | ErrorCategory::Session
            | ErrorCategory::Transport => Severity::Error,
        }
    }

    /// Whether the same task may be tried again: in a new session, in another mode, or later. What
    /// failed while it ran may have done something already, so that only its caller can know.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::SessionNotFound
            | Self::SessionExpired
            | Self::SessionClosed
            | Self::SessionSuspended
            | Self::FrameInvalid
            | Self::ModeNotNegotiated
            | Self::LimitReached
            | Self::TimestampOutOfWindow => true,
            Self::SessionNotYours
            | Self::SkillNotFound
            | Self::ReplayDetected
            | Self::TrustDomainMismatch
            | Self::BadSignature
            | Self::SignatureRequired
            | Self::ContractViolated
            | Self::LoopDetected
            | Self::DepthExceeded
            | Self::WrongRecipient
            | Self::TaskNotFound
            | Self::Cancelled
            | Self::MessageInvalid
            | Self::UnexpectedMessage
            | Self::TaskFailed
            | Self::Interrupted => false,
        }
    }

    /// The error object that says so.
    pub fn error(self, message: impl Into<String>) -> LdpError {
        LdpError {
            code: self.code().to_owned(),
            category: self.category(),
            message: message.into(),
            severity: self.severity(),
            retryable: self.is_retryable(),
            partial_output: None,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

impl ErrorCategory {
    pub const ALL: [ErrorCategory; 8] = [
        ErrorCategory::Identity,
        ErrorCategory::Capability,
        ErrorCategory::Policy,
        ErrorCategory::Runtime,
        ErrorCategory::Quality,
        ErrorCategory::Session,
        ErrorCategory::Transport,
        ErrorCategory::Security,
    ];

    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Capability => "capability",
            Self::Policy => "policy",
            Self::Runtime => "runtime",
            Self::Quality => "quality",
            Self::Session => "session",
            Self::Transport => "transport",
            Self::Security => "security",
        }
    }
}

impl Severity {
    pub const ALL: [Severity; 3] = [Severity::Warning, Severity::Error, Severity::Fatal];

    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }
}

impl LdpError {
    pub fn refusal(&self) -> Option<Refusal> {
        Refusal::from_code(&self.code)
    }

    /// An object, or the bare string of one dialect, which says only that the task failed.
    pub(crate) fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        if value.kind() == JsonKind::String {
            return Ok(Refusal::TaskFailed.error(limited_text(value, MAX_TEXT_BYTES)?));
        }
        let fields = Fields::of(value)?;
        // A category or severity that we never heard of comes from a newer peer. What it wants to
        // say stands in the code and the message, so that these are worth more than a refusal.
        let category = fields.name("category")?.and_then(|name| {
            ErrorCategory::ALL.into_iter().find(|category| category.wire_name() == name)
        });
        let severity = fields
            .name("severity")?
            .and_then(|name| Severity::ALL.into_iter().find(|it| it.wire_name() == name));
        Ok(Self {
            code: fields.name("code")?.unwrap_or_else(|| Refusal::TaskFailed.code().to_owned()),
            category: category.unwrap_or(ErrorCategory::Runtime),
            message: fields.text("message")?.unwrap_or_default(),
            severity: severity.unwrap_or(Severity::Error),
            retryable: fields.flag("retryable")?.unwrap_or(false),
            partial_output: fields.optional("partial_output").map(free_json).transpose()?,
        })
    }

    pub fn to_value(&self) -> Value {
        self.to_wire().to_value()
    }

    pub(crate) fn to_wire(&self) -> Wire<'_> {
        // The word that breaks a released SDK is never written, whoever made the object.
        let category = match self.category {
            ErrorCategory::Security => ErrorCategory::Policy,
            other => other,
        };
        let mut out = Object::with_room(6);
        out.put("code", self.code.as_str());
        out.put("category", category.wire_name());
        out.put("message", self.message.as_str());
        out.put("severity", self.severity.wire_name());
        out.put("retryable", self.retryable);
        out.put_some("partial_output", self.partial_output.as_ref());
        out.into()
    }
}

wire_serde!(LdpError);
