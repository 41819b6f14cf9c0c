//! Every rule of the pages about capture, egress and the browser has its test.

use std::path::Path;

use sabir_testkit::{assert_rules_are_named, assert_rules_are_named_in};

#[test]
fn each_rule_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (pages, tests) = (root.join("../../docs/protocol"), root.join("tests/it"));
    // What is kept of an address is decided where captures are queued.
    let desk = root.join("../sabir-host/src/desk");
    assert_rules_are_named_in(&pages.join("capture.md"), &[&tests, &desk], "LC-C", 20);
    assert_rules_are_named(&pages.join("egress.md"), &tests, "LC-E", 15);
    assert_rules_are_named(&pages.join("browser.md"), &tests.join("browser"), "LC-B", 20);
}
