//! A crash after every step, and what recovery makes of it.

use std::collections::BTreeMap;
use std::fs;

use super::Ground;
use crate::files::journal::JournalFile;
use crate::files::record::changes_of;
use crate::files::transaction::{Step, Transaction, exchange_by_links};
use crate::files::{apply, recover, restore};

const PATCH: &str = "*** Update File: m\n@@\n-a\n+A\n*** Delete File: d\n\
                     *** Add File: x/y/z\n+z\n*** Update File: from\n*** Move to: over\n\
                     *** Update File: dir/n\n@@\n-n\n+N\n";

fn ground() -> Ground {
    let files = [("m", "a\n"), ("d", "d\n"), ("from", "f\n"), ("over", "o\n"), ("dir/n", "n\n")];
    let ground = Ground::new(&files);
    ground.chmod("m", 0o600);
    ground
}

fn after() -> BTreeMap<String, String> {
    let ground = ground();
    let plan = ground.plan(PATCH).unwrap();
    apply(&plan, &ground.root(), &ground.journal()).unwrap();
    ground.tree()
}

/// Does the first `count` steps, and then dies.
fn die_after(ground: &Ground, count: usize) -> Vec<Step> {
    let (plan, root) = (ground.plan(PATCH).unwrap(), ground.root());
    let changes = changes_of(&plan, &root).unwrap();
    let mut transaction = Transaction::prepare(&root, changes, &ground.journal()).unwrap();
    let steps = transaction.steps();
    for &step in &steps[..count] {
        transaction.perform(step).unwrap();
    }
    steps
}

fn steps() -> Vec<Step> {
    die_after(&ground(), 0)
}

/// QP-F4, QP-F5, QP-F8: whatever was the last step, all is as before or all is done.
#[test]
fn a_crash_after_any_step_is_put_right() {
    let steps = steps();
    let commit = steps.iter().position(|step| *step == Step::Commit).unwrap();
    assert!(steps.len() > 20, "{steps:?}");
    let after = after();
    for count in 0..=steps.len() {
        let ground = ground();
        let before = ground.tree();
        die_after(&ground, count);
        let recovered = recover(&ground.journal()).unwrap();
        assert!(recovered.iter().all(|it| it.left.is_empty()), "{count}: {recovered:?}");
        let expected = if count <= commit { &before } else { &after };
        assert_eq!(&ground.tree(), expected, "after {count} steps");
        assert_eq!(ground.journals(), 0, "after {count} steps");
        assert_eq!(recover(&ground.journal()).unwrap(), []);
        assert_eq!(&ground.tree(), expected, "after {count} steps and two recoveries");
    }
}

/// QP-F4: a file that is changed is there at every moment, with its old or its new content.
#[test]
fn a_changed_file_is_there_at_every_moment() {
    for count in 0..=steps().len() {
        let ground = ground();
        die_after(&ground, count);
        for (path, old, new) in [("m", "a\n", "A\n"), ("over", "o\n", "f\n")] {
            let text = fs::read_to_string(ground.path(path)).unwrap();
            assert!(text == old || text == new, "{path} after {count} steps: {text:?}");
        }
    }
}

/// QP-F5: a recovery that dies half-way is finished by the next one.
#[test]
fn recovery_can_be_interrupted() {
    let count = steps().iter().position(|step| *step == Step::Commit).unwrap();
    let files = 6;
    for done in 0..=files {
        let ground = ground();
        let before = ground.tree();
        die_after(&ground, count);
        {
            let mut abandoned = JournalFile::abandoned(&ground.journal()).unwrap();
            let mut journal = abandoned[0].read().unwrap().unwrap();
            assert_eq!(journal.files.len(), files);
            journal.files.drain(..files - done);
            journal.folders.clear();
            assert_eq!(restore::put_back(&ground.root(), &journal), [""; 0]);
        }
        recover(&ground.journal()).unwrap();
        assert_eq!(ground.tree(), before, "{done} files before the second death");
    }
}

