//! Who we are among agents: our key, our name, whom we trust, and what we know of others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use sabir_base::text::one_line;
use sabir_host::{
    NodeConfig, NodeError, OwnIds, Surroundings, node_signing_key, read_file_text, read_private,
};
use sabir_ldp::{DelegateId, HexBytes, IdentityCard, PublicKey, SigningKey, Trust, TrustDomain};
use sabir_net::{
    Base, Client, ClientSettings, Delegation, HttpSettings, LocalGround, Pace, PlainHttp, Token,
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
    /// With our own ids tied to our keys: nobody whom we ask is one of us.
    pub(super) trust: Trust,
    pub(super) own: OwnIds,
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

    /// As somebody who asks others.
    pub(super) fn with(home: &Path, config: NodeConfig, folder: PathBuf) -> anyhow::Result<Self> {
        Self::opened(home, config, folder, OwnIds::known)
    }

    /// As somebody whom others ask, who is reached at `at`: from the first moment on our ids are ours.
    pub(super) fn serving(
        home: &Path,
        config: NodeConfig,
        folder: PathBuf,
        at: &str,
    ) -> anyhow::Result<Self> {
        let me = Self::opened(home, config, folder, OwnIds::of_home)?;
        me.own.keep(&me.peers, at)?;
        Ok(me)
    }

    fn opened(
        home: &Path,
        config: NodeConfig,
        folder: PathBuf,
        own: fn(&Path, &DelegateId, PublicKey) -> Result<OwnIds, NodeError>,
    ) -> anyhow::Result<Self> {
        let key = node_signing_key(home)?;
        let peers = Peers::open(home)?;
        let domains = peers.domains()?;
        let delegate_id = config.identity(&key.public_key())?;
        let mut trust = config.trust(&domains, &environment)?;
        let own = own(home, &delegate_id, key.public_key())?;
        own.tie(&mut trust);
        Ok(Self { key, delegate_id, trust, own, peers, config, domains, folder })
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
        self.client_with(self.http()?)
    }

    fn client_with(&self, http: HttpSettings) -> anyhow::Result<Client> {
        Ok(Client::new(ClientSettings {
            delegate_id: self.delegate_id.clone(),
            key: self.key.clone(),
            trust: self.trust.clone(),
            peers: self.peers.clone(),
            http,
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
                let token = Token::new(&token)
                    .with_context(|| format!("[[delegates]]: {url}: the variable {name}"))?;
                let token = token.expose().to_owned();
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
        self.delegation_showing(None)
    }

    /// The same, which shows one more token where it belongs.
    pub(super) fn delegation_showing(
        &self,
        token: Option<(&Base, String)>,
    ) -> anyhow::Result<Delegation> {
        let mut http = self.http()?;
        http.tokens.extend(token.map(|(base, token)| (base.origin(), token)));
        let secret = self.config.secret_variables();
        let is_for_others = |(name, _): &(OsString, OsString)| {
            !secret.iter().any(|it| name.as_os_str() == it.as_str())
        };
        let ground = LocalGround {
            environment: sabir_host::secrets::vars().filter(is_for_others).collect(),
            directory: std::env::current_dir().context("the working directory is gone")?,
            helper: std::env::current_exe().context("this program cannot find itself")?,
        };
        Ok(Delegation::new(self.client_with(http)?, ground))
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
pub(crate) fn folder_of(path: &Path) -> anyhow::Result<PathBuf> {
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
