//! Which path is whose. The guard stands in front of all of the API, so that a route that is added
//! here is behind it.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{MethodRouter, get, post};

use crate::assets;
use crate::changes;
use crate::door::{guard, log_in, log_out};
use crate::headers::with_headers;
use crate::refused::Refused;
use crate::setup::ConsoleSetup;
use crate::state::Console;
use crate::views::{
    artifacts, ask, capture, collections, decisions, delegates, inbox, journals, me, orders,
    policy, sessions, usage, versions,
};

/// The console as a router, to be mounted at `/`. Has to be called inside of a runtime: what changes
/// is watched by a task of it.
pub fn console(setup: ConsoleSetup) -> Router {
    let console = Console::new(setup);
    changes::watch(&console);
    let mut api = Router::new();
    for (_, path, handlers) in api_routes() {
        api = api.route(path, handlers);
    }
    let api = api
        .route("/api", get(nothing))
        .route("/api/{*rest}", get(nothing).post(nothing))
        .method_not_allowed_fallback(async || Refused::method())
        .layer(from_fn_with_state(Arc::clone(&console), guard))
        .with_state(console);
    Router::new()
        .route("/", get(assets::index))
        .route("/assets/{*name}", get(assets::file))
        .merge(api)
        .fallback(async || (StatusCode::NOT_FOUND, "there is nothing here\n"))
        .layer(map_response(with_headers))
}

/// Method and path of all there is in the API, for its description and for tests.
pub fn console_routes() -> Vec<(&'static str, &'static str)> {
    api_routes().into_iter().map(|(method, path, _)| (method, path)).collect()
}

async fn nothing() -> Refused {
    Refused::missing("the API has no such path")
}

type Route = (&'static str, &'static str, MethodRouter<Arc<Console>>);

fn api_routes() -> Vec<Route> {
    vec![
        ("POST", "/api/login", post(log_in)),
        ("POST", "/api/logout", post(log_out)),
        ("GET", "/api/me", get(me::show)),
        ("GET", "/api/changes", get(changes::stream)),
        ("GET", "/api/inbox", get(inbox::list)),
        ("POST", "/api/inbox/{id}", post(inbox::decide)),
        ("GET", "/api/orders", get(orders::list)),
        ("POST", "/api/orders", post(orders::place)),
        ("GET", "/api/orders/{id}", get(orders::show)),
        ("POST", "/api/orders/{id}/cancel", post(orders::cancel)),
        ("POST", "/api/orders/{id}/again", post(orders::again)),
        ("GET", "/api/orders/{id}/events", get(orders::events)),
        ("GET", "/api/sessions", get(sessions::list)),
        ("POST", "/api/sessions", post(sessions::start)),
        ("GET", "/api/sessions/{id}", get(sessions::show)),
        ("POST", "/api/sessions/{id}/input", post(sessions::input)),
        ("POST", "/api/sessions/{id}/interrupt", post(sessions::interrupt)),
        ("GET", "/api/sessions/{id}/events", get(sessions::events)),
        ("GET", "/api/delegates", get(delegates::list)),
        ("POST", "/api/delegates", post(delegates::add)),
        ("POST", "/api/delegates/remove", post(delegates::remove)),
        ("POST", "/api/delegates/probe", post(delegates::probe)),
        ("GET", "/api/delegations", get(delegates::edges)),
        ("GET", "/api/collections", get(collections::list)),
        ("POST", "/api/collections", post(collections::create)),
        ("POST", "/api/examples", post(capture::examples)),
        ("GET", "/api/collections/{id}", get(collections::show)),
        ("POST", "/api/collections/{id}/capture", post(capture::capture)),
        ("POST", "/api/collections/{id}/ask", post(ask::ask)),
        ("POST", "/api/collections/{id}/transform", post(ask::transform)),
        ("GET", "/api/artifacts/{id}", get(artifacts::show)),
        ("GET", "/api/artifacts/{id}/file", get(artifacts::file)),
        ("GET", "/api/versions/{id}", get(versions::show)),
        ("GET", "/api/policy", get(policy::show)),
        ("POST", "/api/policy/check", post(policy::check)),
        ("GET", "/api/decisions", get(decisions::list)),
        ("GET", "/api/journals", get(journals::list)),
        ("GET", "/api/journal/{name}", get(journals::lines)),
        ("GET", "/api/journal/{name}/check", get(journals::check)),
        ("GET", "/api/journal/{name}/{seq}", get(journals::line)),
        ("GET", "/api/usage", get(usage::show)),
    ]
}
