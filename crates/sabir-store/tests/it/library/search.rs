//! Finding sources by their words.

use proptest::prelude::*;
use sabir_store::library::{CollectionId, Hit, Library, LibraryError, Matching, SearchRequest};

use super::sample::{capture, collection, open};
use crate::sample::home;

fn request(words: &str) -> SearchRequest<'_> {
    SearchRequest { words, matching: Matching::All, scope: None, skip: 0, limit: 10 }
}

fn titles(library: &Library, words: &str) -> Vec<String> {
    let hits = library.search(&request(words)).unwrap();
    hits.into_iter().map(|hit| hit.title).collect()
}

fn hotels(library: &Library) -> CollectionId {
    let id = collection(library, "hotels").id;
    for (address, title, text) in [
        ("https://1.example", "Café Zürich", "A hotel with a café. The price of a room is high."),
        ("https://2.example", "Alps", "A hut in the hills. A room has no price of its own."),
        ("https://3.example", "Hotel list", "One, two, three. Breakfast."),
    ] {
        capture(library, &id, address, title, text);
    }
    id
}

/// LC-S20: current versions are found by the words of their titles and texts, the best first.
#[test]
fn words_are_found() {
    let home = home();
    let library = open(home.path());
    let id = hotels(&library);
    // In the title it counts more.
    assert_eq!(titles(&library, "hotel"), ["Hotel list", "Café Zürich"]);
    assert_eq!(titles(&library, "ZURICH cafe"), ["Café Zürich"]);
    assert_eq!(titles(&library, "zürich"), ["Café Zürich"]);
    // An old version is not found any more, nor an old title.
    capture(&library, &id, "https://1.example", "Bern", "A new text.");
    assert_eq!(titles(&library, "zürich"), Vec::<String>::new());
    assert_eq!(titles(&library, "new"), ["Bern"]);
    let hit = library.search(&request("new")).unwrap().remove(0);
    let source = library.source(&hit.source_id).unwrap();
    assert_eq!(Some(hit.version_id), source.current_version);
    assert_eq!((hit.collection_id, hit.address), (id, source.origin.address));
    library.remove_source(&hit.source_id, 9).unwrap();
    assert_eq!(titles(&library, "new"), Vec::<String>::new());
}

/// LC-S21: words in quotes stand side by side, a star ends a beginning, all words or any.
#[test]
fn phrases_beginnings_all_and_any() {
    let home = home();
    let library = open(home.path());
    hotels(&library);
    assert_eq!(titles(&library, "room price"), ["Café Zürich", "Alps"]);
    assert_eq!(titles(&library, "\"price of a room\""), ["Café Zürich"]);
    assert_eq!(titles(&library, "\"room of a price\""), Vec::<String>::new());
    assert_eq!(titles(&library, "break"), Vec::<String>::new());
    assert_eq!(titles(&library, "break*"), ["Hotel list"]);
    let any = SearchRequest { matching: Matching::Any, ..request("breakfast hut nowhere") };
    let found = library.search(&any).unwrap();
    assert_eq!(found.len(), 2);
    assert!(found[0].score >= found[1].score);
}

/// LC-S21: nothing that is typed is an operator, or an error.
#[test]
fn nothing_that_is_typed_is_an_operator() {
    let home = home();
    let library = open(home.path());
    hotels(&library);
    for typed in [
        "",
        " ",
        "\"",
        "\"\"",
        "*",
        "hotel OR NOT",
        "NEAR(",
        "title:",
        "title:hotel -price",
        "^hotel",
        "{title body}: hotel",
        "a\" OR \"b",
        "+",
        "hotel\0list",
        "(((",
        "AND",
        "'; DROP TABLE sources; --",
        "\u{FDD0}",
        "＊",
        "ﬁ",
        "𝒉",
    ] {
        library.search(&request(typed)).unwrap();
    }
    assert_eq!(titles(&library, "hotel OR breakfast"), Vec::<String>::new(), "OR is a word");
    assert_eq!(titles(&library, "hotel\0list"), ["Hotel list"]);
    let long = "x ".repeat(5000);
    assert!(matches!(library.search(&request(&long)), Err(LibraryError::TooLarge { .. })));
}

/// LC-S22: a snippet is text, with marks beside it; the words of a page cannot forge any markup.
#[test]
fn snippets_have_marks() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let text = format!(
        "{} the <b>Café</b> of \u{FDD1}the\u{FDD0} cafés\u{FDD0} {}",
        "before ".repeat(100),
        "after ".repeat(100)
    );
    capture(&library, &id, "https://a.example", "A", &text);
    let snippet = library.search(&request("cafe")).unwrap().remove(0).snippet;
    assert!(snippet.text.contains("<b>Café</b>"), "{snippet:?}");
    assert!(!snippet.text.contains(['\u{FDD0}', '\u{FDD1}']));
    assert!(snippet.text.len() < 400);
    let marked: Vec<_> = snippet.marks.iter().map(|mark| &snippet.text[mark.clone()]).collect();
    assert_eq!(marked, ["Café"]);
}

/// LC-S22: pages follow each other without a gap and without a repetition.
#[test]
fn pages_do_not_overlap() {
    let home = home();
    let library = open(home.path());
    let (one, other) = (collection(&library, "one").id, collection(&library, "other").id);
    for number in 0..25 {
        library.add_note(&one, Some(&format!("n{number}")), "the very same words", 5).unwrap();
        library.add_note(&other, None, "the very same words", 5).unwrap();
    }
    let mut found: Vec<Hit> = Vec::new();
    loop {
        let request =
            SearchRequest { scope: Some(&one), skip: found.len(), limit: 4, ..request("same") };
        let page = library.search(&request).unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    let titles: Vec<_> = found.into_iter().map(|hit| hit.title).collect();
    assert_eq!(titles, (0..25).map(|number| format!("n{number}")).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// LC-S21: whatever is typed, there is an answer.
    #[test]
    fn there_is_always_an_answer(words in "(?s).{0,60}|[\"*()^:+ \\-ANDORa-c]{0,40}") {
        thread_local! {
            static LIBRARY: (tempfile::TempDir, Library) = {
                let home = home();
                let library = open(home.path());
                hotels(&library);
                (home, library)
            };
        }
        LIBRARY.with(|(_, library)| {
            for matching in [Matching::All, Matching::Any] {
                for hit in library.search(&SearchRequest { matching, ..request(&words) }).unwrap() {
                    for mark in &hit.snippet.marks {
                        assert!(hit.snippet.text.get(mark.clone()).is_some());
                    }
                }
            }
        });
    }
}
