//! Listeners, and what their connections share.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rustix::net::sockopt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sabir_host::Engine;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::ListenError;
use crate::greeting::{Greeting, error_line, greet};
use crate::guard::{Dialect, Guard, Reach, guard};
use crate::lines::{LineSink, LineSource, lines};
use crate::token::Token;
use crate::transport::{Sink, Source, carry_until};
use crate::unix_path::{self, SocketFile};
use crate::{grpc, http, ws};

/// Where to listen, and what is spoken there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    Tcp(SocketAddr),
    Unix(PathBuf),
    WebSocket(SocketAddr),
    Http(SocketAddr),
    Grpc(SocketAddr),
}

/// Where something listens.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Listening {
    pub transport: &'static str,
    pub address: String,
}

/// Listeners that are bound and not yet served.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<Bound>,
    token: Option<Token>,
}

#[derive(Debug)]
enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
    Web(Web, TcpListener),
}

#[derive(Debug, Clone, Copy)]
enum Web {
    Socket,
    Http,
    Grpc,
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    engine: Engine,
    token: Option<Token>,
    stop: CancellationToken,
    pub(crate) tracker: TaskTracker,
    connections: Arc<Semaphore>,
    sessions: Arc<Semaphore>,
}

/// A session's place among those that may be open.
pub(crate) type Place = OwnedSemaphorePermit;

/// Connections beyond those that sessions can have, so that one too many is told so.
const SPARE_CONNECTIONS: usize = 64;

/// What a connection opens, at most.
const FILES_PER_CONNECTION: u64 = 3;

/// How long to wait when no connection can be accepted, which is when all descriptors are in use.
const BREATH: Duration = Duration::from_millis(100);

/// A peer that is cut off is missed after a minute.
const SILENCE: Duration = Duration::from_secs(30);
const PROBE_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 3;

impl Server {
    /// Binds every listener, or none. Beyond loopback a token is demanded.
    pub async fn bind(listens: Vec<Listen>, token: Option<Token>) -> Result<Self, ListenError> {
        let mut listeners = Vec::new();
        for listen in &listens {
            if let Some(address) = listen.address()
                && !is_loopback(address)
                && token.is_none()
            {
                return Err(ListenError::Open { address });
            }
        }
        for listen in listens {
            listeners.push(match listen {
                Listen::Tcp(address) => Bound::Tcp(bind("tcp", address).await?),
                Listen::Unix(path) => {
                    let (listener, file) = unix_path::listen(&path)?;
                    Bound::Unix(listener, file)
                }
                Listen::WebSocket(address) => Bound::Web(Web::Socket, bind("ws", address).await?),
                Listen::Http(address) => Bound::Web(Web::Http, bind("http", address).await?),
                Listen::Grpc(address) => Bound::Web(Web::Grpc, bind("grpc", address).await?),
            });
        }
        Ok(Self { listeners, token })
    }

    /// Where it listens, in the order that was asked for; ports that were left open are filled in.
    pub fn listening(&self) -> Vec<Listening> {
        self.listeners.iter().map(Bound::listening).collect()
    }

    /// The files of the Unix sockets.
    pub fn sockets(&self) -> Vec<PathBuf> {
        let files = self.listeners.iter().filter_map(|listener| match listener {
            Bound::Unix(_, file) => Some(file.path().to_owned()),
            Bound::Tcp(_) | Bound::Web(..) => None,
        });
        files.collect()
    }

    /// Whether every program of this machine is let in that knows a port.
    pub fn has_open_port(&self) -> bool {
        let is_port = |listener: &Bound| matches!(listener, Bound::Tcp(_) | Bound::Web(..));
        self.token.is_none() && self.listeners.iter().any(is_port)
    }

    /// Serves until `stop` is cancelled and everything that was started has ended.
    ///
    /// At most `sessions` are open at one time.
    pub async fn serve(self, engine: Engine, sessions: usize, stop: CancellationToken) {
        let connections = sessions.saturating_add(SPARE_CONNECTIONS);
        allow_open_files(connections as u64 * FILES_PER_CONNECTION);
        let tracker = TaskTracker::new();
        let shared = Arc::new(Shared {
            engine,
            token: self.token,
            stop: stop.clone(),
            tracker: tracker.clone(),
            connections: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))),
            sessions: Arc::new(Semaphore::new(sessions.min(Semaphore::MAX_PERMITS))),
        });
        for listener in self.listeners {
            tracker.spawn(accept(listener, Arc::clone(&shared)));
        }
        stop.cancelled().await;
        tracker.close();
        tracker.wait().await;
    }
}

