//! `integration.invoke`: an operation of another program, by the servers of tools that the user has
//! configured. They are started for the call and end with it.

use sabir_llmcp::InvokeIntegration;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::desk::Desk;
use crate::mcp::Mcp;

impl Desk {
    pub(super) async fn integrate(
        &self,
        it: &InvokeIntegration,
        stop: &CancellationToken,
    ) -> Result<Value, Failure> {
        let Some(integrations) = &self.0.integrations else {
            return Err(Failure::new("NOT_FOUND", "no integration is configured"));
        };
        let directory = std::env::current_dir()
            .map_err(|error| Failure::new("RUNTIME_UNAVAILABLE", error.to_string()))?;
        let environment = crate::secrets::vars().collect();
        let only = integrations.config.only(it.integration.as_str());
        let servers = Mcp::start(only, environment, &directory, integrations.helper.clone()).await;
        let tools = servers.tools();
        let tool = tools.iter().find(|tool| {
            tool.server == it.integration.as_str() && tool.tool == it.operation.as_str()
        });
        let Some(tool) = tool else {
            let known: Vec<String> =
                tools.iter().map(|tool| format!("{}.{}", tool.server, tool.tool)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let message = format!("there is no such operation; there are: {known}");
            servers.shutdown().await;
            return Err(Failure::new("NOT_FOUND", message));
        };
        let mut payload = it.payload.clone();
        if let Some(key) = &it.idempotency_key {
            // Servers that know it do nothing twice; those that do not, ignore it.
            payload.entry("idempotencyKey").or_insert_with(|| json!(key.as_str()));
        }
        let called = servers.call(&tool.info.name, Value::Object(payload), stop.clone()).await;
        servers.shutdown().await;
        match called {
            Ok(output) if output.is_error => Err(Failure::new("FAILED", output.text)),
            Ok(output) => Ok(json!({ "text": output.text, "data": output.structured })),
            Err(error) => Err(Failure::new("FAILED", error.to_string())),
        }
    }
}
