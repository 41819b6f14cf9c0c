//! Every rule of the page on bridges has a test that names it.

use std::path::Path;

use sabir_testkit::assert_rules_are_named_in;

#[test]
fn every_rule_is_named_by_a_test() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = package.join("../../docs/protocol/bridges.md");
    let tests = [
        "tests/ldp/bridges",
        "src/mcp_server",
        "src/a2a_server",
        "src/a2a_server/push",
        "../sabir-host/src",
        "../sabir-host/tests/node",
        "../sabir/tests/it/bridges",
    ]
    .map(|folder| package.join(folder));
    let tests = tests.each_ref().map(|it| it.as_path());
    for (prefix, at_least) in [("BR-G", 4), ("BR-M", 8), ("BR-A", 12), ("BR-P", 6)] {
        assert_rules_are_named_in(&page, &tests, prefix, at_least);
    }
}
