//! The page of rules: each rule is named by a test, and each route stands on it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sabir_console::console_routes;
use sabir_testkit::assert_rules_are_named_in;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/console.md")
}

#[test]
fn every_rule_is_named_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = ["tests/console", "src", "src/door", "src/views"].map(|it| root.join(it));
    assert_rules_are_named_in(&page(), &tests.each_ref().map(|it| it.as_path()), "CO-", 20);
}

/// CO-9: the page has every route, and no other.
#[test]
fn every_route_is_on_the_page() {
    let text = std::fs::read_to_string(page()).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let said: BTreeSet<(String, String)> = rows
        .filter_map(|row| {
            let (method, rest) = row.split_once(" `/api")?;
            let (path, _) = rest.split_once(['`', '?'])?;
            Some((method.to_owned(), format!("/api{path}")))
        })
        .collect();
    let there: BTreeSet<(String, String)> = console_routes()
        .into_iter()
        .map(|(method, path)| (method.to_owned(), path.to_owned()))
        .collect();
    assert_eq!(said, there);
}
