//! Every rule of the page on sessions has a test that names it.

use std::path::Path;

use sabir_testkit::assert_rules_are_named_in;

#[test]
fn every_rule_is_named_by_a_test() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = package.join("../../docs/protocol/ldp-sessions.md");
    let tests = [package.join("tests/it"), package.join("tests/it/sim")];
    assert_rules_are_named_in(&page, &[&tests[0], &tests[1]], "LD-M", 40);
}
