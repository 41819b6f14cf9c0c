//! Tools that only look. Each returns text that a model can read, bounded, or says why not.

mod list_dir;
mod read_file;
mod search;

pub(crate) use list_dir::list_dir;
pub(crate) use read_file::read_file;
pub(crate) use search::{find_lines, search};

use std::path::{Path, PathBuf};

use crate::reading::KeyFiles;

/// From where one looks, at what not, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) key_files: &'a KeyFiles,
    pub(crate) is_stopped: &'a dyn Fn() -> bool,
}

const STOPPED: &str = "stopped";

/// The most that a tool tells a model.
const MOST_BYTES: usize = 256 * 1024;

impl Look<'_> {
    fn resolve(&self, path: Option<&str>) -> PathBuf {
        path.map_or_else(|| self.cwd.to_owned(), |path| self.cwd.join(path))
    }
}

/// Adds a line while there is room for it.
struct Bounded {
    text: String,
    is_full: bool,
}

impl Bounded {
    fn new() -> Self {
        Self { text: String::new(), is_full: false }
    }

    fn line(&mut self, line: &str) -> bool {
        if self.text.len() + line.len() + 1 > MOST_BYTES {
            self.is_full = true;
            return false;
        }
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    /// A sentence that must not be left out.
    fn end(mut self, note: Option<String>) -> String {
        if let Some(note) = note {
            self.text.push_str(&note);
            self.text.push('\n');
        }
        self.text
    }
}

#[cfg(test)]
mod tests;
