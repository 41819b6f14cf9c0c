//! What the program and its helpers tell each other, over the socket that is a helper's standard
//! input: one task, then reports. The socket is also the lifeline: when it closes, its other end is
//! gone and the helper ends everything.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::{Confined, Layer, Limits, Network};

/// From the program to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) command: Command,
    pub(crate) how: How,
}

/// What to run in the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Command {
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: PathBuf,
    /// All of it: the helpers' own environment is never handed on.
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) limits: Limits,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum How {
    FullAccess,
    Bubblewrap { program: PathBuf, confined: Confined },
    Namespaces { confined: Confined },
}

impl How {
    pub(crate) fn layer(&self) -> Option<Layer> {
        match self {
            How::FullAccess => None,
            How::Bubblewrap { .. } => Some(Layer::Bubblewrap),
            How::Namespaces { .. } => Some(Layer::Namespaces),
        }
    }
}

/// From the supervisor to the process that enters name spaces.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) plan: Plan,
    pub(super) network: Network,
}

/// From the supervisor to the first process of the new process name space.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) command: Command,
    pub(crate) network: Network,
    /// What Landlock leaves writable.
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) proc: Proc,
}

/// Who mounts `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Proc {
    /// It is there, fresh, put there by bubblewrap.
    Mounted,
    /// The first process does.
    ToMount,
}

/// From a helper to whoever started it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    Warning(String),
    /// Everything is confined; the command is started next.
    Confined,
    /// The command ended, and so did everything that it started.
    Ended {
        status: Status,
        left: Vec<i32>,
    },
    /// The command was never started.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Status {
    Exited(i32),
    Signalled(i32),
    /// It could not be started, for a reason that a shell would say too.
    NotStarted {
        code: i32,
        message: String,
    },
    /// It started more processes than it may.
    TooManyProcesses,
}

/// The byte that asks a supervisor to end its command, politely first.
pub(crate) const END: u8 = b'e';

/// Larger than any command line the kernel takes.
const LONGEST: u32 = 64 << 20;

/// Our standard input as the socket it is.
pub(super) fn inherited() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

pub(crate) fn encode<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len())
        .ok()
        .filter(|length| *length <= LONGEST)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the command is too long"))?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(body);
    Ok(bytes)
}

pub(crate) fn length(head: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(head);
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is too long"));
    }
    Ok(length as usize)
}

pub(super) fn send<T: Serialize>(mut to: &UnixStream, message: &T) -> io::Result<()> {
    to.write_all(&encode(message)?)
}

/// Reads exactly one message, so that the next process can read the one after it.
pub(super) fn receive<T: DeserializeOwned>(mut from: &UnixStream) -> io::Result<T> {
    let mut head = [0; 4];
    from.read_exact(&mut head)?;
    let mut body = vec![0; length(head)?];
    from.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
