//! Collections: names, counts, removal.

use expect_test::expect;
use sabir_store::library::{CollectionCounts, CollectionId, LibraryError, MAX_TITLE};

use super::sample::{capture, collection, enqueue, open, raw, url};
use crate::sample::home;

/// LC-S1: what a thing is can be read off its id, and no other id is taken for it.
#[test]
fn ids_say_what_they_name() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "Hotels").id;
    assert!(id.as_str().starts_with("col_"));
    assert_eq!(id.as_str().len(), "col_".len() + 16);
    assert_eq!(CollectionId::parse(id.as_str()), Some(id));
    // An underscore is an underscore: in a LIKE it would be any letter.
    let wrong = "INSERT INTO collections VALUES (9, 'colxyz', 't', 't', '[]', 1, 1)";
    assert!(raw(home.path()).execute(wrong, []).unwrap_err().to_string().contains("CHECK"));
}

/// LC-S3: a title is found whatever its case and white space, and given once.
#[test]
fn titles_differ_in_more_than_case() {
    let home = home();
    let library = open(home.path());
    let made = library.create_collection("  Hotels in\tÖrebro ", &["trip".to_owned()], 7).unwrap();
    assert_eq!(made.title, "Hotels in Örebro");
    assert_eq!((made.tags.as_slice(), made.created_at_ms), (["trip".to_owned()].as_slice(), 7));
    for name in ["hotels in örebro", "HOTELS  IN ÖREBRO", made.id.as_str()] {
        assert_eq!(library.find_collection(name).unwrap(), made, "{name}");
    }
    let error = library.create_collection("hotels IN örebro", &[], 8).unwrap_err();
    let expected = LibraryError::TitleTaken { title: made.title.clone(), id: made.id.clone() };
    assert_eq!(error, expected);
    assert_eq!(library.collections(0, 10).unwrap(), [made]);
}

/// LC-S3: who misspells a title is told what was perhaps meant.
#[test]
fn near_titles_are_suggested() {
    let home = home();
    let library = open(home.path());
    for title in ["Hotels", "Flights", "Hotel prices 2026"] {
        collection(&library, title);
    }
    let shown = |name: &str| library.find_collection(name).unwrap_err().to_string();
    expect!["there is no collection `Hotles`; did you mean `Hotels`?"].assert_eq(&shown("Hotles"));
    expect!["there is no collection `hotel`; did you mean `Hotels` or `Hotel prices 2026`?"]
        .assert_eq(&shown("hotel"));
    expect!["there is no collection `cars`"].assert_eq(&shown("cars"));
    expect!["there is no collection `col_x`"].assert_eq(&shown("col_x"));
    expect!["there is no collection ``"].assert_eq(&shown(" "));
}

/// LC-S24: a title has 1 to 500 characters.
#[test]
fn titles_have_a_size() {
    let home = home();
    let library = open(home.path());
    collection(&library, &"ä".repeat(MAX_TITLE));
    let error = library.create_collection(&"ä".repeat(MAX_TITLE + 1), &[], 1).unwrap_err();
    assert!(matches!(error, LibraryError::TooLarge { size: 501, limit: 500, .. }));
    for empty in ["", " \n", "\u{feff}"] {
        let error = library.create_collection(empty, &[], 1).unwrap_err();
        assert_eq!(error.to_string(), "a title cannot be kept: it is empty");
    }
}

#[test]
fn the_list_is_read_page_by_page() {
    let home = home();
    let library = open(home.path());
    let made: Vec<_> =
        (0..25).map(|number| collection(&library, &format!("number {number}"))).collect();
    let (mut read, mut after) = (Vec::new(), 0);
    loop {
        let page = library.collections(after, 10).unwrap();
        let Some(last) = page.last() else { break };
        after = last.num;
        read.extend(page);
    }
    assert_eq!(read, made);
}

#[test]
fn what_is_in_a_collection_is_counted() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    assert_eq!(library.collection_counts(&id).unwrap(), CollectionCounts::default());
    capture(&library, &id, "https://a.example", "A", "one two three");
    capture(&library, &id, "https://a.example", "A", "one two three four");
    library.add_note(&id, None, "a note", 5).unwrap();
    enqueue(&library, &id, &[url("https://b.example")]);
    let expected = CollectionCounts {
        pending: 1,
        captured: 2,
        words: 6,
        versions: 3,
        ..CollectionCounts::default()
    };
    assert_eq!(library.collection_counts(&id).unwrap(), expected);
    // The time of the last change, not of the last look.
    assert_eq!(library.collection(&id).unwrap().updated_at_ms, 30);
}

/// LC-S23: a collection goes with all that is its own, and nothing of another.
#[test]
fn a_deleted_collection_leaves_nothing_of_its_own() {
    let home = home();
    let library = open(home.path());
    let (gone, kept) = (collection(&library, "gone").id, collection(&library, "kept").id);
    for id in [&gone, &kept] {
        capture(&library, id, "https://a.example", "A", "the same words");
        enqueue(&library, id, &[url("https://b.example")]);
        library.add_note(id, None, "note", 5).unwrap();
    }
    library.delete_collection(&gone).unwrap();
    let raw = raw(home.path());
    for (table, rows) in
        [("collections", 1), ("sources", 3), ("source_versions", 2), ("capture_jobs", 2)]
    {
        let sql = format!("SELECT count(*) FROM {table}");
        let found: i64 = raw.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, rows, "{table}");
    }
    let verified = library.verify().unwrap();
    assert_eq!((verified.collections, verified.sources, verified.versions), (1, 3, 2));
    let error = library.delete_collection(&gone).unwrap_err();
    assert!(matches!(error, LibraryError::NotFound { what: "collection", .. }));
}

/// LC-S3: any number who name a new collection at once get the same one.
#[test]
fn a_new_collection_is_made_once() {
    let home = home();
    let library = open(home.path());
    let open_and_find = |_| {
        let home = home.path().to_owned();
        std::thread::spawn(move || open(&home).find_or_create_collection("New  one", 5).unwrap().id)
    };
    let threads: Vec<_> = (0..6).map(open_and_find).collect();
    let ids: Vec<_> = threads.into_iter().map(|it| it.join().unwrap()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let found = library.find_or_create_collection(ids[0].as_str(), 9).unwrap();
    assert_eq!((found.title.as_str(), found.created_at_ms), ("New one", 5));
    assert!(library.find_or_create_collection(" ", 9).is_err());
}
