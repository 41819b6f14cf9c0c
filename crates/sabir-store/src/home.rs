//! The folder of a store: who may read it, and who owns it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// Held as long as the store is open. The system takes it back when the process ends, however it
/// ends, so a lock is never stale.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "closing the file frees the lock")] File);

pub(crate) fn database_path(home: &Path) -> PathBuf {
    home.join("sabir.db")
}

/// Makes the folder and takes its lock, in that order: there is nothing to lock in a missing folder.
pub(crate) fn own(home: &Path) -> Result<Lock, StoreError> {
    make_folder(home).map_err(|error| StoreError::io(home, &error))?;
    let path = home.join("lock");
    let mut file = open_private(&path).map_err(|error| StoreError::io(&path, &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // Only for the message: an owner that has not yet written its number has none.
            let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
            return Err(StoreError::InUse { home: home.to_owned(), pid });
        }
        Err(TryLockError::Error(error)) => return Err(StoreError::io(&path, &error)),
    }
    write_pid(&mut file).map_err(|error| StoreError::io(&path, &error))?;
    Ok(Lock(file))
}

/// Makes the file of a database, so that it is nobody else's from its first byte on.
pub(crate) fn make_database_file(home: &Path, path: &Path) -> std::io::Result<()> {
    open_private(path)?.sync_all()?;
    // The name of a new file is on disk only when its folder is.
    File::open(home)?.sync_all()
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

#[cfg(unix)]
pub(crate) fn make_folder(home: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(home)
}

#[cfg(not(unix))]
pub(crate) fn make_folder(home: &Path) -> std::io::Result<()> {
    fs::create_dir_all(home)
}

pub(crate) fn open_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
