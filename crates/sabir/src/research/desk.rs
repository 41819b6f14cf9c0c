//! What the commands at the desk share: how it is opened, and how it is stopped.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use sabir_capture::HostPort;
use sabir_host::{
    Desk, DeskError, DeskModel, DeskSetup, Integrations, McpConfig, ModelClient, USUAL_BUDGET,
    config_file, load_policy_with,
};
use sabir_store::library::Collection;
use tokio_util::sync::CancellationToken;

use crate::agent_args::{self, AgentArgs};
use crate::home::HomeArgs;
use crate::model_args::ModelArgs;
use crate::signals::Signals;

/// The model that is built in, by its name.
pub(crate) const EXTRACTIVE: &str = "extractive";
/// With fewer the question itself does not fit.
const LEAST_BUDGET: u64 = 500;

/// Which model answers, and where it may fetch from.
#[derive(Debug, Clone, Args)]
pub(crate) struct DeskArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) egress: EgressArgs,
    /// How many tokens the model is given at once
    #[arg(long, value_name = "N", default_value_t = USUAL_BUDGET,
        value_parser = RangedU64ValueParser::<usize>::new().range(LEAST_BUDGET..))]
    pub(crate) budget: usize,
}

/// Where it may fetch from.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EgressArgs {
    /// Reach this address although it is not public; can be given several times
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) allow_egress: Vec<HostPort>,
}

/// How much a person sees of the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    Hidden,
    Visible,
}

impl DeskArgs {
    pub(crate) fn open(&self, sight: Sight) -> anyhow::Result<Desk> {
        self.open_withholding(sight, &[])
    }

    /// The same; programs that are connected do not inherit these variables.
    pub(crate) fn open_withholding(&self, sight: Sight, secret: &[String]) -> anyhow::Result<Desk> {
        if self.model.model.as_deref() == Some(EXTRACTIVE) {
            // It proposes nothing and asks nobody: what is configured does not matter.
            let config = self.model.config_file()?;
            let model = DeskModel::Extractive;
            return open(&self.model.home, &config, &self.egress, model, None, sight);
        }
        let model = self.chosen()?;
        let integrations = Integrations {
            config: servers(&self.model)?.withholding(secret.iter().cloned()),
            helper: std::env::current_exe().context("this program cannot find itself")?,
        };
        let config = self.model.config_file()?;
        open(&self.model.home, &config, &self.egress, model, Some(integrations), sight)
    }

    /// The built-in model, unless it is said who else should answer.
    fn chosen(&self) -> anyhow::Result<DeskModel> {
        let said = self.model.model.as_deref();
        let providers = self.model.providers()?;
        let is_configured = providers.names().next().is_some();
        if !(self.model.is_said() || is_configured) {
            return Ok(DeskModel::Extractive);
        }
        let environment = |name: &str| sabir_host::secrets::var(name)?.into_string().ok();
        let provider = providers.resolve(&[&self.model.settings()], &environment)?;
        let model = said.map(str::to_owned).or_else(|| provider.model.clone());
        let model = model.context("no model is named: say --model NAME, or --model extractive")?;
        let client = Box::new(ModelClient::new(provider)?);
        Ok(DeskModel::Server { client, model, budget: self.budget })
    }
}

/// A desk for commands that ask no model.
pub(crate) fn open_without_model(home: &HomeArgs, egress: &EgressArgs) -> anyhow::Result<Desk> {
    let config = config_file(&home.resolve()?);
    open(home, &config, egress, DeskModel::Extractive, None, Sight::Hidden)
}

fn open(
    home: &HomeArgs,
    config: &Path,
    egress: &EgressArgs,
    model: DeskModel,
    integrations: Option<Integrations>,
    sight: Sight,
) -> anyhow::Result<Desk> {
    let home = home.resolve()?;
    let policy = load_policy_with(&home, config)?;
    Ok(Desk::open(DeskSetup {
        home,
        allow_egress: egress.allow_egress.clone(),
        program: std::env::current_exe().context("this program cannot find itself")?,
        model,
        policy,
        integrations,
        visible_browser: sight == Sight::Visible,
    })?)
}

fn servers(model: &ModelArgs) -> anyhow::Result<McpConfig> {
    AgentArgs::servers(&model.config_file()?)
}

/// Runs what waits for pages and models, until it is done or somebody says stop.
pub(crate) fn block_on<T>(
    work: impl AsyncFnOnce(&CancellationToken) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let stop = CancellationToken::new();
    let done = agent_args::block_on(async {
        let work = work(&stop);
        tokio::pin!(work);
        let mut signals = Signals::listen();
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = signals.next() => {
                    if stop.is_cancelled() {
                        // Twice is meant.
                        return Err(DeskError::Stopped.into());
                    }
                    stop.cancel();
                }
            }
        }
    });
    done.flatten()
}

/// The collection of this name or id.
pub(crate) fn find(desk: &Desk, name: &str) -> anyhow::Result<Collection> {
    desk.library().find_collection(name).map_err(|error| {
        use sabir_store::library::LibraryError;
        match error {
            LibraryError::NotFound { ref near, .. } => {
                let hint = match near.first() {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!(
                        "`sabir collection list` shows those that are there, `sabir capture -c \
                         {name:?} URL|FILE` begins it"
                    ),
                };
                anyhow::anyhow!("there is no collection {name:?}: {hint}")
            }
            error => error.into(),
        }
    })
}
