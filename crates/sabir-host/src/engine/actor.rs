//! The task that owns a session: it waits, tells the machine, has what came of it stored, and only
//! then shows and does it. While the disk works, it goes on listening.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sabir_engine::{
    ConfigureSession, Decoded, EventMsg, Input, ModelEvent, Op, Output, Record, Refusal, Session,
    Settings, Submission, ToolEvent, ToolResult,
};
use sabir_policy::LeftOut;
use sabir_store::Entry;
use sabir_telemetry::{current, within};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::configure::{Configured, Upcoming};
use super::gathered::{Committing, Gathered};
use super::servers::Watched;
use super::spawn::Purse;
use super::work::PreparedPatches;
use super::{Claim, Engine, Incoming, Shown, Standing};
use crate::clock::now_ms;
use crate::model::ModelClient;
use crate::sandbox::usable_root;

pub(super) struct Actor {
    pub(super) engine: Engine,
    pub(super) standing: Standing,
    pub(super) purse: Purse,
    pub(super) machine: Session,
    incoming: mpsc::Receiver<Incoming>,
    outgoing: mpsc::Sender<Shown>,
    /// Came out of the machine, and waits for the part before it to be on disk.
    gathered: Gathered,
    /// Being written.
    committing: Option<Committing>,
    /// Stored, and not yet taken by the reader.
    backlog: Backlog,
    /// What models and tools have to say.
    news: mpsc::Receiver<Input>,
    pub(super) tell: mpsc::Sender<Input>,
    /// Ends one request, or one piece of work.
    pub(super) stops: BTreeMap<u64, CancellationToken>,
    pub(super) prepared: PreparedPatches,
    /// Ends when the patch that was tried last has been told of.
    pub(super) last_prepared: Option<oneshot::Receiver<Infallible>>,
    /// Requests and work; each ends with its number.
    pub(super) running: JoinSet<u64>,
    pub(super) claim: Option<Claim>,
    /// Sessions that this connection goes over to, once the machine has left the one before.
    pub(super) upcoming: VecDeque<Upcoming>,
    pub(super) client: Option<ModelClient>,
    servers: Watched,
    /// Under which news of the servers are told: that of the last `configure_session`.
    configured_by: String,
    started: Instant,
    wake_at: Option<u64>,
    attended: bool,
}

/// What models and tools may say ahead.
const NEWS_ON_THE_WAY: usize = 64;

/// Events for the reader, and how much they hold.
#[derive(Default)]
struct Backlog {
    events: VecDeque<Shown>,
    bytes: usize,
}

/// A reader that submits without ever reading must not fill the memory.
const MOST_BACKLOG: usize = 4096;
const MOST_BACKLOG_BYTES: usize = 16 * 1024 * 1024;

impl Backlog {
    fn extend(&mut self, events: impl IntoIterator<Item = Shown>) {
        for shown in events {
            self.bytes += shown.line.len();
            self.events.push_back(shown);
        }
    }

    fn pop(&mut self) -> Option<Shown> {
        let shown = self.events.pop_front()?;
        self.bytes -= shown.line.len();
        Some(shown)
    }

    fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether more may be submitted while `more` events are on their way here.
    fn has_room(&self, more: usize) -> bool {
        self.events.len() + more < MOST_BACKLOG && self.bytes < MOST_BACKLOG_BYTES
    }
}

enum Wake {
    /// A part is on disk, or could not be written.
    Stored(Result<(), String>),
    Came(Incoming),
    /// Nobody will submit any more.
    Ended,
    News(Input),
    /// The reader took an event.
    Taken,
    ReaderGone,
    Due,
    /// Tools of other servers came, went or changed.
    Servers,
}

/// What a policy makes writable in vain.
fn left_out(settings: &Settings) -> Vec<LeftOut> {
    let policy = &settings.sandbox_policy;
    let own: Vec<PathBuf> = settings.own_state.iter().map(PathBuf::from).collect();
    let mut left_out = sabir_policy::left_out(policy);
    for root in &policy.writable_roots {
        if left_out.iter().any(|it| it.path == *root) {
            continue;
        }
        if let Err(why) = usable_root(Path::new(root), &own) {
            left_out.push(LeftOut { path: root.clone(), why });
        }
    }
    left_out
}

