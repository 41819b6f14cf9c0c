//! What those who run a node are told: its log, its counters and its traces. Secrets are the names of
//! variables here, as everywhere.

use sabir_telemetry::{Filter, Format, OtlpSettings, Traced};

use super::NodeConfigError;
use super::section::Section;

/// Nothing is sent anywhere unless this says so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TelemetryConfig {
    pub log: Option<Filter>,
    pub log_format: Option<Format>,
    /// The variable that holds the token for `/metrics`.
    pub metrics_token_env: Option<String>,
    pub traced: Traced,
}

pub(super) fn read(mut section: Section<'_>) -> Result<TelemetryConfig, NodeConfigError> {
    let mut config = TelemetryConfig::default();
    if let Some(log) = section.text("log")? {
        let filter = log.value.parse::<Filter>();
        config.log = Some(filter.map_err(|error| section.error_at(&log, error.to_string()))?);
    }
    if let Some(format) = section.text("log_format")? {
        config.log_format = Some(match format.value.as_str() {
            "text" => Format::Text,
            "json" => Format::Json,
            _ => return Err(section.error_at(&format, "it is `text` or `json`")),
        });
    }
    config.metrics_token_env = section.text("metrics_token_env")?.map(|it| it.value);
    let endpoint = section.text("otlp_endpoint")?;
    config.traced = Traced {
        endpoint: endpoint.as_ref().map(|it| it.value.clone()),
        headers_env: section.text("otlp_headers_env")?.map(|it| it.value),
        service: section.text("service_name")?.map(|it| it.value),
    };
    // What variables say is a matter of the moment.
    if let (Some(at), Err(error)) = (&endpoint, OtlpSettings::find(&config.traced, &|_| None)) {
        return Err(section.error_at(at, error.to_string()));
    }
    Ok(config)
}

pub(super) const KEYS: &[&str] = &[
    "log",
    "log_format",
    "metrics_token_env",
    "otlp_endpoint",
    "otlp_headers_env",
    "service_name",
];
