//! Every rule of the page on the client has a test that names it.

use std::path::Path;

use sabir_testkit::assert_rules_are_named_in;

#[test]
fn every_rule_is_named_by_a_test() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = package.join("../../docs/protocol/ldp-client.md");
    let folders = ["tests/it/client", "tests/it/delegating", "src/ldp/client", "src/delegation"];
    let tests = folders.map(|folder| package.join(folder));
    assert_rules_are_named_in(&page, &tests.each_ref().map(|it| it.as_path()), "LD-C", 30);
}
