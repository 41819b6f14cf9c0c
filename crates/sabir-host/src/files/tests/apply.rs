//! Files become what a plan says, or stay what they are.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use expect_test::expect;

use super::Ground;
use crate::files::record::changes_of;
use crate::files::transaction::{Step, Transaction};
use crate::files::{ApplyError, apply, recover};

const EVERYTHING: &str = "*** Update File: m\n@@\n-a\n+A\n*** Delete File: d\n\
                          *** Add File: x/y/z\n+z\n*** Update File: from\n*** Move to: to\n";

fn everything() -> Ground {
    let ground = Ground::new(&[("m", "a\n"), ("d", "d\n"), ("from", "f\n"), ("other", "o\n")]);
    ground.chmod("from", 0o751);
    ground.chmod("m", 0o640);
    ground
}

/// QP-F7, QP-F8: contents, modes and folders after a patch.
#[test]
fn a_plan_becomes_files() {
    let ground = everything();
    let plan = ground.plan(EVERYTHING).unwrap();
    let applied = apply(&plan, &ground.root(), &ground.journal()).unwrap();
    expect![[r#"
        {
            "m": "640 A\n",
            "other": "644 o\n",
            "to": "751 f\n",
            "x": "folder",
            "x/y": "folder",
            "x/y/z": "644 z\n",
        }
    "#]]
    .assert_debug_eq(&ground.tree());
    assert_eq!(applied.folders, ["x", "x/y"]);
    assert_eq!(ground.journals(), 0);
}

/// QP-F7: an overwritten file keeps its mode, and a file that is moved brings its own.
#[test]
fn modes_stay() {
    let ground = Ground::new(&[("old", "x\n"), ("a", "a\n"), ("b", "b\n")]);
    ground.chmod("old", 0o4755);
    ground.chmod("a", 0o600);
    ground.chmod("b", 0o777);
    let patch = "*** Add File: old\n+y\n*** Update File: a\n*** Move to: b\n";
    let plan = ground.plan(patch).unwrap();
    apply(&plan, &ground.root(), &ground.journal()).unwrap();
    expect![[r#"
        {
            "b": "600 a\n",
            "old": "4755 y\n",
        }
    "#]]
    .assert_debug_eq(&ground.tree());
}

/// QP-F7: what the umask forbids is not given. Another process, because it belongs to the process.
#[test]
fn the_umask_is_honoured() {
    const INNER: &str = "SABIR_TEST_UMASK_GROUND";
    if let Some(dir) = std::env::var_os(INNER) {
        let ground = Ground::new(&[]);
        let plan = ground.plan("*** Add File: a/b\n+b\n").unwrap();
        apply(&plan, &ground.root(), &ground.journal()).unwrap();
        let mode = |path: &str| fs::metadata(ground.path(path)).unwrap().mode() & 0o777;
        fs::write(dir, format!("{:o} {:o}", mode("a"), mode("a/b"))).unwrap();
        return;
    }
    let answer = tempfile::NamedTempFile::new().unwrap();
    let status = Command::new("sh")
        .args(["-c", "umask 027; exec \"$0\" --exact files::tests::apply::the_umask_is_honoured"])
        .arg(std::env::current_exe().unwrap())
        .env(INNER, answer.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(fs::read_to_string(answer.path()).unwrap(), "750 640");
}

/// QP-F1: a file behind a link is changed where it is, and the link stays.
#[test]
fn a_file_behind_a_link_is_changed_where_it_is() {
    let ground = Ground::new(&[("real/file", "a\n")]);
    ground.link("link", "real/file");
    ground.link("folder", "real");
    let patch = "*** Update File: link\n@@\n-a\n+b\n*** Add File: folder/new\n+n\n";
    let plan = ground.plan(patch).unwrap();
    apply(&plan, &ground.root(), &ground.journal()).unwrap();
    expect![[r#"
        {
            "folder": "-> real",
            "link": "-> real/file",
            "real": "folder",
            "real/file": "644 b\n",
            "real/new": "644 n\n",
        }
    "#]]
    .assert_debug_eq(&ground.tree());
}

/// QP-F1: a folder that becomes a link after the plan was made leads nowhere.
#[test]
fn a_link_that_appears_meanwhile_leads_nowhere() {
    let ground = Ground::new(&[("dir/file", "a\n"), ("m", "a\n")]);
    let outside = ground.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "a\n").unwrap();
    let patch = "*** Update File: m\n@@\n-a\n+b\n*** Update File: dir/file\n@@\n-a\n+b\n";
    let plan = ground.plan(patch).unwrap();
    let root = ground.root();
    // Before the first look, and after the last one.
    for step in [None, Some(Step::Stage(1)), Some(Step::Swap(1))] {
        let swap_in = || {
            fs::rename(ground.path("dir"), ground.path("hidden")).unwrap();
            ground.link("dir", &outside);
        };
        let failed = match step {
            None => {
                swap_in();
                apply(&plan, &root, &ground.journal()).map(drop)
            }
            Some(step) => {
                let changes = changes_of(&plan, &root).unwrap();
                let mut transaction =
                    Transaction::prepare(&root, changes, &ground.journal()).unwrap();
                transaction.run_watched(|now| {
                    if now == step {
                        swap_in();
                    }
                })
            }
        };
        assert!(failed.is_err(), "{step:?}");
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "a\n", "{step:?}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{step:?}");
        fs::remove_file(ground.path("dir")).unwrap();
        fs::rename(ground.path("hidden"), ground.path("dir")).unwrap();
        assert_eq!(fs::read_to_string(ground.path("m")).unwrap(), "a\n", "{step:?}");
    }
}

/// QP-F2: a file that changed after the plan was made stops everything.
#[test]
fn a_file_that_changed_stops_everything() {
    for (path, text) in [("m", Some("other\n")), ("m", None), ("d", None), ("to", Some("new\n"))] {
        let ground = everything();
        let plan = ground.plan(EVERYTHING).unwrap();
        match text {
            Some(text) => ground.write(path, text),
            None => fs::remove_file(ground.path(path)).unwrap(),
        }
        let before = ground.tree();
        let error = apply(&plan, &ground.root(), &ground.journal()).unwrap_err();
        assert!(matches!(&error, ApplyError::Changed { path: it } if it == path), "{error:?}");
        assert_eq!(ground.tree(), before);
    }
}

/// QP-F2, QP-F3: a file that changes just before a step is found out, and everything put back.
#[test]
fn a_change_in_the_last_moment_is_kept_and_the_rest_put_back() {
    for step in 0..everything_steps() {
        for path in ["m", "d", "from", "to", "x/y/z"] {
            let ground = everything();
            let plan = ground.plan(EVERYTHING).unwrap();
            let (root, journal) = (ground.root(), ground.journal());
            let changes = changes_of(&plan, &root).unwrap();
            let mut transaction = Transaction::prepare(&root, changes, &journal).unwrap();
            let mut at = 0;
            let done = transaction.run_watched(|_| {
                if at == step {
                    ground.write(path, "somebody else\n");
                }
                at += 1;
            });
            let tree = ground.tree();
            let note = format!("{path} before step {step}: {done:?}");
            let ours = |it: &str| tree.get(it).map(|text| text.split_once(' ').unwrap().1);
            // What somebody else wrote is never lost, except by writing into a file that was being
            // removed under their hands.
            assert_eq!(ours(path), Some("somebody else\n"), "{note}");
            match done {
                Ok(()) => assert_eq!(ours("other"), Some("o\n"), "{note}"),
                Err(ApplyError::Changed { .. }) => {
                    for (file, text) in [("m", "a\n"), ("d", "d\n"), ("from", "f\n")] {
                        if file != path {
                            assert_eq!(ours(file), Some(text), "{note}");
                        }
                    }
                }
                Err(other) => panic!("{note}: {other}"),
            }
            drop(transaction);
            recover(&journal).unwrap();
            let hidden = ground.tree().keys().filter(|name| name.contains(".sabir-")).count();
            assert_eq!(hidden, 0, "{note}");
        }
    }
}

fn everything_steps() -> usize {
    let ground = everything();
    let (plan, root) = (ground.plan(EVERYTHING).unwrap(), ground.root());
    let changes = changes_of(&plan, &root).unwrap();
    Transaction::prepare(&root, changes, &ground.journal()).unwrap().steps().len()
}

/// QP-F3, QP-F8: a step that cannot be done in the middle leaves the tree as it was.
#[test]
fn a_failure_in_the_middle_leaves_the_tree_unchanged() {
    let ground = everything();
    let before = ground.tree();
    let plan = ground.plan(EVERYTHING).unwrap();
    let (root, journal) = (ground.root(), ground.journal());
    let changes = changes_of(&plan, &root).unwrap();
    let mut transaction = Transaction::prepare(&root, changes, &journal).unwrap();
    // A folder stands where the third file should go.
    let error = transaction.run_watched(|step| {
        if step == Step::Swap(2) {
            fs::create_dir(ground.path("x/y/z")).unwrap();
        }
    });
    assert!(matches!(error, Err(ApplyError::Changed { .. })), "{error:?}");
    fs::remove_dir(ground.path("x/y/z")).unwrap();
    fs::remove_dir(ground.path("x/y")).unwrap();
    fs::remove_dir(ground.path("x")).unwrap();
    assert_eq!(ground.tree(), before);
    assert_eq!(ground.journals(), 0);
}

/// QP-F9: read-only files are refused, whoever asks.
#[test]
fn read_only_files_are_refused() {
    for patch in [
        "*** Update File: ro\n@@\n-a\n+b\n",
        "*** Delete File: ro\n",
        "*** Add File: ro\n+b\n",
        "*** Update File: m\n*** Move to: ro\n",
    ] {
        let ground = Ground::new(&[("ro", "a\n"), ("m", "m\n")]);
        ground.chmod("ro", 0o444);
        let before = ground.tree();
        let plan = ground.plan(patch).unwrap();
        let error = apply(&plan, &ground.root(), &ground.journal()).unwrap_err();
        assert!(matches!(&error, ApplyError::ReadOnly { path } if path == "ro"), "{error:?}");
        assert_eq!(ground.tree(), before);
    }
}

/// QP-F3: where nothing can be written, nothing is.
#[test]
fn a_read_only_folder_is_refused() {
    let ground = Ground::new(&[("m", "a\n"), ("dir/file", "a\n")]);
    ground.chmod("dir", 0o555);
    // The superuser may write there all the same.
    let is_superuser = fs::write(ground.path("dir/probe"), "").is_ok();
    let patch = "*** Update File: m\n@@\n-a\n+b\n*** Update File: dir/file\n@@\n-a\n+b\n";
    let plan = ground.plan(patch).unwrap();
    let applied = apply(&plan, &ground.root(), &ground.journal());
    let text = fs::read_to_string(ground.path("m")).unwrap();
    ground.chmod("dir", 0o755);
    match applied {
        Ok(_) => assert!(is_superuser),
        Err(error) => {
            assert!(matches!(error, ApplyError::File { .. }), "{error:?}");
            assert_eq!(text, "a\n");
        }
    }
}

/// QP-F12: the journal is not for patches.
#[test]
fn the_journal_cannot_be_changed() {
    let ground = Ground::new(&[("home/patches/x", "a\n")]);
    let before = ground.tree();
    let plan = ground.plan("*** Update File: home/patches/x\n@@\n-a\n+b\n").unwrap();
    let error = apply(&plan, &ground.root(), &ground.path("home/patches")).unwrap_err();
    assert!(matches!(error, ApplyError::Reserved { .. }), "{error:?}");
    assert_eq!(ground.tree(), before);
}

/// QP-F3: a journal that cannot be written stops everything.
#[test]
fn without_a_journal_nothing_is_done() {
    let ground = everything();
    let before = ground.tree();
    let plan = ground.plan(EVERYTHING).unwrap();
    let journal = ground.dir.path().join("occupied");
    fs::write(&journal, "").unwrap();
    let error = apply(&plan, &ground.root(), &journal).unwrap_err();
    assert!(matches!(error, ApplyError::Journal { .. }), "{error:?}");
    assert_eq!(ground.tree(), before);
}

/// A plan that changes nothing touches nothing.
#[test]
fn nothing_to_do_is_nothing_done() {
    let ground = Ground::new(&[("m", "a\n")]);
    ground.chmod("m", 0o444);
    let plan = ground.plan("*** Update File: m\n@@\n-a\n+a\n").unwrap();
    let applied = apply(&plan, &ground.root(), &ground.journal()).unwrap();
    assert!(applied.files.is_empty());
    assert!(!ground.journal().exists());
}