impl Listen {
    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address)
            | Self::WebSocket(address)
            | Self::Http(address)
            | Self::Grpc(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl Bound {
    fn listening(&self) -> Listening {
        let of = |listener: &TcpListener| {
            listener.local_addr().map(|address| address.to_string()).unwrap_or_default()
        };
        let (transport, address) = match self {
            Self::Tcp(listener) => ("tcp", of(listener)),
            Self::Unix(_, file) => ("unix", file.path().display().to_string()),
            Self::Web(Web::Socket, listener) => ("ws", of(listener)),
            Self::Web(Web::Http, listener) => ("http", of(listener)),
            Self::Web(Web::Grpc, listener) => ("grpc", of(listener)),
        };
        Listening { transport, address }
    }
}

impl Shared {
    /// A place for one more session, if there is one.
    pub(crate) fn take_place(&self) -> Option<Place> {
        Arc::clone(&self.sessions).try_acquire_owned().ok()
    }

    /// Runs a session over a wire, to its end or to that of the server.
    pub(crate) async fn run(&self, source: impl Source, sink: impl Sink, place: Place) {
        // An upgraded connection is no longer among those that the server waits for.
        let _counted = self.tracker.token();
        carry_until(source, sink, self.engine.connect(), &self.stop).await;
        drop(place);
    }

    /// Greets who came to a wire of lines, and runs a session.
    async fn run_lines<R, W>(&self, mut source: LineSource<R>, mut sink: LineSink<W>)
    where
        R: AsyncRead + Unpin + Send,
        W: AsyncWrite + Unpin + Send,
    {
        let greeting = greet(&mut source, self.token.as_ref());
        let refusal = match self.stop.run_until_cancelled(greeting).await {
            None | Some(Greeting::Silent) => return,
            Some(Greeting::Refused(why)) => why,
            Some(Greeting::Welcome) => match self.take_place() {
                Some(place) => return self.run(source, sink, place).await,
                None => TOO_MANY,
            },
        };
        let refusing = async {
            if sink.send(&error_line(refusal)).await.is_ok() {
                sink.close().await;
                source.drain().await;
            }
        };
        // One who does not read the refusal is not waited for.
        let _ = tokio::time::timeout(REFUSAL_TIME, refusing).await;
    }
}

const TOO_MANY: &str = "too many sessions are open: try again later";
const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// Asks for as many descriptors as are needed. Where there are fewer, connections wait to be
/// accepted.
pub(crate) fn allow_open_files(needed: u64) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = needed.saturating_add(FILES_OF_OURS);
    if limit.current.is_some_and(|current| current < wanted) {
        let current = Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted)));
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    }
}

/// The store, the listeners, the model clients, and what commands need.
const FILES_OF_OURS: u64 = 512;

pub(crate) async fn bind(transport: &str, address: SocketAddr) -> Result<TcpListener, ListenError> {
    let what = format!("{transport} {address}");
    TcpListener::bind(address).await.map_err(|source| ListenError::Bind { what, source })
}

pub(crate) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Accepts connections until the server stops. A listener's file is removed with it.
async fn accept(listener: Bound, shared: Arc<Shared>) {
    let stop = shared.stop.clone();
    match listener {
        Bound::Tcp(listener) => {
            while let Some(stream) = stop.run_until_cancelled(next_tcp(&listener)).await {
                welcome(&shared, |shared| async move {
                    let (read, write) = stream.into_split();
                    let watched = write.as_ref().as_fd().try_clone_to_owned();
                    let (source, sink) = lines(read, write);
                    shared.run_lines(source.draining(), sink.watching(watched.ok())).await;
                });
            }
        }
        Bound::Unix(listener, file) => {
            while let Some(stream) = stop.run_until_cancelled(next_unix(&listener)).await {
                welcome(&shared, |shared| async move {
                    let watched = stream.as_fd().try_clone_to_owned();
                    let (read, write) = stream.into_split();
                    let (source, sink) = lines(read, write);
                    shared.run_lines(source.draining(), sink.watching(watched.ok())).await;
                });
            }
            drop(file);
        }
        Bound::Web(web, listener) => {
            let router = web_router(web, &listener, &shared);
            while let Some(stream) = stop.run_until_cancelled(next_tcp(&listener)).await {
                let router = router.clone();
                welcome(&shared, |shared| async move {
                    http::serve_connection(stream, router, &shared.stop).await;
                });
            }
        }
    }
}

/// Serves a connection if there is room for it; it is dropped otherwise.
fn welcome<F>(shared: &Arc<Shared>, serve: impl FnOnce(Arc<Shared>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Ok(room) = Arc::clone(&shared.connections).try_acquire_owned() else { return };
    let serving = serve(Arc::clone(shared));
    shared.tracker.spawn(async move {
        serving.await;
        drop(room);
    });
}

fn web_router(web: Web, listener: &TcpListener, shared: &Arc<Shared>) -> Router {
    let is_near = listener.local_addr().is_ok_and(is_loopback);
    let rules = Guard {
        token: shared.token.clone(),
        reach: if is_near { Reach::Loopback } else { Reach::Network },
        dialect: if matches!(web, Web::Grpc) { Dialect::Grpc } else { Dialect::Plain },
    };
    let shared = Arc::clone(shared);
    let router = match web {
        Web::Socket => ws::router(shared),
        Web::Http => http::router(shared),
        Web::Grpc => grpc::router(shared),
    };
    router.layer(axum::middleware::from_fn_with_state(rules, guard))
}

async fn next_tcp(listener: &TcpListener) -> TcpStream {
    next_caller(listener).await.0
}

/// The next connection, and who called.
pub(crate) async fn next_caller(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, caller)) => {
                // Events are small, and each is waited for.
                let _ = stream.set_nodelay(true);
                let _ = keep_alive(&stream);
                return (stream, caller);
            }
            Err(_) => tokio::time::sleep(BREATH).await,
        }
    }
}

async fn next_unix(listener: &UnixListener) -> UnixStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(_) => tokio::time::sleep(BREATH).await,
        }
    }
}

/// A machine that lost its power says no goodbye.
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, SILENCE)?;
    sockopt::set_tcp_keepintvl(stream, PROBE_EVERY)?;
    sockopt::set_tcp_keepcnt(stream, PROBES)?;
    Ok(())
}
