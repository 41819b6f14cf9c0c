//! The initiator: a value machine for one session with one delegate. It opens the session, sends
//! tasks, asks after them, steps down modes, repeats what was lost, and reports each task once. It
//! refuses to know sockets, clocks, keys of the node, and why a task is wanted.

mod answers;
mod handshake;
mod port;
mod sending;
mod settings;
mod tasks;

use std::collections::{BTreeMap, VecDeque};

pub use port::{Arrival, ExchangeId, Input, Output, Report, TaskRequest, UpdateOf};
pub use settings::{InitiatorSettings, Patience, Signing};

use sending::{Due, Exchange};
use tasks::{Task, Wish};

use crate::error::LdpError;
use crate::id::{DelegateId, SessionId, TaskId};
use crate::mode::PayloadMode;
use crate::moment::Moment;
use crate::sign::{SessionKey, SessionKeys};
use crate::time::Timestamp;

/// One session with one delegate, from before it is proposed until it has ended.
#[derive(Debug)]
pub struct Initiator {
    settings: InitiatorSettings,
    phase: Phase,
    agreed: Option<Agreed>,
    tasks: BTreeMap<TaskId, Task>,
    exchanges: BTreeMap<ExchangeId, Exchange>,
    due: BTreeMap<(Timestamp, u64), Due>,
    next_number: u64,
    outputs: VecDeque<Output>,
    now: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    /// HELLO or SESSION_PROPOSE is under way.
    Opening,
    Active,
    Suspending,
    Suspended,
    Closing,
    Ended,
}

/// What SESSION_ACCEPT said.
#[derive(Debug)]
struct Agreed {
    session: SessionId,
    delegate: DelegateId,
    /// The negotiated mode and what to step down to, in this order.
    modes: Vec<PayloadMode>,
    /// The one of them that is used.
    at: usize,
    keys: Option<SessionKeys>,
    /// Counts how often the keys changed.
    epoch: u64,
}

impl Agreed {
    fn mode(&self) -> PayloadMode {
        self.modes.get(self.at).copied().unwrap_or(PayloadMode::Text)
    }
}

impl Initiator {
    pub fn new(settings: InitiatorSettings) -> Self {
        Self {
            settings,
            phase: Phase::Idle,
            agreed: None,
            tasks: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            due: BTreeMap::new(),
            next_number: 0,
            outputs: VecDeque::new(),
            now: Timestamp::default(),
        }
    }

    /// Takes one input; what is to be done comes out of [`poll_output`](Self::poll_output).
    pub fn handle(&mut self, input: Input, moment: &mut Moment) {
        self.now = moment.now();
        match (self.phase, input) {
            (Phase::Ended, Input::Submit(request) | Input::Withdraw(request)) => {
                self.outputs.push_back(Output::Failed { task: request.task_id, error: over() });
            }
            // Late news.
            (Phase::Ended, _) => {}
            (Phase::Idle, Input::Begin) => self.greet(moment),
            (_, Input::Submit(request)) => self.submit(*request, Wish::Done, moment),
            (_, Input::Withdraw(request)) => self.submit(*request, Wish::Undone, moment),
            (_, Input::Cancel { task }) => self.cancel(&task, moment),
            (_, Input::Received { exchange, received, standing }) => {
                self.take_answer(exchange, &received, standing, moment);
            }
            (_, Input::Streamed { received, standing }) => self.take_news(&received, standing),
            (_, Input::TransportFailed { exchange, why, arrival }) => {
                self.attempt_failed(exchange, transport_failed(&why), arrival, moment);
            }
            (_, Input::TurnedAway { exchange, error, arrival }) => {
                self.turned_away(exchange, error, arrival, moment);
            }
            (Phase::Active, Input::Suspend) => self.suspend(moment),
            (Phase::Suspended, Input::Resume) => self.resume(moment),
            (_, Input::Close) => self.close(moment),
            (_, Input::Tick) => self.tick(moment),
            (
                Phase::Opening
                | Phase::Active
                | Phase::Suspending
                | Phase::Suspended
                | Phase::Closing,
                Input::Begin,
            )
            | (
                Phase::Idle
                | Phase::Opening
                | Phase::Suspending
                | Phase::Suspended
                | Phase::Closing,
                Input::Suspend,
            )
            | (
                Phase::Idle | Phase::Opening | Phase::Active | Phase::Suspending | Phase::Closing,
                Input::Resume,
            ) => {}
        }
    }

    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When a [`Input::Tick`] is due.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// The key that the delegate answers a message with, if the message was sent in a session that
    /// has keys.
    pub fn answer_key(&self, exchange: ExchangeId) -> Option<&SessionKey> {
        self.exchanges.get(&exchange)?.answer_key.as_ref()
    }

    pub fn is_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Ends the session: what is not reported yet has failed.
    fn end(&mut self, error: Option<LdpError>) {
        for task in self.tasks.keys().cloned().collect::<Vec<_>>() {
            match &error {
                Some(error) => self.report_lost(&task, error.clone()),
                None => self.report_failed(&task, over()),
            }
        }
        self.exchanges.clear();
        self.due.clear();
        self.phase = Phase::Ended;
        self.outputs.push_back(Output::Ended(error));
    }
}

fn over() -> LdpError {
    crate::error::Refusal::Cancelled.error("the session is over")
}

/// An error of ours about the way to the delegate, in the protocol's words.
fn transport_failed(why: &str) -> LdpError {
    LdpError {
        code: "TRANSPORT_FAILED".to_owned(),
        category: crate::error::ErrorCategory::Transport,
        message: why.to_owned(),
        severity: crate::error::Severity::Error,
        retryable: true,
        partial_output: None,
    }
}
