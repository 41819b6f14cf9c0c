//! `HOST:PORT`, as a person allows it. It resolves nothing.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use url::Host;

/// One host at one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    host: Host,
    port: u16,
}

impl HostPort {
    pub(super) fn matches(&self, host: &Host, port: u16) -> bool {
        self.port == port && self.host == *host
    }
}

impl FromStr for HostPort {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, HostPortError> {
        let (host, port) = text.rsplit_once(':').ok_or(HostPortError::NoPort)?;
        let port = port.parse().ok().filter(|port| *port > 0).ok_or(HostPortError::Port)?;
        let host = match Host::parse(host).map_err(|_| HostPortError::Host)? {
            Host::Domain(name) => Host::Domain(without_dots(&name)),
            address => address,
        };
        Ok(Self { host, port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Why a text is not `HOST:PORT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPortError {
    NoPort,
    Port,
    Host,
}

impl fmt::Display for HostPortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPort => "a port is missing: write HOST:PORT",
            Self::Port => "the port is not a number from 1 to 65535",
            Self::Host => "the host is not a name or an address; IPv6 addresses need brackets",
        })
    }
}

impl Error for HostPortError {}

/// `example.com.` and `example.com` are one name.
pub(super) fn without_dots(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}
