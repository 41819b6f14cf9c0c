//! The form in which calls are JSON-RPC.

use a2a::jsonrpc::methods;
use a2a::{A2AError, JsonRpcId, JsonRpcRequest, JsonRpcResponse, SendMessageResponse};
use a2a_pb::protojson_conv::{self, ProtoJsonPayload};
use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use sabir_base::json::long_integer;
use sabir_base::text::one_line;
use serde_json::Value;

use super::A2aAgent;
use super::agent::Events;
use super::fault::{as_rpc, busy, check_version};
use super::message::check_carried;
use super::sse::as_rpc_stream;
use crate::caller::Caller;
use crate::heft::Stowed;

pub(super) async fn answer(agent: &A2aAgent, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, agent.0.limits.body_bytes).await else {
        let error = A2AError::invalid_request("the request is too long, or did not come whole");
        let told = Json(as_rpc(JsonRpcId::Null, &error));
        return (StatusCode::PAYLOAD_TOO_LARGE, told).into_response();
    };
    let Some(stowed) = agent.0.hold.take(&body).await else {
        return Json(as_rpc(JsonRpcId::Null, &busy())).into_response();
    };
    let call = match read(&body) {
        Ok(call) => call,
        Err((id, error)) => return Json(as_rpc(id, &error)).into_response(),
    };
    drop(body);
    let JsonRpcRequest { id, method, params, .. } = call;
    let caller = Caller::of(&parts.extensions);
    let done = match check_version(&parts.headers, &parts.uri) {
        Ok(()) => perform(agent, &caller, &method, params.unwrap_or_default(), stowed).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(Done::Value(value)) => Json(JsonRpcResponse::success(id, value)).into_response(),
        Ok(Done::Stream(events)) => as_rpc_stream(id, events),
        Err(error) => Json(as_rpc(id, &error)).into_response(),
    }
}

enum Done {
    Value(Value),
    Stream(Events),
}

/// A call; of one that is none, what can be said of it.
fn read(body: &[u8]) -> Result<JsonRpcRequest, (JsonRpcId, A2AError)> {
    let value = json(body).map_err(|error| (JsonRpcId::Null, error))?;
    let id = value.get("id").cloned().and_then(|id| serde_json::from_value(id).ok());
    let id: JsonRpcId = id.unwrap_or(JsonRpcId::Null);
    let wrong = |why: String| (id.clone(), A2AError::invalid_request(why));
    if value.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(wrong("jsonrpc: \"2.0\" is expected".to_owned()));
    }
    serde_json::from_value(value).map_err(|error| wrong(error.to_string()))
}

/// A body. An integer that would be kept as another number is refused: what it is in goes on to others.
pub(super) fn json(body: &[u8]) -> Result<Value, A2AError> {
    let no_json =
        |why: &dyn std::fmt::Display| A2AError::parse_error(format!("it is no JSON: {why}"));
    let text = std::str::from_utf8(body).map_err(|error| no_json(&error))?;
    let value = serde_json::from_str(text).map_err(|error| no_json(&error))?;
    match long_integer(text) {
        Some(digits) => Err(A2AError::parse_error(format!(
            "the integer {} is too long: send it as a string",
            one_line(digits, 60)
        ))),
        None => Ok(value),
    }
}

async fn perform(
    agent: &A2aAgent,
    caller: &Caller,
    method: &str,
    params: Value,
    stowed: Stowed,
) -> Result<Done, A2AError> {
    Ok(match method {
        methods::SEND_MESSAGE => {
            check_carried(&params)?;
            let task = agent.send(caller, parse(params)?, stowed).await?;
            written(&SendMessageResponse::Task(task))?
        }
        methods::SEND_STREAMING_MESSAGE => {
            check_carried(&params)?;
            Done::Stream(agent.stream(caller, parse(params)?).await?)
        }
        methods::GET_TASK => written(&agent.get(caller, parse(params)?).await?)?,
        methods::LIST_TASKS => written(&agent.list(caller, parse(params)?).await?)?,
        methods::CANCEL_TASK => written(&agent.cancel(caller, parse(params)?).await?)?,
        methods::SUBSCRIBE_TO_TASK => Done::Stream(agent.subscribe(caller, parse(params)?).await?),
        methods::CREATE_PUSH_CONFIG => written(&agent.create_push(caller, parse(params)?).await?)?,
        methods::GET_PUSH_CONFIG => written(&agent.get_push(caller, parse(params)?).await?)?,
        methods::LIST_PUSH_CONFIGS => written(&agent.list_push(caller, parse(params)?).await?)?,
        methods::DELETE_PUSH_CONFIG => {
            agent.delete_push(caller, parse(params)?).await?;
            Done::Value(Value::Null)
        }
        methods::GET_EXTENDED_AGENT_CARD => {
            return Err(A2AError::unsupported_operation(
                "there is no other card than the public one",
            ));
        }
        other => return Err(A2AError::method_not_found(&one_line(other, 80))),
    })
}

/// Parameters that are missing are those that have none set.
fn parse<T: ProtoJsonPayload>(params: Value) -> Result<T, A2AError> {
    let params = if params.is_null() { Value::Object(Default::default()) } else { params };
    protojson_conv::from_value(params)
        .map_err(|error| A2AError::invalid_params(format!("params: {error}")))
}

fn written<T: ProtoJsonPayload>(value: &T) -> Result<Done, A2AError> {
    let value = protojson_conv::to_value(value);
    value.map(Done::Value).map_err(|error| A2AError::internal(error.to_string()))
}
