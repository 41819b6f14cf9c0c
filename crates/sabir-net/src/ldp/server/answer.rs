//! One request and its response. What a message means is for the node; here it is only carried.

use std::str::Utf8Error;
use std::sync::{Arc, PoisonError};

use axum::body::Bytes;
use axum::extract::FromRequestParts as _;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use hyper::Request;
use hyper::body::{Body as _, Incoming};
use sabir_host::Condition;
use sabir_ldp::{
    Capability, Channel, Fault, Fingerprint, IdentityCard, Origin, PayloadMode, Received, Refusal,
};
use sabir_telemetry::within;
use serde_json::{Value, json};

use super::connection::Connected;
use super::door::{check_accept, check_content, check_framing};
use super::held::{Piece, whole};
use super::mount::{Found, Seat};
use super::refusal::{Refused, json_response, no_message};
use super::route::Route;
use super::socket::{self, Talk};
use super::watched::{self, Asked};
use super::{mounted, sse};

/// The card as it is sent. It is written once for as long as it stays the same.
#[derive(Debug, Clone)]
pub(super) struct WrittenCard {
    card: Arc<IdentityCard>,
    text: Bytes,
    tag: HeaderValue,
}

pub(super) async fn answer(connected: &Arc<Connected>, request: Request<Incoming>) -> Response {
    let version = request.version();
    let has_body = !request.body().is_end_stream();
    let mut asked = Asked::begin();
    let response = match try_answer(connected, request, &mut asked).await {
        Ok(response) => response,
        Err(refused) => {
            if has_body {
                connected.leave_unread();
            }
            asked.refused(&connected.caller, &refused);
            refused.response(version)
        }
    };
    asked.answered(&connected.caller, &response);
    response
}

async fn try_answer(
    connected: &Arc<Connected>,
    request: Request<Incoming>,
    asked: &mut Asked,
) -> Result<Response, Refused> {
    let (shared, caller) = (&connected.shared, &connected.caller);
    let headers = request.headers();
    check_framing(headers)?;
    shared.door.check_site(caller, request.uri(), headers)?;
    shared.door.take_turn(caller)?;
    let (seat, route) = match shared.ground.find(request.uri().path(), request.method())? {
        Found::Delegate(seat, route) => (seat, route),
        Found::Mount(mount) => {
            asked.found_mount(mount, request.uri().path());
            return mounted::pass_on(mount, connected, request).await;
        }
    };
    asked.found(route);
    let channel = shared.door.channel(caller, route.proof(), headers)?;
    if route != Route::Socket {
        check_accept(route, headers)?;
    }
    match route {
        Route::Identity => Ok(identity(seat, headers)),
        Route::Capabilities => Ok(capabilities(&seat.node.card())),
        Route::Health => Ok(health(seat, channel)),
        Route::OpenApi => Ok(json_response(StatusCode::OK, shared.openapi.clone())),
        Route::Messages => {
            check_content(headers)?;
            let place = shared.take_place(caller)?;
            let span = watched::span("ldp message", headers);
            let taken = shared.room.read(request.into_body(), asked.began, &shared.limits).await?;
            let (status, text) = match std::str::from_utf8(&taken.bytes) {
                Ok(text) => within(span.context(), message(seat, text, channel)).await,
                Err(error) => no_text(seat, &taken.bytes, error, channel).await,
            };
            // Who finds no room for its answer can ask for it again.
            let share = shared.answers.share(text.len())?;
            let piece = Piece { bytes: text.into(), _share: share };
            Ok(json_response(status, whole(piece, place, &connected.pending)))
        }
        Route::Stream => {
            check_content(headers)?;
            let after = last_event_id(headers)?;
            let place = shared.take_place(caller)?;
            let span = watched::span("ldp stream", headers);
            let taken = shared.room.read(request.into_body(), asked.began, &shared.limits).await?;
            let (status, text) = match std::str::from_utf8(&taken.bytes) {
                Ok(text) if is_json(text) => {
                    let follow = seat.node.follow(text, channel, after);
                    let follow = within(span.context(), follow).await;
                    return Ok(sse::response(follow, connected, place));
                }
                Ok(text) => no_message(&seat.node.ask(text, channel).await, None),
                Err(error) => no_text(seat, &taken.bytes, error, channel).await,
            };
            Ok(json_response(status, text))
        }
        Route::Socket => {
            let place = shared.take_socket()?;
            let (mut parts, _) = request.into_parts();
            let trace = watched::trace(&parts.headers);
            let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &())
                .await
                .map_err(|rejection| Refused::NoUpgrade(rejection.body_text()))?;
            let talk =
                Talk { connected: Arc::clone(connected), seat: Arc::clone(seat), channel, trace };
            Ok(socket::open(upgrade, talk, place))
        }
    }
}

