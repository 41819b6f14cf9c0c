//! Which folders may be written, and whether a patch stays inside, from the text of paths alone.
//! Links are followed by whoever opens the files.

use crate::settings::{SandboxMode, SandboxPolicy};

/// A folder that may be written, with what stays read-only in it. Paths are absolute and plain.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Root {
    pub path: String,
    pub read_only_under: Vec<String>,
}

/// Where a patch writes, from harmless to forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PatchReach {
    /// Every path is inside a writable folder.
    Inside,
    /// A path is outside of all of them, or nobody can tell.
    Outside,
    /// A path is in a `.git`, or in the agent's own state.
    Protected,
}

/// A folder that a policy adds and that is not writable all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub path: String,
    /// In words for a person.
    pub why: &'static str,
}

/// What the policy adds in vain.
pub fn left_out(policy: &SandboxPolicy) -> Vec<LeftOut> {
    let refused = policy.writable_roots.iter().filter_map(|path| {
        let why = usable_folder(path).err()?;
        Some(LeftOut { path: path.clone(), why })
    });
    refused.collect()
}

/// Whether a folder can be told by its text, so that it may be writable. `Err` says why not.
pub fn usable_folder(path: &str) -> Result<(), &'static str> {
    if !path.starts_with('/') {
        return Err("it is not absolute: it is another folder for every process");
    }
    if path.split('/').any(|part| part == "..") {
        return Err("it has `..` in it, which leads elsewhere behind a link");
    }
    if path.contains('\0') {
        return Err("it has a NUL in it");
    }
    Ok(())
}

/// The folders that may be written under a policy. `own_state` are the agent's own folders: what
/// could change them could change the rules.
pub fn writable_roots(
    policy: &SandboxPolicy,
    cwd: &str,
    tmpdir: Option<&str>,
    own_state: &[String],
) -> Vec<Root> {
    let mut paths: Vec<&str> = Vec::new();
    match policy.mode {
        SandboxMode::ReadOnly => return Vec::new(),
        SandboxMode::WorkspaceWrite => {
            paths.push(cwd);
            paths.extend(policy.writable_roots.iter().map(String::as_str));
            if !policy.exclude_slash_tmp {
                paths.push("/tmp");
            }
            paths.extend(tmpdir.filter(|_| !policy.exclude_tmpdir_env_var));
        }
        SandboxMode::DangerFullAccess => paths.push("/"),
    }
    let mut roots: Vec<Root> = Vec::new();
    for path in paths {
        let Some(parts) = plain_parts(path) else { continue };
        let path = join(&parts);
        if roots.iter().any(|root| root.path == path) {
            continue;
        }
        let read_only_under = read_only(&parts, cwd, own_state);
        roots.push(Root { path, read_only_under });
    }
    roots
}

/// Where these absolute paths are, as the worst of them is.
pub fn reach<P: AsRef<str>>(paths: &[P], roots: &[Root]) -> PatchReach {
    // A patch that names nothing is not known to stay inside.
    let worst = paths.iter().map(|path| reach_of(path.as_ref(), roots)).max();
    worst.unwrap_or(PatchReach::Outside)
}

fn reach_of(path: &str, roots: &[Root]) -> PatchReach {
    let written: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let resolved = without_parents(&written);
    let is_own = |own: Vec<&str>| resolved.starts_with(&own) || written.starts_with(&own);
    let mut read_only = roots.iter().flat_map(|root| &root.read_only_under);
    if written.iter().any(|part| is_git(part))
        || read_only.any(|path| plain_parts(path).is_some_and(is_own))
    {
        return PatchReach::Protected;
    }
    let Some(parts) = plain_parts(path) else { return PatchReach::Outside };
    let holds = |root: &Root| {
        plain_parts(&root.path)
            .is_some_and(|root| parts.len() > root.len() && parts.starts_with(&root))
    };
    if roots.iter().any(holds) { PatchReach::Inside } else { PatchReach::Outside }
}

fn read_only(root: &[&str], cwd: &str, own_state: &[String]) -> Vec<String> {
    // A root in a `.git` is all of it read-only, whoever named it.
    if root.iter().any(|part| is_git(part)) {
        return vec![join(root)];
    }
    let mut read_only = vec![join(&[root, &[".git"]].concat())];
    if root.is_empty() {
        let cwd = plain_parts(cwd).unwrap_or_default();
        read_only.push(join(&[&cwd[..], &[".git"]].concat()));
    }
    for own in own_state.iter().filter_map(|own| plain_parts(own)) {
        if own.starts_with(root) {
            read_only.push(join(&own));
        } else if root.starts_with(&own) {
            read_only.push(join(root));
        }
    }
    read_only.dedup();
    read_only
}

/// Some file systems do not tell `.GIT` from `.git`.
fn is_git(part: &str) -> bool {
    part.eq_ignore_ascii_case(".git")
}

/// The components of an absolute path, if it is usable.
pub(crate) fn plain_parts(path: &str) -> Option<Vec<&str>> {
    usable_folder(path).ok()?;
    Some(path.split('/').filter(|part| !matches!(*part, "" | ".")).collect())
}

/// What the text alone says about `..`.
fn without_parents<'a>(parts: &[&'a str]) -> Vec<&'a str> {
    let mut resolved = Vec::new();
    for part in parts {
        if *part == ".." {
            resolved.pop();
        } else {
            resolved.push(*part);
        }
    }
    resolved
}

fn join(parts: &[&str]) -> String {
    format!("/{}", parts.join("/"))
}
