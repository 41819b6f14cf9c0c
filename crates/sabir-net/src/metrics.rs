//! The counters of a node over HTTP, for Prometheus. What is counted elsewhere is asked for when
//! somebody looks.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;
use sabir_telemetry::{Text, render};

use crate::ldp::{Demand, Entry, Mount, Visitor};
use crate::token::Token;

/// Who may look, and at what.
#[derive(Clone)]
pub struct MetricsSetup {
    /// A token for this alone. Without one, those of the door are taken.
    pub token: Option<Token>,
    /// Who must show a token.
    pub demand: Demand,
    /// Adds what is known elsewhere.
    pub more: Arc<dyn Fn(&mut Text) + Send + Sync>,
}

impl fmt::Debug for MetricsSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_token = self.token.is_some();
        f.debug_struct("MetricsSetup").field("has_token", &has_token).finish_non_exhaustive()
    }
}

/// `/metrics`, behind the door of the node.
pub fn metrics_mount(setup: MetricsSetup) -> Mount {
    // A token of its own opens this door and no other: the door of the node does not know it.
    let entry = if setup.token.is_some() { Entry::Own } else { Entry::Caller };
    let router = Router::new().route(PATH, get(show)).with_state(setup);
    Mount { under: PATH.to_owned(), router, entry }
}

async fn show(
    State(setup): State<MetricsSetup>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
) -> Response {
    if !setup.admits(&visitor, &headers) {
        let mut refused = Response::new(Body::from("a token is needed\n"));
        *refused.status_mut() = StatusCode::UNAUTHORIZED;
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return guarded(refused);
    }
    let mut page = Response::new(Body::from(render(|text| (setup.more)(text))));
    page.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
    guarded(page)
}

fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

impl MetricsSetup {
    /// Programs of this machine that speak for themselves, unless everybody must show a token; and
    /// whoever shows the right one. One that is wrong is wrong from anywhere.
    fn admits(&self, visitor: &Visitor, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            // What the door takes has been shown there; it lets those through who need to show none.
            return visitor.is_near || visitor.channel.credential.is_some();
        };
        match headers.get(AUTHORIZATION) {
            Some(shown) => token.admits(shown.as_bytes()),
            None => visitor.is_near && self.demand == Demand::Elsewhere,
        }
    }
}

const PATH: &str = "/metrics";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
