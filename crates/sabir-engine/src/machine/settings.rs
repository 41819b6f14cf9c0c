//! What a session is set to, with nothing left open: who drives the machine has looked up files,
//! folders and defaults.

use std::sync::Arc;

use sabir_policy::{ApprovalPolicy, PolicyDoc, SandboxPolicy};
use serde::{Deserialize, Serialize};

use crate::protocol::{Effort, ProviderSettings};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub session_id: String,
    pub model: String,
    pub provider: ProviderSettings,
    /// Absolute.
    pub cwd: String,
    pub approval_policy: ApprovalPolicy,
    pub sandbox_policy: SandboxPolicy,
    /// All that the model is told before the thread.
    pub instructions: String,
    /// The part of it that the person wrote.
    #[serde(default)]
    pub own_instructions: Option<String>,
    #[serde(default)]
    pub effort: Option<Effort>,
    #[serde(default)]
    pub approval_timeout_ms: Option<u64>,
    #[serde(default)]
    pub context_window: Option<u64>,
    pub request_max_retries: u32,
    pub stream_max_retries: u32,
    /// The folder that `TMPDIR` names.
    #[serde(default)]
    pub tmpdir: Option<String>,
    /// Folders of this program, which no command may change.
    #[serde(default)]
    pub own_state: Vec<String>,
    /// What the policy file says. It is not stored: a session that is resumed is held by the file as
    /// it is then.
    #[serde(skip)]
    pub policy: Arc<PolicyDoc>,
}
