//! Runs one command: under a supervisor, with bounded output, time and memory, to the very end.
//!
//! A command is not over when its first process is, but when nothing that it started is left.
//! Whether it may run at all is decided elsewhere.

mod decode;
mod denial;
pub(crate) mod environment;
mod keep;
mod model;
mod pump;
mod serve;

use std::fmt;
use std::io::{self, PipeReader};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, pipe};
use tokio::sync::{OnceCell, mpsc};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::sandbox::wire::{self, Command, Report, Status, Task};
use crate::sandbox::{
    Confinement, HELPER_ARGUMENT, Layer, LayerChoice, Limits, Network, Probe, Unconfinable,
    has_linked_git, how, probe,
};
use pump::{MOST_CHUNKS, Pump};

pub(crate) use model::shorten;
pub use model::{Bound, for_model};
pub(crate) use serve::{End, Served, Streams};

/// For a caller that has no opinion: long enough to look at something, too short to build it.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// As shells and `timeout` have it.
pub const TIMED_OUT: i32 = 124;
pub const CANCELLED: i32 = 130;

/// One command to run.
#[derive(Clone, Debug)]
pub struct Exec {
    /// The program and its arguments. No shell is involved unless it is one.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// Beside what is inherited, and not looked at for secrets.
    pub env_extra: Vec<(String, String)>,
    pub timeout: Duration,
    pub confinement: Confinement,
    pub limits: Limits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// A piece of output, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputChunk {
    pub stream: OutputStream,
    pub text: String,
}

/// A command that ran, or that a shell would say could not be run (126, 127).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// 124 after a timeout, 130 when cancelled, 128 and the signal's number after a signal.
    pub exit_code: i32,
    /// At most 1 MiB each, as JSON has them, with the middle left out and a line that says so.
    pub stdout: String,
    pub stderr: String,
    /// Both, in the order in which they came, and at most 512 KiB.
    pub aggregated: String,
    /// Bytes left out of `aggregated`.
    pub omitted_bytes: u64,
    /// Chunks that were not sent: past the largest number, or to a reader that had stopped.
    pub dropped_chunks: u64,
    pub duration: Duration,
    pub timeout: Duration,
    pub timed_out: bool,
    pub cancelled: bool,
    /// It looks as if the sandbox was why it failed.
    pub sandbox_denied: bool,
    /// What confined it; none under full access.
    pub layer: Option<Layer>,
    /// What the sandbox left out, for people.
    pub warnings: Vec<String>,
    /// Processes that could not be ended: under full access, those of other users.
    pub survivors: Vec<i32>,
}

/// Why a command was not run.
#[derive(Debug)]
pub enum ExecError {
    EmptyCommand,
    Unconfinable(Unconfinable),
    /// With the network on, the command could reach this very program and tell it what to do.
    NetworkIsRefused,
    /// The sandbox worked when it was tried, and not for this command, which was never started.
    Confinement {
        layer: Layer,
        reason: String,
    },
    /// Our own program could not be started as a helper, or went away.
    Helper {
        reason: String,
    },
    /// It was told to end everything, and has not.
    Unkillable,
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecError::EmptyCommand => f.write_str("the command is empty"),
            ExecError::Unconfinable(why) => why.fmt(f),
            ExecError::NetworkIsRefused => f.write_str(
                "confined commands get no network here, because this program listens on a port \
                 without a token, and a command could tell it to leave the sandbox: start it with \
                 --token-file, or leave network_access off",
            ),
            ExecError::Confinement { layer, reason } => {
                write!(f, "the sandbox ({layer}) could not be set up: {reason}")
            }
            ExecError::Helper { reason } => write!(f, "the helper process failed: {reason}"),
            ExecError::Unkillable => f.write_str("the command does not end, even when killed"),
        }
    }
}

impl std::error::Error for ExecError {}

/// Runs commands, with what it once found out about the machine.
#[derive(Debug)]
pub struct Runner {
    helper: PathBuf,
    choice: LayerChoice,
    probe: OnceCell<Probe>,
    /// Our own sockets.
    hidden: Vec<PathBuf>,
    /// Variables that commands do not inherit.
    withheld: Vec<String>,
    /// The most that a confined command gets.
    network: Network,
}

impl Runner {
    /// `helper` is a program whose `main` begins by calling [`crate::sandbox::main`] when its first
    /// argument is [`HELPER_ARGUMENT`].
    pub fn new(helper: impl Into<PathBuf>, choice: LayerChoice) -> Self {
        let (probe, hidden, withheld) = (OnceCell::new(), Vec::new(), Vec::new());
        Self { helper: helper.into(), choice, probe, hidden, withheld, network: Network::On }
    }

