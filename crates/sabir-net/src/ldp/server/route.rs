//! What can be asked for, and how. The OpenAPI document is made of the same list.

use axum::http::Method;

use super::door::Proof;
use super::refusal::Refused;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Identity,
    Capabilities,
    Messages,
    Stream,
    Socket,
    Health,
    OpenApi,
}

/// Every path, and what is there.
pub(super) const ROUTES: [(&str, Route); 8] = [
    ("/.well-known/ldp-identity", Route::Identity),
    ("/ldp/identity", Route::Identity),
    ("/ldp/capabilities", Route::Capabilities),
    ("/ldp/messages", Route::Messages),
    ("/ldp/stream", Route::Stream),
    ("/ldp/ws", Route::Socket),
    ("/healthz", Route::Health),
    ("/ldp/openapi.json", Route::OpenApi),
];

impl Route {
    pub(super) fn of(path: &str, method: &Method) -> Result<Self, Refused> {
        let Some((_, route)) = ROUTES.iter().find(|(known, _)| *known == path) else {
            return Err(Refused::NotFound);
        };
        let is_allowed = match route {
            Self::Messages | Self::Stream => *method == Method::POST,
            Self::Socket => *method == Method::GET,
            Self::Identity | Self::Capabilities | Self::Health | Self::OpenApi => {
                *method == Method::GET || *method == Method::HEAD
            }
        };
        if is_allowed { Ok(*route) } else { Err(Refused::WrongMethod(*route)) }
    }

    /// As the header `allow` has it.
    pub(super) fn allowed(self) -> &'static str {
        match self {
            Self::Messages | Self::Stream => "POST",
            Self::Socket => "GET",
            Self::Identity | Self::Capabilities | Self::Health | Self::OpenApi => "GET, HEAD",
        }
    }

    /// Who watches over a machine has no token, and learns nothing but that the node is there.
    pub(super) fn proof(self) -> Proof {
        if self == Self::Health { Proof::Welcome } else { Proof::Demanded }
    }

    pub(super) fn sends(self) -> (&'static str, &'static str) {
        match self {
            Self::Stream => ("text", "event-stream"),
            Self::Identity
            | Self::Capabilities
            | Self::Messages
            | Self::Socket
            | Self::Health
            | Self::OpenApi => ("application", "json"),
        }
    }
}
