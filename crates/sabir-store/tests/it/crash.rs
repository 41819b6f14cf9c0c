//! kill -9: what was acknowledged is there, what was not is there whole or not at all.

use std::collections::BTreeMap;

use proptest::test_runner::{RngAlgorithm, TestRng};
use sabir_store::{Entry, Reader, Scope, SessionId, Store};

use crate::child::Child;
use crate::sample::{batch, facts, home, reader};

/// QP-J12: an acknowledged batch survives the death of the process.
#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    // Different points every time would make a failure impossible to see again.
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let home = home();
    let mut acknowledged = 0;
    for _ in 0..50 {
        let mut child = Child::start("append", home.path());
        let mut last: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let mut keep = |line: String| {
            let mut words = line.split(' ').skip(1);
            let mut next = || words.next().unwrap().to_owned();
            let (id, index, seq) = (next(), next().parse().unwrap(), next().parse().unwrap());
            last.insert(id, (index, seq));
            acknowledged = acknowledged.max(seq);
        };
        // From before the first acknowledgement to somewhere between two of them.
        for _ in 0..random_below(&mut random, 60) {
            keep(child.line().unwrap());
        }
        for _ in 0..random_below(&mut random, 200_000) {
            std::hint::spin_loop();
        }
        child.kill().into_iter().for_each(&mut keep);

        // Readable at once, before an owner has looked at it.
        if let Ok(reader) = Reader::open(home.path()) {
            let verified = reader.verify().unwrap();
            assert!(verified.entries >= acknowledged);
            for (id, &(index, seq)) in &last {
                check_batch(&reader, &SessionId::new(id.as_str()), index, seq);
            }
        } else {
            assert_eq!(acknowledged, 0);
        }
        // The lock died with its owner.
        drop(Store::open(home.path()).unwrap());
        assert!(reader(home.path()).verify().unwrap().entries >= acknowledged);
    }
    assert!(acknowledged > 100, "the child hardly wrote anything");
    whole_batches(&reader(home.path()));
    let store = Store::open(home.path()).unwrap();
    store.append_and_wait(batch("after", 0, vec![facts()])).unwrap();
    assert!(store.reader().unwrap().verify().unwrap().entries > acknowledged);
}

/// The batch that ends at `seq` is the acknowledged one.
fn check_batch(reader: &Reader, session: &SessionId, index: u64, seq: u64) {
    let lines = reader.journal(Scope::Session(session), 0, usize::MAX).unwrap();
    let end = lines.iter().position(|line| line.seq == seq).unwrap();
    let start = lines[..=end].iter().rposition(|line| line.kind == "item").unwrap();
    assert_eq!(lines[start].at_ms, index);
    assert!(lines[start].body.starts_with(&format!("{session} {index} ")));
}

/// Every batch of the child is an item and then as many events as its number asks for.
fn whole_batches(reader: &Reader) {
    for number in 0..3_u64 {
        let id = SessionId::new(format!("s{number}"));
        let lines = reader.journal(Scope::Session(&id), 0, usize::MAX).unwrap();
        let items: Vec<usize> =
            (0..lines.len()).filter(|&index| lines[index].kind == "item").collect();
        for (position, &start) in items.iter().enumerate() {
            let end = items.get(position + 1).copied().unwrap_or(lines.len());
            let events = lines[start + 1..end].iter().filter(|line| line.kind == "event").count();
            assert_eq!(events as u64, 1 + (lines[start].at_ms * 7 + number) % 5);
        }
        let records = reader.records(&id).unwrap();
        assert_eq!(records.len(), items.len());
        assert!(records.iter().all(|it| matches!(it.entry, Entry::Item { .. })));
    }
}

fn random_below(random: &mut TestRng, bound: u32) -> u32 {
    use proptest::prelude::Rng as _;
    random.next_u32() % bound
}
