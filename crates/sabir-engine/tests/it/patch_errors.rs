//! Where errors point, and commands that are patches.

use sabir_engine::patch::{
    MAX_PATCH_BYTES, PatchErrorKind, PatchPath, PathError, intercept, parse,
};

/// The bytes and the line that an error points at.
fn pointed(text: &str) -> (&str, u32) {
    let error = parse(text).unwrap_err();
    (&text[error.span.range()], error.line)
}

/// QP-P5: errors name the line and the bytes.
#[test]
fn errors_point_at_the_line() {
    assert_eq!(pointed("hello\n"), ("hello", 1));
    assert_eq!(pointed(""), ("", 1));
    assert_eq!(
        pointed("*** Begin Patch\n*** Add File: ../x\n+a\n*** End Patch"),
        ("*** Add File: ../x", 2)
    );
    assert_eq!(pointed("*** Begin Patch\n*** Add File: é\n+é\nü\n*** End Patch"), ("ü", 4));
    assert_eq!(
        pointed("<<EOF\n*** Begin Patch\n*** Update File: x\n@@\n a\n?b\n*** End Patch\nEOF"),
        ("?b", 6)
    );
    assert_eq!(pointed("*** Begin Patch\n*** Add File: x\n+\0\n*** End Patch"), ("\0", 3));
    assert_eq!(pointed("*** Begin Patch\n*** End Patch\n"), ("*** Begin Patch", 1));
}

/// QP-P6: a patch has a size that it may not pass.
#[test]
fn a_patch_that_is_too_large_is_refused() {
    let line = format!("+{}\n", "x".repeat(1022));
    let mut text = "*** Begin Patch\n*** Add File: x\n".to_owned();
    while text.len() <= MAX_PATCH_BYTES {
        text.push_str(&line);
    }
    text.push_str("*** End Patch\n");
    assert_eq!(parse(&text).unwrap_err().kind, PatchErrorKind::TooLarge);
}

/// QP-P5: a line of megabytes is not quoted whole.
#[test]
fn errors_stay_short() {
    let long = "y".repeat(1_000_000);
    let text = format!("*** Begin Patch\n*** Add File: x\n{long}\n*** End Patch\n");
    assert!(parse(&text).unwrap_err().to_string().len() < 1_000);
}

/// QP-P7: what a path may be, by its text alone.
#[test]
fn paths_stay_below_their_folder() {
    let normal = |text| PatchPath::new(text).map(|path| path.to_string());
    assert_eq!(normal("a"), Ok("a".to_owned()));
    assert_eq!(normal("./a/./b//c.txt"), Ok("a/b/c.txt".to_owned()));
    assert_eq!(normal("a b/…"), Ok("a b/…".to_owned()));
    assert_eq!(normal("..."), Ok("...".to_owned()));
    assert_eq!(normal("c:x"), Ok("c:x".to_owned()));
    for (text, error) in [
        ("", PathError::Empty),
        ("/", PathError::Absolute),
        ("//a", PathError::Absolute),
        ("c:/a", PathError::Absolute),
        ("C:", PathError::Absolute),
        ("./a:", PathError::Absolute),
        (".//./c:/a", PathError::Absolute),
        ("..", PathError::Climbs),
        ("a/..", PathError::Climbs),
        ("a/../b", PathError::Climbs),
        ("./../a", PathError::Climbs),
        ("a\\b", PathError::Backslash),
        ("a\0b", PathError::Control),
        ("a\tb", PathError::Control),
        (".", PathError::Folder),
        ("././", PathError::Folder),
        ("a/", PathError::Folder),
        ("a/.", PathError::Folder),
    ] {
        assert_eq!(normal(text), Err(error), "{text:?}");
    }
    assert_eq!(normal(&"a/".repeat(4000)), Err(PathError::TooLong));
}

const PATCH: &str = "*** Begin Patch\n*** Add File: x\n+a\n*** End Patch\n";

/// QP-P29: the forms in which a command is a patch.
#[test]
fn commands_that_are_patches_are_recognised() {
    let plain = intercept(&["apply_patch", PATCH]).unwrap();
    assert_eq!((plain.workdir, plain.patch_text.as_str()), (None, PATCH));

    for (script, workdir) in [
        (format!("apply_patch <<'EOF'\n{PATCH}EOF"), None),
        (format!("apply_patch <<EOF\n{PATCH}EOF\n"), None),
        (format!("\n  apply_patch << \"END_1\"\n{PATCH}END_1\n\n"), None),
        (format!("cd sub/dir && apply_patch <<'EOF'\n{PATCH}EOF\n"), Some("sub/dir")),
        (format!("cd 'my dir' && apply_patch <<'EOF'\n{PATCH}EOF\n"), Some("my dir")),
        (format!("cd \"my dir\" && apply_patch <<'EOF'\n{PATCH}EOF\n"), Some("my dir")),
    ] {
        for shell in ["bash", "/bin/sh"] {
            let found = intercept(&[shell, "-lc", &script]).unwrap_or_else(|| panic!("{script}"));
            assert_eq!(found.workdir.as_deref(), workdir, "{script}");
            assert_eq!(found.patch_text, PATCH, "{script}");
        }
    }
}

/// QP-P29: everything else stays a command.
#[test]
fn other_commands_are_no_patches() {
    for script in [
        format!("apply_patch <<'EOF'\n{PATCH}EOF\nrm -rf x\n"),
        format!("apply_patch <<'EOF' && rm -rf x\n{PATCH}EOF\n"),
        format!("rm -rf x; apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("rm x && apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("cd $(rm x) && apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("cd \"$HOME\" && apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("cd a b && apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("cd - && apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("cd a && cd b && apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("cd a; apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("apply_patch <<'EOF\n{PATCH}EOF\n"),
        format!("apply_patch <<'EOF'\n{PATCH}"),
        format!("apply_patch --help\n{PATCH}"),
        "apply_patch".to_owned(),
        String::new(),
    ] {
        assert_eq!(intercept(&["bash", "-lc", &script]), None, "{script}");
    }
    let script = format!("apply_patch <<'EOF'\n{PATCH}EOF\n");
    assert_eq!(intercept(&["bash", "-x", &script]), None);
    assert_eq!(intercept(&["./bash", "-lc", &script]), None);
    assert_eq!(intercept(&["bash", "-lc", &script, "more"]), None);
    assert_eq!(intercept(&["apply_patch"]), None);
    assert_eq!(intercept(&["apply_patch", PATCH, "more"]), None);
    assert_eq!(intercept(&[""; 0]), None);
}
