//! Events of a task as a stream, in either form. An error ends it.

use std::convert::Infallible;
use std::time::Duration;

use a2a::{A2AError, JsonRpcId, JsonRpcResponse};
use a2a_pb::protojson_conv;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::agent::Events;
use super::fault::{as_rest_value, as_rpc};

/// Each event is the answer to one call.
pub(super) fn as_rpc_stream(id: JsonRpcId, events: Events) -> Response {
    stream(events, move |told| match told {
        Ok(value) => (None, json!(JsonRpcResponse::success(id.clone(), value))),
        Err(error) => (None, json!(as_rpc(id.clone(), &error))),
    })
}

/// Each event is what happened.
pub(super) fn as_rest_stream(events: Events) -> Response {
    stream(events, |told| match told {
        Ok(value) => (None, value),
        Err(error) => {
            let status = StatusCode::from_u16(error.http_status_code());
            let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (Some("error"), as_rest_value(status, &error))
        }
    })
}

fn stream(
    events: Events,
    write: impl Fn(Result<Value, A2AError>) -> (Option<&'static str>, Value) + Send + 'static,
) -> Response {
    let events = events.map(move |told| {
        let (seq, told) = match told {
            Ok((seq, event)) => {
                let value = protojson_conv::to_value(&event);
                let value = value.map_err(|error| A2AError::internal(error.to_string()));
                (Some(seq), value)
            }
            Err(error) => (None, Err(error)),
        };
        let (name, data) = write(told);
        let mut event = Event::default().data(data.to_string());
        if let Some(seq) = seq {
            event = event.id(seq.to_string());
        }
        if let Some(name) = name {
            event = event.event(name);
        }
        Ok::<_, Infallible>(event)
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// Shorter than what lies in between lets a silent connection live.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
