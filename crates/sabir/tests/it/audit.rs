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
