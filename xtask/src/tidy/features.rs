//! The program alone is built of what the workspace is built of: `cargo install` after the tests has
//! nothing to compile, and what is installed is what was tested.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;

/// What `cargo tree` has to print: one line per package with its features.
pub(super) const TREE: [&str; 5] = ["tree", "--prefix", "none", "--format", "{p}|{f}"];

/// The trees of the program alone, without what its tests need, and of the whole workspace.
pub(super) fn check(alone: &str, workspace: &str) -> Vec<Finding> {
    let tested = features(workspace);
    let mut findings = Vec::new();
    for (package, sets) in features(alone) {
        let Some(known) = tested.get(package) else { continue };
        for set in sets.difference(known) {
            let known: Vec<&str> = known.iter().copied().collect();
            let message = format!(
                "`{package}` has the features [{set}] in the program alone, and [{}] in the \
                 workspace: name it here, with the features of both",
                known.join("] or [")
            );
            findings.push(Finding::new("features", "crates/sabir/Cargo.toml", 1, message));
        }
    }
    findings
}

/// A package can be there twice: for this machine as a target, and for what runs while building.
fn features(tree: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut packages: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (package, features) in tree.lines().filter_map(|line| line.split_once('|')) {
        // Cargo marks what it has shown before.
        let features = features.trim_end_matches(" (*)");
        packages.entry(package).or_default().insert(features);
    }
    packages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;

    #[test]
    fn equal_features_are_silent() {
        let alone = "sabir v0.1.0|\nserde v1.0.0|default,std\nserde v1.0.0|default,std (*)";
        let workspace = format!("{alone}\nserde v1.0.0|std\nonly-tested v0.1.0|default");
        assert_eq!(lines(&check(alone, &workspace)), [""; 0]);
    }

    #[test]
    fn another_feature_is_found() {
        let found = check("serde v1.0.0|std", "serde v1.0.0|derive,std\nserde v1.0.0|");
        assert_eq!(
            lines(&found),
            ["crates/sabir/Cargo.toml:1: `serde v1.0.0` has the features [std] in the program \
              alone, and [] or [derive,std] in the workspace: name it here, with the features of \
              both"]
        );
    }
}
