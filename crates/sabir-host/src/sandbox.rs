//! Confines commands, so that nothing escapes and nothing survives.
//!
//! A command never runs as a child of the program itself. The program starts itself once more, with
//! [`HELPER_ARGUMENT`] as first argument; that process, the *supervisor*, starts what confines the
//! command and ends all of it when the command ends, when it is told to, or when the program goes
//! away, however that happens. What the confinement does and does not hold back is written down in
//! `docs/sandbox.md`.

mod bubblewrap;
mod check;
mod init;
mod landlock;
mod namespaces;
mod placeholder;
mod plan;
mod probe;
mod seccomp;
mod sockets;
mod supervise;
mod tree;
pub(crate) mod wire;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sabir_policy::{SandboxMode, SandboxPolicy};
use serde::{Deserialize, Serialize};

pub(crate) use plan::{has_linked_git, usable_root};
pub use probe::{LayerReport, Probe, Unconfinable};
pub(crate) use probe::{how, probe};
pub use tree::kill_tree;

/// The first argument by which the program knows that it was started as a helper.
pub const HELPER_ARGUMENT: &str = "__sandbox";

/// Forces one layer, for tests and for finding out what is wrong: `bubblewrap`, `namespaces` or
/// `none`.
pub const LAYER_VARIABLE: &str = "SABIR_SANDBOX_LAYER";

/// What confines a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The program `bwrap`.
    Bubblewrap,
    /// Name spaces of our own.
    Namespaces,
}

impl Layer {
    /// From the most tried to the least.
    pub const ALL: [Self; 2] = [Self::Bubblewrap, Self::Namespaces];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Namespaces => "namespaces",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which layers may be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LayerChoice {
    /// The first that works.
    #[default]
    Any,
    /// This one, or a refusal.
    Only(Layer),
    /// A refusal: as on a machine where nothing works.
    None,
}

impl LayerChoice {
    /// What [`LAYER_VARIABLE`] asks for. This is the only place that reads it.
    pub fn from_environment() -> Result<Self, UnknownLayer> {
        match std::env::var(LAYER_VARIABLE) {
            Ok(name) if !name.is_empty() => name.parse(),
            _ => Ok(Self::Any),
        }
    }

    pub(crate) fn permits(self, layer: Layer) -> bool {
        match self {
            Self::Any => true,
            Self::Only(only) => only == layer,
            Self::None => false,
        }
    }
}

impl std::str::FromStr for LayerChoice {
    type Err = UnknownLayer;

    fn from_str(name: &str) -> Result<Self, UnknownLayer> {
        match name {
            "any" => Ok(Self::Any),
            "bubblewrap" => Ok(Self::Only(Layer::Bubblewrap)),
            "namespaces" => Ok(Self::Only(Layer::Namespaces)),
            "none" => Ok(Self::None),
            _ => Err(UnknownLayer { name: name.to_owned() }),
        }
    }
}

/// A layer that does not exist was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLayer {
    pub name: String,
}

impl fmt::Display for UnknownLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown sandbox layer `{}`: say bubblewrap, namespaces, none or any", self.name)
    }
}

impl std::error::Error for UnknownLayer {}

/// How much of the machine a command gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confinement {
    /// Everything that the user has. Still supervised: nothing survives.
    FullAccess,
    Confined(Confined),
}

/// What a confined command may do. Everything else can be read and not written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confined {
    /// Folders that may be written; those that do not exist are left out with a warning.
    pub writable_roots: Vec<PathBuf>,
    /// Stays read-only inside a writable root: the agent's own state.
    pub read_only: Vec<PathBuf>,
    /// Cannot even be read: files with keys.
    pub hidden: Vec<PathBuf>,
    pub network: Network,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    #[default]
    Off,
    On,
}

/// What belongs to the agent and not to the commands it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnState {
    /// Folders that commands may read and never write: the agent's home.
    pub folders: Vec<PathBuf>,
    /// Files that commands may not read: those with keys.
    pub key_files: Vec<PathBuf>,
}

impl Confinement {
    /// What a policy means for a command that starts in `cwd`. `tmpdir` is the folder that the
    /// variable `TMPDIR` names, if it is set.
    pub fn of(policy: &SandboxPolicy, cwd: &Path, tmpdir: Option<&Path>, own: &OwnState) -> Self {
        if policy.mode == SandboxMode::DangerFullAccess {
            return Self::FullAccess;
        }
        // A name that is not UTF-8 becomes one that is not there, and stays read-only.
        let (cwd, tmpdir) = (cwd.to_string_lossy(), tmpdir.map(Path::to_string_lossy));
        let roots = sabir_policy::writable_roots(policy, &cwd, tmpdir.as_deref(), &[]);
        let writable_roots = roots.into_iter().map(|root| PathBuf::from(root.path)).collect();
        Self::Confined(Confined {
            writable_roots,
            read_only: own.folders.clone(),
            hidden: own.key_files.clone(),
            network: if policy.network_access { Network::On } else { Network::Off },
        })
    }
}

/// The folder for temporary files that the environment names. A relative one would mean another
/// folder to every program.
pub fn temporary_folder() -> Option<PathBuf> {
    std::env::var_os("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute())
}

/// What one command may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes and threads at one time.
    pub processes: u32,
    /// The size of one file, in bytes.
    pub file_size: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { processes: DEFAULT_PROCESSES, file_size: None }
    }
}

/// Enough for a parallel build on a large machine; few enough for a small one to survive them.
pub const DEFAULT_PROCESSES: u32 = 1024;

/// Keeps other processes of the same user from reading this one's memory and environment. The
/// program calls it first of all: what it holds are keys.
pub fn protect_self() -> std::io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// The helper: what the program does when its first argument is [`HELPER_ARGUMENT`]. `args` are the
/// arguments after it.
///
/// It must be called before any thread is started, because name spaces are entered by threads.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let words: Vec<&str> = args.iter().filter_map(|word| word.to_str()).collect();
    match words.as_slice() {
        ["supervise"] => supervise::run(None),
        ["supervise", "input", number] => supervise::run(number.parse().ok()),
        ["enter"] => namespaces::run(),
        ["init"] => init::run(None),
        ["init", "close", number] => init::run(number.parse().ok()),
        ["check", places @ ..] => check::run(places),
        // Nobody types this: the words come from the program itself.
        _ => ExitCode::from(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_the_rules_leave_out_are_not_writable() {
        let mut policy = SandboxPolicy::of(SandboxMode::WorkspaceWrite);
        policy.exclude_slash_tmp = true;
        policy.writable_roots = ["/x/sub/..", "/y", "z"].map(str::to_owned).to_vec();
        let own = OwnState::default();
        let found = Confinement::of(&policy, Path::new("/w"), Some(Path::new("/t/..")), &own);
        let Confinement::Confined(confined) = found else { panic!("{found:?}") };
        assert_eq!(confined.writable_roots, ["/w", "/y"].map(PathBuf::from));
    }
}
