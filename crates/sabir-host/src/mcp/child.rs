//! A server as a child process: its environment, its own process group, its last words, its end.
//! It knows pipes and signals, no message.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use sabir_base::text::one_line;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::config::StdioConfig;
use super::redaction::Redaction;
use crate::process::environment::sounds_secret;

/// The environment that this program was started with.
#[derive(Clone, Default)]
pub(super) struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

/// A running server. Dropping it kills its whole process group.
#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
    stderr: JoinHandle<()>,
    last_words: Arc<Mutex<LastWords>>,
}

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
    pub(super) fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.into_iter().collect() }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(OsStr::new(name))?.to_str()
    }

    /// What a child gets: all but what sounds secret, and what the configuration gives it.
    fn for_child(
        &self,
        config: &StdioConfig,
        redaction: &mut Redaction,
    ) -> BTreeMap<OsString, OsString> {
        let mut variables = self.variables.clone();
        variables.retain(|name, _| !sounds_secret(&name.to_string_lossy()));
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
    pub(super) fn start(
        config: &StdioConfig,
        environment: &Environment,
        directory: &Path,
        redaction: &mut Redaction,
    ) -> Result<(Self, GuardedOutput, ChildStdin), String> {
        let mut process = Command::new(&config.program)
            .args(&config.arguments)
            .env_clear()
            .envs(environment.for_child(config, redaction))
            .current_dir(directory)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| spawn_problem(config, directory, &error))?;
        let group = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let last_words = Arc::new(Mutex::new(LastWords::default()));
        let (Some(stdin), Some(output), Some(stderr)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err("its pipes are missing".to_owned());
        };
        let drain = tokio::spawn(drain(stderr, Arc::clone(&last_words)));
        let output = GuardedOutput { output, length: 0, last_words: Arc::clone(&last_words) };
        Ok((Self { process, group, stderr: drain, last_words }, output, stdin))
    }

    /// Waits for the child to end by itself, which it should when its input is closed; then ends
    /// its group, whatever is left of it. Says how it ended and quotes its last words.
    pub(super) async fn end(mut self, patience: Duration) -> String {
        let _ = tokio::time::timeout(patience, self.exited()).await;
        let alone = self.has_exited();
        self.kill_group();
        let status = self.process.wait().await;
        // The group is gone and its number may be given to others from now on.
        self.group = None;
        // Nobody holds the other end now but what left the group.
        let _ = tokio::time::timeout(DRAIN_PATIENCE, &mut self.stderr).await;
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut report = match (words.flooded, alone, status) {
            (true, ..) => format!("it sent a message longer than {} MiB", MAX_MESSAGE >> 20),
            (false, true, Ok(status)) => describe_exit(status),
            (false, false, _) => "it was ended".to_owned(),
            (false, true, Err(error)) => format!("it ended, and its status is lost: {error}"),
        };
        if let Some(quoted) = words.quote() {
            report.push_str("; its last words: ");
            report.push_str(&quoted);
        }
        report
    }

    /// Ends once the process is dead. It stays a zombie, so that its number, which is its group's,
    /// is not given to another before the group is killed.
    async fn exited(&self) {
        while !self.has_exited() {
            tokio::time::sleep(POLL).await;
        }
    }

    fn has_exited(&self) -> bool {
        let Some(group) = self.group else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(group), options), Ok(None))
    }

    fn kill_group(&self) {
        if let Some(group) = self.group {
            // It fails when nobody is left, which is what it is for.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill_group();
        self.stderr.abort();
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

fn spawn_problem(config: &StdioConfig, directory: &Path, error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::NotFound {
        return format!("`{}` cannot be run: {error}", config.program);
    }
    if directory.is_dir() {
        return format!("there is no program `{}`", config.program);
    }
    format!("there is no folder `{}`", directory.display())
}

fn describe_exit(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with status {code}"),
        (None, Some(signal)) => format!("it was killed by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}

/// The longest message that a server may send: far more than we show of any, and no danger.
pub(super) const MAX_MESSAGE: usize = 8 * 1024 * 1024;

const MAX_LINES: usize = 8;
const MAX_LINE: usize = 300;

/// Often enough that nobody notices, rarely enough that it costs nothing.
const POLL: Duration = Duration::from_millis(10);

/// What is in the pipe is there at once; only a process outside the group keeps it open.
const DRAIN_PATIENCE: Duration = Duration::from_millis(300);

/// A server that failed to start is given little time to end.
pub(super) const PATIENCE_WITH_FAILED: Duration = Duration::from_millis(300);
