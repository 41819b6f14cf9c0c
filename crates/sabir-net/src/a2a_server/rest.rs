//! The form in which calls are paths and bodies of HTTP.

use a2a::{
    A2AError, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    SendMessageResponse, SubscribeToTaskRequest, TaskPushNotificationConfig,
};
use a2a_pb::protojson_conv::{self, ProtoJsonPayload};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};

use super::agent::Events;
use super::fault::{as_rest, busy, check_version, queries, with_status};
use super::message::check_carried;
use super::sse::as_rest_stream;
use super::{A2aAgent, ROOT};
use crate::caller::Caller;
use crate::heft::Stowed;

pub(super) async fn answer(agent: &A2aAgent, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(error) = check_version(&parts.headers, &parts.uri) {
        return as_rest(&error);
    }
    let caller = Caller::of(&parts.extensions);
    let visit = Asked { agent, caller: &caller, uri: &parts.uri, body };
    match visit.perform(&parts.method).await {
        Ok(Done::Value(value)) => {
            ([(header::CONTENT_TYPE, MEDIA_TYPE)], value.to_string()).into_response()
        }
        Ok(Done::Stream(events)) => as_rest_stream(events),
        Ok(Done::TooLong) => {
            let error = A2AError::invalid_request("the request is too long, or did not come whole");
            with_status(StatusCode::PAYLOAD_TOO_LARGE, &error)
        }
        Ok(Done::NoSuchPath) => {
            let error = A2AError::method_not_found("there is nothing at this path");
            with_status(StatusCode::NOT_FOUND, &error)
        }
        Ok(Done::OtherMethod) => {
            let error = A2AError::method_not_found("not with this method");
            with_status(StatusCode::METHOD_NOT_ALLOWED, &error)
        }
        Err(error) => as_rest(&error),
    }
}

enum Done {
    Value(Value),
    Stream(Events),
    TooLong,
    NoSuchPath,
    OtherMethod,
}

struct Asked<'a> {
    agent: &'a A2aAgent,
    caller: &'a Caller,
    uri: &'a Uri,
    body: Body,
}

impl Asked<'_> {
    async fn perform(self, method: &Method) -> Result<Done, A2AError> {
        let Self { agent, caller, uri, .. } = self;
        let path = uri.path().strip_prefix(ROOT).unwrap_or_default().trim_matches('/');
        let segments: Vec<String> = path.split('/').map(decoded).collect();
        let words: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (is_get, is_post) = (method == Method::GET, method == Method::POST);
        let tenant = || None;
        match words.as_slice() {
            ["message:send"] if is_post => {
                let Some((request, stowed)) = self.read().await? else {
                    return Ok(Done::TooLong);
                };
                check_carried(&request)?;
                let task = agent.send(caller, parse(request)?, stowed).await?;
                written(&SendMessageResponse::Task(task))
            }
            ["message:stream"] if is_post => {
                let Some((request, _stowed)) = self.read().await? else {
                    return Ok(Done::TooLong);
                };
                check_carried(&request)?;
                Ok(Done::Stream(agent.stream(caller, parse(request)?).await?))
            }
            ["tasks"] if is_get => {
                let request = parse(query(uri, &LISTED)?)?;
                written(&agent.list(caller, request).await?)
            }
            ["tasks", named] => match named.rsplit_once(':') {
                Some((id, "cancel")) if is_post => {
                    let id = id.to_owned();
                    let request = CancelTaskRequest { id, metadata: None, tenant: tenant() };
                    written(&agent.cancel(caller, request).await?)
                }
                // The specification has it both ways.
                Some((id, "subscribe")) if is_post || is_get => {
                    let request = SubscribeToTaskRequest { id: id.to_owned(), tenant: tenant() };
                    Ok(Done::Stream(agent.subscribe(caller, request).await?))
                }
                None if is_get => {
                    let mut asked = query(uri, &["historyLength"])?;
                    asked["id"] = json!(named);
                    let request: GetTaskRequest = parse(asked)?;
                    written(&agent.get(caller, request).await?)
                }
                Some((_, "cancel" | "subscribe")) | None => Ok(Done::OtherMethod),
                Some(_) => Ok(Done::NoSuchPath),
            },
            ["tasks", task, PUSH] if is_post => {
                let task = (*task).to_owned();
                let Some((request, _stowed)) = self.read().await? else {
                    return Ok(Done::TooLong);
                };
                let mut config: TaskPushNotificationConfig = parse(request)?;
                config.task_id = task;
                written(&agent.create_push(caller, config).await?)
            }
            ["tasks", task, PUSH] if is_get => {
                let request = ListTaskPushNotificationConfigsRequest {
                    task_id: (*task).to_owned(),
                    page_size: None,
                    page_token: None,
                    tenant: tenant(),
                };
                written(&agent.list_push(caller, request).await?)
            }
            ["tasks", task, PUSH, id] if is_get => {
                let (task_id, id) = ((*task).to_owned(), (*id).to_owned());
                let request =
                    GetTaskPushNotificationConfigRequest { task_id, id, tenant: tenant() };
                written(&agent.get_push(caller, request).await?)
            }
            ["tasks", task, PUSH, id] if method == Method::DELETE => {
                let (task_id, id) = ((*task).to_owned(), (*id).to_owned());
                let request =
                    DeleteTaskPushNotificationConfigRequest { task_id, id, tenant: tenant() };
                agent.delete_push(caller, request).await?;
                Ok(Done::Value(json!({})))
            }
            ["extendedAgentCard"] if is_get => {
                Err(A2AError::unsupported_operation("there is no other card than the public one"))
            }
            ["message:send" | "message:stream" | "tasks" | "extendedAgentCard"]
            | ["tasks", _, PUSH]
            | ["tasks", _, PUSH, _] => Ok(Done::OtherMethod),
            _ => Ok(Done::NoSuchPath),
        }
    }

    /// The body, and the room that it takes. None if it is longer than it may be.
    async fn read(self) -> Result<Option<(Value, Stowed)>, A2AError> {
        let most = self.agent.0.limits.body_bytes;
        let Ok(body) = axum::body::to_bytes(self.body, most).await else { return Ok(None) };
        let stowed = self.agent.0.hold.take(&body).await.ok_or_else(busy)?;
        Ok(Some((super::rpc::json(&body)?, stowed)))
    }
}

