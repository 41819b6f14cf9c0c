//! `sabir run`: a task here, with a person's answers on the terminal.

mod answers;
mod local;
mod show;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use sabir_engine::{
    ConfigureSession, Decision, Decoded, Event, EventMsg, InputItem, InputMode, Op, Submission,
};
use sabir_host::{Connection, Incoming, Shown};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::agent_args::{AgentArgs, runtime};
use crate::exit::Exit;
use crate::output::Notes;
use answers::{Answers, Asked};
pub(crate) use show::Screen;

/// Run a task here: an agent works in this directory, and asks before it does what it must ask for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir run \"make the tests pass\"
  sabir run --model qwen3 --base-url http://127.0.0.1:11434/v1 --wire chat \"explain main.rs\"
  sabir run --sandbox read-only --approval never --json \"list the TODOs\" > events.jsonl

Without a model, those that are served on this machine are offered.
The answer goes to standard output, everything else to standard error.
Ctrl-C interrupts the task; twice ends the program.

Exit codes:
  0    the task is done
  1    the task failed
  2    the command line is wrong, or the engine cannot be opened
  130  interrupted")]
pub(crate) struct RunArgs {
    /// What to do; without it, tasks are read from the terminal, one a line
    #[arg(value_name = "TASK")]
    task: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    how: HowArgs,
}

/// How a conversation is shown and answered.
#[derive(Debug, Clone, Args)]
pub(crate) struct HowArgs {
    /// Print every event as a line of JSON, and nothing else
    #[arg(long)]
    json: bool,
    /// How long, in seconds, a request for approval waits before it is denied [default: for ever on
    /// a terminal, 0 elsewhere]
    #[arg(long, value_name = "SECONDS")]
    approval_timeout: Option<u64>,
}

impl RunArgs {
    pub(crate) fn run(mut self, notes: &mut Notes) -> ExitCode {
        let chosen = match self.agent.names_a_model() {
            Ok(false) => local::choose(&mut self.agent, !self.how.json),
            named => named.map(|_| ()),
        };
        if let Err(error) = chosen {
            notes.error(error);
            return Exit::Unusable.into();
        }
        let configure = self.agent.configure();
        converse(&self.agent, configure, self.task, None, &self.how, notes)
    }
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Done,
    Failed,
    Interrupted,
}

/// Opens the engine and converses: one task, or as many as are typed.
pub(crate) fn converse(
    agent: &AgentArgs,
    configure: ConfigureSession,
    task: Option<String>,
    last_response_id: Option<String>,
    how: &HowArgs,
    notes: &mut Notes,
) -> ExitCode {
    let opened = agent.open().and_then(|engine| Ok((engine, runtime()?)));
    let (engine, runtime) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            notes.error(error);
            return Exit::Unusable.into();
        }
    };
    let ending = runtime.block_on(async {
        let connection = engine.connect();
        let conversation = Conversation::new(connection, how);
        let ending = conversation.run(configure, task, last_response_id).await;
        engine.shutdown().await;
        ending
    });
    // A thread may still be waiting for a line on standard input.
    runtime.shutdown_background();
    match ending {
        Ending::Done => ExitCode::SUCCESS,
        Ending::Failed => Exit::Found.into(),
        Ending::Interrupted => ExitCode::from(130),
    }
}

struct Conversation {
    submissions: mpsc::Sender<Incoming>,
    events: mpsc::Receiver<Shown>,
    done: tokio::task::JoinHandle<()>,
    screen: Screen,
    answers: Answers,
    /// Heard from the beginning on, so that no press is lost between two moments of listening.
    interrupts: Option<Signal>,
    json: bool,
    approval_timeout_ms: Option<u64>,
    next_id: u64,
}

/// Once a second is enough to show that something is alive.
const BEAT: Duration = Duration::from_millis(250);

impl Conversation {
    fn new(connection: Connection, how: &HowArgs) -> Self {
        let Connection { submissions, events, done } = connection;
        let is_attended =
            std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !how.json;
        let default = if is_attended { None } else { Some(0) };
        Self {
            submissions,
            events,
            done,
            screen: Screen::new(how.json),
            answers: Answers::new(is_attended),
            interrupts: signal(SignalKind::interrupt()).ok(),
            json: how.json,
            approval_timeout_ms: how.approval_timeout.map(|s| s.saturating_mul(1000)).or(default),
            next_id: 1,
        }
    }

