//! The file of a Unix socket: made for its owner alone, never over something that is in use, and
//! removed in the end.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::UnixListener;

use crate::error::ListenError;

/// A socket's file, as long as it is ours.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and number: a file that another program put there since is not ours to remove.
    identity: (u64, u64),
}

impl SocketFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if std::fs::symlink_metadata(&self.path)
            .is_ok_and(|it| (it.dev(), it.ino()) == self.identity)
        {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Listens at a path.
pub(crate) fn listen(path: &Path) -> Result<(UnixListener, SocketFile), ListenError> {
    let failed = |source| ListenError::Bind { what: format!("unix {}", path.display()), source };
    remove_stale(path)?;
    let absolute = std::path::absolute(path).map_err(failed)?;
    // The kernel lists a socket under the name that it was bound with, and sandboxes look there.
    let address = SocketAddrUnix::new(&absolute).or_else(|_| SocketAddrUnix::new(path));
    let address = address.map_err(|error| failed(error.into()))?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let listening = || -> Result<UnixListener, io::Error> {
        let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        // A socket can be connected to as soon as it is bound. Its file gets the mode that the
        // socket has by then.
        rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        net::bind(&socket, &address)?;
        net::listen(&socket, BACKLOG)?;
        UnixListener::from_std(socket.into())
    };
    let listener = listening().map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::Taken { path: path.to_owned() },
        _ => failed(error),
    })?;
    let facts = std::fs::symlink_metadata(&absolute).map_err(failed)?;
    let identity = (facts.dev(), facts.ino());
    Ok((listener, SocketFile { path: absolute, identity }))
}

/// As the standard library has it.
const BACKLOG: i32 = 128;

/// Removes a socket that nobody answers at.
fn remove_stale(path: &Path) -> Result<(), ListenError> {
    let failed = |source| ListenError::Bind { what: format!("unix {}", path.display()), source };
    let facts = match std::fs::symlink_metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !facts.file_type().is_socket() {
        return Err(ListenError::NotASocket { path: path.to_owned() });
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Err(ListenError::Taken { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}
