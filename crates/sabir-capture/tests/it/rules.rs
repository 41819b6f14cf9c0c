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
