//! Every manifest takes the workspace's lints and licence and offers no features.

use super::repo::Repo;
use crate::finding::Finding;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    repo.texts()
        .filter(|(name, _)| *name == "Cargo.toml" || name.ends_with("/Cargo.toml"))
        .flat_map(|(file, text)| check_manifest(file, text))
        .collect()
}

fn check_manifest(file: &str, text: &str) -> Vec<Finding> {
    let manifest = Manifest::parse(text);
    let mut findings = Vec::new();
    let mut found = |line, message: &str| findings.push(Finding::new(RULE, file, line, message));

    if let Some(line) = manifest.section("features") {
        found(line, "no features: a crate is the unit of what can be left out");
    }
    let Some(package) = manifest.section("package") else { return findings };
    let inherits = manifest.has("package", "license.workspace", "true");
    if !inherits && !manifest.has("package", "license", "\"MIT OR Apache-2.0\"") {
        found(package, "no licence: add `license.workspace = true`");
    }
    // A workspace of its own has nobody to inherit lints from.
    let stands_alone = manifest.section("workspace").is_some();
    if !stands_alone && !manifest.has("lints", "workspace", "true") {
        found(package, "no lints: add `workspace = true` under `[lints]`");
    }
    findings
}

/// A manifest as lines: which section each `key = value` stands in. Enough for the keys above,
/// which are written on one line everywhere.
struct Manifest<'a> {
    sections: Vec<(&'a str, usize)>,
    entries: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> Manifest<'a> {
    fn parse(text: &'a str) -> Self {
        let mut manifest = Self { sections: Vec::new(), entries: Vec::new() };
        let mut section = "";
        for (index, line) in text.lines().enumerate() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                section = name.trim();
                manifest.sections.push((section, index + 1));
            } else if let Some((key, value)) = line.split_once('=') {
                manifest.entries.push((section, key.trim(), value.trim()));
            }
        }
        manifest
    }

    fn section(&self, name: &str) -> Option<usize> {
        self.sections.iter().find(|(section, _)| *section == name).map(|&(_, line)| line)
    }

    fn has(&self, section: &str, key: &str, value: &str) -> bool {
        self.entries.contains(&(section, key, value))
    }
}

const RULE: &str = "manifest";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;

    #[test]
    fn a_manifest_with_everything_is_silent() {
        let text = "[package]\nlicense.workspace = true\n\n[lints]\nworkspace = true # all\n";
        assert_eq!(check(&Repo::of(&[("crates/a/Cargo.toml", text)])), []);
        assert_eq!(check(&Repo::of(&[("Cargo.toml", "[workspace]\nmembers = []\n")])), []);
    }

    #[test]
    fn missing_licence_missing_lints_and_features_are_found() {
        let text = "[package]\nname = \"a\"\n[lints.rust]\nworkspace = true\n[features]\nx = []\n";
        assert_eq!(
            lines(&check(&Repo::of(&[("a/Cargo.toml", text)]))),
            [
                "a/Cargo.toml:5: no features: a crate is the unit of what can be left out",
                "a/Cargo.toml:1: no licence: add `license.workspace = true`",
                "a/Cargo.toml:1: no lints: add `workspace = true` under `[lints]`",
            ]
        );
    }

    #[test]
    fn another_licence_is_found_and_a_workspace_of_its_own_keeps_its_lints() {
        let text = "[package]\nlicense = \"GPL-3.0-only\"\n[workspace]\n";
        assert_eq!(
            lines(&check(&Repo::of(&[("fuzz/Cargo.toml", text)]))),
            ["fuzz/Cargo.toml:1: no licence: add `license.workspace = true`"]
        );
        let text = "[package]\nlicense = \"MIT OR Apache-2.0\"\n[workspace]\n";
        assert_eq!(check(&Repo::of(&[("fuzz/Cargo.toml", text)])), []);
    }
}
