//! Several files changed as one: each step leaves a state from which everything can be put back.
//!
//! First a journal is written. Then new files are made beside the old ones, and names exchanged one
//! after the other; old files stay beside the new ones until the journal says that all is done.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;
use sabir_engine::patch::{Files as _, PatchPath};

use super::error::ApplyError;
use super::journal::{Digest, Entry, Journal, JournalFile, VERSION, hex};
use super::record::{Applied, AppliedFile, BeforeFile};
use super::restore;
use super::root::{Root, failure, read_open};

/// What becomes of one path.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) path: PatchPath,
    pub(super) before: Option<Arc<str>>,
    pub(super) after: Option<Arc<str>>,
    /// Of the file that comes; a new one looks as new files do.
    pub(super) look: Option<Look>,
}

/// What a file keeps beside its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) mode: u32,
    pub(super) owner: Option<(u32, u32)>,
}

/// What is done, in order. A crash can come between any two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    WriteJournal,
    MakeFolder(usize),
    Stage(usize),
    Swap(usize),
    SyncFolders,
    Commit,
    Clear(usize),
    Finish,
}

#[derive(Debug)]
pub(super) struct Transaction<'r> {
    root: &'r Root,
    changes: Vec<Change>,
    journal: Journal,
    journal_dir: PathBuf,
    id: String,
    journal_file: Option<JournalFile>,
    record: Applied,
}

impl<'r> Transaction<'r> {
    /// Checks everything that can be checked without changing anything.
    pub(super) fn prepare(
        root: &'r Root,
        changes: Vec<Change>,
        journal_dir: &Path,
    ) -> Result<Self, ApplyError> {
        let mut record = Applied::default();
        let mut files = Vec::new();
        let mut folders = BTreeSet::new();
        for change in &changes {
            check_reserved(root, &change.path, journal_dir)?;
            let mode = check_before(root, change)?;
            if change.after.is_some() {
                missing_folders(root, &change.path, &mut folders)?;
            }
            let digest =
                |text: &Option<Arc<str>>| text.as_ref().map(|text| Digest::of(text.as_bytes()));
            let (before, after) = (digest(&change.before), digest(&change.after));
            record.files.push(AppliedFile {
                path: change.path.to_string(),
                before: before
                    .as_ref()
                    .map(|digest| BeforeFile { hash: digest.as_str().to_owned(), mode }),
                after: after.as_ref().map(|digest| digest.as_str().to_owned()),
            });
            let (staged, backup) = (hidden_name()?, hidden_name()?);
            files.push(Entry { path: change.path.to_string(), staged, backup, before, after });
        }
        record.folders = folders.iter().map(ToString::to_string).collect();
        let journal = Journal {
            version: VERSION,
            root: root.path().as_os_str().to_owned(),
            folders: record.folders.clone(),
            files,
        };
        let (journal_dir, id) = (journal_dir.to_owned(), format!("patch-{}", random()?));
        Ok(Self { root, changes, journal, journal_dir, id, journal_file: None, record })
    }

    pub(super) fn into_record(self) -> Applied {
        self.record
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        let files = 0..self.changes.len();
        if files.is_empty() {
            return Vec::new();
        }
        let mut steps = vec![Step::WriteJournal];
        steps.extend((0..self.journal.folders.len()).map(Step::MakeFolder));
        steps.extend(files.clone().map(Step::Stage));
        steps.extend(files.clone().map(Step::Swap));
        steps.extend([Step::SyncFolders, Step::Commit]);
        steps.extend(files.map(Step::Clear));
        steps.push(Step::Finish);
        steps
    }

    /// Does all steps. When one fails, everything is put back.
    pub(super) fn run(&mut self) -> Result<(), ApplyError> {
        self.run_watched(|_| ())
    }

    /// The same, and somebody is told of every step before it is done.
    pub(super) fn run_watched(&mut self, mut watch: impl FnMut(Step)) -> Result<(), ApplyError> {
        for step in self.steps() {
            watch(step);
            let Err(error) = self.perform(step) else { continue };
            // Once it is committed the files are what they should be; what is left beside them is
            // cleared away by the next recovery.
            if matches!(step, Step::Clear(_) | Step::Finish) {
                return Ok(());
            }
            let left = restore::put_back(self.root, &self.journal);
            if !left.is_empty() {
                return Err(ApplyError::HalfDone { cause: Box::new(error), left });
            }
            if let Some(file) = &self.journal_file {
                // A journal that stays is harmless: there is nothing left that it describes.
                let _ = file.remove();
            }
            return Err(error);
        }
        Ok(())
    }