/// One message, and its one answer. A refusal is an answer, too; only what is no JSON has a status of
/// its own.
async fn message(seat: &Seat, text: &str, channel: Channel) -> (StatusCode, String) {
    let answer = seat.node.ask(text, channel).await;
    // Nearly every answer is passed on without a second look at what was asked.
    let may_be_none =
        answer.len() <= MAX_REFUSAL_BYTES && answer.contains(Refusal::MessageInvalid.code());
    if may_be_none && !is_json(text) {
        return no_message(&answer, None);
    }
    (StatusCode::OK, answer)
}

/// More than the longest refusal of a text that is no message.
const MAX_REFUSAL_BYTES: usize = 8 * 1024;

/// Whether a text is JSON that every reader reads in the same way.
fn is_json(text: &str) -> bool {
    !matches!(Received::read(text), Err(malformed) if malformed.fault == Fault::Text)
}

/// Bytes that are no text. The node is given them up to the place of the fault, with a character
/// there that no message can go on with, so that it refuses them and writes that down.
async fn no_text(
    seat: &Seat,
    bytes: &[u8],
    error: Utf8Error,
    channel: Channel,
) -> (StatusCode, String) {
    let (valid, _) = bytes.split_at(error.valid_up_to());
    let text = format!("{}\u{fffd}", String::from_utf8_lossy(valid));
    let answer = seat.node.ask(&text, channel).await;
    let why = format!("the message is not UTF-8: see byte {}", error.valid_up_to());
    no_message(&answer, Some(why))
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Refused> {
    let Some(given) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let given = given.to_str().map_err(|_| Refused::BadEventId)?.trim();
    if given.is_empty() {
        return Ok(None);
    }
    given.parse().map(Some).map_err(|_| Refused::BadEventId)
}

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

fn identity(seat: &Seat, headers: &HeaderMap) -> Response {
    let card = seat.node.card();
    let written = {
        let mut kept = seat.card.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.as_ref().filter(|kept| Arc::ptr_eq(&kept.card, &card)) {
            Some(kept) => kept.clone(),
            None => kept.insert(WrittenCard::new(card)).clone(),
        }
    };
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| *known == written.tag);
    let mut response = if is_known {
        json_response(StatusCode::NOT_MODIFIED, Bytes::new())
    } else {
        json_response(StatusCode::OK, written.text)
    };
    // It may be kept, if it is asked for again each time.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response.headers_mut().insert(ETAG, written.tag);
    response
}

impl WrittenCard {
    fn new(card: Arc<IdentityCard>) -> Self {
        let text = card.to_text();
        let tag = format!("\"{}\"", &Fingerprint::of(text.as_bytes()).to_hex()[..TAG_DIGITS]);
        // Digits fit into a header.
        let tag = HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("\"\""));
        Self { card, text: Bytes::from(text), tag }
    }
}

const TAG_DIGITS: usize = 16;

/// In every form that a reference looks for.
fn capabilities(card: &IdentityCard) -> Response {
    let capabilities: Vec<Value> = card.capabilities.iter().map(Capability::to_value).collect();
    let modes: Vec<_> =
        card.supported_payload_modes.iter().copied().map(PayloadMode::wire_name).collect();
    let found = json!({
        "delegate_id": card.delegate_id.as_str(),
        "capabilities": capabilities,
        "supported_modes": modes,
        "supported_payload_modes": modes,
    });
    json_response(StatusCode::OK, found.to_string())
}

/// Strangers learn whether the node serves, and nothing more.
fn health(seat: &Seat, channel: Channel) -> Response {
    let counts = seat.node.counts();
    let (status, word, why) = match counts.condition {
        Condition::Serving => (StatusCode::OK, "ok", None),
        Condition::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping", None),
        Condition::Failed { why } => (StatusCode::SERVICE_UNAVAILABLE, "failed", Some(why)),
    };
    let mut health = json!({ "status": word });
    if channel.origin == Origin::Loopback || channel.credential.is_some() {
        health["delegate_id"] = seat.node.card().delegate_id.as_str().into();
        health["sessions"] = counts.sessions.into();
        health["tasks"] = counts.running_tasks.into();
        health["waiting"] = counts.waiting_requests.into();
        if let Some(why) = why {
            health["why"] = why.into();
        }
    }
    json_response(status, health.to_string())
}
