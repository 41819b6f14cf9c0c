//! What drives the initiator's machine: it signs and sends what the machine puts out, checks who
//! answered, and wakes it. It decides nothing that the machine decides.

use std::collections::BTreeMap;
use std::time::Duration;

use sabir_base::json::Json;
use sabir_ldp::{
    Arrival, Body, Channel, Declined, ErrorCategory, ExchangeId, Initiator,
    InitiatorInput as Input, InitiatorOutput as Output, LdpError, MAX_DEPTH, Means, Moment,
    RecordFault, Refusal, Severity, Standing, TaskId, TaskRequest, verify_provenance,
};
use sabir_ldp::{Envelope, Received, Seal};
use sabir_telemetry::TraceContext;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::clock;
use super::exchange::{Outgoing, Way, Wire, carry};
use super::http::Trouble;
use super::session::{Command, Delivered, ErrandNews, Heard, SessionSetup};

pub(super) struct Driver {
    setup: SessionSetup,
    machine: Initiator,
    errands: BTreeMap<TaskId, Followed>,
    has_streams: bool,
    carrying: JoinSet<()>,
    wires: (mpsc::Sender<Wire>, mpsc::Receiver<Wire>),
    /// Set when it is over, and why.
    ending: watch::Sender<Option<Option<LdpError>>>,
    hearing: watch::Sender<Heard>,
}

/// A task that somebody waits for.
struct Followed {
    news: mpsc::Sender<ErrandNews>,
    /// The last event of its stream.
    last_id: Option<String>,
    carried: Option<AbortHandle>,
    signed_record: Option<Value>,
    trace: Option<TraceContext>,
}

impl Driver {
    pub(super) fn new(
        setup: SessionSetup,
        ending: watch::Sender<Option<Option<LdpError>>>,
        hearing: watch::Sender<Heard>,
    ) -> Self {
        Self {
            machine: Initiator::new(setup.initiator()),
            has_streams: setup.may_stream(),
            setup,
            errands: BTreeMap::new(),
            carrying: JoinSet::new(),
            wires: mpsc::channel(MAX_WIRES),
            ending,
            hearing,
        }
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Command>) {
        self.handle(Input::Begin).await;
        let mut is_held = true;
        while !self.machine.is_ended() {
            let wake = self.machine.next_wake().map(|at| {
                let left = at.millis().saturating_sub(clock::now().millis());
                Duration::from_millis(left)
            });
            let input = tokio::select! {
                biased;
                () = self.setup.leaving.cancelled() => return,
                command = inbox.recv(), if is_held => {
                    is_held = command.is_some();
                    self.obey(command.unwrap_or(Command::Close))
                }
                Some(wire) = self.wires.1.recv() => self.read(wire),
                Some(_) = self.carrying.join_next() => None,
                () = tokio::time::sleep(wake.unwrap_or(Duration::MAX)), if wake.is_some() => {
                    Some(Input::Tick)
                }
            };
            if let Some(input) = input {
                self.handle(input).await;
            }
        }
        // Who came too late hears why, too.
        inbox.close();
        let why = self.ending.borrow().clone().flatten();
        let why = why.unwrap_or_else(|| Refusal::Cancelled.error("the session is over"));
        while let Some(command) = inbox.recv().await {
            if let Command::Submit { news, .. } | Command::Withdraw { news, .. } = command {
                let _ = news.send(ErrandNews::Failed(why.clone())).await;
            }
        }
    }

    fn obey(&mut self, command: Command) -> Option<Input> {
        match command {
            Command::Submit { request, news, trace } => {
                self.follow(&request, news, trace);
                Some(Input::Submit(request))
            }
            Command::Withdraw { request, news, trace } => {
                self.follow(&request, news, trace);
                Some(Input::Withdraw(request))
            }
            Command::Cancel { task } => Some(Input::Cancel { task }),
            Command::Close => Some(Input::Close),
        }
    }

    fn follow(
        &mut self,
        request: &TaskRequest,
        news: mpsc::Sender<ErrandNews>,
        trace: Option<TraceContext>,
    ) {
        let (last_id, carried, signed_record) = (None, None, None);
        let followed = Followed { news, last_id, carried, signed_record, trace };
        self.errands.insert(request.task_id.clone(), followed);
    }

    /// What a message from the delegate is to the machine.
    fn read(&mut self, wire: Wire) -> Option<Input> {
        match wire {
            Wire::Answer { exchange, text } => Some(self.read_answer(exchange, &text)),
            Wire::News { exchange, task, id, text } => self.read_news(exchange, &task, id, &text),
            Wire::Failed { exchange, trouble: Trouble::Passing { why, arrival, .. } } => {
                Some(Input::TransportFailed { exchange, why, arrival })
            }
            Wire::Failed { exchange, trouble: Trouble::Lasting { status, why, arrival } } => {
                Some(Input::TurnedAway { exchange, error: turned_away(status, why), arrival })
            }
            Wire::NoStream { exchange, task, text } => {
                self.has_streams = false;
                self.start(exchange, text, Way::Messages, Some(task));
                None
            }
        }
    }

