//! A virtual environment with the Python programs that the tests talk to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::host;

/// The name to go `--without`.
pub(crate) const KEY: &str = "python";

/// Names the interpreter of the environment to the tests.
pub(crate) const VARIABLE: &str = "SABIR_TESTS_PYTHON";

/// What is wanted, seen from the workspace root.
const REQUIREMENTS: &str = "crates/sabir/tests/python/requirements.txt";

/// Makes the environment, unless what is there was made from the same requirements, and says where
/// its interpreter is.
pub(crate) fn ensure(root: &Path) -> Result<PathBuf> {
    let wanted = root.join(REQUIREMENTS);
    let text =
        fs::read_to_string(&wanted).with_context(|| format!("cannot read {}", wanted.display()))?;
    let folder = host::target_dir(root).join("python");
    let interpreter = folder.join("bin/python");
    let made_from = folder.join("made-from.txt");
    let is_made = fs::read_to_string(&made_from).is_ok_and(|made| made == text);
    if is_made && host::succeeds(Command::new(&interpreter).arg("--version")) {
        return Ok(interpreter);
    }
    println!("installing {REQUIREMENTS} into {}", folder.display());
    let made = make(&folder, &interpreter, &wanted);
    made.with_context(|| {
        format!("missing: Python and its package index, for the tests beside other programs; go `--without {KEY}`")
    })?;
    fs::write(&made_from, text).with_context(|| format!("cannot write {}", made_from.display()))?;
    Ok(interpreter)
}

fn make(folder: &Path, interpreter: &Path, wanted: &Path) -> Result<()> {
    let venv = |python: &str| {
        let mut command = Command::new(python);
        command.args(["-m", "venv", "--clear"]).arg(folder);
        command
    };
    let pythons = ["python3", "python"];
    if !pythons.into_iter().any(|python| host::succeeds(&mut venv(python))) {
        bail!("no python3 here that can make a virtual environment (Debian: python3-venv)");
    }
    let args = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    host::run(Command::new(interpreter).args(args).arg(wanted))
}
