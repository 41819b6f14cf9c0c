//! Taking an applied patch back.

use std::fs;

use super::Ground;
use crate::files::{Applied, ApplyError, apply, revert};

const PATCH: &str = "*** Update File: m\n@@\n-a\n+A\n*** Delete File: d\n\
                     *** Add File: x/y/z\n+z\n*** Update File: from\n*** Move to: to\n";

fn applied() -> (Ground, std::collections::BTreeMap<String, String>, Applied) {
    let ground = Ground::new(&[("m", "a\n"), ("d", "d\n"), ("from", "f\n")]);
    ground.chmod("m", 0o600);
    ground.chmod("d", 0o755);
    ground.chmod("from", 0o640);
    let before = ground.tree();
    let plan = ground.plan(PATCH).unwrap();
    let applied = apply(&plan, &ground.root(), &ground.journal()).unwrap();
    // The record is stored and read again before it is needed.
    let applied = serde_json::from_str(&serde_json::to_string(&applied).unwrap()).unwrap();
    (ground, before, applied)
}

/// QP-F8, QP-F11: contents, modes and folders are as before.
#[test]
fn a_patch_can_be_taken_back() {
    let (ground, before, applied) = applied();
    assert_ne!(ground.tree(), before);
    revert(&applied, &ground.root(), &ground.journal()).unwrap();
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
        let error = revert(&applied, &ground.root(), &ground.journal()).unwrap_err();
        assert!(matches!(&error, ApplyError::Changed { path: it } if it == path), "{error:?}");
        assert_eq!(ground.tree(), tree);
    }
}

/// QP-F11: it cannot be taken back twice.
#[test]
fn a_patch_is_taken_back_once() {
    let (ground, before, applied) = applied();
    revert(&applied, &ground.root(), &ground.journal()).unwrap();
    let again = revert(&applied, &ground.root(), &ground.journal());
    assert!(matches!(again, Err(ApplyError::Changed { .. })), "{again:?}");
    assert_eq!(ground.tree(), before);
}

/// QP-F1: a record that was tampered with leads nowhere.
#[test]
fn a_record_cannot_lead_out() {
    let (ground, _, mut applied) = applied();
    applied.files[0].path = "../m".to_owned();
    let error = revert(&applied, &ground.root(), &ground.journal()).unwrap_err();
    assert!(matches!(error, ApplyError::BadRecord { .. }), "{error:?}");
}
