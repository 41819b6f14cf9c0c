//! Every numbered rule of the page is named by a test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn every_rule_has_a_test() {
    assert_rules_are_named(
        Path::new("../../docs/protocol/extractive.md"),
        Path::new("tests/it"),
        "LC-X",
        25,
    );
}
