//! Who we are among agents: our key, our name, whom we trust, and what we know of others.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use sabir_ldp::{DelegateId, SignaturePolicy, SigningKey, Trust, TrustDomain};
use sabir_net::{Client, ClientSettings, Delegation, HttpSettings, LocalGround, Pace};
use sabir_store::node_key;
use sabir_store::peers::Peers;

use crate::home::HomeArgs;

#[derive(Debug, Args)]
pub(super) struct MeArgs {
    /// The configuration file [default: sabir.toml in the home]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) home: HomeArgs,
}

pub(super) struct Me {
    pub(super) key: SigningKey,
    pub(super) delegate_id: DelegateId,
    pub(super) trust: Trust,
    pub(super) peers: Peers,
}

impl Me {
    pub(super) fn open(args: &MeArgs) -> anyhow::Result<Self> {
        let home = args.home.resolve()?;
        let draw = || {
            let mut seed = [0; 32];
            getrandom::fill(&mut seed).map_err(std::io::Error::other)?;
            Ok(seed)
        };
        let key = SigningKey::from_seed(&node_key(&home, draw)?);
        let peers = Peers::open(&home)?;
        let delegate_id = name_of(&key)?;
        let trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::default());
        Ok(Self { key, delegate_id, trust, peers })
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
            helper: std::env::current_exe().context("this program cannot be found")?,
        };
        Ok(Delegation::new(self.client()?, ground))
    }
}

/// A name for who was given none: nobody else has the key.
fn name_of(key: &SigningKey) -> anyhow::Result<DelegateId> {
    let key = key.public_key().to_hex();
    let short = key.get(..16).unwrap_or(&key);
    Ok(DelegateId::new(format!("ldp:delegate:{short}"))?)
}
