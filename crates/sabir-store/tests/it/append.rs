//! Appending: order, groups, bounds, and what is refused.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use sabir_store::{Entry, Options, Reader, Scope, Store, StoreError};

use crate::sample::{batch, facts, home, item, reader, session, turn, two_sessions};

#[test]
fn a_receipt_says_where_the_entries_stand() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let receipts: Vec<_> =
        two_sessions().into_iter().map(|it| store.append_and_wait(it).unwrap()).collect();
    let places: Vec<_> = receipts.iter().map(|it| (it.first_seq, it.last_seq)).collect();
    assert_eq!(places, [(1, 3), (4, 5), (6, 10)]);
    let verified = store.reader().unwrap().verify().unwrap();
    assert_eq!((verified.entries, verified.head_hash), (10, receipts[2].hash));
}

#[test]
fn threads_append_at_once_and_each_session_keeps_its_order() {
    const THREADS: usize = 8;
    const BATCHES: usize = 60;
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let acknowledged = Arc::new(Mutex::new(vec![Vec::new(); THREADS]));
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (store, acknowledged) = (store.clone(), Arc::clone(&acknowledged));
            scope.spawn(move || {
                let id = format!("s{number}");
                store.append_and_wait(batch(&id, 0, vec![facts()])).unwrap();
                for index in 0..BATCHES {
                    let entries = vec![item(&format!("{index}a")), item(&format!("{index}b"))];
                    let acknowledged = Arc::clone(&acknowledged);
                    store.append_blocking(batch(&id, index as u64, entries), move |result| {
                        let receipt = result.unwrap();
                        acknowledged.lock().unwrap()[number].push(receipt);
                    });
                }
            });
        }
    });
    drop(store);
    let reader = reader(home.path());
    for number in 0..THREADS {
        let records = reader.records(&session(&format!("s{number}"))).unwrap();
        let bodies: Vec<_> = records.iter().map(|it| it.entry.clone()).collect();
        let expected: Vec<_> = (0..BATCHES)
            .flat_map(|index| [item(&format!("{index}a")), item(&format!("{index}b"))])
            .collect();
        assert_eq!(bodies, expected);
        // The receipts name the places at which the entries of their batch stand, side by side.
        let receipts = &acknowledged.lock().unwrap()[number];
        let places: Vec<_> = receipts.iter().flat_map(|it| it.first_seq..=it.last_seq).collect();
        assert_eq!(places, records.iter().map(|it| it.seq).collect::<Vec<_>>());
    }
    assert_eq!(reader.verify().unwrap().entries, (THREADS * (1 + 2 * BATCHES)) as u64);
}

#[test]
fn a_full_queue_hands_the_batch_back() {
    let home = home();
    let options = Options { max_waiting_entries: 2, ..Options::default() };
    let store = Store::open_with(home.path(), &options).unwrap();
    // The writer is held inside a `done`, so that nothing is drained meanwhile.
    let (entered, is_held) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    store.append_blocking(batch("s", 0, vec![facts()]), move |_| {
        entered.send(()).unwrap();
        released.recv().unwrap();
    });
    is_held.recv().unwrap();
    let (sender, receiver) = mpsc::channel();
    let done = |name: &'static str| {
        let sender = sender.clone();
        move |result: Result<_, StoreError>| sender.send((name, result.is_ok())).unwrap()
    };
    store.append(batch("s", 1, vec![item("a"), item("b")]), done("first")).unwrap();
    let rejected = store.append(batch("s", 2, vec![item("c")]), done("second")).unwrap_err();
    assert_eq!(rejected.batch, batch("s", 2, vec![item("c")]));
    release.send(()).unwrap();
    assert_eq!(receiver.recv().unwrap(), ("first", true));
    store.append_blocking(rejected.batch, rejected.done);
    assert_eq!(receiver.recv().unwrap(), ("second", true));
    assert_eq!(store.reader().unwrap().records(&session("s")).unwrap().len(), 3);
}

#[test]
fn a_batch_over_the_bound_is_taken_by_an_empty_queue() {
    let home = home();
    let options = Options { max_waiting_bytes: 1, max_waiting_entries: 1, ..Options::default() };
    let store = Store::open_with(home.path(), &options).unwrap();
    store.append_and_wait(batch("s", 0, vec![facts(), item("a"), item("b")])).unwrap();
}

