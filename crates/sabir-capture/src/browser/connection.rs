//! The DevTools conversation over a pipe: calls and their answers, and events. JSON texts, each ended
//! by a zero byte.
//!
//! It knows the frame of a message and nothing of what browsers do. A pipe, because a debugging port
//! would be open to every user of the machine.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallError {
    /// The browser is gone.
    Closed,
    /// The page crashed while it was asked.
    Crashed,
    TimedOut,
    /// The browser says no.
    Rejected(String),
}

/// Something happened that nobody asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub method: String,
    pub session: Option<String>,
    pub params: Value,
}

/// A call that nobody waits for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    pub session: Option<String>,
    pub method: &'static str,
    pub params: Value,
}

/// What answers events. It runs in the task that reads, so it must not wait.
pub(super) trait Listener: Send + 'static {
    fn hear(&mut self, event: Event) -> Vec<Order>;

    /// The pages whose pending calls will never be answered.
    fn is_crashed(&self, session: &str) -> bool;

    fn end(&mut self);
}

/// One end of the conversation. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    next: AtomicU64,
    pending: Mutex<Pending>,
    queue: mpsc::Sender<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Pending {
    is_closed: bool,
    waiting: HashMap<u64, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    session: Option<String>,
    answer: oneshot::Sender<Result<Value, CallError>>,
}

impl Connection {
    /// Starts the two tasks that read and write. They end when the pipe does.
    pub(super) fn start(
        input: impl AsyncRead + Unpin + Send + 'static,
        output: impl AsyncWrite + Unpin + Send + 'static,
        listener: impl Listener,
    ) -> Self {
        let (queue, queued) = mpsc::channel(QUEUE);
        let shared = Arc::new(Shared { next: AtomicU64::new(1), pending: Mutex::default(), queue });
        tokio::spawn(write(output, queued));
        tokio::spawn(read(input, Arc::clone(&shared), listener));
        Self { shared }
    }

    /// Calls `method`, of one page or of the browser, and waits for the answer.
    pub(super) async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Value, CallError> {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        {
            let mut pending = self.shared.pending();
            if pending.is_closed {
                return Err(CallError::Closed);
            }
            let session = session.map(str::to_owned);
            pending.waiting.insert(id, Waiting { session, answer });
        }
        // A caller that gives up leaves nothing behind.
        let _forget = Forget { shared: &self.shared, id };
        let text = message(id, session, method, params);
        let calling = async {
            self.shared.queue.send(text).await.map_err(|_| CallError::Closed)?;
            answered.await.unwrap_or(Err(CallError::Closed))
        };
        timeout(patience, calling).await.unwrap_or(Err(CallError::TimedOut))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.shared.pending().is_closed
    }
}

struct Forget<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.shared.pending().waiting.remove(&self.id);
    }
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, id: u64, result: Result<Value, CallError>) {
        if let Some(waiting) = self.pending().waiting.remove(&id) {
            let _ = waiting.answer.send(result);
        }
    }

    fn fail_crashed(&self, listener: &impl Listener) {
        let mut pending = self.pending();
        let gone: Vec<u64> = pending
            .waiting
            .iter()
            .filter(|(_, it)| it.session.as_deref().is_some_and(|it| listener.is_crashed(it)))
            .map(|(id, _)| *id)
            .collect();
        for id in gone {
            if let Some(waiting) = pending.waiting.remove(&id) {
                let _ = waiting.answer.send(Err(CallError::Crashed));
            }
        }
    }

    fn close(&self) {
        let mut pending = self.pending();
        pending.is_closed = true;
        // Dropped senders tell those who wait.
        pending.waiting.clear();
    }
}

fn message(id: u64, session: Option<&str>, method: &str, params: Value) -> Vec<u8> {
    let mut message = json!({ "id": id, "method": method, "params": params });
    if let Some(session) = session {
        message["sessionId"] = session.into();
    }
    let mut text = message.to_string().into_bytes();
    text.push(0);
    text
}

async fn write(mut output: impl AsyncWrite + Unpin, mut queued: mpsc::Receiver<Vec<u8>>) {
    while let Some(text) = queued.recv().await {
        let sent = async {
            output.write_all(&text).await?;
            output.flush().await
        };
        if sent.await.is_err() {
            return;
        }
    }
}

async fn read(mut input: impl AsyncRead + Unpin, shared: Arc<Shared>, mut listener: impl Listener) {
    let mut buffer = Vec::new();
    let mut chunk = vec![0; CHUNK];
    'reading: loop {
        let count = match input.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        let mut rest = &chunk[..count];
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            buffer.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let Ok(incoming) = serde_json::from_slice::<Incoming>(&buffer) else { break 'reading };
            buffer.clear();
            buffer.shrink_to(CHUNK);
            if !take(incoming, &shared, &mut listener) {
                break 'reading;
            }
        }
        buffer.extend_from_slice(rest);
        if buffer.len() > LONGEST_MESSAGE {
            break;
        }
    }
    listener.end();
    shared.close();
}

