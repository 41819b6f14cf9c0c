//! How `sabir up` listens and whom it lets in where: what was said on the command line goes before the
//! configuration, and that before what is usual.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use sabir_console::PlainLogin;
use sabir_host::{CallerConfig, Evidence, NodeConfig, is_host_name};
use sabir_net::{Demand, LdpOptions, LdpServer, ListenError, TlsFiles, Token};

use super::me;
use super::telemetry::Telemetry;
use crate::proto::address;

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Where to listen; port 0 takes a free one; can be given several times [default: 127.0.0.1:7420]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    listen: Vec<SocketAddr>,
    /// A file that only you can read, with the token that callers must send
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Demand the token from programs of this machine, too
    #[arg(long)]
    token_for_all: bool,
    /// A name under which a proxy passes requests on; can be given several times
    #[arg(long = "host", value_name = "NAME", value_parser = host_name)]
    hosts: Vec<String>,
    /// Speak TLS: the file with the node's certificates
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The file with the key of the certificate, which only you can read
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The file with the authority that signs the certificates of callers
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    client_ca: Option<PathBuf>,
    /// Serve no page for people
    #[arg(long)]
    no_console: bool,
    /// Let people of other machines sign in without TLS: only behind something that speaks it, or on a
    /// network where nobody else is
    #[arg(long)]
    plain_login: bool,
    /// How long tasks may take to end when the node is told to [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=3600))]
    drain: Option<u64>,
}

/// What holds.
#[derive(Debug)]
pub(super) struct Serving {
    pub(super) listen: Vec<SocketAddr>,
    pub(super) options: LdpOptions,
    pub(super) has_console: bool,
    pub(super) plain_login: PlainLogin,
    pub(super) drain: Duration,
    /// Files that no agent may read.
    pub(super) secret_files: Vec<PathBuf>,
}

impl ServeArgs {
    /// Relative files of the configuration start `beside` it. The token that callers show is added to
    /// those whom the configuration knows.
    pub(super) fn settle(
        self,
        config: &mut NodeConfig,
        beside: &Path,
        telemetry: &Telemetry,
    ) -> anyhow::Result<Serving> {
        let said = &config.serve;
        let token_file =
            self.token_file.or_else(|| said.token_file.as_ref().map(|it| beside.join(it)));
        let listen = match (self.listen, said.listen.clone()) {
            (listen, _) if !listen.is_empty() => listen,
            (_, listen) if !listen.is_empty() => listen,
            _ => vec![SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))],
        };
        let hosts = if self.hosts.is_empty() { said.hosts.clone() } else { self.hosts };
        let has_console = said.console && !self.no_console;
        let is_plain = said.plain_login || self.plain_login;
        let drain = Duration::from_secs(self.drain.unwrap_or(said.drain_secs));
        let demand = match self.token_for_all || said.token_for_all {
            true => Demand::Everyone,
            false => Demand::Elsewhere,
        };
        if let Some(token) = token(token_file.as_deref())? {
            telemetry.withhold(token.expose());
            let trust_domain = config.trust_domain.clone();
            let shows = Evidence::Token(token.fingerprint());
            config.callers.push(CallerConfig { trust_domain, shows });
        }
        let tls = match (self.tls_cert.zip(self.tls_key), &config.tls) {
            (Some((certificates, key)), _) => {
                Some(TlsFiles { certificates, key, client_authority: self.client_ca })
            }
            (None, Some(tls)) => Some(TlsFiles {
                certificates: beside.join(&tls.certificate),
                key: beside.join(&tls.key),
                client_authority: tls.client_ca.as_ref().map(|it| beside.join(it)),
            }),
            (None, None) => None,
        };
        let secret_files = token_file.into_iter().chain(tls.iter().map(|tls| tls.key.clone()));
        let secret_files =
            secret_files.map(|path| std::path::absolute(&path).unwrap_or(path)).collect();
        let tokens = config.tokens(&me::environment)?;
        let options = LdpOptions { tokens, demand, hosts, tls, ..LdpOptions::default() };
        let plain_login = if is_plain { PlainLogin::Anywhere } else { PlainLogin::Near };
        Ok(Serving { listen, options, has_console, plain_login, drain, secret_files })
    }
}

