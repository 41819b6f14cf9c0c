//! How a request is turned away before it is a message, or because it is none: a status, and the
//! error object that peers know from messages.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode, Version};
use axum::response::Response;
use sabir_ldp::{ErrorCategory, LdpError, Severity};
use serde_json::{Value, json};

use super::route::Route;

/// Why a request is not answered with what it asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Refused {
    /// Two readers may see different requests in it, and one of them lets through what the other would
    /// not.
    Ambiguous,
    /// A name that is not this machine's.
    Host,
    /// A page of another site.
    Origin,
    NoToken,
    WrongToken,
    NotFound,
    WrongMethod(Route),
    /// What it would take is not what we send.
    NotAcceptable {
        sends: &'static str,
    },
    NotJson,
    BadEventId,
    /// A request for a WebSocket that asks for none, and why.
    NoUpgrade(String),
    TooLarge {
        limit: usize,
    },
    SlowHeaders,
    SlowBody,
    /// The connection broke within the body.
    BrokenBody,
    TooOften {
        wait: Duration,
    },
    Busy,
}

impl Refused {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::NoToken | Self::WrongToken => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable { .. } => StatusCode::NOT_ACCEPTABLE,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Ambiguous | Self::BadEventId | Self::NoUpgrade(_) | Self::BrokenBody => {
                StatusCode::BAD_REQUEST
            }
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::SlowHeaders | Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::TooOften { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Ambiguous => "REQUEST_AMBIGUOUS",
            Self::Host => "FOREIGN_HOST",
            Self::Origin => "FOREIGN_ORIGIN",
            Self::NoToken => "TOKEN_REQUIRED",
            Self::WrongToken => "TOKEN_WRONG",
            Self::NotFound => "NO_SUCH_PATH",
            Self::WrongMethod(_) => "METHOD_NOT_ALLOWED",
            Self::NotAcceptable { .. } => "NOT_ACCEPTABLE",
            Self::NotJson => "CONTENT_TYPE_NOT_JSON",
            Self::BadEventId => "EVENT_ID_INVALID",
            Self::NoUpgrade(_) => "NO_WEBSOCKET_REQUEST",
            Self::BrokenBody => "BODY_INCOMPLETE",
            Self::TooLarge { .. } => "BODY_TOO_LARGE",
            Self::SlowHeaders => "HEADERS_TOO_SLOW",
            Self::SlowBody => "BODY_TOO_SLOW",
            Self::TooOften { .. } => "RATE_LIMITED",
            Self::Busy => "BUSY",
        }
    }

    pub(super) fn message(&self) -> String {
        match self {
            Self::Ambiguous => {
                "the header `host` or `transfer-encoding` stands there twice: nobody can tell which \
                 one is meant"
                    .into()
            }
            Self::Host => {
                "this server is for programs of this machine: ask for localhost or 127.0.0.1; if it has \
                 another name, start it with `--host NAME`"
                    .into()
            }
            Self::Origin => "pages of other sites may not use this server".into(),
            Self::NoToken => {
                "a token is needed, which the node is started with (`--token-file`): send the header \
                 `authorization: Bearer TOKEN`"
                    .into()
            }
            Self::WrongToken => "the token is wrong".into(),
            Self::NotFound => "nothing is here: /ldp/openapi.json lists what there is".into(),
            Self::WrongMethod(route) => format!("this is asked for with {}", route.allowed()),
            Self::NotAcceptable { sends } => {
                format!("what is sent here is {sends}, which the header `accept` does not name")
            }
            Self::NotJson => {
                "a message is JSON in UTF-8: send the header `content-type: application/json`"
                    .into()
            }
            Self::BadEventId => {
                "the header `last-event-id` is not the id of an event: they are whole numbers"
                    .into()
            }
            Self::NoUpgrade(why) => format!("this is for WebSockets: {why}"),
            Self::BrokenBody => "the body ended before it was whole".into(),
            Self::TooLarge { limit } => format!("a message may be up to {limit} bytes long"),
            Self::SlowHeaders => "the headers did not come in time".into(),
            Self::SlowBody => "the body did not come in time".into(),
            Self::TooOften { .. } => "too many requests: see the header `retry-after`".into(),
            Self::Busy => "too much is being answered at this time: try again later".into(),
        }
    }

    fn category(&self) -> ErrorCategory {
        match self {
            Self::Host | Self::Origin | Self::NoToken | Self::WrongToken => ErrorCategory::Policy,
            Self::Ambiguous
            | Self::NotFound
            | Self::WrongMethod(_)
            | Self::NotAcceptable { .. }
            | Self::NotJson
            | Self::BadEventId
            | Self::NoUpgrade(_)
            | Self::BrokenBody
            | Self::TooLarge { .. }
            | Self::SlowHeaders
            | Self::SlowBody => ErrorCategory::Transport,
            Self::TooOften { .. } | Self::Busy => ErrorCategory::Runtime,
        }
    }

    fn is_retryable(&self) -> bool {
        match self {
            Self::BrokenBody
            | Self::SlowHeaders
            | Self::SlowBody
            | Self::TooOften { .. }
            | Self::Busy => true,
            Self::Ambiguous
            | Self::Host
            | Self::Origin
            | Self::NoToken
            | Self::WrongToken
            | Self::NotFound
            | Self::WrongMethod(_)
            | Self::NotAcceptable { .. }
            | Self::NotJson
            | Self::BadEventId
            | Self::NoUpgrade(_)
            | Self::TooLarge { .. } => false,
        }
    }

    /// Whether the rest of the connection cannot be used.
    fn ends_connection(&self) -> bool {
        matches!(self, Self::Ambiguous | Self::TooLarge { .. } | Self::SlowBody | Self::BrokenBody)
    }

    /// The body of the response.
    pub(super) fn text(&self) -> String {
        let error = LdpError {
            code: self.code().to_owned(),
            category: self.category(),
            message: self.message(),
            severity: Severity::Error,
            retryable: self.is_retryable(),
            partial_output: None,
        };
        json!({ "error": error.to_value() }).to_string()
    }

    pub(super) fn response(&self, version: Version) -> Response {
        let mut response = json_response(self.status(), self.text());
        let headers = response.headers_mut();
        match self {
            Self::NoToken | Self::WrongToken => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::WrongMethod(route) => {
                headers.insert(ALLOW, HeaderValue::from_static(route.allowed()));
            }
            Self::TooOften { wait } => {
                let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
                headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            Self::Busy => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        // HTTP/2 has no such header: there only the one stream ends.
        if self.ends_connection() && version <= Version::HTTP_11 {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// The same for a connection on which no request was read to its end.
    pub(super) fn raw_response(&self) -> String {
        let (status, text) = (self.status(), self.text());
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{text}",
            text.len()
        )
    }
}

/// The answer to a text that is no JSON: the node's message, which names the place, and its error
/// once more where a client looks that knows statuses only. Nobody signed it, so that nothing breaks.
pub(super) fn no_message(answer: &str, why: Option<String>) -> (StatusCode, String) {
    let text = match serde_json::from_str(answer) {
        Ok(Value::Object(mut envelope)) => {
            let error = envelope.get("body").and_then(|body| body.get("error"));
            let mut error = error.cloned().unwrap_or_else(|| json!({}));
            if let (Some(why), Some(error)) = (why, error.as_object_mut()) {
                error.insert("message".to_owned(), why.into());
            }
            envelope.insert("error".to_owned(), error);
            Value::Object(envelope).to_string()
        }
        _ => answer.to_owned(),
    };
    (StatusCode::BAD_REQUEST, text)
}

pub(super) fn json_response(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
