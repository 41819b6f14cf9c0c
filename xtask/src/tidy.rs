//! Proves what the compiler cannot: the invariants of ARCHITECTURE.md and the habits of the code.
//!
//! Each rule is a function from texts to findings, so that a test can hand it a bad example.
//! Nothing is compiled here: the whole run takes about a second.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::finding::Finding;
use crate::{host, schema};

mod arrows;
mod diagnostics;
mod features;
mod licences;
mod links;
mod machine_paths;
mod manifests;
mod purity;
mod repo;
mod rust_files;
mod rust_text;

use repo::Repo;

pub(crate) fn command(root: &Path, args: Vec<OsString>) -> Result<ExitCode> {
    host::reject_args(args)?;
    Ok(if run(root)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints every finding; true when there is none.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let findings = findings(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: nothing found"),
        1 => println!("tidy: 1 finding"),
        count => println!("tidy: {count} findings"),
    }
    Ok(findings.is_empty())
}

fn findings(root: &Path) -> Result<Vec<Finding>> {
    let repo = Repo::load(root)?;
    let mut findings: Vec<Finding> = FILE_RULES.iter().flat_map(|rule| rule(&repo)).collect();

    let metadata = host::metadata(root)?;
    findings.extend(arrows::check(&repo, &metadata)?);
    findings.extend(licences::check(&repo, &metadata)?);
    for package in arrows::members(&metadata)? {
        if purity::PURE.contains(&package.name) {
            let args = ["tree", "--package", package.name, "--edges", "normal", "--prefix", "none"];
            let tree = host::output(host::cargo(root).args(args))?;
            findings.extend(purity::check_tree(package.name, &tree));
        }
    }
    let tree = |of: &[&str]| host::output(host::cargo(root).args(features::TREE).args(of));
    let alone = tree(&["--package", "sabir", "--edges", "normal,build"])?;
    findings.extend(features::check(&alone, &tree(&["--workspace"])?));
    findings.extend(schema::check(root, schema::SCHEMAS)?);
    findings.sort();
    findings.dedup();
    Ok(findings)
}

/// The rules that need nothing but the texts of the repository.
const FILE_RULES: &[fn(&Repo) -> Vec<Finding>] = &[
    diagnostics::check,
    links::check,
    machine_paths::check,
    manifests::check,
    purity::check_sources,
    rust_files::check,
];
