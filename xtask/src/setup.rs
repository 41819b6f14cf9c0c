//! What the steps need from the machine, and how to get it.

use std::process::Command;

use anyhow::{Result, bail};

use crate::host;

/// A program from outside the Rust toolchain.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The name to go `--without`.
    pub key: &'static str,
    /// Any of these will do.
    pub programs: &'static [&'static str],
    pub debian_package: &'static str,
    pub needed_for: &'static str,
}

pub(crate) const CXX: Tool = Tool {
    key: "fuzz",
    programs: &["c++", "g++", "clang++"],
    debian_package: "g++",
    needed_for: "fuzzing: libFuzzer is C++",
};

pub(crate) const VALGRIND: Tool = Tool {
    key: "valgrind",
    programs: &["valgrind"],
    debian_package: "valgrind",
    needed_for: "the instruction counts of the benches",
};

pub(crate) const BUBBLEWRAP: Tool = Tool {
    key: "bubblewrap",
    programs: &["bwrap"],
    debian_package: "bubblewrap",
    needed_for: "the tests of the sandbox",
};

pub(crate) const CHROMIUM: Tool = Tool {
    key: "chromium",
    programs: &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    debian_package: "chromium",
    needed_for: "the tests of the browser's tools",
};

pub(crate) const POPPLER: Tool = Tool {
    key: "poppler",
    programs: &["pdftotext"],
    debian_package: "poppler-utils",
    needed_for: "the tests that read back what was written as PDF",
};

/// Installs the tool if it is missing and if that is possible; otherwise says what is missing.
pub(crate) fn ensure(tool: &Tool) -> Result<()> {
    if is_there(tool) {
        return Ok(());
    }
    let rights = if host::is_root() {
        Rights::Root
    } else if host::succeeds(Command::new("sudo").args(["-n", "true"])) {
        Rights::Sudo
    } else {
        Rights::None
    };
    if host::has_program("apt-get")
        && let Some(commands) = apt_commands(tool.debian_package, rights)
    {
        println!("installing {}, for {}", tool.debian_package, tool.needed_for);
        for words in commands {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).env("DEBIAN_FRONTEND", "noninteractive");
            if let Err(error) = host::run(&mut command) {
                eprintln!("warning: {error:#}");
            }
        }
        if is_there(tool) {
            return Ok(());
        }
    }
    bail!(
        "missing: {}, for {}; install it, or go `--without {}`",
        tool.debian_package,
        tool.needed_for,
        tool.key
    )
}

/// Adds a part of the toolchain if rustup manages it; `probe` is the cargo subcommand it brings.
pub(crate) fn ensure_component(component: &str, probe: &mut Command) -> Result<()> {
    if host::succeeds(probe) {
        return Ok(());
    }
    if host::has_program("rustup") {
        println!("adding {component} to the toolchain");
        return host::run(Command::new("rustup").args(["component", "add", component]));
    }
    bail!("missing: {component}, a part of the Rust toolchain")
}

fn is_there(tool: &Tool) -> bool {
    tool.programs.iter().any(|program| host::has_program(program))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    Root,
    /// `sudo` that asks for no password.
    Sudo,
    None,
}

fn apt_commands(package: &str, rights: Rights) -> Option<[Vec<String>; 2]> {
    let prefix: &[&str] = match rights {
        Rights::Root => &[],
        Rights::Sudo => &["sudo", "-n"],
        Rights::None => return None,
    };
    let command = |words: &[&str]| prefix.iter().chain(words).map(|it| (*it).to_owned()).collect();
    Some([
        command(&["apt-get", "update", "--quiet=2"]),
        command(&["apt-get", "install", "--quiet=2", "--yes", "--no-install-recommends", package]),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apt_is_called_with_the_rights_there_are() {
        assert_eq!(apt_commands("g++", Rights::None), None);
        let [update, install] = apt_commands("g++", Rights::Root).unwrap();
        assert_eq!(update[..2], ["apt-get", "update"]);
        assert_eq!(install.last().map(String::as_str), Some("g++"));
        let [_, install] = apt_commands("g++", Rights::Sudo).unwrap();
        assert_eq!(install[..3], ["sudo", "-n", "apt-get"]);
    }

    #[test]
    fn any_of_the_programs_will_do() {
        let tool = |programs| Tool { programs, ..CXX };
        assert!(!is_there(&tool(&["no-such-program-here"])));
        assert!(is_there(&tool(&["no-such-program-here", "cargo"])));
    }

    #[test]
    fn a_component_that_answers_is_left_alone() {
        ensure_component("none", Command::new("cargo").arg("--version")).unwrap();
    }
}
