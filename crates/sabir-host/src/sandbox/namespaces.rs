//! The second layer: name spaces and mounts of our own, made by a helper that then starts the first
//! process inside.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use nix::sched::{CloneFlags, unshare};
use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind,
    mount_bind_recursive, mount_change, mount_remount, move_mount, open_tree,
};
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities,
};

use super::plan::{Plan, Step};
use super::wire::{self, Entry, Report};
use super::{HELPER_ARGUMENT, Network};

pub(super) fn run() -> ExitCode {
    let Ok(socket) = wire::inherited() else { return ExitCode::FAILURE };
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let entered = wire::receive::<Entry>(&socket)
        .map_err(|error| format!("no task: {error}"))
        .and_then(|entry| enter(&entry))
        .and_then(|()| start());
    match entered {
        Ok(code) => code,
        Err(reason) => {
            let _ = wire::send(&socket, &Report::Failed(reason));
            ExitCode::FAILURE
        }
    }
}

/// The first child after `unshare` is number 1 in the new process name space. It takes over our
/// standard input, and with it the socket.
fn start() -> Result<ExitCode, String> {
    let mut child = Command::new("/proc/self/exe")
        .args([HELPER_ARGUMENT, "init"])
        .spawn()
        .map_err(|error| format!("cannot start the first process: {error}"))?;
    let status = child.wait().map_err(|error| format!("cannot wait: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn enter(entry: &Entry) -> Result<(), String> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    if entry.network == Network::Off {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    unshare(flags)
        .map_err(|errno| format!("user name spaces cannot be used: {}", io::Error::from(errno)))?;
    // Everybody stays who they are; all other users become nobody.
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(file, text).map_err(|error| format!("cannot write {file}: {error}"))?;
    }
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|errno| format!("cannot keep mounts to ourselves: {errno}"))?;
    let devices = Devices::take().map_err(|errno| format!("cannot take devices: {errno}"))?;
    apply(&entry.plan)?;
    devices.place().map_err(|errno| format!("cannot make /dev: {errno}"))?;
    keep_capabilities().map_err(|errno| format!("cannot keep capabilities: {errno}"))
}

fn apply(plan: &Plan) -> Result<(), String> {
    let fails = |path: &Path, errno: Errno| format!("cannot mount {}: {errno}", path.display());
    let roots = plan.writable();
    for root in roots.iter().filter(|root| *root != Path::new("/")) {
        mount_bind_recursive(root, root).map_err(|errno| fails(root, errno))?;
    }
    let all = mounts().map_err(|error| format!("cannot list mounts: {error}"))?;
    for it in &all {
        let is_system = it.path.starts_with("/sys");
        if is_system || !roots.iter().any(|root| it.path.starts_with(root)) {
            it.make_read_only().map_err(|errno| fails(&it.path, errno))?;
        }
    }
    for step in &plan.steps {
        match step {
            Step::Writable(_) => {}
            Step::Pin(path) => {
                mount_bind_recursive(path, path).map_err(|errno| fails(path, errno))?;
            }
            Step::ReadOnly(path) => {
                mount_bind_recursive(path, path).map_err(|errno| fails(path, errno))?;
                let below = mounts().map_err(|error| format!("cannot list mounts: {error}"))?;
                for it in below.iter().filter(|it| it.path.starts_with(path)) {
                    it.make_read_only().map_err(|errno| fails(path, errno))?;
                }
            }
            Step::Link { link, target } => {
                cover_link(link, target).map_err(|errno| fails(link, errno))?;
            }
            Step::HideFile(path) => match mount_bind("/dev/null", path) {
                // A socket that went away meanwhile needs no cover.
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(fails(path, errno)),
            },
            Step::HideFolder(path) => {
                mount("tmpfs", path, "tmpfs", MountFlags::RDONLY, c"mode=555")
                    .map_err(|errno| fails(path, errno))?;
            }
        }
    }
    Ok(())
}

