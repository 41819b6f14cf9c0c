//! The second wall: even where a mount was overlooked, nothing but the roots is written.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};

/// Applies to the calling thread and what it starts. A kernel without Landlock, or with an old one,
/// does what it can: the mounts hold without it.
pub(super) fn apply(writable: &[PathBuf]) -> Result<(), Box<dyn std::error::Error>> {
    let rights = AccessFs::from_all(NEWEST);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(rights)?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    rules = rules.add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::from_read(NEWEST)))?;
    for device in DEVICES {
        if let Ok(device) = PathFd::new(device) {
            rules = rules.add_rule(PathBeneath::new(device, AccessFs::from_file(NEWEST)))?;
        }
    }
    for folder in ["/dev/shm", "/dev/pts"] {
        if let Ok(folder) = PathFd::new(folder) {
            rules = rules.add_rule(PathBeneath::new(folder, rights))?;
        }
    }
    for root in writable {
        // A root that vanished meanwhile is not written either.
        if let Ok(root) = PathFd::new(root) {
            rules = rules.add_rule(PathBeneath::new(root, rights))?;
        }
    }
    rules.restrict_self()?;
    Ok(())
}

const NEWEST: ABI = ABI::V6;
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
