//! `sabir sandbox`: one command under the sandbox, to see what it holds back.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use sabir_host::process::{Exec, Finished, OutputChunk, OutputStream, Runner};
use sabir_host::sandbox::{Confinement, LayerChoice, Limits, OwnState, Probe, temporary_folder};
use sabir_policy::{SandboxMode, SandboxPolicy};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::output::{Notes, Output};

/// Run a command in the sandbox, or say which sandbox works here
///
/// The command gets no input, and nothing that it starts outlives it. Without --mode it may write to
/// the working directory and the temporary folders, and has no network.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir sandbox --probe
  sabir sandbox --probe --json
  sabir sandbox -- sh -c 'touch here; touch /etc/there'
  sabir sandbox --mode read-only --layer namespaces -- ls -l

Exit codes:
  the command's own; 124 after a timeout, 126 or 127 if it cannot be started
  0, 1  with --probe: whether a sandbox works
  2     no sandbox works, or the command line is wrong")]
pub(crate) struct SandboxArgs {
    /// How much the command may do
    #[arg(long, value_enum, default_value = "workspace-write")]
    mode: Mode,
    /// Take this layer only (SABIR_SANDBOX_LAYER says the same)
    #[arg(long, value_enum)]
    layer: Option<LayerName>,
    /// Leave the network on
    #[arg(long)]
    network: bool,
    /// One more folder that may be written
    #[arg(long, value_name = "DIR")]
    writable: Vec<PathBuf>,
    /// A folder that stays read-only, inside a writable one too
    #[arg(long, value_name = "DIR")]
    read_only: Vec<PathBuf>,
    /// A file that cannot be read
    #[arg(long, value_name = "FILE")]
    hide: Vec<PathBuf>,
    /// Processes and threads at one time
    #[arg(long, value_name = "N", default_value_t = sabir_host::sandbox::DEFAULT_PROCESSES)]
    processes: u32,
    /// End the command after so many milliseconds
    #[arg(long, value_name = "MS", default_value_t = 600_000)]
    timeout: u64,
    /// Say which layers work, and why others do not
    #[arg(long, conflicts_with = "command")]
    probe: bool,
    /// Print the answer to --probe as JSON
    #[arg(long, requires = "probe")]
    json: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present = "probe")]
    command: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LayerName {
    Bubblewrap,
    Namespaces,
    None,
}

impl SandboxArgs {
    pub(crate) fn run(self) -> ExitCode {
        match self.try_run() {
            Ok(code) => code,
            Err(error) => {
                Notes::stderr().error(error);
                Exit::Unusable.into()
            }
        }
    }

    fn try_run(self) -> anyhow::Result<ExitCode> {
        let choice = match self.layer {
            Some(layer) => {
                layer.to_possible_value().context("a layer without a name")?.get_name().parse()?
            }
            None => LayerChoice::from_environment()?,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let runner = Runner::of_this_program(choice);
            if self.probe {
                report(runner.probe().await, self.json)
            } else {
                self.execute(&runner).await
            }
        })
    }

    async fn execute(self, runner: &Runner) -> anyhow::Result<ExitCode> {
        let cwd = std::env::current_dir().context("cannot find the working directory")?;
        let policy = SandboxPolicy {
            mode: match self.mode {
                Mode::ReadOnly => SandboxMode::ReadOnly,
                Mode::WorkspaceWrite => SandboxMode::WorkspaceWrite,
                Mode::DangerFullAccess => SandboxMode::DangerFullAccess,
            },
            network_access: self.network,
            ..SandboxPolicy::default()
        };
        let own = OwnState { folders: self.read_only, key_files: self.hide };
        let tmpdir = temporary_folder();
        let mut confinement = Confinement::of(&policy, &cwd, tmpdir.as_deref(), &own);
        if let Confinement::Confined(confined) = &mut confinement
            && self.mode == Mode::WorkspaceWrite
        {
            for root in self.writable {
                confined.writable_roots.push(std::path::absolute(root)?);
            }
        }
        let exec = Exec {
            argv: self.command,
            cwd,
            env_extra: Vec::new(),
            timeout: Duration::from_millis(self.timeout),
            confinement,
            limits: Limits { processes: self.processes, ..Limits::default() },
        };
        let (sender, mut receiver) = mpsc::channel::<OutputChunk>(16);
        let cancel = CancellationToken::new();
        let shown = async {
            while let Some(chunk) = receiver.recv().await {
                // Somebody who closed the pipe has seen enough.
                let _ = match chunk.stream {
                    OutputStream::Stdout => {
                        let mut stdout = io::stdout().lock();
                        stdout.write_all(chunk.text.as_bytes()).and_then(|()| stdout.flush())
                    }
                    OutputStream::Stderr => io::stderr().lock().write_all(chunk.text.as_bytes()),
                };
            }
        };
        let interrupted = async {
            if tokio::signal::ctrl_c().await.is_ok() {
                cancel.cancel();
            }
            std::future::pending::<()>().await;
        };
        let running = runner.run(exec, sender, cancel.clone());
        let finished = tokio::select! {
            (finished, ()) = async { tokio::join!(running, shown) } => finished?,
            () = interrupted => return Ok(Exit::Unusable.into()),
        };
        Ok(conclude(&finished))
    }
}

fn conclude(finished: &Finished) -> ExitCode {
    let mut notes = Notes::stderr();
    for warning in &finished.warnings {
        notes.line(format_args!("warning: {warning}"));
    }
    if finished.timed_out {
        let millis = finished.timeout.as_millis();
        notes.line(format_args!("note: ended after {millis} milliseconds"));
    }
    // What was said instead of the command was not among its chunks.
    if matches!(finished.exit_code, 126 | 127 | 137)
        && let Some(line) = finished.stderr.lines().last()
    {
        notes.line(format_args!("note: {line}"));
    }
    if finished.sandbox_denied {
        notes.line("note: it looks as if the sandbox was why it failed");
    }
    ExitCode::from(u8::try_from(finished.exit_code).unwrap_or(u8::MAX))
}

fn report(probe: &Probe, json: bool) -> anyhow::Result<ExitCode> {
    let mut output = Output::stdout();
    if json {
        let mut value = serde_json::to_value(probe)?;
        value["best"] = serde_json::to_value(probe.best())?;
        writeln!(output, "{value}")?;
    } else {
        for it in &probe.layers {
            match &it.reason {
                None => writeln!(output, "{}: works", it.layer)?,
                Some(reason) => writeln!(output, "{}: {reason}", it.layer)?,
            }
        }
        match probe.best() {
            Some(layer) => writeln!(output, "commands are confined by {layer}")?,
            None => writeln!(output, "commands are refused unless they have full access")?,
        }
    }
    output.flush()?;
    Ok(if probe.best().is_some() { Exit::Done.into() } else { Exit::Found.into() })
}
