//! Nothing leads out of the root.

use std::fs;

use sabir_engine::patch::{Files as _, MAX_FILE_BYTES, PatchPath, PlanErrorKind, ReadFailure};

use super::{BOTH, Ground};
use crate::files::root::Root;

fn path(text: &str) -> PatchPath {
    PatchPath::new(text).unwrap()
}

/// QP-F1: links inside of the root are followed, by either way of opening.
#[test]
fn links_inside_are_followed() {
    let ground = Ground::new(&[("real/file", "x\n"), ("a/b/c", "")]);
    ground.link("link", "real/file");
    ground.link("a/b/up", "../../real");
    ground.link("folder", "./a/b");
    ground.link("dangling", "real/new");
    for opening in BOTH {
        let root = Root::open_with(&ground.path(""), opening).unwrap();
        for (from, to) in [
            ("real/file", "real/file"),
            ("link", "real/file"),
            ("a/b/up/file", "real/file"),
            ("folder/up/file", "real/file"),
            ("folder/new/deep", "a/b/new/deep"),
            ("dangling", "real/new"),
            ("nothing/here", "nothing/here"),
        ] {
            assert_eq!(root.locate(&path(from)), Ok(path(to)), "{from} {opening:?}");
        }
        assert_eq!(root.read(&path("real/file")), Ok(Some(b"x\n".to_vec())));
        assert_eq!(root.read(&path("real/none")), Ok(None));
        assert_eq!(root.read(&path("none/none")), Ok(None));
    }
}

/// QP-F1: links that lead out, in a circle or to an absolute path are refused.
#[test]
fn links_that_lead_out_are_refused() {
    let ground = Ground::new(&[("inside", "x\n"), ("a/b", "")]);
    fs::write(ground.dir.path().join("secret"), "s\n").unwrap();
    ground.link("up", "../secret");
    ground.link("parent", "..");
    ground.link("a/far", "../../secret");
    ground.link("absolute", ground.dir.path().join("secret"));
    ground.link("home", ground.path("inside"));
    ground.link("circle", "circle");
    ground.link("ping", "pong");
    ground.link("pong", "ping");
    for opening in BOTH {
        let root = Root::open_with(&ground.path(""), opening).unwrap();
        for name in
            ["up", "parent/secret", "a/far", "absolute", "home", "circle", "ping", "parent/root/x"]
        {
            let outside = Err(ReadFailure::Outside);
            assert_eq!(root.locate(&path(name)), outside, "{name} {opening:?}");
            // Whoever forgets to locate a path still gets nowhere.
            assert!(root.read(&path(name)).is_err(), "{name} {opening:?}");
        }
    }
    for name in ["up", "parent/secret", "absolute", "a/far"] {
        let error = ground.plan(&format!("*** Add File: {name}\n+mine\n")).unwrap_err();
        assert_eq!(error.kind, PlanErrorKind::Read(ReadFailure::Outside), "{name}");
    }
    assert_eq!(fs::read_to_string(ground.dir.path().join("secret")).unwrap(), "s\n");
}

/// QP-F10: folders, devices and pipes are refused, and so is what lies below a file.
#[test]
fn only_regular_files_are_read() {
    let ground = Ground::new(&[("folder/file", "x\n")]);
    let flags = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = ground.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, flags).unwrap();
    for opening in BOTH {
        let root = Root::open_with(&ground.path(""), opening).unwrap();
        assert_eq!(root.read(&path("folder")), Err(ReadFailure::Folder));
        // Nobody writes into it: opening it as a file would wait for ever.
        assert_eq!(root.read(&path("pipe")), Err(ReadFailure::Special));
        assert_eq!(root.read(&path("folder/file/x")), Err(ReadFailure::BelowFile));
    }
}

/// QP-F10: a file that is too large is not read.
#[test]
fn large_files_are_refused() {
    let ground = Ground::new(&[]);
    let file = fs::File::create(ground.path("large")).unwrap();
    file.set_len(MAX_FILE_BYTES as u64 + 1).unwrap();
    assert_eq!(ground.root().read(&path("large")), Err(ReadFailure::TooLarge));
    file.set_len(MAX_FILE_BYTES as u64).unwrap();
    assert_eq!(ground.root().read(&path("large")).unwrap().unwrap().len(), MAX_FILE_BYTES);
}

/// The root itself may be reached through a link: it is given by the person.
#[test]
fn the_root_may_be_a_link_and_must_be_a_folder() {
    let ground = Ground::new(&[("file", "x\n")]);
    let link = ground.dir.path().join("link");
    std::os::unix::fs::symlink(ground.path(""), &link).unwrap();
    let root = Root::open(&link).unwrap();
    assert_eq!(root.path(), ground.path("").canonicalize().unwrap());
    assert_eq!(root.read(&path("file")), Ok(Some(b"x\n".to_vec())));
    assert!(Root::open(&ground.path("file")).is_err());
    assert!(Root::open(&ground.path("none")).is_err());
}
