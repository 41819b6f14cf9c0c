//! Commands that destroy what cannot be brought back, as data, and the commands that run others.
//! A row says when it applies and why, in words for a person.

/// When a row applies to the arguments of its command.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    Always,
    /// One of these letters in a cluster of short options, or one of these long options in any
    /// abbreviation; not behind `--`.
    Flag {
        short: &'static str,
        long: &'static [&'static str],
    },
    /// None of them.
    NoFlag {
        short: &'static str,
        long: &'static [&'static str],
    },
    /// One of these stands among the arguments.
    Argument(&'static [&'static str]),
    /// An argument begins with one of these.
    Beginning(&'static [&'static str]),
    /// These stand among the arguments, one directly behind the other.
    Phrase(&'static [&'static str]),
    /// An argument (or what follows `of=`) is a device that holds data.
    Device,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// The name without its folder; a star at the end stands for anything.
    pub(super) name: &'static str,
    pub(super) when: When,
    /// Follows the name: "`rm` removes …".
    pub(super) why: &'static str,
}

pub(super) const COMMANDS: &[Row] = &[
    Row {
        name: "rm",
        when: When::Flag { short: "rRf", long: &["recursive", "force", "no-preserve-root"] },
        why: "with force or recursive removes files for good, without asking",
    },
    Row { name: "shred", when: When::Always, why: "overwrites files so that nothing is left" },
    Row { name: "srm", when: When::Always, why: "overwrites files so that nothing is left" },
    Row { name: "wipe", when: When::Always, why: "overwrites files so that nothing is left" },
    Row { name: "truncate", when: When::Always, why: "cuts files short" },
    Row { name: "find", when: When::Argument(&["-delete"]), why: "removes every file it finds" },
    Row { name: "dd", when: When::Device, why: "writes over a whole device" },
    Row { name: "cp", when: When::Device, why: "writes over a whole device" },
    Row { name: "tee", when: When::Device, why: "writes over a whole device" },
    Row { name: "mv", when: When::Device, why: "replaces a device" },
    Row { name: "mv", when: When::Argument(&["/dev/null"]), why: "throws a file away" },
    Row { name: "mkfs*", when: When::Always, why: "makes a new file system over the old one" },
    Row { name: "mke2fs", when: When::Always, why: "makes a new file system over the old one" },
    Row { name: "mkswap", when: When::Always, why: "writes over a whole device" },
    Row { name: "wipefs", when: When::Always, why: "removes the signatures of file systems" },
    Row { name: "blkdiscard", when: When::Always, why: "discards the contents of a device" },
    Row { name: "fdisk", when: When::Always, why: "changes partitions" },
    Row { name: "sfdisk", when: When::Always, why: "changes partitions" },
    Row { name: "gdisk", when: When::Always, why: "changes partitions" },
    Row { name: "sgdisk", when: When::Always, why: "changes partitions" },
    Row { name: "parted", when: When::Always, why: "changes partitions" },
    Row {
        name: "rsync",
        when: When::Beginning(&["--del", "--remove-source-files"]),
        why: "removes files on one side",
    },
    Row {
        name: "crontab",
        when: When::Flag { short: "r", long: &[] },
        why: "removes the whole table",
    },
    Row { name: "userdel", when: When::Always, why: "removes an account" },
    Row { name: "groupdel", when: When::Always, why: "removes a group" },
    Row { name: "shutdown", when: When::Always, why: "stops the machine" },
    Row { name: "reboot", when: When::Always, why: "stops the machine" },
    Row { name: "poweroff", when: When::Always, why: "stops the machine" },
    Row { name: "halt", when: When::Always, why: "stops the machine" },
    Row { name: "kill", when: When::Argument(&["-1"]), why: "may signal every process" },
    Row { name: "dropdb", when: When::Always, why: "removes a database" },
    Row {
        name: "docker",
        when: When::Phrase(&["system", "prune"]),
        why: "removes containers, networks and images",
    },
    Row { name: "docker", when: When::Phrase(&["volume", "rm"]), why: "removes stored data" },
    Row { name: "docker", when: When::Phrase(&["volume", "prune"]), why: "removes stored data" },
    Row {
        name: "podman",
        when: When::Phrase(&["system", "prune"]),
        why: "removes containers, networks and images",
    },
    Row { name: "podman", when: When::Phrase(&["volume", "rm"]), why: "removes stored data" },
    Row { name: "podman", when: When::Phrase(&["volume", "prune"]), why: "removes stored data" },
    Row { name: "kubectl", when: When::Argument(&["delete"]), why: "removes what runs elsewhere" },
    Row {
        name: "terraform",
        when: When::Argument(&["destroy"]),
        why: "removes what runs elsewhere",
    },
    Row { name: "tofu", when: When::Argument(&["destroy"]), why: "removes what runs elsewhere" },
];

