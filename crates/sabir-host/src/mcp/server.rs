//! One server: a task that owns its connection, starts it again when it died, and keeps its list of
//! tools fresh; and the handle by which others call its tools.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, OptionFuture};
use rmcp::service::{Peer, RoleClient};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::connection::{Connection, Failure, Ground, Listing, list_tools};
use super::error::{McpError, McpNotice};
use super::redaction::Redaction;
use super::tool::{ExternalTool, offer_tools};

/// What all servers share with whoever asks: notices and the news that tools changed.
#[derive(Debug)]
pub(super) struct Board {
    notices: Mutex<Notices>,
    changes: watch::Sender<u64>,
}

/// The latest of them; each has a number, counted from zero.
#[derive(Debug, Default)]
struct Notices {
    kept: VecDeque<McpNotice>,
    /// How many there ever were.
    count: u64,
}

/// The tools that a server offers now.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    tools: Mutex<Arc<[ExternalTool]>>,
}

/// A connection that can be called.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) peer: Peer<RoleClient>,
    pub(super) redaction: Redaction,
    pub(super) generation: u64,
}

pub(super) enum Request {
    /// Asks for a connection, which is opened if there is none.
    Connect { reply: oneshot::Sender<Result<Link, McpError>> },
    /// Tells that a connection failed with `hint`, and asks why.
    Explain { generation: u64, hint: String, reply: oneshot::Sender<String> },
}

/// The task's own state.
pub(super) struct Server {
    ground: Ground,
    board: Arc<Board>,
    shelf: Arc<Shelf>,
    /// Failures since the last answer; callers reset it.
    failures: Arc<AtomicU32>,
    state: State,
    generation: u64,
}

enum State {
    Up(Box<Connection>),
    Down { reason: String, not_before: Instant },
}

impl Board {
    pub(super) fn new() -> Self {
        Self { notices: Mutex::default(), changes: watch::Sender::new(0) }
    }

