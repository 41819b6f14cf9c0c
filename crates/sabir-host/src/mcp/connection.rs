//! One connection to a server: opened, greeted, asked for its tools, closed. It keeps no memory of
//! earlier ones.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
    ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions, RoleClient,
    RunningServiceCancellationToken, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::{DynamicTransportError, IntoTransport};
use sabir_base::text::one_line;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::child::{Child, End, Environment};
use super::config::{ServerConfig, Transport};
use super::handler::Handler;
use super::redaction::Redaction;
use super::tool::read_tools_singly;
use super::{child, http};

/// What every connection of a server needs.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) config: ServerConfig,
    pub(super) environment: Environment,
    /// Where children work unless told otherwise.
    pub(super) directory: PathBuf,
    /// What supervises children.
    pub(super) helper: PathBuf,
    pub(super) tools_changed: Arc<Notify>,
    /// Cancelled when all servers shut down.
    pub(super) stop: CancellationToken,
}

pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) redaction: Redaction,
    closer: Option<RunningServiceCancellationToken>,
    /// Taken out once it is done.
    finished: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    child: Option<Child>,
}

/// All tools of a server, and how many entries were no tools at all.
pub(super) struct Listing {
    pub(super) tools: Vec<Tool>,
    pub(super) unreadable: usize,
}

impl Ground {
    /// Connects and lists the tools, all within the time that the configuration gives.
    pub(super) async fn open(&self) -> Result<(Connection, Listing), String> {
        match self.open_as(ClientLifecycleMode::Initialize).await {
            // The newest servers know no greeting; to them we speak without one.
            Err(Failure { newer_protocol: true, .. }) => {
                let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                let mode = ClientLifecycleMode::Discover { preferred_versions };
                self.open_as(mode).await.map_err(|failure| failure.reason)
            }
            opened => opened.map_err(|failure| failure.reason),
        }
    }

    async fn open_as(&self, mode: ClientLifecycleMode) -> Result<(Connection, Listing), Failure> {
        let mut redaction = Redaction::default();
        match &self.config.transport {
            Transport::Stdio(stdio) => {
                let directory = match &stdio.cwd {
                    Some(cwd) => self.directory.join(cwd),
                    None => self.directory.clone(),
                };
                let root = stdio.cwd.as_ref().and(file_address(&directory));
                let (child, output, input) = Child::start(
                    stdio,
                    &self.environment,
                    &directory,
                    &self.helper,
                    &mut redaction,
                )
                .await?;
                self.greet((output, input), mode, root, Some(child), redaction).await
            }
            Transport::Http(config) => {
                let transport = http::open(config, &self.environment, &mut redaction)?;
                self.greet(transport, mode, None, None, redaction).await
            }
        }
    }

    async fn greet<T, E, A>(
        &self,
        transport: T,
        mode: ClientLifecycleMode,
        root: Option<String>,
        child: Option<Child>,
        redaction: Redaction,
    ) -> Result<(Connection, Listing), Failure>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let handler = Handler { root, tools_changed: Arc::clone(&self.tools_changed) };
        let greeting = async {
            let running = serve_client_with_lifecycle(handler, transport, mode)
                .await
                .map_err(|error| describe_greeting(&error))?;
            let peer = running.peer().clone();
            let listing = list_tools(&peer).await?;
            Ok((running, peer, listing))
        };
        // Boxed because the greeting of the protocol is a large future.
        let greeting = Box::pin(tokio::time::timeout(self.config.startup_timeout, greeting));
        let greeted: Result<_, Failure> = tokio::select! {
            greeted = greeting => greeted.unwrap_or_else(|_| {
                let limit = self.config.startup_timeout.as_millis();
                Err(format!("it was not ready within {limit} ms").into())
            }),
            () = self.stop.cancelled() => Err("shut down while starting".to_owned().into()),
        };
        let (running, peer, listing) = match greeted {
            Ok(greeted) => greeted,
            Err(mut failure) => {
                if let Some(child) = child {
                    failure.reason = match child.end(child::PATIENCE_WITH_FAILED).await {
                        End::NeverStarted(why) => why,
                        End::Over(end) => format!("{}; {end}", failure.reason),
                    };
                }
                failure.reason = redaction.apply(&failure.reason);
                return Err(failure);
            }
        };
        let closer = Some(running.cancellation_token());
        let finished = Box::pin(async move {
            let _ = running.waiting().await;
        });
        let finished: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = Some(finished);
        Ok((Connection { peer, redaction, closer, finished, child }, listing))
    }
}

