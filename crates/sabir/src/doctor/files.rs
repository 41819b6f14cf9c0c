//! The home: who may use it, whether there is room, whether the clock fits what was written, and whether
//! the configuration and the ends of the journals are sound.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{Access, access, statvfs};
use sabir_host::record::{AUDIT, Journal, journal_names};
use sabir_host::{
    Around, NodeConfigError, check_around, check_config, config_file, load_policy, policy_file,
    written,
};
use sabir_store::LineFilter;

use super::Check;
use crate::agents::WEBHOOKS;
use crate::research::collection::now_ms;

/// Whether it can be written, and is nobody else's to read.
pub(super) fn home(home: &Path) -> Check {
    let shown = home.display();
    let there = nearest(home);
    let Ok(facts) = std::fs::metadata(&there) else {
        return Check::missing(
            "home",
            format!("{shown} cannot be looked at"),
            "choose another with --home DIR",
        );
    };
    if !facts.is_dir() {
        return Check::missing(
            "home",
            format!("{} is no folder", there.display()),
            "choose another with --home DIR",
        );
    }
    if access(&there, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let said = format!("{} cannot be written", there.display());
        return Check::missing("home", said, "choose another with --home DIR, or change its owner");
    }
    if there != home {
        return Check::good("home", format!("{shown} will be made when it is needed"));
    }
    let mode = facts.permissions().mode() & 0o777;
    if mode & 0o022 != 0 {
        let said =
            format!("others can write {shown} (mode {mode:o}): they could change keys and policy");
        return Check::missing("home", said, format!("chmod 700 {shown}"));
    }
    let exposed = exposed(home);
    if !exposed.is_empty() {
        let said = format!("others can read {}", exposed.join(", "));
        return Check::missing("home", said, "chmod go-rwx these");
    }
    if mode & 0o055 != 0 {
        let said = format!(
            "others can look into {shown} (mode {mode:o}); what is secret in it they cannot read"
        );
        return Check::lacking("home", said, format!("chmod 700 {shown}"));
    }
    Check::good("home", format!("{shown} is yours alone"))
}

