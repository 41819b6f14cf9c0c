//! What holds of every patch.

use std::fmt::Write as _;

use proptest::prelude::*;
use sabir_engine::patch::{MemoryFiles, PatchPath, parse, plan};

/// A line of a file, what becomes of it, and lines that are inserted behind it.
#[derive(Clone, Debug)]
struct Edited {
    text: String,
    line_end: &'static str,
    removed: bool,
    inserted: Vec<String>,
}

/// Few different lines, so that chunks stand in several places.
fn line() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{0,2}", "[ \\t]{0,2}[a-c“”–]{1,3} ?", "\\PC{0,6}"]
}

fn edited() -> impl Strategy<Value = Edited> {
    let inserted = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(line(), 1..3)];
    (line(), prop_oneof![3 => Just("\n"), 1 => Just("\r\n")], prop::bool::weighted(0.3), inserted)
        .prop_map(|(text, line_end, removed, inserted)| Edited {
            text,
            line_end,
            removed,
            inserted,
        })
}

/// The file before, and after with LF alone: new lines choose their line ends by a rule of its own.
fn texts(lines: &[Edited], open: bool) -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    for line in lines {
        before.push_str(&line.text);
        before.push_str(line.line_end);
        if !line.removed {
            let _ = writeln!(after, "{}", line.text);
        }
        line.inserted.iter().for_each(|new| after.extend([new.as_str(), "\n"]));
    }
    if open {
        before.truncate(before.trim_end_matches(['\r', '\n']).len());
        after.truncate(after.trim_end_matches('\n').len());
    }
    (before, after)
}

/// The whole file as one chunk: what stands where is then no guess.
fn patch(lines: &[Edited]) -> String {
    let mut text = "*** Begin Patch\n*** Update File: x\n@@\n".to_owned();
    for line in lines {
        let sign = if line.removed { '-' } else { ' ' };
        let _ = writeln!(text, "{sign}{}", line.text);
        line.inserted.iter().for_each(|new| text.extend(["+", new.as_str(), "\n"]));
    }
    text.push_str("*** End Patch\n");
    text
}

/// A text that looks like a patch, more or less.
fn nearly_a_patch() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("*** Begin Patch\n".to_owned()),
        Just("*** End Patch\n".to_owned()),
        Just("*** End of File\n".to_owned()),
        Just("@@\n".to_owned()),
        Just("<<'EOF'\n".to_owned()),
        Just("EOF\n".to_owned()),
        "\\*\\*\\* (Add|Update|Delete) File: [a-c./\\\\ ]{0,6}\n",
        "\\*\\*\\* Move to: [a-c./]{0,6}\n",
        "@@ [ab]\n",
        "[-+ ]?[ab]{0,2}\r?\n",
    ];
    prop::collection::vec(piece, 0..20)
        .prop_map(|pieces| format!("*** Begin Patch\n{}*** End Patch\n", pieces.concat()))
}

fn is_beneath(path: &PatchPath) -> bool {
    let text = path.as_str();
    !text.is_empty()
        && !text.starts_with('/')
        && text.split('/').all(|name| !matches!(name, "" | "." | ".."))
        && !text.contains(['\\', '\0', '\n'])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// QP-P10, QP-P14, QP-P18, QP-P19: an edit that is written as a patch is that edit.
    #[test]
    fn an_edit_written_as_a_patch_gives_the_edited_file(
        lines in prop::collection::vec(edited(), 1..12),
        open in any::<bool>(),
    ) {
        // A line of nothing at an open end is no line, and lone carriage returns end none.
        let last_is_plain = lines.last().is_some_and(|last| {
            !last.text.is_empty() && !last.removed && last.inserted.is_empty()
        });
        prop_assume!(!open || last_is_plain);
        let (before, after) = texts(&lines, open);
        let x = PatchPath::new("x").unwrap();
        let files = MemoryFiles([(x, before.clone().into_bytes())].into());
        let planned = plan(&parse(&patch(&lines)).unwrap(), &files).unwrap();
        let got = planned.files()[0].after.as_deref().unwrap();
        prop_assert_eq!(got.replace("\r\n", "\n"), after);
        prop_assert_eq!(got.contains('\r'), got.contains("\r\n"));
        if !before.contains('\r') {
            prop_assert!(!got.contains('\r'));
        }
        if !before.replace("\r\n", "").contains('\n') && !got.is_empty() && before.contains('\n') {
            prop_assert!(!got.replace("\r\n", "").contains('\n'), "{:?}", got);
        }
    }

    /// QP-P1: any text is read or refused, and an error lies inside of it.
    #[test]
    fn any_text_is_read_or_refused(text in prop_oneof!["\\PC{0,40}", nearly_a_patch()]) {
        if let Err(error) = parse(&text) {
            prop_assert!(text.get(error.span.range()).is_some());
            prop_assert!(error.line as usize <= text.lines().count().max(1));
            prop_assert!(!error.help().is_empty());
        }
    }

    /// QP-P7: no planned path leaves the folder.
    #[test]
    fn no_planned_path_leaves_the_folder(text in nearly_a_patch()) {
        let Ok(patch) = parse(&text) else { return Ok(()) };
        let file = |name: &str, text: &str| (PatchPath::new(name).unwrap(), text.into());
        let files = MemoryFiles([file("a", "a\nb\n"), file("b/c", "ab\n")].into());
        match plan(&patch, &files) {
            Ok(plan) => {
                prop_assert!(plan.paths().all(is_beneath));
                prop_assert!(plan.files().iter().all(|file| is_beneath(&file.origin)));
                let _ = (plan.changes(), plan.unified_diff(), plan.summary());
            }
            Err(error) => prop_assert!(text.get(error.span.range()).is_some()),
        }
    }

    /// QP-P7: a path that is taken stays as it is.
    #[test]
    fn a_normal_path_is_its_own_normal_form(text in "[a-b./\\\\ :]{0,12}") {
        if let Ok(path) = PatchPath::new(&text) {
            prop_assert!(is_beneath(&path));
            prop_assert_eq!(PatchPath::new(path.as_str()), Ok(path));
        }
    }
}
