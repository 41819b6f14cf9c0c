//! Every rule of the pages about capture, egress and the browser has its test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn each_rule_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (pages, tests) = (root.join("../../docs/protocol"), root.join("tests/it"));
    assert_rules_are_named(&pages.join("capture.md"), &tests, "LC-C", 20);
    assert_rules_are_named(&pages.join("egress.md"), &tests, "LC-E", 15);
    assert_rules_are_named(&pages.join("browser.md"), &tests.join("browser"), "LC-B", 20);
}