/// False when the browser does not read what we write.
fn take(incoming: Incoming, shared: &Shared, listener: &mut impl Listener) -> bool {
    if let Some(id) = incoming.id {
        let result = match incoming.error {
            Some(error) => Err(CallError::Rejected(error.message)),
            None => Ok(incoming.result.unwrap_or_default()),
        };
        shared.answer(id, result);
        return true;
    }
    let Some(method) = incoming.method else { return true };
    let params = incoming.params.unwrap_or_default();
    let is_crash = method == "Inspector.targetCrashed";
    let orders = listener.hear(Event { method, session: incoming.session_id, params });
    if is_crash {
        shared.fail_crashed(listener);
    }
    orders.into_iter().all(|order| {
        let id = shared.next.fetch_add(1, Ordering::Relaxed);
        let text = message(id, order.session.as_deref(), order.method, order.params);
        shared.queue.try_send(text).is_ok()
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Incoming {
    id: Option<u64>,
    method: Option<String>,
    session_id: Option<String>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

/// Calls are few, and each is answered before the next is made.
const QUEUE: usize = 1024;

const CHUNK: usize = 64 * 1024;

/// The HTML of a page is the longest thing we ask for, and we ask for at most half of this.
const LONGEST_MESSAGE: usize = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo(mpsc::UnboundedSender<String>);

    impl Listener for Echo {
        fn hear(&mut self, event: Event) -> Vec<Order> {
            let _ = self.0.send(event.method);
            vec![Order { session: event.session, method: "Heard.it", params: json!({}) }]
        }

        fn is_crashed(&self, session: &str) -> bool {
            session == "crashed"
        }

        fn end(&mut self) {
            let _ = self.0.send("end".to_owned());
        }
    }

    struct Peer {
        to_us: tokio::io::DuplexStream,
        from_us: tokio::io::DuplexStream,
        heard: mpsc::UnboundedReceiver<String>,
        connection: Connection,
    }

    impl Peer {
        fn new() -> Self {
            let (to_us, input) = tokio::io::duplex(1 << 16);
            let (output, from_us) = tokio::io::duplex(1 << 16);
            let (hear, heard) = mpsc::unbounded_channel();
            let connection = Connection::start(input, output, Echo(hear));
            Self { to_us, from_us, heard, connection }
        }

        fn call(
            &self,
            session: Option<&'static str>,
        ) -> tokio::task::JoinHandle<Result<Value, CallError>> {
            let connection = self.connection.clone();
            tokio::spawn(async move {
                connection.call(session, "Do.it", json!({}), Duration::from_secs(60)).await
            })
        }

        async fn next_message(&mut self) -> Value {
            let mut text = Vec::new();
            loop {
                match self.from_us.read_u8().await.unwrap() {
                    0 => return serde_json::from_slice(&text).unwrap(),
                    byte => text.push(byte),
                }
            }
        }
    }

    #[tokio::test]
    async fn answers_find_their_calls_however_the_pipe_cuts_them() {
        let mut peer = Peer::new();
        let call = peer.call(Some("s"));
        let sent = peer.next_message().await;
        assert_eq!(sent["sessionId"], "s");
        let answer = format!("{{\"id\":{},\"result\":{{\"ok\":true}}}}\0", sent["id"]);
        for byte in answer.bytes() {
            peer.to_us.write_all(&[byte]).await.unwrap();
        }
        assert_eq!(call.await.unwrap(), Ok(json!({ "ok": true })));
    }

    #[tokio::test]
    async fn events_are_heard_and_obeyed() {
        let mut peer = Peer::new();
        peer.to_us
            .write_all(b"{\"method\":\"A.b\",\"sessionId\":\"s\",\"params\":{}}\0")
            .await
            .unwrap();
        assert_eq!(peer.heard.recv().await.as_deref(), Some("A.b"));
        let order = peer.next_message().await;
        assert_eq!((&order["method"], &order["sessionId"]), (&json!("Heard.it"), &json!("s")));
    }

    #[tokio::test]
    async fn who_waits_for_a_crashed_page_is_told_and_others_wait_on() {
        let mut peer = Peer::new();
        let lost = peer.call(Some("crashed"));
        peer.next_message().await;
        let kept = peer.call(Some("other"));
        let sent = peer.next_message().await;
        peer.to_us.write_all(b"{\"method\":\"Inspector.targetCrashed\"}\0").await.unwrap();
        assert_eq!(lost.await.unwrap(), Err(CallError::Crashed));
        let answer = format!("{{\"id\":{},\"error\":{{\"message\":\"no\"}}}}\0", sent["id"]);
        peer.to_us.write_all(answer.as_bytes()).await.unwrap();
        assert_eq!(kept.await.unwrap(), Err(CallError::Rejected("no".to_owned())));
    }

    #[tokio::test]
    async fn the_end_of_the_pipe_ends_all_calls() {
        for last_words in [&b""[..], b"{\"id\":1,", b"nonsense\0"] {
            let mut peer = Peer::new();
            let call = peer.call(None);
            peer.next_message().await;
            peer.to_us.write_all(last_words).await.unwrap();
            drop(peer.to_us);
            assert_eq!(call.await.unwrap(), Err(CallError::Closed));
            assert_eq!(peer.heard.recv().await.as_deref(), Some("end"));
            let late = peer.connection.call(None, "Do.it", json!({}), Duration::from_secs(60));
            assert_eq!(late.await, Err(CallError::Closed));
        }
    }
}
