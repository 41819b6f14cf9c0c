//! Opening files that somebody names: whatever lies there by now, nobody is waited for, and no more
//! is read than was meant.

mod access;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use access::{Access, access};

/// Files with keys, and folders of such files. Nothing that a model asks for may show what is in them.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyFiles {
    paths: Vec<PathBuf>,
    /// Those that stood there at the beginning, by device and number: they may be moved.
    first: Vec<(u64, u64)>,
}

impl KeyFiles {
    /// The same files are meant wherever one stands later.
    pub(crate) fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let paths: Vec<PathBuf> = paths.into_iter().map(absolute).collect();
        let first = paths.iter().filter_map(|path| path.metadata().ok());
        let first = first.map(|it| (it.dev(), it.ino())).collect();
        Self { paths, first }
    }

    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Whether this is one of them, under whatever name.
    pub(crate) fn has(&self, file: &Metadata) -> bool {
        let name = |it: &Metadata| (it.dev(), it.ino());
        let is_meant = |path: &PathBuf| {
            path.metadata().is_ok_and(|key| match key.is_dir() {
                true => key.dev() == file.dev() && is_in(path, file),
                false => name(&key) == name(file),
            })
        };
        self.first.contains(&name(file)) || self.paths.iter().any(is_meant)
    }
}

/// Whether a file of the same device is one of those in a folder. One that cannot be looked through
/// has it: whoever asks learns nothing.
fn is_in(folder: &Path, file: &Metadata) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return true };
    entries.into_iter().any(|entry| entry.map_or(true, |entry| entry.ino() == file.ino()))
}

/// Opens what is there for reading. Questions about the open file are answered about that file,
/// whatever the name means by then; a pipe does not wait for somebody who writes.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let facts = file.metadata()?;
    Ok((file, facts))
}

/// All that there is to read; `None` when that is more.
pub(crate) fn read_at_most(from: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        kind => kind.to_string(),
    }
}

/// The text of a small file that nobody else can use, or why not.
pub fn read_private(path: &Path, most: u64) -> Result<String, String> {
    let (file, facts) = open(path).map_err(|error| why(&error))?;
    if !facts.is_file() {
        return Err("it is not a file".to_owned());
    }
    match access(&file, &facts) {
        Access::OursAlone => read_text(file, most),
        Access::AnothersFile => Err("it belongs to another user".to_owned()),
        Access::OpenToOthers => {
            let (mode, path) = (facts.mode() & 0o7777, path.display());
            Err(format!("its mode is {mode:o}, so others may use it: chmod 600 {path}"))
        }
    }
}

/// The text of a small file, or why not.
pub fn read_file_text(path: &Path, most: u64) -> Result<String, String> {
    let (file, facts) = open(path).map_err(|error| why(&error))?;
    if !facts.is_file() {
        return Err("it is not a file".to_owned());
    }
    read_text(file, most)
}

/// The text that comes out of something, to its end, or why not.
pub fn read_text(from: impl Read, most: u64) -> Result<String, String> {
    let bytes = read_at_most(from, most).map_err(|error| why(&error))?;
    let bytes = bytes.ok_or_else(|| format!("it is larger than {most} bytes"))?;
    String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())
}