impl Serving {
    /// Binds every address, or says what to do.
    pub(super) async fn bind(&self) -> anyhow::Result<LdpServer> {
        match LdpServer::bind(self.listen.clone(), self.options.clone()).await {
            Err(ListenError::Unproven { address }) => bail!("{}", what_to_do(address)),
            Err(ListenError::Bind { what, source }) => bail!("{}", not_free(&what, &source)),
            bound => Ok(bound?),
        }
    }

    /// What whoever started it should know about who could come.
    pub(super) fn warning(&self) -> Option<&'static str> {
        let is_far = |address: &SocketAddr| !is_near(address.ip());
        let is_reached = self.listen.iter().any(is_far) || !self.options.hosts.is_empty();
        let is_open = self.has_console
            && self.options.tls.is_none()
            && self.plain_login == PlainLogin::Anywhere
            && is_reached;
        is_open.then_some(PLAIN)
    }
}

fn what_to_do(address: SocketAddr) -> String {
    format!(
        "{address} can be reached from other machines, so callers must prove who they are. Make a \
         token, and name its file:\n  \
         (umask 077; head -c 32 /dev/urandom | base64 > sabir.token)\n  \
         sabir up --listen {address} --token-file sabir.token\n\
         Callers send it as `authorization: Bearer TOKEN`. Instead of the file there may be the \
         variable SABIR_TOKEN, a [[callers]] in sabir.toml, or certificates (--tls-cert, --tls-key, \
         --client-ca). For this machine alone, listen on 127.0.0.1."
    )
}

/// The same for whoever calls from this machine: an address that stands for all of them is none to call.
pub(super) fn called_at(address: &str) -> String {
    match address.parse::<SocketAddr>() {
        Ok(all) if all.ip().is_unspecified() => {
            let here: IpAddr = match all.is_ipv4() {
                true => Ipv4Addr::LOCALHOST.into(),
                false => Ipv6Addr::LOCALHOST.into(),
            };
            SocketAddr::new(here, all.port()).to_string()
        }
        Ok(_) | Err(_) => address.to_owned(),
    }
}

/// `what` is the transport and the address.
fn not_free(what: &str, why: &std::io::Error) -> String {
    let address = called_at(what.rsplit(' ').next().unwrap_or(what));
    let help = match why.kind() {
        ErrorKind::AddrInUse => format!(
            "something listens there, perhaps a node of yours: `sabir card ldp://{address}` says \
             who. `sabir up --listen 127.0.0.1:0` takes a free port, and a second node needs \
             another home, too (--home DIR)"
        ),
        ErrorKind::PermissionDenied => {
            "ports below 1024 are for programs with special rights: take a higher one".to_owned()
        }
        ErrorKind::AddrNotAvailable => {
            "this machine has no such address: `sabir up --listen 127.0.0.1:7420`".to_owned()
        }
        _ => "another address is said with --listen 127.0.0.1:PORT".to_owned(),
    };
    format!("cannot listen on {what}: {why}\nhelp: {help}")
}

fn is_near(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn host_name(text: &str) -> Result<String, String> {
    match is_host_name(text) {
        true => Ok(text.to_owned()),
        false => Err("write a name without scheme, port and path: agents.example".to_owned()),
    }
}

fn token(file: Option<&Path>) -> anyhow::Result<Option<Token>> {
    if let Some(path) = file {
        return Ok(Some(Token::from_file(path)?));
    }
    match me::environment("SABIR_TOKEN") {
        None => Ok(None),
        Some(text) => Ok(Some(Token::new(&text).context("SABIR_TOKEN")?)),
    }
}

/// Where it listens when nobody says otherwise.
const PORT: u16 = 7420;

const PLAIN: &str = "people of other machines can sign in without TLS (--plain-login): whoever is on \
                     the way can read their token and do what they may do; have a proxy in front of \
                     the node speak TLS";
