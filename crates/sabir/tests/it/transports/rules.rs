//! Every rule of the page is named by a test here.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn every_rule_of_the_transports_is_named() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/protocol/transports.md");
    assert_rules_are_named(&page, &here.join("tests/it/transports"), "QP-T", 16);
}
