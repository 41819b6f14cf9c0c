//! Sources and their versions.

use sabir_store::Hash;
use sabir_store::library::{
    Captured, Fault, Finished, Found, LibraryError, MAX_BODY, Outcome, Queueing, Retry, SourceKind,
    SourceLink, SourceStatus, Worker,
};

use super::sample::{capture, claim, collection, enqueue, open, page, raw, url};
use crate::sample::home;

/// LC-S4: one source for each address in a collection; another collection has its own.
#[test]
fn an_address_is_one_source() {
    let home = home();
    let library = open(home.path());
    let (one, other) = (collection(&library, "one").id, collection(&library, "other").id);
    let same = [url("https://a.example/x"), url("https://a.example/x/"), url("https://b.example")];
    let enqueued = enqueue(&library, &one, &same);
    assert_eq!(enqueued[0].source_id, enqueued[1].source_id);
    assert!(matches!(enqueued[1].queueing, Queueing::AlreadyQueued(_)));
    let elsewhere = enqueue(&library, &other, &same[..1]).remove(0);
    assert_ne!(elsewhere.source_id, enqueued[0].source_id);
    let sources = library.sources(&one, 0, 10).unwrap();
    assert_eq!(sources.len(), 2);
    assert_eq!(sources[0].origin.address.as_deref(), Some("https://a.example/x"));
    let found = library.source_by_address(&one, "https://b.example").unwrap().unwrap();
    assert_eq!(found, sources[1]);
    assert_eq!(library.source_by_address(&one, "https://c.example").unwrap(), None);
}

/// LC-S5: a version has the hash of its text, and cannot be changed.
#[test]
fn a_version_stays_what_it_was() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let source = capture(&library, &id, "https://a.example", "A", "first");
    capture(&library, &id, "https://a.example", "A", "second");
    let versions = library.versions(&source, 0, 100).unwrap();
    let numbers: Vec<_> = versions.iter().map(|version| version.number).collect();
    assert_eq!(numbers, [1, 2]);
    assert_eq!(library.versions(&source, 1, 10).unwrap(), versions[1..]);
    assert_eq!(versions[0].hash, Hash::of(b"first"));
    let text = library.version_text(&versions[0].id).unwrap();
    assert_eq!((text.markdown.as_str(), text.version.number), ("first", 1));
    assert_eq!(library.current_text(&source).unwrap().unwrap().markdown, "second");
    let error = raw(home.path()).execute("UPDATE source_versions SET markdown = 'x'", []);
    assert!(error.unwrap_err().to_string().contains("never changed"));
}

/// LC-S5: a text that is not the one that was kept is not handed out.
#[test]
fn a_changed_text_is_not_handed_out() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let source = capture(&library, &id, "https://a.example", "A", "the true words");
    raw(home.path())
        .execute_batch(
            "DROP TRIGGER a_version_is_never_changed;
             UPDATE source_versions SET markdown = 'other words'",
        )
        .unwrap();
    let version = &library.versions(&source, 0, 100).unwrap()[0].id;
    for error in [
        library.version_text(version).unwrap_err(),
        library.current_text(&source).unwrap_err(),
        library.current_texts(&id, 0, 10).unwrap_err(),
    ] {
        assert!(matches!(error, LibraryError::Unsound(_)), "{error}");
    }
}

/// LC-S6: what has not changed makes no new version.
#[test]
fn the_same_text_is_the_same_version() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let source = capture(&library, &id, "https://a.example", "A", "text");
    let worker = Worker::start(&library).unwrap();
    for (outcome, at) in [(page("A, renamed", "text"), 40), (Outcome::NotModified, 50)] {
        library.refresh(&source, "{}", 35).unwrap();
        let Finished::Kept { version, found } =
            worker.finish(&claim(&worker), &outcome, at).unwrap()
        else {
            panic!("lost")
        };
        let shown = library.source(&source).unwrap();
        assert_eq!((found, shown.current_version), (Found::Unchanged, Some(version)));
        assert_eq!((shown.title.as_str(), shown.checked_at_ms), ("A, renamed", Some(at)));
    }
    // Back to what it was before is a change, too.
    capture(&library, &id, "https://a.example", "A", "other");
    capture(&library, &id, "https://a.example", "A", "text");
    assert_eq!(library.versions(&source, 0, 100).unwrap().len(), 3);
    library.verify().unwrap();
}

/// LC-S6: nothing can be unchanged that was never there.
#[test]
fn the_first_answer_is_not_unchanged() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    enqueue(&library, &id, &[url("https://a.example")]);
    let worker = Worker::start(&library).unwrap();
    let job = claim(&worker);
    let error = worker.finish(&job, &Outcome::NotModified, 5).unwrap_err();
    assert!(matches!(error, LibraryError::Invalid { .. }), "{error}");
    // The job is still at hand.
    worker.finish(&job, &page("A", "text"), 6).unwrap();
}

