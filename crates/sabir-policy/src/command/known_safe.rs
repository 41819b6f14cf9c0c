//! Commands that are known to only read, as data. What is not listed here is not safe; what a listed
//! command may be given is listed too, because one option can turn a reader into a writer.

/// What a command of the list may be given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arguments {
    /// None of its options writes a file or starts a program.
    Any,
    /// Everything but arguments that begin with one of these.
    NotBeginning(&'static [&'static str]),
    /// Everything but these long options, in any abbreviation, and these letters in a cluster of
    /// short ones.
    Not { long: &'static [&'static str], short: &'static str },
    /// `sed -n 5p FILE` and `sed -n 2,7p FILE`, and nothing else: a script of sed can write files
    /// and run commands.
    PrintLines,
    /// It names the folder in which the next command runs.
    Folder,
    /// The subcommands of [`GIT`].
    Git,
}

/// `cargo check` is not here: it runs the build scripts and macros of the project.
/// `sort` and `uniq` are not here: both take a file to write. `printf` and `test` are not here:
/// as parts of a shell they evaluate the subscripts of array names.
pub(super) const COMMANDS: &[(&str, Arguments)] = &[
    ("basename", Arguments::Any),
    ("cat", Arguments::Any),
    ("cd", Arguments::Folder),
    ("cmp", Arguments::Any),
    ("cut", Arguments::Any),
    ("dirname", Arguments::Any),
    ("du", Arguments::Any),
    ("echo", Arguments::Any),
    ("false", Arguments::Any),
    ("find", Arguments::NotBeginning(&["-delete", "-exec", "-fls", "-fprint", "-ok"])),
    ("git", Arguments::Git),
    ("grep", Arguments::Any),
    ("head", Arguments::Any),
    ("id", Arguments::Any),
    ("ls", Arguments::Any),
    ("nl", Arguments::Any),
    ("pwd", Arguments::Any),
    ("readlink", Arguments::Any),
    ("realpath", Arguments::Any),
    ("rev", Arguments::Any),
    // `--pre` and `--hostname-bin` start a program for every file; compressed files are read by
    // programs that are looked up by name.
    ("rg", Arguments::Not { long: &["hostname-bin", "pre", "search-zip"], short: "z" }),
    ("sed", Arguments::PrintLines),
    ("stat", Arguments::Any),
    ("tac", Arguments::Any),
    ("tail", Arguments::Any),
    ("tr", Arguments::Any),
    ("true", Arguments::Any),
    ("uname", Arguments::Any),
    ("wc", Arguments::Any),
    ("which", Arguments::Any),
    ("whoami", Arguments::Any),
];

/// Where a listed command may be named by its whole path. Other folders hold other programs of the
/// same name.
pub(super) const SYSTEM_FOLDERS: &[&str] = &["/bin", "/usr/bin"];

/// Shells whose scripts are read. Others have another grammar.
pub(super) const SHELLS: &[&str] = &["bash", "dash", "sh", "zsh"];

/// Letters of a shell's short options that do not change what the script does: the script itself,
/// login, stop at errors, stop at unset variables, print commands.
pub(super) const SHELL_LETTERS: &str = "celux";
/// The same by name, behind `-o`.
pub(super) const SHELL_OPTIONS: &[&str] = &["errexit", "nounset", "pipefail", "xtrace"];
pub(super) const SHELL_LONG_OPTIONS: &[&str] = &["--login", "--noprofile", "--norc"];

/// A subcommand of git that reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct GitReader {
    pub(super) name: &'static str,
    /// The options it may be given, each by its whole name; a star stands for anything that
    /// follows directly. Git completes abbreviations, so that a list of what is forbidden would
    /// leak.
    pub(super) options: &'static [&'static [&'static str]],
    pub(super) operands: Operands,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// Revisions and paths.
    Any,
    /// Patterns behind `--list`; without it an operand is the name of a new branch.
    BehindList,
}

