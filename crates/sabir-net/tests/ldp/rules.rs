//! Every rule of the page is named by a test here.

use std::path::Path;

#[test]
fn every_rule_has_a_test() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = crate_folder.join("../../docs/protocol/ldp-http.md");
    sabir_testkit::assert_rules_are_named(&page, &crate_folder.join("tests/ldp"), "LD-H", 32);
}
