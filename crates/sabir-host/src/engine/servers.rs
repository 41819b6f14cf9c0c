//! The MCP servers of an engine: started once, when the first session begins, shared by all
//! sessions, and ended with the engine.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use sabir_engine::{OfferedTool, ToolResult};
use serde_json::Value;
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Engine;
use crate::mcp::{ExternalTool, Mcp, McpConfig, McpNotice};

/// What the engine holds.
#[derive(Debug)]
pub(super) struct Servers {
    config: McpConfig,
    directory: PathBuf,
    /// What supervises them.
    helper: PathBuf,
    /// Holds nothing when the engine was shut down first.
    started: OnceCell<Option<Arc<Mcp>>>,
    stop: CancellationToken,
}

impl Servers {
    pub(super) fn new(config: McpConfig, directory: PathBuf, helper: PathBuf) -> Self {
        let (started, stop) = (OnceCell::new(), CancellationToken::new());
        Self { config, directory, helper, started, stop }
    }

    fn running(&self) -> Option<&Arc<Mcp>> {
        self.started.get().and_then(Option::as_ref)
    }

    /// Starts them, or waits until whoever came first has. Each is given its own time to start, and
    /// one that fails takes nothing with it but its tools.
    async fn start(&self) -> Option<Arc<Mcp>> {
        let start = async {
            let environment = crate::secrets::vars().collect();
            let (config, helper) = (self.config.clone(), self.helper.clone());
            let starting = Mcp::start(config, environment, &self.directory, helper);
            tokio::select! {
                mcp = starting => Some(Arc::new(mcp)),
                () = self.stop.cancelled() => None,
            }
        };
        self.started.get_or_init(|| start).await.clone()
    }

    pub(super) async fn shutdown(&self) {
        self.stop.cancel();
        // A start that is on its way sees the stop; one that comes later finds that it is over.
        if let Some(mcp) = self.started.get_or_init(async || None).await {
            mcp.shutdown().await;
        }
    }

    /// Calls a tool by the name that the model sees.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: Value,
        stop: CancellationToken,
    ) -> ToolResult {
        let Some(mcp) = self.running() else {
            let output = format!("no server offers {name}");
            return ToolResult { output, ..ToolResult::default() };
        };
        match mcp.call(name, arguments, stop).await {
            Ok(output) => ToolResult {
                success: !output.is_error,
                output: output.text,
                ..ToolResult::default()
            },
            Err(error) => {
                let output = match error.help() {
                    Some(help) => format!("{error}; {help}"),
                    None => error.to_string(),
                };
                ToolResult { output, ..ToolResult::default() }
            }
        }
    }
}

/// What one session knows of them.
#[derive(Debug, Default)]
pub(super) enum Watched {
    /// No server is configured, or no session has begun.
    #[default]
    Absent,
    /// The session has begun, and takes no submission until they are ready.
    Starting(JoinHandle<Option<Arc<Mcp>>>),
    Running(Running),
}

#[derive(Debug)]
pub(super) struct Running {
    mcp: Arc<Mcp>,
    changes: watch::Receiver<u64>,
    /// Something is new that the session has not been told.
    is_news: bool,
    /// How many notices it was told.
    told: u64,
}

impl Running {
    fn new(mcp: Arc<Mcp>) -> Self {
        let changes = mcp.changes();
        Self { mcp, changes, is_news: true, told: 0 }
    }
}

impl Watched {
    /// The session is configured. Returns what to tell a person who now has to wait.
    pub(super) fn begin(&mut self, engine: &Engine) -> Option<String> {
        let servers = &engine.shared.servers;
        if !matches!(self, Self::Absent) || servers.config.is_empty() {
            return None;
        }
        if let Some(mcp) = servers.running() {
            *self = Self::Running(Running::new(Arc::clone(mcp)));
            return None;
        }
        let engine = engine.clone();
        // In a task of its own: a session that ends meanwhile must not end what others wait for.
        let starting = tokio::spawn(async move { engine.shared.servers.start().await });
        *self = Self::Starting(starting);
        let names: Vec<&str> = servers.config.names().collect();
        Some(format!("starting the MCP servers: {}", names.join(", ")))
    }

    /// The tools as they are now.
    pub(super) fn tools(&self) -> Vec<OfferedTool> {
        match self {
            Self::Absent | Self::Starting(_) => Vec::new(),
            Self::Running(running) => running.mcp.tools().into_iter().map(offer).collect(),
        }
    }

    pub(super) fn is_starting(&self) -> bool {
        matches!(self, Self::Starting(_))
    }

    /// Waits for something to tell the session. Nothing is lost when it is given up.
    pub(super) async fn changed(&mut self) {
        match self {
            Self::Absent => std::future::pending().await,
            Self::Starting(starting) => {
                let started = starting.await.ok().flatten();
                *self = started.map_or(Self::Absent, |mcp| Self::Running(Running::new(mcp)));
            }
            Self::Running(running) => match running.changes.changed().await {
                Ok(()) => running.is_news = true,
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// What the session has not been told: the tools as they are now, and what happened.
    pub(super) fn take(&mut self) -> Option<(Vec<OfferedTool>, Vec<McpNotice>)> {
        let Self::Running(running) = self else { return None };
        if !running.is_news && !running.changes.has_changed().unwrap_or(false) {
            return None;
        }
        // Before it is read: what changes meanwhile is news again.
        running.changes.mark_unchanged();
        running.is_news = false;
        let tools = running.mcp.tools().into_iter().map(offer).collect();
        let (mut notices, told) = running.mcp.notices_since(running.told);
        running.told = told;
        // A session that begins late need not hear of every single death of a sick server.
        let mut seen = HashSet::new();
        notices.retain(|notice| seen.insert(notice.to_string()));
        Some((tools, notices))
    }
}

fn offer(tool: ExternalTool) -> OfferedTool {
    OfferedTool { info: tool.info, effects: tool.effects }
}
