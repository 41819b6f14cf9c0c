//! `sabir run`: a task here, with a person's answers on the terminal.

mod answers;
mod local;
mod show;
mod streams;

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use sabir_engine::{
    ConfigureSession, Decision, Decoded, Event, EventMsg, InputItem, InputMode, Op, Submission,
};
use sabir_host::{Connection, Incoming, Shown};
use tokio::sync::mpsc;

use crate::agent_args::{AgentArgs, block_on};
use crate::exit::Exit;
use crate::output::Notes;
use crate::signals::{Signals, Stop};
use answers::{Answers, Asked, Typed};
pub(crate) use local::find_local;
pub(crate) use show::Screen;

/// Run a task here: an agent works in this directory, and asks before it does what it must ask for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir run \"make the tests pass\"
  sabir run --model qwen3 --base-url http://127.0.0.1:11434/v1 --wire chat \"explain main.rs\"
  sabir run --sandbox read-only --approval never --json \"list the TODOs\" > events.jsonl
  sabir run < task.md

Without a model, those that are served on this machine are offered.
The answer goes to standard output, everything else to standard error.
Ctrl-C interrupts the task; twice ends the program, and so do SIGTERM and SIGHUP.

Exit codes:
  0    the task is done
  1    the task failed
  2    the command line is wrong, the engine cannot be opened, or the answer cannot be written
  130  interrupted; 129 and 143 after SIGHUP and SIGTERM")]
pub(crate) struct RunArgs {
    /// What to do; without it, tasks are read from the terminal, one a line, or all of standard
    /// input is the task
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

impl HowArgs {
    /// Whether somebody is there to type and to be asked.
    fn is_attended(&self) -> bool {
        !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// The task of the command line, or of standard input; none where somebody types them.
    pub(crate) fn task(&self, said: Option<String>) -> anyhow::Result<Option<String>> {
        let task = match said {
            Some(task) => task,
            None if self.is_attended() => return Ok(None),
            None if std::io::stdin().is_terminal() => {
                bail!("no task is given, and there is no terminal to show a prompt on: say TASK")
            }
            None => {
                let mut task = String::new();
                let mut stdin = std::io::stdin().lock().take(LONGEST_TASK + 1);
                stdin.read_to_string(&mut task).context("no task can be read from <stdin>")?;
                task
            }
        };
        if task.len() as u64 > LONGEST_TASK {
            bail!("the task is longer than {} MiB", LONGEST_TASK >> 20);
        }
        if task.trim().is_empty() {
            bail!("the task is empty: say what to do, as TASK or on standard input");
        }
        Ok(Some(task))
    }
}

/// More than any model reads at once.
const LONGEST_TASK: u64 = 4 << 20;

impl RunArgs {
    pub(crate) fn run(mut self, notes: &mut Notes) -> ExitCode {
        let ready = self.how.task(self.task.take()).and_then(|task| {
            if !self.agent.model.names_a_model()? {
                local::choose(&mut self.agent.model, !self.how.json)?;
            }
            Ok(task)
        });
        match ready {
            Ok(task) => converse(&self.agent, self.agent.configure(), task, &self.how, notes),
            Err(error) => {
                notes.error(error);
                Exit::Unusable.into()
            }
        }
    }
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Done,
    Failed,
    Interrupted,
    /// Nobody wants to see the end of it.
    Left(Stop),
}

/// Opens the engine and converses: one task, or as many as are typed.
pub(crate) fn converse(
    agent: &AgentArgs,
    configure: ConfigureSession,
    task: Option<String>,
    how: &HowArgs,
    notes: &mut Notes,
) -> ExitCode {
    let conversed = agent.open().and_then(|engine| {
        block_on(async {
            let connection = engine.connect();
            let conversation = Conversation::new(connection, how, agent.model.home.as_said());
            let code = conversation.run(configure, task).await;
            engine.shutdown().await;
            code
        })
    });
    conversed.unwrap_or_else(|error| {
        notes.error(error);
        Exit::Unusable.into()
    })
}

struct Conversation {
    submissions: mpsc::Sender<Incoming>,
    events: mpsc::Receiver<Shown>,
    done: tokio::task::JoinHandle<()>,
    screen: Screen,
    answers: Answers,
    signals: Signals,
    json: bool,
    approval_timeout_ms: u64,
    /// The options that name the home of the session.
    home: Vec<String>,
    next_id: u64,
}

/// Ten years. Said aloud, because a session that goes on keeps what it was told before, and that may
/// have been where nobody could be asked.
const FOR_EVER_MS: u64 = 10 * 365 * 24 * 3600 * 1000;

/// How often the line of progress is looked at.
const BEAT: Duration = Duration::from_millis(250);

impl Conversation {
    fn new(connection: Connection, how: &HowArgs, home: Vec<String>) -> Self {
        let Connection { submissions, events, done } = connection;
        let is_attended = how.is_attended();
        let default_ms = if is_attended { FOR_EVER_MS } else { 0 };
        let timeout_ms = how.approval_timeout.map_or(default_ms, |s| s.saturating_mul(1000));
        Self {
            submissions,
            events,
            done,
            screen: Screen::new(how.json),
            answers: Answers::new(is_attended),
            signals: Signals::listen(),
            json: how.json,
            approval_timeout_ms: timeout_ms,
            home,
            next_id: 1,
        }
    }

