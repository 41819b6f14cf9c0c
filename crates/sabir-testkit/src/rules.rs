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

#[cfg(test)]
mod tests {
    use super::*;

    /// A page whose rules nobody compares with tests has rules that nobody keeps.
    #[test]
    fn the_rules_of_every_page_are_compared_with_tests() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = Vec::new();
        collect(&root.join("docs"), "md", &mut pages);
        let texts: Vec<String> = pages.iter().map(|page| read(page)).collect();
        let kinds: BTreeSet<&str> = texts
            .iter()
            .flat_map(|text| text.lines())
            .filter_map(|line| line.strip_prefix("- **")?.split_once("**"))
            .map(|(rule, _)| rule.trim_end_matches(|c: char| c.is_ascii_digit()))
            .filter(|kind| kind.len() == 4 && kind.as_bytes()[2] == b'-')
            .collect();
        assert!(kinds.len() >= 30 && kinds.contains("LD-T"), "{kinds:?}");
        let mut sources = Vec::new();
        collect(&root.join("crates"), "rs", &mut sources);
        let proofs: Vec<String> = sources
            .iter()
            .filter(|path| !path.ends_with("sabir-testkit/src/rules.rs"))
            .map(|path| read(path))
            .filter(|text| text.contains("assert_rules_are_named"))
            .collect();
        let is_compared =
            |kind: &&str| proofs.iter().any(|text| text.contains(&format!("\"{kind}\"")));
        let forgotten: Vec<_> = kinds.iter().filter(|kind| !is_compared(kind)).collect();
        assert!(forgotten.is_empty(), "no test compares {forgotten:?} with what tests name");
    }

    fn collect(folder: &Path, extension: &str, files: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, extension, files);
            } else if path.extension().is_some_and(|it| it == extension) {
                files.push(path);
            }
        }
    }
}
