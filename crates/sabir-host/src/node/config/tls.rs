//! Files for TLS: what the node shows to those who call it, and to those whom it calls. They are named
//! here and read by others; relative ones start where the configuration stands.

use std::path::PathBuf;

use super::NodeConfigError;
use super::section::Section;

/// What a server speaks TLS with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsConfig {
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// Whose certificates callers may show. Without one, callers show tokens.
    pub client_ca: Option<PathBuf>,
}

/// What is shown to servers that ask for a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityConfig {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// One side of it may be left out.
pub(super) fn read(
    mut section: Section<'_>,
) -> Result<(Option<TlsConfig>, Option<IdentityConfig>), NodeConfigError> {
    let own = read_pair(&mut section, "client_certificate", "client_key")?;
    let own = own.map(|(certificate, key)| IdentityConfig { certificate, key });
    let client_ca = section.text("client_ca")?;
    let tls = match read_pair(&mut section, "certificate", "key")? {
        Some((certificate, key)) => {
            let client_ca = client_ca.map(|it| it.value.into());
            Some(TlsConfig { certificate, key, client_ca })
        }
        None if own.is_none() || client_ca.is_some() => {
            return Err(section.error("`[tls]` has no `certificate`"));
        }
        None => None,
    };
    Ok((tls, own))
}

/// Two files that are of no use without each other.
fn read_pair(
    section: &mut Section<'_>,
    certificate: &str,
    key: &str,
) -> Result<Option<(PathBuf, PathBuf)>, NodeConfigError> {
    match (section.text(certificate)?, section.text(key)?) {
        (Some(certificate), Some(key)) => Ok(Some((certificate.value.into(), key.value.into()))),
        (None, None) => Ok(None),
        (Some(it), None) => Err(section.error_at(&it, format!("it goes with a `{key}`"))),
        (None, Some(it)) => Err(section.error_at(&it, format!("it goes with a `{certificate}`"))),
    }
}

pub(super) const KEYS: &[&str] =
    &["certificate", "key", "client_ca", "client_certificate", "client_key"];
