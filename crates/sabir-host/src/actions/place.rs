//! Where the paths of actions lead: always below the root, or nowhere.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sabir_engine::patch::PatchPath;
use sabir_llmx::{LineRange, Link, Links, PathRef};

/// The links of the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct LinksOnDisk;

/// No system that we know opens a longer path. Asking about a path of megabytes, one component after
/// the other, would take hours.
const LONGEST_PATH: usize = 4096;

impl Links for LinksOnDisk {
    fn at(&self, path: &str) -> Link {
        if path.len() > LONGEST_PATH {
            return Link::Unreadable;
        }
        match std::fs::read_link(path) {
            Ok(target) => match target.into_os_string().into_string() {
                Ok(target) => Link::To(target),
                Err(_) => Link::Unreadable,
            },
            Err(error) => match error.kind() {
                // A file or a folder; nothing; something below a file.
                ErrorKind::InvalidInput | ErrorKind::NotFound | ErrorKind::NotADirectory => {
                    Link::No
                }
                _ => Link::Unreadable,
            },
        }
    }
}

/// What a path of an action leads to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    /// Absolute, and without links when it was looked at.
    pub(super) path: PathBuf,
    /// From the root; the root itself is none.
    pub(super) below: Option<PatchPath>,
    pub(super) lines: Option<LineRange>,
    pub(super) names_folder: bool,
}

impl Place {
    /// `root` is absolute and without links.
    pub(super) fn find(text: &str, root: &str) -> Result<Self, String> {
        let refuse = |error: sabir_llmx::PathError| {
            format!("the path {text:?} is refused: {error}; {}", error.help())
        };
        if let Some(error) = sabir_llmx::escape(text) {
            return Err(refuse(error));
        }
        let path = PathRef::parse(text).map_err(refuse)?;
        let found = sabir_llmx::resolve(&path, root, &LinksOnDisk).map_err(refuse)?;
        let path = PathBuf::from(&found.path);
        let below = path.strip_prefix(root).ok().and_then(Path::to_str).unwrap_or_default();
        let below = match below {
            "" => None,
            below => Some(
                PatchPath::new(below)
                    .map_err(|error| format!("the path {text:?} is refused: it {error}"))?,
            ),
        };
        Ok(Self { path, below, lines: found.lines, names_folder: found.is_directory })
    }

    /// The same for what must be a file.
    pub(super) fn find_file(text: &str, root: &str) -> Result<(PatchPath, Self), String> {
        let place = Self::find(text, root)?;
        match &place.below {
            Some(below) if !place.names_folder => Ok((below.clone(), place)),
            _ => Err(format!("{text} names a folder")),
        }
    }
}
