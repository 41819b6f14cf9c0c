//! Why an address was refused: a code for programs, a line for people.

use std::error::Error;
use std::fmt;

use sabir_base::text;

/// The host that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    host: String,
    reason: Reason,
}

impl Refused {
    pub(crate) fn new(host: &str, reason: Reason) -> Self {
        Self { host: text::one_line(host, LONGEST_HOST), reason }
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// Stable, for scripts and audit rows.
    pub fn code(&self) -> &'static str {
        self.reason.code()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.is_empty() {
            true => write!(f, "refused ({}): {}", self.code(), self.reason),
            false => write!(f, "refused {} ({}): {}", self.host, self.code(), self.reason),
        }
    }
}

impl Error for Refused {}

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Scheme,
    Userinfo,
    NoHost,
    Denied,
    LocalName,
    Unresolved,
    Unspecified,
    Loopback,
    Private,
    Shared,
    LinkLocal,
    Metadata,
    Multicast,
    Broadcast,
    Documentation,
    Benchmarking,
    UniqueLocal,
    SiteLocal,
    Tunnel,
    Reserved,
}

impl Reason {
    pub const ALL: [Self; 20] = [
        Self::Scheme,
        Self::Userinfo,
        Self::NoHost,
        Self::Denied,
        Self::LocalName,
        Self::Unresolved,
        Self::Unspecified,
        Self::Loopback,
        Self::Private,
        Self::Shared,
        Self::LinkLocal,
        Self::Metadata,
        Self::Multicast,
        Self::Broadcast,
        Self::Documentation,
        Self::Benchmarking,
        Self::UniqueLocal,
        Self::SiteLocal,
        Self::Tunnel,
        Self::Reserved,
    ];

    pub fn code(self) -> &'static str {
        match self {
            Self::Scheme => "scheme",
            Self::Userinfo => "userinfo",
            Self::NoHost => "no_host",
            Self::Denied => "denied",
            Self::LocalName => "local_name",
            Self::Unresolved => "unresolved",
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared",
            Self::LinkLocal => "link_local",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::UniqueLocal => "unique_local",
            Self::SiteLocal => "site_local",
            Self::Tunnel => "tunnel",
            Self::Reserved => "reserved",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "only http and https are fetched",
            Self::Userinfo => "an address with a user name or a password in it is not fetched",
            Self::NoHost => "there is no host that could be asked",
            Self::Denied => "your policy file denies this host",
            Self::LocalName => "the name is one of the local network",
            Self::Unresolved => "the name has no address: it is wrong, or there is no network",
            Self::Unspecified => "the address means this network",
            Self::Loopback => "the address is this machine",
            Self::Private => "the address belongs to a private network",
            Self::Shared => "the address is shared by the customers of a provider",
            Self::LinkLocal => "the address is on the local link",
            Self::Metadata => "the address hands out a machine's own credentials",
            Self::Multicast => "the address is a group",
            Self::Broadcast => "the address is everyone on the network",
            Self::Documentation => "the address exists in examples only",
            Self::Benchmarking => "the address is for measuring networks",
            Self::UniqueLocal => "the address is local to a site",
            Self::SiteLocal => "the address is local to a site, in an old way",
            Self::Tunnel => "the address hides another one in a tunnel",
            Self::Reserved => "the address is reserved",
        })
    }
}

/// The longest name that DNS has.
const LONGEST_HOST: usize = 253;
