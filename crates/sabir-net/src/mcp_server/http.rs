//! The tools over streamable HTTP. A conversation is its caller's and nobody else's, and stays for as
//! long as a call may wait in it; where there is no room for another one, one that was silent for long
//! makes it.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use http_body_util::LengthLimitError;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::unread::{Heard as Message, Unread};
use super::{MAX_MESSAGE_BYTES, Server, ToolKit, ToolLimits};
use crate::caller::Caller;

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
        beginning: Arc::default(),
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
    /// One begins at a time, so that what is counted stays so.
    beginning: Arc<tokio::sync::Mutex<()>>,
}

/// What is known of a conversation.
struct Heard {
    /// Whose it is.
    caller: String,
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

/// Who has a conversation goes on with it; a new one needs a place. What is said is read whole before:
/// nobody holds a place, or counts on one, who does not go on.
async fn bounded(State(bounds): State<Bounds>, request: Request, next: Next) -> Response {
    let caller = Caller::of(request.extensions()).name;
    let session = session(request.headers());
    // One of somebody else is none.
    if session.as_ref().is_some_and(|it| !bounds.is_of(it, &caller)) {
        return (StatusCode::NOT_FOUND, "there is no such conversation; begin another")
            .into_response();
    }
    if request.method() != Method::POST {
        // A stream that only listens is no call.
        let open = session.and_then(|session| bounds.open(session, Counts::Nothing));
        return held(open, next.run(request).await);
    }
    let (parts, body) = request.into_parts();
    let said = match whole(body).await {
        Ok(said) => said,
        Err(response) => return response,
    };
    let begins = match Message::read(&said) {
        Message::Message(message) => session.is_none() && is_greeting(&message),
        Message::Nothing => return StatusCode::ACCEPTED.into_response(),
        Message::Unread(unread) => return unread_response(&unread),
    };
    let request = Request::from_parts(parts, Body::from(said));
    if !begins {
        let open = session.and_then(|session| bounds.open(session, Counts::Call));
        return held(open, next.run(request).await);
    }
    let _turn = bounds.beginning.lock().await;
    if !bounds.has_room().await {
        let words = "too many conversations; try again later";
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "30")], words).into_response();
    }
    let response = next.run(request).await;
    if let Some(begun) = self::session(response.headers()) {
        let heard = Heard { caller, at: Instant::now(), open: 0 };
        bounds.heard().insert(begun, heard);
    }
    response
}

fn is_greeting(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(it) => matches!(it.request, ClientRequest::InitializeRequest(_)),
        _ => false,
    }
}

/// An answer like any other, if it is clear to what: the conversation goes on.
fn unread_response(unread: &Unread) -> Response {
    let status = if unread.has_id() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    (status, Json(unread.answer())).into_response()
}

/// What was sent, if it is not too long.
async fn whole(body: Body) -> Result<Bytes, Response> {
    axum::body::to_bytes(body, MAX_MESSAGE_BYTES).await.map_err(|error| {
        let is_long = error.source().is_some_and(|it| it.is::<LengthLimitError>());
        match is_long {
            true => {
                let told = Json(Unread::too_long(MAX_MESSAGE_BYTES).answer());
                (StatusCode::PAYLOAD_TOO_LARGE, told).into_response()
            }
            false => (StatusCode::BAD_REQUEST, "the message did not come whole").into_response(),
        }
    })
}

/// The response, and what is held until it is sent.
fn held(open: Option<Open>, response: Response) -> Response {
    let Some(open) = open else { return response };
    response.map(|body| {
        let body = http_body_util::BodyExt::map_frame(body, move |frame| {
            let _held = &open;
            frame
        });
        Body::new(body)
    })
}

impl Bounds {
    fn heard(&self) -> MutexGuard<'_, HashMap<String, Heard>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_of(&self, session: &str, caller: &str) -> bool {
        self.heard().get(session).is_some_and(|it| it.caller == caller)
    }

    /// Whether there is room, if need be in the place of the one that was silent for longest.
    async fn has_room(&self) -> bool {
        let known: Vec<Arc<str>> = self.sessions.sessions.read().await.keys().cloned().collect();
        let silent = {
            let mut heard = self.heard();
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
        let mut heard = self.heard();
        let it = heard.get_mut(&session)?;
        it.at = Instant::now();
        it.open += usize::from(counts == Counts::Call);
        drop(heard);
        Some(Open { bounds: self.clone(), session, counts })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut heard = self.bounds.heard();
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
