//! Every rule of the two pages has its test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn each_rule_has_a_test() {
    let tests = Path::new("tests/it");
    assert_rules_are_named(Path::new("../../docs/protocol/egress.md"), tests, "LC-E", 15);
    assert_rules_are_named(Path::new("../../docs/protocol/browser.md"), tests, "LC-B", 20);
}
