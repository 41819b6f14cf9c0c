//! Every rule of the page is named by a test here.

use std::path::Path;

#[test]
fn every_rule_has_a_test() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = crate_folder.join("../../docs/protocol/ldp-http.md");
    sabir_testkit::assert_rules_are_named(&page, &crate_folder.join("tests/ldp"), "LD-H", 32);
}

/// What the specification demands of the wire is shown beside the server and beside the client.
#[test]
fn every_demand_has_a_test() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = package.join("../../docs/protocol/ldp.md");
    let tests = ["tests/ldp", "tests/it/delegating"].map(|folder| package.join(folder));
    sabir_testkit::assert_rules_are_named_in(&page, &[&tests[0], &tests[1]], "LD-T", 5);
}

#[test]
fn every_rule_of_orders_has_a_test() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = package.join("../../docs/protocol/orders.md");
    sabir_testkit::assert_rules_are_named(&page, &package.join("tests/ldp/orders"), "OR-", 11);
}
