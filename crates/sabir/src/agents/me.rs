//! Who we are among agents: our key, our name, whom we trust, and what we know of others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use sabir_base::text::one_line;
use sabir_host::{NodeConfig, Surroundings, node_signing_key, read_file_text, read_private};
use sabir_ldp::{DelegateId, HexBytes, IdentityCard, SigningKey, Trust, TrustDomain};
use sabir_net::{
    Base, Client, ClientSettings, Delegation, HttpSettings, LocalGround, Pace, PlainHttp,
};
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
    /// Where the configuration stands, or would: relative files start there.
    pub(super) folder: PathBuf,
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
        Self::with(&home, read_config(&path)?, folder_of(&path)?)
    }

    pub(super) fn with(home: &Path, config: NodeConfig, folder: PathBuf) -> anyhow::Result<Self> {
        let key = node_signing_key(home)?;
        let peers = Peers::open(home)?;
        let domains = peers.domains()?;
        let delegate_id = config.identity(&key.public_key())?;
        let trust = config.trust(&domains, &environment)?;
        Ok(Self { key, delegate_id, trust, peers, config, domains, folder })
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
            http: self.http()?,
            pace: Pace::default(),
        })?)
    }

    /// What those whom we ask are shown, as the configuration says.
    fn http(&self) -> anyhow::Result<HttpSettings> {
        let mut http = HttpSettings::default();
        for delegate in &self.config.delegates {
            let url = one_line(&delegate.url, 120);
            let base = Base::parse(&delegate.url, PlainHttp::LoopbackOnly)
                .with_context(|| format!("[[delegates]]: {url}"))?;
            if let Some(name) = &delegate.token_env {
                ensure!(
                    base.is_private(),
                    "[[delegates]]: {url}: a token is sent over https only, or on this machine"
                );
                let token = environment(name).filter(|token| !token.is_empty());
                let token = token.with_context(|| {
                    format!("[[delegates]]: {url}: the variable {name} is not set")
                })?;
                let other = http.tokens.insert(base.origin(), token.clone());
                ensure!(
                    other.is_none_or(|other| other == token),
                    "[[delegates]]: {} has two tokens",
                    base.origin()
                );
            }
            if let Some(ca) = &delegate.ca {
                http.roots_pem.push(pem(&self.folder.join(ca), read_file_text)?);
            }
        }
        if let Some(identity) = &self.config.identity {
            let mut both = pem(&self.folder.join(&identity.certificate), read_file_text)?;
            both.push(b'\n');
            both.extend(pem(&self.folder.join(&identity.key), read_private)?);
            http.identity_pem = Some(both);
        }
        Ok(http)
    }

    pub(super) fn delegation(&self) -> anyhow::Result<Delegation> {
        let secret = self.config.secret_variables();
        let is_for_others = |(name, _): &(OsString, OsString)| {
            !secret.iter().any(|it| name.as_os_str() == it.as_str())
        };
        let ground = LocalGround {
            environment: sabir_host::secrets::vars().filter(is_for_others).collect(),
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

/// Where the configuration stands, or would.
pub(super) fn folder_of(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).context("the working directory is gone")?;
    Ok(path.parent().map(Path::to_path_buf).unwrap_or(path))
}

/// A file with certificates or a key.
fn pem(path: &Path, read: fn(&Path, u64) -> Result<String, String>) -> anyhow::Result<Vec<u8>> {
    match read(path, MAX_PEM) {
        Ok(text) => Ok(text.into_bytes()),
        Err(why) => bail!("{}: {why}", path.display()),
    }
}

/// The bundles of whole systems are a quarter of that.
const MAX_PEM: u64 = 1 << 20;
