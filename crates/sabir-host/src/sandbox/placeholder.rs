//! A `.git` where there is none, for as long as a command runs.
//!
//! What does not exist cannot be mounted over, and what is not mounted over can be created. So an
//! empty folder takes the place, which git does not take for a repository, and goes away when the
//! last command that needs it has ended. Its mode tells it from a folder that somebody made; a lock
//! on it tells whether another command still needs it.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, flock};
use rustix::process::umask;

/// Folders that go when this does.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    held: Vec<(PathBuf, File)>,
}

impl Placeholders {
    /// Sees to it that `path` cannot be created. Fine if it exists.
    pub(super) fn hold(&mut self, path: &Path) -> io::Result<()> {
        for _ in 0..ATTEMPTS {
            match make(path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return if is_moot(path, &error) { Ok(()) } else { Err(error) },
            }
            match fs::symlink_metadata(path) {
                Ok(found) if is_placeholder(&found) => {}
                Ok(_) => return Ok(()),
                Err(_) => continue,
            }
            let Ok(folder) = File::open(path) else { continue };
            flock(&folder, FlockOperation::LockShared)?;
            // It may have been removed while we waited for the lock.
            let same = fs::symlink_metadata(path)
                .is_ok_and(|there| folder.metadata().is_ok_and(|held| held.ino() == there.ino()));
            if same {
                self.held.push((path.to_path_buf(), folder));
                return Ok(());
            }
        }
        Err(io::Error::other("it comes and goes"))
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        for (path, folder) in &self.held {
            let last = flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok();
            let same = fs::symlink_metadata(path).is_ok_and(|there| {
                is_placeholder(&there)
                    && folder.metadata().is_ok_and(|held| held.ino() == there.ino())
            });
            if last && same {
                // Fails if it is not empty, which is right then.
                let _ = fs::remove_dir(path);
            }
        }
    }
}

/// In one call: between two, another command would take it for a folder that somebody made.
fn make(path: &Path) -> io::Result<()> {
    // A helper has one thread, and nothing else makes a file meanwhile.
    let mask = umask(Mode::empty());
    let made = DirBuilder::new().mode(MODE).create(path);
    umask(mask);
    made
}

/// Readable, not writable, sticky: nobody makes such a `.git`.
const MODE: u32 = 0o1555;
const ATTEMPTS: usize = 100;

/// A folder's parent may add a group's bit, and take bits away that are not looked at here.
pub(super) fn is_placeholder(metadata: &fs::Metadata) -> bool {
    metadata.is_dir() && metadata.mode() & 0o1222 == MODE & 0o1222
}

/// Whether the command cannot create it either: the folder belongs to somebody else, or is on a
/// medium that nobody can write.
fn is_moot(path: &Path, error: &io::Error) -> bool {
    match error.kind() {
        ErrorKind::ReadOnlyFilesystem => true,
        ErrorKind::PermissionDenied => path.parent().is_some_and(|parent| {
            fs::metadata(parent)
                .is_ok_and(|parent| parent.uid() != rustix::process::geteuid().as_raw())
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_last_one_takes_it_away() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        let mut first = Placeholders::default();
        first.hold(&git).unwrap();
        assert!(git.is_dir());
        let mut second = Placeholders::default();
        second.hold(&git).unwrap();
        drop(first);
        assert!(git.is_dir(), "the second one still needs it");
        drop(second);
        assert!(!git.exists());
    }

    #[test]
    fn it_is_what_it_is_from_the_first_moment_on() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let mut seen = 0;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    if let Ok(found) = fs::symlink_metadata(&git) {
                        assert!(is_placeholder(&found), "mode {:o}", found.mode());
                        seen += 1;
                    }
                }
                seen
            });
            for _ in 0..5_000 {
                let mut held = Placeholders::default();
                held.hold(&git).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(watch.join().unwrap() > 0);
        });
    }

    #[test]
    fn masks_and_groups_of_the_parent_make_no_difference() {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o2777)).unwrap();
        let before = umask(Mode::from_raw_mode(0o077));
        let git = root.path().join(".git");
        let mut held = Placeholders::default();
        held.hold(&git).unwrap();
        assert_eq!(fs::metadata(&git).unwrap().mode() & 0o1777, MODE);
        assert_eq!(umask(before), Mode::from_raw_mode(0o077));
        drop(held);
        assert!(!git.exists());
    }

    #[test]
    fn what_a_person_made_stays() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        fs::create_dir(&git).unwrap();
        let mut held = Placeholders::default();
        held.hold(&git).unwrap();
        drop(held);
        assert!(git.is_dir());
    }

    #[test]
    fn what_a_crash_left_behind_goes_with_the_next_one() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        let mut crashed = Placeholders::default();
        crashed.hold(&git).unwrap();
        crashed.held.clear();
        assert!(git.is_dir());
        let mut next = Placeholders::default();
        next.hold(&git).unwrap();
        drop(next);
        assert!(!git.exists());
    }
}
