//! Signing in with the token, and out.

use std::sync::Arc;

use axum::extract::{FromRequest as _, Request, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::attempts::Attempt;
use super::cookie::{self, Transport};
use super::guard::{origin_of, transport};
use super::sessions::LONGEST;
use super::{PlainLogin, SignedIn};
use crate::input::Given;
use crate::refused::Refused;
use crate::state::Console;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    token: String,
}

pub(crate) async fn log_in(
    State(console): State<Arc<Console>>,
    request: Request,
) -> Result<Response, Refused> {
    let door = &console.door;
    let (address, is_near) = origin_of(&request);
    let transport = transport(&request);
    if transport == Transport::Plain && !is_near && door.plain == PlainLogin::Near {
        let why = "without TLS a token is taken from this machine only: others on the way could \
                   read it; start the node with a certificate, or come through an SSH tunnel";
        return Err(Refused::forbidden("plain", why));
    }
    let headers = request.headers().clone();
    let Given(Login { token }) = Given::from_request(request, &()).await?;
    let now = Instant::now();
    match door.attempts.make(address, now, || door.token.admits(token.trim())) {
        Attempt::Right => {}
        Attempt::Wrong => return Err(Refused::wrong_token()),
        Attempt::TooSoon { wait } => {
            let secs = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            return Err(Refused::too_soon(secs));
        }
    }
    let (secret, person) = door.sessions.begin(now)?;
    // Whoever signs in again does so instead; what other nodes gave stays.
    let mut values = without_ours(&console, &headers, now);
    values.push(&secret);
    let cookie = cookie::set(&values, transport, LONGEST.as_secs())?;
    let body = Json(json!({ "signed_in": true, "csrf": person.csrf() }));
    Ok(([(SET_COOKIE, cookie)], body).into_response())
}

pub(crate) async fn log_out(
    State(console): State<Arc<Console>>,
    Extension(person): Extension<SignedIn>,
    request: Request,
) -> Result<Response, Refused> {
    let now = Instant::now();
    let values = without_ours(&console, request.headers(), now);
    console.door.sessions.end(&person, now);
    let cookie = cookie::set(&values, transport(&request), LONGEST.as_secs())?;
    Ok(([(SET_COOKIE, cookie)], Json(json!({ "signed_in": false }))).into_response())
}

/// What the cookie holds of others. Sessions of ours that it holds are over.
fn without_ours<'a>(console: &Console, headers: &'a HeaderMap, now: Instant) -> Vec<&'a str> {
    let mut values = cookie::shown(headers);
    values.retain(|value| match console.door.sessions.find(value, now) {
        Some(person) => {
            console.door.sessions.end(&person, now);
            false
        }
        None => true,
    });
    values
}
