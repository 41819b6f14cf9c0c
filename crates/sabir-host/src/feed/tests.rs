//! Viewers of every speed beside a writer.

use std::sync::Arc;
use std::thread;

use futures_util::StreamExt as _;
use sabir_store::{Batch, Entry, SessionFacts, SessionId, Store, StoreError};

use super::{Feed, FeedScope, FeedStream, RECENT};

fn open() -> (tempfile::TempDir, Store, Feed) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    let feed = Feed::new(&store);
    for id in ["one", "two"] {
        let (cwd, model) = (String::new(), String::new());
        let facts = SessionFacts { cwd, model, title: None, parent: None };
        store.append_and_wait(batch(id, vec![Entry::Session(facts)])).unwrap();
    }
    (home, store, feed)
}

fn batch(id: &str, entries: Vec<Entry>) -> Batch {
    Batch { session_id: SessionId::new(id), at_ms: 1, entries }
}

fn items(bodies: impl Iterator<Item = String>) -> Vec<Entry> {
    bodies.map(|body| Entry::Item { body }).collect()
}

async fn rest(stream: FeedStream) -> Vec<u64> {
    stream.map(|line| line.unwrap().seq).collect().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_viewer_gets_every_row_once_and_in_order() {
    const BATCHES: u64 = 300;
    let (_home, store, feed) = open();
    let mut viewers = Vec::new();
    let mut of_one = Vec::new();
    let writer = thread::spawn({
        let store = store.clone();
        move || {
            for number in 0..BATCHES {
                let id = if number % 2 == 0 { "one" } else { "two" };
                let bodies = (0..7).map(|row| format!("{number} {row}"));
                store.append_and_wait(batch(id, items(bodies))).unwrap();
            }
        }
    });
    // Some begin at the start, some in the middle, and some before what they want is there.
    for number in 0..40 {
        let after = number * 20;
        viewers.push((after, tokio::spawn(rest(feed.follow(FeedScope::All, after)))));
        let scope = FeedScope::Session(SessionId::new("one"));
        of_one.push((after, tokio::spawn(rest(feed.follow(scope, after)))));
        tokio::task::yield_now().await;
    }
    writer.join().unwrap();
    let last = 2 + BATCHES * 7;
    assert_eq!(feed.last(), last);
    // The streams end with the store, with everything that was written before.
    drop(store);
    for (after, viewer) in viewers {
        assert_eq!(viewer.await.unwrap(), (after + 1..=last).collect::<Vec<_>>());
    }
    let is_of_one = |seq: &u64| *seq == 1 || *seq > 2 && ((seq - 3) / 7).is_multiple_of(2);
    for (after, viewer) in of_one {
        let expected: Vec<u64> = (after + 1..=last).filter(is_of_one).collect();
        assert_eq!(viewer.await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_viewer_that_stalls_goes_on_from_disk_and_costs_no_memory() {
    let (_home, store, feed) = open();
    let mut stalled = feed.follow(FeedScope::All, 0);
    assert_eq!(stalled.next().await.unwrap().unwrap().seq, 1);
    let mut quick = feed.follow(FeedScope::All, 2);
    let rounds = 3 * RECENT.lines as u64 / 512;
    for round in 0..rounds {
        let bodies = (0..512).map(|row| format!("{round} {row}"));
        store.append_and_wait(batch("one", items(bodies))).unwrap();
        for row in 0..512 {
            assert_eq!(quick.next().await.unwrap().unwrap().seq, 3 + round * 512 + row);
        }
        let recent = feed.0.recent();
        assert!(recent.lines.len() <= RECENT.lines, "{}", recent.lines.len());
    }
    // What it comes back for is not shared any more.
    assert!(feed.0.recent().lines.front().unwrap().seq > 3);
    drop(store);
    assert_eq!(rest(stalled).await, (2..=2 + rounds * 512).collect::<Vec<_>>());
    assert_eq!(rest(quick).await, Vec::<u64>::new());
}

/// Whoever is in the middle of reading when nobody asks it for more holds up nobody.
#[tokio::test]
async fn a_viewer_that_is_left_alone_while_it_reads_holds_up_nobody() {
    let (_home, store, feed) = open();
    let mut left_alone = Vec::new();
    for number in 0..8 {
        store.append_and_wait(batch("one", items([number.to_string()].into_iter()))).unwrap();
        let last = feed.last();
        let mut viewer = feed.follow(FeedScope::All, last - 1);
        assert!(futures_util::poll!(viewer.next()).is_pending());
        left_alone.push(viewer);
        let mut other = feed.follow(FeedScope::All, last - 1);
        assert_eq!(other.next().await.unwrap().unwrap().seq, last);
    }
}

#[tokio::test]
async fn large_rows_are_bounded_by_their_size() {
    let (_home, store, feed) = open();
    let mut viewer = feed.follow(FeedScope::All, 2);
    let sizes = [RECENT.bytes / 3, RECENT.bytes + 1, 10, RECENT.bytes / 2, RECENT.bytes / 2, 10];
    for (seq, size) in (3..).zip(sizes) {
        store.append_and_wait(batch("one", items(["x".repeat(size)].into_iter()))).unwrap();
        let line = viewer.next().await.unwrap().unwrap();
        assert_eq!((line.seq, line.body.len()), (seq, size));
        assert!(feed.0.recent().bytes <= RECENT.bytes);
    }
    drop(store);
    assert_eq!(rest(feed.follow(FeedScope::All, 2)).await, (3..=8).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_is_new_is_read_once_for_all() {
    let (_home, store, feed) = open();
    let mut viewers: Vec<_> = (0..50).map(|_| feed.follow(FeedScope::All, 2)).collect();
    store.append_and_wait(batch("one", items(["a".to_owned()].into_iter()))).unwrap();
    let first = viewers[0].next().await.unwrap().unwrap();
    for viewer in &mut viewers[1..] {
        assert!(Arc::ptr_eq(&first, &viewer.next().await.unwrap().unwrap()));
    }
}

#[tokio::test]
async fn a_row_is_counted_before_its_writer_hears_of_it() {
    let (_home, store, feed) = open();
    assert_eq!(feed.last(), 2);
    assert_eq!(Feed::new(&store).last(), 2);
    let mut watch = feed.watch();
    watch.mark_unchanged();
    let receipt = store.append_and_wait(batch("two", items(["a".to_owned()].into_iter()))).unwrap();
    assert_eq!(feed.last(), receipt.last_seq);
    assert!(watch.has_changed().unwrap());
}

#[tokio::test]
async fn a_journal_that_cannot_be_read_is_an_error_and_then_the_end() {
    let (home, store, feed) = open();
    std::fs::remove_file(home.path().join("sabir.db")).unwrap();
    let mut viewer = feed.follow(FeedScope::All, 0);
    let error = viewer.next().await.unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    assert!(viewer.next().await.is_none());
    drop(store);
}
