//! Which of our crates may depend on which. A new arrow is a decision: it goes into the table
//! below and into ARCHITECTURE.md, in one commit.

use anyhow::{Context, Result};
use serde_json::Value;

use super::repo::Repo;
use crate::finding::Finding;

/// The crate, and those of ours it may depend on. What is planned is listed, so that the first
/// commit of a crate is held to the plan.
const ARROWS: &[(&str, &[&str])] = &[
    ("sabir-base", &[]),
    ("sabir-grammar", &[]),
    ("sabir-axon", &["sabir-base", "sabir-grammar"]),
    ("sabir-llmx", &["sabir-base", "sabir-grammar"]),
    ("sabir-lingua", &["sabir-base", "sabir-axon", "sabir-llmx"]),
    ("sabir-policy", &["sabir-base"]),
    ("sabir-document", &["sabir-base"]),
    ("sabir-llmcp", &["sabir-base", "sabir-document", "sabir-lingua"]),
    ("sabir-extractive", &["sabir-base", "sabir-document", "sabir-llmcp"]),
    ("sabir-export", &["sabir-base", "sabir-document"]),
    ("sabir-engine", &["sabir-base", "sabir-policy"]),
    ("sabir-ldp", &["sabir-base", "sabir-axon", "sabir-lingua", "sabir-policy"]),
    ("sabir-store", &["sabir-base", "sabir-ldp"]),
    ("sabir-capture", &["sabir-base", "sabir-document"]),
    ("sabir-telemetry", &["sabir-base", "sabir-llmcp"]),
    (
        "sabir-host",
        &[
            "sabir-base",
            "sabir-axon",
            "sabir-llmx",
            "sabir-lingua",
            "sabir-policy",
            "sabir-document",
            "sabir-llmcp",
            "sabir-extractive",
            "sabir-export",
            "sabir-engine",
            "sabir-ldp",
            "sabir-store",
            "sabir-capture",
            "sabir-telemetry",
        ],
    ),
    (
        "sabir-net",
        &[
            "sabir-base",
            "sabir-axon",
            "sabir-lingua",
            "sabir-policy",
            "sabir-engine",
            "sabir-ldp",
            "sabir-store",
            "sabir-capture",
            "sabir-telemetry",
            "sabir-host",
        ],
    ),
    (
        "sabir-console",
        &[
            "sabir-base",
            "sabir-axon",
            "sabir-llmx",
            "sabir-lingua",
            "sabir-policy",
            "sabir-document",
            "sabir-engine",
            "sabir-ldp",
            "sabir-store",
            "sabir-capture",
            "sabir-host",
            "sabir-net",
        ],
    ),
    (
        "sabir",
        &[
            "sabir-base",
            "sabir-axon",
            "sabir-llmx",
            "sabir-lingua",
            "sabir-policy",
            "sabir-document",
            "sabir-llmcp",
            "sabir-extractive",
            "sabir-export",
            "sabir-engine",
            "sabir-ldp",
            "sabir-store",
            "sabir-capture",
            "sabir-telemetry",
            "sabir-host",
            "sabir-net",
            "sabir-console",
        ],
    ),
    ("sabir-testkit", &[]),
    (
        "sabir-bench",
        &[
            "sabir-base",
            "sabir-axon",
            "sabir-llmx",
            "sabir-lingua",
            "sabir-document",
            "sabir-llmcp",
            "sabir-extractive",
            "sabir-ldp",
            "sabir-engine",
            "sabir-store",
            "sabir-capture",
            "sabir-host",
            "sabir-net",
            "sabir-testkit",
        ],
    ),
    (
        "xtask",
        &[
            "sabir-axon",
            "sabir-llmx",
            "sabir-document",
            "sabir-llmcp",
            "sabir-export",
            "sabir-engine",
            "sabir-ldp",
        ],
    ),
];

/// The crate that only tests may use, and that every test may use.
const FOR_TESTS: &str = "sabir-testkit";

/// A member of the workspace, as far as the rules care.
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    manifest: String,
    /// Those with a path, which are ours: name, and whether only tests use it.
    dependencies: Vec<(&'a str, bool)>,
}

pub(super) fn members(metadata: &Value) -> Result<Vec<Member<'_>>> {
    let root = metadata["workspace_root"].as_str().context("metadata has no workspace_root")?;
    let ids = metadata["workspace_members"].as_array().context("metadata has no members")?;
    let packages = metadata["packages"].as_array().context("metadata has no packages")?;
    packages
        .iter()
        .filter(|package| ids.contains(&package["id"]))
        .map(|package| {
            let name = package["name"].as_str().context("a package has no name")?;
            let path = package["manifest_path"].as_str().context("a package has no manifest")?;
            let manifest = path.strip_prefix(root).unwrap_or(path).replace('\\', "/");
            let dependencies = package["dependencies"].as_array().context("no dependencies")?;
            let dependencies = dependencies
                .iter()
                .filter(|dependency| dependency["path"].is_string())
                .filter_map(|it| Some((it["name"].as_str()?, it["kind"] == "dev")))
                .collect();
            let manifest = manifest.trim_start_matches('/').to_owned();
            Ok(Member { name, manifest, dependencies })
        })
        .collect()
}

