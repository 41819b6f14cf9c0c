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
    /// An argument may be any options; not behind `--`.
    PerhapsOptions,
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
    Row {
        name: "rm",
        when: When::PerhapsOptions,
        why: "is given what is not known and may be `-rf`",
    },
    Row { name: "shred", when: When::Always, why: "overwrites files so that nothing is left" },
    Row { name: "srm", when: When::Always, why: "overwrites files so that nothing is left" },
    Row { name: "wipe", when: When::Always, why: "overwrites files so that nothing is left" },
    Row { name: "rimraf", when: When::Always, why: "removes folders for good, without asking" },
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
        when: When::Argument(&["--", ".", "./", "..", ":", ":/", "*"]),
        why: "writes over changes that were never committed",
    },
    Row {
        name: "checkout",
        when: When::Flag { short: "fB", long: &["force", "pathspec-from-file"] },
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
    "--shallow-file",
    "--super-prefix",
    "--work-tree",
];

/// Global options of git that choose which configuration is believed, and by it what an unknown
/// subcommand does; a star stands for anything that follows.
pub(super) const GIT_CONFIGURERS: &[&str] =
    &["-C", "-c", "--config-env*", "--exec-path*", "--git-dir*", "--work-tree*"];

/// Variables that do the same.
pub(super) const GIT_VARIABLES: &[&str] =
    &["GIT_CONFIG*", "GIT_DIR", "GIT_EXEC_PATH", "HOME", "XDG_CONFIG_HOME"];

/// Variables whose value git or a shell takes for a setting or a command.
pub(super) const COMMAND_VARIABLES: &[&str] = &[
    "GIT_ASKPASS",
    "GIT_CONFIG_VALUE*",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH*",
    "EDITOR",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "VISUAL",
];

/// Subcommands of git that run a command which stands among their arguments.
pub(super) const GIT_RUNNERS: &[&str] = &["bisect", "for-each-repo", "rebase", "submodule"];

/// Subcommands of git that take a command as the value of an option or of an address.
pub(super) const GIT_SCRIPT_TAKERS: &[&str] = &[
    "archive",
    "clone",
    "difftool",
    "fetch",
    "fetch-pack",
    "grep",
    "ls-remote",
    "mergetool",
    "pull",
    "push",
    "remote",
    "send-email",
    "send-pack",
];

/// Subcommands of git that are its own. Any other is an alias or a program.
pub(super) const GIT_SUBCOMMANDS: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bugreport",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "daemon",
    "describe",
    "diagnose",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fast-export",
    "fast-
    import",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "filter-repo",
    "fmt-merge-msg",
    "for-each-
    ref",
    "for-each-repo",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "index-pack",
    "init",
    "instaweb",
    "interpret-trailers",
    "lfs",
    "log",
    "ls-files",
    "ls-
    remote",
    "ls-tree",
    "mailinfo",
    "mailsplit",
    "maintenance",
    "merge",
    "merge-base",
    "merge-
    file",
    "merge-index",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "mv",
    "name-rev",
    "notes",
    "pack-objects",
    "pack-refs",
    "patch-id",
    "prune",
    "prune-packed",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "receive-pack",
    "reflog",
    "refs",
    "remote",
    "repack",
    "replace",
    "replay",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-
    parse",
    "revert",
    "rm",
    "send-email",
    "send-pack",
    "shortlog",
    "show",
    "show-branch",
    "show-
    index",
    "show-ref",
    "sparse-checkout",
    "stage",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-file",
    "unpack-objects",
    "update-index",
    "update-
    ref",
    "update-server-info",
    "upload-archive",
    "upload-pack",
    "var",
    "verify-commit",
    "verify-
    pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// A command that runs the command which stands among its arguments. Options differ from system to
/// system, so every argument is looked at as if the command began there; what a row knows of them
/// is for finding the place of a command whose name is not known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runner {
    pub(super) name: &'static str,
    /// Letters of short options whose value is the next argument.
    pub(super) values: &'static str,
    /// Arguments before the command, or why it cannot be found by counting.
    pub(super) command: CommandAt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandAt {
    /// Behind the options and this many arguments.
    Argument(usize),
    /// Behind words of its own, or in the value of an option.
    Elsewhere,
}

const fn runner(name: &'static str, values: &'static str, arguments: usize) -> Runner {
    Runner { name, values, command: CommandAt::Argument(arguments) }
}

const fn elsewhere(name: &'static str) -> Runner {
    Runner { name, values: "", command: CommandAt::Elsewhere }
}

