//! The first process of a confined command's process name space: it closes what is still open,
//! starts the command, collects orphans, and takes everything with it when it ends.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{ExitCode, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_remount};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitStatus, geteuid, pidfd_open,
    set_parent_process_death_signal, setrlimit,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use super::wire::{self, Command, Proc, Report, Start, Status};
use super::{Limits, landlock, seccomp, tree};

/// `close` is the number of a file that was left open on the way here: through it the command could
/// reach the program's own file past every mount.
pub(super) fn run(close: Option<i32>) -> ExitCode {
    if let Some(number) = close
        && nix::unistd::close(number).is_err()
    {
        return ExitCode::FAILURE;
    }
    let Ok(socket) = wire::inherited() else { return ExitCode::FAILURE };
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let report = match wire::receive::<Start>(&socket) {
        Ok(start) => match confine(&start) {
            Ok(()) => {
                let _ = wire::send(&socket, &Report::Confined);
                let status = run_command(&start.command, &socket);
                Report::Ended { status, left: Vec::new() }
            }
            Err(reason) => Report::Failed(reason),
        },
        Err(error) => Report::Failed(format!("no command: {error}")),
    };
    let _ = wire::send(&socket, &report);
    ExitCode::SUCCESS
}

fn confine(start: &Start) -> Result<(), String> {
    let says = |what: &'static str| move |errno: Errno| format!("cannot {what}: {errno}");
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if start.proc == Proc::ToMount {
        mount("proc", "/proc", "proc", flags, None).map_err(says("mount /proc"))?;
    }
    bound_process_numbers(start.command.limits.processes);
    // A user who is root outside is root to the files in /proc/sys, capabilities or not.
    match mount_remount("/proc", flags | MountFlags::BIND | MountFlags::RDONLY, c"") {
        Err(errno) if start.proc == Proc::ToMount || geteuid().is_root() => {
            return Err(says("make /proc read-only")(errno));
        }
        _ => {}
    }
    drop_capabilities().map_err(says("drop capabilities"))?;
    let processes = Some(u64::from(start.command.limits.processes));
    limit(Resource::Nproc, processes).map_err(says("limit processes"))?;
    limit_files(start.command.limits).map_err(says("limit files"))?;
    landlock::apply(&start.writable).map_err(|error| format!("Landlock failed: {error}"))?;
    seccomp::apply(start.network).map_err(|error| format!("seccomp failed: {error}"))
}

/// The limit on a user's processes does not bind root; how high numbers go in this name space does,
/// on kernels that have it (6.14).
fn bound_process_numbers(processes: u32) {
    let _ = fs::write(
        "/proc/sys/kernel/pid_max",
        processes.saturating_add(RESERVED_NUMBERS).to_string(),
    );
}

/// The kernel gives numbers below this one only once.
const RESERVED_NUMBERS: u32 = 300;

fn drop_capabilities() -> Result<(), Errno> {
    for bit in 0..64 {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        // Unknown to this kernel, or not ours to drop: with no new privileges the set is moot.
        if remove_capability_from_bounding_set(capability).is_err() {
            break;
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Also for the supervisor, whose command has full access.
pub(super) fn limit_files(limits: Limits) -> Result<(), Errno> {
    limit(Resource::Core, Some(0))?;
    match limits.file_size {
        Some(_) => limit(Resource::Fsize, limits.file_size),
        None => Ok(()),
    }
}

fn limit(resource: Resource, most: Option<u64>) -> Result<(), Errno> {
    // A lower limit from outside stays.
    let outer = rustix::process::getrlimit(resource).maximum;
    let most = match (most, outer) {
        (Some(most), Some(outer)) => Some(most.min(outer)),
        (most, outer) => most.or(outer),
    };
    setrlimit(resource, Rlimit { current: most, maximum: most })
}

fn run_command(command: &Command, socket: &UnixStream) -> Status {
    let child = match spawn(command, Stdio::null()) {
        Ok(child) => child,
        Err(status) => return status,
    };
    let mut ended = None;
    let Ok(handle) = pidfd_open(child, PidfdFlags::empty()) else {
        return Status::NotStarted { code: 126, message: "the kernel is too old".to_owned() };
    };
    loop {
        tree::reap(|pid, status| {
            if pid == child {
                ended = Some(status);
            }
        });
        if let Some(status) = ended {
            return status_of(status);
        }
        let mut files = [PollFd::new(socket, PollFlags::IN), PollFd::new(&handle, PollFlags::IN)];
        let _ = poll(&mut files, Some(&STEP));
        // Nothing is ever said here after the command: it can only be the end.
        if !files[0].revents().is_empty() {
            return Status::Signalled(Signal::KILL.as_raw());
        }
    }
}

/// How long an orphan that ended may wait to be collected.
pub(super) const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

pub(super) fn spawn(command: &Command, input: Stdio) -> Result<Pid, Status> {
    let not_started = |code, message| Status::NotStarted { code, message };
    let [program, arguments @ ..] = command.argv.as_slice() else {
        return Err(not_started(127, "there is no command".to_owned()));
    };
    if let Err(error) = std::env::set_current_dir(&command.cwd) {
        let message = format!("cannot enter {}: {}", command.cwd.display(), plain(&error));
        return Err(not_started(126, message));
    }
    let spawned = std::process::Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .stdin(input)
        .process_group(0)
        .spawn();
    match spawned {
        Ok(child) => i32::try_from(child.id())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| not_started(126, format!("{program}: no process number"))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let what = if program.contains('/') { "no such file" } else { "command not found" };
            Err(not_started(127, format!("{program}: {what}")))
        }
        Err(error) => Err(not_started(126, format!("{program}: {}", plain(&error)))),
    }
}

/// Without the number that the standard library adds.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

pub(super) fn status_of(status: WaitStatus) -> Status {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Status::Exited(code),
        (None, Some(signal)) => Status::Signalled(signal),
        (None, None) => Status::Signalled(Signal::KILL.as_raw()),
    }
}
