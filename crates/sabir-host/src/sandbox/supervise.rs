//! The supervisor: outside of the confinement, below the program. Whatever happens to either, it
//! ends everything that it started.

use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitStatus, getpid, kill_process, pidfd_open, set_child_subreaper,
    setsid,
};

use super::placeholder::Placeholders;
use super::wire::{self, Entry, How, Proc, Report, Start, Status, Task};
use super::{Confined, HELPER_ARGUMENT, bubblewrap, init, plan, tree};

/// `input` is the number of the file that becomes the standard input of a command with full access.
pub(super) fn run(input: Option<i32>) -> ExitCode {
    if close_what_was_inherited(input).is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(socket) = wire::inherited() else { return ExitCode::FAILURE };
    let Ok(task) = wire::receive::<Task>(&socket) else { return ExitCode::FAILURE };
    // No terminal of our own: Ctrl-C is the program's business, and nobody can type into its.
    let _ = setsid();
    let report = set_child_subreaper(Some(getpid()))
        .map_err(|errno| format!("cannot collect orphans: {errno}"))
        .and_then(|()| {
            init::limit_files(task.command.limits)
                .map_err(|errno| format!("cannot limit files: {errno}"))
        })
        .and_then(|()| supervise(&socket, &task, input))
        .unwrap_or_else(Report::Failed);
    let _ = wire::send(&socket, &report);
    ExitCode::SUCCESS
}

