//! Where a delegate is reached. It knows which addresses a card may give, and connects to none.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

/// An `http`, `https` or `ldp` URL with a host and without credentials, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Endpoint(String);

/// Why a text is no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointError {
    NotUrl,
    WrongScheme,
    NoHost,
    /// What stands in an address is shown, logged and sent on.
    HasCredentials,
    TooLong,
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUrl => "expected a URL",
            Self::WrongScheme => "expected a URL that starts with https, http or ldp",
            Self::NoHost => "the URL names no host",
            Self::HasCredentials => "the URL carries credentials",
            Self::TooLong => "the URL is longer than 2048 bytes",
        })
    }
}

impl std::error::Error for EndpointError {}

impl Endpoint {
    pub fn new(text: impl Into<String>) -> Result<Self, EndpointError> {
        let text = text.into();
        if text.len() > MAX_BYTES {
            return Err(EndpointError::TooLong);
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(EndpointError::NotUrl);
        }
        let url = Url::parse(&text).map_err(|_| EndpointError::NotUrl)?;
        if !["http", "https", "ldp"].contains(&url.scheme()) {
            return Err(EndpointError::WrongScheme);
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(EndpointError::NoHost);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::HasCredentials);
        }
        Ok(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Endpoint {
    type Error = EndpointError;

    fn try_from(text: String) -> Result<Self, EndpointError> {
        Self::new(text)
    }
}

impl From<Endpoint> for String {
    fn from(endpoint: Endpoint) -> Self {
        endpoint.0
    }
}

/// What browsers and proxies agree on.
const MAX_BYTES: usize = 2048;
