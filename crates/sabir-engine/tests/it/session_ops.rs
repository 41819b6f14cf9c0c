//! Any bytes as a list of inputs to a machine: submissions of every kind, news of models and tools in
//! any order and with old numbers, and time. What must hold whatever comes is asserted on the way.
//! The fuzz target of the same name uses this file too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sabir_engine::{
    EventMsg, ExecOutput, FailureKind, FileChange, Input, InputMode, Item, ModelEvent,
    ModelFailure, ModelRequest, Op, Output, OutputStream, PreparedPatch, Record, Session, Settings,
    Submission, ToolCall, ToolEvent, ToolResult, Usage, Work,
};
use serde_json::{Value, json};

/// How often things happened, to show that the bytes lead somewhere.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: usize,
    pub(crate) works: usize,
    pub(crate) stops: usize,
    pub(crate) approvals: usize,
    pub(crate) completed: usize,
    pub(crate) aborted: usize,
    pub(crate) compacted: usize,
    pub(crate) undone: usize,
    pub(crate) rebuilt: usize,
}

/// Drives a machine with the bytes.
pub(crate) fn drive(bytes: &[u8]) -> Seen {
    let mut run = Run::new(bytes);
    run.configure();
    while !run.tape.is_over() {
        run.step();
    }
    run.check_rebuilt();
    run.seen
}

/// Numbers out of bytes; nothing but zeros after the end.
struct Tape<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl Tape<'_> {
    fn is_over(&self) -> bool {
        self.bytes.len() == 0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::from(*self.bytes.next().unwrap_or(&0)) % bound
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

struct Run<'b> {
    tape: Tape<'b>,
    machine: Session,
    now: u64,
    inputs: usize,
    submitted: BTreeSet<String>,
    /// What must be answered and is not yet.
    unanswered: BTreeSet<String>,
    shut_down: bool,
    session_id: Option<String>,
    records: Vec<Record>,
    /// What the events say.
    task: Option<String>,
    attempt: Option<u64>,
    /// Work that runs, and whether it only reads.
    works: BTreeMap<u64, bool>,
    stopped: BTreeSet<u64>,
    prepares: Vec<u64>,
    asked: Vec<String>,
    responses: Vec<String>,
    history: Option<(Vec<Item>, Option<String>)>,
    approvals: Option<Value>,
    seen: Seen,
}

