//! How to reach a model, as far as the wire says it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which of the two APIs a provider speaks.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum WireApi {
    #[default]
    Responses,
    Chat,
}

/// A provider that needs no configuration file. What is absent is taken from the file, or from the
/// defaults.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ProviderSettings {
    /// A provider of the configuration file.
    pub name: Option<String>,
    pub base_url: Option<String>,
    pub wire_api: Option<WireApi>,
    /// The environment variable that holds the key. The key itself never travels here.
    pub env_key: Option<String>,
    pub request_max_retries: Option<u32>,
    pub stream_max_retries: Option<u32>,
    pub stream_idle_timeout_ms: Option<u64>,
}

/// How hard a model should think, for models that can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    Minimal,
    Low,
    Medium,
    High,
}
