//! What holds for a session whatever happens to it.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::session_ops::{Seen, drive};

fn inputs() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..1_500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn no_list_of_inputs_breaks_a_session(bytes in inputs()) {
        drive(&bytes);
    }
}

#[test]
fn the_lists_of_inputs_reach_what_they_are_about() {
    let mut runner = TestRunner::deterministic();
    let mut all = Seen::default();
    for _ in 0..400 {
        let seen = drive(&inputs().new_tree(&mut runner).unwrap().current());
        all.requests += seen.requests;
        all.works += seen.works;
        all.stops += seen.stops;
        all.approvals += seen.approvals;
        all.completed += seen.completed;
        all.aborted += seen.aborted;
        all.compacted += seen.compacted;
        all.undone += seen.undone;
        all.rebuilt += seen.rebuilt;
    }
    let Seen { requests, works, stops, approvals, completed, aborted, compacted, undone, rebuilt } =
        all;
    for (count, what) in [
        (requests, "requests"),
        (works, "works"),
        (stops, "stops"),
        (approvals, "approvals"),
        (completed, "completed tasks"),
        (aborted, "aborted tasks"),
        (compacted, "compactions"),
        (undone, "undone changes"),
        (rebuilt, "rebuilt threads"),
    ] {
        assert!(count > 20, "only {count} {what}");
    }
}
