//! The numbered rules of `docs/protocol/approvals.md` and `policy.md`: each is named by a test.

use std::path::Path;

use sabir_testkit::{assert_rules_are_named, assert_rules_are_named_in};

#[test]
fn every_rule_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = here.join("../../docs/protocol");
    let own = here.join("tests/it");
    assert_rules_are_named(&pages.join("approvals.md"), &own, "QP-A", 30);
    // What is stored and shown is proven with the built program.
    let program = here.join("../sabir/tests/it");
    let (engine, research) = (program.join("engine"), program.join("research"));
    let tests = [own.as_path(), &program, &engine, &research];
    assert_rules_are_named_in(&pages.join("policy.md"), &tests, "LC-G", 46);
}
