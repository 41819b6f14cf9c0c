//! The folder that the paths of a document may not leave, and the links in it.

use std::io;
use std::path::Path;

use anyhow::Context;
use sabir_llmx::{Link, Links, PathRef};

use crate::notation::Findings;

/// An existing folder.
#[derive(Debug)]
pub(crate) struct Root {
    /// Absolute and without links.
    path: String,
}

/// No system that we know opens a longer path. Asking for one component after the other of a path
/// of megabytes would take hours, so it is not asked.
const LONGEST_PATH: usize = 4096;

/// More refusals than this in one text help nobody.
const MOST_REFUSED: usize = 1_000;

impl Root {
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        let unusable = || format!("{}: cannot be the root", folder.display());
        let path = folder.canonicalize().with_context(unusable)?;
        let is_folder = std::fs::metadata(&path).with_context(unusable)?.is_dir();
        anyhow::ensure!(is_folder, "{}: is not a folder", folder.display());
        let path = path.to_str().filter(|path| path.starts_with('/'));
        let path = path.with_context(|| format!("{}: has no path in UTF-8", folder.display()))?;
        Ok(Self { path: path.to_owned() })
    }

    /// What `check` finds, and every path that leaves the root through a link.
    pub(crate) fn check(&self, text: &str) -> Findings {
        let mut parsed = sabir_llmx::check(text);
        let places = sabir_llmx::paths(&parsed.tree);
        // What is wrong with a path by its text has been said.
        let readable = places.filter(|place| sabir_llmx::check_path(place).is_none());
        let refused = readable.filter_map(|place| {
            let path = PathRef::parse(&place.text).ok()?;
            let error = sabir_llmx::resolve(&path, &self.path, &FileLinks).err()?;
            Some(place.refuse(&error))
        });
        let refused: Vec<_> = refused.take(MOST_REFUSED).collect();
        parsed.diagnostics.extend(refused);
        parsed.diagnostics.sort_by_key(|found| found.span.start);
        parsed.into()
    }
}

/// The links of the file system that the program runs on.
struct FileLinks;

impl Links for FileLinks {
    fn at(&self, path: &str) -> Link {
        if path.len() > LONGEST_PATH {
            return Link::Unreadable;
        }
        let target = match std::fs::symlink_metadata(path) {
            Ok(found) if !found.is_symlink() => return Link::No,
            Ok(_) => std::fs::read_link(path),
            Err(error) => Err(error),
        };
        match target {
            Ok(target) => target.to_str().map_or(Link::Unreadable, |to| Link::To(to.to_owned())),
            Err(error) if is_absence(&error) => Link::No,
            Err(_) => Link::Unreadable,
        }
    }
}

/// What is not there yet may be written later, and leads nowhere.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
