//! Any batches: readers see what a plain list of them says, and the tables made again are the same.

use std::path::Path;

use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;
use sabir_store::{ApprovalState, Batch, Entry, Parent, Scope, SessionFacts, SessionFilter, Store};

use crate::sample::{home, session};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,3}",
        any::<String>(),
        Just(r#"{"op":{"type":"user_input","items":[{"text":"hi"}]}}"#.to_owned())
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    let state = prop::sample::select(vec![
        ApprovalState::Requested,
        ApprovalState::Approved,
        ApprovalState::ApprovedForSession,
        ApprovalState::Denied,
        ApprovalState::Aborted,
        ApprovalState::Expired,
    ]);
    let facts = (text(), text(), prop::option::of(text()), prop::option::of((text(), text())));
    prop_oneof![
        facts.prop_map(|(cwd, model, title, parent)| {
            let parent = parent.map(|(id, response_id)| Parent {
                session_id: session(&id),
                response_id: Some(response_id),
            });
            Entry::Session(SessionFacts { cwd, model, title, parent })
        }),
        (text(), text()).prop_map(|(sub_id, body)| Entry::Submission { sub_id, body }),
        (text(), text(), text()).prop_map(|(sub_id, kind, body)| Entry::Event {
            sub_id,
            kind,
            body
        }),
        text().prop_map(|body| Entry::Item { body }),
        (text(), text()).prop_map(|(response_id, body)| Entry::Turn { response_id, body }),
        (text(), state, text()).prop_map(|(call_id, state, body)| Entry::Approval {
            call_id,
            state,
            body
        }),
        (text(), text()).prop_map(|(kind, body)| Entry::Note { kind, body }),
    ]
}

fn batches() -> impl Strategy<Value = Vec<Batch>> {
    let id = prop::sample::select(vec!["a", "b", "ä\u{0}"]);
    let batch = (id, 0..5_u64, prop::collection::vec(entry(), 1..6))
        .prop_map(|(id, at_ms, entries)| Batch { session_id: session(id), at_ms, entries });
    prop::collection::vec(batch, 0..12)
}

/// The tables row by row, without the journal and without how far they follow it.
fn tables(home: &Path) -> Vec<(String, Vec<Vec<Value>>)> {
    let connection = Connection::open(home.join("sabir.db")).unwrap();
    let names = "SELECT name FROM sqlite_schema
                 WHERE type = 'table' AND name NOT IN ('journal', 'peer_mark')";
    let names: Vec<String> = {
        let mut statement = connection.prepare(names).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(names.len(), 18, "{names:?}");
    let rows = |name: &String| {
        let mut statement =
            connection.prepare(&format!("SELECT * FROM {name} ORDER BY 1")).unwrap();
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..columns).map(|index| row.get(index)).collect())
            .unwrap();
        rows.map(Result::unwrap).collect()
    };
    names.into_iter().map(|name| (name.clone(), rows(&name))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn readers_see_what_was_written(batches in batches(), together: bool) {
        let home = home();
        let store = Store::open(home.path()).unwrap();
        let mut written: Vec<(String, u64, Entry)> = Vec::new();
        for batch in batches {
            let id = batch.session_id.as_str().to_owned();
            let known = written.iter().any(|(other, ..)| *other == id);
            let starts = matches!(batch.entries[0], Entry::Session(_));
            if known || starts {
                let at_ms = batch.at_ms;
                written.extend(batch.entries.iter().map(|it| (id.clone(), at_ms, it.clone())));
            }
            if together {
                store.append_blocking(batch, move |result| assert_eq!(result.is_ok(), known || starts));
            } else {
                prop_assert_eq!(store.append_and_wait(batch).is_ok(), known || starts);
            }
        }
        drop(store);
        let reader = crate::sample::reader(home.path());
        prop_assert_eq!(reader.verify().unwrap().entries, written.len() as u64);
        let lines = reader.journal(Scope::All, 0, usize::MAX).unwrap();
        let ids: Vec<_> = lines.iter().map(|it| it.session_id.as_str().to_owned()).collect();
        prop_assert_eq!(ids, written.iter().map(|it| it.0.clone()).collect::<Vec<_>>());

        let summaries = reader.sessions(&SessionFilter::default()).unwrap();
        for summary in &summaries {
            let own: Vec<_> = (1_u64..)
                .zip(&written)
                .filter(|(_, (id, ..))| id == summary.id.as_str())
                .collect();
            let seqs: Vec<u64> = own.iter().map(|(seq, _)| *seq).collect();
            let journal = reader.journal(Scope::Session(&summary.id), 0, usize::MAX).unwrap();
            prop_assert_eq!(journal.iter().map(|it| it.seq).collect::<Vec<_>>(), seqs);

            let records: Vec<_> = reader.records(&summary.id).unwrap();
            let expected: Vec<_> = own
                .iter()
                .filter(|(_, (_, _, entry))| !matches!(
                    entry,
                    Entry::Session(_) | Entry::Submission { .. } | Entry::Event { .. }
                ))
                .map(|(seq, (_, at_ms, entry))| (*seq, *at_ms, entry.clone()))
                .collect();
            let records: Vec<_> =
                records.into_iter().map(|it| (it.seq, it.at_ms, it.entry)).collect();
            prop_assert_eq!(records, expected);

            let turns: Vec<_> = own.iter().filter_map(|(_, (_, _, entry))| match entry {
                Entry::Turn { response_id, .. } => Some(response_id.clone()),
                _ => None,
            }).collect();
            let items = own.iter().filter(|(_, it)| matches!(it.2, Entry::Item { .. })).count();
            prop_assert_eq!((summary.turns, summary.items), (turns.len() as u64, items as u64));
            prop_assert_eq!(summary.last_response_id.as_ref(), turns.last());
            prop_assert_eq!(summary.created_at_ms, own.first().unwrap().1.1);
            prop_assert_eq!(summary.updated_at_ms, own.last().unwrap().1.1);
            let facts: Vec<_> = own.iter().filter_map(|(_, (_, _, entry))| match entry {
                Entry::Session(facts) => Some(facts),
                _ => None,
            }).collect();
            prop_assert_eq!(&summary.cwd, &facts.last().unwrap().cwd);
            let parent = facts.iter().rev().find_map(|it| it.parent.clone());
            prop_assert_eq!(&summary.parent, &parent);
        }

        let before = tables(home.path());
        Connection::open(home.path().join("sabir.db")).unwrap()
            .execute_batch("DELETE FROM turns; DELETE FROM events; UPDATE sessions SET items = 7")
            .unwrap();
        let store = Store::open(home.path()).unwrap();
        store.rebuild().unwrap();
        drop(store);
        prop_assert_eq!(tables(home.path()), before);
        reader.verify().unwrap();
    }
}

#[test]
fn a_rebuilt_store_goes_on() {
    let home = home();
    crate::sample::filled(home.path());
    crate::delegate_rows::filled(home.path());
    let store = Store::open(home.path()).unwrap();
    let before = tables(home.path());
    assert!(before.iter().all(|(_, rows)| !rows.is_empty()), "a table was not tried");
    store.rebuild().unwrap();
    assert_eq!(tables(home.path()), before);
    let item = crate::sample::item("after");
    store.append_and_wait(crate::sample::batch("s1", 4000, vec![item])).unwrap();
    assert_eq!(store.reader().unwrap().session(&session("s1")).unwrap().unwrap().items, 3);
    store.reader().unwrap().verify().unwrap();
}
