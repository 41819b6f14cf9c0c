//! What those who run a node see of its listener: who was turned away and why, how many asked for what,
//! and the trace that a request says it is part of.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use sabir_telemetry::{Span, SpanKind, TRACEPARENT, TraceContext, metrics, topic};
use tokio::time::Instant;

use super::door::Caller;
use super::mount::Mount;
use super::refusal::Refused;
use super::route::Route;

/// A request while it is answered.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) began: Instant,
    /// One of the names that counters have.
    route: &'static str,
    is_refused: bool,
}

impl Asked {
    pub(super) fn begin() -> Self {
        Self { began: Instant::now(), route: "none", is_refused: false }
    }

    pub(super) fn found(&mut self, route: Route) {
        self.route = match route {
            Route::Identity => "identity",
            Route::Capabilities => "capabilities",
            Route::Messages => "messages",
            Route::Stream => "stream",
            Route::Socket => "socket",
            Route::Health => "health",
            Route::OpenApi => "openapi",
        };
    }

    pub(super) fn found_mount(&mut self, mount: &Mount, path: &str) {
        self.route = match mount.under.as_str() {
            "/mcp" => "mcp",
            "/a2a" | "/.well-known/agent-card.json" => "a2a",
            "/metrics" => "metrics",
            "/" if path == "/api" || path.starts_with("/api/") => "api",
            "/" => "console",
            _ => "other",
        };
    }

    pub(super) fn answered(&self, caller: &Caller, response: &Response) {
        let (route, time) = (self.route, self.began.elapsed());
        let status = response.status();
        metrics().http_requests.add(route, status.as_str());
        metrics().http_time.observe(time);
        let (address, status) = (caller.address, status.as_u16());
        // What lets people in itself turns them away itself.
        if !self.is_refused && matches!(status, 401 | 403 | 429) {
            tracing::info!(target: topic::DOOR, %address, route, status, "refused");
        }
        let duration_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(target: topic::DOOR, %address, route, status, duration_ms, "answered");
    }

    pub(super) fn refused(&mut self, caller: &Caller, refused: &Refused) {
        self.is_refused = true;
        let (address, route, code) = (caller.address, self.route, refused.code());
        match refused.status() {
            // Whoever comes too often would come too often here as well.
            StatusCode::TOO_MANY_REQUESTS | StatusCode::NOT_FOUND => {
                tracing::debug!(target: topic::DOOR, %address, route, code, "refused");
            }
            _ => tracing::info!(target: topic::DOOR, %address, route, code, "refused"),
        }
    }
}

/// A step for a request that says what it is part of. Others begin a trace where there is work.
pub(super) fn span(name: &'static str, headers: &HeaderMap) -> Span {
    span_within(name, trace(headers))
}

/// The same where what it is part of was said before.
pub(super) fn span_within(name: &'static str, trace: Option<TraceContext>) -> Span {
    match trace {
        Some(trace) => Span::after(Some(trace), name, SpanKind::Server),
        None => Span::default(),
    }
}

static WITHIN: HeaderName = HeaderName::from_static(TRACEPARENT);

/// Of two nobody knows which is meant.
pub(super) fn trace(headers: &HeaderMap) -> Option<TraceContext> {
    let mut all = headers.get_all(&WITHIN).iter();
    let only = all.next().filter(|_| all.next().is_none())?;
    TraceContext::parse(only.to_str().ok()?)
}
