//! The file of a Unix socket: made for its owner alone, never over something that is in use, and
//! removed in the end.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};
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
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // A socket can be connected to as soon as it is bound. It is bound where nobody else can look,
    // and gets its name once it has its mode.
    let private = tempfile::Builder::new()
        .prefix(".")
        .rand_bytes(6)
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(failed)?;
    let hidden = private.path().join("s");
    let listener = UnixListener::bind(&hidden).map_err(failed)?;
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&hidden, mode).map_err(failed)?;
    let facts = std::fs::symlink_metadata(&hidden).map_err(failed)?;
    match rustix::fs::renameat_with(CWD, &hidden, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(rustix::io::Errno::EXIST) => return Err(ListenError::Taken { path: path.to_owned() }),
        Err(error) => return Err(failed(error.into())),
    }
    let identity = (facts.dev(), facts.ino());
    Ok((listener, SocketFile { path: path.to_owned(), identity }))
}

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
