//! Lists a folder.

use std::path::Path;

use ignore::WalkBuilder;
use sabir_engine::ListDir;

use super::{Bounded, Look, STOPPED};

const DEFAULT_ENTRIES: u64 = 500;
const MOST_ENTRIES: u64 = 10_000;
const MOST_DEPTH: u64 = 32;

/// The entries, one a line, folders with a slash, links with what they lead to.
pub(crate) fn list_dir(look: Look<'_>, list: &ListDir) -> Result<String, String> {
    let root = look.resolve(list.path.as_deref());
    let name = list.path.as_deref().unwrap_or(".");
    let facts = root.metadata().map_err(|error| format!("{name}: {error}"))?;
    if !facts.is_dir() {
        return Err(format!("{name} is not a folder: use read_file"));
    }
    let depth = list.depth.unwrap_or(1).clamp(1, MOST_DEPTH) as usize;
    let limit = list.limit.unwrap_or(DEFAULT_ENTRIES).min(MOST_ENTRIES);
    let mut walk = WalkBuilder::new(&root);
    walk.standard_filters(false).max_depth(Some(depth)).sort_by_file_path(Path::cmp);
    let mut text = Bounded::new();
    let mut count = 0;
    for entry in walk.build() {
        if (look.is_stopped)() {
            return Err(STOPPED.to_owned());
        }
        let Ok(entry) = entry else { continue };
        let Ok(path) = entry.path().strip_prefix(&root) else { continue };
        if path.as_os_str().is_empty() {
            continue;
        }
        count += 1;
        if count > limit {
            return Ok(text.end(Some(format!("[more entries follow: {limit} are shown]"))));
        }
        let kind = entry.file_type();
        let ending = match kind {
            Some(kind) if kind.is_dir() => "/".to_owned(),
            Some(kind) if kind.is_symlink() => match entry.path().read_link() {
                Ok(target) => format!(" -> {}", target.display()),
                Err(_) => " -> ?".to_owned(),
            },
            _ => String::new(),
        };
        if !text.line(&format!("{}{ending}", path.display())) {
            return Ok(text.end(Some("[more entries follow: choose a smaller depth]".to_owned())));
        }
    }
    match count {
        0 => Ok("the folder is empty\n".to_owned()),
        _ => Ok(text.end(None)),
    }
}
