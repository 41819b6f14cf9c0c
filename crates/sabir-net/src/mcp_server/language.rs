//! `axon_check`, `axon_repair` and `convert`: texts in, texts and findings out. They do it on a thread
//! for such work, because a long text takes a while.

use sabir_axon::{Rules, Tier};
use sabir_host::{Deed, Finding, TextChange, axon_changes, findings};
use sabir_lingua::{Refused, Tongue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::call::{Call, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckInput {
    /// The AXON text.
    text: String,
    /// Demand the metadata of this tier: 1, 2 or 3.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3))]
    tier: Option<u8>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckOutput {
    /// No finding is an error.
    valid: bool,
    /// How many messages the text holds.
    messages: usize,
    diagnostics: Vec<Finding>,
    /// Findings that were left out because there are too many.
    left_out: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepairInput {
    /// What a model wrote.
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RepairOutput {
    /// The repaired text.
    text: String,
    valid: bool,
    changes: Vec<TextChange>,
    /// What is left to say about the repaired text.
    diagnostics: Vec<Finding>,
    /// Changes and findings that were left out because there are too many.
    left_out: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConvertInput {
    text: String,
    /// The tongue of the text.
    from: TongueName,
    /// The tongue to translate into.
    to: TongueName,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TongueName {
    Axon,
    Llmx,
    /// The JSON of AXON or LLMX; each says which it is.
    Json,
    /// LDP semantic frames.
    Frame,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConvertOutput {
    text: String,
}

pub(super) async fn check(
    call: &Call<'_>,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let input: CheckInput = call.read(&arguments)?;
    let tier = input.tier.map(tier_of).transpose()?;
    pass(call, "serve.axon_check", &input.text).await?;
    work(move || {
        let parsed = sabir_axon::check(&input.text, Rules { tier });
        let valid = !parsed.has_errors();
        let messages = parsed.tree.messages().count();
        let (diagnostics, left_out) = findings(&input.text, &parsed.diagnostics);
        Ok(json!(CheckOutput { valid, messages, diagnostics, left_out }))
    })
    .await
}

pub(super) async fn repair(
    call: &Call<'_>,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let input: RepairInput = call.read(&arguments)?;
    pass(call, "serve.axon_repair", &input.text).await?;
    work(move || {
        let repaired = sabir_axon::repair(&input.text);
        let (diagnostics, more_findings) = findings(&repaired.text, &repaired.diagnostics);
        let (changes, more_changes) = axon_changes(&input.text, &repaired);
        let left_out = more_findings + more_changes;
        let valid = repaired.is_valid();
        Ok(json!(RepairOutput { text: repaired.text, valid, changes, diagnostics, left_out }))
    })
    .await
}

pub(super) async fn convert(
    call: &Call<'_>,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let input: ConvertInput = call.read(&arguments)?;
    pass(call, "serve.convert", &input.text).await?;
    work(move || {
        let converted = sabir_lingua::convert(&input.text, tongue(input.from), tongue(input.to));
        match converted {
            Ok(text) => Ok(json!(ConvertOutput { text })),
            Err(refused) => Err(explain(&refused, &input.text)),
        }
    })
    .await
}

/// The text itself stays out of the audit: its length says enough.
async fn pass(call: &Call<'_>, tool: &'static str, text: &str) -> Result<(), ToolError> {
    let most = call.kit.limits.text_bytes;
    if text.len() > most {
        return Err(ToolError::arguments(format!("`text` is longer than {most} bytes")));
    }
    let arguments = Map::from_iter([("bytes".to_owned(), text.len().into())]);
    call.pass(tool, &arguments, Deed::Read).await
}

async fn work(
    work: impl FnOnce() -> Result<Value, ToolError> + Send + 'static,
) -> Result<Value, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(ToolError::new("internal", error.to_string())),
    }
}

fn tier_of(number: u8) -> Result<Tier, ToolError> {
    match number {
        1 => Ok(Tier::One),
        2 => Ok(Tier::Two),
        3 => Ok(Tier::Three),
        _ => Err(ToolError::arguments("`tier` is 1, 2 or 3".to_owned())),
    }
}

fn tongue(name: TongueName) -> Tongue {
    match name {
        TongueName::Axon => Tongue::Axon,
        TongueName::Llmx => Tongue::Llmx,
        TongueName::Json => Tongue::Json,
        TongueName::Frame => Tongue::Frame,
    }
}

/// The first few errors in words: enough to mend the text.
fn explain(refused: &Refused, text: &str) -> ToolError {
    let words = match refused {
        Refused::Invalid(diagnostics) => {
            let (found, _) = findings(text, diagnostics);
            let lines = found.iter().filter(|it| it.is_error()).take(MOST_EXPLAINED);
            let lines = lines.map(|it| {
                let help = it.help.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
                let code = it.code.as_deref().unwrap_or_default();
                format!("{}:{} {code} {}{help}", it.line, it.column, it.message)
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    };
    ToolError::new("invalid", words)
}

const MOST_EXPLAINED: usize = 10;