    fn read_answer(&mut self, exchange: ExchangeId, text: &str) -> Input {
        match Received::read(text) {
            Ok(received) => self.answered(exchange, received),
            Err(malformed) => {
                let why = format!("the answer cannot be read: {malformed}");
                Input::TransportFailed { exchange, why, arrival: Arrival::Unknown }
            }
        }
    }

    fn read_news(
        &mut self,
        exchange: ExchangeId,
        task: &TaskId,
        id: Option<String>,
        text: &str,
    ) -> Option<Input> {
        let followed = self.errands.get_mut(task)?;
        let received = match Received::read(text) {
            Ok(received) => received,
            Err(malformed) => {
                if let Some(stream) = followed.carried.take() {
                    stream.abort();
                }
                let why = format!("an event of the stream cannot be read: {malformed}");
                let arrival = Arrival::Unknown;
                return Some(Input::TransportFailed { exchange, why, arrival });
            }
        };
        if !matches!(received.envelope.body, Body::TaskUpdate(_)) {
            return Some(self.answered(exchange, received));
        }
        // An update that was there before: a delegate may begin a little earlier than it was asked to.
        // The last event counts whatever its number is.
        if is_old(followed.last_id.as_deref(), id.as_deref()) {
            return None;
        }
        let standing = self.recognise(exchange, &received);
        // A forged update is no update that may be passed over: somebody is in between.
        if standing.is_err() {
            return Some(Input::Received { exchange, received: Box::new(received), standing });
        }
        followed_id(&mut self.errands, task, id);
        Some(Input::Streamed { received: Box::new(received), standing })
    }

    fn answered(&mut self, exchange: ExchangeId, received: Received) -> Input {
        let standing =
            self.recognise(exchange, &received).and_then(|it| self.check_record(&received, it));
        Input::Received { exchange, received: Box::new(received), standing }
    }

    fn recognise(&self, exchange: ExchangeId, received: &Received) -> Result<Standing, Declined> {
        let channel = Channel { origin: self.setup.base.answers_as(), credential: None };
        let key = self.machine.answer_key(exchange);
        let standing = self.setup.trust.recognise(received, channel, key);
        let is_itself = standing.as_ref().is_ok_and(|it| {
            it.delegate_id == self.setup.card.delegate_id
                && matches!(it.means, Means::PinnedKey | Means::SessionKey | Means::ReferenceHmac)
        });
        let heard = if is_itself { Heard::Itself } else { Heard::SomebodyElse };
        self.hearing.send_replace(heard);
        Ok(standing?)
    }

    /// A provenance record that is signed must be so by its task, its output and a key that is the
    /// delegate's, where that is known.
    fn check_record(
        &mut self,
        received: &Received,
        standing: Standing,
    ) -> Result<Standing, Declined> {
        let Body::TaskResult(outcome) = &received.envelope.body else { return Ok(standing) };
        let bad = |why: String| Declined { refusal: Refusal::BadSignature, why };
        let json = Json::read(received.text(), MAX_DEPTH).map_err(|error| bad(error.message))?;
        let Some(body) = json.top().get("body") else { return Ok(standing) };
        match verify_provenance(body) {
            Err(RecordFault::Absent) => Ok(standing),
            Err(fault) => Err(bad(format!("the provenance is not its producer's: {fault}"))),
            Ok(key) => {
                let producer = &outcome.provenance.produced_by;
                let known = self.setup.trust.keys(producer);
                if !known.is_empty() && !known.contains(&key) {
                    return Err(bad(format!("the provenance is not signed by {producer}")));
                }
                // A key that nobody knows proves nothing about somebody else.
                if known.is_empty() && *producer != self.setup.card.delegate_id {
                    return Ok(standing);
                }
                if let Some(followed) = self.errands.get_mut(&outcome.task_id) {
                    followed.signed_record = Some(outcome.provenance.to_value());
                }
                Ok(standing)
            }
        }
    }

    async fn handle(&mut self, input: Input) {
        let Some(mut moment) = clock::moment() else { return self.stop_for_want_of_chance().await };
        self.step(input, &mut moment).await;
    }