/// Whoever started the program may have left files open. A folder among them would lead a command
/// past every mount.
fn close_what_was_inherited(keep: Option<i32>) -> std::io::Result<()> {
    let names: Vec<_> = std::fs::read_dir("/proc/self/fd")?
        .map(|it| Ok(it?.file_name()))
        .collect::<Result<_, std::io::Error>>()?;
    let numbers = names.iter().filter_map(|name| name.to_str()?.parse::<i32>().ok());
    for number in numbers.filter(|number| *number > 2 && Some(*number) != keep) {
        // The folder that was just read is among them, and closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// Takes over a pipe by its number. Nobody may be left to write into it, so it is not waited for.
fn take_pipe(number: i32) -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let pipe = rustix::fs::open(format!("/proc/self/fd/{number}"), flags, Mode::empty())?;
    rustix::fs::fcntl_setfl(&pipe, OFlags::empty())?;
    nix::unistd::close(number)?;
    Ok(pipe)
}

/// The end of a command's output is to be seen as soon as the command itself ends it.
fn let_go_of_output() -> std::io::Result<()> {
    let nothing = std::fs::File::options().write(true).open("/dev/null")?;
    nix::unistd::dup2_stdout(&nothing)?;
    nix::unistd::dup2_stderr(&nothing)?;
    Ok(())
}

fn supervise(socket: &UnixStream, task: &Task, input: Option<i32>) -> Result<Report, String> {
    // Dropped last: `.git` may appear again when nobody is left to write it.
    let mut placeholders = Placeholders::default();
    let (child, inner) = match &task.how {
        How::FullAccess => {
            let pipe = input.map(take_pipe).transpose();
            let pipe = pipe.map_err(|error| format!("cannot use its input: {error}"))?;
            match init::spawn(&task.command, pipe.map_or_else(Stdio::null, Stdio::from)) {
                Ok(child) => (child, None),
                Err(status) => return Ok(Report::Ended { status, left: Vec::new() }),
            }
        }
        How::Bubblewrap { confined, .. } | How::Namespaces { confined } => {
            let (child, inner) = start(socket, task, confined, &mut placeholders)?;
            (child, Some(inner))
        }
    };
    // Only root may, and only root needs it: a fork bomb that no limit binds must not starve us. The
    // command was started before and keeps its own priority.
    let _ = rustix::process::setpriority_process(None, -10);
    if input.is_some() {
        let_go_of_output().map_err(|error| format!("cannot leave its output: {error}"))?;
    }
    let confinement = if inner.is_some() { Confining::Starting } else { Confining::Never };
    let mut watch = Watch { child, inner, status: None, direct: None, confinement, failed: None };
    let outcome = watch.until_the_end(socket, task.command.limits.processes);
    let mut direct = watch.direct;
    let left = tree::end_all(|pid, status| {
        if pid == child {
            direct = Some(status);
        }
    });
    watch.direct = direct;
    watch.read_the_rest();
    drop(placeholders);
    watch.report(outcome, left)
}

/// Starts what confines the command, and tells it what to do.
fn start(
    socket: &UnixStream,
    task: &Task,
    confined: &Confined,
    placeholders: &mut Placeholders,
) -> Result<(Pid, UnixStream), String> {
    let mut warnings = Vec::new();
    let plan = plan::make(confined, &task.command.cwd, placeholders, &mut warnings)
        .map_err(|it| it.to_string())?;
    for warning in warnings {
        let _ = wire::send(socket, &Report::Warning(warning));
    }
    let mut first = Start {
        command: task.command.clone(),
        network: confined.network,
        writable: plan.writable(),
        proc: Proc::ToMount,
    };
    let (ours, theirs) = UnixStream::pair().map_err(|error| format!("no socket: {error}"))?;
    let theirs = OwnedFd::from(theirs);
    let (child, entry) = if let How::Bubblewrap { program, .. } = &task.how {
        first.proc = Proc::Mounted;
        // By its number and not by its name: what is at the name may have changed since we started.
        let own = std::fs::File::open("/proc/self/exe")
            .map_err(|error| format!("cannot open our own program: {error}"))?;
        fcntl_setfd(&own, FdFlags::empty()).map_err(|errno| format!("cannot share it: {errno}"))?;
        let number = own.as_raw_fd().to_string();
        let child = Command::new(program)
            .args(bubblewrap::arguments(&plan, confined.network))
            .arg(format!("/proc/self/fd/{number}"))
            .args([HELPER_ARGUMENT, "init", "close", &number])
            .stdin(Stdio::from(theirs))
            .spawn();
        (child.map_err(|error| format!("cannot start {}: {error}", program.display()))?, None)
    } else {
        let child = Command::new("/proc/self/exe")
            .args([HELPER_ARGUMENT, "enter"])
            .stdin(Stdio::from(theirs))
            .spawn();
        let entry = Entry { plan, network: confined.network };
        (child.map_err(|error| format!("cannot start ourselves: {error}"))?, Some(entry))
    };
    // A child that is gone already has its reason in what it reported.
    if let Some(entry) = entry {
        let _ = wire::send(&ours, &entry);
    }
    let _ = wire::send(&ours, &first);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    Ok((pid.ok_or("no process number")?, ours))
}

/// Why the wait is over.
enum Outcome {
    Done,
    /// The program asked for it, or is gone.
    Ended,
    TooManyProcesses,
}

struct Watch {
    child: Pid,
    /// To the first process inside; none under full access.
    inner: Option<UnixStream>,
    status: Option<Status>,
    direct: Option<WaitStatus>,
    confinement: Confining,
    failed: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Confining {
    /// Full access.
    Never,
    Starting,
    Done,
}

impl Watch {
    fn until_the_end(&mut self, socket: &UnixStream, processes: u32) -> Outcome {
        let Ok(handle) = pidfd_open(self.child, PidfdFlags::empty()) else {
            return Outcome::Ended;
        };
        let before = tasks_of_the_machine();
        let mut deadline: Option<Instant> = None;
        loop {
            let child = self.child;
            let direct = &mut self.direct;
            tree::reap(|pid, status| {
                if pid == child {
                    *direct = Some(status);
                }
            });
            if self.direct.is_some() {
                return if deadline.is_some() { Outcome::Ended } else { Outcome::Done };
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Outcome::Ended;
            }
            if tasks_of_the_machine() > before.saturating_add(processes)
                && tree::descendants().is_ok_and(|all| all.len() > processes as usize + SLACK)
            {
                return Outcome::TooManyProcesses;
            }
            let (mut told, mut heard) = (false, false);
            {
                let mut files = vec![PollFd::new(&handle, PollFlags::IN)];
                files.push(PollFd::new(socket, PollFlags::IN));
                files.extend(self.inner.as_ref().map(|it| PollFd::new(it, PollFlags::IN)));
                // Under full access nobody else keeps a fork bomb small.
                let is_alone = self.confinement == Confining::Never && processes != u32::MAX;
                let wait = if deadline.is_some() || is_alone { &SHORT_STEP } else { &init::STEP };
                if poll(&mut files, Some(wait)).is_ok() {
                    told = !files[1].revents().is_empty();
                    heard = files.get(2).is_some_and(|it| !it.revents().is_empty());
                }
            }
            if heard {
                self.hear();
            }
            if told {
                let mut byte = [0];
                match (&mut &*socket).read(&mut byte) {
                    Ok(1) if byte[0] == wire::END => {
                        self.ask_to_end();
                        deadline.get_or_insert_with(|| Instant::now() + GRACE);
                    }
                    // The lifeline is cut.
                    _ => return Outcome::Ended,
                }
            }
        }
    }

    /// Inside, number 1 takes no such signal from anybody, and what is between it and us must stay
    /// until everything else is gone.
    fn ask_to_end(&self) {
        // Looked for before anybody hears of it: what is started to clean up is not to end as well.
        let below = tree::below_children();
        if self.confinement == Confining::Never {
            let _ = kill_process(self.child, Signal::TERM);
        }
        for pid in below {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    fn hear(&mut self) {
        let Some(inner) = &self.inner else { return };
        match wire::receive::<Report>(inner) {
            Ok(Report::Confined) => self.confinement = Confining::Done,
            Ok(Report::Ended { status, .. }) => self.status = Some(status),
            Ok(Report::Failed(reason)) => self.failed = Some(reason),
            Ok(Report::Warning(_)) => {}
            Err(_) => self.inner = None,
        }
    }

    /// Everybody is dead, so that this comes to an end.
    fn read_the_rest(&mut self) {
        while self.inner.is_some() {
            self.hear();
        }
    }

    fn report(self, outcome: Outcome, left: Vec<i32>) -> Result<Report, String> {
        if let Some(reason) = self.failed {
            return Err(reason);
        }
        let killed = Status::Signalled(Signal::KILL.as_raw());
        let status = match (outcome, self.status, self.confinement, self.direct) {
            (Outcome::TooManyProcesses, ..) => Status::TooManyProcesses,
            (_, Some(status), ..) => status,
            (_, None, Confining::Never, Some(direct)) => init::status_of(direct),
            (Outcome::Done, None, Confining::Starting, _) => {
                return Err("it ended before the command was started".to_owned());
            }
            (_, None, ..) => killed,
        };
        Ok(Report::Ended { status, left })
    }
}

/// How long a command that is asked to end may take before it is made to: enough to delete what is half
/// done, also where others keep the machine busy, and not so much that whoever interrupts it is kept.
const GRACE: Duration = Duration::from_secs(2);
const SHORT_STEP: rustix::event::Timespec =
    rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
/// The helpers themselves, and what ends while we count.
const SLACK: usize = 16;

/// Processes and threads of everybody: one small file, where counting our own takes many.
fn tasks_of_the_machine() -> u32 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let total = text.split_ascii_whitespace().nth(3).and_then(|word| word.split('/').nth(1));
    total.and_then(|total| total.parse().ok()).unwrap_or(u32::MAX)
}
