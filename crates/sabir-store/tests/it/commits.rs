//! Being told that more is on disk.

use std::sync::{Arc, Mutex, mpsc};

use sabir_store::Store;

use crate::sample::{batch, facts, home, item, two_sessions};

#[test]
fn a_listener_hears_the_last_number_at_once_and_then_each_time_before_the_writer() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listen = |store: &Store| {
        let heard = Arc::clone(&heard);
        store.on_commit(move |last| heard.lock().unwrap().push(last));
    };
    listen(&store);
    for expected in two_sessions() {
        let receipt = store.append_and_wait(expected).unwrap();
        assert_eq!(heard.lock().unwrap().last(), Some(&receipt.last_seq));
    }
    // What is refused is not told.
    store.append_and_wait(batch("nobody", 1, vec![item("a")])).unwrap_err();
    assert_eq!(*heard.lock().unwrap(), [0, 3, 5, 10]);
    drop(store);
    heard.lock().unwrap().clear();
    listen(&Store::open(home.path()).unwrap());
    assert_eq!(*heard.lock().unwrap(), [10]);
}

#[test]
fn who_listens_before_hears_once_of_all_that_are_written_together() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let heard = Arc::clone(&heard);
        move || heard.lock().unwrap().push(what)
    };
    store.append_and_wait(batch("s1", 1, vec![facts()])).unwrap();
    store.before_commit(note("begun"));
    let (entered, inside) = mpsc::channel();
    let (leave, left) = mpsc::channel::<()>();
    // While the writer tells this one, two more come, and are written together.
    store.append_blocking(batch("s1", 1, vec![item("a")]), move |_| {
        entered.send(()).unwrap();
        left.recv().unwrap();
    });
    inside.recv().unwrap();
    for what in ["b", "c"] {
        let said = note(what);
        store.append_blocking(batch("s1", 1, vec![item(what)]), move |_| said());
    }
    leave.send(()).unwrap();
    drop(store);
    assert_eq!(*heard.lock().unwrap(), ["begun", "begun", "b", "c"]);
}

#[test]
fn listeners_are_let_go_when_the_store_closes_and_their_panics_harm_nobody() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let (sender, receiver) = mpsc::channel();
    store.on_commit(|last| assert_eq!(last, 0, "a listener that fails"));
    store.on_commit(move |last| sender.send(last).unwrap());
    store.append_and_wait(batch("s1", 1, vec![facts(), item("a")])).unwrap();
    store.append_and_wait(batch("s1", 1, vec![item("b")])).unwrap();
    drop(store);
    // It ends, because the sender is gone.
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 2, 3]);
}
