//! The numbered rules of `docs/protocol/journal.md` and `peers.md`: each is named by a test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn every_rule_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/protocol/journal.md");
    assert_rules_are_named(&page, &here.join("tests/it"), "QP-J", 12);
}

#[test]
fn every_rule_of_the_peers_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/protocol/peers.md");
    assert_rules_are_named(&page, &here.join("tests/it"), "QP-N", 7);
}
