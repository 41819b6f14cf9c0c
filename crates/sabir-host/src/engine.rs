//! Engines: sessions that run. Each connection has a task of its own that owns the machine; others
//! hold the two ends of its queues.

mod actor;
mod configure;
mod delegate;
mod folders;
mod fork;
mod gathered;
mod images;
mod instructions;
mod journal;
mod model;
mod past;
mod question;
mod servers;
mod spawn;
mod work;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sabir_engine::{Decoded, Event, Refusal};
use sabir_ldp::TaskId;
use sabir_policy::PolicyDoc;
use sabir_store::Store;
use sabir_telemetry::within;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::audit::Audit;
use crate::error::HostError;
use crate::files::Recovered;
use crate::mcp::McpConfig;
use crate::model::{HttpClients, Providers};
use crate::policy::load_policy;
use crate::process::Runner;
use crate::reading::KeyFiles;

pub use configure::Defaults;
pub(crate) use folders::{Folders, Place};
pub(crate) use past::{Done, Past};
pub(crate) use question::Question;
use servers::Servers;
pub use spawn::{Origin, SpawnRequest, Spawned, Spawner};

/// What all sessions of a process share.
#[derive(Debug, Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    home: PathBuf,
    store: Store,
    runner: Runner,
    providers: Providers,
    key_files: KeyFiles,
    servers: Servers,
    defaults: Defaults,
    /// What the policy file said when the engine was opened.
    policy: Arc<PolicyDoc>,
    audit: Audit,
    clients: HttpClients,
    /// Sessions that are open somewhere in this process: one at a time may hold each.
    open: Mutex<HashSet<String>>,
    /// Patches that were taken back when the engine was opened; nobody has heard of them yet.
    recovered: Mutex<Vec<Recovered>>,
    /// Who takes work that agents hand on.
    spawner: OnceLock<Arc<dyn Spawner>>,
    /// Where tasks of other agents are at work.
    folders: Folders,
}

/// What an engine is made of.
#[derive(Debug)]
pub struct Setup {
    pub home: PathBuf,
    pub runner: Runner,
    pub providers: Providers,
    /// Files with keys beside those of the providers, which no command and no tool may read.
    pub key_files: Vec<PathBuf>,
    /// Servers of tools; they are started when the first session begins.
    pub mcp: McpConfig,
    pub defaults: Defaults,
}

/// One connection: what is submitted here is told there. When the sender is dropped, nobody can
/// answer any more; the engine finishes what it can, and ends.
#[derive(Debug)]
pub struct Connection {
    pub submissions: mpsc::Sender<Incoming>,
    pub events: mpsc::Receiver<Shown>,
    /// Ends when everything that the session started is gone.
    pub done: JoinHandle<()>,
}

/// Where a session stands among others.
#[derive(Debug, Clone, Default)]
struct Standing {
    /// How many agents stand above this one.
    depth: u32,
    /// The session of the agent that handed the work over.
    works_for: Option<String>,
    origin: Origin,
}

/// What came over a wire.
#[expect(clippy::large_enum_variant, reason = "few are on their way, and most are the large one")]
#[derive(Debug)]
pub enum Incoming {
    Submission(Decoded),
    Refused(Refusal),
}

/// An event, and the line that shows it.
#[derive(Debug, Clone)]
pub struct Shown {
    pub event: Event,
    pub line: String,
}

/// A person who reads slowly slows the model down; these are what is on its way.
const EVENTS_ON_THE_WAY: usize = 64;
const SUBMISSIONS_ON_THE_WAY: usize = 64;

/// An agent may give work to an agent, which may do so once more; then it does the work itself.
const DEEPEST: u32 = 2;

impl Engine {
    /// Opens an engine under the policy of its home.
    pub fn open(setup: Setup) -> Result<Self, HostError> {
        let policy = load_policy(&setup.home)?;
        Self::open_under(setup, policy)
    }

