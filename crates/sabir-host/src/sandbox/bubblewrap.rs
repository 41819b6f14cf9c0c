//! The first layer: the program `bwrap` does the mounts and name spaces.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Network;
use super::plan::{Plan, Step};

/// Where a `bwrap` may be. `PATH` is not asked: a folder that a command can write could stand in it,
/// and what is found here runs unconfined.
const PLACES: [&str; 6] = [
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/run/current-system/sw/bin",
    "/run/wrappers/bin",
    "/usr/sbin",
];

pub(crate) fn find() -> Option<PathBuf> {
    PLACES.iter().map(|place| Path::new(place).join("bwrap")).find(|program| {
        fs::metadata(program)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// The arguments before the program to start.
pub(super) fn arguments(plan: &Plan, network: Network) -> Vec<OsString> {
    let mut words: Vec<OsString> = FIXED.iter().map(OsString::from).collect();
    if network == Network::Off {
        words.push("--unshare-net".into());
    }
    let mut add = |option: &str, paths: &[&OsStr]| {
        words.push(option.into());
        words.extend(paths.iter().map(OsString::from));
    };
    add("--ro-bind", &["/".as_ref(), "/".as_ref()]);
    for step in &plan.steps {
        match step {
            Step::Writable(path) | Step::Pin(path) => {
                add("--bind", &[path.as_os_str(), path.as_os_str()]);
            }
            Step::ReadOnly(path) => add("--ro-bind", &[path.as_os_str(), path.as_os_str()]),
            Step::HideFile(path) => add("--ro-bind", &["/dev/null".as_ref(), path.as_os_str()]),
            Step::HideFolder(path) => {
                add("--tmpfs", &[path.as_os_str()]);
                add("--remount-ro", &[path.as_os_str()]);
            }
            // Never asked of this layer: see `has_linked_git`.
            Step::Link { .. } => {}
        }
    }
    // Last, so that no root stands over them.
    add("--dev", &["/dev".as_ref()]);
    add("--proc", &["/proc".as_ref()]);
    add("--", &[]);
    words
}

/// The one capability is for the first process inside, which bounds the number of processes, makes
/// `/proc` read-only and then drops it.
const FIXED: [&str; 12] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
    "--cap-add",
    "CAP_SYS_ADMIN",
    "--new-session",
];