    pub(super) fn perform(&mut self, step: Step) -> Result<(), ApplyError> {
        match step {
            Step::WriteJournal => {
                let file = JournalFile::create(&self.journal_dir, &self.id, &self.journal)?;
                self.journal_file = Some(file);
                Ok(())
            }
            Step::MakeFolder(at) => self.make_folder(&self.journal.folders[at]),
            Step::Stage(at) => self.stage(&self.changes[at], &self.journal.files[at]),
            Step::Swap(at) => self.swap(&self.changes[at], &self.journal.files[at]),
            Step::SyncFolders => self.sync_folders(),
            Step::Commit => self.journal_file.as_mut().map_or(Ok(()), JournalFile::mark_done),
            Step::Clear(at) => {
                restore::clear(self.root, &self.journal.files[at]);
                Ok(())
            }
            Step::Finish => self.journal_file.as_ref().map_or(Ok(()), JournalFile::remove),
        }
    }

    fn make_folder(&self, path: &str) -> Result<(), ApplyError> {
        let fail = |error| file_error("make the folder", path, error);
        let (parent, name) = path.rsplit_once('/').unwrap_or((".", path));
        let parent = self.root.folder(parent).map_err(fail)?;
        match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755)) {
            // Somebody was faster.
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(fail(error)),
        }
    }

    /// Makes the new file beside the old one, on disk with everything.
    fn stage(&self, change: &Change, entry: &Entry) -> Result<(), ApplyError> {
        let Some(after) = &change.after else { return Ok(()) };
        let fail = |error| file_error("write", &entry.path, error);
        let folder = self.root.folder_of(&change.path).map_err(fail)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if change.look.is_some() { 0o600 } else { 0o644 };
        let mode = Mode::from_raw_mode(mode);
        let fd = rustix::fs::openat(&folder, &entry.staged, flags, mode).map_err(fail)?;
        let mut file = File::from(fd);
        file.write_all(after.as_bytes()).map_err(|source| ApplyError::File {
            action: "write",
            path: entry.path.clone(),
            source,
        })?;
        if let Some(look) = change.look {
            if let Some((user, group)) = look.owner {
                // Only a superuser can give files away. Everybody else gets what they can make.
                let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
                let _ = rustix::fs::fchown(&file, Some(user), Some(group));
            }
            // After the owner, because a change of owner takes bits away.
            rustix::fs::fchmod(&file, Mode::from_raw_mode(look.mode)).map_err(fail)?;
        }
        rustix::fs::fsync(&file).map_err(fail)
    }

    fn swap(&self, change: &Change, entry: &Entry) -> Result<(), ApplyError> {
        let path = &entry.path;
        let fail = |error| match error {
            Errno::EXIST | Errno::NOENT => ApplyError::Changed { path: path.clone() },
            error => file_error("replace", path, error),
        };
        let folder = self.root.folder_of(&change.path).map_err(fail)?;
        let name = change.path.name();
        match (&change.before, &change.after) {
            (None, None) => Ok(()),
            (None, Some(_)) => move_to_nothing(&folder, &entry.staged, name).map_err(fail),
            (Some(before), Some(_)) => {
                exchange(&folder, entry, name).map_err(fail)?;
                let is_same = holds(&folder, &entry.staged, before);
                if !is_same {
                    // Somebody wrote in the last moment. Theirs goes back under its name; if that
                    // fails it stays beside it, and the restoring says so.
                    let _ = exchange_back(&folder, entry, name);
                    return Err(ApplyError::Changed { path: path.clone() });
                }
                Ok(())
            }
            (Some(before), None) => {
                move_to_nothing(&folder, name, &entry.staged).map_err(fail)?;
                if !holds(&folder, &entry.staged, before) {
                    let _ = move_to_nothing(&folder, &entry.staged, name);
                    return Err(ApplyError::Changed { path: path.clone() });
                }
                Ok(())
            }
        }
    }

    /// Names are on disk only when their folders are.
    fn sync_folders(&self) -> Result<(), ApplyError> {
        let parent =
            |path: &str| path.rsplit_once('/').map_or(".", |(parent, _)| parent).to_owned();
        let paths = self.journal.files.iter().map(|entry| &entry.path);
        let folders: BTreeSet<String> =
            paths.chain(&self.journal.folders).map(|path| parent(path)).collect();
        for path in folders {
            let fail = |error| file_error("sync the folder", &path, error);
            let folder = self.root.folder(&path).map_err(fail)?;
            rustix::fs::fsync(folder).map_err(fail)?;
        }
        Ok(())
    }
}

