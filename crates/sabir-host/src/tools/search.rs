//! Finds lines by a regular expression, as ripgrep does: what `.gitignore` names is passed over,
//! and so are binary files.

use std::path::Path;

use grep_regex::RegexMatcherBuilder;
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use sabir_engine::Search;

use super::{Look, MOST_BYTES, STOPPED};
use crate::reading;

const DEFAULT_LINES: u64 = 200;
const MOST_LINES: u64 = 5000;
const MOST_LINE_BYTES: usize = 500;

/// Bounds what a hostile expression can cost to build.
const MOST_REGEX_BYTES: usize = 4 * 1024 * 1024;

/// The matching lines as `path:line:text`, in the order of their paths.
pub(crate) fn search(look: Look<'_>, search: &Search) -> Result<String, String> {
    let Found { lines, is_cut } = find_lines(look, search)?;
    let count = lines.len();
    if count == 0 {
        return Ok("no line matches\n".to_owned());
    }
    let mut text = lines.join("\n");
    text.push('\n');
    if is_cut {
        text.push_str(&format!("[stopped after {count} lines: narrow the search]\n"));
    }
    Ok(text)
}

/// What a search found.
pub(crate) struct Found {
    /// Each as `path:line:text`.
    pub(crate) lines: Vec<String>,
    /// There may be more.
    pub(crate) is_cut: bool,
}

pub(crate) fn find_lines(look: Look<'_>, search: &Search) -> Result<Found, String> {
    let is_stopped = look.is_stopped;
    let matcher = RegexMatcherBuilder::new()
        .size_limit(MOST_REGEX_BYTES)
        .dfa_size_limit(MOST_REGEX_BYTES)
        .line_terminator(Some(b'\n'))
        .build(&search.pattern)
        .map_err(|error| format!("the pattern cannot be used: {error}"))?;
    let root = look.resolve(search.path.as_deref());
    if !root.exists() {
        return Err(format!("{} does not exist", search.path.as_deref().unwrap_or(".")));
    }
    let mut walk = WalkBuilder::new(&root);
    walk.sort_by_file_path(Path::cmp).require_git(false);
    if let Some(glob) = &search.glob {
        let mut only = OverrideBuilder::new(&root);
        only.add(glob).map_err(|error| format!("the glob cannot be used: {error}"))?;
        let only = only.build().map_err(|error| format!("the glob cannot be used: {error}"))?;
        walk.overrides(only);
    }
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(16 * 1024 * 1024))
        .line_number(true)
        .build();
    let limit = search.limit.unwrap_or(DEFAULT_LINES).min(MOST_LINES);
    let mut lines: Vec<String> = Vec::new();
    let mut bytes = 0;
    let mut is_cut = false;
    for entry in walk.build() {
        if is_stopped() {
            return Err(STOPPED.to_owned());
        }
        // A folder that cannot be read hides nothing that was asked for by name.
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let shown = path.strip_prefix(look.cwd).unwrap_or(path).display().to_string();
        let sink = Lossy(|number, line| {
            let line = line.trim_end_matches(['\n', '\r']);
            let end = line.floor_char_boundary(MOST_LINE_BYTES);
            let cut = if end < line.len() { " [...]" } else { "" };
            let line = format!("{shown}:{number}:{}{cut}", &line[..end]);
            bytes += line.len() + 1;
            is_cut |= lines.len() as u64 >= limit || bytes > MOST_BYTES;
            if is_cut || is_stopped() {
                return Ok(false);
            }
            lines.push(line);
            Ok(true)
        });
        // What stands there may have changed since the folder was read.
        let Ok((file, facts)) = reading::open(path) else { continue };
        if !facts.is_file() || look.key_files.has(&facts) {
            continue;
        }
        // An unreadable file is not a reason to hide what others hold.
        let _ = searcher.search_reader(&matcher, Stoppable { file, is_stopped }, sink);
        if is_cut {
            break;
        }
    }
    Ok(Found { lines, is_cut })
}

/// A file that ends when nobody wants more of it: without a match, nothing else looks up.
struct Stoppable<'a> {
    file: std::fs::File,
    is_stopped: &'a dyn Fn() -> bool,
}

impl std::io::Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match (self.is_stopped)() {
            true => Err(std::io::Error::other(STOPPED)),
            false => self.file.read(buffer),
        }
    }
}
