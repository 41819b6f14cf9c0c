//! One connection: HTTP/1.1 or HTTP/2, its times and sizes, and how it ends so that the other side
//! can still read why.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::answer::answer;
use super::door::Caller;
use super::held::Pending;
use super::idle::Use;
use super::refusal::Refused;
use super::sniff::{Sniffed, Spoken};
use super::{Guest, Shared};

/// What the requests of a connection share.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) shared: Arc<Shared>,
    pub(super) caller: Caller,
    /// A request came.
    asked: CancellationToken,
    /// The server stops. It is looked at whenever something happens on the connection, so that each has
    /// one of its own: of a single one all threads would wait for the same lock.
    stop: CancellationToken,
    /// A body was left unread.
    unread: AtomicBool,
    /// Held for as long as anything of the connection is there, a WebSocket as well.
    _guest: Guest,
    /// Its responses that are being sent.
    pub(super) pending: Arc<Pending>,
}

impl Connected {
    /// A body was not read to its end: what still comes of it must be taken in before the connection
    /// is closed, or the answer may be lost.
    pub(super) fn leave_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }
}

/// Headers of one request. Four times what common servers take.
const MAX_HEADER_BYTES: usize = 32 * 1024;
const MAX_HEADERS: usize = 64;

/// Requests on one connection of HTTP/2 at one time: hundreds of tasks, each with its stream.
const MAX_STREAMS: u32 = 512;
/// Of each stream of HTTP/2, and of all streams of a connection, what may come before it is taken.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Streams that were opened and reset before they were answered: more is an attack.
const MAX_RESETS: usize = 32;
/// Of each stream, what may wait to be sent.
const MAX_SEND_BYTES: usize = 64 * 1024;

/// Serves a connection until it ends, is too slow, or the server stops.
pub(super) async fn serve<I>(
    io: I,
    spoken: Option<Spoken>,
    caller: Caller,
    guest: Guest,
    shared: Arc<Shared>,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let header_time = shared.limits.header_time;
    let asked = CancellationToken::new();
    let late = {
        let asked = asked.clone();
        async move {
            if timeout(header_time, asked.cancelled()).await.is_ok() {
                std::future::pending::<()>().await;
            }
        }
    };
    let mut late = pin!(late);
    let mut io = Sniffed::new(io);
    let spoken = match spoken {
        Some(spoken) => Some(spoken),
        None => tokio::select! {
            spoken = io.look() => spoken,
            () = &mut late => {
                if io.has_seen_any() {
                    say_late(io).await;
                }
                return;
            }
            () = shared.stop.cancelled() => return,
        },
    };
    let Some(spoken) = spoken else { return };
    let (unread, stop) = (AtomicBool::new(false), shared.stop.child_token());
    let pending = Arc::default();
    let connected =
        Arc::new(Connected { shared, caller, asked, stop, unread, _guest: guest, pending });
    match spoken {
        Spoken::Http1 => serve_http1(io, connected, late).await,
        Spoken::Http2 => serve_http2(io, connected, late).await,
    }
}

async fn serve_http1<I>(io: Sniffed<I>, connected: Arc<Connected>, late: impl Future<Output = ()>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = &connected.shared.limits;
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES);
    let service = service_fn(|request| respond(Arc::clone(&connected), request));
    let mut connection =
        Box::pin(builder.serve_connection(TokioIo::new(io), service).with_upgrades());
    let mut late = pin!(late);
    let end = tokio::select! {
        done = &mut connection => match done {
            Ok(()) if connected.unread.load(Ordering::Relaxed) => End::Unread,
            Ok(()) => End::Whole,
            Err(error) if error.is_timeout() => End::Late,
            // What was no HTTP has been answered, and more of it may come.
            Err(_) => End::Unread,
        },
        () = &mut late => End::Late,
        () = connected.pending.stalled(limits.stall_time) => return,
        () = connected.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(limits.grace, &mut connection).await;
            return;
        }
    };
    // Nothing if the connection became a WebSocket.
    let Some(parts) = Pin::into_inner(connection).into_parts() else { return };
    let io = parts.io.into_inner();
    match end {
        // Between two requests nobody waits for an answer.
        End::Late if parts.read_buf.is_empty() => {}
        End::Late => say_late(io).await,
        End::Unread => linger(io).await,
        End::Whole => {}
    }
}

/// How a connection of HTTP/1.1 ended.
enum End {
    Whole,
    /// With something unread.
    Unread,
    Late,
}

async fn serve_http2<I>(io: Sniffed<I>, connected: Arc<Connected>, late: impl Future<Output = ()>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = &connected.shared.limits;
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_pending_accept_reset_streams(MAX_RESETS)
        .max_local_error_reset_streams(MAX_RESETS)
        .max_header_list_size(MAX_HEADER_BYTES as u32)
        .max_send_buf_size(MAX_SEND_BYTES)
        .keep_alive_interval(limits.header_time)
        .keep_alive_timeout(limits.header_time);
    let used = Arc::new(Use::new());
    let service = {
        let (connected, used) = (Arc::clone(&connected), Arc::clone(&used));
        service_fn(move |request| {
            let (busy, connected) = (used.begin(), Arc::clone(&connected));
            async move {
                let Ok(response) = respond(connected, request).await;
                Ok::<_, Infallible>(response.map(|body| busy.until_sent(body)))
            }
        })
    };
    let mut connection = pin!(builder.serve_connection(TokioIo::new(io), service));
    let late = pin!(late);
    let idle = async {
        // Until then it may be late, and is told nothing.
        connected.asked.cancelled().await;
        used.idle(limits.header_time).await;
    };
    tokio::select! {
        // What went wrong on a connection is its peer's affair.
        _ = &mut connection => return,
        () = late => return,
        // The kernel sees that somebody takes bytes, and not that none of them are for a response.
        () = connected.pending.stalled(limits.stall_time) => return,
        () = idle => {}
        () = connected.stop.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(limits.grace, &mut connection).await;
}

async fn respond(
    connected: Arc<Connected>,
    request: hyper::Request<Incoming>,
) -> Result<Response, Infallible> {
    connected.asked.cancel();
    Ok(answer(&connected, request).await)
}

/// Tells that the headers did not come in time.
async fn say_late(mut io: impl AsyncRead + AsyncWrite + Unpin) {
    let said = Refused::SlowHeaders.raw_response();
    if matches!(timeout(LINGER_TIME, io.write_all(said.as_bytes())).await, Ok(Ok(()))) {
        linger(io).await;
    }
}

/// Takes in what was on its way: a connection that is closed with something unread is reset, and the
/// other side may lose the answer before it has read it.
async fn linger(mut io: impl AsyncRead + AsyncWrite + Unpin) {
    let taking = async {
        let _ = io.shutdown().await;
        let mut scrap = vec![0; 16 * 1024];
        let mut left = LINGER_BYTES;
        while let Ok(count) = io.read(&mut scrap).await
            && count > 0
            && left > 0
        {
            left = left.saturating_sub(count);
        }
    };
    let _ = timeout(LINGER_TIME, taking).await;
}

/// Long enough for an answer to cross an ocean and back.
const LINGER_TIME: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 64 * 1024 * 1024;
