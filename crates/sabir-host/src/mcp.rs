//! Tools of MCP servers: child processes over their standard streams, and streamable HTTP. Each
//! server has a task of its own; a server that fails takes nothing with it but its tools. Whether a
//! tool may be called is decided elsewhere.

mod child;
mod config;
mod connection;
mod error;
mod handler;
mod http;
mod names;
mod output;
mod redaction;
mod section;
mod server;
mod tool;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ServerResult};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use sabir_base::is_near;
use sabir_base::text::one_line;
use serde_json::{Map, Value};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use config::KEYS as SERVER_KEYS;
pub use config::{McpConfig, McpConfigError};
pub use error::{McpError, McpNotice};
pub(crate) use names::possible_names;
pub use output::McpOutput;
pub use tool::ExternalTool;

use child::Environment;
use connection::{Ground, describe_service};
use server::{Board, Link, Request, Server, Shelf};

/// All configured servers. Dropping it ends them in the background; [`Mcp::shutdown`] also waits.
#[derive(Debug)]
pub struct Mcp {
    servers: Vec<Handle>,
    board: Arc<Board>,
    stop: CancellationToken,
    _guard: DropGuard,
}

/// One server, seen from outside its task.
#[derive(Debug)]
struct Handle {
    name: String,
    call_timeout: Duration,
    requests: mpsc::Sender<Request>,
    shelf: Arc<Shelf>,
    failures: Arc<AtomicU32>,
    /// Taken by whoever waits for its end.
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Mcp {
    /// Starts all servers at once and returns when each is ready or has failed; what there is to
    /// say about them is in [`Mcp::notices_since`]. `environment` is what children inherit and
    /// where secrets are looked up; `directory` is where they work unless they have a `cwd`; `helper`
    /// supervises them, and is as for [`crate::process::Runner::new`].
    pub async fn start(
        config: McpConfig,
        environment: Vec<(OsString, OsString)>,
        directory: &Path,
        helper: PathBuf,
    ) -> Self {
        let environment = Environment::new(environment, config.withheld);
        let board = Arc::new(Board::new());
        let stop = CancellationToken::new();
        // From here on, so that a start that is given up halfway ends what it began.
        let guard = stop.clone().drop_guard();
        let mut servers = Vec::new();
        let mut starting = Vec::new();
        for config in config.servers {
            let ground = Ground {
                config,
                environment: environment.clone(),
                directory: directory.to_owned(),
                helper: helper.clone(),
                tools_changed: Arc::new(Notify::new()),
                stop: stop.clone(),
            };
            let (handle, ready) = Handle::launch(ground, Arc::clone(&board));
            starting.push((handle.name.clone(), ready));
            servers.push(handle);
        }
        for (name, ready) in starting {
            // Only a task that panicked drops its end.
            if ready.await.is_err() {
                board.post(&name, "failed by a defect of this program".to_owned());
            }
        }
        Self { servers, board, stop, _guard: guard }
    }

    /// The tools of all servers as they are now, by server and in each server's order.
    pub fn tools(&self) -> Vec<ExternalTool> {
        self.servers.iter().flat_map(|server| server.shelf.tools().to_vec()).collect()
    }

    /// The notices from this number on, and the number of the next: for several listeners, each
    /// of which counts for itself, from zero.
    pub fn notices_since(&self, number: u64) -> (Vec<McpNotice>, u64) {
        self.board.since(number)
    }

    /// A number that changes whenever the tools of a server may have, or there is a notice.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.board.changes()
    }

    /// Calls a tool by the name that the model sees. A server that died is started again first. The
    /// call is never repeated: nobody knows what it did before the server died.
    pub async fn call(
        &self,
        name: &str,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<McpOutput, McpError> {
        let (server, tool) = self.find(name)?;
        let arguments = match arguments {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            _ => return Err(McpError::BadArguments { name: one_line(name, 80) }),
        };
        server.call(tool, arguments, &cancel).await
    }

    /// Ends all servers and waits until they are gone.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        for server in &self.servers {
            let task = server.task.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(task) = task {
                // A task that panicked has dropped its child, which killed it.
                let _ = task.await;
            }
        }
    }

    fn find(&self, name: &str) -> Result<(&Handle, String), McpError> {
        for server in &self.servers {
            if let Some(tool) = server.shelf.tools().iter().find(|tool| tool.info.name == name) {
                return Ok((server, tool.tool.clone()));
            }
        }
        let known = self.tools().into_iter().map(|tool| tool.info.name);
        let nearest = known.into_iter().find(|known| is_near(name, known));
        Err(McpError::UnknownTool { name: one_line(name, 80), nearest })
    }
}

