//! Every rule of the two pages has its test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn each_rule_has_a_test() {
    let pages = Path::new("../../docs/protocol");
    let (tests, browser) = (Path::new("tests/it"), Path::new("tests/it/browser"));
    assert_rules_are_named(&pages.join("egress.md"), tests, "LC-E", 15);
    assert_rules_are_named(&pages.join("browser.md"), browser, "LC-B", 20);
}
