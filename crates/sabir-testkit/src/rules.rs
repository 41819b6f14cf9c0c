//! Numbered rules of a page, and the tests that name them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Asserts that every rule of `page` is named in a file of the folder `tests`, and that every rule
/// named there is on the page. A rule is a list item that starts with its number in bold; those whose
/// numbers begin with `prefix` are meant.
///
/// # Panics
///
/// When that is not so, when a file cannot be read, and when there are fewer rules than `at_least`:
/// then the page has changed its shape.
pub fn assert_rules_are_named(page: &Path, tests: &Path, prefix: &str, at_least: usize) {
    assert_rules_are_named_in(page, &[tests], prefix, at_least);
}

/// The same where the tests are in several folders.
///
/// # Panics
///
/// As [`assert_rules_are_named`].
pub fn assert_rules_are_named_in(page: &Path, tests: &[&Path], prefix: &str, at_least: usize) {
    let text = read(page);
    let rules: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split_once("**"))
        .map(|(rule, _)| rule)
        .filter(|rule| rule.starts_with(prefix))
        .collect();
    let count = rules.len();
    assert!(count >= at_least, "only {count} rules: has {} changed its shape?", page.display());
    let texts: Vec<String> = tests
        .iter()
        .flat_map(|tests| {
            fs::read_dir(tests)
                .unwrap_or_else(|error| panic!("cannot list {}: {error}", tests.display()))
        })
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| read(&path))
        .collect();
    let named: BTreeSet<&str> = texts
        .iter()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-'))
        .filter(|word| word.starts_with(prefix) && *word != prefix)
        .collect();
    let unnamed: Vec<_> = rules.difference(&named).collect();
    assert!(unnamed.is_empty(), "no test names {unnamed:?}");
    let unknown: Vec<_> = named.difference(&rules).collect();
    assert!(unknown.is_empty(), "{} has no {unknown:?}", page.display());
}

fn read(path: &Path) -> String {
    fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}
