//! What the fake model answers, down to the bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

/// One answer: a status, headers, and steps that write or hold the body.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
    /// How the bytes of each step are cut: one write for each piece.
    pieces: Pieces,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Bytes(Vec<u8>),
    /// Nothing more until the gate opens or the client goes away.
    Wait(Gate),
    /// Nothing for so long.
    Pause(Duration),
}

/// What comes after the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The body ends as it should, and the connection can be used again.
    Clean,
    /// The connection breaks in the middle of the body.
    Broken,
    /// The body never ends; the connection stays until the client closes it.
    Open,
}

#[derive(Debug, Clone, Copy)]
enum Pieces {
    Whole,
    Of(usize),
}

impl Reply {
    fn new(status: u16, content_type: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            steps: Vec::new(),
            end: End::Clean,
            pieces: Pieces::Whole,
        }
    }

    /// A stream of events, each as the builders in [`super::responses`] and [`super::chat`] make it.
    pub fn sse(events: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut reply = Self::new(200, "text/event-stream");
        for event in events {
            reply.steps.push(Step::Bytes(event.as_ref().as_bytes().to_vec()));
        }
        reply
    }

    /// Any status with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        let mut reply = Self::new(status, "application/json");
        reply.steps.push(Step::Bytes(body.to_string().into_bytes()));
        reply
    }

    /// Any status with any body.
    pub fn body(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        let mut reply = Self::new(status, content_type);
        reply.steps.push(Step::Bytes(body.as_ref().to_vec()));
        reply
    }

    /// An error in the shape that most providers use.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        Self::json(status, &serde_json::json!({ "error": { "code": code, "message": message } }))
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends these bytes next, whatever they are.
    #[must_use]
    pub fn then(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.steps.push(Step::Bytes(bytes.as_ref().to_vec()));
        self
    }

    /// Sends nothing more until the gate opens or the client goes away.
    #[must_use]
    pub fn then_wait(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Wait(gate.clone()));
        self
    }

    /// Sends nothing for a while: for tests of timers, which nothing else can be.
    #[must_use]
    pub fn then_pause(mut self, pause: Duration) -> Self {
        self.steps.push(Step::Pause(pause));
        self
    }

    /// Never ends the body: the connection stays open until the client closes it.
    #[must_use]
    pub fn then_hold_open(mut self) -> Self {
        self.end = End::Open;
        self
    }

    /// Ends the body cleanly after so many bytes of it, maybe in the middle of an event.
    #[must_use]
    pub fn end_after(mut self, bytes: usize) -> Self {
        self.cut(bytes);
        self
    }

    /// Breaks the connection after so many bytes of the body.
    #[must_use]
    pub fn break_after(mut self, bytes: usize) -> Self {
        self.cut(bytes);
        self.end = End::Broken;
        self
    }

    /// Writes the body in pieces of so many bytes.
    #[must_use]
    pub fn in_pieces(mut self, bytes: usize) -> Self {
        self.pieces = Pieces::Of(bytes.max(1));
        self
    }

    fn cut(&mut self, mut left: usize) {
        for step in &mut self.steps {
            if let Step::Bytes(bytes) = step {
                bytes.truncate(left);
                left -= bytes.len();
            }
        }
    }

    pub(super) fn pieces_of<'b>(&self, bytes: &'b [u8]) -> std::slice::Chunks<'b, u8> {
        bytes.chunks(match self.pieces {
            Pieces::Whole => bytes.len().max(1),
            Pieces::Of(size) => size,
        })
    }
}

/// Something that a reply waits for and a test opens.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    /// A closed one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everyone through who waits, or will wait.
    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