impl Actor {
    pub(super) fn new(
        engine: Engine,
        standing: Standing,
        incoming: mpsc::Receiver<Incoming>,
        outgoing: mpsc::Sender<Shown>,
    ) -> Self {
        let (tell, news) = mpsc::channel(NEWS_ON_THE_WAY);
        Self {
            engine,
            purse: Purse::new(standing.origin.max_tokens),
            standing,
            machine: Session::default(),
            incoming,
            outgoing,
            gathered: Gathered::default(),
            committing: None,
            backlog: Backlog::default(),
            news,
            tell,
            stops: BTreeMap::new(),
            prepared: PreparedPatches::default(),
            last_prepared: None,
            running: JoinSet::new(),
            claim: None,
            upcoming: VecDeque::new(),
            client: None,
            servers: Watched::default(),
            configured_by: String::new(),
            started: Instant::now(),
            wake_at: None,
            attended: true,
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
        let has_room = self.backlog.has_room(self.gathered.count());
        let is_full = self.gathered.is_full();
        let committing = &mut self.committing;
        let is_committing = committing.is_some();
        let stored = async {
            match committing {
                Some(committing) => committing.done.as_mut().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            stored = stored, if is_committing => Wake::Stored(stored),
            came = self.incoming.recv(),
                if self.attended
                    && !self.servers.is_starting()
                    && has_room
                    && !is_full =>
            {
                came.map_or(Wake::Ended, Wake::Came)
            }
            permit = self.outgoing.reserve(), if !is_quiet => match permit {
                Ok(permit) => {
                    if let Some(shown) = self.backlog.pop() {
                        permit.send(shown);
                    }
                    Wake::Taken
                }
                Err(_) => Wake::ReaderGone,
            },
            () = self.outgoing.closed() => Wake::ReaderGone,
            // A slow reader, or a slow disk, slows the model and the tools, and loses nothing.
            Some(input) = self.news.recv(), if is_quiet && !is_full => {
                Wake::News(input)
            }
            () = self.servers.changed() => Wake::Servers,
            () = tokio::time::sleep_until(wake_at.unwrap_or(self.started)), if wake_at.is_some() => Wake::Due,
        }
    }

    /// Whether to go on.
    async fn on(&mut self, wake: Wake) -> bool {
        if !matches!(wake, Wake::Taken | Wake::ReaderGone) {
            // First, so that a turn that begins now begins with the tools that there are now.
            self.learn_of_servers();
        }
        match wake {
            Wake::Stored(Ok(())) => self.carry_out(),
            Wake::Stored(Err(error)) => {
                self.give_up(&error);
                return false;
            }
            Wake::Taken => {
                while !self.backlog.is_empty() {
                    let Ok(permit) = self.outgoing.try_reserve() else { break };
                    if let Some(shown) = self.backlog.pop() {
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
            Wake::Came(Incoming::Submission(decoded)) => self.submission(decoded).await,
            Wake::News(input) => {
                self.handle(input);
                while !self.gathered.is_full()
                    && let Ok(input) = self.news.try_recv()
                {
                    self.handle(input);
                }
            }
            Wake::Servers => {}
            Wake::Due => {
                self.wake_at = None;
                self.handle(Input::Tick);
            }
        }
        self.commit_next();
        true
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn handle(&mut self, input: Input) {
        let now = self.now();
        self.machine.handle(input, now);
        self.gather();
    }

    fn learn_of_servers(&mut self) {
        let Some((tools, notices)) = self.servers.take() else { return };
        self.handle(Input::External(tools));
        for notice in notices {
            let message = notice.to_string();
            let sub_id = self.configured_by.clone();
            self.handle(Input::Tell { sub_id, msg: EventMsg::Warning { message } });
        }
    }

    fn refuse(&mut self, sub_id: String, message: String) {
        self.handle(Input::Tell { sub_id, msg: EventMsg::Error { message } });
    }

    async fn submission(&mut self, decoded: Decoded) {
        let Decoded { submission, unknown } = decoded;
        let entry = serde_json::to_string(&submission)
            .map(|body| Entry::Submission { sub_id: submission.id.clone(), body })
            .ok();
        let tell_unknown = (!unknown.is_empty()).then(|| {
            let message = format!("nobody reads {}: is it misspelled?", unknown.join(", "));
            Input::Tell { sub_id: submission.id.clone(), msg: EventMsg::Warning { message } }
        });
        if let Submission { id, op: Op::ConfigureSession(wanted) } = submission {
            return self.configure_session(id, wanted, entry, tell_unknown).await;
        }
        self.keep(entry);
        if let Some(input) = tell_unknown {
            self.handle(input);
        }
        let Submission { id, op } = submission;
        let (items, last_response_id, mode) = match op {
            Op::UserInput { items, last_response_id, mode } => (items, last_response_id, mode),
            mut op => {
                if let Op::OverrideTurnContext { model: Some(model), .. } = &op
                    && model.trim().is_empty()
                {
                    return self.refuse(id, super::configure::NO_MODEL.to_owned());
                }
                if let Op::OverrideTurnContext { cwd: Some(cwd), .. } = &mut op
                    && let Err(message) = self.move_to(cwd).await
                {
                    return self.refuse(id, message);
                }
                return self.handle(Input::Submit(Submission { id, op }));
            }
        };
        let items = match super::images::embed(items).await {
            Ok(items) => items,
            Err(message) => return self.refuse(id, message),
        };
        if let Some(response_id) = &last_response_id
            && self.machine.settings().is_some()
            && !self.machine.knows_response(response_id)
            && let Some(thread) = self.find_elsewhere(response_id).await
        {
            self.handle(Input::Adopt { response_id: response_id.clone(), thread });
        }
        let op = Op::UserInput { items, last_response_id, mode };
        self.handle(Input::Submit(Submission { id, op }));
    }

    /// Another folder to work in: by its real name, and with what it asks for.
    async fn move_to(&mut self, cwd: &mut String) -> Result<(), String> {
        *cwd = super::configure::real_folder(cwd)?;
        let Some(settings) = self.machine.settings() else { return Ok(()) };
        let own = settings.own_instructions.clone();
        let text = super::configure::compose(PathBuf::from(&*cwd), own).await?;
        self.handle(Input::Instructions(text));
        Ok(())
    }

    async fn configure_session(
        &mut self,
        sub_id: String,
        wanted: ConfigureSession,
        entry: Option<Entry>,
        tell_unknown: Option<Input>,
    ) {
        let Configured { settings, stored, facts, claim, client } =
            match self.configure(wanted).await {
                Ok(configured) => configured,
                Err(message) => {
                    self.keep(entry);
                    return self.refuse(sub_id, message);
                }
            };
        // The row must stand before anything hangs on it.
        let opens: Vec<Entry> = std::iter::once(Entry::Session(facts)).chain(entry).collect();
        match (claim, self.upcoming.back_mut()) {
            // The machine may have to end a task first, and that belongs to the session before.
            (Some(claim), _) if self.claim.is_some() => {
                let settings = settings.clone();
                self.upcoming.push_back(Upcoming { claim, client, settings, opens });
            }
            // It is about the session that is on its way.
            (None, Some(upcoming)) => {
                upcoming.client = client;
                upcoming.settings = settings.clone();
                upcoming.opens.extend(opens);
            }
            (claim, _) => {
                self.claim = claim.or_else(|| self.claim.take());
                self.client = Some(client);
                self.keep(opens);
            }
        }
        tell_unknown.into_iter().for_each(|input| self.handle(input));
        self.configured_by.clone_from(&sub_id);
        let waiting = self.servers.begin(&self.engine);
        let external = self.servers.tools();
        let left_out = left_out(&settings);
        self.handle(Input::Configure {
            sub_id: sub_id.clone(),
            settings: Box::new(settings),
            stored,
            external,
        });
        let left_out = left_out
            .into_iter()
            .map(|folder| format!("{} is not writable: {}", folder.path, folder.why));
        for message in self.engine.recovered().into_iter().chain(left_out) {
            let sub_id = sub_id.clone();
            self.handle(Input::Tell { sub_id, msg: EventMsg::Warning { message } });
        }
        if let Some(message) = waiting {
            self.handle(Input::Tell { sub_id, msg: EventMsg::BackgroundEvent { message } });
        }
        self.learn_of_servers();
    }

    /// Before a session is configured there is nothing to remember it by.
    fn keep(&mut self, entries: impl IntoIterator<Item = Entry>) {
        let Some(claim) = &self.claim else { return };
        for entry in entries {
            self.gathered.keep(&claim.session_id, entry);
        }
    }

    /// Takes what came out of the machine.
    fn gather(&mut self) {
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Emit(event) => {
                    if let EventMsg::TokenCount { total, .. } = &event.msg {
                        self.purse.counted(total.input.saturating_add(total.output));
                    }
                    let Ok(line) = serde_json::to_string(&event) else { continue };
                    self.keep([super::journal::event(&event, &line)]);
                    self.gathered.show(Shown { event, line });
                }
                Output::Record(mut record) => {
                    if let Record::Approval { judged: Some(row), .. } = &mut record {
                        row.at = now_ms();
                    }
                    if let Record::Settings { settings } = &record {
                        self.go_over_to(&settings.session_id);
                    }
                    self.keep(super::journal::record(&record));
                }
                Output::WakeAt(at) => self.wake_at = Some(at),
                Output::Audit(mut row) => {
                    // The machine knows no clock but its own.
                    row.at = now_ms();
                    self.gathered.decided.push(*row);
                }
                Output::Close => {}
                output @ (Output::Ask { .. }
                | Output::HangUp { .. }
                | Output::Prepare { .. }
                | Output::Discard { .. }
                | Output::Start { .. }
                | Output::Stop { .. }) => self.gathered.todo.push(output),
            }
        }
    }

    /// What the machine says from here on belongs to another session.
    fn go_over_to(&mut self, session_id: &str) {
        if self.claim.as_ref().is_some_and(|claim| claim.session_id == session_id) {
            return;
        }
        let next = self.upcoming.iter().position(|it| it.claim.session_id == session_id);
        let Some(Upcoming { claim, client, opens, .. }) =
            next.and_then(|index| self.upcoming.remove(index))
        else {
            return;
        };
        self.gathered.left.extend(self.claim.replace(claim));
        self.client = Some(client);
        self.keep(opens);
    }

    /// Has the next part written, unless one is being written.
    fn commit_next(&mut self) {
        if self.committing.is_none() && !self.gathered.is_empty() {
            let gathered = std::mem::take(&mut self.gathered);
            let shared = &self.engine.shared;
            self.committing = Some(gathered.commit(&shared.store, &shared.audit));
        }
    }

    /// Shows and does what is on disk now.
    fn carry_out(&mut self) {
        let Some(Committing { shown, todo, .. }) = self.committing.take() else { return };
        self.backlog.extend(shown);
        for output in todo {
            self.perform(output);
        }
    }

    /// Nothing may happen that is not remembered. The reader is told, and that is all.
    fn give_up(&mut self, error: &str) {
        self.committing = None;
        self.gathered = Gathered::default();
        let id = self.machine.task_id().unwrap_or_default().to_owned();
        let msg = EventMsg::Error { message: format!("the session ends here: {error}") };
        let event = sabir_engine::Event { id, msg };
        if let Ok(line) = serde_json::to_string(&event) {
            self.backlog.extend([Shown { event, line }]);
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            // It was stopped while this was being written.
            Output::Ask { attempt, .. } if self.gathered.stops(attempt) => {}
            Output::Start { key, .. } if self.gathered.stops(key) => {
                let result = ToolResult { output: "stopped".to_owned(), ..ToolResult::default() };
                self.handle(Input::Tool { key, event: ToolEvent::Finished(result) });
            }
            Output::Ask { attempt, request } => {
                let Some(client) = self.client.clone() else { return };
                let stop = self.stop_for(attempt);
                let tell = self.tell.clone();
                let asking = async move {
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
                };
                self.running.spawn(within(current(), asking));
            }
            Output::HangUp { attempt: key } | Output::Stop { key } => {
                if let Some(stop) = self.stops.remove(&key) {
                    stop.cancel();
                }
            }
            Output::Prepare { key, input, cwd } => self.prepare(key, input, cwd),
            Output::Discard { key } => self.discard(key),
            Output::Start { key, work, settings } => {
                let stop = self.stop_for(key);
                self.start(key, work, settings, stop);
            }
            Output::Emit(_)
            | Output::Record(_)
            | Output::Audit(_)
            | Output::WakeAt(_)
            | Output::Close => {}
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
        // What was decided is remembered; nothing new is begun.
        while let Some(Committing { done, shown, .. }) = self.committing.take() {
            match done.await {
                Ok(()) => self.backlog.extend(shown),
                Err(error) => self.give_up(&error),
            }
            self.commit_next();
        }
        for stop in self.stops.values() {
            stop.cancel();
        }
        drop(self.news);
        while self.running.join_next().await.is_some() {}
        while let Some(shown) = self.backlog.pop() {
            if self.outgoing.send(shown).await.is_err() {
                break;
            }
        }
    }
}
