//! What changed between two versions of a source, for people. It knows no library.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// How many lines came and went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    pub added: usize,
    pub removed: usize,
}

/// Counts the lines by which two texts differ.
pub fn count_changes(old: &str, new: &str) -> Change {
    let mut change = Change::default();
    for line in diff(old, new).iter_all_changes() {
        match line.tag() {
            ChangeTag::Insert => change.added += 1,
            ChangeTag::Delete => change.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    change
}

/// The lines by which two texts differ, as `diff -u` writes them.
pub fn show_changes(old: (&str, &str), new: (&str, &str)) -> String {
    let diff = diff(old.1, new.1);
    diff.unified_diff()
        .context_radius(2)
        .header(old.0, new.0)
        .missing_newline_hint(false)
        .to_string()
}

/// Two long texts that have nothing in common are not looked at for ever: what is left is said to
/// be changed as a whole.
fn diff<'t>(old: &'t str, new: &'t str) -> TextDiff<'t, 't, str> {
    TextDiff::configure().timeout(PATIENCE).diff_lines(old, new)
}

const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_came_and_went_are_counted_and_shown() {
        let (old, new) = ("a\nb\nc\n", "a\nB\nc\nd\n");
        assert_eq!(count_changes(old, new), Change { added: 2, removed: 1 });
        let shown = show_changes(("1", old), ("2", new));
        assert_eq!(shown, "--- 1\n+++ 2\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n");
        assert_eq!(show_changes(("1", old), ("2", old)), "");
    }
}