    /// The running program itself, even if its file has been replaced since it was started: what
    /// stands there now may have been written by a command.
    pub fn of_this_program(choice: LayerChoice) -> Self {
        Self::new("/proc/self/exe", choice)
    }

    /// Hides files from every confined command: the sockets at which this program listens. Whoever
    /// reaches one of them can have commands run without a sandbox.
    #[must_use]
    pub fn hiding(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden.extend(files);
        self
    }

    /// Keeps variables from every command that is not given them by name: they hold secrets, although
    /// their names may not sound so.
    #[must_use]
    pub fn withholding(mut self, variables: impl IntoIterator<Item = String>) -> Self {
        self.withheld.extend(variables);
        self
    }

    pub(crate) fn withheld(&self) -> &[String] {
        &self.withheld
    }

    /// Refuses the network to every confined command: this program listens where each could reach
    /// it, and asks for no token.
    #[must_use]
    pub fn without_network(mut self) -> Self {
        self.network = Network::Off;
        self
    }

    /// Whether commands can be confined in this way.
    pub fn admits(&self, confinement: &Confinement) -> Result<(), ExecError> {
        match confinement {
            Confinement::Confined(confined)
                if confined.network == Network::On && self.network == Network::Off =>
            {
                Err(ExecError::NetworkIsRefused)
            }
            _ => Ok(()),
        }
    }

    /// The program that supervises.
    pub(crate) fn helper(&self) -> &Path {
        &self.helper
    }

    /// What works here. Found out once.
    pub async fn probe(&self) -> &Probe {
        self.probe.get_or_init(|| probe(&self.helper, self.choice)).await
    }

    /// Runs the command and returns when nothing of it is left.
    ///
    /// Output is sent as it comes; a reader that does not keep up slows the command down, but holds
    /// up neither its timeout nor its end. Dropping the future ends the command too.
    pub async fn run(
        &self,
        exec: Exec,
        output: mpsc::Sender<OutputChunk>,
        cancel: CancellationToken,
    ) -> Result<Finished, ExecError> {
        self.run_with(exec, Speech::default(), output, cancel).await
    }

    /// The same for a command that is told something on its standard input, and all of whose output
    /// is sent. Who reads it says when it is too much.
    pub(crate) async fn run_with_input(
        &self,
        mut exec: Exec,
        input: Vec<u8>,
        output: mpsc::Sender<OutputChunk>,
        cancel: CancellationToken,
    ) -> Result<Finished, ExecError> {
        let mut speech = Speech { input: None, most_chunks: u64::MAX };
        match exec.confinement {
            Confinement::FullAccess => {
                speech.input = Some(input);
                self.run_with(exec, speech, output, cancel).await
            }
            // No pipe leads into a confinement, but every file can be read there.
            Confinement::Confined(_) => {
                let fails = |error: io::Error| ExecError::Helper { reason: error.to_string() };
                let file = tokio::task::spawn_blocking(move || input_file(&input)).await;
                let file = file.map_err(io::Error::other).flatten().map_err(fails)?;
                let name = file.path().to_string_lossy().into_owned();
                let mut argv: Vec<String> =
                    vec!["/bin/sh".to_owned(), "-c".to_owned(), READS_FILE.to_owned(), name];
                argv.append(&mut exec.argv);
                exec.argv = argv;
                self.run_with(exec, speech, output, cancel).await
            }
        }
    }

    async fn run_with(
        &self,
        exec: Exec,
        speech: Speech,
        output: mpsc::Sender<OutputChunk>,
        cancel: CancellationToken,
    ) -> Result<Finished, ExecError> {
        if exec.argv.is_empty() {
            return Err(ExecError::EmptyCommand);
        }
        self.admits(&exec.confinement)?;
        let (how, network) = match exec.confinement {
            Confinement::FullAccess => (wire::How::FullAccess, Network::On),
            Confinement::Confined(mut confined) => {
                confined.hidden.extend(self.hidden.iter().cloned());
                let probe = self.probe().await;
                let fits = |layer: &Layer| {
                    probe.works(*layer)
                        && (*layer != Layer::Bubblewrap || !has_linked_git(&confined, &exec.cwd))
                };
                let layer = Layer::ALL.into_iter().find(fits);
                let network = confined.network;
                let how = layer.and_then(|layer| how(layer, confined));
                (how.ok_or_else(|| ExecError::Unconfinable(probe.refusal()))?, network)
            }
        };
        let inherited = environment::without(std::env::vars_os(), &self.withheld);
        let mut env = environment::clean(inherited, how.layer(), network);
        for (name, value) in exec.env_extra {
            env.retain(|(other, _)| other.to_str() != Some(name.as_str()));
            env.push((name.into(), value.into()));
        }
        let command = Command { argv: exec.argv, cwd: exec.cwd, env, limits: exec.limits };
        let task = Task { command, how };
        let mut attempts = match (task.how.layer(), network) {
            (Some(Layer::Bubblewrap), Network::On) => ATTEMPTS,
            _ => 1,
        };
        loop {
            attempts -= 1;
            let (output, cancel) = (output.clone(), cancel.clone());
            let ports = Ports { speech: &speech, output, cancel };
            match carry_out(&self.helper, &task, exec.timeout, ports).await {
                // A socket of another program that was to be covered has gone meanwhile, which
                // bubblewrap does not forgive.
                Err(ExecError::Confinement { .. }) if attempts > 0 => {}
                done => return done,
            }
        }
    }
}

