//! Whatever is done to a library, its parts stay in step.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sabir_store::library::{
    CollectionId, Fault, Library, Matching, Retry, SearchRequest, SourceId, SourceStatus, Whose,
    Worker,
};

use super::sample::{enqueue, open, page, url};
use crate::sample::home;

#[derive(Clone, Debug)]
enum Step {
    Enqueue { collection: u8, address: u8 },
    Capture { title: String, text: String },
    Fail,
    Refresh { source: u8 },
    Note { collection: u8, text: String },
    Remove { source: u8 },
    Delete { collection: u8 },
    Cancel { collection: u8 },
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    // Few words, so that they meet; and some that a tokenizer may stumble over.
    let words = || "((red|green|Blau|café|a-b|42|\u{0}|İ|ﬁn|\u{301}|😀|日本語|\"|\n) ?){0,8}";
    prop_oneof![
        3 => (0..2_u8, 0..6_u8).prop_map(|(collection, address)| Step::Enqueue { collection, address }),
        5 => (words(), words()).prop_map(|(title, text)| Step::Capture { title, text }),
        1 => Just(Step::Fail),
        2 => any::<u8>().prop_map(|source| Step::Refresh { source }),
        2 => (0..2_u8, words()).prop_map(|(collection, text)| Step::Note { collection, text }),
        1 => any::<u8>().prop_map(|source| Step::Remove { source }),
        1 => (0..2_u8).prop_map(|collection| Step::Delete { collection }),
        1 => (0..2_u8).prop_map(|collection| Step::Cancel { collection }),
        1 => Just(Step::Reopen),
    ]
}

fn number(library: &Library, number: u8) -> CollectionId {
    let title = format!("c{number}");
    match library.find_collection(&title) {
        Ok(found) => found.id,
        Err(_) => library.create_collection(&title, &[], 1).unwrap().id,
    }
}

fn pick(library: &Library, number: u8) -> Option<SourceId> {
    let mut all = Vec::new();
    for collection in library.collections(0, 10).unwrap() {
        all.extend(library.sources(&collection.id, 0, 100).unwrap());
    }
    let index = usize::from(number) % all.len().max(1);
    all.into_iter().nth(index).map(|source| source.id)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// LC-S20: the search is in step with the texts after any sequence of operations.
    #[test]
    fn the_search_is_in_step(steps in prop::collection::vec(step(), 1..40)) {
        let home = home();
        let mut library = open(home.path());
        let mut worker = Worker::start(&library).unwrap();
        // What each source says, by a simpler account.
        let mut texts: BTreeMap<SourceId, String> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Enqueue { collection, address } => {
                    let id = number(&library, collection);
                    enqueue(&library, &id, &[url(&format!("https://{address}.example"))]);
                }
                Step::Capture { title, text } => {
                    if let Some(job) = worker.claim_next(None, Whose::Anyones, 20).unwrap() {
                        worker.finish(&job, &page(&title, &text), 30).unwrap();
                        texts.insert(job.source_id, text);
                    }
                }
                Step::Fail => {
                    if let Some(job) = worker.claim_next(None, Whose::Anyones, 20).unwrap() {
                        worker.fail(&job, &Fault::new("x", "y"), Retry::At(0), 30).unwrap();
                    }
                }
                Step::Refresh { source } => {
                    if let Some(id) = pick(&library, source) {
                        // A note cannot be; that is fine.
                        let _ = library.refresh(&id, "{}", 40);
                    }
                }
                Step::Note { collection, text } => {
                    let id = number(&library, collection);
                    if let Ok(note) = library.add_note(&id, None, &text, 5) {
                        texts.insert(note.id, text);
                    }
                }
                Step::Remove { source } => {
                    if let Some(id) = pick(&library, source) {
                        library.remove_source(&id, 50).unwrap();
                        texts.remove(&id);
                    }
                }
                Step::Delete { collection } => {
                    let id = number(&library, collection);
                    for source in library.sources(&id, 0, 100).unwrap() {
                        texts.remove(&source.id);
                    }
                    library.delete_collection(&id).unwrap();
                }
                Step::Cancel { collection } => {
                    library.cancel_jobs(&number(&library, collection), 60).unwrap();
                }
                Step::Reopen => {
                    drop(worker);
                    library = open(home.path());
                    worker = Worker::start(&library).unwrap();
                }
            }
        }
        prop_assert_eq!(library.verify().map_err(|error| error.to_string()).map(drop), Ok(()));
        let mut captured = BTreeMap::new();
        for collection in library.collections(0, 10).unwrap() {
            for source in library.sources(&collection.id, 0, 100).unwrap() {
                if source.status == SourceStatus::Captured {
                    let text = library.current_text(&source.id).unwrap().unwrap().markdown;
                    captured.insert(source.id, text);
                }
            }
        }
        prop_assert_eq!(&captured, &texts);
        for word in ["green", "cafe"] {
            let request = SearchRequest {
                words: word, matching: Matching::All, scope: None, skip: 0, limit: 1000,
            };
            let hits = library.search(&request).unwrap();
            for id in hits.iter().map(|hit| &hit.source_id) {
                prop_assert!(texts.contains_key(id));
            }
            let plain = |text: &str| text.replace('é', "e");
            for (id, text) in &texts {
                // Letters that run into others make another word.
                let stands = plain(text).split(|c: char| !c.is_alphanumeric() && c != '\u{301}').any(|it| it == word);
                prop_assert!(!stands || hits.iter().any(|hit| hit.source_id == *id), "{} {}", word, text);
            }
        }
    }
}