/// Subcommands of git; `name` is the subcommand.
pub(super) const GIT: &[Row] = &[
    Row { name: "reset", when: When::Always, why: "moves the branch or drops what was staged" },
    Row { name: "rm", when: When::Always, why: "removes files" },
    Row { name: "clean", when: When::Always, why: "removes files that git does not know" },
    // `git checkout PATH` without `--` cannot be told from a switch of branches, which refuses to
    // overwrite work.
    Row {
        name: "checkout",
        when: When::Argument(&["--", "."]),
        why: "writes over changes that were never committed",
    },
    Row {
        name: "checkout",
        when: When::Flag { short: "fB", long: &["force"] },
        why: "writes over changes that were never committed",
    },
    // `restore --staged` only takes back a `git add`.
    Row {
        name: "restore",
        when: When::NoFlag { short: "S", long: &["staged"] },
        why: "writes over changes that were never committed",
    },
    Row {
        name: "restore",
        when: When::Flag { short: "W", long: &["worktree"] },
        why: "writes over changes that were never committed",
    },
    Row {
        name: "switch",
        when: When::Flag { short: "fC", long: &["force", "force-create", "discard-changes"] },
        why: "drops changes or commits",
    },
    Row {
        name: "checkout-index",
        when: When::Flag { short: "f", long: &["force"] },
        why: "writes over changes that were never committed",
    },
    Row {
        name: "read-tree",
        when: When::Flag { short: "", long: &["reset"] },
        why: "writes over changes that were never committed",
    },
    // `-d` is not here: it refuses a branch whose commits would be lost.
    Row {
        name: "branch",
        when: When::Flag { short: "DfMC", long: &["force"] },
        why: "with force loses the commits of a branch",
    },
    Row {
        name: "push",
        when: When::Flag {
            short: "fd",
            long: &["delete", "force", "force-with-lease", "mirror", "prune"],
        },
        why: "with force or delete changes what others have",
    },
    Row {
        name: "push",
        when: When::Beginning(&["+", ":"]),
        why: "with force or delete changes what others have",
    },
    Row { name: "stash", when: When::Argument(&["clear", "drop"]), why: "drops stashed work" },
    Row {
        name: "reflog",
        when: When::Argument(&["delete", "expire"]),
        why: "forgets commits that nothing else names",
    },
    Row { name: "prune", when: When::Always, why: "forgets commits that nothing else names" },
    Row {
        name: "gc",
        when: When::Flag { short: "", long: &["prune"] },
        why: "forgets commits that nothing else names",
    },
    Row {
        name: "update-ref",
        when: When::Flag { short: "d", long: &["delete", "stdin"] },
        why: "removes branches or tags",
    },
    Row { name: "filter-branch", when: When::Always, why: "rewrites the history" },
    Row { name: "filter-repo", when: When::Always, why: "rewrites the history" },
    Row { name: "worktree", when: When::Argument(&["remove"]), why: "removes a working tree" },
    Row { name: "submodule", when: When::Argument(&["deinit"]), why: "removes a working tree" },
];

/// Global options of git whose value is the next argument.
pub(super) const GIT_OPTIONS_WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--git-dir",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];

/// Subcommands of git that run a command which stands among their arguments.
pub(super) const GIT_RUNNERS: &[&str] = &["bisect", "rebase", "submodule"];

/// Commands that run the command which stands among their arguments. Their own options differ from
/// system to system, so every argument is looked at as if the command began there.
pub(super) const RUNNERS: &[&str] = &[
    "builtin",
    "busybox",
    "bwrap",
    "caffeinate",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "doas",
    "entr",
    "env",
    "exec",
    "fd",
    "fdfind",
    "find",
    "firejail",
    "flock",
    "ionice",
    "ltrace",
    "nice",
    "noglob",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "runuser",
    "script",
    "setsid",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "watch",
    "xargs",
];

/// Runners that repeat a command for everything they were given, so that a plain `rm` empties a
/// tree.
pub(super) const REPEATERS: &[&str] = &["entr", "fd", "fdfind", "find", "parallel", "xargs"];
pub(super) const REMOVERS: &[&str] = &["rm", "unlink"];

/// Commands whose arguments are scripts.
pub(super) const EVALUATORS: &[&str] = &["alias", "eval", "trap"];

/// Shells in a wider sense than those whose scripts can be safe: their scripts are looked through
/// for what is destructive.
pub(super) const SHELLS: &[&str] =
    &["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "yash", "zsh"];

/// What reads a script from its input or from a file that was just written.
pub(super) const SCRIPT_READERS: &[&str] = &[".", "at", "batch", "source", "ssh"];

/// Devices that hold nothing which could be lost; a folder ends in a slash.
pub(super) const HARMLESS_DEVICES: &[&str] = &[
    "/dev/fd/",
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts/",
    "/dev/random",
    "/dev/shm/",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tcp/",
    "/dev/tty",
    "/dev/udp/",
    "/dev/urandom",
    "/dev/zero",
];