/// How often a command is begun that could not be confined.
const ATTEMPTS: u32 = 5;

/// Why nothing is known about the end of a command.
#[derive(Debug)]
enum Lost {
    NeverStarted(String),
    HelperGone(String),
    Unkillable,
}

impl Lost {
    /// As an error, where no sandbox was to be set up.
    fn unconfined(self) -> ExecError {
        match self {
            Self::NeverStarted(reason) | Self::HelperGone(reason) => ExecError::Helper { reason },
            Self::Unkillable => ExecError::Unkillable,
        }
    }
}

/// Why the command was told to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    TimedOut,
    Cancelled,
}

/// What a command is told, and how much of what it says is sent on.
pub(crate) struct Speech {
    /// For its standard input.
    input: Option<Vec<u8>>,
    most_chunks: u64,
}

impl Default for Speech {
    fn default() -> Self {
        Self { input: None, most_chunks: MOST_CHUNKS }
    }
}

/// How a command is talked to while it runs.
pub(crate) struct Ports<'a> {
    pub(crate) speech: &'a Speech,
    pub(crate) output: mpsc::Sender<OutputChunk>,
    pub(crate) cancel: CancellationToken,
}

/// Begins what its arguments name with a file for its standard input. No word of it is ours.
const READS_FILE: &str = "exec \"$@\" < \"$0\"";

fn input_file(input: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    io::Write::write_all(&mut file, input)?;
    Ok(file)
}

/// Nobody has to listen: what is not read is not missed.
async fn speak(input: Option<(pipe::Sender, &[u8])>) {
    if let Some((mut pipe, input)) = input {
        let _ = pipe.write_all(input).await;
    }
}

