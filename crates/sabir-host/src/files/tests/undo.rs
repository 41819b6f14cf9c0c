//! Taking an applied patch back.

use std::fs;

use sabir_engine::patch::{parse, plan};

use super::{Ground, Root};
use crate::files::{Applied, ApplyError, Undo, apply, keep, revert};

const PATCH: &str = "*** Update File: m\n@@\n-a\n+A\n*** Delete File: d\n\
                     *** Add File: x/y/z\n+z\n*** Update File: from\n*** Move to: to\n";

fn applied() -> (Ground, std::collections::BTreeMap<String, String>, Applied) {
    let ground = Ground::new(&[("m", "a\n"), ("d", "d\n"), ("from", "f\n")]);
    ground.chmod("m", 0o600);
    ground.chmod("d", 0o755);
    ground.chmod("from", 0o640);
    let before = ground.tree();
    let plan = ground.plan(PATCH).unwrap();
    keep(&plan, &ground.journal()).unwrap();
    let applied = apply(&plan, &ground.root(), &ground.journal()).unwrap();
    // The record is stored and read again before it is needed.
    let applied = serde_json::from_str(&serde_json::to_string(&applied).unwrap()).unwrap();
    (ground, before, applied)
}

/// The last change comes first.
fn take_back<'a>(
    ground: &Ground,
    changes: impl IntoIterator<Item = &'a Applied>,
) -> Result<Vec<String>, ApplyError> {
    let undo = |applied: &Applied| Undo { root: ground.path(""), applied: applied.clone() };
    revert(changes.into_iter().map(undo).collect(), &ground.journal())
}

/// QP-F8, QP-F11: contents, modes and folders are as before.
#[test]
fn a_patch_can_be_taken_back() {
    let (ground, before, applied) = applied();
    assert_ne!(ground.tree(), before);
    take_back(&ground, [&applied]).unwrap();
    assert_eq!(ground.tree(), before);
    assert_eq!(ground.journals(), 0);
}

/// QP-F11: a file that changed since is named, and nothing is taken back.
#[test]
fn a_patch_is_not_taken_back_over_later_changes() {
    for (path, text) in [("m", Some("later\n")), ("x/y/z", None), ("d", Some("later\n"))] {
        let (ground, _, applied) = applied();
        match text {
            Some(text) => ground.write(path, text),
            None => fs::remove_file(ground.path(path)).unwrap(),
        }
        let tree = ground.tree();
        let error = take_back(&ground, [&applied]).unwrap_err();
        assert!(matches!(&error, ApplyError::Changed { path: it } if it == path), "{error:?}");
        assert_eq!(ground.tree(), tree);
    }
}

/// QP-F11: it cannot be taken back twice.
#[test]
fn a_patch_is_taken_back_once() {
    let (ground, before, applied) = applied();
    take_back(&ground, [&applied]).unwrap();
    let again = take_back(&ground, [&applied]);
    assert!(matches!(again, Err(ApplyError::Changed { .. })), "{again:?}");
    assert_eq!(ground.tree(), before);
}

/// QP-F1: a record that was tampered with leads nowhere.
#[test]
fn a_record_cannot_lead_out() {
    let (ground, _, mut applied) = applied();
    applied.files[0].path = "../m".to_owned();
    let error = take_back(&ground, [&applied]).unwrap_err();
    assert!(matches!(error, ApplyError::BadRecord { .. }), "{error:?}");
}

fn patched(ground: &Ground, patch: &str) -> Applied {
    let plan = ground.plan(patch).unwrap();
    keep(&plan, &ground.journal()).unwrap();
    apply(&plan, &ground.root(), &ground.journal()).unwrap()
}

/// QP-F13: several patches are taken back as one, or none of them.
#[test]
fn several_patches_are_taken_back_as_one() {
    let ground = Ground::new(&[("a", "1\n"), ("b", "1\n")]);
    let before = ground.tree();
    let first = patched(&ground, "*** Update File: a\n@@\n-1\n+2\n*** Add File: n/x\n+x\n");
    let second = patched(
        &ground,
        "*** Update File: b\n@@\n-1\n+2\n*** Update File: a\n@@\n-2\n+3\n*** Delete File: n/x\n",
    );
    let after = ground.tree();
    let both = [&second, &first];

    ground.write("a", "mine\n");
    let tree = ground.tree();
    let error = take_back(&ground, both).unwrap_err();
    assert!(matches!(&error, ApplyError::Changed { path } if path == "a"), "{error:?}");
    assert_eq!(ground.tree(), tree, "nothing is taken back");

    ground.write("a", "3\n");
    assert_eq!(ground.tree(), after);
    assert_eq!(take_back(&ground, both).unwrap(), ["a", "b", "n/x"]);
    assert_eq!(ground.tree(), before);
}

/// QP-F13: what somebody wrote between two patches is theirs.
#[test]
fn patches_with_a_change_between_are_not_taken_back() {
    let ground = Ground::new(&[("a", "1\n2\n")]);
    let first = patched(&ground, "*** Update File: a\n@@\n-1\n+one\n");
    ground.write("a", "one\n2\nmine\n");
    let second = patched(&ground, "*** Update File: a\n@@\n-2\n+two\n");
    let error = take_back(&ground, [&second, &first]).unwrap_err();
    assert!(matches!(&error, ApplyError::Changed { path } if path == "a"), "{error:?}");
    assert_eq!(fs::read_to_string(ground.path("a")).unwrap(), "one\ntwo\nmine\n");
}

/// QP-F13: patches of different folders are one change, too.
#[test]
fn patches_of_different_folders_are_taken_back_as_one() {
    let ground = Ground::new(&[("below/a", "1\n")]);
    let before = ground.tree();
    let first = patched(&ground, "*** Update File: below/a\n@@\n-1\n+2\n");
    let below = Root::open(&ground.path("below")).unwrap();
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-2\n+3\n*** End Patch\n";
    let plan = plan(&parse(patch).unwrap(), &below).unwrap();
    keep(&plan, &ground.journal()).unwrap();
    let second = apply(&plan, &below, &ground.journal()).unwrap();
    let changes = vec![
        Undo { root: ground.path("below"), applied: second },
        Undo { root: ground.path("").components().collect(), applied: first },
    ];
    assert_eq!(revert(changes, &ground.journal()).unwrap(), ["below/a"]);
    assert_eq!(ground.tree(), before);
}

/// QP-F14: contents are kept beside the record, and are what their names say or nothing.
#[test]
fn a_kept_content_that_was_changed_or_lost_is_not_used() {
    for change in [Some("forged\n"), None] {
        let ground = Ground::new(&[("a", "secret words\n")]);
        let applied = patched(&ground, "*** Update File: a\n@@\n-secret words\n+other\n");
        let record = serde_json::to_string(&applied).unwrap();
        assert!(!record.contains("secret"), "{record}");
        let kept =
            ground.journal().join("kept").join(&applied.files[0].before.as_ref().unwrap().hash);
        match change {
            Some(text) => fs::write(&kept, text).unwrap(),
            None => fs::remove_file(&kept).unwrap(),
        }
        let error = take_back(&ground, [&applied]).unwrap_err();
        assert!(matches!(&error, ApplyError::NotKept { path } if path == "a"), "{error:?}");
        assert_eq!(fs::read_to_string(ground.path("a")).unwrap(), "other\n");
    }
}