    pub(super) fn post(&self, server: &str, message: String) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if notices.kept.len() == MAX_NOTICES {
            notices.kept.pop_front();
        }
        notices.kept.push_back(McpNotice { server: server.to_owned(), message });
        notices.count += 1;
        drop(notices);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Those from this number on, and the number of the next.
    pub(super) fn since(&self, number: u64) -> (Vec<McpNotice>, u64) {
        let notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        (notices.since(number), notices.count)
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

impl Notices {
    fn since(&self, number: u64) -> Vec<McpNotice> {
        let first = self.count - self.kept.len() as u64;
        let skipped = usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX);
        self.kept.iter().skip(skipped).cloned().collect()
    }
}

impl Shelf {
    pub(super) fn tools(&self) -> Arc<[ExternalTool]> {
        Arc::clone(&self.tools.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Server {
    /// Connects for the first time. A server that fails says so on the board and offers no tools.
    pub(super) async fn start(
        ground: Ground,
        board: Arc<Board>,
        shelf: Arc<Shelf>,
        failures: Arc<AtomicU32>,
    ) -> Self {
        let state = State::Down { reason: String::new(), not_before: Instant::now() };
        let mut server = Self { ground, board, shelf, failures, state, generation: 0 };
        if let Err(reason) = server.open().await {
            server.notice(format!("did not start, its tools are missing: {reason}"));
        }
        server
    }

    /// Serves until everything stops or nobody can ask any more.
    pub(super) async fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        let mut listing: Option<BoxFuture<'static, Result<Listing, Failure>>> = None;
        let tools_changed = Arc::clone(&self.ground.tools_changed);
        let stop = self.ground.stop.clone();
        loop {
            let is_up = matches!(self.state, State::Up(_));
            let is_listing = listing.is_some();
            tokio::select! {
                // A dead connection is cleared away before anybody is given it.
                biased;
                () = stop.cancelled() => break,
                () = self.ended(), if is_up => {
                    listing = None;
                    self.bury(None).await;
                }
                () = tools_changed.notified(), if is_up && !is_listing => {
                    listing = self.ask_for_tools();
                }
                Some(listed) = OptionFuture::from(listing.as_mut()) => {
                    listing = None;
                    match listed {
                        Ok(listed) => self.publish(&listed),
                        Err(failure) => {
                            self.notice(format!("its new tools are unknown: {}", failure.reason));
                        }
                    }
                }
                request = requests.recv() => match request {
                    None => break,
                    Some(Request::Connect { reply }) => {
                        // Whoever asked may have gone meanwhile; the connection is good for the next.
                        let _ = reply.send(self.connect().await);
                    }
                    Some(Request::Explain { generation, hint, reply }) => {
                        let _ = reply.send(self.explain(generation, hint).await);
                    }
                },
            }
        }
        if let State::Up(connection) = self.state {
            connection.close(PATIENCE).await;
        }
    }

    async fn ended(&mut self) {
        match &mut self.state {
            State::Up(connection) => connection.ended().await,
            State::Down { .. } => std::future::pending().await,
        }
    }

    async fn connect(&mut self) -> Result<Link, McpError> {
        if let State::Down { reason, not_before } = &self.state {
            let left = not_before.saturating_duration_since(Instant::now());
            let server = self.ground.config.name.clone();
            if left > LONGEST_WAIT {
                return Err(McpError::Resting { server, reason: reason.clone(), left });
            }
            tokio::select! {
                () = tokio::time::sleep(left) => {}
                () = self.ground.stop.cancelled() => return Err(McpError::Stopped),
            }
            if let Err(reason) = self.open().await {
                return Err(McpError::Start { server, reason });
            }
            self.notice("was started again".to_owned());
        }
        match &self.state {
            State::Up(connection) => Ok(Link {
                peer: connection.peer.clone(),
                redaction: connection.redaction.clone(),
                generation: self.generation,
            }),
            State::Down { .. } => Err(McpError::Stopped),
        }
    }

    async fn open(&mut self) -> Result<(), String> {
        match Box::pin(self.ground.open()).await {
            Ok((connection, listing)) => {
                self.generation += 1;
                self.state = State::Up(Box::new(connection));
                self.publish(&listing);
                Ok(())
            }
            Err(reason) => {
                self.fall(reason.clone());
                Err(reason)
            }
        }
    }

    async fn explain(&mut self, generation: u64, hint: String) -> String {
        if generation == self.generation && matches!(self.state, State::Up(_)) {
            self.bury(Some(hint.clone())).await;
        }
        match &self.state {
            State::Down { reason, .. } if generation == self.generation => reason.clone(),
            _ => hint,
        }
    }

    /// Clears away a connection that is dead or good for nothing.
    async fn bury(&mut self, hint: Option<String>) {
        let parting = State::Down { reason: String::new(), not_before: Instant::now() };
        let State::Up(connection) = std::mem::replace(&mut self.state, parting) else { return };
        let end = connection.close(PATIENCE_WITH_DEAD).await;
        let reason = end.or(hint).unwrap_or_else(|| "it closed the connection".to_owned());
        self.notice(format!("went away: {reason}"));
        self.fall(reason);
    }

    fn fall(&mut self, reason: String) {
        // The first restart is at once; each failure after it doubles the wait.
        let failures = self.failures.fetch_add(1, Ordering::Relaxed);
        let wait = match failures {
            0 => Duration::ZERO,
            more => FIRST_WAIT.saturating_mul(1 << more.min(10)).min(MAX_WAIT),
        };
        self.state = State::Down { reason, not_before: Instant::now() + wait };
    }

    fn ask_for_tools(&self) -> Option<BoxFuture<'static, Result<Listing, Failure>>> {
        let State::Up(connection) = &self.state else { return None };
        let (peer, limit) = (connection.peer.clone(), self.ground.config.startup_timeout);
        Some(Box::pin(async move {
            let listed = tokio::time::timeout(limit, list_tools(&peer)).await;
            let late = |_| Err("it was too slow to list them".to_owned().into());
            listed.unwrap_or_else(late)
        }))
    }

    fn publish(&self, listing: &Listing) {
        let (tools, remarks) = offer_tools(&self.ground.config, &listing.tools);
        remarks.into_iter().for_each(|remark| self.notice(remark));
        if listing.unreadable > 0 {
            self.notice(format!("lists {} tools that cannot be read", listing.unreadable));
        }
        *self.shelf.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools.into();
        self.board.changes.send_modify(|count| *count += 1);
    }

    fn notice(&self, message: String) {
        self.board.post(&self.ground.config.name, message);
    }
}

/// More than anybody reads; a server that changes its tools all day must not fill memory.
const MAX_NOTICES: usize = 128;

/// A server that was asked politely gets this long to put its things in order.
const PATIENCE: Duration = Duration::from_secs(2);

/// One that closed its output is on its way out already.
const PATIENCE_WITH_DEAD: Duration = Duration::from_millis(500);

const FIRST_WAIT: Duration = Duration::from_millis(250);
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A call waits this long for a restart; beyond it the model should hear about it instead.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
