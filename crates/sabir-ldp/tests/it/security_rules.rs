//! Every rule of the page about signatures, replay and trust is named by a test.

use std::path::Path;

#[test]
fn every_rule_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    sabir_testkit::assert_rules_are_named_in(
        &root.join("../../docs/protocol/ldp-security.md"),
        &[&root.join("tests/it"), &root.join("src"), &root.join("src/sign")],
        "LD-S",
        28,
    );
}
