//! The doors of other programs: sockets with a place in the file system. A read-only mount does not
//! close them, and behind some of them (a container daemon, a session bus) is the whole machine.
//!
//! Without network no socket can be made at all. With it, those that are found here are covered.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Those that can be found now, and reached by us: what the kernel lists, and what lies in `/run`
/// (a socket that was bound in another network name space is not listed). What was left out is told
/// in `warnings`.
pub(super) fn outside(warnings: &mut Vec<String>) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let mut found: BTreeSet<PathBuf> = listed(&table).filter_map(|path| reachable(&path)).collect();
    let mut open = vec![(PathBuf::from("/run"), 0)];
    let mut seen = 0;
    'search: while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                warnings.push(format!(
                    "sockets may be reached: only {MOST_ENTRIES} files in /run were looked at"
                ));
                break 'search;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_socket() => found.extend(reachable(&entry.path())),
                Ok(kind) if kind.is_dir() && depth < DEPTH => open.push((entry.path(), depth + 1)),
                _ => {}
            }
        }
    }
    if found.len() > MOST_SOCKETS {
        let left = found.len() - MOST_SOCKETS;
        warnings
            .push(format!("{left} local sockets can be reached: only {MOST_SOCKETS} are covered"));
    }
    found.into_iter().take(MOST_SOCKETS).collect()
}

/// Absolute paths; names of the abstract kind belong to the network name space.
fn listed(table: &str) -> impl Iterator<Item = PathBuf> {
    table.lines().filter_map(|line| {
        let (_, path) = line.split_once(" /")?;
        Some(Path::new("/").join(path))
    })
}

fn reachable(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    fs::metadata(&path).ok()?.file_type().is_socket().then_some(path)
}

const DEPTH: usize = 4;
const MOST_ENTRIES: usize = 20_000;
/// Each costs a mount.
const MOST_SOCKETS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/a b.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12345 @/abstract\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 12345\n";
        assert_eq!(listed(table).collect::<Vec<_>>(), [PathBuf::from("/run/a b.sock")]);
    }

    #[test]
    fn a_living_socket_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("door");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(outside(&mut Vec::new()).contains(&path));
    }
}
