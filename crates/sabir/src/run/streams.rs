//! Both standard streams. While a question is open nothing is written behind it: a terminal shows
//! one thing at a time, and what comes last must be what is asked.

use std::io::{self, IsTerminal as _, Write as _};

pub(super) struct Streams {
    held: Option<Held>,
    /// An answer that goes to a file disturbs no question.
    out_is_terminal: bool,
    out_state: OutState,
}

/// What waits for the question to be answered.
#[derive(Default)]
struct Held {
    pieces: Vec<(To, String)>,
    bytes: usize,
    dropped: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Out,
    Err,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OutState {
    Open,
    /// A closed pipe ends the show, not the work: the session goes on, and can be resumed.
    Closed,
    Failed,
}

/// As much output of commands as anybody scrolls back for.
const MOST_OUTPUT: usize = 64 * 1024;

/// Everything else that is said is short, and there is an end to it too.
const MOST_WORDS: usize = 1024 * 1024;

impl Streams {
    pub(super) fn new() -> Self {
        let out_is_terminal = io::stdout().is_terminal();
        Self { held: None, out_is_terminal, out_state: OutState::Open }
    }

    /// From now on everything waits.
    pub(super) fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    pub(super) fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// Writes what has waited.
    pub(super) fn release(&mut self) {
        let Some(held) = self.held.take() else { return };
        for (to, text) in held.pieces {
            match to {
                To::Out => self.out(&text),
                To::Err => now(&text),
            }
        }
        if held.dropped > 0 {
            let dropped = held.dropped;
            now(&format!("\n[{dropped} bytes that came during the question are not shown]\n"));
        }
    }

    /// The answer. It is never left out.
    pub(super) fn out(&mut self, text: &str) {
        if let (Some(held), true) = (&mut self.held, self.out_is_terminal) {
            held.pieces.push((To::Out, text.to_owned()));
            return;
        }
        if self.out_state != OutState::Open {
            return;
        }
        let mut out = io::stdout().lock();
        let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) else { return };
        self.out_state = match error.kind() {
            io::ErrorKind::BrokenPipe => OutState::Closed,
            _ => OutState::Failed,
        };
        if self.out_state == OutState::Failed {
            now(&format!("error: standard output cannot be written: {error}\n"));
        }
    }

    /// Whether what belongs on standard output is there.
    pub(super) fn has_failed(&self) -> bool {
        self.out_state == OutState::Failed
    }

    /// What the program itself says.
    pub(super) fn err(&mut self, text: &str) {
        self.err_within(text, MOST_WORDS);
    }

    /// What a command says.
    pub(super) fn output(&mut self, text: &str) {
        self.err_within(text, MOST_OUTPUT);
    }

    fn err_within(&mut self, text: &str, most: usize) {
        match &mut self.held {
            None => now(text),
            Some(held) if held.bytes + text.len() > most => held.dropped += text.len(),
            Some(held) => {
                held.bytes += text.len();
                held.pieces.push((To::Err, text.to_owned()));
            }
        }
    }
}

/// Standard error, at once. When it cannot be written nobody is left to tell.
pub(super) fn now(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
