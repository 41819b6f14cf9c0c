//! The machine below us: where the workspace is, which programs exist, how to run them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

pub(crate) fn workspace_root() -> Result<PathBuf> {
    // Cargo sets the variable when it runs us; the path from the build is for a direct start.
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = manifest_dir.parent().context("xtask has no parent folder")?.to_path_buf();
    if !root.join("Cargo.toml").is_file() {
        bail!("no Cargo.toml in {}", root.display());
    }
    Ok(root)
}

/// Cargo, started in the workspace root.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}

/// Runs with our own stdout and stderr; a failure names the command.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", shown(command));
    }
    Ok(())
}

/// Stdout as text; a failure carries stderr.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed ({})\n{}", shown(command), output.status, stderr.trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed no UTF-8", shown(command)))
}

/// Whether the command starts and succeeds; its output is thrown away.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

pub(crate) fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

pub(crate) fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// The triple that plain `cargo build` builds for.
pub(crate) fn host_triple() -> Result<String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    let triple = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(triple.context("rustc -vV names no host")?.to_owned())
}

/// Where cargo puts what it builds for this workspace.
pub(crate) fn target_dir(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root.join(dir),
        None => root.join("target"),
    }
}

/// `cargo metadata` with everything that is built on this machine.
pub(crate) fn metadata(root: &Path) -> Result<Value> {
    let triple = host_triple()?;
    let args = ["metadata", "--format-version", "1", "--filter-platform", &triple];
    let text = output(cargo(root).args(args))?;
    serde_json::from_str(&text).context("cargo metadata printed no JSON")
}

/// Whether the workspace has a member of this name.
pub(crate) fn has_package(root: &Path, name: &str) -> Result<bool> {
    let args = ["metadata", "--format-version", "1", "--no-deps"];
    let text = output(cargo(root).args(args))?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    Ok(packages.iter().any(|package| package["name"] == name))
}

/// Exit code 2: the command line itself is wrong.
pub(crate) fn reject_args(args: Vec<std::ffi::OsString>) -> Result<()> {
    match lexopt::Parser::from_args(args).next()? {
        None => Ok(()),
        Some(arg) => Err(arg.unexpected().into()),
    }
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words: Vec<_> =
        std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command() {
        let mut command = Command::new("cargo");
        command.arg("no-such-command-here").stderr(std::process::Stdio::null());
        let error = run(&mut command).unwrap_err();
        assert!(error.to_string().starts_with("`cargo no-such-command-here` failed"), "{error}");
        let error = output(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().starts_with("cannot start `no-such-program-here`"), "{error}");
    }

    #[test]
    fn the_root_is_the_folder_with_the_workspace() {
        let manifest = std::fs::read_to_string(workspace_root().unwrap().join("Cargo.toml"));
        assert!(manifest.unwrap().contains("[workspace]"));
    }
}
