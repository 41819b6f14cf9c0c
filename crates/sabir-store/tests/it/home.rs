//! The folder, its permissions and its one owner.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use expect_test::expect;
use sabir_store::{Reader, Store, StoreError};

use crate::child;
use crate::sample::{batch, facts, filled, home, reader};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_home_is_nobody_elses() {
    let outer = home();
    let home = outer.path().join("deep/home");
    let store = Store::open(&home).unwrap();
    store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
    assert_eq!(mode(&home), 0o700);
    for name in ["sabir.db", "sabir.db-wal", "sabir.db-shm", "lock"] {
        assert_eq!(mode(&home.join(name)), 0o600, "{name}");
    }
}

/// QP-J11: one process writes; others are told who does.
#[test]
fn a_second_owner_is_refused_until_the_first_is_gone() {
    let home = home();
    let first = Store::open(home.path()).unwrap();
    let error = Store::open(home.path()).unwrap_err();
    let pid = Some(std::process::id());
    assert_eq!(error, StoreError::InUse { home: home.path().to_owned(), pid });
    let text = error.to_string().replace(&home.path().display().to_string(), "HOME");
    let text = text.replace(&std::process::id().to_string(), "PID");
    expect![
        "HOME is in use by another process (PID); end that process, or use another home with --home DIR"
    ]
    .assert_eq(&text);
    let clone = first.clone();
    drop(first);
    assert!(Store::open(home.path()).is_err(), "a clone still owns it");
    drop(clone);
    Store::open(home.path()).unwrap();
}

#[test]
fn another_process_is_refused_too() {
    let home = home();
    let mut owner = child::Child::start("hold", home.path());
    owner.wait_for("held");
    let pid = Some(owner.pid());
    let refused = Store::open(home.path()).unwrap_err();
    assert_eq!(refused, StoreError::InUse { home: home.path().to_owned(), pid });
    // Reading needs no lock.
    assert_eq!(reader(home.path()).verify().unwrap().entries, 1);
    owner.kill();
    Store::open(home.path()).unwrap();
}

#[test]
fn a_reader_makes_neither_home_nor_store() {
    let outer = home();
    let missing = outer.path().join("home");
    let error = Reader::open(&missing).unwrap_err();
    assert_eq!(error, StoreError::Missing { path: missing.join("sabir.db") });
    assert!(!missing.exists());
    assert!(Reader::open(outer.path()).is_err());
    assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 0);
    // What an owner leaves when it is killed before it made the tables.
    fs::write(outer.path().join("sabir.db"), "").unwrap();
    let error = Reader::open(outer.path()).unwrap_err();
    assert_eq!(error, StoreError::Missing { path: outer.path().join("sabir.db") });
    Store::open(outer.path()).unwrap();
}

#[test]
fn a_file_that_is_no_store_is_named() {
    let home = home();
    let path = home.path().join("sabir.db");
    fs::write(&path, "this is a letter, not a database. ".repeat(100)).unwrap();
    let shown =
        |error: StoreError| error.to_string().replace(&home.path().display().to_string(), "HOME");
    let expected = expect![
        "HOME/sabir.db is not a readable store: file is not a database; restore it from a copy, or move it away to start afresh"
    ];
    expected.assert_eq(&shown(Store::open(home.path()).unwrap_err()));
    expected.assert_eq(&shown(Reader::open(home.path()).unwrap_err()));

    fs::remove_file(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    drop(other);
    let expected = expect![
        "HOME/sabir.db is not a readable store: it is a database of another program; restore it from a copy, or move it away to start afresh"
    ];
    expected.assert_eq(&shown(Store::open(home.path()).unwrap_err()));
    expected.assert_eq(&shown(Reader::open(home.path()).unwrap_err()));
}

#[test]
fn a_damaged_page_is_an_error_and_not_a_panic() {
    let home = home();
    filled(home.path());
    let path = home.path().join("sabir.db");
    let whole = fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    for page in 0..pages {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xA5);
        fs::write(&path, &bytes).unwrap();
        let opened = Store::open(home.path()).map(drop);
        let verified = Reader::open(home.path()).and_then(|reader| reader.verify());
        assert!(opened.is_err() || verified.is_err(), "page {page} was damaged unseen");
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let verified = Reader::open(home.path()).and_then(|reader| reader.verify());
    assert!(verified.is_err(), "half a file was read");
}