/// QP-F4: the way around file systems that cannot exchange names has the same end, and can be put
/// right after each of its steps.
#[test]
fn exchanging_by_links_is_put_right() {
    for cut in 0..=3 {
        let ground = ground();
        let before = ground.tree();
        let staged = steps().iter().position(|step| matches!(step, Step::Swap(_))).unwrap();
        die_after(&ground, staged);
        let journal = {
            let mut abandoned = JournalFile::abandoned(&ground.journal()).unwrap();
            abandoned[0].read().unwrap().unwrap()
        };
        let entry = &journal.files[0];
        let (target, staged, backup) =
            (ground.path("m"), ground.path(&entry.staged), ground.path(&entry.backup));
        if cut == 3 {
            exchange_by_links(&ground.root().folder(".").unwrap(), entry, "m").unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), "A\n");
            assert_eq!(fs::read_to_string(&staged).unwrap(), "a\n");
            assert!(!backup.exists());
        } else {
            if cut >= 1 {
                fs::hard_link(&target, &backup).unwrap();
            }
            if cut >= 2 {
                fs::rename(&staged, &target).unwrap();
            }
        }
        let recovered = recover(&ground.journal()).unwrap();
        assert!(recovered[0].left.is_empty());
        assert_eq!(ground.tree(), before, "cut after {cut}");
    }
}

/// QP-F5: what somebody changed after the crash is theirs.
#[test]
fn what_was_changed_after_the_crash_is_left_alone() {
    let count = steps().iter().position(|step| *step == Step::Commit).unwrap();
    let ground = ground();
    die_after(&ground, count);
    ground.write("m", "theirs\n");
    ground.write("d", "theirs too\n");
    ground.write("x/y/other", "more\n");
    let recovered = recover(&ground.journal()).unwrap();
    assert_eq!(recovered[0].left, ["m", "d"]);
    let tree = ground.tree();
    assert_eq!(tree["m"], "600 theirs\n");
    assert_eq!(tree["d"], "644 theirs too\n");
    assert_eq!(tree["from"], "644 f\n");
    assert_eq!(tree["over"], "644 o\n");
    assert_eq!(tree["x/y/other"], "644 more\n");
    assert!(!tree.contains_key("x/y/z"));
    // What the two files held before is beside them.
    let kept: Vec<_> = tree.iter().filter(|(name, _)| name.starts_with(".sabir-")).collect();
    assert_eq!(kept.len(), 2);
    assert_eq!(recover(&ground.journal()).unwrap(), []);
    assert_eq!(ground.tree(), tree);
}

/// QP-F6: recovery waits for nobody and disturbs nobody.
#[test]
fn a_living_process_is_left_alone() {
    let ground = ground();
    let after = after();
    let (plan, root) = (ground.plan(PATCH).unwrap(), ground.root());
    let changes = changes_of(&plan, &root).unwrap();
    let mut transaction = Transaction::prepare(&root, changes, &ground.journal()).unwrap();
    for step in transaction.steps() {
        transaction.perform(step).unwrap();
        let tree = ground.tree();
        assert_eq!(recover(&ground.journal()).unwrap(), []);
        assert_eq!(ground.tree(), tree, "{step:?}");
    }
    assert_eq!(ground.tree(), after);
}

/// QP-F5: a journal that was not written to its end describes nothing, and one for a folder that
/// is gone has nothing to do.
#[test]
fn broken_and_orphaned_journals_are_dropped() {
    let ground = ground();
    let before = ground.tree();
    die_after(&ground, 1);
    let written = fs::read_dir(ground.journal()).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&written).unwrap();
    fs::write(&written, &text[..text.len() / 2]).unwrap();
    fs::write(ground.journal().join("notes.txt"), "not a journal").unwrap();
    assert_eq!(recover(&ground.journal()).unwrap(), []);
    assert_eq!(ground.tree(), before);

    die_after(&ground, 1);
    fs::remove_dir_all(ground.path("")).unwrap();
    assert_eq!(recover(&ground.journal()).unwrap(), []);
    assert_eq!(ground.journals(), 1, "only what is none of ours");
    assert_eq!(recover(&ground.dir.path().join("no such folder")).unwrap(), []);
}
