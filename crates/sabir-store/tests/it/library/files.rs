//! The file: kept private, refused when it is not ours, and errors that say what to do.

use std::fs;
use std::time::Duration;

use expect_test::expect;
use sabir_store::Store;
use sabir_store::library::{Library, LibraryError, LibraryOptions};

use super::sample::{capture, collection, ids, open, raw};
use crate::sample::home;

fn small() -> LibraryOptions {
    LibraryOptions { max_bytes: Some(1 << 20), ..LibraryOptions::default() }
}

fn refused(home: &std::path::Path) -> String {
    let error = Library::open(home, ids()).unwrap_err();
    error.to_string().replace(home.to_str().unwrap(), "HOME")
}

/// LC-S2: it stands beside the journal, whoever owns that.
#[test]
fn the_journal_s_owner_is_not_in_the_way() {
    let home = home();
    let _owner = Store::open(home.path()).unwrap();
    let (one, other) = (open(home.path()), open(home.path()));
    let made = collection(&one, "c");
    assert_eq!(other.find_collection("c").unwrap(), made);
    let raw = raw(home.path());
    let mode: String = raw.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[cfg(unix)]
#[test]
fn it_is_nobody_else_s() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = home();
    let library = open(home.path());
    let _worker = sabir_store::library::Worker::start(&library).unwrap();
    collection(&library, "c");
    for name in ["library.db", "library.db-wal", "library.lock"] {
        let mode = fs::metadata(home.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    let mode = fs::metadata(home.path().join("workers")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

/// LC-S25: a file that is not ours, or newer, or damaged, is left alone.
#[test]
fn other_files_are_left_alone() {
    let home = home();
    let path = home.path().join("library.db");
    fs::write(&path, "not a database, but long enough to be taken for one".repeat(100)).unwrap();
    expect!["HOME/library.db is not a readable library: file is not a database; restore it from a copy, or move it away to start afresh"]
        .assert_eq(&refused(home.path()));
    fs::remove_file(&path).unwrap();
    raw(home.path()).execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    let expected = expect![
        "HOME/library.db is not a readable library: it is a database of another program; restore it from a copy, or move it away to start afresh"
    ];
    expected.assert_eq(&refused(home.path()));
    // The journal's file is another kind of ours.
    fs::remove_file(&path).unwrap();
    drop(Store::open(home.path()).unwrap());
    fs::copy(home.path().join("sabir.db"), &path).unwrap();
    expected.assert_eq(&refused(home.path()));
    fs::remove_file(&path).unwrap();
    drop(open(home.path()));
    raw(home.path()).execute_batch("PRAGMA user_version = 99").unwrap();
    expect!["HOME/library.db was written by a newer sabir (schema 99, this one knows 3); update sabir, or use another home with --home DIR"]
        .assert_eq(&refused(home.path()));
    assert!(matches!(
        Library::open(home.path(), ids()),
        Err(LibraryError::NewerSchema { found: 99, known: 3, .. })
    ));
}

/// LC-S25: a damaged page is an error and not a panic.
#[test]
fn a_damaged_page_is_found() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    for number in 0..20 {
        capture(
            &library,
            &id,
            &format!("https://{number}.example"),
            "A",
            &format!("{number} ").repeat(800),
        );
    }
    drop(library);
    let path = home.path().join("library.db");
    let whole = fs::read(&path).unwrap();
    assert!(!home.path().join("library.db-wal").exists(), "all is in the file");
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xA5);
        fs::write(&path, &bytes).unwrap();
        let verified = Library::open(home.path(), ids()).and_then(|library| library.verify());
        assert!(verified.is_err(), "page {page} was damaged unseen");
    }
}

/// LC-S25: when there is no room, nothing is kept in part, and what there is can be read.
#[test]
fn a_full_disk_is_told() {
    let home = home();
    let library = Library::open_with(home.path(), ids(), &small()).unwrap();
    let id = collection(&library, "c").id;
    let mut notes = 0;
    let error = loop {
        match library.add_note(&id, None, &"words ".repeat(5000), 5) {
            Ok(_) => notes += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LibraryError::Full { .. }), "{error}");
    assert!(!error.is_retryable());
    assert!(notes > 5);
    assert_eq!(library.sources(&id, 0, 1000).unwrap().len(), notes);
    library.verify().unwrap();
    // With room again it goes on.
    open(home.path()).add_note(&id, None, "more", 6).unwrap();
}

/// LC-S25: when others write for too long, nothing happened, and trying again helps.
#[test]
fn a_busy_file_is_told() {
    let home = home();
    let options = LibraryOptions { patience: Duration::ZERO, ..LibraryOptions::default() };
    let library = Library::open_with(home.path(), ids(), &options).unwrap();
    let other = raw(home.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = library.create_collection("c", &[], 1).unwrap_err();
    assert!(matches!(error, LibraryError::Busy { .. }) && error.is_retryable(), "{error}");
    // Reading goes on meanwhile.
    assert_eq!(library.collections(0, 10).unwrap(), []);
    other.execute_batch("COMMIT").unwrap();
    collection(&library, "c");
}

#[test]
fn a_file_that_cannot_be_opened_is_told() {
    let home = home();
    // Nobody can write a folder as a file, root included.
    fs::create_dir(home.path().join("library.db")).unwrap();
    expect!["cannot use HOME/library.db: unable to open database file: HOME/library.db"]
        .assert_eq(&refused(home.path()));
}

/// LC-S29: a library that can only be read is read, and says so to who writes.
#[test]
fn a_library_that_cannot_be_written_is_read() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    library.add_note(&id, None, "The pier is closed.", 5).unwrap();
    drop(library);
    let reader = Library::open_to_read(home.path()).unwrap();
    assert_eq!(reader.collection_counts(&id).unwrap().captured, 1);
    let error = reader.create_collection("d", &[], 6).unwrap_err();
    assert!(matches!(error, LibraryError::ReadOnly { .. }), "{error}");
    assert!(Library::open_to_read(&home.path().join("nowhere")).is_err());
}
