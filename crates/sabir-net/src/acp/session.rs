//! One session of an editor: its prompts, and what the engine tells while they run.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    LoadSessionResponse, PlanEntry, PlanEntryPriority, PlanEntryStatus, PromptResponse,
    RequestPermissionResponse, StopReason,
};
use agent_client_protocol::{Error, ErrorCode};
use sabir_engine::{
    ConfigureSession, Decoded, EventMsg, InputItem, InputMode, Op, PlanStep, StepStatus, Submission,
};
use sabir_host::{Connection, Engine, Incoming};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::replay;
use super::tool_calls::Calls;
use super::wire::{Weight, Wire};

mod events;
mod permission;

pub(super) use permission::Subject;

/// What an editor asks of a session.
pub(super) enum Command {
    Prompt {
        items: Vec<InputItem>,
        responder: Responder<PromptResponse>,
    },
    Cancel,
    /// Tells the history, after new settings if there are any.
    Load {
        configure: Option<Box<ConfigureSession>>,
        responder: Responder<LoadSessionResponse>,
    },
    /// Says something beside the conversation.
    Notify(Vec<String>),
    /// A person has answered, or cannot.
    Decided {
        /// The prompt that it was asked in.
        prompt: String,
        call_id: String,
        subject: Subject,
        answer: Result<RequestPermissionResponse, Error>,
    },
}

/// A session that the engine has opened.
pub(super) struct Opened {
    pub(super) session_id: String,
    cwd: PathBuf,
    connection: Connection,
}

/// Opens a session of the engine, new or stored.
pub(super) async fn open(engine: &Engine, configure: ConfigureSession) -> Result<Opened, String> {
    let mut connection = engine.connect();
    let op = Op::ConfigureSession(configure);
    let _ = connection.submissions.send(submission("configure", op)).await;
    while let Some(shown) = connection.events.recv().await {
        match shown.event.msg {
            EventMsg::SessionConfigured { session_id, cwd, .. } => {
                return Ok(Opened { session_id, cwd: cwd.into(), connection });
            }
            EventMsg::Error { message } => {
                let Connection { submissions, events, done } = connection;
                drop((submissions, events));
                let _ = done.await;
                return Err(message);
            }
            _ => {}
        }
    }
    Err("the engine ended before the session began".to_owned())
}

fn submission(id: &str, op: Op) -> Incoming {
    let submission = Submission { id: id.to_owned(), op };
    Incoming::Submission(Decoded { submission, unknown: Vec::new() })
}

/// The task that owns a session.
pub(super) struct Session {
    connection: Connection,
    wire: Wire,
    cwd: PathBuf,
    /// What was not yet taken by the engine.
    outbox: VecDeque<Incoming>,
    /// Where people's answers come back.
    commands: mpsc::Sender<Command>,
    tasks: TaskTracker,
    prompt: Option<Prompt>,
    /// Prompts that wait until a cancelled one has ended.
    waiting: VecDeque<(Vec<InputItem>, Responder<PromptResponse>)>,
    loading: Option<Loading>,
    /// What is to be said after the history.
    notices: Vec<String>,
    calls: Calls,
    /// What was streamed of the message, and of the thought, that is being made.
    said: Streamed,
    thought: Streamed,
    /// When output that the editor has not seen is to be shown.
    show_at: Option<Instant>,
    submitted: u64,
}

/// The prompt that runs.
struct Prompt {
    /// The submission that started it.
    id: String,
    responder: Responder<PromptResponse>,
    is_cancelled: bool,
}

/// A history that was asked for.
struct Loading {
    configure: Option<String>,
    history: String,
    responder: Responder<LoadSessionResponse>,
}

/// A text that comes in pieces, and then once more as a whole.
#[derive(Debug, Default)]
struct Streamed {
    text: String,
    number: u64,
}

impl Streamed {
    /// What of the whole has not been streamed.
    fn rest_of(&self, whole: &str) -> Option<String> {
        let rest = match self.text.is_empty() {
            true => whole,
            // A whole that is put together differently has been seen in its pieces.
            false => whole.strip_prefix(self.text.as_str()).unwrap_or_default(),
        };
        (!rest.is_empty()).then(|| rest.to_owned())
    }

    fn end(&mut self) {
        self.text.clear();
        self.number += 1;
    }
}

/// Often enough to look alive, seldom enough that a flood of output costs little.
const OUTPUT_PAUSE: Duration = Duration::from_millis(100);

/// More prompts than this are not typed while one is being stopped.
const MOST_WAITING: usize = 16;

enum Wake {
    Over,
    Asked(Command),
    Told(sabir_engine::Event),
    Submitted,
    ShowOutput,
}

