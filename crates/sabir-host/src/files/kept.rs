//! What files held before they were changed, kept for taking changes back: one file for each
//! content, named by its hash. The record of a change holds the names only, because a journal is no
//! place for whole files.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sabir_engine::patch::{MAX_FILE_BYTES, Plan};

use super::error::ApplyError;
use super::journal::Digest;

/// Keeps what the plan replaces. All of it is on disk when this returns.
pub(super) fn keep(plan: &Plan, journal_dir: &Path) -> Result<(), ApplyError> {
    let dir = folder(journal_dir);
    let fail = |source| ApplyError::Journal { path: dir.clone(), source };
    let mut names = HashSet::new();
    for file in plan.files().iter().filter(|file| file.before != file.after) {
        let Some(before) = &file.before else { continue };
        let digest = Digest::of(before.as_bytes());
        if names.is_empty() {
            DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(fail)?;
        }
        if names.insert(digest.as_str().to_owned()) {
            write(&dir, digest.as_str(), before).map_err(fail)?;
        }
    }
    if !names.is_empty() {
        File::open(&dir).and_then(|dir| dir.sync_all()).map_err(fail)?;
        forget_oldest(&dir, &names, MOST_FILES, MOST_BYTES);
    }
    Ok(())
}

/// What was kept under a name, if it still is what its name says.
pub(super) fn read(path: &str, name: &str, journal_dir: &Path) -> Result<String, ApplyError> {
    let lost = || ApplyError::NotKept { path: path.to_owned() };
    let is_hash = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let kept = folder(journal_dir).join(name);
    // A name from a record that was tampered with must not lead elsewhere.
    let is_small = fs::symlink_metadata(&kept)
        .is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_FILE_BYTES as u64);
    if !is_hash || !is_small {
        return Err(lost());
    }
    let bytes = fs::read(&kept).map_err(|_| lost())?;
    match Digest::of(&bytes).as_str() == name {
        true => String::from_utf8(bytes).map_err(|_| lost()),
        false => Err(lost()),
    }
}

fn folder(journal_dir: &Path) -> PathBuf {
    journal_dir.join("kept")
}

fn write(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let path = dir.join(name);
    // Used again, so that it is not among the oldest. One of another length was cut by a crash.
    if fs::metadata(&path).is_ok_and(|facts| facts.len() == text.len() as u64) {
        return File::options().write(true).open(&path)?.set_modified(SystemTime::now());
    }
    let draft = dir.join(format!("{name}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options
        .open(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, &path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Removes what was used longest ago, except `needed`, until the rest is within the bounds. What
/// cannot be looked at or removed is left for another time.
fn forget_oldest(dir: &Path, needed: &HashSet<String>, most_files: usize, most_bytes: u64) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut kept: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let facts = entry.metadata().ok()?;
            Some((facts.modified().ok()?, facts.len(), entry.path()))
        })
        .collect();
    kept.sort();
    let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
    let mut count = kept.len();
    for (_, len, path) in kept {
        if count <= most_files && bytes <= most_bytes {
            return;
        }
        let is_needed =
            path.file_name().and_then(|it| it.to_str()).is_some_and(|it| needed.contains(it));
        if !is_needed && fs::remove_file(&path).is_ok() {
            count -= 1;
            bytes -= len;
        }
    }
}

/// Far more than one takes back, and a small part of any disk.
const MOST_FILES: usize = 4096;
const MOST_BYTES: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_used_longest_ago_is_forgotten_first() {
        let dir = tempfile::tempdir().unwrap();
        for (age, name) in ["old", "needed", "new", "newest"].into_iter().enumerate() {
            let path = dir.path().join(name);
            fs::write(&path, [0; 100]).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(age as u64);
            File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
        }
        let needed = HashSet::from(["needed".to_owned()]);
        let names = || {
            let names = fs::read_dir(dir.path()).unwrap();
            let mut names: Vec<String> =
                names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names.join(" ")
        };
        forget_oldest(dir.path(), &needed, 3, 1000);
        assert_eq!(names(), "needed new newest");
        forget_oldest(dir.path(), &needed, 3, 200);
        assert_eq!(names(), "needed newest");
        forget_oldest(dir.path(), &needed, 0, 0);
        assert_eq!(names(), "needed");
    }
}
