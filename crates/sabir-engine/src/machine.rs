//! The machine of a session: what it is told goes in, what is to be done comes out. It has no
//! channel, clock or file, so that a session is a list of inputs and a fault is a file.
//!
//! Who drives it must keep one order: what [`Output::Emit`], [`Output::Record`] and [`Output::Audit`] say is stored
//! before anything is shown or done that came out with it.

mod audit;
mod calls;
mod compaction;
mod gate;
mod grants;
mod input;
mod output;
mod settings;
mod task;
mod tasks;
mod thread;
mod turns;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use sabir_policy::AuditRow;

pub use grants::GrantRecord;
pub use input::{Input, OfferedTool, PreparedPatch, ToolEvent, ToolResult};
pub use output::{Output, Work};
pub use settings::Settings;
pub use thread::{ApprovalState, Record, thread_at};

use grants::Grants;
use task::{Queued, Task};
use thread::Thread;

use crate::items::Item;
use crate::protocol::{
    AbortReason, Event, EventMsg, Op, PlanStep, Submission, TokenTotals, ToolInfo,
};

/// A session, from before it is configured until it is shut down.
#[derive(Debug, Default)]
pub struct Session {
    state: State,
    outputs: VecDeque<Output>,
    /// The wake-up that was last asked for.
    wake_at: Option<u64>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unconfigured,
    Open(Box<Open>),
    Closed,
}

/// A configured session.
#[derive(Debug)]
struct Open {
    settings: Arc<Settings>,
    /// Tools of other servers, beside the built-in ones.
    external: Vec<OfferedTool>,
    thread: Thread,
    grants: Grants,
    plan: Vec<PlanStep>,
    totals: TokenTotals,
    /// What tasks changed, newest last, each with the number of its task.
    changes: Vec<(u64, serde_json::Value)>,
    /// The names under which a person was ever asked, so that a late answer to one question cannot
    /// be taken for an answer to another.
    asked: HashSet<String>,
    /// What was asked and not answered.
    unanswered: BTreeMap<String, Unanswered>,
    task: Option<Task>,
    queue: VecDeque<Queued>,
    /// Inputs that wait until an aborted task is gone.
    deferred: VecDeque<Input>,
    /// Nobody is there to answer.
    unattended: bool,
    next_key: u64,
    out: VecDeque<Output>,
    closed: bool,
}

/// A question that waits for its answer.
#[derive(Debug)]
struct Unanswered {
    /// What it is about.
    what: String,
    judged: Option<Box<AuditRow>>,
}

/// More than a person queues, and few enough to keep.
const MOST_QUEUED: usize = 64;
const TOO_MUCH_QUEUED: &str = "too much is queued already: wait for a task to end";

const SHUTTING_DOWN: &str = "the engine is shutting down";

/// What a model is told of a call that was stopped, or never started.
const ABORTED: &str = "aborted";