pub(crate) async fn carry_out(
    helper: &Path,
    task: &Task,
    timeout: Duration,
    ports: Ports<'_>,
) -> Result<Finished, ExecError> {
    let Ports { speech, output, cancel } = ports;
    let fails = |error: io::Error| ExecError::Helper { reason: error.to_string() };
    let began = Instant::now();
    let deadline = began + timeout;
    let message = wire::encode(task).map_err(fails)?;
    let (input, to_input) = match &speech.input {
        Some(words) => {
            let (input, to_input) = input_pipe().map_err(fails)?;
            (Some(input), Some((to_input, words.as_slice())))
        }
        None => (None, None),
    };
    let (socket, mut child) = start(helper, input).map_err(fails)?;
    let (mut reports, mut control) = socket.into_split();

    let mut pump = Pump::new(output, speech.most_chunks);
    let stop = CancellationToken::new();
    let mut warnings = Vec::new();
    let (told, end) = {
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let mut pumping = std::pin::pin!(pump.run(stdout, stderr, &stop));
        let mut ending = std::pin::pin!(async {
            // A helper that goes away while it is told what to do says nothing, and is noticed so.
            let _ = control.write_all(&message).await;
            let mut last = std::pin::pin!(last_report(&mut reports, &mut warnings));
            let told = tokio::select! {
                biased;
                end = &mut last => return (None, end),
                () = cancel.cancelled() => Told::Cancelled,
                () = sleep_until(deadline) => Told::TimedOut,
            };
            stop.cancel();
            let _ = control.write_all(&[wire::END]).await;
            let end = timeout_at(Instant::now() + UNKILLABLE, last).await;
            (Some(told), end.unwrap_or(Err(Lost::Unkillable)))
        });
        let mut speaking = std::pin::pin!(speak(to_input));
        let (mut pumped, mut spoken) = (false, false);
        let (told, end) = loop {
            tokio::select! {
                end = &mut ending => break end,
                () = &mut pumping, if !pumped => pumped = true,
                () = &mut speaking, if !spoken => spoken = true,
            }
        };
        // Everything is dead; what is still in the pipes belongs to the output.
        if !pumped {
            let left = matches!(&end, Ok((_, left)) if !left.is_empty()) || end.is_err();
            let patience = if left { Instant::now() } else { deadline };
            tokio::select! {
                () = &mut pumping => pumped = true,
                () = cancel.cancelled() => {}
                () = sleep_until(patience) => {}
            }
        }
        if !pumped {
            stop.cancel();
            let _ = timeout_at(Instant::now() + LAST_WORDS, &mut pumping).await;
        }
        (told, end)
    };
    if !matches!(end, Err(Lost::Unkillable)) {
        let _ = child.wait().await;
    }
    let kept = pump.finish();
    let duration = began.elapsed();
    let (status, survivors) = end.map_err(|lost| explain(lost, task, &kept.stderr))?;
    let (exit_code, message) = match (told, status) {
        (Some(Told::TimedOut), _) => (TIMED_OUT, None),
        (Some(Told::Cancelled), _) => (CANCELLED, None),
        (None, Status::Exited(code)) => (code, None),
        (None, Status::Signalled(signal)) => (128 + signal, None),
        (None, Status::NotStarted { code, message }) => (code, Some(message)),
        (None, Status::TooManyProcesses) => {
            let most = task.command.limits.processes;
            (128 + 9, Some(format!("ended: it started more than {most} processes")))
        }
    };
    let mut kept = kept;
    if let Some(message) = message {
        kept.add_message(&message);
    }
    let layer = task.how.layer();
    Ok(Finished {
        exit_code,
        sandbox_denied: layer.is_some()
            && told.is_none()
            && denial::is_likely(exit_code, &kept.aggregated),
        stdout: kept.stdout,
        stderr: kept.stderr,
        aggregated: kept.aggregated,
        omitted_bytes: kept.omitted_bytes,
        dropped_chunks: kept.dropped_chunks,
        duration,
        timeout,
        timed_out: told == Some(Told::TimedOut),
        cancelled: told == Some(Told::Cancelled),
        layer,
        warnings,
        survivors,
    })
}

/// The supervisor gets an environment with nothing in it: what it starts is told its own. `input` is
/// for what it starts.
fn start(
    helper: &Path,
    input: Option<PipeReader>,
) -> io::Result<(UnixStream, tokio::process::Child)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = tokio::process::Command::new(helper);
    command.args([HELPER_ARGUMENT, "supervise"]);
    if let Some(input) = &input {
        command.args(["input", &input.as_raw_fd().to_string()]);
    }
    let child = command
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    Ok((UnixStream::from_std(ours)?, child))
}

/// A pipe whose one end a supervisor inherits by its number.
fn input_pipe() -> io::Result<(PipeReader, pipe::Sender)> {
    let (input, to_input) = io::pipe()?;
    // Others that are started at this moment may get it too; their supervisors close it.
    fcntl_setfd(&input, FdFlags::empty())?;
    Ok((input, pipe::Sender::from_owned_fd(to_input.into())?))
}

async fn last_report(
    from: &mut OwnedReadHalf,
    warnings: &mut Vec<String>,
) -> Result<(Status, Vec<i32>), Lost> {
    loop {
        let report = receive(from).await.map_err(|error| {
            Lost::HelperGone(match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                    "it went away".to_owned()
                }
                _ => error.to_string(),
            })
        })?;
        match report {
            Report::Warning(warning) => warnings.push(warning),
            Report::Confined => {}
            Report::Ended { status, left } => return Ok((status, left)),
            Report::Failed(reason) => return Err(Lost::NeverStarted(reason)),
        }
    }
}

async fn receive(from: &mut OwnedReadHalf) -> io::Result<Report> {
    let mut head = [0; 4];
    from.read_exact(&mut head).await?;
    let mut body = vec![0; wire::length(head)?];
    from.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}

/// A sandbox that could not be set up says why on standard error, if it is bubblewrap.
fn explain(lost: Lost, task: &Task, stderr: &str) -> ExecError {
    match (lost, task.how.layer()) {
        (Lost::NeverStarted(mut reason), Some(layer)) => {
            if let Some(line) = stderr.lines().last() {
                reason = format!("{reason} ({line})");
            }
            ExecError::Confinement { layer, reason }
        }
        (lost, _) => lost.unconfined(),
    }
}

/// For what the kernel itself cannot end: a process that waits for a disk that is gone.
const UNKILLABLE: Duration = Duration::from_secs(30);
/// For output that is in a pipe when everybody is dead.
const LAST_WORDS: Duration = Duration::from_millis(500);
