//! A server as a child process: its environment, its last words, its end. It knows pipes, no
//! message.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use sabir_base::text::one_line;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::net::unix::pipe;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::task::JoinHandle;

use super::config::StdioConfig;
use super::redaction::Redaction;
use crate::process::environment::{is_withheld, sounds_secret, without};
use crate::process::{End as Ending, Served, Streams};
use crate::sandbox::Limits;
use crate::sandbox::wire::{Command, Status};

/// The environment that this program was started with.
#[derive(Clone, Default)]
pub(super) struct Environment {
    variables: BTreeMap<OsString, OsString>,
    /// What no child inherits, whatever its name sounds like.
    withheld: Vec<String>,
}

/// A running server. Dropping it ends it and everything that it started.
#[derive(Debug)]
pub(super) struct Child {
    program: String,
    served: Served,
    stderr: AbortOnDrop,
    last_words: Arc<Mutex<LastWords>>,
}

/// How a server ended, in words.
pub(super) enum End {
    NeverStarted(String),
    Over(String),
}

/// Reads what a server writes for as long as we have the server.
#[derive(Debug)]
struct AbortOnDrop(JoinHandle<()>);

/// Output of a child, which must part its messages by line ends before they grow too long.
#[derive(Debug)]
pub(super) struct GuardedOutput {
    output: ChildStdout,
    length: usize,
    last_words: Arc<Mutex<LastWords>>,
}

/// The last lines that a child wrote to its standard error.
#[derive(Debug, Default)]
struct LastWords {
    lines: VecDeque<String>,
    line: Vec<u8>,
    /// Set when the child wrote a message that is too long.
    flooded: bool,
}

impl Environment {
    pub(super) fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        withheld: Vec<String>,
    ) -> Self {
        Self { variables: variables.into_iter().collect(), withheld }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(OsStr::new(name))?.to_str()
    }

    /// What a child gets: all but what sounds secret or is withheld, and what the configuration gives
    /// it.
    fn for_child(
        &self,
        config: &StdioConfig,
        redaction: &mut Redaction,
    ) -> BTreeMap<OsString, OsString> {
        let inherited = self.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut variables: BTreeMap<OsString, OsString> = without(inherited, &self.withheld)
            .filter(|(name, value)| !is_withheld(&name.to_string_lossy(), &value.to_string_lossy()))
            .collect();
        for name in &config.pass_env {
            if let Some(value) = self.variables.get(OsStr::new(name)) {
                redaction.add(&value.to_string_lossy());
                variables.insert(name.into(), value.clone());
            }
        }
        for (name, value) in &config.env {
            if sounds_secret(name) {
                redaction.add(&value.0);
            }
            variables.insert(name.into(), (&value.0).into());
        }
        variables
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Environment({} variables)", self.variables.len())
    }
}

impl Child {
    /// Starts the program; `directory` is where it works.
    pub(super) async fn start(
        config: &StdioConfig,
        environment: &Environment,
        directory: &Path,
        helper: &Path,
        redaction: &mut Redaction,
    ) -> Result<(Self, GuardedOutput, pipe::Sender), String> {
        if !directory.is_dir() {
            return Err(format!("there is no folder `{}`", directory.display()));
        }
        let program = config.program.clone();
        let mut argv = vec![program.clone()];
        argv.extend(config.arguments.iter().cloned());
        let env = environment.for_child(config, redaction).into_iter().collect();
        // A server belongs to the person who configured it, and is not counted.
        let limits = Limits { processes: u32::MAX, file_size: None };
        let command = Command { argv, cwd: directory.to_owned(), env, limits };
        let (served, streams) = Served::start(helper, command)
            .await
            .map_err(|error| format!("`{program}` cannot be run: {error}"))?;
        let Streams { input, output, errors } = streams;
        let last_words = Arc::new(Mutex::new(LastWords::default()));
        let stderr = AbortOnDrop(tokio::spawn(drain(errors, Arc::clone(&last_words))));
        let output = GuardedOutput { output, length: 0, last_words: Arc::clone(&last_words) };
        Ok((Self { program, served, stderr, last_words }, output, input))
    }

    /// Waits for the child to end by itself, which it should when its input is closed; then ends
    /// it, and whatever is left of it. Says how it ended and quotes its last words.
    pub(super) async fn end(self, patience: Duration) -> End {
        let Self { program, served, mut stderr, last_words } = self;
        let end = served.end(patience).await;
        // Everybody who could hold the other end is gone.
        let _ = tokio::time::timeout(DRAIN_PATIENCE, &mut stderr.0).await;
        let words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut report = match end {
            _ if words.flooded => {
                format!("it sent a message longer than {} MiB", MAX_MESSAGE >> 20)
            }
            Ending::Alone(Status::Exited(code)) => format!("it exited with status {code}"),
            Ending::Alone(Status::Signalled(signal)) => format!("it was killed by signal {signal}"),
            Ending::Alone(Status::NotStarted { code: 127, .. }) => {
                return End::NeverStarted(format!("there is no program `{program}`"));
            }
            Ending::Alone(Status::NotStarted { message, .. }) => {
                return End::NeverStarted(format!("it cannot be run: {message}"));
            }
            // Servers are not counted.
            Ending::Alone(Status::TooManyProcesses) | Ending::Told => "it was ended".to_owned(),
            Ending::Lost(error) => format!("how it ended is lost: {error}"),
        };
        if let Some(quoted) = words.quote() {
            report.push_str("; its last words: ");
            report.push_str(&quoted);
        }
        End::Over(report)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl AsyncRead for GuardedOutput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.output).poll_read(context, buffer);
        let fresh = buffer.filled().get(before..).unwrap_or_default();
        self.length = match fresh.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => fresh.len() - end - 1,
            None => self.length + fresh.len(),
        };
        if self.length > MAX_MESSAGE {
            self.last_words.lock().unwrap_or_else(PoisonError::into_inner).flooded = true;
            return Poll::Ready(Err(io::Error::other("a message is too long")));
        }
        read
    }
}

impl LastWords {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => self.finish_line(),
                // The rest of a longer line is not worth keeping.
                byte if self.line.len() < MAX_LINE => self.line.push(*byte),
                _ => {}
            }
        }
    }

    fn finish_line(&mut self) {
        let line = one_line(&String::from_utf8_lossy(&self.line), MAX_LINE);
        self.line.clear();
        if line.is_empty() {
            return;
        }
        if self.lines.len() == MAX_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    fn quote(&self) -> Option<String> {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        (!lines.is_empty()).then(|| format!("\"{}\"", lines.join(" | ")))
    }
}

/// Reads on for as long as anybody writes: a full pipe would stop the server.
async fn drain(mut stderr: ChildStderr, last_words: Arc<Mutex<LastWords>>) {
    let mut buffer = [0; 4096];
    loop {
        let read = stderr.read(&mut buffer).await.unwrap_or(0);
        let mut words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
        if read == 0 {
            words.finish_line();
            return;
        }
        words.add(&buffer[..read]);
    }
}

/// The longest message that a server may send: far more than we show of any, and no danger.
pub(super) const MAX_MESSAGE: usize = 8 * 1024 * 1024;

const MAX_LINES: usize = 8;
const MAX_LINE: usize = 300;

/// What is in the pipe is there at once; only who was handed it by the server keeps it open.
const DRAIN_PATIENCE: Duration = Duration::from_millis(300);

/// A server that failed to start is given little time to end.
pub(super) const PATIENCE_WITH_FAILED: Duration = Duration::from_millis(300);