impl Session {
    /// Takes one input. `now` is in milliseconds, from any beginning, and never goes back.
    pub fn handle(&mut self, input: Input, now: u64) {
        match (&mut self.state, input) {
            (_, Input::Tell { sub_id, msg }) => self.emit(sub_id, msg),
            (
                State::Closed,
                Input::Submit(Submission { id, .. }) | Input::Configure { sub_id: id, .. },
            ) => {
                self.error(id, "the engine is shut down".to_owned());
            }
            (State::Unconfigured, Input::Configure { sub_id, settings, stored, external }) => {
                let mut open = Box::new(Open::new(Arc::from(settings), external));
                open.configured(&sub_id, stored, now);
                self.state = State::Open(open);
            }
            (State::Unconfigured, Input::Submit(Submission { id, op: Op::Shutdown })) => {
                self.emit(id, EventMsg::ShutdownComplete);
                self.close();
            }
            (State::Unconfigured, Input::Submit(Submission { id, .. })) => {
                self.error(id, "no session yet: send configure_session first".to_owned());
            }
            (State::Open(open), input) => open.handle(input, now),
            // Late news from work that nobody waits for.
            (
                State::Unconfigured | State::Closed,
                Input::Model { .. }
                | Input::Prepared { .. }
                | Input::Tool { .. }
                | Input::Adopt { .. }
                | Input::External(_)
                | Input::Instructions(_)
                | Input::Unattended
                | Input::Tick,
            ) => {}
        }
        self.collect();
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Whether a task runs or waits.
    pub fn is_busy(&self) -> bool {
        match &self.state {
            State::Open(open) => open.task.is_some() || !open.queue.is_empty(),
            State::Unconfigured | State::Closed => false,
        }
    }

    /// Under which submission the running task tells what it does.
    pub fn task_id(&self) -> Option<&str> {
        match &self.state {
            State::Open(open) => open.task.as_ref().map(|task| task.sub_id.as_str()),
            State::Unconfigured | State::Closed => None,
        }
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Whether the thread can be continued after this response.
    pub fn knows_response(&self, response_id: &str) -> bool {
        match &self.state {
            State::Open(open) => open.thread.knows(response_id),
            State::Unconfigured | State::Closed => false,
        }
    }

    pub fn settings(&self) -> Option<&Settings> {
        match &self.state {
            State::Open(open) => Some(&open.settings),
            State::Unconfigured | State::Closed => None,
        }
    }

    fn collect(&mut self) {
        let State::Open(open) = &mut self.state else { return };
        self.outputs.append(&mut open.out);
        let wake_at = open.next_deadline();
        if wake_at != self.wake_at {
            self.wake_at = wake_at;
            if let Some(at) = wake_at {
                self.outputs.push_back(Output::WakeAt(at));
            }
        }
        if open.closed {
            self.close();
        }
    }

    fn close(&mut self) {
        self.state = State::Closed;
        self.outputs.push_back(Output::Close);
    }

    fn error(&mut self, sub_id: String, message: String) {
        self.emit(sub_id, EventMsg::Error { message });
    }

    fn emit(&mut self, id: String, msg: EventMsg) {
        self.outputs.push_back(Output::Emit(Event { id, msg }));
    }
}

impl Open {
    fn new(settings: Arc<Settings>, external: Vec<OfferedTool>) -> Self {
        Self {
            settings,
            external,
            thread: Thread::default(),
            grants: Grants::default(),
            plan: Vec::new(),
            totals: TokenTotals::default(),
            changes: Vec::new(),
            asked: HashSet::new(),
            unanswered: BTreeMap::new(),
            task: None,
            queue: VecDeque::new(),
            deferred: VecDeque::new(),
            unattended: false,
            next_key: 1,
            out: VecDeque::new(),
            closed: false,
        }
    }

    fn handle(&mut self, input: Input, now: u64) {
        match input {
            Input::Configure { sub_id, settings, stored, external } => {
                self.configure(sub_id, settings, stored, external, now);
            }
            Input::Submit(submission) => self.submit(submission, now),
            Input::Tell { sub_id, msg } => self.emit(&sub_id, msg),
            Input::Unattended => self.leave_unattended(now),
            // Requests are made of what is offered then, so this holds from the next one on.
            Input::External(tools) => self.external = tools,
            Input::Instructions(text) => Arc::make_mut(&mut self.settings).instructions = text,
            Input::Adopt { response_id, thread } => self.adopt(response_id, thread),
            Input::Model { attempt, event } => self.model(attempt, event, now),
            Input::Prepared { key, patch } => self.prepared(key, patch, now),
            Input::Tool { key, event } => self.tool(key, event, now),
            Input::Tick => self.tick(now),
        }
    }

    /// The settings change, and with another session's records the session does too.
    fn configure(
        &mut self,
        sub_id: String,
        settings: Box<Settings>,
        stored: Option<Vec<Record>>,
        external: Vec<OfferedTool>,
        now: u64,
    ) {
        if self.is_shutting_down() {
            return self.fail(&sub_id, SHUTTING_DOWN);
        }
        if self.task.is_some() {
            // The spec: any running execution is aborted when the session is reconfigured.
            self.drop_queue(AbortReason::Reconfigured);
            let input = Input::Configure { sub_id, settings, stored, external };
            return self.defer(input, AbortReason::Reconfigured, now);
        }
        let settings: Arc<Settings> = Arc::from(settings);
        if settings.session_id != self.settings.session_id {
            let (next_key, unattended) = (self.next_key, self.unattended);
            let out = std::mem::take(&mut self.out);
            let deferred = std::mem::take(&mut self.deferred);
            let new = Self::new(settings, external);
            *self = Self { next_key, unattended, out, deferred, ..new };
        } else {
            self.settings = settings;
            self.external = external;
        }
        self.configured(&sub_id, stored, now);
    }

    fn configured(&mut self, sub_id: &str, stored: Option<Vec<Record>>, now: u64) {
        let resumed = stored.is_some();
        for record in stored.unwrap_or_default() {
            self.apply(&record);
        }
        self.record_settings();
        let mut aborted = 0;
        if resumed {
            aborted = self.close_open_calls();
            while self.thread.has_open_aside() {
                self.record(Record::AsideEnd);
                aborted += self.close_open_calls();
            }
            for (call_id, Unanswered { what, judged }) in std::mem::take(&mut self.unanswered) {
                let state = ApprovalState::Aborted;
                self.record(Record::answer(&call_id, state, what));
                if let Some(row) = judged {
                    let row = row.answered(state.mark(), now);
                    self.out.push_back(Output::Audit(Box::new(row)));
                }
            }
        }
        let settings = &self.settings;
        let msg = EventMsg::SessionConfigured {
            session_id: settings.session_id.clone(),
            model: settings.model.clone(),
            cwd: settings.cwd.clone(),
            approval_policy: settings.approval_policy,
            sandbox_policy: settings.sandbox_policy.clone(),
            history_items: self.thread.history().len() as u64,
        };
        self.emit(sub_id, msg);
        if aborted > 0 {
            let message = format!(
                "{aborted} call(s) were open when the session ended; they were not run again, and the model is told that they were aborted"
            );
            self.emit(sub_id, EventMsg::Warning { message });
        }
        self.next(now);
    }

    /// Every call must have an output, or no model takes the thread.
    fn close_open_calls(&mut self) -> usize {
        let open = self.thread.open_calls();
        let count = open.len();
        for call_id in open {
            let output = ABORTED.to_owned();
            self.record_item(Item::FunctionCallOutput { call_id, output });
        }
        count
    }

    /// Makes a response of another session one that this thread can be continued from.
    fn adopt(&mut self, response_id: String, thread: Vec<Record>) {
        self.record(Record::AsideBegin);
        self.record(Record::Branch { after: None });
        for record in thread {
            // What this thread knows by that name stays what it is.
            if !matches!(&record, Record::Turn { response_id, .. } if self.thread.knows(response_id))
            {
                self.record(record);
            }
        }
        self.close_open_calls();
        self.record(Record::Turn { response_id, usage: None });
        self.record(Record::AsideEnd);
    }

    fn submit(&mut self, Submission { id, op }: Submission, now: u64) {
        if self.is_shutting_down() {
            return self.fail(&id, SHUTTING_DOWN);
        }
        match op {
            // Who drives the machine turns this into `Input::Configure`.
            Op::ConfigureSession(_) => self.fail(&id, "this engine cannot be configured from here"),
            Op::UserInput { items, last_response_id, mode } => {
                self.user_input(Queued { sub_id: id, items, last_response_id }, mode, now);
            }
            Op::Interrupt => self.interrupt(&id, now),
            Op::ExecApproval { call_id, decision, prefix } => {
                self.answer(&id, task::Subject::Exec, &call_id, decision, prefix, now);
            }
            Op::PatchApproval { call_id, decision } => {
                self.answer(&id, task::Subject::Patch, &call_id, decision, None, now);
            }
            Op::OverrideTurnContext { cwd, model, approval_policy, sandbox_policy, effort } => {
                let settings = Arc::make_mut(&mut self.settings);
                if let Some(cwd) = cwd {
                    settings.cwd = cwd;
                }
                if let Some(model) = model {
                    settings.model = model;
                }
                settings.approval_policy = approval_policy.unwrap_or(settings.approval_policy);
                if let Some(policy) = sandbox_policy {
                    settings.sandbox_policy = policy;
                }
                settings.effort = effort.or(settings.effort);
                let message = "the settings hold from the next turn on".to_owned();
                self.record_settings();
                self.emit(&id, EventMsg::BackgroundEvent { message });
            }
            op @ (Op::Compact | Op::Undo | Op::Review { .. } | Op::RunUserShellCommand { .. }) => {
                if self.task.is_none() {
                    self.start_other(id, op, now);
                } else {
                    let input = Input::Submit(Submission { id, op });
                    self.defer(input, AbortReason::Replaced, now);
                }
            }
            Op::ListTools => {
                let tools = self.tools();
                self.emit(&id, EventMsg::Tools { tools });
            }
            Op::ListApprovals => {
                let approvals = self.grants.list();
                self.emit(&id, EventMsg::Approvals { approvals });
            }
            Op::RevokeApproval { approval_id } => {
                if self.grants.has(&approval_id) {
                    self.record(Record::Revoked { approval_id });
                    let approvals = self.grants.list();
                    self.emit(&id, EventMsg::Approvals { approvals });
                } else {
                    self.fail(&id, &format!("nothing was approved under {approval_id:?}: list_approvals shows what was"));
                }
            }
            Op::GetHistory => {
                let items = self.thread.history().iter().map(|item| Item::clone(item)).collect();
                let last_response_id = self.thread.last_response().map(str::to_owned);
                self.emit(&id, EventMsg::History { items, last_response_id });
            }
            Op::Shutdown => {
                self.drop_queue(AbortReason::Shutdown);
                if self.task.is_some() {
                    let input = Input::Submit(Submission { id, op: Op::Shutdown });
                    self.defer(input, AbortReason::Shutdown, now);
                } else {
                    self.emit(&id, EventMsg::ShutdownComplete);
                    self.closed = true;
                }
            }
        }
    }

    /// What waits, now that the task before is gone.
    fn next(&mut self, now: u64) {
        while !self.closed && !self.is_aborting() {
            if let Some(input) = self.deferred.pop_front() {
                self.handle(input, now);
            } else if self.task.is_none()
                && let Some(queued) = self.queue.pop_front()
            {
                self.start(queued, now);
            } else {
                return;
            }
        }
    }

    fn is_aborting(&self) -> bool {
        self.task.as_ref().is_some_and(|task| task.aborting.is_some())
    }

    fn is_shutting_down(&self) -> bool {
        self.deferred
            .iter()
            .any(|input| matches!(input, Input::Submit(Submission { op: Op::Shutdown, .. })))
    }

    fn tools(&self) -> Vec<ToolInfo> {
        let mut tools = crate::tools::built_in();
        tools.extend(self.external.iter().map(|tool| tool.info.clone()));
        tools
    }

    fn key(&mut self) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        key
    }

    fn record_item(&mut self, item: Item) {
        self.record(Record::Item { item: Arc::new(item) });
    }

    fn record_settings(&mut self) {
        let settings = Box::new(Settings::clone(&self.settings));
        self.record(Record::Settings { settings });
    }

    fn record(&mut self, record: Record) {
        self.apply(&record);
        self.out.push_back(Output::Record(record));
    }

    /// What a record means, whether it is new or was stored.
    fn apply(&mut self, record: &Record) {
        self.thread.apply(record);
        match record {
            Record::Granted { grant } => self.grants.add(grant.clone()),
            Record::Revoked { approval_id } => self.grants.remove(approval_id),
            Record::Changed { task, undo } => self.changes.push((*task, undo.clone())),
            Record::Undone => self.forget_last_changes(),
            Record::Plan { plan } => self.plan.clone_from(plan),
            Record::Tokens { total } => self.totals = *total,
            Record::Approval { call_id, state: ApprovalState::Requested, what, judged } => {
                self.asked.insert(call_id.clone());
                let unanswered = Unanswered { what: what.clone(), judged: judged.clone() };
                self.unanswered.insert(call_id.clone(), unanswered);
            }
            Record::Approval { call_id, .. } => _ = self.unanswered.remove(call_id),
            Record::Settings { .. }
            | Record::Item { .. }
            | Record::Turn { .. }
            | Record::Branch { .. }
            | Record::AsideBegin
            | Record::AsideEnd
            | Record::Compacted { .. } => {}
        }
    }

    fn emit(&mut self, sub_id: &str, msg: EventMsg) {
        self.out.push_back(Output::Emit(Event { id: sub_id.to_owned(), msg }));
    }

    fn fail(&mut self, sub_id: &str, message: &str) {
        self.emit(sub_id, EventMsg::Error { message: message.to_owned() });
    }
}

/// The changes of a patch, as the wire shows them.
type Changes = BTreeMap<String, crate::protocol::FileChange>;
