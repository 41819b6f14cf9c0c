//! What was done to files, so that it can be taken back later.

use std::sync::Arc;

use sabir_engine::patch::{Files as _, PatchPath, Plan};
use serde::{Deserialize, Serialize};

use super::error::ApplyError;
use super::journal::Digest;
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
    pub content: String,
    /// Permission bits.
    pub mode: u32,
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
pub(super) fn changes_back(applied: &Applied, root: &Root) -> Result<Vec<Change>, ApplyError> {
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
        changes.push(Change {
            path,
            before: now,
            after: file.before.as_ref().map(|before| before.content.as_str().into()),
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
