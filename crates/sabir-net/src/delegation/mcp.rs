//! Tools of MCP servers as skills. The host's client speaks to them, with its limits and its
//! supervision of child processes.

use std::ffi::OsString;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use sabir_host::{ExternalTool, Mcp, McpConfig, McpError};
use sabir_ldp::{IdentityCard, LdpError, PayloadMode, Refusal};
use sabir_telemetry::{TRACEPARENT, current};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::foreign::{Offer, foreign_card, measured, said_no, unreachable};
use super::remote::{Job, News, Product, Remote};
use super::request::TaskInput;
use crate::ldp::client::{Base, Http};

/// What programs that are started need.
#[derive(Debug, Clone)]
pub struct LocalGround {
    /// What children inherit, without what sounds secret.
    pub environment: Vec<(OsString, OsString)>,
    pub directory: PathBuf,
    /// This program, which supervises them.
    pub helper: PathBuf,
}

pub(super) struct McpRemote {
    card: IdentityCard,
    tools: Vec<ExternalTool>,
    mcp: Mcp,
}

impl McpRemote {
    pub(super) async fn open_http(
        http: &Http,
        base: &Base,
        address: &str,
        ground: &LocalGround,
    ) -> Result<Self, LdpError> {
        let mut environment = Vec::new();
        let mut section = format!("[mcp.{NAME}]\nurl = {}\n", Value::from(base.as_str()));
        if let Some(token) = http.token(base).and_then(|value| value.to_str().ok()) {
            environment.push((TOKEN.into(), token.into()));
            section.push_str(&format!("env_headers = {{ Authorization = \"{TOKEN}\" }}\n"));
        }
        if let Some(trace) = current() {
            section.push_str(&format!("headers = {{ {TRACEPARENT} = \"{trace}\" }}\n"));
        }
        Self::open(section, address, LocalGround { environment, ..ground.clone() }).await
    }

    pub(super) async fn open_command(
        command: &[String],
        address: &str,
        ground: &LocalGround,
    ) -> Result<Self, LdpError> {
        let section = format!("[mcp.{NAME}]\ncommand = {}\n", json!(command));
        Self::open(section, address, ground.clone()).await
    }

    async fn open(
        mut section: String,
        address: &str,
        ground: LocalGround,
    ) -> Result<Self, LdpError> {
        section.push_str(&format!("call_timeout_ms = {CALL_MS}\n"));
        let config =
            McpConfig::parse(&section).map_err(|error| unreachable(address, &error.to_string()))?;
        let LocalGround { environment, directory, helper } = ground;
        let mcp = Mcp::start(config, environment, &directory, helper).await;
        let tools = mcp.tools();
        if tools.is_empty() {
            let (notices, _) = mcp.notices_since(0);
            let why = notices.into_iter().map(|notice| notice.message).collect::<Vec<_>>();
            mcp.shutdown().await;
            let why = if why.is_empty() { "it offers no tools".to_owned() } else { why.join("; ") };
            return Err(unreachable(address, &why));
        }
        let offers = tools.iter().map(|tool| Offer {
            name: tool.tool.clone(),
            description: Some(tool.info.description.clone()),
            input_schema: Some(tool.info.parameters.clone()),
        });
        let card = foreign_card(address, address, "unknown", offers.collect())
            .map_err(|why| unreachable(address, &why))?;
        Ok(Self { card, tools, mcp })
    }
}

impl Remote for McpRemote {
    fn card(&self) -> &IdentityCard {
        &self.card
    }

    fn perform<'a>(
        &'a self,
        job: &'a Job,
        _: &'a mpsc::Sender<News>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Product, LdpError>> {
        Box::pin(async move {
            let tool = self.tools.iter().find(|tool| tool.tool == job.skill.as_str());
            let tool = tool.ok_or_else(|| {
                Refusal::SkillNotFound.error(format!("it has no tool {:?}", job.skill.as_str()))
            })?;
            let arguments = arguments(&job.input, &tool.info.parameters);
            let called = self.mcp.call(&tool.info.name, arguments, stop.clone()).await;
            let output = called.map_err(|error| failure(&error))?;
            if output.is_error {
                return Err(said_no(Refusal::TaskFailed, &output.text));
            }
            let value = output.structured.unwrap_or_else(|| output.text.into());
            Ok(measured(&self.card.delegate_id, "unknown", value, PayloadMode::Text))
        })
    }

    fn keeps_deadlines(&self) -> bool {
        false
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.mcp.shutdown())
    }
}

/// An object is the arguments. A text becomes the argument that the tool's schema has for it.
fn arguments(input: &TaskInput, schema: &Value) -> Value {
    let text = match input {
        TaskInput::Json(value @ Value::Object(_)) => return value.clone(),
        TaskInput::Json(value) => value.to_string(),
        TaskInput::Text(text) => text.clone(),
    };
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let known = ["task", "input"].into_iter().find(|name| properties.contains_key(*name));
    let only = || {
        let takes_text =
            |(_, it): &(&String, &Value)| it.get("type").is_none_or(|kind| kind == "string");
        let mut fitting = properties.iter().filter(takes_text).map(|(name, _)| name.as_str());
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    };
    let mut arguments = Map::new();
    arguments.insert(known.or_else(only).unwrap_or("input").to_owned(), text.into());
    arguments.into()
}

fn failure(error: &McpError) -> LdpError {
    let words = error.to_string();
    match error {
        McpError::UnknownTool { .. } => said_no(Refusal::SkillNotFound, &words),
        McpError::Cancelled { .. } => said_no(Refusal::Cancelled, &words),
        // The call never reached the server.
        McpError::Start { .. }
        | McpError::Resting { .. }
        | McpError::Unreached { .. }
        | McpError::Stopped => unreachable("mcp", &words),
        McpError::BadArguments { .. }
        | McpError::Ended { .. }
        | McpError::Timeout { .. }
        | McpError::Refused { .. }
        | McpError::WantsInput { .. }
        | McpError::Misbehaved { .. } => said_no(Refusal::TaskFailed, &words),
    }
}

/// The name of the one server of a connection.
const NAME: &str = "delegate";
const TOKEN: &str = "SABIR_DELEGATE_AUTHORIZATION";
/// As long as a configuration may say; deadlines are kept by who delegates.
const CALL_MS: u64 = 24 * 60 * 60 * 1000;

#[cfg(test)]
mod tests {
    use super::*;

    /// LD-C31
    #[test]
    fn a_text_becomes_the_argument_that_the_schema_has_for_it() {
        let given = |text: &str, properties: Value| {
            let schema = json!({ "type": "object", "properties": properties });
            arguments(&TaskInput::Text(text.to_owned()), &schema)
        };
        let string = json!({ "type": "string" });
        assert_eq!(given("x", json!({ "a": string, "task": string })), json!({ "task": "x" }));
        assert_eq!(given("x", json!({ "input": string, "b": string })), json!({ "input": "x" }));
        let number = json!({ "type": "number" });
        assert_eq!(given("x", json!({ "query": string, "n": number })), json!({ "query": "x" }));
        assert_eq!(given("x", json!({ "a": string, "b": string })), json!({ "input": "x" }));
        assert_eq!(given("x", json!({})), json!({ "input": "x" }));
        let object = TaskInput::Json(json!({ "a": 1 }));
        assert_eq!(arguments(&object, &json!({})), json!({ "a": 1 }));
    }
}
