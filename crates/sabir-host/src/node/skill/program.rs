//! A skill that is a program: its input on standard input, its output from standard output, each
//! line on standard error an update. It runs under a supervisor, like every command, so that nothing
//! of it is left when it is over or is stopped.

mod pace;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use sabir_base::json::{depth, long_integer};
use sabir_ldp::{Finished, TaskOrder, canonical_value};
use sabir_policy::{ApprovalPolicy, Bounds, SandboxMode, SandboxPolicy};
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Broken, News, Skill, bounds_of};
use crate::process::{Exec, ExecError, OutputChunk, OutputStream, Runner};
use crate::sandbox::{Confinement, Limits};
use pace::Pace;

#[derive(Debug, Clone)]
pub struct Program {
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// Beside what is inherited, of which what sounds secret is left out.
    pub env: Vec<(String, String)>,
    pub confinement: Confinement,
    /// What that was made of.
    pub sandbox: SandboxPolicy,
    pub runner: Arc<Runner>,
    /// Programs of this node that may run at once; others wait.
    pub turns: Arc<Semaphore>,
    /// Doing it twice does no harm.
    pub repeatable: bool,
}

impl Skill for Program {
    fn lasts(&self) -> bool {
        self.repeatable
    }

    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let program = self.clone();
        async move { program.carry_out(order, news).await }.boxed()
    }
}

impl Program {
    async fn carry_out(self, order: TaskOrder, news: News) -> Result<Finished, Broken> {
        self.check_reach(&order)?;
        let stop = news.stop().clone();
        let turn = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Broken::new("stopped before it began")),
            turn = self.turns.acquire() => turn,
        };
        let Ok(_turn) = turn else { return Err(Broken::new("stopped before it began")) };
        let input = order.payload.to_value().to_string().into_bytes();
        let exec = Exec {
            argv: self.argv.clone(),
            cwd: self.cwd.clone(),
            env_extra: self.env.clone(),
            // How long it may run is for the contract and the node to say.
            timeout: FOREVER,
            confinement: self.confinement.clone(),
            // One with the node's rights has the node's limits.
            limits: match self.confinement {
                Confinement::FullAccess => Limits { processes: u32::MAX, file_size: None },
                Confinement::Confined(_) => Limits::default(),
            },
        };
        // Set when it is stopped, and when it says too much.
        let cancel = stop.child_token();
        let (send, chunks) = mpsc::channel(CHUNKS_ON_THE_WAY);
        let mut said = Said::new();
        let (ran, ()) = tokio::join!(
            self.runner.run_with_input(exec, input, send, cancel.clone()),
            said.listen(chunks, &news, &cancel)
        );
        let ran = ran.map_err(|error| self.not_run(&error))?;
        if said.is_flood {
            return Err(
                said.broken(format!("it wrote more than {} MiB, and was ended", MOST_OUTPUT >> 20))
            );
        }
        match ran.exit_code {
            _ if ran.cancelled => Err(said.broken("it was stopped".to_owned())),
            0 => Ok(Finished { output: said.output(), ..Finished::default() }),
            code => {
                let how = match code {
                    129..=192 => format!("it was ended by signal {}", code - 128),
                    code => format!("it exited with status {code}"),
                };
                // What a shell would say, and what the program said.
                let words = ran.stderr.trim();
                let words = ending(words, MOST_WORDS);
                let why = if words.is_empty() { how } else { format!("{how}: {words}") };
                Err(said.broken(why))
            }
        }
    }

    /// A program cannot be given fewer rights than it was configured with: an agent with fewer would
    /// gain some by having it run.
    fn check_reach(&self, order: &TaskOrder) -> Result<(), Broken> {
        let cwd = self.cwd.to_string_lossy().into_owned();
        // Whom a program asks is its own business.
        let own = Bounds::new(ApprovalPolicy::Never, self.sandbox.clone(), cwd);
        let asked_by = bounds_of(order)?;
        let Some(asker) = asked_by.iter().find(|asker| !own.reaches_no_further_than(asker)) else {
            return Ok(());
        };
        let may = match asker.sandbox.mode {
            SandboxMode::ReadOnly => "may only read",
            SandboxMode::WorkspaceWrite => "may write in its own folder only",
            SandboxMode::DangerFullAccess => "has fewer rights",
        };
        let has = match self.sandbox.mode {
            SandboxMode::DangerFullAccess => "has the rights of this node",
            SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite => "may write in another folder",
        };
        Err(Broken::new(format!(
            "it is not run for an agent that {may}: the program {has}. A person can order it, or give \
             this skill a `sandbox`"
        )))
    }

    /// The program's name is the configuration's; its arguments may hold what is nobody's business.
    fn not_run(&self, error: &ExecError) -> Broken {
        let program = self.argv.first().map(String::as_str).unwrap_or_default();
        Broken::new(format!("`{program}` could not be run: {error}"))
    }
}

