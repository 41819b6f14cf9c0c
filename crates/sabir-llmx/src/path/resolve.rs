//! Where a path leads once links are followed, without touching a file: whoever calls says what is
//! a link.

use super::{Component, LineRange, PathError, PathRef};

/// As many links as the common kernels follow before they give up.
pub const MAX_LINKS: usize = 40;

/// What stands at an absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// A file, a folder, or nothing.
    No,
    /// A link, and the text it holds.
    To(String),
    /// It cannot be told; such a path is refused.
    Unreadable,
}

/// What knows the links of a file system.
pub trait Links {
    /// What stands at `path`, which is absolute and has no `.`, no `..` and no link before its end.
    fn at(&self, path: &str) -> Link;
}

/// A place under the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// Absolute, and without links as far as `Links` knows.
    pub path: String,
    pub lines: Option<LineRange>,
    pub is_directory: bool,
}

/// Follows `path` from `root`, which is an absolute path without links. Neither the path nor any
/// link on its way may end outside; a link may pass through the outside on its way back in, as an
/// absolute one always does.
pub fn resolve(
    path: &PathRef<'_>,
    root: &str,
    links: &dyn Links,
) -> Result<ResolvedPath, PathError> {
    if path.names().is_none() {
        return Err(PathError::LeavesRoot);
    }
    let root = absolute(root).ok_or(PathError::RelativeRoot)?;
    let mut walk = Walk { root: &root, at: root.clone(), links, followed: 0 };
    for component in &path.components {
        match component {
            Component::Name(name) => walk.enter(name)?,
            Component::Up => {
                leave(&mut walk.at);
                if !walk.is_inside() {
                    return Err(PathError::LeavesRoot);
                }
            }
        }
    }
    let path_text = if walk.at.is_empty() { "/".to_owned() } else { walk.at };
    Ok(ResolvedPath { path: path_text, lines: path.lines, is_directory: path.is_directory })
}

struct Walk<'a> {
    root: &'a str,
    /// Where the walk is; empty at the top of the file system.
    at: String,
    links: &'a dyn Links,
    followed: usize,
}

/// What is still to be done to follow one name.
enum Todo {
    Enter(String),
    /// The target of this link ends here.
    Arrive {
        link: String,
        target: String,
    },
}

impl Walk<'_> {
    fn is_inside(&self) -> bool {
        let below = self.at.strip_prefix(self.root);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    fn enter(&mut self, name: &str) -> Result<(), PathError> {
        let mut todo = vec![Todo::Enter(name.to_owned())];
        while let Some(next) = todo.pop() {
            let name = match next {
                Todo::Enter(name) => name,
                Todo::Arrive { .. } if self.is_inside() => continue,
                Todo::Arrive { link, target } => {
                    return Err(PathError::LinkLeavesRoot { link, target });
                }
            };
            if !step(&mut self.at, &name) {
                continue;
            }
            let target = match self.links.at(&self.at) {
                Link::No => continue,
                Link::Unreadable => {
                    return Err(PathError::LinkUnreadable { link: self.at.clone() });
                }
                Link::To(target) => target,
            };
            let link = self.at.clone();
            self.followed += 1;
            if self.followed > MAX_LINKS {
                return Err(PathError::LinkLoop { link });
            }
            if target.starts_with('/') {
                self.at.clear();
            } else {
                leave(&mut self.at);
            }
            let names: Vec<String> = target.split('/').map(str::to_owned).collect();
            todo.push(Todo::Arrive { link, target });
            todo.extend(names.into_iter().rev().map(Todo::Enter));
        }
        Ok(())
    }
}

/// Whether the step entered something new.
fn step(at: &mut String, name: &str) -> bool {
    match name {
        "" | "." => false,
        ".." => {
            leave(at);
            false
        }
        _ => {
            at.push('/');
            at.push_str(name);
            true
        }
    }
}

/// Goes to the parent; above the top is the top.
fn leave(at: &mut String) {
    at.truncate(at.rfind('/').unwrap_or(0));
}

fn absolute(path: &str) -> Option<String> {
    let mut at = String::with_capacity(path.len());
    for name in path.strip_prefix('/')?.split('/') {
        step(&mut at, name);
    }
    Some(at)
}
