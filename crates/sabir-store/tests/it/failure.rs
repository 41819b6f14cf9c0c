//! A disk that takes no more: nothing half, and everyone is told.

use sabir_store::{Options, Store, StoreError};

use crate::child::Child;
use crate::sample::{batch, facts, home, item, reader, session};

#[test]
fn a_full_database_fails_the_store_and_keeps_no_half_batch() {
    let home = home();
    let options = Options { max_bytes: Some(400_000), ..Options::default() };
    let store = Store::open_with(home.path(), &options).unwrap();
    store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
    let body = "x".repeat(10_000);
    let mut written = 0;
    let error = loop {
        match store.append_and_wait(batch("s", 1, vec![item(&body), item(&body), item(&body)])) {
            Ok(_) => written += 3,
            Err(error) => break error,
        }
        assert!(written < 1000, "the bound was ignored");
    };
    assert!(matches!(error, StoreError::Failed { .. }), "{error:?}");
    assert!(error.to_string().contains("database or disk is full"), "{error}");
    // Also what would fit: it might depend on what was lost.
    for _ in 0..2 {
        assert_eq!(store.append_and_wait(batch("s", 2, vec![item("x")])), Err(error.clone()));
        assert_eq!(store.rebuild(), Err(error.clone()));
    }
    let reader = store.reader().unwrap();
    assert_eq!(reader.records(&session("s")).unwrap().len(), written);
    assert_eq!(reader.verify().unwrap().entries, 1 + written as u64);
    drop(store);
    // With room it goes on where it was.
    let store = Store::open(home.path()).unwrap();
    let receipt = store.append_and_wait(batch("s", 3, vec![item("x")])).unwrap();
    assert_eq!(receipt.first_seq, 2 + written as u64);
    reader.verify().unwrap();
}

#[test]
fn who_listens_for_a_failure_hears_of_it_once_whoever_wrote() {
    let home = home();
    let options = Options { max_bytes: Some(200_000), ..Options::default() };
    let store = Store::open_with(home.path(), &options).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let listen = || {
        let sender = sender.clone();
        store.on_failure(move |failure| sender.send(failure.clone()).unwrap());
    };
    listen();
    store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
    assert!(receiver.try_recv().is_err());
    let lost = store.append_and_wait(batch("s", 1, vec![item(&"x".repeat(500_000))])).unwrap_err();
    assert_eq!(store.append_and_wait(batch("s", 2, vec![item("x")])), Err(lost.clone()));
    // Also who comes late.
    listen();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [lost.clone(), lost]);
}

#[test]
fn everyone_in_a_failed_group_is_told() {
    let home = home();
    let options = Options { max_bytes: Some(200_000), ..Options::default() };
    let store = Store::open_with(home.path(), &options).unwrap();
    store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let body = "x".repeat(10_000);
    for at in 0..100 {
        let sender = sender.clone();
        store.append_blocking(batch("s", at, vec![item(&body)]), move |result| {
            sender.send(result.is_ok()).unwrap();
        });
    }
    drop(sender);
    let results: Vec<bool> = receiver.iter().collect();
    assert_eq!(results.len(), 100);
    let written = results.iter().take_while(|it| **it).count();
    assert!(results[written..].iter().all(|it| !it), "an entry followed one that was lost");
    assert!(written < 100);
    assert_eq!(store.reader().unwrap().records(&session("s")).unwrap().len(), written);
}

/// A write that the system refuses, in the log and not in the database.
#[cfg(target_os = "linux")]
#[test]
fn a_failed_write_fails_the_store() {
    let home = home();
    let mut child = Child::start_limited("append-until-it-fails", home.path(), 2000);
    let mut acknowledged = 0;
    let error = loop {
        let line = child.line().unwrap();
        match line.split_once(' ').unwrap() {
            ("ack", seq) => acknowledged = seq.parse().unwrap(),
            ("error", text) => break text.to_owned(),
            _ => panic!("{line}"),
        }
    };
    assert!(error.starts_with("the journal takes no more entries because a write failed"));
    assert_eq!(child.line().unwrap(), format!("again {error}"));
    drop(child);
    assert!(acknowledged > 10);
    let entries = reader(home.path()).verify().unwrap().entries;
    assert_eq!(entries, acknowledged);
    Store::open(home.path()).unwrap();
}
