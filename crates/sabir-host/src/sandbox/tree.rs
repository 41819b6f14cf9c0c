//! The tree of processes below a supervisor, and its end.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

/// A process below us that is not merely waiting to be collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) parent: Pid,
}

/// Every living process that descends from this one. Orphans are among them: a supervisor is the
/// one to whom they are given.
pub(super) fn descendants() -> io::Result<Vec<Process>> {
    descendants_of(getpid())
}

/// Those below `root` whose ways up to it have not broken off: an orphan is somebody else's by then.
fn descendants_of(root: Pid) -> io::Result<Vec<Process>> {
    let mut children: BTreeMap<i32, Vec<(i32, u8)>> = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        // A process that ended meanwhile has no file any more.
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        if let Some((state, parent)) = state_and_parent(&stat) {
            children.entry(parent).or_default().push((pid, state));
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for (raw, state) in children.remove(&parent.as_raw_nonzero().get()).unwrap_or_default() {
            let Some(pid) = Pid::from_raw(raw) else { continue };
            open.push(pid);
            if state != b'Z' && state != b'X' {
                found.push(Process { pid, parent });
            }
        }
    }
    Ok(found)
}

/// The name stands in brackets and may hold anything, brackets too: only the last one counts.
fn state_and_parent(stat: &str) -> Option<(u8, i32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_ascii_whitespace();
    let state = *words.next()?.as_bytes().first()?;
    Some((state, words.next()?.parse().ok()?))
}

/// Everything below us except our own children.
pub(super) fn below_children() -> impl Iterator<Item = Pid> {
    let me = getpid();
    let all = descendants().unwrap_or_default().into_iter();
    all.filter(move |process| process.parent != me).map(|process| process.pid)
}

/// Collects every child that ended; false when there is no child left.
pub(super) fn reap(mut ended: impl FnMut(Pid, WaitStatus)) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended(pid, status),
            Ok(None) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Kills everything below us, until nothing is left. What cannot be killed (a program with the
/// rights of another user, under full access) is returned.
///
/// Stopping comes first: a process that is stopped starts no other, so that the second round finds
/// all that the first one missed, even of a fork bomb.
pub(super) fn end_all(mut ended: impl FnMut(Pid, WaitStatus)) -> Vec<i32> {
    let mut resisted = 0;
    loop {
        if !reap(&mut ended) {
            return Vec::new();
        }
        let mut seen = 0;
        for _ in 0..STOP_ROUNDS {
            let found = descendants().unwrap_or_default();
            for process in &found {
                let _ = kill_process(process.pid, Signal::STOP);
            }
            if found.len() == seen {
                break;
            }
            seen = found.len();
        }
        let found = descendants().unwrap_or_default();
        let refused = found
            .iter()
            .filter(|process| kill_process(process.pid, Signal::KILL) == Err(Errno::PERM));
        if !found.is_empty() && refused.count() == found.len() {
            resisted += 1;
            if resisted == PATIENCE {
                return found.iter().map(|process| process.pid.as_raw_nonzero().get()).collect();
            }
        }
        sleep(STEP);
    }
}

/// Kills a child that was not waited for yet and everything below it, in whatever group or session
/// it is. What was orphaned before is not found any more.
pub fn kill_tree(root: Pid) {
    let _ = kill_process(root, Signal::STOP);
    let mut found = Vec::new();
    for _ in 0..STOP_ROUNDS {
        let seen = found.len();
        found = descendants_of(root).unwrap_or_default();
        for process in &found {
            let _ = kill_process(process.pid, Signal::STOP);
        }
        if found.len() == seen {
            break;
        }
    }
    for process in found {
        let _ = kill_process(process.pid, Signal::KILL);
    }
    let _ = kill_process(root, Signal::KILL);
}

const STOP_ROUNDS: usize = 16;
/// How often a tree of nothing but processes of other users is asked to end.
const PATIENCE: usize = 50;
const STEP: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_hides_no_parent() {
        assert_eq!(state_and_parent("7 (a) R 1 (x)) S 42 7 7 0"), Some((b'S', 42)));
        assert_eq!(state_and_parent("7 (sh) Z 1 7"), Some((b'Z', 1)));
        assert_eq!(state_and_parent("7 sh"), None);
    }
}
