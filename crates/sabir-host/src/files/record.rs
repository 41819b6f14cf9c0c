//! What was done to files, so that it can be taken back later.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sabir_engine::patch::{Files as _, PatchPath, Plan};
use serde::{Deserialize, Serialize};

use super::error::ApplyError;
use super::journal::Digest;
use super::kept;
use super::root::{Root, failure};
use super::transaction::{Change, Look};

/// One applied patch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    pub files: Vec<AppliedFile>,
    /// Folders that were made for it, those above before those below.
    pub folders: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedFile {
    pub path: String,
    /// What the file was, or nothing.
    pub before: Option<BeforeFile>,
    /// SHA-256 of what it became, in hexadecimal digits, or nothing.
    pub after: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeforeFile {
    /// SHA-256 of its content, in hexadecimal digits.
    pub hash: String,
    /// Permission bits.
    pub mode: u32,
}

/// An applied patch, and the folder that it was applied to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    pub root: PathBuf,
    pub applied: Applied,
}

/// Several changes, the last one first, as one. The root is the folder that holds all of theirs.
pub(super) fn merge(changes: Vec<Undo>) -> Result<Undo, ApplyError> {
    let roots: Vec<&Path> = changes.iter().map(|change| change.root.as_path()).collect();
    let Some((&first, others)) = roots.split_first() else {
        return Err(ApplyError::BadRecord { path: String::new() });
    };
    let holds_all = |folder: &&Path| others.iter().all(|root| root.starts_with(folder));
    let root = first.ancestors().find(holds_all).unwrap_or(first).to_owned();
    let mut files: BTreeMap<String, AppliedFile> = BTreeMap::new();
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for change in changes {
        let place = |path: &str| match change.root.strip_prefix(&root) {
            Ok(below) => below.join(path).to_str().map(str::to_owned),
            Err(_) => None,
        };
        let bad = |path: &str| ApplyError::BadRecord { path: path.to_owned() };
        for file in change.applied.files {
            let path = place(&file.path).ok_or_else(|| bad(&file.path))?;
            let before = |file: &AppliedFile| file.before.as_ref().map(|it| it.hash.clone());
            match files.get_mut(&path) {
                // Whoever wrote between two changes would lose it.
                Some(later) if before(later) != file.after => {
                    return Err(ApplyError::Changed { path });
                }
                Some(later) => later.before = file.before,
                None => drop(files.insert(path.clone(), AppliedFile { path, ..file })),
            }
        }
        for folder in change.applied.folders {
            folders.insert(place(&folder).ok_or_else(|| bad(&folder))?);
        }
    }
    // In order, a folder stands before those below it.
    let (files, folders) = (files.into_values().collect(), folders.into_iter().collect());
    Ok(Undo { root, applied: Applied { files, folders } })
}

/// What a plan changes, with the modes of the files as they are now.
pub(super) fn changes_of(plan: &Plan, root: &Root) -> Result<Vec<Change>, ApplyError> {
    let mut changes = Vec::new();
    for file in plan.files().iter().filter(|file| file.before != file.after) {
        let origin = plan.files().iter().find(|other| other.path == file.origin);
        let look = match origin {
            Some(origin) if origin.before.is_some() => look_of(root, &file.origin)?,
            _ => None,
        };
        changes.push(Change {
            path: file.path.clone(),
            before: file.before.clone(),
            after: file.after.clone(),
            look,
        });
    }
    Ok(changes)
}

/// The way back, if every file is what the patch made of it.
pub(super) fn changes_back(
    applied: &Applied,
    root: &Root,
    journal_dir: &Path,
) -> Result<Vec<Change>, ApplyError> {
    let mut changes = Vec::new();
    for file in &applied.files {
        let path = PatchPath::new(&file.path)
            .map_err(|_| ApplyError::BadRecord { path: file.path.clone() })?;
        let read = |failure| ApplyError::Read { path: file.path.clone(), failure };
        let now = root.read(&path).map_err(read)?;
        let digest = now.as_deref().map(Digest::of);
        if digest.as_ref().map(Digest::as_str) != file.after.as_deref() {
            return Err(ApplyError::Changed { path: file.path.clone() });
        }
        let changed = |_| ApplyError::Changed { path: file.path.clone() };
        let now: Option<Arc<str>> =
            now.map(String::from_utf8).transpose().map_err(changed)?.map(Into::into);
        let owner = look_of(root, &path)?;
        let kept = file.before.as_ref().map(|it| kept::read(&file.path, &it.hash, journal_dir));
        changes.push(Change {
            path,
            before: now,
            after: kept.transpose()?.map(Into::into),
            look: file.before.as_ref().map(|before| match owner {
                Some(look) => Look { mode: before.mode, ..look },
                None => Look { mode: before.mode, owner: None },
            }),
        });
    }
    Ok(changes)
}

/// How the file at a path looks now.
fn look_of(root: &Root, path: &PatchPath) -> Result<Option<Look>, ApplyError> {
    let stat = root
        .stat(path.as_str())
        .map_err(|error| ApplyError::Read { path: path.to_string(), failure: failure(error) })?;
    Ok(stat
        .map(|stat| Look { mode: stat.st_mode & 0o7777, owner: Some((stat.st_uid, stat.st_gid)) }))
}