/// Over a link only a file can be mounted: one that tells git the same as the link does.
fn cover_link(link: &Path, target: &Path) -> Result<(), Errno> {
    // A place that nobody sees afterwards: /dev gets its own mount later.
    mount("tmpfs", "/dev", "tmpfs", MountFlags::NOSUID, c"mode=755,size=64k")?;
    let text = [b"gitdir: ", target.as_os_str().as_bytes(), b"\n"].concat();
    fs::write("/dev/link", text)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let file = open_tree(CWD, "/dev/link", OpenTreeFlags::OPEN_TREE_CLONE)?;
    // Without the flag that follows links, the link itself is the mount point.
    move_mount(&file, "", CWD, link, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    rustix::mount::unmount("/dev", rustix::mount::UnmountFlags::DETACH)
}

/// The few devices that every program may expect.
struct Devices(Vec<(&'static str, OwnedFd)>);

impl Devices {
    fn take() -> Result<Self, Errno> {
        let mut devices = Vec::new();
        for name in ["null", "zero", "full", "random", "urandom", "tty"] {
            match open_tree(CWD, Path::new("/dev").join(name), OpenTreeFlags::OPEN_TREE_CLONE) {
                Ok(device) => devices.push((name, device)),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(Self(devices))
    }

    fn place(self) -> Result<(), Errno> {
        let io = |result: io::Result<()>| {
            result.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
        };
        let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
        mount("tmpfs", "/dev", "tmpfs", flags, c"mode=755,size=64k")?;
        for (name, device) in self.0 {
            let path = Path::new("/dev").join(name);
            io(fs::write(&path, ""))?;
            move_mount(&device, "", CWD, &path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        }
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
        ] {
            io(std::os::unix::fs::symlink(target, Path::new("/dev").join(name)))?;
        }
        for folder in ["/dev/shm", "/dev/pts"] {
            io(fs::create_dir(folder))?;
        }
        mount("tmpfs", "/dev/shm", "tmpfs", flags | MountFlags::NODEV, c"mode=1777")?;
        // The kernel gives terminals only to a name space that has a root user.
        let terminals = c"newinstance,ptmxmode=0666,mode=620";
        if mount("devpts", "/dev/pts", "devpts", flags, terminals).is_ok() {
            io(std::os::unix::fs::symlink("pts/ptmx", "/dev/ptmx"))?;
        }
        mount_remount("/dev", MountFlags::BIND | MountFlags::RDONLY | flags, c"")
    }
}

/// A process that is not root loses its capabilities when it starts a program; the first process
/// still needs these two.
fn keep_capabilities() -> Result<(), Errno> {
    let needed = [CapabilitySet::SYS_ADMIN, CapabilitySet::SETPCAP];
    let mut sets = capabilities(None)?;
    sets.inheritable = needed[0] | needed[1];
    set_capabilities(None, sets)?;
    needed.into_iter().try_for_each(|it| configure_capability_in_ambient_set(it, true))
}

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    path: PathBuf,
    flags: MountFlags,
}

impl Mount {
    fn make_read_only(&self) -> Result<(), Errno> {
        // The kernel insists on the other flags where they come from outside.
        let flags = self.flags | MountFlags::BIND | MountFlags::RDONLY;
        match mount_remount(&self.path, flags, c"") {
            Ok(()) => Ok(()),
            // Below another mount, or in a folder that we cannot enter: nobody gets there.
            Err(Errno::INVAL | Errno::NOENT | Errno::ACCESS | Errno::NOTDIR)
                if self.path != Path::new("/") =>
            {
                Ok(())
            }
            Err(errno) => Err(errno),
        }
    }
}

fn mounts() -> io::Result<Vec<Mount>> {
    Ok(fs::read_to_string("/proc/self/mountinfo")?.lines().filter_map(parse_mount).collect())
}

fn parse_mount(line: &str) -> Option<Mount> {
    let mut words = line.split(' ').skip(4);
    let path = PathBuf::from(std::ffi::OsString::from_vec(unescape(words.next()?)));
    let mut flags = MountFlags::empty();
    for option in words.next()?.split(',') {
        flags |= match option {
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        };
    }
    // A path with a NUL byte cannot be; the check keeps the calls above honest.
    CString::new(path.as_os_str().as_bytes()).is_ok().then_some(Mount { path, flags })
}

/// Blanks and the like are written as three octal digits.
fn unescape(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut result = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = (bytes[at] == b'\\').then(|| text.get(at + 1..at + 4)).flatten();
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                result.push(byte);
                at += 4;
            }
            None => {
                result.push(bytes[at]);
                at += 1;
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_flags() {
        let line = r"36 35 98:0 /mnt1 /a\040b\134c rw,noatime,nosuid master:1 - ext3 /dev/x rw";
        let mount = parse_mount(line).unwrap();
        assert_eq!(mount.path, Path::new(r"/a b\c"));
        assert_eq!(mount.flags, MountFlags::NOATIME | MountFlags::NOSUID);
        assert!(mounts().unwrap().iter().any(|mount| mount.path == Path::new("/")));
    }
}
