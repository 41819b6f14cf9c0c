//! Every rule of the two pages has its test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn each_rule_has_a_test() {
    let pages = Path::new("../../docs/protocol");
    let (tests, browser) = (Path::new("tests/it"), Path::new("tests/it/browser"));
    assert_rules_are_named(&pages.join("egress.md"), tests, "LC-E", 15);
    assert_rules_are_named(&pages.join("browser.md"), browser, "LC-B", 20);
//! The rules of capture and rendering are all named by tests.

use std::path::Path;

/// Every rule of the page has a test that names it.
#[test]
fn the_rules_of_capture_are_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    sabir_testkit::assert_rules_are_named(
        &root.join("../../docs/protocol/capture.md"),
        &root.join("tests/it"),
        "LC-C",
        20,
    );
}
