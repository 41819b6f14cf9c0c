//! What is written down before files are changed, so that a crash can be put right.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::ApplyError;

/// Everything that is needed to put files back, or to clear up after them. The old contents are not
/// in it: they stay beside the files until all is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    pub(super) version: u32,
    pub(super) root: OsString,
    /// Folders that are made, those above before those below.
    pub(super) folders: Vec<String>,
    pub(super) files: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) path: String,
    /// A name in the same folder: first of the new file, then of the old one.
    pub(super) staged: String,
    /// A name in the same folder for the old file, where names cannot be exchanged.
    pub(super) backup: String,
    pub(super) before: Option<Digest>,
    pub(super) after: Option<Digest>,
}

/// SHA-256 of a content, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Digest(String);

impl Digest {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// How far the changes of a journal are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// What has been changed has to be put back.
    Open,
    /// All is changed, and old files have to be cleared away.
    Done,
}

impl Progress {
    fn extension(self) -> &'static str {
        match self {
            Self::Open => "journal",
            Self::Done => "done",
        }
    }
}

/// A journal on disk. It is locked for as long as this value lives, so that nobody takes the work of
/// a living process for that of a dead one.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    path: PathBuf,
    progress: Progress,
}

impl JournalFile {
    /// Writes the journal; it is on disk when this returns.
    pub(super) fn create(dir: &Path, id: &str, journal: &Journal) -> Result<Self, ApplyError> {
        let fail = |source| ApplyError::Journal { path: dir.to_owned(), source };
        make_dir(dir).map_err(fail)?;
        let path = dir.join(id).with_extension(Progress::Open.extension());
        let bytes = serde_json::to_vec(journal).map_err(|error| fail(error.into()))?;
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true).mode(0o600);
            let mut file = options.open(&path).map_err(fail)?;
            file.lock().map_err(fail)?;
            // Between the two lines above somebody may have taken it for an abandoned one.
            if file.metadata().map_err(fail)?.nlink() == 0 {
                continue;
            }
            let written =
                file.write_all(&bytes).and_then(|()| file.sync_all()).and_then(|()| sync_dir(dir));
            let this = Self { file, path, progress: Progress::Open };
            return match written {
                Ok(()) => Ok(this),
                Err(error) => {
                    let _ = this.remove();
                    Err(fail(error))
                }
            };
        }
    }

    /// The journals in a folder that no living process holds, oldest name first.
    pub(super) fn abandoned(dir: &Path) -> Result<Vec<Self>, ApplyError> {
        let fail = |source| ApplyError::Journal { path: dir.to_owned(), source };
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(fail)?.path();
            let progress = match path.extension().and_then(|it| it.to_str()) {
                Some("journal") => Progress::Open,
                Some("done") => Progress::Done,
                _ => continue,
            };
            found.push((path, progress));
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let mut abandoned = Vec::new();
        for (path, progress) in found {
            let file = match OpenOptions::new().read(true).write(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(fail(error)),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
            if file.metadata().map_err(fail)?.nlink() > 0 && path.exists() {
                abandoned.push(Self { file, path, progress });
            }
        }
        Ok(abandoned)
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// What the file says; `None` when it was never written to its end, and so nothing was changed.
    pub(super) fn read(&mut self) -> Result<Option<Journal>, ApplyError> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes).map_err(|source| self.error(source))?;
        match serde_json::from_slice::<Journal>(&bytes) {
            Ok(journal) if journal.version == VERSION => Ok(Some(journal)),
            Ok(_) => {
                let words = "it was written by another version";
                Err(self.error(io::Error::new(io::ErrorKind::InvalidData, words)))
            }
            Err(_) => Ok(None),
        }
    }

    /// From here on there is nothing to put back.
    pub(super) fn mark_done(&mut self) -> Result<(), ApplyError> {
        let done = self.path.with_extension(Progress::Done.extension());
        std::fs::rename(&self.path, &done).map_err(|source| self.error(source))?;
        self.path = done;
        self.progress = Progress::Done;
        self.sync().map_err(|source| self.error(source))
    }

    pub(super) fn remove(&self) -> Result<(), ApplyError> {
        std::fs::remove_file(&self.path)
            .and_then(|()| self.sync())
            .map_err(|source| self.error(source))
    }

    fn sync(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), sync_dir)
    }

    fn error(&self, source: io::Error) -> ApplyError {
        ApplyError::Journal { path: self.path.clone(), source }
    }
}

/// Nobody else should see the names of a person's files.
fn make_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Of the journal's format.
pub(super) const VERSION: u32 = 1;