/// Keys and databases that others can read.
fn exposed(home: &Path) -> Vec<String> {
    // A folder that is closed hides what is in it.
    const SECRET: [&str; 6] =
        ["node.key", "console.token", "sabir.db", "library.db", "peers.db", WEBHOOKS];
    let mut found = Vec::new();
    for folder in folders(home) {
        for name in SECRET {
            let path = folder.join(name);
            let Ok(facts) = std::fs::metadata(&path) else { continue };
            if facts.permissions().mode() & 0o077 != 0 {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// The home, and those of its delegates.
fn folders(home: &Path) -> Vec<PathBuf> {
    let mut folders = vec![home.to_owned()];
    if let Ok(entries) = std::fs::read_dir(home.join("delegates")) {
        folders.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    folders
}

pub(super) fn disk(home: &Path) -> Check {
    let Ok(facts) = statvfs(nearest(home)) else {
        return Check::lacking("disk", "nobody says how much room there is", "look with `df`");
    };
    room(Room {
        free: facts.f_bavail.saturating_mul(facts.f_frsize),
        names: (facts.f_files > 0).then_some(facts.f_favail),
    })
}

/// What a disk has left.
#[derive(Debug, Clone, Copy)]
struct Room {
    free: u64,
    /// Files that can still be made, where somebody counts them.
    names: Option<u64>,
}

fn room(Room { free, names }: Room) -> Check {
    let said = format!("{} MiB are free", free >> 20);
    if names == Some(0) {
        return Check::missing(
            "disk",
            "no file can be made: the disk has no room for names",
            "remove files",
        );
    }
    match free {
        0..LEAST => Check::missing(
            "disk",
            said,
            "make room: a journal that cannot be written stops the work",
        ),
        LEAST..LITTLE => Check::lacking("disk", said, "make room before long"),
        _ => Check::good("disk", said),
    }
}

/// Whether the clock is later than what was written before.
pub(super) fn clock(home: &Path) -> Check {
    let now = now_ms();
    if now < MADE {
        let said =
            format!("the clock shows {}, which is before this program was made", written(now));
        return Check::missing("clock", said, "set the clock: messages of others would be refused");
    }
    let mut newest = 0;
    for folder in folders(home) {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let changed = entry.metadata().and_then(|facts| facts.modified()).ok();
            let since = changed.and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
            newest = newest.max(since.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(0)));
        }
    }
    for name in journal_names(home).unwrap_or_default() {
        let last = Journal::open(home, &name).and_then(|journal| {
            let lines = journal.last_lines(&LineFilter::default(), 1)?;
            Ok(lines.last().map_or(0, |line| line.at_ms))
        });
        newest = newest.max(last.unwrap_or(0));
    }
    if newest > now.saturating_add(PATIENCE) {
        let said = format!(
            "the clock shows {}, and something here was written {}",
            written(now),
            written(newest)
        );
        return Check::missing("clock", said, "set the clock: it went back, or was wrong before");
    }
    Check::good("clock", format!("it shows {}", written(now)))
}

pub(super) fn config(home: &Path) -> Vec<Check> {
    let path = config_file(home);
    let mut checks = Vec::new();
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let around = Around {
                folder: home,
                environment: &|name| sabir_host::secrets::var(name),
                may_use_low_ports: rustix::process::geteuid().is_root(),
            };
            let told = |fault: &NodeConfigError| {
                format!("{}: line {}: {}", path.display(), fault.line, fault.why)
            };
            let faults = check_config(&text);
            checks.push(match (faults.first(), check_around(&text, &around).first()) {
                (Some(first), _) => Check::missing("config", told(first), "sabir config check"),
                (None, Some(first)) => Check::lacking("config", told(first), "sabir config check"),
                (None, None) => {
                    Check::good("config", format!("nothing is wrong with {}", path.display()))
                }
            });
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            checks
                .push(Check::good("config", "there is no sabir.toml: everything has its default"));
        }
        Err(error) => {
            let said = format!("{}: {error}", path.display());
            checks.push(Check::missing("config", said, "make it readable"));
        }
    }
    // What is wrong with the section was told with the rest of the file.
    if let Err(error) = load_policy(home)
        && error.path == policy_file(home)
    {
        checks.push(Check::missing("policy", error.to_string(), "sabir policy show"));
    }
    checks
}

/// The end of each journal against its hashes; all of it is what `sabir audit verify` is for.
pub(super) fn journals(home: &Path) -> Vec<Check> {
    let names = match journal_names(home) {
        Ok(names) => names,
        Err(error) => {
            return vec![Check::missing("journal", error.to_string(), "make it readable")];
        }
    };
    let mut checks = Vec::new();
    for name in names.iter().filter(|name| *name != AUDIT) {
        checks.push(match tail(home, name) {
            Ok(Ok(0)) => Check::good("journal", format!("{name}: nothing was written down yet")),
            Ok(Ok(1)) => Check::good("journal", format!("{name}: its row fits its hash")),
            Ok(Ok(count)) => {
                Check::good("journal", format!("{name}: the last {count} rows fit their hashes"))
            }
            Ok(Err(seq)) => {
                let said = format!("{name}: row {seq} was changed after it was written");
                Check::missing("journal", said, "sabir audit verify")
            }
            Err(error) => {
                Check::missing("journal", format!("{name}: {error:#}"), "sabir audit verify")
            }
        });
    }
    if checks.is_empty() {
        checks.push(Check::good("journal", "nothing was written down yet"));
    }
    checks
}

/// How many rows fit, or the first that does not.
fn tail(home: &Path, name: &str) -> anyhow::Result<Result<usize, u64>> {
    let journal = Journal::open(home, name)?;
    let lines = journal.last_lines(&LineFilter::default(), TAIL)?;
    let (Some(reader), Some(first)) = (journal.reader(), lines.first()) else { return Ok(Ok(0)) };
    let mut before = reader.hash_before(first.seq)?;
    for line in &lines {
        if !line.follows(&before) {
            return Ok(Err(line.seq));
        }
        before = line.hash;
    }
    Ok(Ok(lines.len()))
}

/// The folder itself, or the nearest above it that is there.
fn nearest(home: &Path) -> PathBuf {
    let there = home.ancestors().find(|path| path.exists());
    there.unwrap_or(Path::new("/")).to_owned()
}

/// Below this, databases fail in the middle of the work.
const LEAST: u64 = 64 << 20;
const LITTLE: u64 = 1 << 30;
/// 2026-01-01.
const MADE: u64 = 1_767_225_600_000;
/// File systems and other machines count a little differently.
const PATIENCE: u64 = 60_000;
const TAIL: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    #[test]
    fn a_disk_that_is_nearly_full_is_told_in_time() {
        let state = |free, names| room(Room { free, names }).state;
        assert_eq!(state(0, None), State::Missing);
        assert_eq!(state(LEAST - 1, Some(9)), State::Missing);
        assert_eq!(state(LEAST, Some(9)), State::Lacking);
        assert_eq!(state(LITTLE - 1, None), State::Lacking);
        assert_eq!(state(LITTLE, None), State::Good);
        let full = room(Room { free: LITTLE, names: Some(0) });
        assert_eq!(full.state, State::Missing);
        assert!(full.said.contains("no room for names"), "{}", full.said);
        assert!(room(Room { free: 0, names: None }).help.unwrap().starts_with("make room"));
    }
}
