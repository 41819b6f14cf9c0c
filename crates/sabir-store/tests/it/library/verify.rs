//! Whether the library is what was put into it.

use sabir_store::library::{LibraryError, Matching, SearchRequest, Unsound};

use super::sample::{capture, collection, enqueue, open, raw, url};
use crate::sample::home;

/// LC-S26: what was changed from outside is found.
#[test]
fn tampering_is_found() {
    for (change, why) in [
        (
            "UPDATE source_versions SET markdown = 'A doctored text.' WHERE number = 1",
            "its text does not have its hash",
        ),
        ("UPDATE source_versions SET hash = zeroblob(32)", "its text does not have its hash"),
        (
            "DELETE FROM source_versions WHERE number = 1",
            "a row of it names one that does not exist",
        ),
        ("DELETE FROM collections", "a row of it names one that does not exist"),
        (
            "UPDATE sources SET current = (SELECT min(num) FROM source_versions)
             WHERE current IS NOT NULL",
            "its current version is not its newest",
        ),
        (
            "DROP TRIGGER search_forgets_what_changes; UPDATE sources SET title = 'renamed'",
            "it is not in step with the texts",
        ),
        (
            "DELETE FROM search_index_data WHERE id > 10",
            "its pages and indexes do not fit together",
        ),
    ] {
        let home = home();
        let library = open(home.path());
        let id = collection(&library, "c").id;
        capture(&library, &id, "https://a.example", "A", "A true text.");
        capture(&library, &id, "https://a.example", "A", "A second text.");
        enqueue(&library, &id, &[url("https://b.example")]);
        library.verify().unwrap();
        let raw = raw(home.path());
        raw.execute_batch("PRAGMA foreign_keys = OFF; DROP TRIGGER a_version_is_never_changed")
            .unwrap();
        raw.execute_batch(change).unwrap();
        match library.verify().unwrap_err() {
            LibraryError::Unsound(Unsound { why: found, .. }) => assert_eq!(found, why, "{change}"),
            other => panic!("{change}: {other}"),
        }
    }
}

/// LC-S26: a search that is out of step can be made again.
#[test]
fn the_search_can_be_made_again() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    capture(&library, &id, "https://a.example", "A", "some words");
    raw(home.path())
        .execute_batch("INSERT INTO search_index (search_index) VALUES ('delete-all')")
        .unwrap();
    assert!(library.verify().is_err());
    library.rebuild_search().unwrap();
    library.verify().unwrap();
    let request =
        SearchRequest { words: "words", matching: Matching::All, scope: None, skip: 0, limit: 5 };
    assert_eq!(library.search(&request).unwrap().len(), 1);
}
