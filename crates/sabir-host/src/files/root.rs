//! A folder that cannot be left.
//!
//! Links are followed once, in [`Root::locate`], by our own hand. Everything that is opened after
//! that is opened without following any, so that a link that appears meanwhile leads nowhere.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use sabir_engine::patch::{Files, MAX_FILE_BYTES, PatchPath, ReadFailure};

/// An open folder, and everything beneath it.
#[derive(Debug)]
pub struct Root {
    dir: OwnedFd,
    /// Absolute and without links, for the journal.
    path: PathBuf,
    opening: Opening,
}

/// How a path is opened without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// The kernel refuses links and ways out itself.
    Openat2,
    /// Name by name, each time without following a link: for kernels and sandboxes without the
    /// other call.
    NameByName,
}

impl Root {
    pub fn open(dir: &Path) -> std::io::Result<Self> {
        let mut root = Self::open_with(dir, Opening::Openat2)?;
        let probe = root.open_beneath(".", OFlags::PATH | OFlags::DIRECTORY, Mode::empty());
        // Some sandboxes forbid calls that they do not know.
        if let Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) = probe {
            root.opening = Opening::NameByName;
        }
        Ok(root)
    }

    pub(super) fn open_with(dir: &Path, opening: Opening) -> std::io::Result<Self> {
        let path = dir.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self { dir, path, opening })
    }

    /// Where it is, absolute and without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens what a path of plain names leads to. A link anywhere in it is an error, except that
    /// `PATH` and `NOFOLLOW` together open a link at its end.
    pub(super) fn open_beneath(
        &self,
        path: &str,
        flags: OFlags,
        mode: Mode,
    ) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        match self.opening {
            Opening::Openat2 => {
                let resolve =
                    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
                rustix::fs::openat2(&self.dir, path, flags, mode, resolve)
            }
            Opening::NameByName => {
                let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
                let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mut folder: Option<OwnedFd> = None;
                for name in above.split('/').filter(|name| !name.is_empty()) {
                    let from = folder.as_ref().map_or(self.dir.as_fd(), AsFd::as_fd);
                    folder = Some(rustix::fs::openat(from, name, step, Mode::empty())?);
                }
                let from = folder.as_ref().map_or(self.dir.as_fd(), AsFd::as_fd);
                rustix::fs::openat(from, name, flags | OFlags::NOFOLLOW, mode)
            }
        }
    }

    /// The folder that holds a path.
    pub(super) fn folder_of(&self, path: &PatchPath) -> rustix::io::Result<OwnedFd> {
        let parent = path.parent();
        self.folder(parent.as_ref().map_or(".", PatchPath::as_str))
    }

    pub(super) fn folder(&self, path: &str) -> rustix::io::Result<OwnedFd> {
        self.open_beneath(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    }

    /// What stands at a path of plain names, without opening it; `None` when nothing does.
    pub(super) fn stat(&self, path: &str) -> rustix::io::Result<Option<Stat>> {
        match self.open_beneath(path, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(fd) => rustix::fs::fstat(fd).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn link_target(&self, path: &str) -> rustix::io::Result<Option<String>> {
        let fd = match self.open_beneath(path, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error),
        };
        if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::Symlink {
            return Ok(None);
        }
        let target = rustix::fs::readlinkat(&fd, "", Vec::new())?;
        target.into_string().map(Some).map_err(|_| Errno::ILSEQ)
    }
}

impl Root {
    /// The beginning of a file that was located; `None` when there is none.
    pub(crate) fn read_start(
        &self,
        path: &PatchPath,
        most: usize,
    ) -> Result<Option<Vec<u8>>, ReadFailure> {
        let Some(fd) = self.open_file(path)? else { return Ok(None) };
        check_kind(&rustix::fs::fstat(&fd).map_err(failure)?)?;
        let mut bytes = Vec::new();
        File::from(fd)
            .take(most as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| ReadFailure::Other(error.to_string()))?;
        Ok(Some(bytes))
    }

    /// Opens a file to be read; `None` when there is none.
    fn open_file(&self, path: &PatchPath) -> Result<Option<OwnedFd>, ReadFailure> {
        // A look before opening: opening a device can do something.
        match self.stat(path.as_str()).map_err(failure)? {
            None => return Ok(None),
            Some(stat) => check_kind(&stat)?,
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        self.open_beneath(path.as_str(), flags, Mode::empty()).map(Some).map_err(failure)
    }
}

impl Files for Root {
    fn locate(&self, path: &PatchPath) -> Result<PatchPath, ReadFailure> {
        let mut found: Vec<String> = Vec::new();
        let mut rest: VecDeque<String> = path.names().map(str::to_owned).collect();
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            match name.as_str() {
                "" | "." => continue,
                ".." => {
                    found.pop().ok_or(ReadFailure::Outside)?;
                    continue;
                }
                _ => found.push(name),
            }
            let target = self.link_target(&found.join("/")).map_err(failure)?;
            let Some(target) = target else { continue };
            links += 1;
            // An absolute link leaves the folder, even one that would come back into it.
            if links > MAX_LINKS || target.starts_with('/') {
                return Err(ReadFailure::Outside);
            }
            found.pop();
            for name in target.rsplit('/') {
                rest.push_front(name.to_owned());
            }
        }
        // A link may lead to the folder itself, or to a name that no patch could write.
        PatchPath::new(&found.join("/")).map_err(|error| match found.is_empty() {
            true => ReadFailure::Folder,
            false => ReadFailure::Other(format!("it leads to a path that {error}")),
        })
    }

    fn read(&self, path: &PatchPath) -> Result<Option<Vec<u8>>, ReadFailure> {
        self.open_file(path)?.map(read_open).transpose()
    }
}

/// Reads a file that has been opened, up to the size that files may have.
pub(super) fn read_open(fd: OwnedFd) -> Result<Vec<u8>, ReadFailure> {
    let stat = rustix::fs::fstat(&fd).map_err(failure)?;
    check_kind(&stat)?;
    let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0));
    // A file can grow while it is read.
    File::from(fd)
        .take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ReadFailure::Other(error.to_string()))?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(ReadFailure::TooLarge);
    }
    Ok(bytes)
}

fn check_kind(stat: &Stat) -> Result<(), ReadFailure> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_size > MAX_FILE_BYTES as i64 => Err(ReadFailure::TooLarge),
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(ReadFailure::Folder),
        // It was located: a link that stands there now was put there meanwhile.
        FileType::Symlink => Err(ReadFailure::Outside),
        _ => Err(ReadFailure::Special),
    }
}

pub(super) fn failure(error: Errno) -> ReadFailure {
    match error {
        Errno::NOTDIR => ReadFailure::BelowFile,
        Errno::LOOP | Errno::XDEV => ReadFailure::Outside,
        other => ReadFailure::Other(std::io::Error::from(other).to_string()),
    }
}

/// As many as Linux follows.
const MAX_LINKS: usize = 40;
