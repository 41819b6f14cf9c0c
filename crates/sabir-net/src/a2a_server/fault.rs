//! Errors in both forms, and the version that a request asks for.

use std::collections::HashMap;

use a2a::{
    A2AError, JsonRpcId, JsonRpcResponse, PROTOCOL_DOMAIN, SVC_PARAM_VERSION, TypedDetail,
    error_code, error_reason,
};
use axum::Json;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use reqwest::Url;
use sabir_base::text::one_line;
use sabir_host::VisitRefused;
use serde_json::{Value, json};

use crate::errands::ErrandsError;

/// An error of an operation that has to do with a task.
pub(super) fn of_errand(error: &ErrandsError, id: &str) -> A2AError {
    match error {
        ErrandsError::Unknown => unknown(id),
        ErrandsError::Over => A2AError::task_not_cancelable(&one_line(id, MAX_ID_CHARS)),
        ErrandsError::Refused(why) => A2AError::invalid_params(why.clone()),
        ErrandsError::Busy | ErrandsError::Store(_) => A2AError::internal(error.to_string()),
    }
}

/// Messages of others take all the room that there is.
pub(super) fn busy() -> A2AError {
    A2AError::internal("too much is being read at once; try again later")
}

/// A task that is not there, or not the caller's: nobody is told which.
pub(super) fn unknown(id: &str) -> A2AError {
    A2AError::task_not_found(&one_line(id, MAX_ID_CHARS))
}

/// What the gate refused is not offered to this caller.
pub(super) fn of_gate(refused: &VisitRefused) -> A2AError {
    A2AError::unsupported_operation(refused.to_string())
}

/// Nothing but 1.0 is spoken. A request that says no version is one of 0.3, as the specification has
/// it; what comes behind the second number does not count.
pub(super) fn check_version(headers: &HeaderMap, uri: &Uri) -> Result<(), A2AError> {
    let said = headers.get(SVC_PARAM_VERSION).map(|it| it.to_str().unwrap_or("?").to_owned());
    let said = said.filter(|it| !it.trim().is_empty());
    let said = said.or_else(|| {
        let query = queries(uri);
        query.into_iter().find(|(name, _)| name == SVC_PARAM_VERSION).map(|(_, value)| value)
    });
    let said = said.unwrap_or_else(|| "0.3".to_owned());
    let mut numbers = said.trim().split('.');
    match (numbers.next(), numbers.next().unwrap_or("0")) {
        (Some("1"), "0") => Ok(()),
        _ => Err(A2AError::version_not_supported(&one_line(&said, 20))),
    }
}

/// The parameters behind the path.
pub(super) fn queries(uri: &Uri) -> Vec<(String, String)> {
    let query = uri.query().unwrap_or_default();
    let Ok(url) = Url::parse(&format!("http://query/?{query}")) else { return Vec::new() };
    url.query_pairs().into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

pub(super) fn as_rpc(id: JsonRpcId, error: &A2AError) -> JsonRpcResponse {
    JsonRpcResponse::error(id, error.to_jsonrpc_error())
}

pub(super) fn as_rest(error: &A2AError) -> Response {
    let status = StatusCode::from_u16(error.http_status_code());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    with_status(status, error)
}

pub(super) fn with_status(status: StatusCode, error: &A2AError) -> Response {
    let mut response = (status, Json(as_rest_value(status, error))).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("30"));
    }
    response
}

/// As `google.rpc.Status` is written.
pub(super) fn as_rest_value(status: StatusCode, error: &A2AError) -> Value {
    let info =
        TypedDetail::error_info(error_reason(error.code), PROTOCOL_DOMAIN, Some(HashMap::new()));
    json!({ "error": {
        "code": status.as_u16(), "status": status_word(error.code), "message": error.message,
        "details": [info],
    }})
}

fn status_word(code: i32) -> &'static str {
    match code {
        error_code::TASK_NOT_FOUND => "NOT_FOUND",
        error_code::METHOD_NOT_FOUND => "UNIMPLEMENTED",
        error_code::TASK_NOT_CANCELABLE
        | error_code::PUSH_NOTIFICATION_NOT_SUPPORTED
        | error_code::UNSUPPORTED_OPERATION
        | error_code::EXTENDED_CARD_NOT_CONFIGURED
        | error_code::EXTENSION_SUPPORT_REQUIRED
        | error_code::VERSION_NOT_SUPPORTED => "FAILED_PRECONDITION",
        error_code::CONTENT_TYPE_NOT_SUPPORTED
        | error_code::PARSE_ERROR
        | error_code::INVALID_REQUEST
        | error_code::INVALID_PARAMS => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

const MAX_ID_CHARS: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    /// BR-A3
    #[test]
    fn only_one_zero_is_spoken() {
        let check = |header: Option<&str>, uri: &str| {
            let mut headers = HeaderMap::new();
            if let Some(value) = header {
                headers.insert(SVC_PARAM_VERSION, value.parse().unwrap());
            }
            check_version(&headers, &uri.parse().unwrap()).is_ok()
        };
        for good in ["1.0", "1", " 1.0 ", "1.0.7"] {
            assert!(check(Some(good), "/a2a"), "{good}");
        }
        for bad in ["", "0.3", "1.1", "2.0", "10", "one"] {
            assert!(!check(Some(bad), "/a2a"), "{bad}");
        }
        assert!(!check(None, "/a2a"));
        assert!(check(None, "/a2a/tasks?A2A-Version=1.0"));
        assert!(!check(Some("0.3"), "/a2a/tasks?A2A-Version=1.0"));
    }
}