/// One segment of a path.
fn decoded(segment: &str) -> String {
    // Read as a value of a query: what is encoded is decoded. A plus and an ampersand, which mean
    // something there, stay what they are.
    let text = format!("x={}", segment.replace('+', "%2B").replace('&', "%26"));
    let url = reqwest::Url::parse(&format!("http://path/?{text}"));
    let found =
        url.ok().and_then(|url| url.query_pairs().next().map(|(_, value)| value.into_owned()));
    found.unwrap_or_default()
}

/// Parameters as the fields that they are in the other form.
fn query(uri: &Uri, known: &[&str]) -> Result<Value, A2AError> {
    let mut fields = Map::new();
    for (name, value) in queries(uri) {
        if !known.contains(&name.as_str()) {
            continue;
        }
        let wrong = || A2AError::invalid_params(format!("{name}: it cannot be read"));
        let value = match name.as_str() {
            "pageSize" | "historyLength" => json!(value.parse::<i32>().map_err(|_| wrong())?),
            "includeArtifacts" => json!(value.parse::<bool>().map_err(|_| wrong())?),
            _ => Value::String(value),
        };
        fields.insert(name, value);
    }
    Ok(Value::Object(fields))
}

fn parse<T: ProtoJsonPayload>(value: Value) -> Result<T, A2AError> {
    protojson_conv::from_value(value)
        .map_err(|error| A2AError::invalid_params(format!("the request: {error}")))
}

fn written<T: ProtoJsonPayload>(value: &T) -> Result<Done, A2AError> {
    let value = protojson_conv::to_value(value);
    value.map(Done::Value).map_err(|error| A2AError::internal(error.to_string()))
}

const PUSH: &str = "pushNotificationConfigs";
const MEDIA_TYPE: &str = "application/a2a+json";
/// What a list can be asked for by.
const LISTED: [&str; 7] = [
    "contextId",
    "status",
    "pageSize",
    "pageToken",
    "historyLength",
    "statusTimestampAfter",
    "includeArtifacts",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// BR-P1: what is looked at or deleted is what was named, and not what its name begins with.
    #[test]
    fn a_segment_is_the_whole_of_it() {
        for (segment, name) in [
            ("a&b", "a&b"),
            ("a%26b", "a&b"),
            ("a+b=c;d", "a+b=c;d"),
            ("a%2Fb", "a/b"),
            ("&", "&"),
            ("", ""),
        ] {
            assert_eq!(decoded(segment), name, "{segment}");
        }
    }
}
