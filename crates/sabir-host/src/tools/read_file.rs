//! Reads lines of a text file.

use std::io::{BufRead, BufReader};

use sabir_engine::ReadFile;

use super::{Bounded, Look, STOPPED};
use crate::reading;

/// As many lines as a model reads at once with profit.
const DEFAULT_LINES: u64 = 2000;

/// Longer lines are cut: they are data, not text.
const MOST_LINE_BYTES: usize = 2000;

/// Between two looks at whether to stop.
const BUFFER_BYTES: usize = 64 * 1024;

/// The lines, each with its number.
pub(crate) fn read_file(look: Look<'_>, read: &ReadFile) -> Result<String, String> {
    let path = look.resolve(Some(&read.path));
    let name = &read.path;
    let (file, facts) = reading::open(&path).map_err(|error| format!("{name}: {error}"))?;
    if facts.is_dir() {
        return Err(format!("{name} is a folder: use list_dir"));
    }
    // A pipe or a device could keep us for ever.
    if !facts.is_file() {
        return Err(format!("{name} is not a regular file"));
    }
    if look.key_files.has(&facts) {
        return Err(format!("{name} holds a key, which is hidden"));
    }
    let mut lines = BufReader::with_capacity(BUFFER_BYTES, file);
    let first = read.offset.unwrap_or(1).max(1);
    let last = first.saturating_add(read.limit.unwrap_or(DEFAULT_LINES)).saturating_sub(1);
    let mut text = Bounded::new();
    let mut number = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let more = read_line(&mut lines, &mut line, look.is_stopped);
        let Some(cut) = more.map_err(|why| format!("{name}: {why}"))? else { break };
        number += 1;
        if number < first {
            continue;
        }
        if number > last || text.is_full {
            return Ok(text.end(Some(format!("[more lines follow: read on with offset {number}]"))));
        }
        if line.contains(&0) {
            return Err(format!("{name} is not a text file"));
        }
        let shown = String::from_utf8_lossy(&line);
        let cut = if cut { " [...]" } else { "" };
        if !text.line(&format!("{number:>6}\t{shown}{cut}")) {
            return Ok(text.end(Some(format!("[more lines follow: read on with offset {number}]"))));
        }
    }
    let note = match number {
        0 => Some("[the file is empty]".to_owned()),
        _ if number < first => Some(format!("[the file has only {number} lines]")),
        _ => None,
    };
    Ok(text.end(note))
}

/// Reads a line without its end, at most so much of it. `None` at the end of the file; otherwise
/// whether the line was cut. Neither a file nor a line need have an end worth waiting for.
fn read_line(
    lines: &mut impl BufRead,
    line: &mut Vec<u8>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Option<bool>, String> {
    let mut any = false;
    let mut cut = false;
    loop {
        if is_stopped() {
            return Err(STOPPED.to_owned());
        }
        let bytes = lines.fill_buf().map_err(|error| error.to_string())?;
        if bytes.is_empty() {
            break;
        }
        any = true;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        let room = MOST_LINE_BYTES - line.len();
        cut |= part.len() > room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = end.map_or(bytes.len(), |end| end + 1);
        lines.consume(used);
        if end.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(any.then_some(cut))
}
