//! The listener for other agents: HTTP, event streams and WebSockets in front of nodes, and routers
//! beside them.
//!
//! It knows connections and not what is said on them: who sent a message, and whether it is obeyed,
//! is for the node.

mod answer;
mod body;
mod connection;
mod door;
mod guests;
mod held;
mod idle;
mod mount;
mod mounted;
mod openapi;
mod options;
mod rate;
mod refusal;
mod route;
mod sniff;
mod socket;
mod sse;
mod tls;
mod watched;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Bytes;
use rustix::net::sockopt;
use sabir_telemetry::topic;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::body::Room;
use self::door::{Caller, Door};
use self::guests::{Guest, Guests, Place, semaphore};
use self::mount::Ground;
pub use self::mount::{Entry, Mount, Served, Visitor};
pub use self::openapi::ldp_openapi;
pub use self::options::{Demand, LdpLimits, LdpOptions, Rate, TlsFiles};
use self::refusal::Refused;
use self::sniff::Spoken;
use self::tls::Certificates;
use crate::error::ListenError;
use crate::server::{Listening, allow_open_files, bind, is_loopback, next_caller};

/// Listeners that are bound and not yet served.
pub struct LdpServer {
    listeners: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
    options: LdpOptions,
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    ground: Ground,
    door: Door,
    room: Room,
    /// For what is said to mounts: those who wait there long keep nobody's message from a delegate.
    visits: Room,
    answers: Room,
    limits: LdpLimits,
    stop: CancellationToken,
    tracker: TaskTracker,
    places: Guests,
    sockets: Arc<Semaphore>,
    openapi: Bytes,
    is_tls: bool,
}

impl LdpServer {
    /// Binds every address, or none. Beyond loopback callers must show a token or a certificate.
    pub async fn bind(
        addresses: Vec<SocketAddr>,
        options: LdpOptions,
    ) -> Result<Self, ListenError> {
        let has_tokens = !options.tokens.is_empty();
        let has_authority =
            options.tls.as_ref().is_some_and(|files| files.client_authority.is_some());
        let far = addresses.iter().copied().find(|address| !is_loopback(*address));
        if let Some(address) = far
            && !has_tokens
            && !has_authority
        {
            return Err(ListenError::Unproven { address });
        }
        // With tokens a certificate is one of two ways to come in.
        let certificates = if has_tokens { Certificates::Asked } else { Certificates::Demanded };
        let tls = match &options.tls {
            Some(files) => Some(tls::acceptor(files, certificates)?),
            None => None,
        };
        let mut listeners = Vec::new();
        for address in addresses {
            listeners.push(bind("ldp", address).await?);
        }
        Ok(Self { listeners, tls, options })
    }

    /// Where it listens, in the order that was asked for; ports that were left open are filled in.
    pub fn listening(&self) -> Vec<Listening> {
        let transport = if self.tls.is_some() { "https" } else { "http" };
        let addresses = self.listeners.iter().map(|listener| {
            listener.local_addr().map(|address| address.to_string()).unwrap_or_default()
        });
        addresses.map(|address| Listening { transport, address }).collect()
    }

    /// Serves until `stop` is cancelled and every connection has ended.
    pub async fn serve(self, served: Served, stop: CancellationToken) {
        let LdpOptions { tokens, demand, hosts, tls: _, limits } = self.options;
        allow_open_files(limits.connections as u64);
        let tracker = TaskTracker::new();
        let shared = Arc::new(Shared {
            ground: Ground::new(served),
            door: Door::new(tokens, demand, &limits).named(hosts),
            room: Room::new(limits.bodies_bytes),
            visits: Room::new(limits.bodies_bytes),
            answers: Room::new(limits.answers_bytes),
            stop: stop.clone(),
            tracker: tracker.clone(),
            places: Guests::of_requests(&limits),
            sockets: semaphore(limits.sockets),
            openapi: Bytes::from(ldp_openapi().to_string()),
            is_tls: self.tls.is_some(),
            limits,
        });
        let guests = Guests::of_connections(&shared.limits);
        for listener in self.listeners {
            let (tls, shared, guests) = (self.tls.clone(), Arc::clone(&shared), guests.clone());
            tracker.spawn(accept(listener, tls, shared, guests));
        }
        stop.cancelled().await;
        tracker.close();
        tracker.wait().await;
    }
}

impl std::fmt::Debug for LdpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LdpServer")
            .field("listeners", &self.listeners)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// A place for one more request, if there is one.
    fn take_place(&self, caller: &Caller) -> Result<Guest, Refused> {
        self.places.take(caller.address).ok_or(Refused::Busy)
    }

    fn take_socket(&self) -> Result<Place, Refused> {
        Arc::clone(&self.sockets).try_acquire_owned().map_err(|_| Refused::Busy)
    }
}

/// Accepts connections until the server stops.
async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    guests: Guests,
) {
    let Ok(here) = listener.local_addr() else { return };
    let stop = shared.stop.clone();
    while let Some((stream, caller)) = stop.run_until_cancelled(next_caller(&listener)).await {
        let Some(guest) = guests.take(caller.ip()) else {
            tracing::info!(target: topic::DOOR, address = %caller.ip(), code = "BUSY", "refused");
            if tls.is_none() {
                // As much as fits at once: nobody is waited for.
                let _ = stream.try_write(Refused::Busy.raw_response().as_bytes());
            }
            continue;
        };
        let _ = bound_stall(&stream, &shared.limits);
        tracing::debug!(target: topic::DOOR, address = %caller.ip(), "connected");
        let here = stream.local_addr().unwrap_or(here);
        let caller = Caller::new(caller, here);
        let (tls, serving) = (tls.clone(), Arc::clone(&shared));
        shared.tracker.spawn(async move {
            match tls {
                None => connection::serve(stream, None, caller, guest, serving).await,
                Some(tls) => serve_tls(&tls, stream, caller, guest, serving).await,
            }
        });
    }
}

async fn serve_tls(
    tls: &TlsAcceptor,
    stream: TcpStream,
    caller: Caller,
    guest: Guest,
    shared: Arc<Shared>,
) {
    let shaking = timeout(shared.limits.header_time, tls.accept(stream));
    let Some(Ok(Ok(stream))) = shared.stop.run_until_cancelled(shaking).await else { return };
    let (_, session) = stream.get_ref();
    let spoken = (session.alpn_protocol() == Some(tls::ALPN_H2)).then_some(Spoken::Http2);
    let caller = Caller { certificate: tls::fingerprint(session), ..caller };
    connection::serve(stream, spoken, caller, guest, shared).await;
}

/// Who does not read is cut off by the kernel, whatever is being sent.
fn bound_stall(stream: &TcpStream, limits: &LdpLimits) -> io::Result<()> {
    let millis = u32::try_from(limits.stall_time.as_millis()).unwrap_or(u32::MAX);
    Ok(sockopt::set_tcp_user_timeout(stream, millis)?)
}
