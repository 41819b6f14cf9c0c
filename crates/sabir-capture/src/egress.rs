//! The egress guard: which addresses a page, a model or a redirect may send us to.
//!
//! It judges a URL by its words, then every address that its name resolves to. Whoever connects must
//! use the addresses that were judged, and no others: a name may mean something else a moment later.
//! It opens no connection and knows no policy: whether a person would want the request is decided
//! elsewhere, and so is which hosts nobody may reach; it asks for that at every hop.

mod address;
mod denials;
mod host_port;
mod refused;
mod resolver;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use url::{Host, Url};

pub use denials::Denials;
pub use host_port::{HostPort, HostPortError};
pub use refused::{Reason, Refused};
pub use resolver::{Resolver, Resolving, SystemResolver};

/// What is let through although it is not public.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Exactly these hosts at exactly these ports.
    pub allow: Vec<HostPort>,
}

/// A host and a port whose words were judged; its addresses were not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    host: Host,
    port: u16,
    is_allowed_by_rule: bool,
}

impl Target {
    /// As it stands in a URL: an IPv6 address has its brackets.
    pub fn host(&self) -> String {
        self.host.to_string()
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Judges where a connection may go. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Guard {
    rules: Arc<Rules>,
    denials: Option<Arc<dyn Denials>>,
    resolver: Arc<dyn Resolver>,
}

impl Guard {
    /// With the resolver of the system.
    pub fn new(rules: Rules) -> Self {
        Self::with_resolver(rules, Arc::new(SystemResolver))
    }

    pub fn with_resolver(rules: Rules, resolver: Arc<dyn Resolver>) -> Self {
        Self { rules: Arc::new(rules), denials: None, resolver }
    }

    /// The same, but what is denied is not let through, whatever else holds.
    #[must_use]
    pub fn denying(self, denials: Arc<dyn Denials>) -> Self {
        Self { denials: Some(denials), ..self }
    }

    /// Judges the words of a URL: scheme, credentials, name, and the address where one is spelled out.
    pub fn check(&self, url: &Url) -> Result<Target, Refused> {
        let refuse = |reason| Refused::new(host_of(url), reason);
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse(Reason::Scheme));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse(Reason::Userinfo));
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(refuse(Reason::NoHost));
        };
        self.judge(host.to_owned(), port)
    }

    /// The same for a host and a port without a URL, as a proxy is asked for them. An IPv6 address
    /// has its brackets.
    pub fn check_host(&self, host: &str, port: u16) -> Result<Target, Refused> {
        match Host::parse(host) {
            Ok(host) => self.judge(host, port),
            Err(_) => Err(Refused::new(host, Reason::NoHost)),
        }
    }

    /// The addresses to connect to: all that the name has, if every one of them is public.
    pub async fn resolve(&self, target: &Target) -> Result<Vec<SocketAddr>, Refused> {
        let name = match &target.host {
            Host::Ipv4(address) => return Ok(vec![(*address, target.port).into()]),
            Host::Ipv6(address) => return Ok(vec![(*address, target.port).into()]),
            Host::Domain(name) => name,
        };
        let refuse = |reason| Refused::new(name, reason);
        let answer = timeout(RESOLVE_TIMEOUT, self.resolver.resolve(name)).await;
        let Ok(Ok(found)) = answer else {
            return Err(refuse(Reason::Unresolved));
        };
        if found.is_empty() || found.len() > MOST_ADDRESSES {
            return Err(refuse(Reason::Unresolved));
        }
        if found.iter().any(|ip| self.denies_address(*ip)) {
            return Err(refuse(Reason::Denied));
        }
        if !target.is_allowed_by_rule {
            // One private address among public ones is how a name is turned against its reader.
            for ip in &found {
                address::judge(*ip).map_err(refuse)?;
            }
        }
        Ok(found.into_iter().map(|ip| SocketAddr::new(ip, target.port)).collect())
    }

    fn judge(&self, host: Host, port: u16) -> Result<Target, Refused> {
        let host = match host {
            Host::Domain(name) => Host::Domain(host_port::without_dots(&name)),
            address => address,
        };
        let is_denied = match &host {
            Host::Domain(name) => self.denies(name),
            Host::Ipv4(ip) => self.denies_address(IpAddr::V4(*ip)),
            Host::Ipv6(ip) => self.denies_address(IpAddr::V6(*ip)),
        };
        if is_denied {
            return Err(Refused::new(&host.to_string(), Reason::Denied));
        }
        let is_allowed_by_rule = self.rules.allow.iter().any(|rule| rule.matches(&host, port));
        if !is_allowed_by_rule {
            let judged = match &host {
                Host::Domain(name) => address::judge_name(name),
                Host::Ipv4(ip) => address::judge(IpAddr::V4(*ip)),
                Host::Ipv6(ip) => address::judge(IpAddr::V6(*ip)),
            };
            judged.map_err(|reason| Refused::new(&host.to_string(), reason))?;
        }
        Ok(Target { host, port, is_allowed_by_rule })
    }

    fn denies(&self, host: &str) -> bool {
        self.denials.as_ref().is_some_and(|denials| denials.denies(host))
    }

    /// An IPv4 address is the same when it is written as one of IPv6.
    fn denies_address(&self, ip: IpAddr) -> bool {
        let spelled = |ip| match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let plain = ip.to_canonical();
        self.denies(&spelled(ip)) || (plain != ip && self.denies(&spelled(plain)))
    }
}

fn host_of(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

/// A resolver that takes longer has no answer.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Names of real sites have a dozen.
const MOST_ADDRESSES: usize = 64;