impl<'b> Run<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self {
            tape: Tape { bytes: bytes.iter() },
            machine: Session::default(),
            now: 0,
            inputs: 0,
            submitted: BTreeSet::new(),
            unanswered: BTreeSet::new(),
            shut_down: false,
            session_id: None,
            records: Vec::new(),
            task: None,
            attempt: None,
            works: BTreeMap::new(),
            stopped: BTreeSet::new(),
            prepares: Vec::new(),
            asked: Vec::new(),
            responses: Vec::new(),
            history: None,
            approvals: None,
            seen: Seen::default(),
        }
    }

    fn id(&mut self) -> String {
        let id = format!("s{}", self.submitted.len());
        self.submitted.insert(id.clone());
        id
    }

    fn configure(&mut self) {
        let approval = self.tape.of(&["on-request", "untrusted", "on-failure", "never"]);
        let sandbox = self.tape.of(&["workspace-write", "read-only", "danger-full-access"]);
        let settings = json!({
            "session_id": self.tape.of(&["s", "s", "s", "s", "s", "s", "s", "t"]), "model": "m", "provider": {}, "cwd": "/w", "instructions": "",
            "approval_policy": approval, "sandbox_policy": { "mode": sandbox },
            "request_max_retries": self.tape.below(3), "stream_max_retries": self.tape.below(3),
            "approval_timeout_ms": self.tape.of(&[Value::Null.as_u64(), Some(0), Some(400)]),
            "context_window": self.tape.of(&[None, Some(1000)]),
        });
        let settings: Settings = serde_json::from_value(settings).unwrap();
        let (sub_id, settings) = (self.id(), Box::new(settings));
        self.unanswered.insert(sub_id.clone());
        self.handle(Input::Configure { sub_id, settings, stored: None, external: Vec::new() });
    }

    fn submit(&mut self, op: Value) {
        let op: Op = serde_json::from_value(op).unwrap();
        let id = self.id();
        self.shut_down |= matches!(op, Op::Shutdown);
        let is_answered_elsewhere = match &op {
            Op::ExecApproval { .. } | Op::PatchApproval { .. } | Op::Interrupt => true,
            Op::UserInput { mode, .. } => *mode == InputMode::Steer,
            _ => false,
        };
        if !is_answered_elsewhere {
            self.unanswered.insert(id.clone());
        }
        self.handle(Input::Submit(Submission { id, op }));
    }

    fn step(&mut self) {
        match self.tape.below(48) {
            0 => self.configure(),
            1..=4 => {
                let known = self.responses.len();
                let after = match self.tape.below(4) {
                    0 if known > 0 => Some(self.responses[self.tape.below(known)].clone()),
                    1 => Some("never heard of".to_owned()),
                    _ => None,
                };
                let mode = self.tape.of(&["replace", "steer", "queue"]);
                let text = self.tape.of(&["go on", "something else", " "]);
                self.submit(json!({
                    "type": "user_input", "items": [{ "type": "text", "text": text }],
                    "last_response_id": after, "mode": mode,
                }));
            }
            5 => self.submit(json!({ "type": "interrupt" })),
            6..=8 => {
                let asked = self.asked.len();
                let call_id = match asked {
                    0 => "c0".to_owned(),
                    _ => self.asked[self.tape.below(asked)].clone(),
                };
                let kind = self.tape.of(&["exec_approval", "patch_approval"]);
                let decision =
                    self.tape.of(&["approved", "approved_for_session", "denied", "abort"]);
                self.submit(json!({ "type": kind, "call_id": call_id, "decision": decision }));
            }
            9 => {
                let approval = self.tape.of(&["never", "untrusted"]);
                self.submit(
                    json!({ "type": "override_turn_context", "approval_policy": approval }),
                );
            }
            10 => self.submit(json!({ "type": "compact" })),
            11 => self.submit(json!({ "type": "undo" })),
            12 => self.submit(json!({ "type": "review" })),
            13 => self.submit(json!({ "type": "run_user_shell_command", "command": "ls" })),
            14 => {
                let kind = self.tape.of(&["list_tools", "list_approvals", "get_history"]);
                self.submit(json!({ "type": kind }));
            }
            15 => {
                let approval_id = self.tape.of(&["a1", "a2"]);
                self.submit(json!({ "type": "revoke_approval", "approval_id": approval_id }));
            }
            16 => match self.tape.below(16) {
                0 => self.submit(json!({ "type": "shutdown" })),
                1 => self.handle(Input::Unattended),
                _ => self.check_rebuilt(),
            },
            17 => {
                let said = [Item::user("elsewhere"), self.call_item()];
                let mut thread: Vec<Record> =
                    said.into_iter().map(|item| Record::Item { item: Arc::new(item) }).collect();
                let between = Record::Turn { response_id: "r2".to_owned(), usage: None };
                thread.insert(1, between);
                let response_id = format!("far{}", self.responses.len());
                self.responses.push(response_id.clone());
                self.handle(Input::Adopt { response_id, thread });
            }
            18..=35 => {
                let attempt = self.number(self.attempt);
                let event = self.model_event();
                let ends = matches!(event, ModelEvent::Completed { .. } | ModelEvent::Failed(_));
                if ends && self.attempt == Some(attempt) {
                    self.attempt = None;
                }
                self.handle(Input::Model { attempt, event });
            }
            36..=38 => {
                let prepares = self.prepares.len();
                let key = match prepares {
                    0 => None,
                    _ => Some(self.prepares[self.tape.below(prepares)]),
                };
                let path = self.tape.of(&["/w/a", "/elsewhere/a"]).to_owned();
                let content = "new\n".to_owned();
                let changes = BTreeMap::from([("a".to_owned(), FileChange::Add { content })]);
                let patch = match self.tape.below(4) {
                    0 => Err("it does not fit".to_owned()),
                    _ => Ok(PreparedPatch {
                        changes,
                        unified_diff: "+new\n".to_owned(),
                        paths: vec![path],
                    }),
                };
                let key = self.number(key);
                self.handle(Input::Prepared { key, patch });
            }
            39..=44 => {
                let works = self.works.len();
                let key = match works {
                    0 => None,
                    _ => self.works.keys().nth(self.tape.below(works)).copied(),
                };
                let key = self.number(key);
                let event = self.tool_event();
                if matches!(event, ToolEvent::Finished(_)) {
                    self.works.remove(&key);
                }
                self.handle(Input::Tool { key, event });
            }
            _ => {
                self.now += self.tape.of(&[0, 1, 500, 6_000, 60_000]);
                self.handle(Input::Tick);
            }
        }
    }

    /// Mostly the right number; sometimes an old one, or one that never was.
    fn number(&mut self, right: Option<u64>) -> u64 {
        match (self.tape.below(8), right) {
            (0, _) | (_, None) => self.tape.below(64) as u64,
            (_, Some(right)) => right,
        }
    }

    fn call_item(&mut self) -> Item {
        let calls = [
            ("shell", json!({ "command": ["ls"] })),
            ("shell", json!({ "command": ["rm", "-rf", "x"] })),
            ("shell", json!({ "command": ["make"], "with_escalated_permissions": true })),
            ("shell", json!({ "command": [] })),
            ("apply_patch", json!({ "input": "*** Begin Patch\n*** End Patch" })),
            ("shell", json!({ "command": ["apply_patch", "*** Begin Patch\n*** End Patch"] })),
            ("read_file", json!({ "path": "a" })),
            ("search", json!({ "pattern": "a" })),
            ("update_plan", json!({ "plan": [{ "step": "one", "status": "pending" }] })),
            ("spawn_agent", json!({ "task": "help" })),
            ("fly", json!({})),
            ("read_file", json!("no object")),
        ];
        let (name, arguments) = &calls[self.tape.below(calls.len())];
        let call_id = self.tape.of(&["c0", "c1", "c2", ""]).to_owned();
        Item::FunctionCall { call_id, name: (*name).to_owned(), arguments: arguments.to_string() }
    }

    fn model_event(&mut self) -> ModelEvent {
        match self.tape.below(16) {
            0 => ModelEvent::TextDelta("word ".to_owned()),
            1 => ModelEvent::ReasoningDelta("hm ".to_owned()),
            2 => ModelEvent::ItemDone(Item::assistant("said")),
            3 => {
                let (call_id, output) = ("c0".to_owned(), "made up".to_owned());
                ModelEvent::ItemDone(Item::FunctionCallOutput { call_id, output })
            }
            4 => ModelEvent::ItemDone(Item::Other(json!({ "type": "new", "a": 1 }))),
            5..=10 => ModelEvent::ItemDone(self.call_item()),
            11..=13 => {
                let response_id = self.tape.of(&["r1", "r2", "r3", "r4", "r5", ""]).to_owned();
                let input = self.tape.of(&[1, 2_000]);
                let usage = Usage { input, ..Usage::default() };
                let usage = (self.tape.below(2) == 0).then_some(usage);
                ModelEvent::Completed { response_id, usage }
            }
            _ => {
                let kind = self.tape.of(&[
                    FailureKind::Connect,
                    FailureKind::RateLimited,
                    FailureKind::Server,
                    FailureKind::Disconnected,
                    FailureKind::Idle,
                    FailureKind::Incomplete,
                    FailureKind::ContextLength,
                    FailureKind::Refused,
                ]);
                let (message, retry_after_ms) =
                    ("broken".to_owned(), self.tape.of(&[None, Some(5)]));
                ModelEvent::Failed(ModelFailure { kind, message, retry_after_ms })
            }
        }
    }

    fn tool_event(&mut self) -> ToolEvent {
        let exec = |exit_code| Some(ExecOutput { exit_code, ..ExecOutput::default() });
        let output = "output".to_owned();
        ToolEvent::Finished(match self.tape.below(6) {
            0 => {
                return ToolEvent::Output { stream: OutputStream::Stdout, chunk: output };
            }
            1 => ToolResult { output, exec: exec(1), ..ToolResult::default() },
            2 => {
                ToolResult { output, exec: exec(1), sandbox_denied: true, ..ToolResult::default() }
            }
            3 => ToolResult {
                success: true,
                output,
                undo: Some(json!("back")),
                ..ToolResult::default()
            },
            4 => ToolResult::default(),
            _ => ToolResult { success: true, output, exec: exec(0), ..ToolResult::default() },
        })
    }

    fn handle(&mut self, input: Input) {
        self.inputs += 1;
        // What is stored is put in, too.
        if let Input::Configure { stored: Some(records), .. } = &input {
            self.inputs += records.len();
        }
        self.machine.handle(input, self.now);
        let (mut count, mut audited) = (0, 0);
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Audit(_) => audited += 1,
                _ => count += 1,
            }
            self.see(output);
        }
        // Whatever is put in, what comes out is in proportion to all that was put in.
        assert!(count <= 64 + 8 * self.inputs, "{count} outputs");
        assert!(audited <= 64 + 8 * self.inputs, "{audited} rows for the audit");
        assert!(self.task.is_none() || self.machine.is_busy(), "a task runs, and nobody is busy");
        if !self.machine.is_busy() {
            assert_eq!(self.unanswered, BTreeSet::new(), "nobody said anything about these");
        }
    }

    fn see(&mut self, output: Output) {
        match output {
            Output::Emit(event) => {
                assert!(self.submitted.contains(&event.id), "nobody submitted {:?}", event.id);
                self.unanswered.remove(&event.id);
                self.see_event(event.id, event.msg);
            }
            Output::Record(record) => {
                if let Record::Settings { settings } = &record
                    && self.session_id.replace(settings.session_id.clone())
                        != Some(settings.session_id.clone())
                {
                    // The session before is left.
                    self.records.clear();
                    self.asked.clear();
                    self.responses.clear();
                }
                self.seen.compacted += usize::from(matches!(record, Record::Compacted { .. }));
                self.seen.undone += usize::from(matches!(record, Record::Undone));
                self.records.push(record);
            }
            Output::Ask { attempt, request } => {
                assert!(self.task.is_some(), "a request without a task");
                assert_eq!(self.attempt.replace(attempt), None, "two requests at once");
                assert!(self.works.is_empty(), "a request while something runs");
                check_request(&request);
                self.seen.requests += 1;
            }
            Output::HangUp { attempt } => {
                assert_eq!(self.attempt.take(), Some(attempt), "nobody is there to hang up on");
            }
            Output::Prepare { key, .. } => self.prepares.push(key),
            Output::Discard { .. } | Output::Audit(_) => {}
            Output::Start { key, work, .. } => {
                assert!(self.task.is_some(), "work without a task");
                let reads = matches!(
                    work,
                    Work::Call(ToolCall::ReadFile(_) | ToolCall::Search(_) | ToolCall::ListDir(_))
                );
                // Another agent may only read, or not: it is not looked into here.
                let unsure = matches!(work, Work::Call(ToolCall::SpawnAgent(_)));
                let alone = self.works.values().all(|it| *it) && (reads || self.works.is_empty());
                assert!(alone || unsure, "{work:?} beside {:?}", self.works);
                assert_eq!(self.works.insert(key, reads || unsure), None, "one number twice");
                self.seen.works += 1;
            }
            Output::Stop { key } => {
                assert!(self.works.contains_key(&key), "nothing runs under {key}");
                self.stopped.insert(key);
                self.seen.stops += 1;
            }
            Output::WakeAt(_) => {}
            Output::Close => assert!(self.machine.is_closed()),
        }
    }

    fn see_event(&mut self, id: String, msg: EventMsg) {
        match msg {
            EventMsg::TaskStarted { .. } => {
                assert_eq!(self.task.replace(id), None, "two tasks at once");
                assert!(!self.shut_down, "a task begins after the end");
            }
            EventMsg::TaskComplete { .. } => {
                assert_eq!(self.task, Some(id), "a task that does not run is complete");
                assert!(self.works.is_empty(), "complete while something runs");
                self.seen.completed += 1;
                self.end_task();
            }
            EventMsg::TurnAborted { .. } | EventMsg::Error { .. }
                if self.task == Some(id.clone()) =>
            {
                self.seen.aborted += 1;
                self.end_task();
            }
            EventMsg::TurnComplete { response_id } => {
                assert_eq!(self.task, Some(id), "a turn without its task");
                assert!(!self.responses.contains(&response_id), "two responses with one name");
                self.responses.push(response_id);
            }
            EventMsg::ExecApprovalRequest { call_id, .. }
            | EventMsg::ApplyPatchApprovalRequest { call_id, .. } => {
                self.seen.approvals += 1;
                assert!(!self.asked.contains(&call_id), "two questions with one name");
                self.asked.push(call_id);
            }
            EventMsg::History { items, last_response_id } => {
                self.history = Some((items, last_response_id));
            }
            EventMsg::Approvals { approvals } => {
                self.approvals = Some(serde_json::to_value(approvals).unwrap());
            }
            EventMsg::AgentMessage { .. }
            | EventMsg::AgentMessageDelta { .. }
            | EventMsg::ExecCommandBegin { .. }
            | EventMsg::ExecCommandOutputDelta { .. }
            | EventMsg::ExecCommandEnd { .. } => assert_eq!(self.task, Some(id)),
            _ => {}
        }
    }

    /// Nothing that a task began goes on after it, unless it was told to stop and does not.
    fn end_task(&mut self) {
        self.task = None;
        assert_eq!(self.attempt, None, "the model is still asked");
        assert!(self.works.keys().all(|key| self.stopped.contains(key)), "left running");
        self.works.clear();
    }

    /// What is stored is enough to go on.
    fn check_rebuilt(&mut self) {
        if self.machine.is_closed() {
            return;
        }
        for kind in ["get_history", "list_approvals"] {
            self.submit(json!({ "type": kind }));
        }
        let live = (self.history.take(), self.approvals.take());
        let mut other = Run::new(&[]);
        let settings = Box::new(self.machine.settings().unwrap().clone());
        let (sub_id, stored) = (other.id(), Some(self.records.clone()));
        other.handle(Input::Configure { sub_id, settings, stored, external: Vec::new() });
        for kind in ["get_history", "list_approvals"] {
            other.submit(json!({ "type": kind }));
        }
        let rebuilt = (other.history.take(), other.approvals.take());
        if !self.machine.is_busy() {
            assert_eq!(rebuilt, live);
            self.seen.rebuilt += usize::from(!self.records.is_empty());
        }
        check_calls(rebuilt.0.unwrap().0.iter());
        other.submit(json!({ "type": "user_input", "items": [{ "type": "text", "text": "go" }] }));
        // A thread that is said to be too long is summarized first, which asks, too.
        assert!(other.attempt.is_some(), "a rebuilt session does not go on");
    }
}

fn check_request(request: &ModelRequest) {
    check_calls(request.items.iter().map(|item| &**item));
}

/// Every call has one output, and no output is without its call.
fn check_calls<'i>(items: impl Iterator<Item = &'i Item>) {
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        match item {
            Item::FunctionCall { call_id, .. } => open.push(call_id),
            Item::FunctionCallOutput { call_id, .. } => {
                let index = open.iter().position(|it| it == call_id);
                let index = index.unwrap_or_else(|| panic!("{call_id:?} has an output too many"));
                open.remove(index);
            }
            Item::Message { .. } | Item::Reasoning { .. } | Item::Other(_) => {}
        }
    }
    assert!(open.is_empty(), "without an output: {open:?}");
}
