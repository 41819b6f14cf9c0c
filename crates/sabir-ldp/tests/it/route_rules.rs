//! Every rule of the page about routing is named by a test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn every_rule_of_routing_is_named() {
    let page = Path::new("../../docs/protocol/ldp-routing.md");
    assert_rules_are_named(page, Path::new("tests/it"), "LD-R", 22);
}