    async fn run(
        mut self,
        configure: ConfigureSession,
        task: Option<String>,
        mut last_response_id: Option<String>,
    ) -> Ending {
        let approval_timeout_ms = configure.approval_timeout_ms.or(self.approval_timeout_ms);
        let configure = ConfigureSession { approval_timeout_ms, ..configure };
        self.submit(Op::ConfigureSession(configure)).await;
        let mut ending = match self.until_configured().await {
            Ok(()) => Ending::Done,
            Err(()) => Ending::Failed,
        };
        let is_single = task.is_some();
        let mut next = task;
        while ending == Ending::Done || (!is_single && ending != Ending::Failed) {
            let text = match next.take() {
                Some(text) => text,
                None if is_single => break,
                None => match self.answers.task(&mut self.interrupts).await {
                    Some(text) => text,
                    None => break,
                },
            };
            let items = vec![InputItem::Text { text }];
            let last_response_id = last_response_id.take();
            let mode = InputMode::Replace;
            let id = self.submit(Op::UserInput { items, last_response_id, mode }).await;
            ending = self.until_done(&id).await;
        }
        drop(self.submissions);
        // What is left to say is said; a person who pressed Ctrl-C twice is not kept waiting.
        let screen = &mut self.screen;
        let rest = async {
            while let Some(shown) = self.events.recv().await {
                screen.show(&shown);
            }
            let _ = self.done.await;
        };
        let _ = tokio::time::timeout(Duration::from_secs(5), rest).await;
        self.screen.goodbye();
        ending
    }

    async fn submit(&mut self, op: Op) -> String {
        let id = self.next_id.to_string();
        self.next_id += 1;
        let submission = Submission { id: id.clone(), op };
        let decoded = Decoded { submission, unknown: Vec::new() };
        // An engine that is gone has said why in its events.
        let _ = self.submissions.send(Incoming::Submission(decoded)).await;
        id
    }

    async fn until_configured(&mut self) -> Result<(), ()> {
        while let Some(shown) = self.events.recv().await {
            self.screen.show(&shown);
            match shown.event.msg {
                EventMsg::SessionConfigured { .. } => return Ok(()),
                EventMsg::Error { .. } => return Err(()),
                _ => {}
            }
        }
        Err(())
    }

    async fn until_done(&mut self, id: &str) -> Ending {
        let started = Instant::now();
        let mut interrupted = false;
        let mut beat = tokio::time::interval(BEAT);
        loop {
            tokio::select! {
                shown = self.events.recv() => {
                    let Some(shown) = shown else { return Ending::Failed };
                    self.screen.show(&shown);
                    if let Some(asked) = Asked::of(&shown.event) {
                        self.answers.ask(asked, &mut self.screen);
                    }
                    if let Some(ending) = ending_of(&shown.event, id) {
                        self.answers.forget();
                        self.screen.ended(started.elapsed());
                        return ending;
                    }
                }
                answer = self.answers.next() => {
                    self.answer(answer).await;
                }
                () = pressed(&mut self.interrupts) => {
                    if interrupted {
                        return Ending::Interrupted;
                    }
                    interrupted = true;
                    self.screen.note("interrupting; press Ctrl-C again to leave at once");
                    self.submit(Op::Interrupt).await;
                }
                _ = beat.tick(), if !self.json => self.screen.beat(),
            }
        }
    }

    async fn answer(&mut self, (asked, decision): (Asked, Decision)) {
        let call_id = asked.call_id;
        let op = match asked.is_patch {
            true => Op::PatchApproval { call_id, decision },
            false => Op::ExecApproval { call_id, decision, prefix: None },
        };
        self.submit(op).await;
        self.answers.ask_next(&mut self.screen);
    }
}

/// Ctrl-C. Where it cannot be heard it does what it does to any program.
async fn pressed(interrupts: &mut Option<Signal>) {
    match interrupts {
        Some(signal) => _ = signal.recv().await,
        None => std::future::pending().await,
    }
}

fn ending_of(event: &Event, id: &str) -> Option<Ending> {
    match &event.msg {
        EventMsg::TaskComplete { .. } if event.id == id => Some(Ending::Done),
        EventMsg::Error { message } if event.id == id && message == "interrupted" => {
            Some(Ending::Interrupted)
        }
        EventMsg::Error { .. } if event.id == id || event.id.is_empty() => Some(Ending::Failed),
        _ => None,
    }
}
