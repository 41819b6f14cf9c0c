//! Hands over to the bench program, which is a package of its own so that it is built optimised when
//! it measures.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::host;

pub(crate) const PACKAGE: &str = "sabir-bench";
/// What one of the benches starts, from beside itself.
const PROGRAM: &str = "sabir";

pub(crate) fn command(root: &Path, args: Vec<OsString>) -> Result<ExitCode> {
    if !host::has_package(root, PACKAGE)? {
        bail!("nothing to measure: the workspace has no package `{PACKAGE}`");
    }
    // Always both, in one command: built apart they would not share what they depend on.
    let command = ["build", "--release", "--bins", "--package", PACKAGE, "--package", PROGRAM];
    host::run(host::cargo(root).args(command))?;
    // The arguments are the bench program's own; it rejects what it does not know.
    run(root, "release", &args)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows that everything runs. It measures nothing, so what the tests have built will do; asking for
/// the tests as well keeps their features, and with those their builds.
pub(crate) fn smoke(root: &Path) -> Result<()> {
    host::run(host::cargo(root).args(["build", "--workspace", "--bins", "--tests"]))?;
    run(root, "debug", &["--quick".into()])?;
    run(root, "debug", &["node".into(), "--quick".into()])
}

fn run(root: &Path, profile: &str, args: &[OsString]) -> Result<()> {
    let program = host::target_dir(root).join(profile).join(PACKAGE);
    host::run(Command::new(program).current_dir(root).args(args))
}