#[test]
fn the_writer_itself_never_waits_for_room() {
    let home = home();
    let options = Options { max_waiting_entries: 1, ..Options::default() };
    let store = Store::open_with(home.path(), &options).unwrap();
    let (sender, receiver) = mpsc::channel();
    let inner = store.clone();
    store.append_blocking(batch("s", 0, vec![facts()]), move |_| {
        for index in 0..5 {
            let sender = sender.clone();
            inner.append_blocking(batch("s", index, vec![item("x")]), move |result| {
                sender.send(result.is_ok()).unwrap();
            });
        }
    });
    assert_eq!(receiver.iter().take(5).collect::<Vec<_>>(), [true; 5]);
}

#[test]
fn a_panic_in_done_harms_nobody_else() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    store.append_blocking(batch("s", 0, vec![facts()]), |_| panic!("not the store's fault"));
    assert!(store.append_and_wait(batch("s", 1, vec![item("x")])).is_ok());
}

#[test]
fn dropping_the_last_handle_writes_what_waits() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    store.append_blocking(batch("s", 0, vec![facts()]), |_| {});
    for index in 0..500 {
        store.append_blocking(batch("s", index, vec![item("x")]), |_| {});
    }
    drop(store);
    assert_eq!(reader(home.path()).verify().unwrap().entries, 501);
}

#[test]
fn a_handle_that_a_done_holds_may_be_the_last() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let (release, released) = mpsc::channel::<()>();
    let (sender, receiver) = mpsc::channel();
    let held = store.clone();
    store.append_blocking(batch("s", 0, vec![facts()]), move |_| {
        released.recv().unwrap();
        drop(held);
        sender.send(()).unwrap();
    });
    drop(store);
    release.send(()).unwrap();
    receiver.recv().unwrap();
}

#[test]
fn wrong_batches_are_refused_alone() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let refused = |it| store.append_and_wait(it).unwrap_err().to_string();
    assert_eq!(
        refused(batch("nobody", 0, vec![item("x"), facts()])),
        "session nobody is not in the store, and the batch does not start it"
    );
    assert_eq!(refused(batch("s", 0, vec![])), "the batch cannot be written: it has no entries");
    assert_eq!(
        refused(batch("s", u64::MAX, vec![facts()])),
        "the batch cannot be written: its time is too far away"
    );
    assert_eq!(
        refused(batch("", 0, vec![facts()])),
        "the batch cannot be written: a session id has 1 to 256 bytes"
    );
    let large = vec![facts(), item(&"x".repeat(64 << 20))];
    assert!(refused(batch("s", 0, large)).starts_with("an entry of 67108"));
    // None of it left a trace, and the store goes on.
    assert_eq!(store.append_and_wait(batch("s", 0, vec![facts()])).unwrap().first_seq, 1);
}

#[test]
fn bodies_are_kept_to_the_byte() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let bodies = ["", "\0", "a\0b", "no JSON", "\u{10FFFF}\r\n", &"long ".repeat(100_000)];
    let mut entries = vec![facts()];
    entries.extend(bodies.iter().map(|body| item(body)));
    store.append_and_wait(batch("s", 0, entries)).unwrap();
    let records = store.reader().unwrap().records(&session("s")).unwrap();
    let read: Vec<_> = records
        .iter()
        .map(|it| match &it.entry {
            Entry::Item { body } => body.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(read, bodies);
    store.reader().unwrap().verify().unwrap();
}

#[test]
fn the_same_ids_may_come_twice() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    for at in 0..2 {
        let entries = vec![facts(), crate::sample::user_input("1", "again"), turn("resp")];
        store.append_and_wait(batch("s", at, entries)).unwrap();
    }
    let lines = store.reader().unwrap().journal(Scope::All, 0, 100).unwrap();
    assert_eq!(lines.iter().filter(|it| it.kind == "submission" && it.key == "1").count(), 2);
    assert_eq!(store.reader().unwrap().find_response("resp").unwrap().unwrap().seq, 3);
}

#[test]
fn a_long_log_is_copied_while_a_reader_looks() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let beside: Reader = store.reader().unwrap();
    store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
    let body = "x".repeat(1 << 20);
    for at in 1..=20 {
        store.append_and_wait(batch("s", at, vec![item(&body)])).unwrap();
        assert_eq!(beside.records(&session("s")).unwrap().len() as u64, at);
    }
    // The log was used again from its start instead of growing with everything written.
    let log = std::fs::metadata(home.path().join("sabir.db-wal")).unwrap().len();
    assert!(log < 16 << 20, "the log has {log} bytes");
    assert_eq!(beside.verify().unwrap().entries, 21);
}
