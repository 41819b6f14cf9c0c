//! Words into lines of a width.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Lines of at most `width` columns, except that a single longer word keeps a line to itself.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let columns = word.width();
        if !line.is_empty() && used + 1 + columns > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if !line.is_empty() {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += columns;
    }
    lines.push(line);
    lines
}

/// The same, with words that are too long cut.
pub(super) fn wrap_hard(text: &str, width: usize) -> Vec<String> {
    wrap(text, width).into_iter().flat_map(|line| cut(line, width)).collect()
}

fn cut(line: String, width: usize) -> Vec<String> {
    if line.width() <= width {
        return vec![line];
    }
    let mut parts = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let columns = c.width().unwrap_or(0);
        if used > 0 && used + columns > width {
            parts.push(String::new());
            used = 0;
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
        used += columns;
    }
    parts
}
