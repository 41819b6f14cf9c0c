//! `sabir patch`: under the current directory, all or nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Outcome, run_in};

/// A folder to work in, with a home beside it.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(place.path("")).unwrap();
        for (path, bytes) in files {
            let path = place.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        place
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.dir.path().join("work").join(inside)
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Runs `sabir patch ARGS` here with a patch on standard input.
    fn patch(&self, args: &[&str], body: &str) -> Outcome {
        self.patch_text(args, &format!("*** Begin Patch\n{body}*** End Patch\n"))
    }

    fn patch_text(&self, args: &[&str], text: &str) -> Outcome {
        let home = self.home();
        let mut all = vec!["patch", "--home", home.to_str().unwrap()];
        all.extend(args);
        run_in(&self.path(""), &[], &all, text)
    }

    /// Every file with its content and mode, and every link with its target.
    fn tree(&self) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        walk(&self.path(""), &self.path(""), &mut tree);
        tree
    }

    fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }

    /// The patch is refused with words, and nothing has changed.
    fn refused(&self, body: &str, words: &str) {
        let before = self.tree();
        let outcome = self.patch(&[], body);
        assert_ne!(outcome.code, 0, "{body}");
        assert_eq!(outcome.stdout, "", "{body}");
        assert!(outcome.stderr.contains(words), "{body}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("help: "), "{body}: {}", outcome.stderr);
        assert_eq!(self.tree(), before, "{body}");
    }
}

fn walk(root: &Path, folder: &Path, tree: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let shown = if metadata.is_symlink() {
            format!("-> {}", fs::read_link(&path).unwrap().display())
        } else if metadata.is_dir() {
            walk(root, &path, tree);
            "folder".to_owned()
        } else {
            format!("{mode:o} {}", fs::read(&path).unwrap().escape_ascii())
        };
        tree.insert(name, shown);
    }
}

const MIXED: &str = "*** Update File: m\n@@\n-a\n+A\n*** Delete File: d\n*** Add File: x/new\n+n\n";

#[test]
fn a_patch_is_applied_and_summed_up() {
    let place = Place::new(&[("m", b"a\n"), ("d", b"d\n")]);
    let outcome = place.patch(&[], MIXED);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stderr, "");
    assert_eq!(outcome.stdout, "Success. Updated the following files:\nA x/new\nM m\nD d\n");
    assert_eq!(place.read("m"), b"A\n");
    assert_eq!(place.read("x/new"), b"n\n");
    assert!(!place.path("d").exists());
}

#[test]
fn a_patch_comes_from_a_file_or_standard_input() {
    for args in [&["../p"][..], &["-"], &[]] {
        let place = Place::new(&[("m", b"a\n")]);
        let text = "*** Begin Patch\n*** Update File: m\n@@\n-a\n+A\n*** End Patch\n";
        fs::write(place.path("../p"), text).unwrap();
        let stdin = if args.first() == Some(&"../p") { "" } else { text };
        let outcome = place.patch_text(args, stdin);
        assert_eq!(outcome.code, 0, "{args:?}: {}", outcome.stderr);
        assert_eq!(place.read("m"), b"A\n");
    }
    let place = Place::new(&[]);
    assert_eq!(place.patch_text(&["missing"], "").code, 2);
}