    async fn run(mut self, configure: ConfigureSession, task: Option<String>) -> ExitCode {
        let approval_timeout_ms = Some(self.approval_timeout_ms);
        let configure = ConfigureSession { approval_timeout_ms, ..configure };
        self.submit(Op::ConfigureSession(configure)).await;
        let mut ending = self.until_configured().await;
        match task {
            Some(task) if ending == Ending::Done => ending = self.carry_out(task).await,
            None if ending == Ending::Done => ending = self.prompt().await,
            _ => {}
        }
        drop(self.submissions);
        // What is left to say is said; a person who pressed Ctrl-C twice is not kept waiting.
        let screen = &mut self.screen;
        screen.answered();
        let rest = async {
            while let Some(shown) = self.events.recv().await {
                screen.show(&shown);
            }
            let _ = self.done.await;
        };
        let _ = tokio::time::timeout(Duration::from_secs(5), rest).await;
        self.screen.goodbye(&self.home);
        match ending {
            _ if self.screen.has_failed() => Exit::Unusable.into(),
            Ending::Done => ExitCode::SUCCESS,
            Ending::Failed => Exit::Found.into(),
            Ending::Interrupted => Stop::Interrupt.exit_code().into(),
            Ending::Left(stop) => stop.exit_code().into(),
        }
    }

    /// Takes tasks as they are typed. A task that fails is not the last one.
    async fn prompt(&mut self) -> Ending {
        let mut ending = Ending::Done;
        loop {
            match self.answers.task(&mut self.signals).await {
                Typed::Task(task) => ending = self.carry_out(task).await,
                Typed::Stop(stop @ Stop::End(_)) => return Ending::Left(stop),
                Typed::Stop(Stop::Interrupt) | Typed::Nothing => return ending,
            }
            if matches!(ending, Ending::Left(_)) || self.events.is_closed() {
                return ending;
            }
        }
    }

    async fn carry_out(&mut self, task: String) -> Ending {
        let items = vec![InputItem::Text { text: task }];
        let mode = InputMode::Replace;
        let id = self.submit(Op::UserInput { items, last_response_id: None, mode }).await;
        self.until_done(&id).await
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

    async fn until_configured(&mut self) -> Ending {
        loop {
            let shown = tokio::select! {
                shown = self.events.recv() => shown,
                stop = self.signals.next() => return Ending::Left(stop),
            };
            let Some(shown) = shown else { return Ending::Failed };
            self.screen.show(&shown);
            match shown.event.msg {
                EventMsg::SessionConfigured { .. } => return Ending::Done,
                EventMsg::Error { .. } => return Ending::Failed,
                _ => {}
            }
        }
    }

    async fn until_done(&mut self, id: &str) -> Ending {
        let started = Instant::now();
        let mut interrupted = false;
        let mut beat = tokio::time::interval(BEAT);
        loop {
            tokio::select! {
                shown = self.events.recv() => {
                    let Some(shown) = shown else { return Ending::Failed };
                    self.show(&shown);
                    if let Some(ending) = ending_of(&shown.event, id) {
                        self.answers.forget();
                        self.screen.ended(started.elapsed());
                        return ending;
                    }
                }
                answer = self.answers.next() => {
                    self.answer(answer).await;
                }
                stop = self.signals.next() => match stop {
                    Stop::Interrupt if !interrupted => {
                        interrupted = true;
                        self.screen.note("interrupting; press Ctrl-C again to leave at once");
                        self.submit(Op::Interrupt).await;
                    }
                    stop => return Ending::Left(stop),
                },
                _ = beat.tick(), if !self.json => self.screen.beat(),
            }
        }
    }

    fn show(&mut self, shown: &Shown) {
        self.answers.hear(&shown.event, &mut self.screen);
        match Asked::of(&shown.event) {
            // What is asked is shown with the question, when its turn comes.
            Some(asked) if self.answers.is_attended() => {
                self.answers.ask(asked, &mut self.screen);
            }
            _ => self.screen.show(shown),
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
