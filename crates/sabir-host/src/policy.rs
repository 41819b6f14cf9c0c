//! What a person adds to the rules of the gate: the policy file of a home, and the section `[policy]` of
//! its configuration. Both are read and checked here; what they mean, the gate's own crate says.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use sabir_policy::{PolicyDoc, PolicyError};

use crate::reading;

/// A policy that cannot be used. Nothing is started with one: rules that are not read are rules
/// that do not hold.
#[derive(Debug)]
pub struct PolicyFileError {
    pub path: PathBuf,
    pub fault: PolicyFault,
}

#[derive(Debug)]
pub enum PolicyFault {
    Unreadable(io::Error),
    Wrong(PolicyError),
}

/// Where the policy file of a home is, or would be.
pub fn policy_file(home: &Path) -> PathBuf {
    home.join("policy.toml")
}

/// The configuration file of a home, which is read when no other is named.
pub fn config_file(home: &Path) -> PathBuf {
    home.join("sabir.toml")
}

/// What the policy file of a home says, and the section of its configuration.
pub fn load_policy(home: &Path) -> Result<PolicyDoc, PolicyFileError> {
    load_policy_with(home, &config_file(home))
}

/// The same with another configuration. The rules of both files hold together, so that neither can take
/// back what the other forbids. A file that is not there adds nothing; anything else under its name has
/// to be a file that can be read: a link that leads nowhere was meant to lead somewhere.
pub fn load_policy_with(home: &Path, config: &Path) -> Result<PolicyDoc, PolicyFileError> {
    let section = load(config, PolicyDoc::parse_section)?;
    Ok(load(&policy_file(home), PolicyDoc::parse)?.and(section))
}

type Parse = fn(&str) -> Result<PolicyDoc, PolicyError>;

fn load(path: &Path, parse: Parse) -> Result<PolicyDoc, PolicyFileError> {
    let read = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(PolicyDoc::default()),
        Err(error) => Err(PolicyFault::Unreadable(error)),
        Ok(_) => read(path, parse),
    };
    read.map_err(|fault| PolicyFileError { path: path.to_owned(), fault })
}

fn read(path: &Path, parse: Parse) -> Result<PolicyDoc, PolicyFault> {
    let text = || {
        let (file, facts) = reading::open(path)?;
        if !facts.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let bytes = reading::read_at_most(&file, MOST_BYTES)?;
        let bytes = bytes.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        String::from_utf8(bytes).map_err(|_| io::Error::other("it is not text"))
    };
    let text = text().map_err(PolicyFault::Unreadable)?;
    parse(&text).map_err(PolicyFault::Wrong)
}

impl fmt::Display for PolicyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.fault {
            PolicyFault::Unreadable(error) => write!(f, "cannot be read: {error}"),
            PolicyFault::Wrong(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PolicyFileError {}

/// More than any policy file may have, so that the reader of those says so with its own words.
const MOST_BYTES: u64 = 1024 * 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_file_that_is_not_there_adds_nothing() {
        let home = tempfile::tempdir().unwrap();
        let file = policy_file(home.path());
        assert_eq!(load_policy(home.path()).unwrap(), PolicyDoc::default());
        let fails = || {
            let error = load_policy(home.path()).unwrap_err();
            assert!(matches!(error.fault, PolicyFault::Unreadable(_)), "{error}");
            std::fs::remove_file(&file).or_else(|_| std::fs::remove_dir(&file)).unwrap();
        };
        symlink(home.path().join("nowhere"), &file).unwrap();
        fails();
        symlink(&file, &file).unwrap();
        fails();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &file,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        fails();
        std::fs::create_dir(&file).unwrap();
        fails();
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        fails();
        symlink("/dev/null", &file).unwrap();
        fails();
        std::fs::write(home.path().join("rules"), "[[deny]]\ntool = \"shell\"").unwrap();
        symlink(home.path().join("rules"), &file).unwrap();
        assert_ne!(load_policy(home.path()).unwrap(), PolicyDoc::default());
    }

    #[test]
    fn file_and_section_hold_together() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = home.path().join("other.toml");
        std::fs::write(policy_file(home.path()), "[[deny]]\ntool = \"shell\"").unwrap();
        let section = "[node]\nname = \"x\"\n[[policy.ask]]\ntool = \"read\"\n";
        std::fs::write(config_file(home.path()), section).unwrap();
        std::fs::write(&elsewhere, "[[policy.ask]]\ntool = \"spawn\"\n").unwrap();
        let stances = |policy: &PolicyDoc| {
            ["shell", "read", "spawn"].map(|tool| policy.ruling(tool, &[]).stance)
        };
        use sabir_policy::Stance::{Ask, Deny, Silent};
        assert_eq!(stances(&load_policy(home.path()).unwrap()), [Deny, Ask, Silent]);
        let other = load_policy_with(home.path(), &elsewhere).unwrap();
        assert_eq!(stances(&other), [Deny, Silent, Ask], "one configuration is read, not two");
        // What cannot be read is not taken for a file without rules.
        std::fs::write(&elsewhere, "[node\n").unwrap();
        let error = load_policy_with(home.path(), &elsewhere).unwrap_err();
        assert_eq!(error.path, elsewhere);
    }
}
