//! Who we are among agents: our key, our name, whom we trust, and what we know of others.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use sabir_host::{NodeConfig, Surroundings, node_signing_key};
use sabir_ldp::{DelegateId, HexBytes, IdentityCard, SigningKey, Trust, TrustDomain};
use sabir_net::{Client, ClientSettings, Delegation, HttpSettings, LocalGround, Pace};
use sabir_store::peers::Peers;

use crate::home::HomeArgs;

#[derive(Debug, Args)]
pub(super) struct MeArgs {
    /// The configuration file [default: sabir.toml in the home]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    home: HomeArgs,
}

pub(super) struct Me {
    pub(super) key: SigningKey,
    pub(super) delegate_id: DelegateId,
    pub(super) trust: Trust,
    pub(super) peers: Peers,
    pub(super) config: NodeConfig,
    pub(super) domains: Vec<TrustDomain>,
}

impl Me {
    pub(super) fn open(args: &MeArgs) -> anyhow::Result<Self> {
        let home = args.home.resolve()?;
        let path = match &args.config {
            Some(path) if !path.exists() => {
                bail!("{}: there is no such configuration file", path.display())
            }
            Some(path) => path.clone(),
            None => home.join("sabir.toml"),
        };
        Self::with(&home, read_config(&path)?)
    }

    pub(super) fn with(home: &Path, config: NodeConfig) -> anyhow::Result<Self> {
        let key = node_signing_key(home)?;
        let peers = Peers::open(home)?;
        let domains = peers.domains()?;
        let delegate_id = config.identity(&key.public_key())?;
        let trust = config.trust(&domains, &environment)?;
        Ok(Self { key, delegate_id, trust, peers, config, domains })
    }

    /// The card that `sabir up` would publish, at the address where it usually listens.
    pub(super) fn card(&self) -> anyhow::Result<IdentityCard> {
        let surroundings = Surroundings {
            key: self.key.public_key(),
            endpoint: "http://127.0.0.1:7420",
            domains: &self.domains,
        };
        let mut card = self.config.card(self.trust.domain().clone(), &surroundings)?;
        card.public_key = HexBytes::from_hex(&self.key.public_key().to_hex());
        Ok(card)
    }

    pub(super) fn client(&self) -> anyhow::Result<Client> {
        Ok(Client::new(ClientSettings {
            delegate_id: self.delegate_id.clone(),
            key: self.key.clone(),
            trust: self.trust.clone(),
            peers: self.peers.clone(),
            http: HttpSettings::default(),
            pace: Pace::default(),
        })?)
    }

    pub(super) fn delegation(&self) -> anyhow::Result<Delegation> {
        let ground = LocalGround {
            environment: sabir_host::secrets::vars().collect(),
            directory: std::env::current_dir().context("the working directory is gone")?,
            helper: std::env::current_exe().context("this program cannot find itself")?,
        };
        Ok(Delegation::new(self.client()?, ground))
    }
}

/// A configuration. One that was not named need not be there: who names it has looked.
pub(super) fn read_config(path: &Path) -> anyhow::Result<NodeConfig> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(path, &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(NodeConfig::default()),
        Err(error) => Err(error).with_context(|| format!("{}: cannot be read", path.display())),
    }
}

fn parse(path: &Path, text: &str) -> anyhow::Result<NodeConfig> {
    match NodeConfig::parse(text) {
        Ok(config) => Ok(config),
        Err(error) => bail!("{}: {error}", path.display()),
    }
}

/// A variable, wherever it is.
pub(super) fn environment(name: &str) -> Option<String> {
    sabir_host::secrets::var(name)?.into_string().ok()
}
