//! `sabir up`: a node that other agents find, ask and check.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sabir_base::text::one_line;
use sabir_host::Node;
use sabir_net::{Demand, LdpOptions, LdpServer, TlsFiles, Token};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::me::{Me, MeArgs};
use crate::agent_args::runtime;
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::proto::{address, stop_on};
use crate::signals::Signals;

/// Serve this node to other agents
///
/// What it offers is said in the configuration file, under [[skills]]; without one it offers `echo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir up
  sabir up --config sabir.toml --listen 127.0.0.1:0 --json
  sabir up --listen 0.0.0.0:7420 --token-file ~/.sabir-token --tls-cert node.pem --tls-key node.key

Then, elsewhere:
  sabir card ldp://127.0.0.1:7420
  sabir delegate \"hello\" --to ldp://127.0.0.1:7420 --skill echo

A node that other machines can reach demands a token (--token-file, or SABIR_TOKEN) or certificates
of its callers (--client-ca).

Exit codes:
  0    it was told to end (SIGTERM), and what ran was written down
  2    the command line or the configuration is wrong, or an address cannot be used
  130  interrupted")]
pub(crate) struct UpArgs {
    /// Where to listen; port 0 takes a free one; can be given several times
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:7420")]
    listen: Vec<SocketAddr>,
    /// A file that only you can read, with the token that callers must send
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Demand the token from programs of this machine, too
    #[arg(long)]
    token_for_all: bool,
    /// Speak TLS: the file with the node's certificates
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The file with the key of the certificate, which only you can read
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The file with the authority that signs the certificates of callers
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    client_ca: Option<PathBuf>,
    /// Print where it listens as a line of JSON on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    me: MeArgs,
}
