//! Those who may call: peers that are known by their id, and whoever holds a token or a certificate.
//! And those whom we call, with what we show them.

use std::path::PathBuf;

use sabir_ldp::{DelegateId, Fingerprint, PublicKey};

use super::NodeConfigError;
use super::section::{Placed, Section};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerConfig {
    pub delegate_id: DelegateId,
    pub trust_domain: String,
    /// The variable that holds the secret that it signs with, as the reference does.
    pub hmac_secret_env: Option<String>,
    pub public_keys: Vec<PublicKey>,
    pub shows: Vec<Evidence>,
}

/// Anybody who shows this is in that domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerConfig {
    pub trust_domain: String,
    pub shows: Evidence,
}

/// Somebody whom we ask, and what that takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegateConfig {
    /// Where it is. Its scheme, host and port are what a token is given for.
    pub url: String,
    /// The variable that holds the bearer token that it gets.
    pub token_env: Option<String>,
    /// Certificates in PEM that are trusted besides those of the system.
    pub ca: Option<PathBuf>,
}

/// What is shown to prove something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The variable that holds a bearer token.
    TokenEnv(String),
    /// The SHA-256 hash of a bearer token.
    Token(Fingerprint),
    /// The SHA-256 hash of a certificate.
    Certificate(Fingerprint),
}

pub(super) fn read_peer(
    mut section: Section<'_>,
    ours: &str,
    own: Option<&DelegateId>,
    peers: &mut Vec<PeerConfig>,
) -> Result<(), NodeConfigError> {
    let id = section.required_text("delegate_id")?;
    let delegate_id = DelegateId::new(id.value.clone())
        .map_err(|error| section.error_at(&id, error.to_string()))?;
    if peers.iter().any(|peer| peer.delegate_id == delegate_id) {
        return Err(section.error_at(&id, "this peer stands twice"));
    }
    if own == Some(&delegate_id) {
        return Err(section.error_at(&id, "this is the node itself, which nobody else speaks for"));
    }
    let secret = section.text("hmac_secret_env")?;
    let hmac_secret_env = secret.map(|it| variable(&section, it)).transpose()?;
    let mut public_keys = Vec::new();
    for key in section
        .text("public_key")?
        .into_iter()
        .chain(section.texts("public_keys")?.unwrap_or_default())
    {
        let read = PublicKey::from_hex(&key.value);
        public_keys.push(read.map_err(|error| section.error_at(&key, error.to_string()))?);
    }
    let shows = read_evidence(&mut section)?;
    if hmac_secret_env.is_none() && public_keys.is_empty() && shows.is_empty() {
        let why = "this peer has nothing to prove itself by: give it hmac_secret_env, public_key, \
                   token_env, token_sha256 or certificate_sha256";
        return Err(section.error_at(&id, why));
    }
    let trust_domain = domain(&mut section, ours)?;
    peers.push(PeerConfig { delegate_id, trust_domain, hmac_secret_env, public_keys, shows });
    Ok(())
}

pub(super) fn read_caller(
    mut section: Section<'_>,
    ours: &str,
) -> Result<CallerConfig, NodeConfigError> {
    let mut shows = read_evidence(&mut section)?;
    match (shows.pop(), shows.is_empty()) {
        (Some(shows), true) => {
            Ok(CallerConfig { trust_domain: domain(&mut section, ours)?, shows })
        }
        (_, _) => {
            let why = "a caller has one of token_env, token_sha256 and certificate_sha256";
            Err(section.error(why))
        }
    }
}

pub(super) fn read_delegate(
    mut section: Section<'_>,
    delegates: &mut Vec<DelegateConfig>,
) -> Result<(), NodeConfigError> {
    let url = section.required_text("url")?;
    if !SCHEMES.iter().any(|scheme| url.value.starts_with(scheme)) {
        return Err(section.error_at(&url, "an address starts with ldp://, https:// or http://"));
    }
    if delegates.iter().any(|delegate| delegate.url == url.value) {
        return Err(section.error_at(&url, "this delegate stands twice"));
    }
    let token = section.text("token_env")?;
    let token_env = token.map(|it| variable(&section, it)).transpose()?;
    let ca: Option<PathBuf> = section.text("ca")?.map(|it| it.value.into());
    if token_env.is_none() && ca.is_none() {
        return Err(section.error_at(&url, "nothing is said of it: give it token_env or ca"));
    }
    delegates.push(DelegateConfig { url: url.value, token_env, ca });
    Ok(())
}

fn read_evidence(section: &mut Section<'_>) -> Result<Vec<Evidence>, NodeConfigError> {
    let mut shows = Vec::new();
    if let Some(name) = section.text("token_env")? {
        shows.push(Evidence::TokenEnv(variable(section, name)?));
    }
    if let Some(hash) = section.text("token_sha256")? {
        shows.push(Evidence::Token(fingerprint(section, &hash)?));
    }
    if let Some(hash) = section.text("certificate_sha256")? {
        shows.push(Evidence::Certificate(fingerprint(section, &hash)?));
    }
    Ok(shows)
}

fn fingerprint(
    section: &Section<'_>,
    hash: &Placed<String>,
) -> Result<Fingerprint, NodeConfigError> {
    Fingerprint::from_hex(&hash.value)
        .ok_or_else(|| section.error_at(hash, "a SHA-256 hash is 64 lower-case hexadecimal digits"))
}

/// The name of a variable. A secret itself would stand in a file that people show each other.
fn variable(section: &Section<'_>, name: Placed<String>) -> Result<String, NodeConfigError> {
    let starts_well = name.value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = name.value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match starts_well && is_name {
        true => Ok(name.value),
        false => Err(section.error_at(&name, "write the name of a variable, not its value")),
    }
}

fn domain(section: &mut Section<'_>, ours: &str) -> Result<String, NodeConfigError> {
    Ok(section.text("trust_domain")?.map_or_else(|| ours.to_owned(), |it| it.value))
}

pub(super) const PEER_KEYS: &[&str] = &[
    "delegate_id",
    "trust_domain",
    "hmac_secret_env",
    "public_key",
    "public_keys",
    "token_env",
    "token_sha256",
    "certificate_sha256",
];

pub(super) const CALLER_KEYS: &[&str] =
    &["trust_domain", "token_env", "token_sha256", "certificate_sha256"];

pub(super) const DELEGATE_KEYS: &[&str] = &["url", "token_env", "ca"];

const SCHEMES: [&str; 3] = ["ldp://", "https://", "http://"];
