//! What a reader sees: beside the owner, in order, and no more than it asked for.

use expect_test::expect;
use sabir_store::{
    ApprovalState, Bookmark, Entry, Line, Link, Parent, Scope, SessionFacts, SessionFilter, Store,
    entry_hash, genesis_hash,
};

use crate::sample::{
    approval, batch, facts, filled, home, item, note, reader, session, turn, user_input,
};

#[test]
fn what_resuming_needs_comes_in_order() {
    let home = home();
    filled(home.path());
    let reader = reader(home.path());
    let records = reader.records(&session("s1")).unwrap();
    let read: Vec<_> = records.into_iter().map(|it| (it.seq, it.at_ms, it.entry)).collect();
    assert_eq!(
        read,
        [
            (6, 3000, item(r#"{"role":"user"}"#)),
            (7, 3000, approval("call-1", ApprovalState::Requested)),
            (8, 3000, approval("call-1", ApprovalState::Approved)),
            (9, 3000, item(r#"{"role":"assistant"}"#)),
            (10, 3000, turn("resp-1")),
        ]
    );
    assert_eq!(reader.records(&session("s2")).unwrap()[0].entry, note("settings", "{}"));
    assert!(reader.records(&session("nobody")).unwrap().is_empty());
}

#[test]
fn a_list_of_sessions_starts_with_the_one_used_last() {
    let home = home();
    filled(home.path());
    let list = |filter: SessionFilter| {
        let sessions = reader(home.path()).sessions(&filter).unwrap();
        sessions.iter().map(|it| serde_json::to_string(it).unwrap()).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        {"id":"s1","created_at_ms":1000,"updated_at_ms":3000,"cwd":"/project","model":"m","title":"hello","parent":null,"turns":1,"items":2,"last_response_id":"resp-1"}
        {"id":"s2","created_at_ms":2000,"updated_at_ms":2000,"cwd":"/project","model":"m","title":null,"parent":null,"turns":0,"items":0,"last_response_id":null}"#]]
    .assert_eq(&list(SessionFilter::default()));
    let first = list(SessionFilter { limit: Some(1), ..Default::default() });
    assert!(first.starts_with(r#"{"id":"s1""#) && !first.contains('\n'));
    let elsewhere = SessionFilter { cwd: Some("/other".to_owned()), ..Default::default() };
    assert_eq!(list(elsewhere), "");
}

#[test]
fn later_facts_change_a_session_and_keep_its_title_and_parent() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let parent = Parent { session_id: session("p"), response_id: Some("r".to_owned()) };
    let fact = |model: &str, title: Option<&str>, parent: Option<&Parent>| {
        Entry::Session(SessionFacts {
            cwd: "/a".to_owned(),
            model: model.to_owned(),
            title: title.map(str::to_owned),
            parent: parent.cloned(),
        })
    };
    let summary = || store.reader().unwrap().session(&session("s")).unwrap().unwrap();
    let entries = vec![fact("m1", None, Some(&parent)), user_input("1", "first words")];
    store.append_and_wait(batch("s", 0, entries)).unwrap();
    assert_eq!(summary().title.as_deref(), Some("first words"));
    store.append_and_wait(batch("s", 1, vec![fact("m2", Some("named"), None)])).unwrap();
    store.append_and_wait(batch("s", 2, vec![fact("m3", None, None)])).unwrap();
    let summary = summary();
    assert_eq!(summary.title.as_deref(), Some("named"));
    assert_eq!((summary.model.as_str(), summary.parent), ("m3", Some(parent)));
    assert_eq!(store.reader().unwrap().session(&session("nobody")).unwrap(), None);
}

#[test]
fn a_response_is_found_without_its_session() {
    let home = home();
    filled(home.path());
    let store = Store::open(home.path()).unwrap();
    store.append_and_wait(batch("fork", 0, vec![facts(), turn("resp-1")])).unwrap();
    let found = reader(home.path()).find_response("resp-1").unwrap();
    assert_eq!(found, Some(Bookmark { session_id: session("s1"), seq: 10 }));
    assert_eq!(reader(home.path()).find_response("resp-2").unwrap(), None);
}

/// QP-J8: an export holds all that is needed to check it.
#[test]
fn an_export_can_be_checked_by_itself() {
    let home = home();
    filled(home.path());
    let lines = reader(home.path()).journal(Scope::All, 0, usize::MAX).unwrap();
    let exported: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    let verified = reader(home.path()).verify().unwrap();
    let mut previous = genesis_hash(&verified.store_id);
    for text in &exported {
        let line: Line = serde_json::from_str(text).unwrap();
        assert!(line.follows(&previous), "{text}");
        previous = line.hash;
    }
    assert_eq!(previous, verified.head_hash);
    let mut changed = lines[3].clone();
    changed.body.push(' ');
    assert!(!changed.follows(&lines[2].hash));
}

#[test]
fn the_journal_is_read_page_by_page() {
    let home = home();
    filled(home.path());
    let reader = reader(home.path());
    let pages = |scope: Scope<'_>| {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let page = reader.journal(scope, after, 3).unwrap();
            assert!(page.len() <= 3);
            let Some(last) = page.last() else { return all };
            after = last.seq;
            all.extend(page.iter().map(|it| it.seq));
        }
    };
    assert_eq!(pages(Scope::All), (1..=10).collect::<Vec<_>>());
    assert_eq!(pages(Scope::Session(&session("s1"))), [1, 2, 3, 6, 7, 8, 9, 10]);
    assert_eq!(pages(Scope::Session(&session("s2"))), [4, 5]);
}

#[test]
fn a_reader_beside_the_owner_sees_what_was_acknowledged() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let beside = reader(home.path());
    store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
    for at in 1..50 {
        store.append_and_wait(batch("s", at, vec![item("x")])).unwrap();
        assert_eq!(beside.records(&session("s")).unwrap().len() as u64, at);
        assert_eq!(beside.verify().unwrap().entries, at + 1);
    }
}

/// QP-J13: what an export needs, to be held against the chain without the other sessions.
#[test]
fn every_entry_follows_the_hash_before_it() {
    let home = home();
    filled(home.path());
    let reader = reader(home.path());
    let lines = reader.journal(Scope::All, 0, 100).unwrap();
    for line in &lines {
        let link = Link {
            seq: line.seq,
            session_id: line.session_id.as_str().as_bytes(),
            at_ms: line.at_ms,
            kind: line.kind.as_bytes(),
            tag: line.tag.as_bytes(),
            key: line.key.as_bytes(),
            body: line.body.as_bytes(),
        };
        assert_eq!(entry_hash(&reader.hash_before(line.seq).unwrap(), &link), line.hash);
    }
    assert!(reader.hash_before(lines.len() as u64 + 2).is_err());
}