impl Handle {
    fn launch(ground: Ground, board: Arc<Board>) -> (Self, oneshot::Receiver<()>) {
        let (requests, inbox) = mpsc::channel(MAX_WAITING);
        let (ready, readiness) = oneshot::channel();
        let shelf = Arc::new(Shelf::default());
        let failures = Arc::new(AtomicU32::new(0));
        let (name, call_timeout) = (ground.config.name.clone(), ground.config.call_timeout);
        let starting = Server::start(ground, board, Arc::clone(&shelf), Arc::clone(&failures));
        let task = tokio::spawn(async move {
            let server = starting.await;
            // If the start was given up meanwhile, the stop that came with it ends the server.
            let _ = ready.send(());
            server.run(inbox).await;
        });
        let task = Mutex::new(Some(task));
        (Self { name, call_timeout, requests, shelf, failures, task }, readiness)
    }

    async fn call(
        &self,
        tool: String,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<McpOutput, McpError> {
        let cancelled = || McpError::Cancelled { server: self.name.clone(), tool: tool.clone() };
        let link = tokio::select! {
            () = cancel.cancelled() => return Err(cancelled()),
            link = self.connect() => link?,
        };
        let params = CallToolRequestParams::new(tool.clone()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = link.peer.send_cancellable_request(request, options).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return self.read_answer(&link, tool, Err(error)).await,
        };
        tokio::select! {
            answer = &mut handle.rx => {
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                self.read_answer(&link, tool, answer).await
            }
            () = cancel.cancelled() => {
                withdraw(handle, "cancelled by the user").await;
                Err(cancelled())
            }
            () = tokio::time::sleep(self.call_timeout) => {
                withdraw(handle, "no answer in time").await;
                let (server, after) = (self.name.clone(), self.call_timeout);
                Err(McpError::Timeout { server, tool, after })
            }
        }
    }

    async fn connect(&self) -> Result<Link, McpError> {
        let (reply, answer) = oneshot::channel();
        let asked = self.requests.send(Request::Connect { reply }).await;
        asked.map_err(|_| McpError::Stopped)?;
        answer.await.unwrap_or(Err(McpError::Stopped))
    }

    async fn read_answer(
        &self,
        link: &Link,
        tool: String,
        answer: Result<ServerResult, ServiceError>,
    ) -> Result<McpOutput, McpError> {
        let server = self.name.clone();
        let result = match answer {
            Ok(result) => result,
            Err(ServiceError::McpError(error)) => {
                self.failures.store(0, Ordering::Relaxed);
                let message = link.redaction.apply(&one_line(&error.message, 2000));
                return Err(McpError::Refused { server, tool, code: error.code.0, message });
            }
            Err(error) => {
                let hint = link.redaction.apply(&describe_service(&error));
                if is_passing(&error) {
                    return Err(McpError::Unreached { server, tool, reason: hint });
                }
                let reason = self.explain(link.generation, hint).await;
                return Err(McpError::Ended { server, tool, reason });
            }
        };
        self.failures.store(0, Ordering::Relaxed);
        match result {
            ServerResult::CallToolResult(result) => Ok(McpOutput::from_result(result)),
            ServerResult::InputRequiredResult(_) => Err(McpError::WantsInput { server, tool }),
            other => serde_json::to_value(other)
                .ok()
                .and_then(McpOutput::from_unknown)
                .ok_or(McpError::Misbehaved { server, tool }),
        }
    }

    async fn explain(&self, generation: u64, hint: String) -> String {
        let (reply, answer) = oneshot::channel();
        let request = Request::Explain { generation, hint: hint.clone(), reply };
        if self.requests.send(request).await.is_err() {
            return hint;
        }
        answer.await.unwrap_or(hint)
    }
}

/// Tells the server that nobody waits any more. One that does not read must not keep us.
async fn withdraw(handle: RequestHandle<RoleClient>, reason: &str) {
    let _ = tokio::time::timeout(WITHDRAWAL, handle.cancel(Some(reason.to_owned()))).await;
}

/// Whether a failure says nothing about the connection: a busy server is not a dead one.
fn is_passing(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    let error = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
    matches!(error, Some(StreamableHttpError::HttpStatus(_)))
}

/// Calls that wait for one server; more wait before the queue.
const MAX_WAITING: usize = 64;

const WITHDRAWAL: Duration = Duration::from_secs(1);
