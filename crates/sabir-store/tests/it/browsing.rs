//! Rows that are looked for, and only those.

use sabir_store::{Line, LineFilter, Reader, Store};

use crate::sample::{batch, event, facts, filled, home, item, reader, session};

fn numbers(lines: &[Line]) -> Vec<u64> {
    lines.iter().map(|line| line.seq).collect()
}

fn all(reader: &Reader, filter: &LineFilter) -> Vec<u64> {
    numbers(&reader.first_lines(filter, usize::MAX).unwrap())
}

#[test]
fn each_condition_rules_out_what_it_should() {
    let home = home();
    filled(home.path());
    let reader = reader(home.path());
    let every = LineFilter::default;
    assert_eq!(all(&reader, &every()), (1..=10).collect::<Vec<_>>());
    assert_eq!(reader.last_seq().unwrap(), 10);
    let of = |id: &str| LineFilter { session: Some(session(id)), ..every() };
    assert_eq!(all(&reader, &of("s2")), [4, 5]);
    assert_eq!(all(&reader, &of("nobody")), [0_u64; 0]);
    assert_eq!(all(&reader, &of("")), [0_u64; 0]);
    let kinds = |kinds: &[&str]| LineFilter {
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        ..every()
    };
    assert_eq!(all(&reader, &kinds(&["approval", "turn"])), [7, 8, 10]);
    assert_eq!(all(&reader, &LineFilter { tags: vec!["approved".to_owned()], ..every() }), [8]);
    assert_eq!(all(&reader, &LineFilter { key: Some("resp-1".to_owned()), ..every() }), [10]);
    let between = LineFilter { after: Some(3), before: Some(6), ..every() };
    assert_eq!(all(&reader, &between), [4, 5]);
    let times = LineFilter { since_ms: Some(2000), until_ms: Some(3000), ..every() };
    assert_eq!(all(&reader, &times), [4, 5]);
    assert_eq!(numbers(&reader.last_lines(&every(), 3).unwrap()), [8, 9, 10]);
    assert_eq!(numbers(&reader.first_lines(&of("s1"), 2).unwrap()), [1, 2]);
}

#[test]
fn words_are_found_as_they_are_meant_and_as_they_are_written() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let body = r#"{"text":"50% of\n\"a_b\""}"#;
    let entries =
        vec![facts(), item(body), item(r#"{"text":"axb"}"#), event("sub", "task_started")];
    store.append_and_wait(batch("Harbour", 1, entries)).unwrap();
    let found = |text: &str| {
        let filter = LineFilter { contains: Some(text.to_owned()), ..LineFilter::default() };
        all(&store.reader().unwrap(), &filter)
    };
    assert_eq!(found("50% OF"), [2]);
    assert_eq!(found("a_b"), [2]);
    assert_eq!(found("of\n\"a_b\""), [2]);
    assert_eq!(found("task_START"), [4]);
    assert_eq!(found("harbour"), [1, 2, 3, 4]);
    assert_eq!(found("nowhere"), [0_u64; 0]);
}

#[test]
fn a_row_is_found_by_its_number() {
    let home = home();
    filled(home.path());
    let reader = reader(home.path());
    let line = reader.line(8).unwrap().unwrap();
    assert_eq!((line.seq, line.kind.as_str(), line.tag.as_str()), (8, "approval", "approved"));
    assert_eq!(reader.line(11).unwrap(), None);
    assert_eq!(reader.line(0).unwrap(), None);
}

/// What is large comes in pieces, and all of it comes.
#[test]
fn large_bodies_come_in_pieces() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let large = format!("\"{}\"", "x".repeat(9 << 20));
    for at in 0..3 {
        let entries = vec![facts(), item(&large)];
        store.append_and_wait(batch("s", at, entries)).unwrap();
    }
    let reader = store.reader().unwrap();
    let mut filter = LineFilter::default();
    let mut seen = Vec::new();
    loop {
        let lines = reader.first_lines(&filter, 100).unwrap();
        let Some(last) = lines.last() else { break };
        assert!(lines.iter().map(|line| line.body.len()).sum::<usize>() <= 16 << 20);
        filter.after = Some(last.seq);
        seen.extend(numbers(&lines));
    }
    assert_eq!(seen, (1..=6).collect::<Vec<_>>());
}
