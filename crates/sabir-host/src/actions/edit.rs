//! What a text becomes when it is edited.

use sabir_engine::patch::PatchPath;
use sabir_llmx::LineRange;

use super::request::Change;

/// The text with the change made. With lines, only they are changed.
pub(super) fn edited(
    file: &PatchPath,
    text: &str,
    lines: Option<LineRange>,
    change: &Change,
) -> Result<String, String> {
    let range = match lines {
        None => 0..text.len(),
        Some(lines) => bytes_of(file, text, lines)?,
    };
    let (before, inside, after) = (&text[..range.start], &text[range.clone()], &text[range.end..]);
    let inside = match change {
        Change::Lines { text: new } => {
            if lines.is_none() {
                return Err(format!("{file}: say with #L which lines the text replaces"));
            }
            let ends = inside.ends_with('\n') && !new.is_empty() && !new.ends_with('\n');
            format!("{new}{}", if ends { "\n" } else { "" })
        }
        Change::Replace { old, new } => {
            if old.is_empty() {
                return Err("old is empty: name the text that is to be replaced".to_owned());
            }
            match inside.matches(old.as_str()).count() {
                1 => inside.replacen(old.as_str(), new, 1),
                0 => return Err(format!("{file} does not hold the text {}", shown(old))),
                count => {
                    return Err(format!(
                        "{file} holds the text {} {count} times: write more of it, or name lines \
                         with #L",
                        shown(old)
                    ));
                }
            }
        }
    };
    Ok(format!("{before}{inside}{after}"))
}

/// Where the lines stand, with their ends.
fn bytes_of(
    file: &PatchPath,
    text: &str,
    lines: LineRange,
) -> Result<std::ops::Range<usize>, String> {
    let (mut start, mut at, mut count) = (None, 0, 0u32);
    for line in text.split_inclusive('\n') {
        count += 1;
        if count == lines.start {
            start = Some(at);
        }
        at += line.len();
        if count == lines.end {
            break;
        }
    }
    match start {
        Some(start) if count == lines.end => Ok(start..at),
        _ => Err(format!("{file} has only {count} lines")),
    }
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(60);
    let more = if end < text.len() { "..." } else { "" };
    format!("{:?}{more}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, lines: Option<(u32, u32)>, change: &Change) -> Result<String, String> {
        let lines = lines.map(|(start, end)| LineRange { start, end });
        edited(&PatchPath::new("f").unwrap(), text, lines, change)
    }

    fn lines(text: &str) -> Change {
        Change::Lines { text: text.to_owned() }
    }

    fn replace(old: &str, new: &str) -> Change {
        Change::Replace { old: old.to_owned(), new: new.to_owned() }
    }

    #[test]
    fn lines_are_replaced_and_keep_their_end() {
        assert_eq!(edit("a\nb\nc\n", Some((2, 2)), &lines("B")).unwrap(), "a\nB\nc\n");
        assert_eq!(edit("a\nb\nc", Some((3, 3)), &lines("C")).unwrap(), "a\nb\nC");
        assert_eq!(edit("a\nb\nc\n", Some((1, 2)), &lines("x\ny\n")).unwrap(), "x\ny\nc\n");
        assert_eq!(edit("a\nb\nc\n", Some((2, 3)), &lines("")).unwrap(), "a\n");
        assert!(edit("a\n", Some((1, 2)), &lines("")).unwrap_err().contains("only 1 lines"));
        assert!(edit("a\n", None, &lines("x")).unwrap_err().contains("#L"));
    }

    #[test]
    fn a_text_is_replaced_where_it_stands_once() {
        assert_eq!(edit("a b a", None, &replace("b", "c")).unwrap(), "a c a");
        assert!(edit("a b a", None, &replace("a", "c")).unwrap_err().contains("2 times"));
        assert_eq!(edit("a\na\n", Some((2, 2)), &replace("a", "c")).unwrap(), "a\nc\n");
        assert!(edit("a", None, &replace("", "c")).unwrap_err().contains("empty"));
        assert!(edit("a", None, &replace("ü", "c")).unwrap_err().contains("does not hold"));
    }
}