/// Gives a file a name that nothing has.
pub(super) fn move_to_nothing(folder: &OwnedFd, from: &str, to: &str) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        // Not every file system can; a second name is refused where there is one already.
        Err(Errno::INVAL | Errno::NOSYS) => {
            rustix::fs::linkat(folder, from, folder, to, AtFlags::empty())?;
            rustix::fs::unlinkat(folder, from, AtFlags::empty())
        }
        done => done,
    }
}

/// Puts the staged file in place of the old one, which is then under the staged name. At every
/// moment there is a file under `name`.
fn exchange(folder: &OwnedFd, entry: &Entry, name: &str) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(folder, &entry.staged, folder, name, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS) => exchange_by_links(folder, entry, name),
        done => done,
    }
}

/// The same for file systems that cannot exchange names.
pub(super) fn exchange_by_links(
    folder: &OwnedFd,
    entry: &Entry,
    name: &str,
) -> rustix::io::Result<()> {
    rustix::fs::linkat(folder, name, folder, &entry.backup, AtFlags::empty())?;
    rustix::fs::renameat(folder, &entry.staged, folder, name)?;
    rustix::fs::renameat(folder, &entry.backup, folder, &entry.staged)
}

fn exchange_back(folder: &OwnedFd, entry: &Entry, name: &str) -> rustix::io::Result<()> {
    rustix::fs::renameat(folder, &entry.staged, folder, name)
}

fn holds(folder: &OwnedFd, name: &str, text: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
        .ok()
        .and_then(|fd| read_open(fd).ok())
        .is_some_and(|bytes| bytes == text.as_bytes())
}

/// The file must hold what it should, and somebody must be allowed to write it. Returns its mode.
fn check_before(root: &Root, change: &Change) -> Result<u32, ApplyError> {
    let path = change.path.to_string();
    let read = |failure| ApplyError::Read { path: path.clone(), failure };
    let now = root.read(&change.path).map_err(read)?;
    if now.as_deref() != change.before.as_ref().map(|text| text.as_bytes()) {
        return Err(ApplyError::Changed { path });
    }
    if now.is_none() {
        return Ok(0);
    }
    let stat = root.stat(&path).map_err(|error| read(failure(error)))?;
    let mode = stat.map_or(0, |stat| stat.st_mode & 0o7777);
    let folder = root.folder_of(&change.path).map_err(|error| read(failure(error)))?;
    let access = rustix::fs::accessat(
        folder.as_fd(),
        change.path.name(),
        Access::WRITE_OK,
        AtFlags::empty(),
    );
    // The superuser is allowed everything, but the bits still say what is meant.
    if mode & 0o222 == 0 || access.is_err() {
        return Err(ApplyError::ReadOnly { path });
    }
    Ok(mode)
}

fn check_reserved(root: &Root, path: &PatchPath, journal_dir: &Path) -> Result<(), ApplyError> {
    // A journal that does not exist yet has no other name than the one that is given.
    let dir = journal_dir.canonicalize().unwrap_or_else(|_| journal_dir.to_owned());
    if root.path().join(path.as_str()).starts_with(dir) {
        return Err(ApplyError::Reserved { path: path.to_string() });
    }
    Ok(())
}

fn missing_folders(
    root: &Root,
    path: &PatchPath,
    missing: &mut BTreeSet<PatchPath>,
) -> Result<(), ApplyError> {
    let mut folder = path.parent();
    while let Some(path) = folder {
        let stat = root.stat(path.as_str()).map_err(|error| ApplyError::Read {
            path: path.to_string(),
            failure: failure(error),
        })?;
        if stat.is_some() {
            break;
        }
        folder = path.parent();
        missing.insert(path);
    }
    Ok(())
}

fn file_error(action: &'static str, path: &str, error: Errno) -> ApplyError {
    ApplyError::File { action, path: path.to_owned(), source: error.into() }
}

/// A name that no other file has, short enough for every file system.
fn hidden_name() -> Result<String, ApplyError> {
    Ok(format!(".sabir-{}", random()?))
}

fn random() -> Result<String, ApplyError> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(|error| ApplyError::File {
        action: "draw a name for",
        path: "a temporary file".to_owned(),
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(hex(&bytes))
}
