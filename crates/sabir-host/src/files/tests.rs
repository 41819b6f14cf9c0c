//! Real folders, real links, and a crash after every step.

mod apply;
mod crash;
mod root;
mod rules;
mod undo;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sabir_engine::patch::{Plan, PlanError, parse, plan};
use tempfile::TempDir;

use super::root::{Opening, Root};

/// A folder to change and a folder for the journal, side by side.
struct Ground {
    dir: TempDir,
}

impl Ground {
    fn new(files: &[(&str, &str)]) -> Self {
        let ground = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(ground.path("")).unwrap();
        for (path, text) in files {
            ground.write(path, text);
        }
        ground
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.dir.path().join("root").join(inside)
    }

    fn journal(&self) -> PathBuf {
        self.dir.path().join("journal")
    }

    fn root(&self) -> Root {
        Root::open(&self.path("")).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    fn plan(&self, patch: &str) -> Result<Plan, PlanError> {
        plan(&parse(&format!("*** Begin Patch\n{patch}*** End Patch\n")).unwrap(), &self.root())
    }

    /// Everything below the root: folders, links with their targets, files with mode and content.
    fn tree(&self) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        let root = self.path("");
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let shown = if metadata.is_symlink() {
                    format!("-> {}", fs::read_link(&path).unwrap().display())
                } else if metadata.is_dir() {
                    folders.push(path);
                    "folder".to_owned()
                } else {
                    let mode = metadata.permissions().mode() & 0o7777;
                    format!("{mode:o} {}", fs::read_to_string(&path).unwrap())
                };
                tree.insert(name, shown);
            }
        }
        tree
    }

    /// What is in the folder of the journal.
    fn journals(&self) -> usize {
        let entries = fs::read_dir(self.journal()).into_iter().flatten();
        entries.filter(|entry| entry.as_ref().unwrap().path().is_file()).count()
    }
}

const BOTH: [Opening; 2] = [Opening::Openat2, Opening::NameByName];
