//! The packages with which the tests drive a browser and check what it shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::host;
use crate::setup::{self, Tool};

/// Names the folder of the packages to the tests.
pub(crate) const VARIABLE: &str = "SABIR_TESTS_BROWSER_DRIVER";

pub(crate) const NODE: Tool = Tool {
    key: "browser-driver",
    programs: &["node"],
    debian_package: "nodejs",
    needed_for: "the tests of the console in a browser",
};

const NPM: Tool = Tool { programs: &["npm"], debian_package: "npm", ..NODE };

/// What is wanted, seen from the workspace root.
const WANTED: &str = "crates/sabir/tests/console";

/// The oldest that the driver runs on.
const OLDEST_NODE: u32 = 20;

/// Installs the packages, unless what is there was made from the same list, and says where they are.
pub(crate) fn ensure(root: &Path) -> Result<PathBuf> {
    let lists = ["package.json", "package-lock.json"].map(|name| root.join(WANTED).join(name));
    let mut wanted = String::new();
    for list in &lists {
        let text = fs::read_to_string(list);
        wanted += &text.with_context(|| format!("cannot read {}", list.display()))?;
    }
    setup::ensure(&NODE)?;
    check_node()?;
    let folder = host::target_dir(root).join("browser-driver");
    let made_from = folder.join("made-from.txt");
    let is_made = fs::read_to_string(&made_from).is_ok_and(|made| made == wanted);
    if is_made && folder.join("node_modules/playwright-core/package.json").is_file() {
        return Ok(folder);
    }
    setup::ensure(&NPM)?;
    println!("installing {WANTED}/package-lock.json into {}", folder.display());
    make(&folder, &lists).with_context(|| {
        format!("missing: the packages of {WANTED}; go `--without {}`", NODE.key)
    })?;
    fs::write(&made_from, wanted)
        .with_context(|| format!("cannot write {}", made_from.display()))?;
    Ok(folder)
}

/// Exactly what the lock file says. No package runs a program of its own while it is installed.
fn make(folder: &Path, lists: &[PathBuf]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for list in lists {
        let name = list.file_name().context("a list without a name")?;
        fs::copy(list, folder.join(name)).with_context(|| format!("{}", list.display()))?;
    }
    let args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    host::run(Command::new("npm").args(args).current_dir(folder))
}

fn check_node() -> Result<()> {
    let version = host::output(Command::new("node").arg("--version"))?;
    match major(&version) {
        Some(major) if major >= OLDEST_NODE => Ok(()),
        _ => bail!(
            "missing: Node {OLDEST_NODE} or later, for {}; here is {}; install it, or go `--without {}`",
            NODE.needed_for,
            version.trim(),
            NODE.key
        ),
    }
}

fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_are_read() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major("v9.1.0"), Some(9));
        for bad in ["", "20.1.0", "vnext", "v"] {
            assert_eq!(major(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_packages_are_pinned() {
        let root = host::workspace_root().unwrap();
        let read = |name| fs::read_to_string(root.join(WANTED).join(name)).unwrap();
        let list: serde_json::Value = serde_json::from_str(&read("package.json")).unwrap();
        let lock: serde_json::Value = serde_json::from_str(&read("package-lock.json")).unwrap();
        let packages = list["devDependencies"].as_object().unwrap();
        assert!(!packages.is_empty());
        for (name, version) in packages {
            let locked = &lock["packages"][format!("node_modules/{name}")];
            assert_eq!(&locked["version"], version, "{name}");
            assert!(locked["integrity"].as_str().unwrap().starts_with("sha512-"), "{name}");
        }
    }
}
