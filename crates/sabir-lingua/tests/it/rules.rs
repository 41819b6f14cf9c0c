//! The numbered rules of `docs/protocol/translation.md`: each is named by a test.

#![expect(clippy::disallowed_methods, reason = "the page and the tests are files")]

use std::fs;
use std::path::Path;

#[test]
fn every_rule_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(here.join("../../docs/protocol/translation.md")).unwrap();
    let rules: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split_once("**"))
        .map(|(rule, _)| rule)
        .collect();
    assert!(rules.len() >= 6, "only {} rules: has the page changed its shape?", rules.len());
    let tests = ["round_trip", "examples", "hostile"].map(|name| {
        fs::read_to_string(here.join("tests/it").join(name).with_extension("rs")).unwrap()
    });
    for rule in rules {
        assert!(tests.iter().any(|text| text.contains(rule)), "no test names {rule}");
    }
}