    async fn step(&mut self, input: Input, moment: &mut Moment) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            self.machine.handle(input, moment);
            while let Some(output) = self.machine.poll_output() {
                inputs.extend(self.act(output).await);
            }
        }
    }

    async fn act(&mut self, output: Output) -> Option<Input> {
        match output {
            Output::Send { exchange, envelope, seal, .. } => self.send(exchange, *envelope, &seal),
            Output::Opened { session, delegate, mode, .. } => {
                let opened = ErrandNews::Opened { session, delegate, mode };
                for followed in self.errands.values() {
                    let _ = followed.news.send(opened.clone()).await;
                }
                None
            }
            Output::Progress(update) => {
                if let Some(followed) = self.errands.get(&update.task) {
                    let _ = followed.news.send(ErrandNews::Progress(update)).await;
                }
                None
            }
            Output::Done(report) => {
                let task = report.outcome.task_id.clone();
                let done = |record| {
                    let delivered = Delivered { report: *report, signed_record: record };
                    ErrandNews::Done(Box::new(delivered))
                };
                self.finish(&task, done).await;
                None
            }
            Output::Failed { task, error } => {
                self.finish(&task, |_| ErrandNews::Failed(error)).await;
                None
            }
            Output::Suspended | Output::NotSuspended(_) => None,
            Output::Ended(error) => {
                self.ending.send_replace(Some(error));
                None
            }
        }
    }

    async fn finish(&mut self, task: &TaskId, news: impl FnOnce(Option<Value>) -> ErrandNews) {
        let Some(followed) = self.errands.remove(task) else { return };
        if let Some(carried) = followed.carried {
            carried.abort();
        }
        let _ = followed.news.send(news(followed.signed_record)).await;
    }

    fn send(&mut self, exchange: ExchangeId, mut envelope: Envelope, seal: &Seal) -> Option<Input> {
        if let Err(error) = seal.apply(&mut envelope, &self.setup.key, &self.setup.trust) {
            let error = Refusal::BadSignature.error(format!("it cannot be signed: {error}"));
            return Some(Input::TurnedAway { exchange, error, arrival: Arrival::Never });
        }
        let task = match &envelope.body {
            Body::TaskSubmit(submission) => Some(submission.task_id.clone()),
            _ => None,
        };
        let way = match &task {
            Some(task) if self.has_streams => {
                let after = self.errands.get(task).and_then(|it| it.last_id.clone());
                Way::Stream { task: task.clone(), after }
            }
            _ => Way::Messages,
        };
        self.start(exchange, envelope.to_text(), way, task);
        None
    }

    /// `task` is the one that is submitted, if it is a task.
    fn start(&mut self, exchange: ExchangeId, text: String, by: Way, task: Option<TaskId>) {
        let silence = self.setup.pace.silence;
        let patience = match &by {
            Way::Messages => self.setup.pace.answer,
            Way::Stream { .. } => silence,
        };
        let patience = match &task {
            Some(_) => self.setup.patience_with_tasks(patience),
            None => patience,
        };
        let (http, base) = (self.setup.http.clone(), self.setup.base.clone());
        let trace = task.as_ref().and_then(|task| self.errands.get(task)?.trace);
        let outgoing = Outgoing { exchange, text, by, patience, silence, trace };
        let handle = self.carrying.spawn(carry(http, base, outgoing, self.wires.0.clone()));
        if let Some(followed) = task.and_then(|task| self.errands.get_mut(&task)) {
            // One way for each task: an older one was cut, or answers nothing any more.
            if let Some(older) = followed.carried.replace(handle) {
                older.abort();
            }
        }
    }

    /// Without random numbers there are no keys and no ids: nothing more can be said.
    async fn stop_for_want_of_chance(&mut self) {
        let error = Refusal::TaskFailed.error("the system has no random numbers");
        for task in self.errands.keys().cloned().collect::<Vec<_>>() {
            self.finish(&task, |_| ErrandNews::Failed(error.clone())).await;
        }
        let mut last = Moment::new(clock::now(), [0; 32]);
        // It ends in whatever phase it is, and what it says is not sent.
        self.machine.handle(Input::Close, &mut last);
        self.ending.send_replace(Some(Some(error)));
    }
}

fn followed_id(errands: &mut BTreeMap<TaskId, Followed>, task: &TaskId, id: Option<String>) {
    if let (Some(followed), Some(id)) = (errands.get_mut(task), id) {
        followed.last_id = Some(id);
    }
}

/// Ids that are numbers go up. Others are only known to be the same or not.
fn is_old(last: Option<&str>, id: Option<&str>) -> bool {
    let (Some(last), Some(id)) = (last, id) else { return false };
    match (last.parse::<u64>(), id.parse::<u64>()) {
        (Ok(last), Ok(id)) => id <= last,
        _ => id == last,
    }
}

/// An error of ours about the way to the delegate, in the protocol's words. Another delegate may be
/// reached all the same.
fn turned_away(status: Option<u16>, why: String) -> LdpError {
    LdpError {
        code: status.map_or_else(|| "ANSWER_REFUSED".to_owned(), |it| format!("HTTP_{it}")),
        category: ErrorCategory::Transport,
        message: why,
        severity: Severity::Error,
        retryable: true,
        partial_output: None,
    }
}

/// What the streams bring waits until the machine has taken what came before.
const MAX_WIRES: usize = 64;
