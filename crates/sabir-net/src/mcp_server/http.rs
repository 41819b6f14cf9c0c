//! The tools over streamable HTTP. A conversation stays for as long as a call may wait in it; where
//! there is no room for another one, one that was silent for long makes it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{MAX_MESSAGE_BYTES, Server, ToolKit, ToolLimits};

/// The tools at `/mcp`. Whoever serves the router says who a caller is ([`crate::Visitor`]) and has
/// looked at the host and the origin that a request names. `stop` ends all conversations.
pub fn mcp_router(kit: Arc<ToolKit>, stop: CancellationToken) -> Router {
    let mut sessions = LocalSessionManager::default();
    // A conversation that ends takes the answers with it that are waited for in it.
    sessions.session_config.keep_alive = Some(keep_alive(&kit.limits));
    let sessions = Arc::new(sessions);
    let bounds = Bounds {
        sessions: Arc::clone(&sessions),
        most: kit.limits.sessions,
        silence: kit.limits.silence,
        heard: Arc::default(),
    };
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.clone())
        .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
        // The listener has looked at both.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let serve = move || Ok(Server::new(Arc::clone(&kit), None, stop.clone()));
    let service = StreamableHttpService::new(serve, sessions, config);
    Router::new()
        .route_service("/mcp", service.clone())
        .route_service("/mcp/", service)
        .layer(middleware::from_fn_with_state(bounds, bounded))
}

/// How long a conversation stays without a word: longer than anything is waited for in it.
pub(super) fn keep_alive(limits: &ToolLimits) -> Duration {
    limits.longest_wait.max(limits.question) + limits.silence.max(LEAST_SILENCE)
}

#[derive(Clone)]
struct Bounds {
    sessions: Arc<LocalSessionManager>,
    most: usize,
    silence: Duration,
    heard: Arc<Mutex<HashMap<String, Heard>>>,
}

/// What is known of a conversation.
struct Heard {
    at: Instant,
    /// Requests whose answers are not sent to their end.
    open: usize,
}

/// A request of a conversation, for as long as its answer is being sent.
struct Open {
    bounds: Bounds,
    session: String,
    counts: Counts,
}

/// Whether somebody waits for the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    Call,
    Nothing,
}

/// Who has a conversation goes on with it; a new one needs a place.
async fn bounded(State(bounds): State<Bounds>, request: Request, next: Next) -> Response {
    let session = session(request.headers());
    let begins = request.method() == Method::POST && session.is_none();
    if begins && !bounds.has_room().await {
        let words = "too many conversations; try again later";
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "30")], words).into_response();
    }
    // A stream that only listens is no call.
    let counts = if request.method() == Method::POST { Counts::Call } else { Counts::Nothing };
    let open = session.and_then(|session| bounds.open(session, counts));
    let response = next.run(request).await;
    if let Some(begun) = self::session(response.headers()).filter(|_| begins) {
        let heard = Heard { at: Instant::now(), open: 0 };
        bounds.heard.lock().unwrap_or_else(PoisonError::into_inner).insert(begun, heard);
    }
    let Some(open) = open else { return response };
    response.map(|body| {
        let body = http_body_util::BodyExt::map_frame(body, move |frame| {
            let _held = &open;
            frame
        });
        axum::body::Body::new(body)
    })
}

impl Bounds {
    /// Whether there is room, if need be in the place of the one that was silent for longest.
    async fn has_room(&self) -> bool {
        let known: Vec<Arc<str>> = self.sessions.sessions.read().await.keys().cloned().collect();
        let silent = {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.retain(|session, _| known.iter().any(|it| **it == **session));
            if known.len() < self.most {
                return true;
            }
            let silent =
                heard.iter().filter(|(_, it)| it.open == 0 && it.at.elapsed() >= self.silence);
            silent.min_by_key(|(_, it)| it.at).map(|(session, _)| Arc::from(session.as_str()))
        };
        match silent {
            Some(session) => self.sessions.close_session(&session).await.is_ok(),
            None => false,
        }
    }

    /// None of a conversation that is not known.
    fn open(&self, session: String, counts: Counts) -> Option<Open> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let it = heard.get_mut(&session)?;
        it.at = Instant::now();
        it.open += usize::from(counts == Counts::Call);
        drop(heard);
        Some(Open { bounds: self.clone(), session, counts })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut heard = self.bounds.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(it) = heard.get_mut(&self.session) {
            it.at = Instant::now();
            it.open = it.open.saturating_sub(usize::from(self.counts == Counts::Call));
        }
    }
}

fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION)?.to_str().ok().map(str::to_owned)
}

pub(super) const SESSION: &str = "mcp-session-id";

const LEAST_SILENCE: Duration = Duration::from_secs(60);
