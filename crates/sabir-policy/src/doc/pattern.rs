//! Names of tools and hosts with a star. Dots count: `*.example.com` is below `example.com`, and not
//! `notexample.com`.

use std::fmt;

use url::Host;

/// A tool, all below a name (`browser.*`), or all (`*`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolPattern {
    All,
    Below(String),
    One(String),
}

impl ToolPattern {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        match text.strip_suffix('*') {
            Some("") => Some(Self::All),
            Some(start) => {
                let name = start.strip_suffix('.').or_else(|| start.strip_suffix("__"))?;
                is_name(name).then(|| Self::Below(start.to_owned()))
            }
            None => is_name(text).then(|| Self::One(text.to_owned())),
        }
    }

    pub(super) fn matches(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Below(start) => tool.starts_with(start.as_str()),
            Self::One(name) => tool == name,
        }
    }
}

/// A host, all below one (`*.example.com`), or all (`*`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostPattern {
    All,
    Below(String),
    One(String),
}

impl HostPattern {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        let (below, name) = match text.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, text),
        };
        // The parser of addresses, so that both spell a host in the same way.
        let host = Host::parse(name.strip_suffix('.').unwrap_or(name)).ok()?;
        if let Host::Domain(name) = &host
            // It takes both for names, but no host is called so: the rule would never hold.
            && (name.contains('*') || name.split('.').any(str::is_empty))
        {
            return None;
        }
        match (below, host) {
            (true, Host::Domain(name)) => Some(Self::Below(format!(".{name}"))),
            (true, Host::Ipv4(_) | Host::Ipv6(_)) => None,
            (false, host) => Some(Self::One(host.to_string())),
        }
    }

    pub(super) fn matches(&self, host: &str) -> bool {
        match self {
            Self::All => true,
            Self::Below(end) => host.ends_with(end.as_str()) && host.len() > end.len(),
            Self::One(name) => host == name,
        }
    }

    /// Whether it stands for one site, and not for all that share a last part like `com`.
    pub(super) fn is_narrow(&self) -> bool {
        match self {
            Self::All => false,
            Self::Below(end) => end.matches('.').count() >= 2,
            Self::One(_) => true,
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("everything"),
            Self::Below(start) => write!(f, "{start}*"),
            Self::One(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("every host"),
            Self::Below(end) => write!(f, "*{end}"),
            Self::One(name) => f.write_str(name),
        }
    }
}