pub(super) const RUNNERS: &[Runner] = &[
    // Words of shells that the grammar may take for commands.
    runner("!", "", 0),
    runner("-", "", 0),
    runner("do", "", 0),
    runner("elif", "", 0),
    runner("else", "", 0),
    runner("if", "", 0),
    runner("nocorrect", "", 0),
    runner("noglob", "", 0),
    runner("repeat", "", 1),
    runner("then", "", 0),
    runner("until", "", 0),
    runner("while", "", 0),
    runner("{", "", 0),
    // Parts of shells.
    runner("builtin", "", 0),
    runner("command", "", 0),
    runner("coproc", "", 0),
    runner("exec", "a", 0),
    runner("time", "fo", 0),
    // Programs.
    runner("aa-exec", "pn", 0),
    elsewhere("bundle"),
    elsewhere("bunx"),
    runner("busybox", "", 0),
    elsewhere("bwrap"),
    runner("caffeinate", "tw", 0),
    runner("capsh", "", 0),
    runner("catchsegv", "", 0),
    runner("cgexec", "g", 0),
    runner("chpst", "uUbe/nmdofpctr", 0),
    runner("chronic", "", 0),
    runner("chroot", "", 1),
    runner("chrt", "TPD", 1),
    runner("cpulimit", "lp", 0),
    runner("daemonize", "acepolu", 0),
    runner("dbus-launch", "", 0),
    runner("dbus-run-session", "", 0),
    runner("doas", "uC", 0),
    elsewhere("dotenv"),
    runner("dumb-init", "r", 0),
    runner("eatmydata", "", 0),
    runner("entr", "", 0),
    runner("env", "uCS", 0),
    runner("fakechroot", "", 0),
    runner("fakeroot", "lsbi", 0),
    runner("faketime", "", 1),
    elsewhere("fd"),
    elsewhere("fdfind"),
    elsewhere("find"),
    runner("firejail", "", 0),
    elsewhere("flatpak-spawn"),
    runner("flock", "wEc", 1),
    elsewhere("gdb"),
    runner("gosu", "", 1),
    runner("hyperfine", "wrmMpcSn", 0),
    runner("i386", "", 0),
    runner("ifne", "", 0),
    runner("ionice", "cnpPu", 0),
    runner("linux32", "", 0),
    runner("linux64", "", 0),
    elsewhere("lldb"),
    runner("ltrace", "aAeDFlnopSuwX", 0),
    elsewhere("mise"),
    elsewhere("mpirun"),
    runner("nice", "n", 0),
    elsewhere("nix"),
    elsewhere("nix-shell"),
    runner("nohup", "", 0),
    elsewhere("npx"),
    runner("nsenter", "tSG", 0),
    runner("numactl", "iNCmpP", 0),
    elsewhere("parallel"),
    elsewhere("perf"),
    runner("pkexec", "", 0),
    elsewhere("poetry"),
    runner("prlimit", "p", 0),
    runner("proot", "rbwqk", 0),
    runner("proxychains", "f", 0),
    runner("proxychains4", "f", 0),
    runner("retry", "dt", 0),
    runner("rlwrap", "", 0),
    elsewhere("rr"),
    elsewhere("runcon"),
    elsewhere("runuser"),
    elsewhere("schroot"),
    elsewhere("screen"),
    elsewhere("script"),
    elsewhere("setarch"),
    runner("setpriv", "", 0),
    runner("setsid", "", 0),
    runner("setuidgid", "", 1),
    elsewhere("sg"),
    runner("softlimit", "admsl", 0),
    runner("ssh", "BbcDEeFIiJLlmOopQRSWw", 1),
    runner("start-stop-daemon", "xpuagncd", 0),
    runner("stdbuf", "ioe", 0),
    runner("strace", "abeEIoOpPsSuUX", 0),
    elsewhere("su"),
    runner("su-exec", "", 1),
    runner("sudo", "CDghpRrTtUu", 0),
    runner("systemd-inhibit", "", 0),
    runner("systemd-run", "HMptuE", 0),
    runner("taskset", "", 1),
    runner("timelimit", "tTsS", 0),
    runner("timeout", "ks", 1),
    runner("tini", "pe", 0),
    elsewhere("tmux"),
    runner("torsocks", "", 0),
    runner("torify", "", 0),
    runner("toybox", "", 0),
    runner("trickle", "du", 0),
    runner("tsocks", "", 0),
    runner("unbuffer", "", 0),
    runner("uname26", "", 0),
    runner("unshare", "SGRw", 0),
    elsewhere("uv"),
    elsewhere("uvx"),
    runner("valgrind", "", 0),
    runner("watch", "nq", 0),
    runner("x86_64", "", 0),
    runner("xargs", "EIdLnPsa", 0),
    elsewhere("xterm"),
    runner("xvfb-run", "enfsp", 0),
    elsewhere("zellij"),
];

/// Tools that run a command behind `exec` or `run`.
pub(super) const CONTAINERS: &[&str] =
    &["docker", "docker-compose", "kubectl", "lxc", "nerdctl", "podman"];

/// Runners that repeat a command for everything they were given, so that a plain `rm` empties a
/// tree.
pub(super) const REPEATERS: &[&str] = &["entr", "fd", "fdfind", "find", "parallel", "xargs"];
pub(super) const REMOVERS: &[&str] = &["rm", "unlink"];

/// Runners whose option `-c` has a script as its value.
pub(super) const COMMAND_TAKERS: &[&str] = &["flock", "runuser", "script", "sg", "su"];

/// Commands whose arguments are scripts.
pub(super) const EVALUATORS: &[&str] = &["alias", "eval", "trap"];

/// Shells in a wider sense than those whose scripts can be safe: their scripts are looked through
/// for what is destructive.
pub(super) const SHELLS: &[&str] = &[
    "ash",
    "bash",
    "bash-static",
    "csh",
    "dash",
    "elvish",
    "fish",
    "ksh",
    "ksh93",
    "lksh",
    "mksh",
    "nu",
    "oksh",
    "osh",
    "posh",
    "pwsh",
    "rbash",
    "rksh",
    "rzsh",
    "sh",
    "tcsh",
    "xonsh",
    "yash",
    "zsh",
];

/// Interpreters of other languages, whose scripts can start commands; a star stands for anything.
pub(super) const INTERPRETERS: &[&str] = &[
    "awk", "bun", "deno", "emacs", "ex", "expect", "gawk", "lua*", "mawk", "nawk", "node", "nvim",
    "perl*", "php*", "pypy*", "python*", "ruby*", "tclsh*", "vi", "vim",
];

/// Tools whose first argument says what they do.
pub(super) const BY_SUBCOMMAND: &[&str] =
    &["docker", "git", "kubectl", "podman", "terraform", "tofu"];

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
