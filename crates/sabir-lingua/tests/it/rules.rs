//! The numbered rules of `docs/protocol/translation.md`, and those of `record.md` about the forms of a
//! message: each is named by a test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn every_rule_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/protocol/translation.md");
    assert_rules_are_named(&page, &here.join("tests/it"), "TR-R", 6);
}

#[test]
fn every_rule_of_a_form_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/protocol/record.md");
    assert_rules_are_named(&page, &here.join("tests/it"), "RE-F", 8);
}
