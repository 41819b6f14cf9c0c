//! Why a server does not start.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server does not start.
#[derive(Debug)]
pub enum ListenError {
    /// It would be open to others than the programs of this machine.
    Open {
        address: SocketAddr,
    },
    Bind {
        what: String,
        source: io::Error,
    },
    /// Somebody listens at this path already.
    Taken {
        path: PathBuf,
    },
    /// Something else is at this path.
    NotASocket {
        path: PathBuf,
    },
    /// The token cannot be used, and why.
    Token(String),
    /// Agents of other machines could come without proving who they are.
    Unproven {
        address: SocketAddr,
    },
    /// The certificates or the key cannot be used, and why.
    Tls(String),
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { address } => write!(
                f,
                "{address} can be reached from other machines, so clients must know a token: \
                 add --token-file FILE or set SABIR_TOKEN, or listen on 127.0.0.1"
            ),
            Self::Bind { what, .. } => write!(f, "cannot listen on {what}"),
            Self::Taken { path } => {
                write!(
                    f,
                    "another program listens on {}: end it, or name another path",
                    path.display()
                )
            }
            Self::NotASocket { path } => {
                write!(
                    f,
                    "{} is there already, and is not a socket: name another path",
                    path.display()
                )
            }
            Self::Token(why) => write!(f, "the token cannot be used: {why}"),
            Self::Unproven { address } => write!(
                f,
                "{address} can be reached from other machines, so callers must prove who they are: \
                 give a token, or TLS with an authority for the certificates of clients, \
                 or listen on 127.0.0.1"
            ),
            Self::Tls(why) => write!(f, "TLS cannot be used: {why}"),
        }
    }
}

impl std::error::Error for ListenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { source, .. } => Some(source),
            Self::Open { .. }
            | Self::Taken { .. }
            | Self::NotASocket { .. }
            | Self::Token(_)
            | Self::Unproven { .. }
            | Self::Tls(_) => None,
        }
    }
}
