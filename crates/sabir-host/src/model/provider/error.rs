//! Why a provider cannot be used. No message ever holds a key.

use std::fmt;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderError {
    /// The file cannot be read.
    Unreadable {
        path: PathBuf,
        reason: String,
    },
    /// The file is no TOML, or a value has the wrong type. The line is counted from one.
    Malformed {
        source: String,
        line: Option<usize>,
        reason: String,
    },
    UnknownKey {
        source: String,
        place: String,
        key: String,
        nearest: Option<&'static str>,
    },
    /// A key stands in the file itself.
    KeyInFile {
        source: String,
        place: String,
    },
    UnknownProvider {
        name: String,
        known: Vec<String>,
    },
    /// Nothing says where to go.
    NoProvider {
        known: Vec<String>,
    },
    NoBaseUrl {
        name: String,
    },
    Url {
        base_url: String,
        reason: String,
    },
    PlainHttp {
        base_url: String,
    },
    /// The environment variable is not set, or empty.
    NoVariable {
        variable: String,
    },
    KeyFile {
        path: PathBuf,
        reason: String,
    },
    /// Not a header that can be sent. Its value is not shown.
    Header {
        name: String,
    },
    /// The client cannot be made: usually, no certificates were found on this machine.
    Client {
        reason: String,
    },
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, reason } => {
                write!(f, "cannot read {}: {reason}", path.display())
            }
            Self::Malformed { source, line: Some(line), reason } => {
                write!(f, "{source}:{line}: {reason}")
            }
            Self::Malformed { source, line: None, reason } => write!(f, "{source}: {reason}"),
            Self::UnknownKey { source, place, key, nearest } => {
                write!(f, "{source}: unknown key `{key}` in {place}")?;
                match nearest {
                    Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
                    None => Ok(()),
                }
            }
            Self::KeyInFile { source, place } => write!(
                f,
                "{source}: a key cannot stand in {place}; name the variable that holds it with \
                 `env_key`, or the file with `key_file`"
            ),
            Self::UnknownProvider { name, known } if known.is_empty() => {
                write!(f, "no provider `{name}`: write a section [providers.{name}]")
            }
            Self::UnknownProvider { name, known } => {
                write!(f, "no provider `{name}`; there are: {}", known.join(", "))
            }
            Self::NoProvider { known } if known.is_empty() => f.write_str(
                "no model provider: pass --base-url, or write a section [providers.NAME] with a \
                 base_url into sabir.toml",
            ),
            Self::NoProvider { known } => write!(
                f,
                "several providers and none chosen: write `default_provider = \"NAME\"` with one \
                 of: {}",
                known.join(", ")
            ),
            Self::NoBaseUrl { name } => write!(f, "the provider `{name}` has no base_url"),
            Self::Url { base_url, reason } => write!(f, "bad base_url {base_url}: {reason}"),
            Self::PlainHttp { base_url } => write!(
                f,
                "the key would travel unencrypted to {base_url}; use https, or write \
                 `allow_plain_http = true` for this provider"
            ),
            Self::NoVariable { variable } => {
                write!(f, "the environment variable {variable} is not set: export {variable}=…")
            }
            Self::KeyFile { path, reason } => {
                write!(f, "cannot take the key from {}: {reason}", path.display())
            }
            Self::Header { name } => write!(f, "the header `{name}` cannot be sent"),
            Self::Client { reason } => write!(f, "cannot make an HTTP client: {reason}"),
        }
    }
}

impl std::error::Error for ProviderError {}
