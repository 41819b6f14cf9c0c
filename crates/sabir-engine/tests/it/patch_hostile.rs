//! Patches that are large, or made to be slow: each ends, with a plan or with a refusal.

use std::fmt::Write as _;

use sabir_engine::patch::{
    Elsewhere, MAX_FILE_BYTES, MemoryFiles, PatchPath, Plan, PlanErrorKind, parse, plan,
};

fn planned(file: impl Into<Vec<u8>>, patch: &str) -> Result<Plan, PlanErrorKind> {
    let patch = parse(&format!("*** Begin Patch\n{patch}*** End Patch\n")).unwrap();
    let files = MemoryFiles([(PatchPath::new("x").unwrap(), file.into())].into());
    plan(&patch, &files).map_err(|error| error.kind)
}

const MANY: usize = 100_000;

/// QP-P30: a chunk for each of a hundred thousand lines is an ordinary patch.
#[test]
fn as_many_chunks_as_lines() {
    let mut file = String::new();
    let mut patch = "*** Update File: x\n".to_owned();
    let mut expected = String::new();
    for at in 0..MANY {
        // Trailing space, so that the strict search finds none of them.
        let _ = writeln!(file, "line {at}  ");
        let _ = write!(patch, "@@\n-line {at}\n+new {at}\n");
        let _ = writeln!(expected, "new {at}");
    }
    let plan = planned(file, &patch).unwrap();
    assert_eq!(plan.files()[0].after.as_deref(), Some(expected.as_str()));
    assert_eq!(plan.changes().len(), 1);
}

/// QP-P30: chunks that nearly match everywhere are refused, not searched for ever.
#[test]
fn chunks_that_nearly_match_everywhere_are_refused() {
    let mut file = "a\n".repeat(MANY);
    file.push_str("b\n");
    let mut patch = "*** Update File: x\n".to_owned();
    let near = " a\n".repeat(50);
    for _ in 0..2_000 {
        // Found at the end of a long way, from the beginning each time because each is an
        // operation of its own.
        let _ = write!(patch, "@@\n{near} b\n*** Update File: x\n");
    }
    let _ = write!(patch, "@@\n-b\n+c\n");
    assert_eq!(planned(file, &patch), Err(PlanErrorKind::TooMuchWork));
}

/// QP-P30: so is one chunk whose rarest line is everywhere.
#[test]
fn a_chunk_of_lines_that_are_everywhere_is_bounded() {
    let half = "a\n".repeat(MANY);
    let file = format!("{half}b\n{half}");
    let kept = " a\n".repeat(MANY / 2);
    let patch = format!("*** Update File: x\n@@\n{kept}-a\n-a\n-b\n-b\n+c\n");
    // The one rare line is looked for at its one place, so that this is answered, not given up.
    let refused = planned(file, &patch).unwrap_err();
    let PlanErrorKind::NoLines { lines, elsewhere } = refused else { panic!("{refused:?}") };
    assert_eq!((lines.lines().count(), elsewhere), (21, Elsewhere::Nowhere));
    let other = "a\nb\n".repeat(MANY);
    let kept = " a\n b\n".repeat(MANY / 4);
    let patch = format!("*** Update File: x\n@@\n{kept}-b\n+c\n");
    assert_eq!(planned(other, &patch), Err(PlanErrorKind::TooMuchWork));
}

/// QP-P30: a large file cannot be read again for every operation.
#[test]
fn a_thousand_updates_of_a_large_file_are_refused() {
    let file = "some line of text\n".repeat(MANY);
    let patch = "*** Update File: x\n@@\n+more\n".repeat(1_000);
    assert_eq!(planned(file, &patch), Err(PlanErrorKind::TooMuchWork));
}

/// QP-P24: files have a size that they may not pass, before and after.
#[test]
fn files_that_are_too_large_are_refused() {
    let patch = "*** Update File: x\n@@\n+more\n";
    let large = planned(vec![b'a'; MAX_FILE_BYTES + 1], patch).unwrap_err();
    assert!(matches!(large, PlanErrorKind::Read(_)), "{large:?}");
    let full = planned(vec![b'a'; MAX_FILE_BYTES], patch);
    assert_eq!(full, Err(PlanErrorKind::TooLarge));
    let long = vec![b'\n'; 3_000_000];
    let others = ["*** Delete File: x\n", "*** Add File: x\n+new\n"];
    let moved = "*** Update File: x\n*** Move to: y\n";
    for patch in [patch, moved].into_iter().chain(others) {
        assert_eq!(planned(long.clone(), patch), Err(PlanErrorKind::TooManyLines), "{patch}");
    }
    let added = format!("*** Add File: y\n{}", "+\n".repeat(2_000_001));
    assert_eq!(planned("", &added), Err(PlanErrorKind::TooManyLines));
}

/// QP-P30: a diff of two large texts that have little in common ends.
#[test]
fn the_diff_of_large_texts_ends() {
    let mut file = String::new();
    let mut patch = "*** Add File: x\n".to_owned();
    for at in 0..MANY {
        let _ = writeln!(file, "{}", at * 7 % 1_000);
        let _ = writeln!(patch, "+{}", at * 13 % 1_009);
    }
    let diff = planned(file, &patch).unwrap().unified_diff();
    assert!(diff.lines().count() > 1_000);
    // Beyond the limit the changed part is one hunk, which is still right.
    let file = "a\n".repeat(3 * MANY);
    let patch = format!("*** Add File: x\n{}", "+a\n".repeat(MANY) + "+b\n" + &"+a\n".repeat(MANY));
    let diff = planned(file, &patch).unwrap().unified_diff();
    assert!(
        diff.starts_with("--- a/x\n+++ b/x\n@@ -100001,100000 +100001,1 @@\n-a\n"),
        "{}",
        &diff[..80]
    );
    assert!(diff.ends_with("-a\n+b\n"));
}
