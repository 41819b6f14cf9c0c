//! Hands over to the bench program, which is a package of its own so that it is built optimised.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::host;

pub(crate) const PACKAGE: &str = "sabir-bench";

pub(crate) fn command(root: &Path, args: Vec<OsString>) -> Result<ExitCode> {
    run(root, args)?;
    Ok(ExitCode::SUCCESS)
}

/// The arguments are the bench program's own; it rejects what it does not know.
pub(crate) fn run(root: &Path, args: Vec<OsString>) -> Result<()> {
    if !host::has_package(root, PACKAGE)? {
        bail!("nothing to measure: the workspace has no package `{PACKAGE}`");
    }
    let command = ["run", "--release", "--package", PACKAGE, "--"];
    host::run(host::cargo(root).args(command).args(args))
}
