//! The files that belong to the repository, read once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::host;

pub(super) struct Repo {
    /// `None` for what is not UTF-8: it exists, and no rule reads it.
    files: BTreeMap<String, Option<String>>,
}

impl Repo {
    /// What git tracks, and what it would track after `git add`, so that a rule speaks up before
    /// the commit.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let mut git = Command::new("git");
        git.current_dir(root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let listing = host::output(&mut git)?;
        let mut files = BTreeMap::new();
        for name in listing.split_terminator('\0') {
            let path = root.join(name);
            // Deleted but not yet committed, or a link to somewhere else.
            if !path.is_file() {
                continue;
            }
            let bytes = fs::read(&path).with_context(|| format!("cannot read {name}"))?;
            files.insert(name.to_owned(), String::from_utf8(bytes).ok());
        }
        Ok(Self { files })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let own = |&(name, text): &(&str, &str)| (name.to_owned(), Some(text.to_owned()));
        Self { files: files.iter().map(own).collect() }
    }

    /// Every file that is text, by path.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(name, text)| Some((name.as_str(), text.as_deref()?)))
    }

    pub(super) fn texts_ending(&self, end: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(name, _)| name.ends_with(end))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name)?.as_deref()
    }

    /// Whether a file or a folder of this name exists; the root itself is the empty name.
    pub(super) fn exists(&self, name: &str) -> bool {
        let folder = format!("{}/", name.trim_end_matches('/'));
        name.is_empty()
            || self.files.contains_key(name)
            || self.files.keys().any(|file| file.starts_with(&folder))
    }
}

/// Rust that is ours to keep in order; fixtures are data, whatever they look like.
pub(super) fn is_rust_source(name: &str) -> bool {
    name.ends_with(".rs") && !name.contains("/tests/data/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untracked_files_count_and_ignored_ones_do_not() {
        let dir = tempfile::tempdir().unwrap();
        host::output(Command::new("git").current_dir(dir.path()).args(["init", "--quiet"]))
            .unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        for (name, bytes) in [
            (".gitignore", "ignored\n".as_bytes()),
            ("ignored", b"x"),
            ("src/new.rs", b"//! New."),
            ("picture", b"\xFF\xD8"),
        ] {
            fs::write(dir.path().join(name), bytes).unwrap();
        }

        let repo = Repo::load(dir.path()).unwrap();

        let names: Vec<_> = repo.texts().map(|(name, _)| name).collect();
        assert_eq!(names, [".gitignore", "src/new.rs"]);
        assert_eq!(repo.text("src/new.rs"), Some("//! New."));
        assert!(repo.exists("picture") && repo.exists("src") && repo.exists("src/"));
        assert!(!repo.exists("ignored") && !repo.exists("sr"));
    }
}
