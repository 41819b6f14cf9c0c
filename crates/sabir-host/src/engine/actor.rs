//! The task that owns a session: it waits, tells the machine, stores what came of it, and only then
//! shows and does it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use sabir_engine::{
    Decoded, EventMsg, Input, ModelEvent, Op, Output, Record, Refusal, Session, Submission,
};
use sabir_store::{Batch, Entry, SessionId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::configure::Configured;
use super::work::PreparedPatches;
use super::{Claim, Engine, Incoming, Shown};
use crate::model::ModelClient;

pub(super) struct Actor {
    pub(super) engine: Engine,
    /// How many agents stand above this one.
    pub(super) depth: u32,
    pub(super) machine: Session,
    incoming: mpsc::Receiver<Incoming>,
    outgoing: mpsc::Sender<Shown>,
    /// Stored, and not yet taken by the reader.
    backlog: VecDeque<Shown>,
    /// What models and tools have to say.
    news: mpsc::Receiver<Input>,
    pub(super) tell: mpsc::Sender<Input>,
    /// Ends one request, or one piece of work.
    pub(super) stops: BTreeMap<u64, CancellationToken>,
    pub(super) prepared: PreparedPatches,
    /// Requests and work; each ends with its number.
    pub(super) running: JoinSet<u64>,
    pub(super) claim: Option<Claim>,
    /// Sessions that were asked for while a task of another one was still being aborted.
    pub(super) next_claims: VecDeque<NextClaim>,
    pub(super) client: Option<ModelClient>,
    started: Instant,
    wake_at: Option<u64>,
    attended: bool,
    reader_gone: bool,
}

/// A session that begins when the one before it is left, and what is stored of it first: its row
/// must stand before anything hangs on it.
pub(super) struct NextClaim {
    pub(super) claim: Claim,
    pub(super) entries: Vec<Entry>,
}

/// What models and tools may say ahead.
const NEWS_ON_THE_WAY: usize = 256;

/// The most that is stored in one go, so that a fast model does not delay what it says.
const MOST_AT_ONCE: usize = 512;

/// A reader that submits without ever reading must not fill the memory.
const MOST_BACKLOG: usize = 4096;

enum Wake {
    Came(Incoming),
    /// Nobody will submit any more.
    Ended,
    News(Input),
    /// The reader took an event.
    Taken,
    ReaderGone,
    Due,
}

impl Actor {
    pub(super) fn new(
        engine: Engine,
        depth: u32,
        incoming: mpsc::Receiver<Incoming>,
        outgoing: mpsc::Sender<Shown>,
    ) -> Self {
        let (tell, news) = mpsc::channel(NEWS_ON_THE_WAY);
        Self {
            engine,
            depth,
            machine: Session::default(),
            incoming,
            outgoing,
            backlog: VecDeque::new(),
            news,
            tell,
            stops: BTreeMap::new(),
            prepared: PreparedPatches::default(),
            running: JoinSet::new(),
            claim: None,
            next_claims: VecDeque::new(),
            client: None,
            started: Instant::now(),
            wake_at: None,
            attended: true,
            reader_gone: false,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            let wake = self.wait().await;
            let keep_going = self.on(wake).await;
            if !keep_going || self.machine.is_closed() || self.is_spent() {
                break;
            }
        }
        self.finish().await;
    }

    /// Nobody submits, and nothing runs.
    fn is_spent(&self) -> bool {
        !self.attended && !self.machine.is_busy()
    }

    async fn wait(&mut self) -> Wake {
        let wake_at = self.wake_at.map(|ms| self.started + Duration::from_millis(ms));
        let is_quiet = self.backlog.is_empty();
        tokio::select! {
            biased;
            came = self.incoming.recv(), if self.attended && self.backlog.len() < MOST_BACKLOG => {
                came.map_or(Wake::Ended, Wake::Came)
            }
            permit = self.outgoing.reserve(), if !is_quiet => match permit {
                Ok(permit) => {
                    if let Some(shown) = self.backlog.pop_front() {
                        permit.send(shown);
                    }
                    Wake::Taken
                }
                Err(_) => Wake::ReaderGone,
            },
            () = self.outgoing.closed(), if !self.reader_gone => Wake::ReaderGone,
            // A slow reader slows the model and the tools, and loses nothing.
            Some(input) = self.news.recv(), if is_quiet => Wake::News(input),
            () = tokio::time::sleep_until(wake_at.unwrap_or(self.started)), if wake_at.is_some() => Wake::Due,
        }
    }

    /// Whether to go on.
    async fn on(&mut self, wake: Wake) -> bool {
        let mut batch = Vec::new();
        match wake {
            Wake::Taken => {
                while !self.backlog.is_empty() {
                    let Ok(permit) = self.outgoing.try_reserve() else { break };
                    if let Some(shown) = self.backlog.pop_front() {
                        permit.send(shown);
                    }
                }
                return true;
            }
            Wake::ReaderGone => return false,
            Wake::Ended => {
                self.attended = false;
                self.handle(Input::Unattended);
            }
            Wake::Came(Incoming::Refused(Refusal { id, message })) => self.refuse(id, message),
            Wake::Came(Incoming::Submission(decoded)) => self.submission(decoded, &mut batch).await,
            Wake::News(input) => {
                self.handle(input);
                let mut count = 1;
                while count < MOST_AT_ONCE
                    && let Ok(input) = self.news.try_recv()
                {
                    self.handle(input);
                    count += 1;
                }
            }
            Wake::Due => {
                self.wake_at = None;
                self.handle(Input::Tick);
            }
        }
        self.carry_out(batch).await
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn handle(&mut self, input: Input) {
        let now = self.now();
        self.machine.handle(input, now);
    }

    fn refuse(&mut self, sub_id: String, message: String) {
        self.handle(Input::Tell { sub_id, msg: EventMsg::Error { message } });
    }

    async fn submission(&mut self, decoded: Decoded, batch: &mut Vec<Entry>) {
        let Decoded { submission, unknown } = decoded;
        if let Ok(body) = serde_json::to_string(&submission) {
            batch.push(Entry::Submission { sub_id: submission.id.clone(), body });
        }
        if !unknown.is_empty() {
            let message = format!("nobody reads {}: is it misspelled?", unknown.join(", "));
            let sub_id = submission.id.clone();
            self.handle(Input::Tell { sub_id, msg: EventMsg::Warning { message } });
        }
        match submission {
            Submission { id, op: Op::ConfigureSession(wanted) } => {
                match self.configure(wanted).await {
                    Ok(Configured { settings, stored, facts, claim }) => {
                        let session = Entry::Session(facts);
                        match claim {
                            // What was submitted belongs to the session that it begins.
                            Some(claim) => {
                                let mut entries = vec![session];
                                entries.append(batch);
                                self.next_claims.push_back(NextClaim { claim, entries });
                            }
                            None => batch.insert(0, session),
                        }
                        self.handle(Input::Configure {
                            sub_id: id,
                            settings: Box::new(settings),
                            stored,
                            external: Vec::new(),
                        });
                    }
                    Err(message) => self.refuse(id, message),
                }
            }
            Submission { id, op: Op::UserInput { items, last_response_id, mode } } => {
                let items = match super::images::embed(items).await {
                    Ok(items) => items,
                    Err(message) => return self.refuse(id, message),
                };
                if let Some(response_id) = &last_response_id
                    && self.machine.settings().is_some()
                    && !self.machine.knows_response(response_id)
                    && let Some(items) = self.find_elsewhere(response_id).await
                {
                    self.handle(Input::Adopt { response_id: response_id.clone(), items });
                }
                let op = Op::UserInput { items, last_response_id, mode };
                self.handle(Input::Submit(Submission { id, op }));
            }
            Submission {
                id,
                op:
                    Op::OverrideTurnContext {
                        cwd: Some(cwd),
                        model,
                        approval_policy,
                        sandbox_policy,
                        effort,
                    },
            } => match super::configure::real_folder(&cwd) {
                Ok(cwd) => {
                    let cwd = Some(cwd);
                    let op = Op::OverrideTurnContext {
                        cwd,
                        model,
                        approval_policy,
                        sandbox_policy,
                        effort,
                    };
                    self.handle(Input::Submit(Submission { id, op }));
                }
                Err(message) => self.refuse(id, message),
            },
            submission => self.handle(Input::Submit(submission)),
        }
    }

    /// Stores what came out of the machine, then shows and does it. Returns whether the session can
    /// go on.
    async fn carry_out(&mut self, mut batch: Vec<Entry>) -> bool {
        let mut shown = Vec::new();
        let mut todo = Vec::new();
        let mut stored = Ok(());
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Emit(event) => {
                    let Ok(line) = serde_json::to_string(&event) else { continue };
                    batch.push(super::journal::event(&event, &line));
                    shown.push(Shown { event, line });
                }
                Output::Record(record) => {
                    if let Record::Settings { settings } = &record
                        && self.begins_session(&settings.session_id)
                    {
                        stored = stored.and(self.store(std::mem::take(&mut batch)).await);
                        if let Some(NextClaim { claim, entries }) = self.next_claims.pop_front() {
                            self.claim = Some(claim);
                            batch = entries;
                        }
                    }
                    batch.extend(super::journal::record(&record));
                }
                Output::WakeAt(at) => self.wake_at = Some(at),
                Output::Close => {}
                output @ (Output::Ask { .. }
                | Output::HangUp { .. }
                | Output::Prepare { .. }
                | Output::Start { .. }
                | Output::Stop { .. }) => todo.push(output),
            }
        }
        if let Err(error) = stored.and(self.store(batch).await) {
            // Nothing may happen that is not remembered. The reader is told, and that is all.
            let event = sabir_engine::Event {
                id: String::new(),
                msg: EventMsg::Error { message: format!("the session ends here: {error}") },
            };
            if let Ok(line) = serde_json::to_string(&event) {
                self.backlog.push_back(Shown { event, line });
            }
            return false;
        }
        self.backlog.extend(shown);
        for output in todo {
            self.perform(output);
        }
        true
    }

    /// Whether what follows belongs to a session that was waiting for its turn.
    fn begins_session(&self, session_id: &str) -> bool {
        self.next_claims.front().is_some_and(|next| next.claim.session_id == session_id)
    }

    async fn store(&mut self, entries: Vec<Entry>) -> Result<(), String> {
        // Before a session is configured there is nothing to remember it by.
        let Some(claim) = &self.claim else { return Ok(()) };
        if entries.is_empty() {
            return Ok(());
        }
        let session_id = SessionId::new(claim.session_id.clone());
        let mut batch = Batch { session_id, at_ms: super::journal::wall_clock_ms(), entries };
        loop {
            let (done, stored) = oneshot::channel();
            let taken = self.engine.shared.store.append(batch, move |result| {
                let _ = done.send(result.map(|_| ()));
            });
            match taken {
                Ok(()) => {
                    return match stored.await {
                        Ok(Ok(())) => Ok(()),
                        Ok(Err(error)) => Err(error.to_string()),
                        Err(_) => Err("the store has stopped".to_owned()),
                    };
                }
                Err(rejected) => {
                    batch = rejected.batch;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Ask { attempt, request } => {
                let Some(client) = self.client.clone() else { return };
                let stop = self.stop_for(attempt);
                let tell = self.tell.clone();
                self.running.spawn(async move {
                    let mut stream = client.open(&request, stop.clone());
                    while let Some(event) = stream.next().await {
                        let is_last =
                            matches!(event, ModelEvent::Completed { .. } | ModelEvent::Failed(_));
                        let input = Input::Model { attempt, event };
                        tokio::select! {
                            sent = tell.send(input) => if sent.is_err() { break },
                            () = stop.cancelled() => break,
                        }
                        if is_last {
                            break;
                        }
                    }
                    attempt
                });
            }
            Output::HangUp { attempt: key } | Output::Stop { key } => {
                if let Some(stop) = self.stops.remove(&key) {
                    stop.cancel();
                }
            }
            Output::Prepare { key, input, cwd } => self.prepare(key, input, cwd),
            Output::Start { key, work } => {
                let stop = self.stop_for(key);
                self.start(key, work, stop);
            }
            Output::Emit(_) | Output::Record(_) | Output::WakeAt(_) | Output::Close => {}
        }
        while let Some(ended) = self.running.try_join_next() {
            if let Ok(key) = ended {
                self.stops.remove(&key);
            }
        }
    }

    fn stop_for(&mut self, key: u64) -> CancellationToken {
        let stop = CancellationToken::new();
        self.stops.insert(key, stop.clone());
        stop
    }

    /// Ends everything that was started, and shows what is left to show.
    async fn finish(mut self) {
        for stop in self.stops.values() {
            stop.cancel();
        }
        drop(self.news);
        while self.running.join_next().await.is_some() {}
        for shown in std::mem::take(&mut self.backlog) {
            if self.outgoing.send(shown).await.is_err() {
                break;
            }
        }
    }
}