impl Session {
    pub(super) fn new(
        opened: Opened,
        wire: Wire,
        commands: mpsc::Sender<Command>,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            connection: opened.connection,
            wire,
            cwd: opened.cwd,
            outbox: VecDeque::new(),
            commands,
            tasks,
            prompt: None,
            waiting: VecDeque::new(),
            loading: None,
            notices: Vec::new(),
            calls: Calls::default(),
            said: Streamed::default(),
            thought: Streamed::default(),
            show_at: None,
            submitted: 0,
        }
    }

    /// Serves the session until the editor is gone, or the engine.
    pub(super) async fn run(mut self, mut asked: mpsc::Receiver<Command>) {
        loop {
            match self.wait(&mut asked).await {
                Wake::Over => break,
                Wake::Asked(command) => self.on_command(command).await,
                Wake::Told(event) => self.on_event(event).await,
                Wake::Submitted => {}
                Wake::ShowOutput => self.show_output().await,
            }
        }
        // Whoever still waits is answered by their responders being dropped.
        let Connection { submissions, events, done } = self.connection;
        drop((submissions, events));
        let _ = done.await;
    }

    async fn wait(&mut self, asked: &mut mpsc::Receiver<Command>) -> Wake {
        let show_at = self.show_at;
        tokio::select! {
            biased;
            () = self.wire.over.cancelled() => Wake::Over,
            Some(command) = asked.recv() => Wake::Asked(command),
            permit = self.connection.submissions.reserve(), if !self.outbox.is_empty() => {
                match (permit, self.outbox.pop_front()) {
                    (Ok(permit), Some(incoming)) => permit.send(incoming),
                    // The engine has ended, and its last words are read below.
                    (Err(_), _) => self.outbox.clear(),
                    (Ok(_), None) => {}
                }
                Wake::Submitted
            }
            shown = self.connection.events.recv() => match shown {
                Some(shown) => Wake::Told(shown.event),
                None => Wake::Over,
            },
            () = sleep_until(show_at), if show_at.is_some() => Wake::ShowOutput,
        }
    }

    /// Hands something to the engine. Returns the id that its events will have.
    fn submit(&mut self, kind: &str, op: Op) -> String {
        self.submitted += 1;
        let id = format!("{kind}-{}", self.submitted);
        self.outbox.push_back(submission(&id, op));
        id
    }

    async fn on_command(&mut self, command: Command) {
        match command {
            Command::Prompt { items, responder } => self.prompt(items, responder),
            Command::Cancel => self.cancel(),
            Command::Load { configure, responder } => self.load(configure, responder),
            Command::Notify(notices) if self.loading.is_some() => self.notices.extend(notices),
            Command::Notify(notices) => self.notify_all(notices).await,
            Command::Decided { prompt, call_id, subject, answer } => {
                self.decided(&prompt, call_id, subject, answer).await;
            }
        }
    }

    fn prompt(&mut self, items: Vec<InputItem>, responder: Responder<PromptResponse>) {
        match &self.prompt {
            Some(prompt) if prompt.is_cancelled && self.waiting.len() < MOST_WAITING => {
                self.waiting.push_back((items, responder));
            }
            Some(_) => refuse(responder, "a prompt is running in this session: cancel it first"),
            None if self.loading.is_some() => refuse(responder, "the session is being loaded"),
            None => self.start(items, responder),
        }
    }

    fn start(&mut self, items: Vec<InputItem>, responder: Responder<PromptResponse>) {
        let op = Op::UserInput { items, last_response_id: None, mode: InputMode::Replace };
        let id = self.submit("prompt", op);
        self.prompt = Some(Prompt { id, responder, is_cancelled: false });
    }

    fn cancel(&mut self) {
        for (_, responder) in self.waiting.drain(..) {
            let _ = responder.respond(PromptResponse::new(StopReason::Cancelled));
        }
        if let Some(prompt) = &mut self.prompt
            && !prompt.is_cancelled
        {
            prompt.is_cancelled = true;
            self.submit("cancel", Op::Interrupt);
        }
    }

    fn load(
        &mut self,
        configure: Option<Box<ConfigureSession>>,
        responder: Responder<LoadSessionResponse>,
    ) {
        if self.prompt.is_some() || self.loading.is_some() {
            return refuse(responder, "the session is busy: cancel its prompt before loading it");
        }
        let configure = configure.map(|it| self.submit("configure", Op::ConfigureSession(*it)));
        let history = self.submit("history", Op::GetHistory);
        self.loading = Some(Loading { configure, history, responder });
    }

    async fn loaded(&mut self, loading: Loading, items: &[sabir_engine::Item]) {
        let Loading { history, responder, .. } = loading;
        for update in replay::updates(items, &self.cwd, &history, &mut self.calls) {
            self.wire.update(update).await;
        }
        let _ = responder.respond(LoadSessionResponse::new());
        let notices = std::mem::take(&mut self.notices);
        self.notify_all(notices).await;
    }

    async fn notify_all(&mut self, notices: Vec<String>) {
        for words in notices {
            self.wire.notify(Weight::Warning, words).await;
        }
    }

    /// Ends the prompt that runs, and begins the next if one waits.
    async fn end(&mut self, ended: Result<StopReason, String>) {
        self.close_calls().await;
        self.said.end();
        self.thought.end();
        let Some(Prompt { responder, is_cancelled, .. }) = self.prompt.take() else { return };
        // Who cancels is told so, whatever else came of it.
        let _ = match ended {
            _ if is_cancelled => responder.respond(PromptResponse::new(StopReason::Cancelled)),
            Ok(reason) => responder.respond(PromptResponse::new(reason)),
            Err(words) => {
                responder.respond_with_error(Error::new(ErrorCode::INTERNAL_ERROR, words))
            }
        };
        if let Some((items, responder)) = self.waiting.pop_front() {
            self.start(items, responder);
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn refuse<T: agent_client_protocol::JsonRpcResponse>(responder: Responder<T>, words: &str) {
    let _ = responder.respond_with_error(Error::new(ErrorCode::INVALID_REQUEST, words));
}

pub(super) fn plan_entries(plan: Vec<PlanStep>) -> Vec<PlanEntry> {
    plan.into_iter()
        .map(|PlanStep { step, status }| {
            let status = match status {
                StepStatus::Pending => PlanEntryStatus::Pending,
                StepStatus::InProgress => PlanEntryStatus::InProgress,
                StepStatus::Completed => PlanEntryStatus::Completed,
            };
            // Our steps have no priorities, and the protocol wants one.
            PlanEntry::new(step, PlanEntryPriority::Medium, status)
        })
        .collect()
}