/// LC-S7: a failed refresh hides nothing.
#[test]
fn a_captured_source_stays_captured() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let source = capture(&library, &id, "https://a.example", "A", "good words");
    let before = library.source(&source).unwrap();
    library.refresh(&source, "{}", 40).unwrap();
    let worker = Worker::start(&library).unwrap();
    let fault = Fault::new("gone", "the server says 410");
    worker.fail(&claim(&worker), &fault, Retry::Never, 50).unwrap();
    let after = library.source(&source).unwrap();
    assert_eq!(after.status, SourceStatus::Captured);
    assert_eq!(after.current_version, before.current_version);
    assert_eq!(after.fault, Some(fault));
    assert_eq!(library.current_text(&source).unwrap().unwrap().markdown, "good words");
    // The next success takes the fault away.
    capture(&library, &id, "https://a.example", "A", "good words");
    assert_eq!(library.source(&source).unwrap().fault, None);
}

/// LC-S7: one that was never fetched has failed, and says why.
#[test]
fn a_source_that_was_never_fetched_has_failed() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let source = enqueue(&library, &id, &[url("https://a.example")]).remove(0).source_id;
    assert_eq!(library.source(&source).unwrap().status, SourceStatus::Pending);
    let worker = Worker::start(&library).unwrap();
    let fault = Fault::new("refused", "x".repeat(100_000));
    worker.fail(&claim(&worker), &fault, Retry::Never, 50).unwrap();
    let failed = library.source(&source).unwrap();
    assert_eq!(failed.status, SourceStatus::Failed);
    assert!(failed.fault.unwrap().text.len() < 3000, "an error may hold what a server sent");
    // It can be handed in once more.
    let again = enqueue(&library, &id, &[url("https://a.example")]).remove(0);
    assert!(matches!(again.queueing, Queueing::Queued(_)));
}

#[test]
fn all_that_was_captured_is_kept() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let mut source = url("https://a.example");
    source.title = Some(" my own\nname ".to_owned());
    enqueue(&library, &id, &[source]);
    let captured = Captured {
        title: "Page".to_owned(),
        byline: Some("Somebody".to_owned()),
        media_type: "text/html".to_owned(),
        final_address: Some("https://a.example/end".to_owned()),
        markdown: "# Ä\n\nfive words and a heading".to_owned(),
        links: vec![SourceLink {
            url: "https://b.example".to_owned(),
            text: "b".to_owned(),
            context: "see b".to_owned(),
        }],
        signals: vec!["paywall_or_login".to_owned()],
        etag: Some("\"1\"".to_owned()),
        last_modified: Some("bad\r\nHeader: x".to_owned()),
    };
    let worker = Worker::start(&library).unwrap();
    let job = claim(&worker);
    worker.finish(&job, &Outcome::Captured(Box::new(captured.clone())), 77).unwrap();
    let text = library.current_text(&job.source_id).unwrap().unwrap();
    assert_eq!(text.title, "my own name");
    assert_eq!(text.address.as_deref(), Some("https://a.example"));
    assert_eq!(text.markdown, captured.markdown);
    let version = text.version;
    assert_eq!((version.title.as_str(), version.byline), ("Page", captured.byline));
    assert_eq!((version.links, version.signals), (captured.links, captured.signals));
    assert_eq!((version.chars, version.words, version.captured_at_ms), (29, 7, 77));
    // The next time the server is told what it said, unless that would be another header.
    library.refresh(&job.source_id, r#"{"mode":"list"}"#, 80).unwrap();
    let again = claim(&worker);
    assert_eq!((again.etag.as_deref(), again.last_modified), (Some("\"1\""), None));
    assert_eq!(again.options, r#"{"mode":"list"}"#);
}

#[test]
fn a_note_is_a_source_at_once() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let note = library.add_note(&id, None, "\n## Packing list\n\n- socks", 5).unwrap();
    assert_eq!((note.title.as_str(), note.origin.kind), ("Packing list", SourceKind::Note));
    assert_eq!(note.status, SourceStatus::Captured);
    let named = library.add_note(&id, Some("Mine"), "text", 5).unwrap();
    assert_eq!(named.title, "Mine");
    assert!(matches!(library.refresh(&note.id, "{}", 6), Err(LibraryError::Invalid { .. })));
    assert!(matches!(library.add_note(&id, None, " \n", 6), Err(LibraryError::Invalid { .. })));
}

