//! What a person chose: when to be asked, and what a command may touch. These are wire types: the
//! queue pair carries them as they stand here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// When a person is asked before something runs.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// Everything is asked for, except commands that are known to only read.
    Untrusted,
    /// The model may ask, and destructive commands always ask.
    #[default]
    OnRequest,
    /// Runs in the sandbox; asks when the sandbox refused something.
    OnFailure,
    /// Never asks: what is not allowed is refused.
    Never,
}

/// How much of the machine a command sees.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Files can be read; nothing is written; no network.
    ReadOnly,
    /// Writes go to the workspace and the temporary folders; `.git` stays as it is.
    #[default]
    WorkspaceWrite,
    /// No sandbox at all.
    DangerFullAccess,
}

/// The sandbox, with its additions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
pub struct SandboxPolicy {
    pub mode: SandboxMode,
    /// Folders beside the working directory that may be written. Absolute.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub writable_roots: Vec<String>,
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub network_access: bool,
    /// Keeps the folder that `TMPDIR` names read-only.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub exclude_tmpdir_env_var: bool,
    /// Keeps `/tmp` read-only.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub exclude_slash_tmp: bool,
}

impl SandboxPolicy {
    /// A policy with nothing added.
    pub fn of(mode: SandboxMode) -> Self {
        Self { mode, ..Self::default() }
    }
}
