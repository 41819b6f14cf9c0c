//! Every rule of the page about messages is named by a test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn every_rule_of_the_page_is_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = root.join("../../docs/protocol/ldp-messages.md");
    assert_rules_are_named(&page, &root.join("tests/it"), "LD-W", 40);
}
