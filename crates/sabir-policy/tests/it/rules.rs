//! The numbered rules of `docs/protocol/approvals.md` and `policy.md`: each is named by a test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn every_rule_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, prefix) in [("approvals.md", "QP-A"), ("policy.md", "LC-G")] {
        let page = here.join("../../docs/protocol").join(page);
        assert_rules_are_named(&page, &here.join("tests/it"), prefix, 30);
    }
}
