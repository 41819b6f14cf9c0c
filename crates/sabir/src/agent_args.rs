//! What the commands that run agents share: where the state is, which model, what may happen.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use sabir_engine::{ConfigureSession, ProviderSettings, WireApi};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{Defaults, Engine, McpConfig, Providers, Setup};
use sabir_policy::{ApprovalPolicy, SandboxMode, SandboxPolicy};

use crate::home::HomeArgs;

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,
    /// The model, as its provider names it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A provider of the configuration file
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The address of a model server, up to /v1; its key is taken from SABIR_API_KEY
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Which API the model server speaks
    #[arg(long, value_enum, value_name = "API")]
    pub(crate) wire: Option<Wire>,
    /// When to ask before something runs [default: on-request]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) approval: Option<Approval>,
    /// What commands may touch [default: workspace-write]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) sandbox: Option<Sandbox>,
    /// The configuration file [default: sabir.toml in the home]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Wire {
    Responses,
    Chat,
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
        let home = self.home.resolve()?;
        let config = self.config_file()?;
        let providers = Providers::load(&config)?;
        let mcp = servers(&config)?;
        let cwd = std::env::current_dir().context("the working directory is gone")?;
        let defaults = Defaults {
            model: self.model.clone(),
            provider: self.provider_settings(),
            approval_policy: self.approval_policy(),
            sandbox_policy: self.sandbox_policy(),
            cwd,
        };
        Ok(Engine::open(Setup { home, runner, providers, key_files, mcp, defaults })?)
    }

    /// The providers of the configuration file.
    pub(crate) fn providers(&self) -> anyhow::Result<Providers> {
        Ok(Providers::load(&self.config_file()?)?)
    }

    /// What was said here, over what is stored of a session.
    pub(crate) fn configure(&self) -> ConfigureSession {
        let said = self.provider_settings();
        ConfigureSession {
            model: self.model.clone(),
            provider: (said != ProviderSettings::default()).then_some(said),
            approval_policy: self.approval_policy(),
            sandbox_policy: self.sandbox_policy(),
            ..ConfigureSession::default()
        }
    }

    fn provider_settings(&self) -> ProviderSettings {
        ProviderSettings {
            name: self.provider.clone(),
            base_url: self.base_url.clone(),
            wire_api: self.wire.map(|wire| match wire {
                Wire::Responses => WireApi::Responses,
                Wire::Chat => WireApi::Chat,
            }),
            ..ProviderSettings::default()
        }
    }

    /// Whether it was said where a model is; a provider may also stand in the configuration file.
    pub(crate) fn names_a_model(&self) -> anyhow::Result<bool> {
        let is_said = self.model.is_some() || self.provider.is_some() || self.base_url.is_some();
        Ok(is_said || self.config_file()?.exists())
    }

    fn config_file(&self) -> anyhow::Result<PathBuf> {
        match &self.config {
            // The one in the home need not be there; one that is named must be.
            Some(config) => match config.try_exists() {
                Ok(true) => Ok(config.clone()),
                Ok(false) => bail!("{}: there is no such configuration file", config.display()),
                Err(error) => {
                    Err(error).with_context(|| format!("{}: cannot be read", config.display()))
                }
            },
            None => Ok(self.home.resolve()?.join("sabir.toml")),
        }
    }

    /// What runs commands.
    pub(crate) fn runner() -> anyhow::Result<Runner> {
        Ok(Runner::of_this_program(LayerChoice::from_environment()?))
    }

    pub(crate) fn approval_policy(&self) -> Option<ApprovalPolicy> {
        self.approval.map(|approval| match approval {
            Approval::Untrusted => ApprovalPolicy::Untrusted,
            Approval::OnRequest => ApprovalPolicy::OnRequest,
            Approval::OnFailure => ApprovalPolicy::OnFailure,
            Approval::Never => ApprovalPolicy::Never,
        })
    }

    pub(crate) fn sandbox_policy(&self) -> Option<SandboxPolicy> {
        self.sandbox.map(|sandbox| {
            SandboxPolicy::of(match sandbox {
                Sandbox::ReadOnly => SandboxMode::ReadOnly,
                Sandbox::WorkspaceWrite => SandboxMode::WorkspaceWrite,
                Sandbox::DangerFullAccess => SandboxMode::DangerFullAccess,
            })
        })
    }
}

/// The servers of tools that a file lists; one that is not there lists none.
fn servers(path: &Path) -> anyhow::Result<McpConfig> {
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

/// A runtime for the commands that wait for several things at once.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("no threads can be started")
}
