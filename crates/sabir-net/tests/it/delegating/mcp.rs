//! A task given to a tool of an MCP server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sabir_ldp::{PayloadMode, VerificationStatus};
use serde_json::json;

use crate::world::{World, request};

#[derive(Clone)]
struct Tools;

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object", "properties": { "task": { "type": "string" } } });
        let schema = schema.as_object().unwrap().clone();
        let tool = |name: &'static str| Tool::new(name, name, schema.clone());
        Ok(ListToolsResult::with_all_items(vec![tool("shout"), tool("fail")]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let task = request.arguments.unwrap_or_default().get("task").cloned().unwrap_or_default();
        let text = vec![ContentBlock::text(task.as_str().unwrap_or_default().to_uppercase())];
        let result = match request.name.as_ref() {
            "shout" => CallToolResult::success(text),
            _ => CallToolResult::error(text),
        };
        Ok(result.into())
    }
}

pub(super) async fn serve() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(|| Ok(Tools), sessions, config);
    let router = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("mcp://{address}/mcp")
}

/// LD-C31
#[tokio::test]
async fn a_tool_is_a_skill() {
    let world = World::new();
    let url = serve().await;
    let (report, _) = world.run(&request("shout", &[&url])).await;
    assert!(report.is_done(), "{:?}", report.error);
    assert_eq!(report.output.unwrap(), "SAY HI");
    assert_eq!(report.payload_mode, Some(PayloadMode::Text));
    let provenance = report.provenance.unwrap();
    assert_eq!(provenance.produced_by.as_str(), format!("ldp:delegate:{url}"));
    assert_eq!(provenance.verification, VerificationStatus::Unverified);
    assert!(provenance.latency_ms.is_some());
    let (report, _) = world.run(&request("fail", &[&url])).await;
    let error = report.error.unwrap();
    assert_eq!((error.code.as_str(), error.message.as_str()), ("TASK_FAILED", "SAY HI"));
    let (report, _) = world.run(&request("dance", &[&url])).await;
    assert_eq!(report.error.unwrap().code, "SKILL_NOT_FOUND");
}

/// LD-C31
#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let world = World::new();
    let (report, _) = world.run(&request("shout", &["mcp://127.0.0.1:1/mcp"])).await;
    assert_eq!(report.error.unwrap().code, "UNREACHABLE");
    let (report, _) = world.run(&request("shout", &["mcp+stdio:/nonexistent/server"])).await;
    assert_eq!(report.error.unwrap().code, "UNREACHABLE");
}
