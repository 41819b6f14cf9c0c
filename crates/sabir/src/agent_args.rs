//! What the commands that run agents share: which model, and what may happen.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use sabir_engine::{ConfigureSession, ProviderSettings};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{Defaults, Engine, McpConfig, Setup, load_policy_with};
use sabir_policy::{ApprovalPolicy, SandboxMode, SandboxPolicy};

use crate::model_args::ModelArgs;

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// When to ask before something runs [default: on-request]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) approval: Option<Approval>,
    /// What commands may touch [default: workspace-write]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) sandbox: Option<Sandbox>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Approval {
    /// Ask for everything that is not known to only read
    Untrusted,
    /// Ask for what is destructive, and when the model asks for more rights
    OnRequest,
    /// Ask when the sandbox refused something
    OnFailure,
    /// Never ask
    Never,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Sandbox {
    /// Commands change nothing
    ReadOnly,
    /// Commands change the working directory and temporary files
    WorkspaceWrite,
    /// Commands may do what you may do
    DangerFullAccess,
}

impl AgentArgs {
    /// Opens the engine, with what was said here as the default of its sessions.
    pub(crate) fn open(&self) -> anyhow::Result<Engine> {
        self.open_with(Self::runner()?, Vec::new())
    }

    /// The same, where commands are run by a runner that knows more, and with more files that
    /// neither commands nor tools may read.
    pub(crate) fn open_with(
        &self,
        runner: Runner,
        key_files: Vec<PathBuf>,
    ) -> anyhow::Result<Engine> {
        let home = self.model.home.resolve()?;
        let config = self.model.config_file()?;
        let providers = self.model.providers()?;
        let mcp = Self::servers(&config)?;
        let cwd = std::env::current_dir().context("the working directory is gone")?;
        let defaults = Defaults {
            model: self.model.model.clone(),
            provider: self.model.settings(),
            approval_policy: self.approval_policy(),
            sandbox_policy: self.sandbox_policy(),
            cwd,
        };
        let policy = load_policy_with(&home, &config)?;
        let setup = Setup { home, runner, providers, key_files, mcp, defaults };
        Ok(Engine::open_under(setup, policy)?)
    }

    /// What was said here, over what is stored of a session.
    pub(crate) fn configure(&self) -> ConfigureSession {
        let said = self.model.settings();
        ConfigureSession {
            model: self.model.model.clone(),
            provider: (said != ProviderSettings::default()).then_some(said),
            approval_policy: self.approval_policy(),
            sandbox_policy: self.sandbox_policy(),
            ..ConfigureSession::default()
        }
    }

    /// The servers of tools that a file lists; one that is not there lists none.
    pub(crate) fn servers(path: &Path) -> anyhow::Result<McpConfig> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("{}: cannot be read", path.display()));
            }
        };
        McpConfig::parse(&text).map_err(|error| {
            let help = error.help();
            anyhow::anyhow!("{}: {error}: {help}", path.display())
        })
    }

    /// What runs commands.
    pub(crate) fn runner() -> anyhow::Result<Runner> {
        Ok(Runner::of_this_program(LayerChoice::from_environment()?))
    }

    pub(crate) fn approval_policy(&self) -> Option<ApprovalPolicy> {
        self.approval.map(ApprovalPolicy::from)
    }

    pub(crate) fn sandbox_policy(&self) -> Option<SandboxPolicy> {
        self.sandbox.map(SandboxPolicy::from)
    }
}

impl From<Approval> for ApprovalPolicy {
    fn from(approval: Approval) -> Self {
        match approval {
            Approval::Untrusted => Self::Untrusted,
            Approval::OnRequest => Self::OnRequest,
            Approval::OnFailure => Self::OnFailure,
            Approval::Never => Self::Never,
        }
    }
}

impl From<Sandbox> for SandboxPolicy {
    fn from(sandbox: Sandbox) -> Self {
        Self::of(match sandbox {
            Sandbox::ReadOnly => SandboxMode::ReadOnly,
            Sandbox::WorkspaceWrite => SandboxMode::WorkspaceWrite,
            Sandbox::DangerFullAccess => SandboxMode::DangerFullAccess,
        })
    }
}

/// Does work that waits for several things at once, to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = runtime()?;
    let done = runtime.block_on(work);
    // A thread may still be waiting for a line on standard input.
    runtime.shutdown_background();
    Ok(done)
}

/// A runtime for the commands that wait for several things at once.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("no threads can be started")
}
