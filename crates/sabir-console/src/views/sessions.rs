//! Conversations with an agent, and sessions that were begun elsewhere.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use futures_util::StreamExt as _;
use sabir_engine::ConfigureSession;
use sabir_host::{ConversationState, FeedScope};
use sabir_net::OrderId;
use sabir_store::{SessionFilter, SessionId, SessionSummary};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::door::SignedIn;
use crate::input::{Given, Query};
use crate::refused::{Answer, Refused};
use crate::state::Console;
use crate::stream::{after, response, rows};

pub(crate) async fn list(State(console): State<Arc<Console>>, query: Query) -> Answer {
    let limit = query.limit(50, 500)?;
    let found = console.read(move |reader| {
        // Orders are sessions of the same journal, and have a list of their own.
        let not_under = Some(OrderId::PREFIX.to_owned());
        reader.sessions(&SessionFilter {
            not_under,
            limit: Some(limit),
            ..SessionFilter::default()
        })
    });
    let sessions = found.await?;
    let sessions: Vec<Value> = sessions.iter().map(|it| session_json(&console, it)).collect();
    Ok(Json(json!({ "sessions": sessions })))
}

pub(crate) async fn show(State(console): State<Arc<Console>>, Path(id): Path<String>) -> Answer {
    Ok(Json(session_json(&console, &find(&console, id).await?)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    text: String,
    model: Option<String>,
    cwd: Option<String>,
}

pub(crate) async fn start(
    State(console): State<Arc<Console>>,
    Given(Start { text, model, cwd }): Given<Start>,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let configure = ConfigureSession { model, cwd, ..ConfigureSession::default() };
    let id = console.setup.conversations.start(configure, &text).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    text: String,
}

pub(crate) async fn input(
    State(console): State<Arc<Console>>,
    Path(id): Path<String>,
    Given(Said { text }): Given<Said>,
) -> Answer {
    let id = find(&console, id).await?.id;
    console.setup.conversations.input(id.as_str(), &text).await?;
    Ok(Json(json!({ "id": id })))
}

pub(crate) async fn interrupt(
    State(console): State<Arc<Console>>,
    Path(id): Path<String>,
) -> Answer {
    let id = find(&console, id).await?.id;
    console.setup.conversations.interrupt(id.as_str()).await?;
    Ok(Json(json!({ "id": id })))
}

pub(crate) async fn events(
    State(console): State<Arc<Console>>,
    Extension(person): Extension<SignedIn>,
    Path(id): Path<String>,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Refused> {
    let after = after(&headers, &query)?;
    let session = find(&console, id).await?;
    let all = console.setup.feed.follow(FeedScope::Session(session.id), after);
    let shown = all.filter(|row| {
        let is_shown =
            row.as_ref().map_or(true, |row| matches!(&*row.kind, "event" | "submission"));
        std::future::ready(is_shown)
    });
    response(&console, person, rows(shown.boxed()))
}

async fn find(console: &Console, id: String) -> Result<SessionSummary, Refused> {
    let id = SessionId::new(id);
    if is_order(&id) {
        return Err(Refused::missing("this is an order: see /api/orders"));
    }
    let found = console.read(move |reader| reader.session(&id)).await?;
    found.ok_or_else(|| Refused::missing("there is no such session"))
}

fn is_order(id: &SessionId) -> bool {
    id.as_str().starts_with(OrderId::PREFIX)
}

/// `state` is of those that somebody talks to here. In one that nobody holds nothing happens, whatever
/// its last row says: the node may have been killed behind it.
fn session_json(console: &Console, session: &SessionSummary) -> Value {
    let mut shown = json!(session);
    let open = console.setup.conversations.get(session.id.as_str());
    let state = open.as_ref().map(|open| open.state);
    shown["live"] = json!(open.is_some());
    shown["held"] = json!(console.setup.conversations.is_held(session.id.as_str()));
    shown["running"] =
        json!(matches!(state, Some(ConversationState::Working | ConversationState::Waiting)));
    shown["state"] = json!(state);
    shown
}
