//! The tools over streamable HTTP. A conversation is its caller's and nobody else's, and stays for as
//! long as a call may wait in it; where there is no room for another one, one that was silent for long
//! makes it, or one of somebody who has many.

use std::collections::{BTreeMap, HashMap};
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
use crate::heft::{Hold, Stowed};

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
        hold: Hold::new(kit.limits.held_bytes, kit.limits.held_wait),
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
    /// For messages that are being answered.
    hold: Hold,
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
        return held((open, Stowed::default()), next.run(request).await);
    }
    let (mut parts, body) = request.into_parts();
    let said = match whole(body).await {
        Ok(said) => said,
        Err(response) => return response,
    };
    let Some(stowed) = bounds.hold.take(&said).await else {
        return busy("too much is being read at once; try again later");
    };
    // Whoever answers it lets go of the room when it only waits.
    parts.extensions.insert(stowed.clone());
    let begins = match Message::read(&said) {
        Message::Message(message) => session.is_none() && is_greeting(&message),
        Message::Nothing => return StatusCode::ACCEPTED.into_response(),
        Message::Unread(unread) => return unread_response(&unread),
    };
    let request = Request::from_parts(parts, Body::from(said));
    if !begins {
        let open = session.and_then(|session| bounds.open(session, Counts::Call));
        return held((open, stowed), next.run(request).await);
    }
    let _turn = bounds.beginning.lock().await;
    if !bounds.has_room(&caller).await {
        return busy("too many conversations; try again later");
    }
    let response = next.run(request).await;
    if let Some(begun) = self::session(response.headers()) {
        let heard = Heard { caller, at: Instant::now(), open: 0 };
        bounds.heard().insert(begun, heard);
    }
    response
}

fn busy(words: &'static str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "30")], words).into_response()
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
fn held(held: (Option<Open>, Stowed), response: Response) -> Response {
    response.map(|body| {
        let body = http_body_util::BodyExt::map_frame(body, move |frame| {
            let _held = &held;
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

    /// Whether there is room for one of this caller, if need be in the place of another one. Whoever asks
    /// has the turn to begin one.
    async fn has_room(&self, caller: &str) -> bool {
        let known: Vec<Arc<str>> = self.sessions.sessions.read().await.keys().cloned().collect();
        let (lost, leaving) = {
            let mut heard = self.heard();
            heard.retain(|session, _| known.iter().any(|it| **it == **session));
            // Who began these was gone before they were told of: nobody can go on with them.
            let lost: Vec<Arc<str>> =
                known.iter().filter(|it| !heard.contains_key(&***it)).cloned().collect();
            let is_full = known.len() - lost.len() >= self.most;
            (lost, is_full.then(|| leaving(&heard, caller, self.silence)))
        };
        lost.into_iter().for_each(|session| self.close(session));
        match leaving {
            None => true,
            Some(None) => false,
            Some(Some(session)) => {
                self.heard().remove(&session);
                self.close(Arc::from(session));
                true
            }
        }
    }

    /// In a task of its own: one whose client does not read may take a while to hear of it.
    fn close(&self, session: Arc<str>) {
        let sessions = Arc::clone(&self.sessions);
        tokio::spawn(async move { sessions.close_session(&session).await });
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

/// Which conversation makes room: the one that was silent for longest, if it was so for long. If there
/// is none, somebody who has many gives one up for somebody who has few. None in which somebody waits
/// for an answer.
fn leaving(heard: &HashMap<String, Heard>, caller: &str, silence: Duration) -> Option<String> {
    let idle = |it: &(&String, &Heard)| it.1.open == 0;
    let longest = heard.iter().filter(idle).min_by_key(|(_, it)| it.at);
    if let Some((session, it)) = longest
        && it.at.elapsed() >= silence
    {
        return Some(session.clone());
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    heard.values().for_each(|it| *counts.entry(&it.caller).or_default() += 1);
    let own = counts.get(caller).copied().unwrap_or(0);
    let (richest, most) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    // Two who have as many would take from each other without end.
    let theirs = heard.iter().filter(idle).filter(|(_, it)| it.caller == richest && most > own + 1);
    theirs.min_by_key(|(_, it)| it.at).map(|(session, _)| session.clone())
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
