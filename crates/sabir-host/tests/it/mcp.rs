//! Tools of MCP servers, against real ones: this program itself over standard streams, and a server
//! over HTTP.

mod calls;
mod config;
mod helper;
mod http;
mod life;
mod listing;
mod server;

use std::ffi::OsString;
use std::path::Path;

use sabir_host::{Mcp, McpConfig, McpError, McpOutput};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The `[mcp.NAME]` section of a server that is this test program in `mode`.
fn section(name: &str, mode: &str, more: &str) -> String {
    let program = std::env::current_exe().unwrap();
    // As TOML strings are written, for the characters that a path has here.
    let program = program.to_str().unwrap();
    format!(
        "[mcp.{name}]\n\
         command = [{program:?}, \"--exact\", \"mcp::server::serve\", \"--nocapture\"]\n\
         env = {{ {} = \"{mode}\", GIVEN_SECRET = \"given-by-env\" }}\n{more}\n",
        server::MODE
    )
}

async fn start_in(directory: &Path, text: &str) -> Mcp {
    start_with(directory, McpConfig::parse(text).unwrap()).await
}

async fn start_with(directory: &Path, config: McpConfig) -> Mcp {
    let environment = std::env::vars_os().chain([
        (OsString::from("SABIR_TEST_API_KEY"), OsString::from("inherited-secret")),
        (OsString::from("SABIR_TEST_PLAIN"), OsString::from("inherited-word")),
    ]);
    Mcp::start(config, environment.collect(), directory, helper::path()).await
}

async fn start(text: &str) -> Mcp {
    start_in(&std::env::temp_dir(), text).await
}

async fn call(mcp: &Mcp, name: &str, arguments: Value) -> Result<McpOutput, McpError> {
    mcp.call(name, arguments, CancellationToken::new()).await
}

async fn call_text(mcp: &Mcp, name: &str) -> String {
    call(mcp, name, Value::Null).await.unwrap().text
}

fn tool_names(mcp: &Mcp) -> Vec<String> {
    mcp.tools().into_iter().map(|tool| tool.info.name).collect()
}

fn notices(mcp: &Mcp) -> String {
    let notices: Vec<String> = mcp.notices_since(0).0.iter().map(ToString::to_string).collect();
    notices.join("\n")
}
