//! Libraries with something in them.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;
use sabir_store::library::{
    Captured, Collection, CollectionId, Enqueued, Ids, Job, JobId, Library, NewSource, Outcome,
    Queueing, SourceId, SourceKind, Whose, Worker,
};

/// Never the same twice, neither in this process nor in one beside it.
pub(crate) fn ids() -> impl Ids + Send + 'static {
    || {
        static DRAWN: AtomicU64 = AtomicU64::new(0);
        let drawn = DRAWN.fetch_add(1, Ordering::Relaxed);
        let mut bytes = [0; 10];
        bytes[..4].copy_from_slice(&std::process::id().to_be_bytes());
        bytes[4..].copy_from_slice(&drawn.to_be_bytes()[2..]);
        bytes
    }
}

pub(crate) fn open(home: &Path) -> Library {
    Library::open(home, ids()).unwrap()
}

/// The file as somebody else sees it, who knows no rules.
pub(crate) fn raw(home: &Path) -> Connection {
    Connection::open(home.join("library.db")).unwrap()
}

pub(crate) fn collection(library: &Library, title: &str) -> Collection {
    library.create_collection(title, &[], 1).unwrap()
}

pub(crate) fn url(address: &str) -> NewSource {
    NewSource {
        kind: SourceKind::Url,
        address: address.to_owned(),
        fetch_address: None,
        normalized: address.trim_end_matches('/').to_owned(),
        title: None,
    }
}

pub(crate) fn urls(count: usize) -> Vec<NewSource> {
    (0..count).map(|number| url(&format!("https://example.com/{number}"))).collect()
}

pub(crate) fn page(title: &str, markdown: &str) -> Outcome {
    Outcome::Captured(Box::new(Captured {
        title: title.to_owned(),
        media_type: "text/html".to_owned(),
        markdown: markdown.to_owned(),
        ..Captured::default()
    }))
}

pub(crate) fn enqueue(
    library: &Library,
    collection: &CollectionId,
    sources: &[NewSource],
) -> Vec<Enqueued> {
    library.enqueue(collection, sources, "{}", 10).unwrap()
}

pub(crate) fn queued(enqueued: &Enqueued) -> &JobId {
    match &enqueued.queueing {
        Queueing::Queued(id) => id,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn claim(worker: &Worker) -> Job {
    worker.claim_next(None, Whose::Anyones, 20).unwrap().unwrap()
}

/// A source of the collection, captured with that text.
pub(crate) fn capture(
    library: &Library,
    collection: &CollectionId,
    address: &str,
    title: &str,
    markdown: &str,
) -> SourceId {
    let worker = Worker::start(library).unwrap();
    let enqueued = enqueue(library, collection, &[url(address)]).remove(0);
    if enqueued.queueing == Queueing::AlreadyCaptured {
        library.refresh(&enqueued.source_id, "{}", 10).unwrap();
    }
    let job = worker.claim_next(Some(collection), Whose::Anyones, 20).unwrap().unwrap();
    assert_eq!(job.source_id, enqueued.source_id);
    worker.finish(&job, &page(title, markdown), 30).unwrap();
    enqueued.source_id
}