#[test]
fn check_shows_the_difference_and_writes_nothing() {
    let place = Place::new(&[("m", b"a\nb\n"), ("d", b"d\n")]);
    let before = place.tree();
    let outcome = place.patch(&["--check"], MIXED);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    expect![[r#"
        --- a/m
        +++ b/m
        @@ -1,2 +1,2 @@
        -a
        +A
         b
        --- a/d
        +++ /dev/null
        @@ -1 +0,0 @@
        -d
        --- /dev/null
        +++ b/x/new
        @@ -0,0 +1 @@
        +n
    "#]]
    .assert_eq(&outcome.stdout);
    assert_eq!(place.tree(), before);
    assert!(!place.home().exists());
    assert_eq!(place.patch(&["--check"], "*** Delete File: none\n").code, 1);
}

#[test]
fn json_says_what_was_done_or_why_not() {
    let place = Place::new(&[("m", b"a\n")]);
    let patch = "*** Update File: m\n@@\n-a\n+A\n";
    let checked = place.patch(&["--check", "--json"], patch);
    let applied = place.patch(&["--json"], patch);
    let refused = place.patch(&["--json"], patch);
    assert_eq!((checked.code, applied.code, refused.code), (0, 0, 1));
    expect![[r#"
        {"file":"-","applied":false,"summary":null,"changes":{"m":{"update":{"unified_diff":"@@ -1 +1 @@\n-a\n+A\n","move_path":null}}},"error":null}
        {"file":"-","applied":true,"summary":"Success. Updated the following files:\nM m\n","changes":{"m":{"update":{"unified_diff":"@@ -1 +1 @@\n-a\n+A\n","move_path":null}}},"error":null}
        {"file":"-","applied":false,"summary":null,"changes":{},"error":{"line":3,"message":"line 3: failed to find expected lines in m:\na","help":"read m again and write the kept and removed lines as they are there"}}
    "#]]
    .assert_eq(&[checked.stdout, applied.stdout, refused.stdout].concat());
    let json: Value = serde_json::from_str(&place.patch(&["--json"], "").stdout).unwrap();
    assert_eq!(json["error"]["line"], 1);
}

#[test]
fn one_operation_that_does_not_fit_leaves_the_tree_unchanged() {
    let place = Place::new(&[("m", b"a\n"), ("d", b"d\n")]);
    place.refused(&format!("{MIXED}*** Update File: none\n@@\n-a\n+b\n"), "none does not exist");
    place.refused(&format!("{MIXED}*** Update File: m\n@@\n-a\n+b\n"), "failed to find");
    place.refused(&format!("{MIXED}*** Rename File: m\n"), "unknown marker");
    place.refused("", "empty");
}

#[test]
fn add_and_move_overwrite() {
    let place = Place::new(&[("x", b"old\n"), ("a", b"a\n"), ("b", b"b\n")]);
    let patch = "*** Add File: x\n+new\n*** Update File: a\n*** Move to: b\n@@\n-a\n+moved\n";
    assert_eq!(place.patch(&[], patch).code, 0);
    expect![[r#"
        {
            "b": "644 moved\\n",
            "x": "644 new\\n",
        }
    "#]]
    .assert_debug_eq(&place.tree());
}

#[test]
fn a_missing_final_newline_stays_missing_and_line_ends_stay() {
    let place = Place::new(&[("open", b"a\nb"), ("dos", b"a\r\nb\r\n")]);
    let patch = "*** Update File: open\n@@\n-b\n+B\n*** Update File: dos\n@@\n-a\n+A\n";
    assert_eq!(place.patch(&[], patch).code, 0);
    assert_eq!(place.read("open"), b"a\nB");
    assert_eq!(place.read("dos"), b"A\r\nb\r\n");
}

#[test]
fn mode_bits_stay() {
    let place = Place::new(&[("run.sh", b"a\n"), ("secret", b"s\n")]);
    for (path, mode) in [("run.sh", 0o755), ("secret", 0o600)] {
        fs::set_permissions(place.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let patch = "*** Update File: run.sh\n@@\n-a\n+A\n*** Update File: secret\n*** Move to: s\n";
    assert_eq!(place.patch(&[], patch).code, 0);
    expect![[r#"
        {
            "run.sh": "755 A\\n",
            "s": "600 s\\n",
        }
    "#]]
    .assert_debug_eq(&place.tree());
}

#[test]
fn several_operations_on_one_file_work() {
    let place = Place::new(&[("x", b"a\nb\n")]);
    let patch = "*** Update File: x\n@@\n-a\n+A\n*** Update File: x\n@@\n A\n-b\n+B\n\
                 *** Update File: x\n*** Move to: y\n*** Add File: x\n+again\n";
    assert_eq!(place.patch(&[], patch).code, 0);
    assert_eq!(place.read("y"), b"A\nB\n");
    assert_eq!(place.read("x"), b"again\n");
}

#[test]
fn files_that_are_no_text_are_refused() {
    let place = Place::new(&[("nul", b"a\n\0\n"), ("latin", b"a\n\xe9\n"), ("m", b"a\n")]);
    let update =
        |path| format!("*** Update File: m\n@@\n-a\n+A\n*** Update File: {path}\n@@\n-a\n+b\n");
    place.refused(&update("nul"), "NUL");
    place.refused(&update("latin"), "not UTF-8");
    place.refused("*** Add File: x\n+\0\n", "NUL");
}

#[test]
fn paths_that_leave_the_directory_are_refused() {
    let place = Place::new(&[("m", b"a\n"), ("sub/x", b"x\n")]);
    let outside = place.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "a\n").unwrap();
    std::os::unix::fs::symlink("../outside", place.path("folder")).unwrap();
    std::os::unix::fs::symlink("../outside/file", place.path("link")).unwrap();
    std::os::unix::fs::symlink(outside.join("file"), place.path("absolute")).unwrap();
    let file = outside.join("file");
    for path in ["../outside/file", "sub/../../outside/file", file.to_str().unwrap()] {
        place.refused(&format!("*** Add File: {path}\n+x\n"), "the path");
        place.refused(&format!("*** Update File: m\n*** Move to: {path}\n"), "the path");
    }
    for path in ["folder/file", "folder/new", "link", "absolute"] {
        place.refused(&format!("*** Add File: {path}\n+x\n"), "leads out");
        place.refused(&format!("*** Delete File: {path}\n"), "leads out");
        place.refused(&format!("*** Update File: {path}\n@@\n-a\n+x\n"), "leads out");
        place.refused(&format!("*** Update File: m\n*** Move to: {path}\n"), "leads out");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read(file).unwrap(), b"a\n");
}

#[test]
fn read_only_files_are_refused() {
    let place = Place::new(&[("m", b"a\n"), ("ro", b"a\n")]);
    fs::set_permissions(place.path("ro"), fs::Permissions::from_mode(0o444)).unwrap();
    place.refused("*** Update File: m\n@@\n-a\n+A\n*** Delete File: ro\n", "read-only");
}

#[test]
fn the_home_is_where_it_is_said_to_be() {
    let patch = "*** Begin Patch\n*** Add File: x\n+x\n*** End Patch\n";
    let place = Place::new(&[]);
    let (variable, data) = (place.dir.path().join("variable"), place.dir.path().join("data"));
    for (envs, made) in [
        (vec![("SABIR_HOME", &variable), ("XDG_DATA_HOME", &data)], variable.join("patches")),
        (vec![("XDG_DATA_HOME", &data)], data.join("sabir/patches")),
        (vec![("HOME", &data)], data.join(".local/share/sabir/patches")),
    ] {
        let outcome = run_in(&place.path(""), &envs, &["patch"], patch);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(made.is_dir(), "{made:?}");
        fs::remove_file(place.path("x")).unwrap();
    }
    // A home that cannot be written to stops everything.
    fs::write(place.home(), "a file").unwrap();
    let outcome = place.patch(&[], "*** Add File: x\n+x\n");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("journal"), "{}", outcome.stderr);
    assert!(!place.path("x").exists());
}
