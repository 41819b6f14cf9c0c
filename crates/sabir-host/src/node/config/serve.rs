//! How `sabir up` listens, whom it lets in where, and how long it waits when it is told to end.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::NodeConfigError;
use super::section::{Placed, Section};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeConfig {
    /// Where to listen; empty where nothing is said.
    pub listen: Vec<SocketAddr>,
    /// A private file with the token that callers from elsewhere must send.
    pub token_file: Option<PathBuf>,
    /// Programs of this machine need it, too.
    pub token_for_all: bool,
    /// Names under which something in front of the node passes requests on to it.
    pub hosts: Vec<String>,
    /// Whether there is a page for people.
    pub console: bool,
    /// People from elsewhere may sign in without TLS.
    pub plain_login: bool,
    /// How long what runs may take to end when the node is told to.
    pub drain_secs: u64,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            token_file: None,
            token_for_all: false,
            hosts: Vec::new(),
            console: true,
            plain_login: false,
            drain_secs: DRAIN_SECS,
        }
    }
}

pub(super) fn read(mut section: Section<'_>) -> Result<ServeConfig, NodeConfigError> {
    let mut serve = ServeConfig::default();
    for place in section.texts("listen")?.unwrap_or_default() {
        serve.listen.push(address(&section, &place)?);
    }
    serve.token_file = section.text("token_file")?.map(|it| it.value.into());
    serve.token_for_all = section.flag("token_for_all")?.unwrap_or(false);
    for host in section.texts("hosts")?.unwrap_or_default() {
        if !is_host_name(&host.value) {
            let why = "a name without scheme, port and path: `agents.example`";
            return Err(section.error_at(&host, why));
        }
        serve.hosts.push(host.value);
    }
    serve.console = section.flag("console")?.unwrap_or(true);
    serve.plain_login = section.flag("plain_login")?.unwrap_or(false);
    if let Some(secs) = section.number("drain_secs")? {
        if secs.value > MOST_DRAIN_SECS {
            let why = format!("nobody waits longer than {MOST_DRAIN_SECS} seconds");
            return Err(section.error_at(&secs, why));
        }
        serve.drain_secs = secs.value;
    }
    Ok(serve)
}

/// Whether this can be the name of a machine, as the header `host` has it without a port.
pub fn is_host_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

fn address(section: &Section<'_>, place: &Placed<String>) -> Result<SocketAddr, NodeConfigError> {
    let local = place.value.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = local.map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    local.or_else(|| place.value.parse().ok()).ok_or_else(|| {
        section.error_at(place, "write it as 127.0.0.1:PORT, [::1]:PORT or localhost:PORT")
    })
}

pub(super) const KEYS: &[&str] =
    &["listen", "token_file", "token_for_all", "hosts", "console", "plain_login", "drain_secs"];

/// Enough for a program that is nearly done; whoever pressed Ctrl-C still waits.
const DRAIN_SECS: u64 = 10;
/// What services are given to end is rarely more.
const MOST_DRAIN_SECS: u64 = 3600;
