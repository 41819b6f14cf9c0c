//! The node as a server of tools over the Model Context Protocol: over standard streams, and over
//! streamable HTTP. What a tool does is done elsewhere; it passes the gate first.

mod call;
mod given_up;
mod http;
mod language;
mod library;
mod listing;
mod places;
mod stdio;
mod tasks;
#[cfg(test)]
mod tests;
mod unread;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelledNotificationParam, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt as _};
use sabir_host::{Desk, MOST_TEXT_BYTES, VisitGate};
use sabir_telemetry::within;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub use http::mcp_router;

use crate::caller::Caller;
use crate::errands::Errands;
use crate::ldp::Visitor;
use call::{Call, ToolError};
use given_up::Calls;
use listing::Name;
use places::Places;
use stdio::Streams;

/// What the tools work with.
pub struct ToolKit {
    desk: Desk,
    errands: Arc<dyn Errands>,
    gate: VisitGate,
    limits: ToolLimits,
    places: Places,
}

/// How much is done for others.
#[derive(Debug, Clone, Copy)]
pub struct ToolLimits {
    /// Calls that are worked on at the same time, of all callers together. Those that wait for a
    /// person or a task are not counted.
    pub calls: usize,
    /// Calls of one caller at the same time, also those that wait.
    pub calls_of_one: usize,
    /// How long a call waits for a person's word.
    pub question: Duration,
    /// Bytes of a text to be checked, repaired or translated.
    pub text_bytes: usize,
    /// Pages that one call may capture.
    pub pages: usize,
    /// How long a call waits for a task when it does not say, and at most.
    pub wait: Duration,
    pub longest_wait: Duration,
    /// Bytes that messages over HTTP take together in memory, once they are read, and how long one
    /// waits for room.
    pub held_bytes: usize,
    pub held_wait: Duration,
    /// Conversations over HTTP at the same time.
    pub sessions: usize,
    /// After so long without a word a conversation may have to make room for another one.
    pub silence: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            calls: 32,
            calls_of_one: 32,
            // As long as a message of A2A waits.
            question: Duration::from_secs(600),
            text_bytes: MOST_TEXT_BYTES,
            pages: 32,
            // Clients give up a call after a minute or so unless they hear of it.
            wait: Duration::from_secs(300),
            longest_wait: Duration::from_secs(3600),
            held_bytes: 512 * 1024 * 1024,
            // As long as reading a few of the largest ones takes.
            held_wait: Duration::from_secs(5),
            sessions: 256,
            silence: Duration::from_secs(300),
        }
    }
}

impl ToolKit {
    pub fn new(desk: Desk, errands: Arc<dyn Errands>, gate: VisitGate, limits: ToolLimits) -> Self {
        let places = Places::new(limits.calls, limits.calls_of_one);
        Self { desk: desk.for_visitors(), errands, gate, limits, places }
    }
}

impl fmt::Debug for ToolKit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolKit").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Serves the program at the other end of two streams until it hangs up or `stop` is cancelled.
pub async fn serve_mcp<R, W>(
    kit: Arc<ToolKit>,
    input: R,
    output: W,
    stop: CancellationToken,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = Server::new(kit, Some(Caller::parent()), stop.clone());
    let transport = Streams::new(input, output);
    // A child: the token of a service that is over is cancelled, and nobody told us to stop.
    // On the heap, because it is large.
    let served = match Box::pin(server.serve_with_ct(transport, stop.child_token())).await {
        Ok(served) => served,
        // It hung up, or was told to, before it said who it is.
        Err(_) if stop.is_cancelled() => return Ok(()),
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    served.waiting().await.map_err(|error| io::Error::other(error.to_string()))?;
    Ok(())
}

/// One conversation.
#[derive(Clone)]
struct Server {
    kit: Arc<ToolKit>,
    /// Who is at the other end; over HTTP each request says so.
    parent: Option<Caller>,
    calls: Calls,
    /// Cancelled when the node stops.
    stopping: CancellationToken,
}

impl Server {
    fn new(kit: Arc<ToolKit>, parent: Option<Caller>, stopping: CancellationToken) -> Self {
        Self { kit, parent, calls: Calls::default(), stopping }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let us = Implementation::new("sabir", env!("CARGO_PKG_VERSION")).with_title("Sabir");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(us)
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Name::parse(name).map(listing::tool)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(listing::all()))
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        _: NotificationContext<RoleServer>,
    ) {
        if let Some(id) = notification.request_id {
            self.calls.give_up(id);
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(name) = Name::parse(&request.name) else {
            let names: Vec<&str> = Name::ALL.iter().map(|name| name.word()).collect();
            let message = format!("there is no such tool; there are {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        // Calls are answered in tasks of their own, and not in that of the request.
        let parts = context.extensions.get::<Parts>();
        let trace = parts.and_then(|parts| parts.extensions.get::<Visitor>()?.trace);
        let call = Call::new(self, context);
        let Some(_entered) = self.kit.places.enter(&call.caller.name) else {
            return Ok(ToolError::busy().into_result().into());
        };
        let arguments = request.arguments.unwrap_or_default();
        let doing = async {
            match name {
                Name::Delegate => tasks::delegate(&call, arguments).await,
                Name::RunTask => tasks::run_task(&call, arguments).await,
                Name::Ask => library::ask(&call, arguments).await,
                Name::Capture => library::capture(&call, arguments).await,
                Name::AxonCheck => language::check(&call, arguments).await,
                Name::AxonRepair => language::repair(&call, arguments).await,
                Name::Convert => language::convert(&call, arguments).await,
            }
        };
        let result = match within(trace, doing).await {
            Ok(value) => CallToolResult::structured(value),
            Err(error) => error.into_result(),
        };
        Ok(result.into())
    }
}

const INSTRUCTIONS: &str = "Sabir hands tasks to agents, answers questions about collections of \
    captured pages with citations that were checked, and reads and writes AXON and LLMX. \
    `delegate` finds an agent for a task, `run_task` has one of this node do it; both return an id \
    under which a task that takes longer can be asked for again with `run_task`.";

/// A text that is as long as it may be, with every character escaped.
const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;