impl Connection {
    /// Ends when the server goes away.
    pub(super) async fn ended(&mut self) {
        if let Some(finished) = &mut self.finished {
            finished.await;
        }
        self.finished = None;
    }

    /// Takes leave and ends the server. Says how it ended, for a child that is.
    pub(super) async fn close(mut self, patience: Duration) -> Option<String> {
        if let Some(closer) = self.closer.take() {
            closer.cancel();
        }
        let Some(child) = self.child.take() else {
            let _ = tokio::time::timeout(HTTP_LEAVE, self.ended()).await;
            return None;
        };
        // The end of the connection closes the child's input. A child that reads nothing can hold
        // it up, so that both are awaited together and the kill decides.
        let ended = tokio::time::timeout(LEAVE, self.ended());
        let (end, _) = tokio::join!(child.end(patience), ended);
        let (End::NeverStarted(end) | End::Over(end)) = end;
        Some(self.redaction.apply(&end))
    }
}

/// Asks for all pages of the list of tools.
pub(super) async fn list_tools(peer: &Peer<RoleClient>) -> Result<Listing, Failure> {
    let mut listing = Listing { tools: Vec::new(), unreadable: 0 };
    let offers_tools = peer.peer_info().is_none_or(|info| info.capabilities.tools.is_some());
    if !offers_tools {
        return Ok(listing);
    }
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ListToolsRequest { params: Some(params), ..ListToolsRequest::default() };
        // Asked anew and not from the library's memory: the list may have changed.
        let request = ClientRequest::ListToolsRequest(request);
        let handle = peer
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .map_err(|error| describe_service(&error))?;
        let page = handle.await_response().await.map_err(|error| describe_service(&error))?;
        cursor = match page {
            ServerResult::ListToolsResult(page) => {
                listing.tools.extend(page.tools);
                page.next_cursor
            }
            other => {
                let page = serde_json::to_value(other).unwrap_or_default();
                let (tools, cursor, unreadable) = read_tools_singly(&page)
                    .ok_or_else(|| "its list of tools cannot be read".to_owned())?;
                listing.tools.extend(tools);
                listing.unreadable += unreadable;
                cursor
            }
        };
        if cursor.is_none() || listing.tools.len() > MAX_LISTED {
            break;
        }
    }
    Ok(listing)
}

/// An error of the library in words, without the types that it names.
pub(super) fn describe_service(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => {
            format!("it answered with error {}: {}", error.code.0, one_line(&error.message, 500))
        }
        ServiceError::TransportSend(error) => describe_chain(error.error.as_ref()),
        ServiceError::TransportClosed => "it closed the connection".to_owned(),
        other => one_line(&other.to_string(), 500),
    }
}

pub(super) struct Failure {
    pub(super) reason: String,
    /// Whether the server asked for a newer protocol than the one that we began with.
    newer_protocol: bool,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { reason, newer_protocol: false }
    }
}

fn describe_greeting(error: &ClientInitializeError) -> Failure {
    let reason = match error {
        ClientInitializeError::ConnectionClosed(_) => GONE_EARLY.to_owned(),
        // Whether a dead server is noticed by its output or by its input is chance.
        ClientInitializeError::TransportError { error, .. } if is_broken_pipe(error) => {
            GONE_EARLY.to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => describe_chain(error.error.as_ref()),
        ClientInitializeError::JsonRpcError(error) => {
            let newer = [ErrorCode::METHOD_NOT_FOUND, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION];
            let message = one_line(&error.message, 500);
            return Failure {
                reason: format!("it answered the greeting with error {}: {message}", error.code.0),
                newer_protocol: newer.contains(&error.code),
            };
        }
        other => one_line(&other.to_string(), 500),
    };
    reason.into()
}

fn is_broken_pipe(error: &DynamicTransportError) -> bool {
    let error = error.error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The innermost errors say what happened, the outer ones in which layer.
fn describe_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let inner = error.to_string();
        if !words.contains(&inner) {
            words = format!("{words}: {inner}");
        }
        source = error.source();
    }
    one_line(&words, 500)
}

fn file_address(directory: &std::path::Path) -> Option<String> {
    reqwest::Url::from_directory_path(directory).ok().map(String::from)
}

const GONE_EARLY: &str = "it closed the connection before it answered";

/// A server that always names a next page must not keep us for ever.
const MAX_PAGES: usize = 64;
const MAX_LISTED: usize = 2048;

/// Long enough to end a session by one request.
const HTTP_LEAVE: Duration = Duration::from_secs(2);

/// The connection itself is closed at once, unless the server does not read.
const LEAVE: Duration = Duration::from_secs(5);