/// LC-S23: a source goes with its versions and jobs.
#[test]
fn a_removed_source_is_gone() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let source = capture(&library, &id, "https://a.example", "A", "words");
    library.remove_source(&source, 90).unwrap();
    assert!(matches!(library.source(&source), Err(LibraryError::NotFound { .. })));
    assert!(matches!(library.versions(&source, 0, 100), Err(LibraryError::NotFound { .. })));
    assert_eq!(library.verify().unwrap().versions, 0);
    assert_eq!(library.collection(&id).unwrap().updated_at_ms, 90);
    assert!(library.remove_source(&source, 91).is_err());
}

/// LC-S24: what is too large is refused, whole.
#[test]
fn a_text_has_a_size() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    capture(&library, &id, "https://a.example", "A", &"x".repeat(MAX_BODY));
    enqueue(&library, &id, &[url("https://b.example")]);
    let worker = Worker::start(&library).unwrap();
    let job = claim(&worker);
    let error = worker.finish(&job, &page("B", &"x".repeat(MAX_BODY + 1)), 5).unwrap_err();
    assert!(matches!(error, LibraryError::TooLarge { limit: MAX_BODY, .. }));
    let long = url(&format!("https://{}", "x".repeat(20_000)));
    let sources = [url("https://c.example"), long];
    assert!(matches!(
        library.enqueue(&id, &sources, "{}", 1),
        Err(LibraryError::TooLarge { what: "an address", .. })
    ));
    assert!(library.enqueue(&id, &sources[..1], "{not json", 1).is_err());
    assert!(library.enqueue(&id, &sources[..1], &"[".repeat(100_000), 1).is_err());
    assert_eq!(library.sources(&id, 0, 10).unwrap().len(), 2, "all or none");
}

#[test]
fn texts_are_read_page_by_page() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    for number in 0..7 {
        library.add_note(&id, None, &format!("note {number}"), 5).unwrap();
        enqueue(&library, &id, &[url(&format!("https://{number}.example"))]);
    }
    let (mut read, mut after) = (Vec::new(), 0);
    loop {
        let page = library.current_texts(&id, after, 3).unwrap();
        let Some(last) = page.last() else { break };
        after = last.num;
        read.extend(page.into_iter().map(|text| text.markdown));
    }
    let expected: Vec<_> = (0..7).map(|number| format!("note {number}")).collect();
    assert_eq!(read, expected);
    // However many are asked for, an answer has a size.
    for number in 0..20 {
        library.add_note(&id, None, &format!("{number}{}", "x".repeat(2_000_000)), 5).unwrap();
    }
    let bytes: usize =
        library.current_texts(&id, 0, 1000).unwrap().iter().map(|text| text.markdown.len()).sum();
    assert!((32 << 20..36 << 20).contains(&bytes), "{bytes}");
}

/// LC-S30: the address that is fetched is given to the worker, and to nobody who shows it.
#[test]
fn what_is_fetched_is_not_what_is_shown() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let secret = "https://a.example/x?key=sesame";
    let source = sabir_store::library::NewSource {
        fetch_address: Some(secret.to_owned()),
        normalized: secret.to_owned(),
        ..url("https://a.example/x")
    };
    enqueue(&library, &id, &[source, url("https://a.example/x")]);
    let worker = Worker::start(&library).unwrap();
    let [first, second] = [claim(&worker), claim(&worker)];
    assert_eq!(first.fetch_address.as_deref(), Some(secret));
    assert_eq!(second.fetch_address.as_deref(), Some("https://a.example/x"));
    worker.finish(&first, &page("", "text"), 30).unwrap();
    let shown = format!(
        "{:?} {:?}",
        library.source(&first.source_id).unwrap(),
        library.current_text(&first.source_id).unwrap()
    );
    assert!(!shown.contains("sesame") && shown.contains("https://a.example/x"), "{shown}");
    // Whoever fetches it again knows what there is, and how it was fetched.
    library.refresh(&first.source_id, r#"{"mode":"list"}"#, 80).unwrap();
    let again = claim(&worker);
    assert_eq!(again.current, library.source(&first.source_id).unwrap().current_version);
    assert_eq!(
        (again.options.as_str(), again.current_options.as_deref()),
        (r#"{"mode":"list"}"#, Some("{}"))
    );
}

/// A file without a title is called by its name, not by where it lies.
#[test]
fn a_file_is_called_by_its_name() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let file = sabir_store::library::NewSource {
        kind: SourceKind::File,
        ..url("/data/papers/private/notes.txt")
    };
    enqueue(&library, &id, &[file]);
    let worker = Worker::start(&library).unwrap();
    let job = claim(&worker);
    assert_eq!(library.source(&job.source_id).unwrap().title, "notes.txt");
    worker.finish(&job, &page("", "text"), 30).unwrap();
    assert_eq!(library.source(&job.source_id).unwrap().title, "notes.txt");
}
