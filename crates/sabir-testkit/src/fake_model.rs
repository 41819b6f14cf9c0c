//! A model server on loopback that says what a test told it to say, byte for byte, and remembers
//! what it was asked.
//!
//! It speaks just enough HTTP/1.1 by hand: a library would not let a test break it in the middle.

pub mod chat;
mod reply;
pub mod responses;
mod server;

use std::collections::VecDeque;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

pub use reply::{Gate, Reply};

/// What the server was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub method: String,
    /// With the query.
    pub path: String,
    /// Names in lower case, in their order.
    pub headers: Vec<(String, String)>,
    /// Null when it is no JSON.
    pub body: Value,
    /// The number of the connection it came by, from zero.
    pub connection: usize,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The server. Dropping it closes every connection and ends its threads.
pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl FakeModel {
    /// Answers with these replies, in their order.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(Answers::Script(replies.into_iter().collect()))
    }

    /// Answers as the function says; `None` makes a request unexpected. The number counts the
    /// requests from zero.
    pub fn answering(
        answer: impl FnMut(&Request, usize) -> Option<Reply> + Send + 'static,
    ) -> Self {
        Self::with(Answers::Function(Box::new(answer)))
    }

    fn with(answers: Answers) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap_or_else(|error| panic!("cannot listen on loopback: {error}"));
        let address = listener
            .local_addr()
            .unwrap_or_else(|error| panic!("a listener has no address: {error}"));
        let shared = Arc::new(Shared::new(answers));
        let acceptor = Some(server::accept(listener, Arc::clone(&shared)));
        Self { address, shared, acceptor }
    }

    /// Adds a reply behind those of the script.
    pub fn push(&self, reply: Reply) {
        match &mut self.shared.lock().answers {
            Answers::Script(replies) => replies.push_back(reply),
            Answers::Function(_) => panic!("a function answers here, not a script"),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a provider's `base_url` would be.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// The requests that no reply was left for; each was answered with 500.
    pub fn unexpected(&self) -> Vec<Request> {
        self.shared.lock().unexpected.clone()
    }

    /// Waits for the request with this number, counted from zero.
    ///
    /// # Panics
    ///
    /// When it does not come in time.
    pub fn wait_for_request(&self, number: usize) -> Request {
        let wanted = format!("request {number}");
        self.shared.wait_for(&wanted, |state| state.requests.get(number).cloned())
    }

    /// Waits until the client has closed the connection with this number, counted from zero.
    ///
    /// # Panics
    ///
    /// When it does not do so in time.
    pub fn wait_for_close(&self, connection: usize) {
        let wanted = format!("the client to close connection {connection}");
        self.shared
            .wait_for(&wanted, |state| state.closed_by_client.contains(&connection).then_some(()));
    }

    /// How many replies were written to their end.
    pub fn finished_replies(&self) -> usize {
        self.shared.lock().finished_replies
    }

    /// How many bytes the clients' sides have taken, over all replies.
    pub fn written_bytes(&self) -> u64 {
        self.shared.lock().written_bytes
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.shared.lock().connections
    }

    /// # Panics
    ///
    /// When a request came that no reply was left for, or a reply is left.
    pub fn assert_done(&self) {
        let state = self.shared.lock();
        assert!(state.unexpected.is_empty(), "unexpected: {:#?}", state.unexpected);
        if let Answers::Script(replies) = &state.answers {
            assert!(replies.is_empty(), "{} replies were not asked for", replies.len());
        }
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        // The acceptor sits in `accept`; a connection wakes it.
        drop(std::net::TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            // It panics only with a test that has failed already.
            let _ = acceptor.join();
        }
    }
}

impl fmt::Debug for FakeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeModel").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What the threads share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    answers: Answers,
    requests: Vec<Request>,
    unexpected: Vec<Request>,
    connections: usize,
    finished_replies: usize,
    written_bytes: u64,
    closed_by_client: Vec<usize>,
    is_over: bool,
}

enum Answers {
    Script(VecDeque<Reply>),
    Function(AnswerFunction),
}

type AnswerFunction = Box<dyn FnMut(&Request, usize) -> Option<Reply> + Send>;

impl Shared {
    fn new(answers: Answers) -> Self {
        let state = State {
            answers,
            requests: Vec::new(),
            unexpected: Vec::new(),
            connections: 0,
            finished_replies: 0,
            written_bytes: 0,
            closed_by_client: Vec::new(),
            is_over: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.lock().is_over
    }

    fn connected(&self) -> usize {
        let mut state = self.lock();
        state.connections += 1;
        state.connections - 1
    }

    fn finished_reply(&self) {
        self.lock().finished_replies += 1;
    }

    fn written(&self, bytes: usize) {
        self.lock().written_bytes += bytes as u64;
    }

    fn closed_by_client(&self, connection: usize) {
        self.lock().closed_by_client.push(connection);
        self.changed.notify_all();
    }

    /// Records the request and finds its reply.
    fn answer(&self, request: Request) -> Reply {
        let mut state = self.lock();
        let number = state.requests.len();
        let reply = match &mut state.answers {
            Answers::Script(replies) => replies.pop_front(),
            Answers::Function(answer) => answer(&request, number),
        };
        if reply.is_none() {
            state.unexpected.push(request.clone());
        }
        state.requests.push(request);
        drop(state);
        self.changed.notify_all();
        reply.unwrap_or_else(|| Reply::error(500, "unexpected", "the test expected no request"))
    }

    fn wait_for<T>(&self, wanted: &str, mut found: impl FnMut(&State) -> Option<T>) -> T {
        let deadline = Instant::now() + LONGEST_WAIT;
        let mut state = self.lock();
        loop {
            if let Some(found) = found(&state) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited in vain for {wanted}");
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Long enough for a machine under load; a test that waits as long has failed.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
