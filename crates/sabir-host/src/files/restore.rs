//! Putting files back as a journal says they were, after a failure or a crash.
//!
//! Only what is as the journal describes is touched: what somebody changed since is theirs.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use sabir_engine::patch::PatchPath;

use super::error::ApplyError;
use super::journal::{Digest, Entry, Journal, JournalFile, Progress};
use super::root::{Root, read_open};
use super::transaction::move_to_nothing;

/// What became of one journal that a crash had left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The folder that the patch was for.
    pub root: PathBuf,
    /// The files of the patch.
    pub paths: Vec<String>,
    /// Those that somebody has changed since, and that were left as they are.
    pub left: Vec<String>,
}

pub(super) fn recover(journal_dir: &Path) -> Result<Vec<Recovered>, ApplyError> {
    let mut recovered = Vec::new();
    for mut file in JournalFile::abandoned(journal_dir)? {
        if let Some(journal) = file.read()? {
            let root = match Root::open(Path::new(&journal.root)) {
                Ok(root) => root,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    file.remove()?;
                    continue;
                }
                Err(source) => {
                    let path = journal.root.to_string_lossy().into_owned();
                    return Err(ApplyError::File { action: "open", path, source });
                }
            };
            let mut left = Vec::new();
            match file.progress() {
                Progress::Open => left = put_back(&root, &journal),
                Progress::Done => journal.files.iter().for_each(|entry| clear(&root, entry)),
            }
            let paths = journal.files.iter().map(|entry| entry.path.clone()).collect();
            let root = PathBuf::from(journal.root);
            recovered.push(Recovered { root, paths, left });
        }
        file.remove()?;
    }
    Ok(recovered)
}

/// Undoes what has been done of a journal, and names the files where that was not possible.
pub(super) fn put_back(root: &Root, journal: &Journal) -> Vec<String> {
    let mut left: Vec<String> = journal
        .files
        .iter()
        .rev()
        .filter(|entry| restore(root, entry) == Outcome::Left)
        .map(|entry| entry.path.clone())
        .collect();
    left.reverse();
    remove_folders(root, &journal.folders);
    left
}

/// Removes the old file, which is under the staged name once names have been exchanged.
pub(super) fn clear(root: &Root, entry: &Entry) {
    let Some(before) = &entry.before else { return };
    let Some(places) = Places::open(root, entry) else { return };
    if places.state(&entry.staged) == State::Holds(before.clone()) {
        places.remove(&entry.staged);
        places.sync();
    }
}

/// Those of them that are empty, from below.
pub(super) fn remove_folders(root: &Root, folders: &[String]) {
    for path in folders.iter().rev() {
        let (parent, name) = path.rsplit_once('/').unwrap_or((".", path));
        if let Ok(parent) = root.folder(parent) {
            // A folder that is not empty, or not there, is as it should be.
            let _ = rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR);
            let _ = rustix::fs::fsync(&parent);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The file is what it was before.
    Restored,
    /// It is something else, and not ours to change.
    Left,
}

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Absent,
    Holds(Digest),
    /// Something that cannot be read as a file.
    Odd,
}

/// The folder of an entry, with the names in it.
struct Places<'e> {
    folder: OwnedFd,
    entry: &'e Entry,
    name: String,
}

impl<'e> Places<'e> {
    /// `None` when the folder is gone, or was never made.
    fn open(root: &Root, entry: &'e Entry) -> Option<Self> {
        let path = PatchPath::new(&entry.path).ok()?;
        // Names in a journal that was tampered with must not lead elsewhere.
        let is_name = |name: &str| PatchPath::new(name).is_ok_and(|it| it.parent().is_none());
        if !is_name(&entry.staged) || !is_name(&entry.backup) {
            return None;
        }
        let folder = root.folder_of(&path).ok()?;
        Some(Self { folder, entry, name: path.name().to_owned() })
    }

    fn state(&self, name: &str) -> State {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.folder, name, flags, Mode::empty()) {
            Ok(fd) => read_open(fd).map_or(State::Odd, |bytes| State::Holds(Digest::of(&bytes))),
            Err(Errno::NOENT) => State::Absent,
            Err(_) => State::Odd,
        }
    }

    fn remove(&self, name: &str) {
        // What is not there needs no removing.
        let _ = rustix::fs::unlinkat(&self.folder, name, AtFlags::empty());
    }

    fn sync(&self) {
        let _ = rustix::fs::fsync(&self.folder);
    }

    /// Gives the file under `from` its old name, in place of whatever has it.
    fn replace(&self, from: &str) -> Outcome {
        match rustix::fs::renameat(&self.folder, from, &self.folder, &self.name) {
            Ok(()) => Outcome::Restored,
            Err(_) => Outcome::Left,
        }
    }
}

fn restore(root: &Root, entry: &Entry) -> Outcome {
    let Some(places) = Places::open(root, entry) else { return Outcome::Restored };
    let outcome = match (&entry.before, &entry.after) {
        (Some(old), Some(new)) => places.restore_replaced(old, new),
        (None, Some(new)) => places.restore_created(new),
        (Some(_), None) => places.restore_removed(),
        (None, None) => Outcome::Restored,
    };
    places.sync();
    outcome
}

impl Places<'_> {
    fn restore_replaced(&self, old: &Digest, new: &Digest) -> Outcome {
        let Entry { staged, backup, .. } = self.entry;
        let holds = |name: &str, digest: &Digest| self.state(name) == State::Holds(digest.clone());
        if holds(&self.name, new) {
            // Names were exchanged: the old file is under one of the other names.
            let from = [staged, backup].into_iter().find(|name| holds(name, old));
            let Some(from) = from else { return Outcome::Left };
            let outcome = self.replace(from);
            if outcome == Outcome::Restored {
                self.remove(backup);
                self.remove(staged);
            }
            return outcome;
        }
        // Not exchanged, or changed since: a new file that waits is of no use to anybody. An old one
        // may be all that is left of it.
        let is_old = holds(&self.name, old);
        for name in [staged, backup] {
            if is_old || !holds(name, old) {
                self.remove(name);
            }
        }
        let is_ours = !is_old && (holds(staged, old) || holds(backup, old));
        if is_ours { Outcome::Left } else { Outcome::Restored }
    }

    fn restore_created(&self, new: &Digest) -> Outcome {
        let staged = &self.entry.staged;
        let was_moved = self.state(staged) == State::Absent;
        let now = self.state(&self.name);
        if now == State::Holds(new.clone()) {
            self.remove(&self.name);
        }
        self.remove(staged);
        let is_gone = now == State::Absent || now == State::Holds(new.clone());
        // What stands there although ours never got there was there before it.
        if is_gone || !was_moved { Outcome::Restored } else { Outcome::Left }
    }

    fn restore_removed(&self) -> Outcome {
        let staged = &self.entry.staged;
        if self.state(staged) == State::Absent {
            return Outcome::Restored;
        }
        // Nothing but the old file ever has this name. It does not replace what came since.
        match move_to_nothing(&self.folder, staged, &self.name) {
            Ok(()) => Outcome::Restored,
            Err(_) => Outcome::Left,
        }
    }
}
