//! A forward proxy on loopback. All traffic of the browser goes through it, so that every connection
//! that a page causes is judged by the guard and goes to the addresses that were judged.
//!
//! It serves whoever knows the secret, which is our browser alone. It reads no page, keeps nothing
//! but what it refused, and ends with its owner.

mod forward;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, JoinSet};

use crate::egress::{Guard, Refused};

/// The running proxy. Dropped, it ends with all of its connections.
pub(crate) struct Proxy {
    address: SocketAddr,
    secret: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// `secret` is what the browser has to show.
    pub(crate) async fn start(guard: Guard, secret: String) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let pair = base64::prelude::BASE64_STANDARD.encode(format!("{USER}:{secret}"));
        let shared = Arc::new(Shared {
            guard,
            credentials: format!("Basic {pair}"),
            refused: Mutex::default(),
            greeted: Notify::new(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, secret, shared, accepting })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// Ends when somebody who knows the secret has asked for [`GREETING`].
    pub(crate) async fn greeted(&self) {
        self.shared.greeted.notified().await;
    }

    /// What was refused since the last call: hosts and ports, oldest first.
    pub(crate) fn take_refused(&self) -> Vec<(u16, Refused)> {
        std::mem::take(&mut *self.shared.refusals()).into()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

struct Shared {
    guard: Guard,
    credentials: String,
    refused: Mutex<VecDeque<(u16, Refused)>>,
    greeted: Notify,
}

impl Shared {
    fn refusals(&self) -> std::sync::MutexGuard<'_, VecDeque<(u16, Refused)>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, port: u16, refused: Refused) {
        let mut all = self.refusals();
        if all.iter().any(|(seen, earlier)| *seen == port && *earlier == refused) {
            return;
        }
        if all.len() == MOST_REFUSALS {
            all.pop_front();
        }
        all.push_back((port, refused));
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    // Dropped with this task, it ends them all.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, most likely: others will end.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            serve(stream, shared).await;
            drop(permit);
        });
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let tunnel = Arc::new(Mutex::new(None));
    let service = service_fn(|request| {
        let (shared, tunnel) = (Arc::clone(&shared), Arc::clone(&tunnel));
        async move { forward::answer(request, &shared, &tunnel).await }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    let asked = tunnel.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (Ok(()), Some(forward::Tunnel { upgrade, mut upstream })) = (served, asked) else { return };
    if let Ok(browser) = upgrade.await {
        // How a tunnel ends is between its two ends.
        let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(browser), &mut upstream).await;
    }
}

/// The user name of the credentials. The secret is the password.
pub(crate) const USER: &str = "sabir";

/// An address that only this proxy answers. Asking for it teaches the browser the credentials.
pub(crate) const GREETING: &str = "http://greeting.sabir.invalid/";

/// A browser opens 32 to one proxy for pages, and as many again for sockets.
const MOST_CONNECTIONS: usize = 256;

const MOST_REFUSALS: usize = 64;

/// The browser sends its heads at once, but keeps connections for later.
const HEAD_TIMEOUT: Duration = Duration::from_secs(300);

const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
