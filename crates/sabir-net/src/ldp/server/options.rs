//! What a server for other agents is told: who is let in, and how much of everything there may be.

use std::path::PathBuf;
use std::time::Duration;

use sabir_ldp::Fingerprint;

/// How a server lets callers in.
#[derive(Debug, Clone, Default)]
pub struct LdpOptions {
    /// Tokens that open the door. Whom a token stands for is for the node to know.
    pub tokens: Vec<Fingerprint>,
    pub demand: Demand,
    /// Names under which something in front of the server passes requests on. Where there are some, no
    /// others are taken, beside addresses.
    pub hosts: Vec<String>,
    /// With them every listener speaks TLS and nothing else.
    pub tls: Option<TlsFiles>,
    pub limits: LdpLimits,
}

/// Who must show a token, where there are tokens. A certificate of a client does as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Demand {
    /// Callers from other machines.
    #[default]
    Elsewhere,
    Everyone,
}

/// PEM files.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    pub certificates: PathBuf,
    /// Nobody but its owner may be able to read it.
    pub key: PathBuf,
    /// Who signs the certificates of clients. Without it no client has one.
    pub client_authority: Option<PathBuf>,
}

/// How much a server takes on. The defaults let a program of this machine hold hundreds of tasks.
#[derive(Debug, Clone)]
pub struct LdpLimits {
    /// From the connection, or from the last answer, to the end of a request's headers.
    pub header_time: Duration,
    /// For the body of a request.
    pub body_time: Duration,
    /// Between two signs of life on a stream, and between two pings on a socket.
    pub quiet_time: Duration,
    /// How long somebody may leave unread what was sent.
    pub stall_time: Duration,
    /// How long what runs may go on when the server stops.
    pub grace: Duration,
    pub message_bytes: usize,
    /// Of one frame of a WebSocket.
    pub frame_bytes: usize,
    /// Of all bodies that are being read at one time, beyond a small share for each.
    pub bodies_bytes: usize,
    /// Of all answers that wait to be read, beyond the same.
    pub answers_bytes: usize,
    pub connections: usize,
    /// From one address that is not this machine's.
    pub connections_each: usize,
    /// Requests and streams that are being answered.
    pub places: usize,
    /// From one address that is not this machine's.
    pub places_each: usize,
    pub sockets: usize,
    /// Messages of one socket that are being answered; more wait to be read.
    pub unanswered: usize,
    /// Of requests from one address that is not this machine's.
    pub rate: Rate,
    /// The same for this machine, if its programs are to be held back at all.
    pub loopback_rate: Option<Rate>,
}

/// How often somebody may ask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    /// How many may come at once after a pause.
    pub burst: f64,
}

impl Default for LdpLimits {
    fn default() -> Self {
        Self {
            header_time: Duration::from_secs(20),
            body_time: Duration::from_secs(30),
            quiet_time: Duration::from_secs(15),
            stall_time: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            message_bytes: 4 * MIB,
            frame_bytes: MIB,
            bodies_bytes: 64 * MIB,
            answers_bytes: 256 * MIB,
            connections: 4096,
            connections_each: 256,
            places: 16_384,
            places_each: 2048,
            sockets: 512,
            unanswered: 1024,
            rate: Rate { per_second: 200.0, burst: 1000.0 },
            loopback_rate: None,
        }
    }
}

const MIB: usize = 1024 * 1024;
