//! A server over streamable HTTP: its session, its headers, its absence.

use std::ffi::OsString;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sabir_host::{Mcp, McpConfig, McpError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{call, call_text, notices, tool_names};

#[tokio::test]
async fn tools_over_http_answer() {
    let site = Site::open().await;
    let mcp = site.connect().await;
    assert_eq!(tool_names(&mcp), ["mcp__web__whoami", "mcp__web__wait"]);
    assert_eq!(call_text(&mcp, "mcp__web__whoami").await, "Bearer open-sesame, plain");
    let cancel = CancellationToken::new();
    let waiting = mcp.call("mcp__web__wait", json!({}), cancel.clone());
    let cancelling = async {
        site.waited.notified().await;
        cancel.cancel();
        // The server hears of it: its own token is cancelled.
        site.cancelled.notified().await;
    };
    let (result, ()) = tokio::join!(waiting, cancelling);
    assert!(matches!(result, Err(McpError::Cancelled { .. })), "{result:?}");
    assert_eq!(notices(&mcp), "");
    mcp.shutdown().await;
    site.close().await;
}

#[tokio::test]
async fn a_server_that_is_gone_is_reported_without_secrets() {
    let site = Site::open().await;
    let mcp = site.connect().await;
    let address = site.address.clone();
    site.close().await;
    let error = call(&mcp, "mcp__web__whoami", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::Ended { .. }), "{error}");
    let again = call(&mcp, "mcp__web__whoami", json!({})).await.unwrap_err();
    assert!(matches!(again, McpError::Start { .. }), "{again}");
    let told = format!("{error} {again} {error:?} {mcp:?} {}", notices(&mcp));
    assert!(told.contains(&address), "{told}");
    assert!(!told.contains("sesame") && !told.contains("hunter2"), "{told}");
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_secret_that_is_not_there_is_named() {
    let text = "[mcp.web]\nurl = \"http://127.0.0.1:1/\"\nenv_headers = { X = \"SABIR_UNSET\" }";
    let config = McpConfig::parse(text).unwrap();
    let mcp = Mcp::start(config, Vec::new(), &std::env::temp_dir(), "/nonexistent".into()).await;
    assert_eq!(
        notices(&mcp),
        "MCP server `web`: did not start, its tools are missing: \
         set the variable `SABIR_UNSET` for header `X`"
    );
    mcp.shutdown().await;
}

/// A web server with one MCP endpoint.
struct Site {
    address: String,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
    waited: Arc<tokio::sync::Notify>,
    cancelled: Arc<tokio::sync::Notify>,
}

#[derive(Clone)]
struct Tools {
    waited: Arc<tokio::sync::Notify>,
    cancelled: Arc<tokio::sync::Notify>,
}

impl Site {
    async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (waited, cancelled) = (Arc::default(), Arc::default());
        let tools = Tools { waited: Arc::clone(&waited), cancelled: Arc::clone(&cancelled) };
        let stop = CancellationToken::new();
        let mut config = StreamableHttpServerConfig::default();
        config.cancellation_token = stop.child_token();
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(tools.clone()), sessions, config);
        let router = axum::Router::new().nest_service("/mcp", service);
        let stopped = stop.clone().cancelled_owned();
        let task = tokio::spawn(async move {
            axum::serve(listener, router).with_graceful_shutdown(stopped).await.unwrap();
        });
        Self { address, stop, task, waited, cancelled }
    }

    async fn connect(&self) -> Mcp {
        let text = format!(
            "[mcp.web]\nurl = \"http://{}/mcp?key=hunter2hunter2\"\nheaders = {{ X-Plain = \"plain\" }}\n\
             env_headers = {{ Authorization = \"SITE_TOKEN\" }}",
            self.address
        );
        let config = McpConfig::parse(&text).unwrap();
        let environment = vec![(OsString::from("SITE_TOKEN"), OsString::from("open-sesame"))];
        Mcp::start(config, environment, &std::env::temp_dir(), "/nonexistent".into()).await
    }

    async fn close(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object" }).as_object().unwrap().clone();
        let tool = |name: &'static str| Tool::new(name, name, schema.clone());
        Ok(ListToolsResult::with_all_items(vec![tool("whoami"), tool("wait")]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "wait" {
            self.waited.notify_one();
            context.ct.cancelled().await;
            self.cancelled.notify_one();
        }
        let parts = context.extensions.get::<axum::http::request::Parts>().unwrap();
        let header = |name: &str| parts.headers[name].to_str().unwrap().to_owned();
        let words = format!("{}, {}", header("authorization"), header("x-plain"));
        Ok(CallToolResult::success(vec![ContentBlock::text(words)]).into())
    }
}