pub(super) fn check(repo: &Repo, metadata: &Value) -> Result<Vec<Finding>> {
    let map = repo.text(MAP).unwrap_or_default();
    let mut findings = Vec::new();
    for member in members(metadata)? {
        let mut found = |message: String| {
            findings.push(Finding::new(RULE, member.manifest.as_str(), 1, message))
        };
        if !map.contains(&format!("`{}`", member.name)) {
            found(format!("`{}` is not on the map: name it in {MAP}", member.name));
        }
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == member.name) else {
            found(format!("`{}` has no row in the table of arrows ({TABLE})", member.name));
            continue;
        };
        for &(dependency, for_tests) in &member.dependencies {
            let may = allowed.contains(&dependency) || for_tests && dependency == FOR_TESTS;
            if !may {
                found(format!(
                    "`{}` may not depend on `{dependency}`: that arrow is not in the table ({TABLE})",
                    member.name
                ));
            }
        }
    }
    Ok(findings)
}

const MAP: &str = "ARCHITECTURE.md";
const TABLE: &str = "xtask/src/tidy/arrows.rs";
const RULE: &str = "arrows";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;
    use serde_json::json;

    fn package(name: &str, dependencies: &[(&str, Value)]) -> Value {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|(name, kind)| json!({ "name": name, "kind": kind, "path": "/r/x" }))
            .chain([json!({ "name": "serde", "kind": null })])
            .collect();
        json!({
            "id": name,
            "name": name,
            "manifest_path": format!("/r/crates/{name}/Cargo.toml"),
            "dependencies": dependencies,
        })
    }

    fn check_packages(map: &str, packages: &[Value]) -> Vec<String> {
        let ids: Vec<&Value> = packages.iter().map(|it| &it["id"]).collect();
        let metadata = json!({
            "workspace_root": "/r", "workspace_members": ids, "packages": packages,
        });
        lines(&check(&Repo::of(&[(MAP, map)]), &metadata).unwrap())
    }

    #[test]
    fn arrows_of_the_table_are_silent() {
        let packages = [
            package("sabir-base", &[("sabir-testkit", json!("dev"))]),
            package("sabir-axon", &[("sabir-base", json!(null))]),
        ];
        assert_eq!(check_packages("`sabir-base` `sabir-axon`", &packages), [""; 0]);
    }

    #[test]
    fn a_new_arrow_is_found() {
        let packages = [
            package("sabir-base", &[("sabir-axon", json!(null))]),
            package("sabir-axon", &[("sabir-testkit", json!(null)), ("sabir", json!("dev"))]),
        ];
        assert_eq!(
            check_packages("`sabir-base` `sabir-axon`", &packages),
            [
                "crates/sabir-base/Cargo.toml:1: `sabir-base` may not depend on `sabir-axon`: \
                 that arrow is not in the table (xtask/src/tidy/arrows.rs)",
                "crates/sabir-axon/Cargo.toml:1: `sabir-axon` may not depend on `sabir-testkit`: \
                 that arrow is not in the table (xtask/src/tidy/arrows.rs)",
                "crates/sabir-axon/Cargo.toml:1: `sabir-axon` may not depend on `sabir`: \
                 that arrow is not in the table (xtask/src/tidy/arrows.rs)",
            ]
        );
    }

    #[test]
    fn a_crate_without_row_and_map_entry_is_found() {
        assert_eq!(
            check_packages("`sabir-base`", &[package("sabir-magic", &[])]),
            [
                "crates/sabir-magic/Cargo.toml:1: `sabir-magic` is not on the map: name it in \
                 ARCHITECTURE.md",
                "crates/sabir-magic/Cargo.toml:1: `sabir-magic` has no row in the table of arrows \
                 (xtask/src/tidy/arrows.rs)",
            ]
        );
    }

    #[test]
    fn the_table_has_no_circle() {
        // Every row names earlier rows only, except that the test kit stands near the end.
        for (index, (name, allowed)) in ARROWS.iter().enumerate() {
            for dependency in *allowed {
                let earlier = ARROWS[..index].iter().any(|(other, _)| other == dependency);
                assert!(earlier, "{name} names {dependency} before its row");
            }
        }
    }
}
