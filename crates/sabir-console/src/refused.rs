//! Why a request is not done, as its sender is told: a status, a code for programs, words for people.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use sabir_host::record::RecordError;
use sabir_host::{ConversationError, DeskError};
use sabir_net::OrderError;
use sabir_store::StoreError;
use sabir_store::library::LibraryError;
use serde_json::{Value, json};

/// What a handler gives.
pub(crate) type Answer = Result<Json<Value>, Refused>;

#[derive(Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    code: &'static str,
    message: String,
    retry_after_secs: Option<u64>,
}

impl Refused {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), retry_after_secs: None }
    }

    pub(crate) fn signed_out() -> Self {
        let words = "sign in first: the token is in the file console.token of the node's home";
        Self::new(StatusCode::UNAUTHORIZED, "signed_out", words)
    }

    pub(crate) fn wrong_token() -> Self {
        let words = "that is not the token of this node";
        Self::new(StatusCode::UNAUTHORIZED, "wrong_token", words)
    }

    pub(crate) fn too_soon(after_secs: u64) -> Self {
        let words = format!("too many wrong tokens: try again in {after_secs} seconds");
        let refused = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_soon", words);
        Self { retry_after_secs: Some(after_secs), ..refused }
    }

    /// What a page of another site would send.
    pub(crate) fn foreign(why: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "foreign", why)
    }

    pub(crate) fn forbidden(code: &'static str, why: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, why)
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(crate) fn media() -> Self {
        let words = "the body has to be application/json";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", words)
    }

    pub(crate) fn too_large(most: usize) -> Self {
        let words = format!("the body has more than {most} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", words)
    }

    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn method() -> Self {
        let words = "this path does not take that method";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", words)
    }

    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub(crate) fn busy(message: impl Into<String>) -> Self {
        let refused = Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message);
        Self { retry_after_secs: Some(2), ..refused }
    }

    /// Somebody else, whom we asked, failed.
    pub(crate) fn elsewhere(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, code, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = json!({ "error": { "code": self.code, "message": self.message } });
        let mut response = (self.status, Json(body)).into_response();
        if let Some(seconds) = self.retry_after_secs {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<LibraryError> for Refused {
    fn from(error: LibraryError) -> Self {
        let words = error.to_string();
        match error {
            LibraryError::NotFound { .. } => Self::missing(words),
            LibraryError::TitleTaken { .. } => Self::conflict("title_taken", words),
            LibraryError::Invalid { .. } | LibraryError::TooLarge { .. } => Self::bad(words),
            LibraryError::Busy { .. } => Self::busy(words),
            LibraryError::Full { .. }
            | LibraryError::ReadOnly { .. }
            | LibraryError::NewerSchema { .. }
            | LibraryError::Damaged { .. }
            | LibraryError::Unsound(_)
            | LibraryError::Io { .. } => Self::internal(words),
        }
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        let words = error.to_string();
        match error {
            StoreError::TooLarge { .. }
            | StoreError::TooMany { .. }
            | StoreError::Invalid { .. } => Self::bad(words),
            StoreError::UnknownSession { .. } => Self::missing(words),
            StoreError::Busy { .. } => Self::busy(words),
            _ => Self::internal(words),
        }
    }
}

impl From<DeskError> for Refused {
    fn from(error: DeskError) -> Self {
        let (words, code) = (error.to_string(), error.code());
        match error {
            DeskError::Library(error) => error.into(),
            DeskError::Input(_) | DeskError::Export { .. } => Self::bad(words),
            DeskError::Refused { .. } => Self::conflict(code, words),
            DeskError::Model { .. }
            | DeskError::Unreadable { .. }
            | DeskError::NoAnswer
            | DeskError::Browser { .. } => Self::elsewhere(code, words),
            DeskError::Stopped => Self::busy(words),
            DeskError::Random { .. } => Self::internal(words),
        }
    }
}

impl From<OrderError> for Refused {
    fn from(error: OrderError) -> Self {
        let words = error.to_string();
        match error {
            OrderError::Invalid { .. } => Self::bad(words),
            OrderError::KeyTaken { .. } => Self::conflict("key_taken", words),
            OrderError::NotFound => Self::missing(words),
            OrderError::Over => Self::conflict("over", words),
            OrderError::TooDeep { .. } => Self::conflict("too_deep", words),
            OrderError::TooMany { .. } | OrderError::TooLarge { .. } | OrderError::Stopping => {
                Self::busy(words)
            }
            OrderError::Store(error) => error.into(),
            OrderError::NoRandomNumbers => Self::internal(words),
        }
    }
}

impl From<ConversationError> for Refused {
    fn from(error: ConversationError) -> Self {
        let words = error.to_string();
        match error {
            ConversationError::Empty => Self::bad(words),
            ConversationError::Refused(_) => Self::conflict("refused", words),
            ConversationError::NotOpen => Self::conflict("not_open", words),
            ConversationError::Ended => Self::conflict("ended", words),
            ConversationError::TooMany { .. } => Self::busy(words),
        }
    }
}

impl From<RecordError> for Refused {
    fn from(error: RecordError) -> Self {
        let words = error.to_string();
        match error {
            RecordError::Unknown { .. } => Self::missing(words),
            RecordError::Store(error) => error.into(),
            RecordError::Library(error) => error.into(),
            RecordError::Desk(error) => error.into(),
            RecordError::Io { .. } => Self::internal(words),
        }
    }
}

impl From<tokio::task::JoinError> for Refused {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::internal(error.to_string())
    }
}