    pub fn open_under(setup: Setup, policy: PolicyDoc) -> Result<Self, HostError> {
        let Setup { home, runner, providers, key_files, mcp, defaults } = setup;
        let policy = Arc::new(policy);
        let store = Store::open(&home)?;
        let audit = Audit::new(home.clone());
        // A patch that a crash left half done is taken back before anyone looks at the files.
        let recovered = Mutex::new(crate::files::recover(&home.join(PATCH_JOURNAL))?);
        let (clients, open) = (HttpClients::default(), Mutex::default());
        // Servers of tools are other programs, too.
        let mcp = mcp.withholding(runner.withheld().iter().cloned());
        let servers = Servers::new(mcp, defaults.cwd.clone(), runner.helper().to_owned());
        let key_files = KeyFiles::new(providers.key_files().chain(key_files));
        let shared = Shared {
            home,
            store,
            runner,
            providers,
            key_files,
            servers,
            defaults,
            policy,
            audit,
            clients,
            open,
            recovered,
            spawner: OnceLock::new(),
            folders: Folders::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Ends the servers of tools, and waits until they are gone. Sessions end with their
    /// connections.
    pub async fn shutdown(&self) {
        self.shared.servers.shutdown().await;
    }

    pub fn home(&self) -> &Path {
        &self.shared.home
    }

    /// Its journal, for others of this process that keep theirs in the same home.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Has somebody take what agents hand on, from now on. Only the first who is named does; without
    /// one, agents hand work to sessions beside their own.
    pub fn hand_on_to(&self, spawner: Arc<dyn Spawner>) {
        let _ = self.shared.spawner.set(spawner);
    }

    /// Where tasks of other agents are at work.
    pub(crate) fn folders(&self) -> &Folders {
        &self.shared.folders
    }

    /// The task whose agent handed this one on, if that was here.
    pub(crate) fn handed_on_by(&self, task: &TaskId) -> Option<TaskId> {
        self.shared.spawner.get()?.handed_on_by(task)
    }

    /// Opens a connection; its session begins with `configure_session`.
    pub fn connect(&self) -> Connection {
        self.connect_for(Origin::default())
    }

    /// A connection for a session that works for somebody.
    pub fn connect_for(&self, origin: Origin) -> Connection {
        self.connect_at(Standing { origin, ..Standing::default() })
    }

    fn connect_at(&self, standing: Standing) -> Connection {
        let trace = standing.origin.trace;
        let (submissions, incoming) = mpsc::channel(SUBMISSIONS_ON_THE_WAY);
        let (outgoing, events) = mpsc::channel(EVENTS_ON_THE_WAY);
        let actor = actor::Actor::new(self.clone(), standing, incoming, outgoing);
        let done = tokio::spawn(within(trace, actor.run()));
        Connection { submissions, events, done }
    }

    /// What a crash had left half done, told once.
    fn recovered(&self) -> Vec<String> {
        let mut recovered = self.shared.recovered.lock().unwrap_or_else(PoisonError::into_inner);
        let in_words = |it: Recovered| match it.left.as_slice() {
            [] => format!("a patch in {} was cut short, and was taken back", it.root.display()),
            left => format!(
                "a patch in {} was cut short, and was taken back but for what was changed since: {}",
                it.root.display(),
                left.join(", ")
            ),
        };
        std::mem::take(&mut *recovered).into_iter().map(in_words).collect()
    }

    /// Whether somebody in this process holds a session. Nobody else can: a home has one owner. What is
    /// not held and has not ended was cut off.
    pub fn is_held(&self, session_id: &str) -> bool {
        let open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.contains(session_id)
    }

    /// Holds a session for one connection.
    fn claim(&self, session_id: &str) -> Option<Claim> {
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(session_id.to_owned())
            .then(|| Claim { engine: self.clone(), session_id: session_id.to_owned() })
    }
}

/// A session that this connection alone may write.
#[derive(Debug)]
struct Claim {
    engine: Engine,
    session_id: String,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut open = self.engine.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&self.session_id);
    }
}

/// Where half-done patches are noted, below the home.
pub(crate) const PATCH_JOURNAL: &str = "patches";

impl Engine {
    /// A new stored session that begins with another's thread up to a response. Returns its name.
    pub fn fork(&self, session_id: &str, response_id: &str) -> Result<String, String> {
        fork::fork(&self.shared, session_id, response_id)
    }
}