/// Global options (`-C`, `-c`, `--git-dir` …) are never safe: they choose which configuration is
/// believed, and configuration names programs.
pub(super) const GIT: &[GitReader] = &[
    GitReader {
        name: "branch",
        options: &[&[
            "--all",
            "--color",
            "--column",
            "--contains",
            // Without `=` the next argument is the value, and may be `--list`.
            "--format=*",
            "--ignore-case",
            "--list",
            "--merged",
            "--no-color",
            "--no-column",
            "--no-contains",
            "--no-merged",
            "--points-at=*",
            "--remotes",
            "--show-current",
            "--sort=*",
            "--verbose",
            "-a",
            "-r",
            "-v",
            "-vv",
            "-av",
            "-avv",
            "-rv",
            "-rvv",
        ]],
        operands: Operands::BehindList,
    },
    GitReader {
        name: "diff",
        options: &[DIFF, &["--cached", "--merge-base", "--staged"]],
        operands: Operands::Any,
    },
    GitReader { name: "log", options: &[DIFF, LOG], operands: Operands::Any },
    GitReader { name: "show", options: &[DIFF, LOG], operands: Operands::Any },
    GitReader {
        name: "status",
        options: &[&[
            "--ahead-behind",
            "--branch",
            "--column",
            "--find-renames",
            "--ignored",
            "--long",
            "--no-ahead-behind",
            "--no-column",
            "--no-renames",
            "--porcelain",
            "--renames",
            "--short",
            "--show-stash",
            "--untracked-files",
            "--verbose",
            "-b",
            "-bs",
            "-s",
            "-sb",
            "-u",
            "-uall",
            "-uno",
            "-unormal",
            "-v",
            "-z",
        ]],
        operands: Operands::Any,
    },
];

/// How a difference is shown. Not here: `--output` writes a file; `--ext-diff` and `--textconv`
/// start programs.
const DIFF: &[&str] = &[
    "--abbrev",
    "--binary",
    "--color",
    "--color-moved",
    "--color-words",
    "--compact-summary",
    "--diff-algorithm",
    "--diff-filter",
    "--dirstat",
    "--exit-code",
    "--find-copies",
    "--find-renames",
    "--full-index",
    "--function-context",
    "--histogram",
    "--ignore-all-space",
    "--ignore-blank-lines",
    "--ignore-space-at-eol",
    "--ignore-space-change",
    "--minimal",
    "--name-only",
    "--name-status",
    "--no-color",
    "--no-ext-diff",
    "--no-patch",
    "--no-prefix",
    "--no-renames",
    "--no-textconv",
    "--numstat",
    "--patch",
    "--patch-with-stat",
    "--patience",
    "--pickaxe-all",
    "--pickaxe-regex",
    "--quiet",
    "--raw",
    "--relative",
    "--shortstat",
    "--stat",
    "--submodule",
    "--summary",
    "--text",
    "--unified",
    "--word-diff",
    "-C",
    "-G*",
    "-M",
    "-R",
    "-S*",
    "-U*",
    "-W",
    "-a",
    "-b",
    "-p",
    "-s",
    "-u",
    "-w",
    "-z",
];

/// Which commits are shown, and how.
const LOG: &[&str] = &[
    "--abbrev-commit",
    "--after",
    "--all",
    "--all-match",
    "--author",
    "--author-date-order",
    "--before",
    "--boundary",
    "--branches",
    "--cherry-pick",
    "--committer",
    "--date",
    "--date-order",
    "--decorate",
    "--extended-regexp",
    "--first-parent",
    "--fixed-strings",
    "--follow",
    "--format",
    "--graph",
    "--grep",
    "--invert-grep",
    "--left-right",
    "--max-count",
    "--merges",
    "--no-abbrev-commit",
    "--no-decorate",
    "--no-merges",
    "--no-notes",
    "--notes",
    "--oneline",
    "--perl-regexp",
    "--pretty",
    "--regexp-ignore-case",
    "--relative-date",
    "--remotes",
    "--reverse",
    "--since",
    "--skip",
    "--source",
    "--tags",
    "--topo-order",
    "--until",
    "-0*",
    "-1*",
    "-2*",
    "-3*",
    "-4*",
    "-5*",
    "-6*",
    "-7*",
    "-8*",
    "-9*",
    "-E",
    "-F",
    "-L*",
    "-c",
    "-g",
    "-i",
    "-m",
    "-n*",
];
