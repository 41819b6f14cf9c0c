//! The numbered rules of `docs/protocol/llmx.md`: each is named by a test.

#![expect(clippy::disallowed_methods, reason = "the page and the tests are files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_rule_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(here.join("../../docs/protocol/llmx.md")).unwrap();
    let rules: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("- **"))
        .filter_map(|line| line.split_once("**"))
        .map(|(rule, _)| rule.to_owned())
        .collect();
    assert!(rules.len() >= 50, "only {} rules: has the page changed its shape?", rules.len());
    let named: BTreeSet<String> = fs::read_dir(here.join("tests/it"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            words.filter(|word| word.starts_with("LX-R")).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    let unnamed: Vec<_> = rules.difference(&named).collect();
    assert!(unnamed.is_empty(), "no test names {unnamed:?}");
    let unknown: Vec<_> = named.difference(&rules).filter(|name| *name != "LX-R").collect();
    assert!(unknown.is_empty(), "the page has no {unknown:?}");
}
