//! HTTP: how connections are served, and the queue pair as the two bodies of one request.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use futures_util::{StreamExt as _, TryStreamExt as _};
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio_util::io::StreamReader;
use tokio_util::sync::CancellationToken;

use crate::channel::channel;
use crate::greeting::GREETING_TIME;
use crate::guard::Turned;
use crate::lines::lines;
use crate::server::Shared;

/// A peer that does not answer for two of these is gone.
const PING_EVERY: Duration = Duration::from_secs(20);

/// Sessions on one connection.
const MAX_STREAMS: u32 = 64;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new().route("/session", post(session)).with_state(shared)
}

async fn session(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let Some(place) = shared.take_place() else { return Turned::Busy.response() };
    let came = request.into_body().into_data_stream().map_err(io::Error::other);
    let (source, _) = lines(StreamReader::new(came), tokio::io::sink());
    let (sink, events) = channel(line);
    let tracker = shared.tracker.clone();
    tracker.spawn(async move { shared.run(source, sink, place).await });
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, Body::from_stream(events.map(Ok::<_, Infallible>))).into_response()
}

fn line(event: &str) -> Bytes {
    let mut line = String::with_capacity(event.len() + 1);
    line.push_str(event);
    line.push('\n');
    line.into()
}

/// Serves a connection until it ends, is silent for too long, or the server stops.
pub(crate) async fn serve_connection(stream: TcpStream, router: Router, stop: &CancellationToken) {
    let asked = CancellationToken::new();
    let routed = TowerToHyperService::new(router);
    let service = service_fn({
        let asked = asked.clone();
        move |request: hyper::Request<Incoming>| {
            asked.cancel();
            routed.call(request)
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(GREETING_TIME);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_EVERY);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    let stays_silent = async {
        if tokio::time::timeout(GREETING_TIME, asked.cancelled()).await.is_ok() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        // What went wrong on a connection is its peer's affair.
        _ = connection => {}
        () = stays_silent => {}
        () = stop.cancelled() => {}
    }
}
