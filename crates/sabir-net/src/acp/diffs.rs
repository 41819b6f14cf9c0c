//! The changes of a patch, as an editor shows them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{Diff, ToolCallContent, ToolCallLocation};
use sabir_engine::FileChange;

/// One hunk of a file, before and after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Hunk {
    /// Its first line in the new file, from 1.
    line: Option<u32>,
    old: String,
    new: String,
}

/// What a person sees of the changes, and where they are. A changed file is shown hunk by hunk: the
/// engine tells no more of it, and a person reads no more of it.
pub(super) fn shown(
    changes: &BTreeMap<String, FileChange>,
    cwd: &Path,
) -> (Vec<ToolCallContent>, Vec<ToolCallLocation>) {
    let (mut content, mut places) = (Vec::new(), Vec::new());
    for (path, change) in changes {
        let path: PathBuf = cwd.join(path);
        match change {
            FileChange::Add { content: text } => {
                content.push(Diff::new(path.clone(), text.clone()).into());
                places.push(ToolCallLocation::new(path));
            }
            FileChange::Delete { content: text } => {
                content.push(Diff::new(path.clone(), "").old_text(text.clone()).into());
                places.push(ToolCallLocation::new(path));
            }
            FileChange::Update { unified_diff, move_path } => {
                let path = move_path.as_ref().map_or(path, |it| cwd.join(it));
                let hunks = hunks(unified_diff);
                let line = hunks.first().and_then(|hunk| hunk.line);
                places.push(ToolCallLocation::new(path.clone()).line(line));
                for Hunk { old, new, .. } in hunks {
                    content.push(Diff::new(path.clone(), new).old_text(old).into());
                }
            }
        }
    }
    (content, places)
}

/// The hunks of a unified diff of one file.
fn hunks(diff: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut last = ' ';
    for line in diff.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("@@ ") {
            let new = head.split(' ').find_map(|part| part.strip_prefix('+'));
            let line = new.and_then(|it| it.split(',').next()?.parse().ok());
            hunks.push(Hunk { line, ..Hunk::default() });
            continue;
        }
        // Lines before the first hunk are names of files.
        let Some(hunk) = hunks.last_mut() else { continue };
        let Some(mark) = line.chars().next() else { continue };
        let text = line.get(1..).unwrap_or_default();
        match mark {
            ' ' => {
                hunk.old.push_str(text);
                hunk.new.push_str(text);
            }
            '-' => hunk.old.push_str(text),
            '+' => hunk.new.push_str(text),
            // The line before has no end.
            '\\' => {
                if last != '+' {
                    trim_end_of_line(&mut hunk.old);
                }
                if last != '-' {
                    trim_end_of_line(&mut hunk.new);
                }
            }
            _ => {}
        }
        last = mark;
    }
    hunks
}

fn trim_end_of_line(text: &mut String) {
    if text.ends_with('\n') {
        text.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn hunks_have_both_sides() {
        let diff = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -9 +9,2 @@\n-x\n\\ No newline at end of file\n+x\n+y\n\\ No newline at end of file\n";
        expect![[r#"
            [
                Hunk {
                    line: Some(
                        1,
                    ),
                    old: "a\nb\nc\n",
                    new: "a\nB\nc\n",
                },
                Hunk {
                    line: Some(
                        9,
                    ),
                    old: "x",
                    new: "x\ny",
                },
            ]
        "#]]
        .assert_debug_eq(&hunks(diff));
    }

    #[test]
    fn what_is_no_diff_has_no_hunks() {
        assert_eq!(hunks("hello\nworld"), Vec::new());
        assert_eq!(hunks(""), Vec::new());
    }
}