/// What a program has said so far.
#[derive(Debug)]
struct Said {
    stdout: String,
    line: String,
    pace: Pace,
    is_flood: bool,
}

impl Said {
    fn new() -> Self {
        let (stdout, line) = (String::new(), String::new());
        Self { stdout, line, pace: Pace::new(Instant::now()), is_flood: false }
    }

    /// Reads on to the end, whatever comes: nobody else empties the pipes.
    async fn listen(
        &mut self,
        mut chunks: mpsc::Receiver<OutputChunk>,
        news: &News,
        cancel: &CancellationToken,
    ) {
        while let Some(OutputChunk { stream, text }) = chunks.recv().await {
            match stream {
                OutputStream::Stdout if self.stdout.len() + text.len() > MOST_OUTPUT => {
                    self.is_flood = true;
                    cancel.cancel();
                }
                OutputStream::Stdout => self.stdout.push_str(&text),
                OutputStream::Stderr => self.tell_lines(&text, news).await,
            }
        }
        self.tell_line(news).await;
        if let Some(gap) = self.pace.gap() {
            news.progress(gap).await;
        }
    }

    async fn tell_lines(&mut self, text: &str, news: &News) {
        let mut pieces = text.split('\n');
        let first = pieces.next().unwrap_or_default();
        self.lengthen(first);
        for piece in pieces {
            self.tell_line(news).await;
            self.lengthen(piece);
        }
    }

    async fn tell_line(&mut self, news: &News) {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        if line.is_empty() || !self.pace.admits(line, Instant::now()) {
            return;
        }
        if let Some(gap) = self.pace.gap() {
            news.progress(gap).await;
        }
        news.progress(line).await;
    }

    /// A line without end is cut: nobody reads on.
    fn lengthen(&mut self, piece: &str) {
        let room = MOST_LINE.saturating_sub(self.line.len());
        self.line.push_str(&piece[..piece.floor_char_boundary(room)]);
    }

    /// JSON if it is, and else a text. Also where a number is so large that it would be another one
    /// elsewhere: a text is what it is.
    fn output(&mut self) -> Value {
        let text = std::mem::take(&mut self.stdout);
        let is_kept = depth(&text) <= DEEPEST && long_integer(&text).is_none();
        match is_kept.then(|| serde_json::from_str(&text)) {
            Some(Ok(value)) if canonical_value(&value).is_ok() => value,
            _ => Value::String(text),
        }
    }

    fn broken(&mut self, why: String) -> Broken {
        let mut broken = Broken::new(why);
        if !self.stdout.is_empty() {
            broken.error.partial_output = Some(Value::String(std::mem::take(&mut self.stdout)));
        }
        broken
    }
}

/// At most `most` bytes of its end, where programs say why they fail, and how many came before.
fn ending(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let start = text.ceil_char_boundary(text.len() - most);
    Cow::Owned(format!("[... {start} bytes before ...]\n{}", &text[start..]))
}

/// Whatever a program writes goes into one message.
const MOST_OUTPUT: usize = 8 << 20;
/// As long as an update may be.
const MOST_LINE: usize = 16 << 10;
/// Of standard error, in what is told of a failure.
const MOST_WORDS: usize = 4 << 10;
/// An output must fit into a message together with what is around it.
const DEEPEST: usize = 48;
const CHUNKS_ON_THE_WAY: usize = 16;
/// A clock can still be asked for this time from now.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);
