//! `sabir audit verify`, on journals that are whole and on one that is not.

use sabir_store::{Batch, Entry, Reader, SessionFacts, SessionId, Store};

use crate::process::{Outcome, run};

fn verify(home: &std::path::Path, more: &[&str]) -> Outcome {
    run(&[&["audit", "verify", "--home", home.to_str().unwrap()], more].concat(), "")
}

fn batch(entries: Vec<Entry>) -> Batch {
    Batch { session_id: SessionId::new("s"), at_ms: 7, entries }
}

#[test]
fn a_journal_is_whole_until_somebody_changes_it() {
    let home = tempfile::tempdir().unwrap();
    let missing = verify(home.path(), &[]);
    assert_eq!((missing.code, missing.stdout.as_str()), (2, ""));
    assert!(missing.stderr.starts_with("error: "), "{}", missing.stderr);

    let facts =
        SessionFacts { cwd: "/w".to_owned(), model: "m".to_owned(), title: None, parent: None };
    let store = Store::open(home.path()).unwrap();
    let item = Entry::Item { body: "a piece of the thread".to_owned() };
    let receipt = store.append_and_wait(batch(vec![Entry::Session(facts), item])).unwrap();
    // Beside the owner, and after it.
    let beside = verify(home.path(), &[]);
    drop(store);
    let whole = verify(home.path(), &["--json"]);
    let head = receipt.hash;
    let id = Reader::open(home.path()).unwrap().verify().unwrap().store_id;
    assert_eq!(
        beside.stdout,
        format!("the journal is whole: 2 entries\nstore {id}\nhead {head}\n")
    );
    assert_eq!(
        (whole.code, whole.stdout),
        (
            0,
            format!(
                "{{\"result\":\"whole\",\"store\":\"{id}\",\"entries\":2,\"head\":\"{head}\"}}\n"
            )
        )
    );

    let path = home.path().join("sabir.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let words = b"a piece of the thread";
    let at = bytes.windows(words.len()).position(|window| window == words).unwrap();
    bytes[at] = b'A';
    std::fs::write(&path, bytes).unwrap();
    let changed = verify(home.path(), &[]);
    assert_eq!((changed.code, changed.stdout.as_str()), (1, ""));
    assert!(changed.stderr.contains("was changed at entry 2"), "{}", changed.stderr);
    assert_eq!(verify(home.path(), &["--json"]).code, 1);
}

/// Nothing can be made beside the database there, and nothing has to be while nobody writes.
#[test]
fn a_journal_on_a_read_only_disk_is_read() {
    let home = tempfile::tempdir().unwrap();
    let facts =
        SessionFacts { cwd: "/w".to_owned(), model: "m".to_owned(), title: None, parent: None };
    let store = Store::open(home.path()).unwrap();
    store.append_and_wait(batch(vec![Entry::Session(facts)])).unwrap();
    drop(store);
    let inside = |command: &[&str]| {
        let program = env!("CARGO_BIN_EXE_sabir");
        let before = ["sandbox", "--mode", "read-only", "--", program];
        run(&[&before, command, &["--home", home.path().to_str().unwrap()]].concat(), "")
    };
    let listed = inside(&["sessions"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(listed.stdout.contains("/w"), "{}", listed.stdout);
    let whole = inside(&["audit", "verify"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    // What is not merged would be missed.
    std::fs::write(home.path().join("sabir.db-wal"), "entries").unwrap();
    let unmerged = inside(&["sessions"]);
    assert_eq!(unmerged.code, 2);
    assert!(unmerged.stderr.contains("have to be merged into the file"), "{}", unmerged.stderr);
}

/// So is a library, and one that lost its last rows says so there, too.
#[test]
fn a_library_on_a_read_only_disk_is_read() {
    use sabir_store::library::{AuditOutcome, Library, NewAudit};

    let home = tempfile::tempdir().unwrap();
    let library = Library::open(home.path(), || [7; 10]).unwrap();
    let row = NewAudit {
        actor: "s".to_owned(),
        call_id: "call_1".to_owned(),
        subject: "shell".to_owned(),
        outcome: AuditOutcome::Deny,
        reason: "policy_denied".to_owned(),
        body: "{}".to_owned(),
    };
    library.append_audit(&[row], 7).unwrap();
    drop(library);
    let inside = |command: &[&str]| {
        let program = env!("CARGO_BIN_EXE_sabir");
        let before = ["sandbox", "--mode", "read-only", "--", program];
        run(&[&before, command, &["--home", home.path().to_str().unwrap()]].concat(), "")
    };
    let whole = inside(&["audit", "verify"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    assert!(whole.stdout.starts_with("the library is whole: 1 decisions\n"), "{}", whole.stdout);
    let listed = inside(&["audit", "list"]);
    assert!(listed.stdout.contains("policy_denied"), "{}{}", listed.stdout, listed.stderr);
    let none = run(&["audit", "list", "-n", "0", "--home", home.path().to_str().unwrap()], "");
    assert_eq!((none.code, none.stdout.as_str()), (2, ""), "{}", none.stderr);
}

/// The library has a chain of its own, with or without a journal beside it.
#[test]
fn a_library_is_verified_too() {
    use sabir_store::library::{AuditOutcome, Library, NewAudit};

    let home = tempfile::tempdir().unwrap();
    let library = Library::open(home.path(), || [7; 10]).unwrap();
    let row = NewAudit {
        actor: "s".to_owned(),
        call_id: "call_1".to_owned(),
        subject: "shell".to_owned(),
        outcome: AuditOutcome::Deny,
        reason: "policy_denied".to_owned(),
        body: r#"{"reason":"a word to change"}"#.to_owned(),
    };
    let head = library.append_audit(&[row], 7).unwrap();
    drop(library);
    let whole = verify(home.path(), &[]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    assert!(whole.stdout.starts_with("the library is whole: 1 decisions\n"), "{}", whole.stdout);
    assert!(whole.stdout.ends_with(&format!("head {}\n", head.hash)), "{}", whole.stdout);
    Store::open(home.path()).unwrap();
    let both = verify(home.path(), &["--json"]);
    let both: serde_json::Value = serde_json::from_str(&both.stdout).unwrap();
    assert_eq!((&both["result"], &both["entries"]), (&"whole".into(), &0.into()));
    assert_eq!(both["library"]["head"], head.hash.to_string());

    let path = home.path().join("library.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let words = b"a word to change";
    let at = bytes.windows(words.len()).position(|window| window == words).unwrap();
    bytes[at] = b'A';
    std::fs::write(&path, bytes).unwrap();
    let changed = verify(home.path(), &[]);
    assert_eq!(changed.code, 1, "{}", changed.stdout);
    assert!(changed.stderr.contains("row 1 of the audit"), "{}", changed.stderr);
    let changed = verify(home.path(), &["--json"]);
    let changed: serde_json::Value = serde_json::from_str(&changed.stdout).unwrap();
    assert_eq!(
        (&changed["result"], &changed["library"]["result"]),
        (&"tampered".into(), &"tampered".into())
    );
}
