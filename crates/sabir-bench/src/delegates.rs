//! A node that is asked by many, beside a bare axum server that reads typed JSON and writes it back:
//! no check, no signature, no journal. Whoever speaks HTTP and JSON cannot be faster than that one.

mod caller;
mod load;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use axum::routing::post;
use axum::{Json, Router};
use sabir_host::process::Runner;
use sabir_host::sandbox::{LayerChoice, OwnState};
use sabir_host::{Inbox, Node, NodeConfig, SkillKit, Surroundings};
use sabir_ldp::{SigningKey, Timestamp};
use sabir_net::{LdpOptions, LdpServer};
use sabir_store::Store;
use sabir_store::peers::Peers;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Effort;
use crate::middle::median;
use caller::{Caller, Means};
use load::Load;

#[derive(Serialize)]
pub(crate) struct Delegates {
    connections: usize,
    rows: Vec<Row>,
    /// Tasks that share a transaction of the journal.
    rows_per_commit: f64,
    sessions: Option<Sessions>,
}

/// Sessions that are open and do nothing.
#[derive(Serialize)]
struct Sessions {
    count: usize,
    /// Bytes that the process grew by for each.
    bytes_each: f64,
}

/// One kind of round trip.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Echo,
    Session,
    Identity,
}

/// What a kind took: the middle of several rounds.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    per_second: f64,
    p50_us: f64,
    p99_us: f64,
    /// What a round trip costs in computing, on both sides.
    cpu_us: f64,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Echo, Self::Session, Self::Identity];

    pub(crate) fn named(name: &str) -> anyhow::Result<Self> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.with_context(|| {
            let names = Self::ALL.map(|kind| format!("{:?}", kind.name())).join(", ");
            format!("no kind of round trip is called {name:?}; there are {names}")
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Echo => "bare echo",
            Self::Session => "session key",
            Self::Identity => "Ed25519",
        }
    }

    fn means(self) -> Means {
        match self {
            Self::Echo | Self::Session => Means::Session,
            Self::Identity => Means::Identity,
        }
    }
}

/// What is measured, if not everything as usual.
#[derive(Default)]
pub(crate) struct Wishes {
    /// One kind alone, so that a profile shows nothing else.
    pub(crate) only: Option<Kind>,
    /// How many callers ask at once.
    pub(crate) connections: Option<NonZeroUsize>,
}

/// The journal lies beside the
/// report: the folder for temporary files is often in memory.
pub(crate) fn measure(
    beside: &Path,
    effort: Effort,
    Wishes { only, connections }: Wishes,
) -> anyhow::Result<Delegates> {
    let (usual, each, rounds, count) = match effort {
        Effort::Quick => (2, 5, 1, 10),
        Effort::Full => (64, 400, 5, 10_000),
    };
    let connections = connections.map_or(usual, NonZeroUsize::get);
    let folder = beside.parent().filter(|it| it.is_dir()).unwrap_or(Path::new("."));
    let home = || tempfile::tempdir_in(folder).context("cannot make a folder for the node");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // First of all: memory that was used and given back would hide what the sessions take.
    let sessions = match only {
        Some(_) => None,
        None => {
            let bytes_each = runtime.block_on(weigh_sessions(home()?.path(), count))?;
            Some(Sessions { count, bytes_each })
        }
    };
    let home = home()?;
    let stop = CancellationToken::new();
    let (node, address, store) = runtime.block_on(serve_node(home.path(), stop.clone()))?;
    let echo = runtime.block_on(serve_echo(stop.clone()))?;
    let key = SigningKey::from_seed(&NODE_SEED).public_key();
    let callers: anyhow::Result<Vec<Caller>> = (0..connections)
        .map(|number| runtime.block_on(Caller::open((number, 0), &node, &key)))
        .collect();
    let mut callers = callers?;

    let wanted = Kind::ALL.into_iter().filter(|kind| only.is_none_or(|it| it == *kind));
    let mut loads: Vec<(Kind, Vec<Load>)> = wanted.map(|kind| (kind, Vec::new())).collect();
    for _ in 0..rounds {
        for (kind, loads) in &mut loads {
            let (at, path, expected) = match kind {
                Kind::Echo => (echo, "/echo", "TASK_SUBMIT"),
                Kind::Session | Kind::Identity => (address, "/ldp/messages", "TASK_RESULT"),
            };
            let texts = callers.iter_mut().map(|caller| caller.tasks(each, kind.means()));
            let texts: anyhow::Result<Vec<Vec<String>>> = texts.collect();
            let requests = texts?
                .into_iter()
                .map(|texts| texts.iter().map(|text| load::request(path, at, text)).collect());
            loads.push(load::run(at, requests.collect(), expected)?);
        }
    }
    let rows = loads.iter().map(|(kind, loads)| Row::of(kind.name(), loads)).collect();

    let counts = store.counts();
    let rows_per_commit = counts.rows as f64 / counts.commits as f64;
    stop.cancel();
    runtime.block_on(node.stop());
    Ok(Delegates { connections, rows, rows_per_commit, sessions })
}

/// What a node grows by for each session that is open. Who opened it goes away.
async fn weigh_sessions(home: &Path, count: usize) -> anyhow::Result<f64> {
    let stop = CancellationToken::new();
    let (node, _, _) = serve_node(home, stop.clone()).await?;
    let key = SigningKey::from_seed(&NODE_SEED).public_key();
    let open = async |from: usize, to: usize| -> anyhow::Result<()> {
        for first in (from..to).step_by(AT_ONCE) {
            let opening = (first..to.min(first + AT_ONCE))
                .map(|number| Caller::open((number % CALLERS, number / CALLERS), &node, &key));
            futures_util::future::try_join_all(opening).await?;
        }
        Ok(())
    };
    // What the first ones need, all share.
    let few = count / 10;
    open(0, few).await?;
    let before = crate::sessions::resident_bytes()?;
    open(few, count).await?;
    let grown = crate::sessions::resident_bytes()?.saturating_sub(before);
    stop.cancel();
    node.stop().await;
    Ok(grown as f64 / (count - few) as f64)
}

/// Who opens sessions, and how many of them at one time.
const CALLERS: usize = 64;
const AT_ONCE: usize = 64;

impl Row {
    fn of(name: &'static str, loads: &[Load]) -> Self {
        let of_loads = |figure: &dyn Fn(&Load) -> f64| median(loads.iter().map(figure).collect());
        let micros = |percent| move |load: &Load| load.percentile(percent).as_secs_f64() * 1e6;
        Self {
            name,
            per_second: of_loads(&Load::per_second),
            p50_us: of_loads(&micros(50)),
            p99_us: of_loads(&micros(99)),
            cpu_us: of_loads(&|load| load.computed_each().as_secs_f64() * 1e6),
        }
    }
}

impl Delegates {
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let title = format!("tasks on {} connections", self.connections);
        let _ = writeln!(
            out,
            "\n{title:<34}{:>12}{:>12}{:>12}{:>12}{:>12}",
            "per second", "p50 us", "p99 us", "cpu us", "x echo"
        );
        let floor = self.rows.iter().find(|row| row.name == Kind::Echo.name());
        let floor = floor.map_or(f64::NAN, |row| row.per_second);
        for Row { name, per_second, p50_us, p99_us, cpu_us } in &self.rows {
            let ratio = per_second / floor;
            let _ = writeln!(
                out,
                "{name:<34}{per_second:>12.0}{p50_us:>12.0}{p99_us:>12.0}{cpu_us:>12.1}{ratio:>12.2}"
            );
        }
        let _ = writeln!(out, "{:.1} rows to a commit of the journal", self.rows_per_commit);
        if let Some(Sessions { count, bytes_each }) = &self.sessions {
            let _ = writeln!(out, "{count} open sessions: {:.1} KiB each", bytes_each / 1024.0);
        }
        out
    }
}

async fn serve_node(
    home: &Path,
    stop: CancellationToken,
) -> anyhow::Result<(Node, SocketAddr, Store)> {
    let config = format!(
        "[node]\ndelegate_id = {NODE:?}\n[[skills]]\nname = {SKILL:?}\nbuiltin = \"echo\"\n"
    );
    let config = NodeConfig::parse(&config)?;
    let server = LdpServer::bind(vec![([127, 0, 0, 1], 0).into()], LdpOptions::default()).await?;
    let address = server.listening().first().context("it listens nowhere")?.address.parse()?;
    let key = SigningKey::from_seed(&NODE_SEED);
    let endpoint = format!("http://{address}");
    let surroundings = Surroundings { key: key.public_key(), endpoint: &endpoint, domains: &[] };
    let kit = SkillKit {
        runner: Arc::new(Runner::new(std::env::current_exe()?, LayerChoice::None)),
        folder: home.to_owned(),
        own: OwnState::default(),
        engine: None,
        desk: None,
        inbox: Inbox::default(),
        gate: None,
    };
    let settings = config.settings(&kit, &surroundings, &|_| None)?;
    let (store, peers) = (Store::open(home)?, Peers::open(home)?);
    let node = Node::start(settings, store.clone(), peers, key).await?;
    tokio::spawn(server.serve(node.clone().into(), stop));
    Ok((node, address, store))
}

/// A message, as a program has it that knows its form and checks nothing.
#[derive(Serialize, Deserialize)]
struct Message {
    message_id: String,
    session_id: String,
    from: String,
    to: String,
    timestamp: String,
    payload_mode: String,
    body: Task,
    nonce: Option<String>,
    signature: Option<String>,
    signature_algorithm: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Task {
    r#type: String,
    task_id: String,
    skill: String,
    input: Value,
}

async fn serve_echo(stop: CancellationToken) -> anyhow::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let echo = |Json(message): Json<Message>| async move { Json(message) };
    let serve = axum::serve(listener, Router::new().route("/echo", post(echo)));
    tokio::spawn(async move {
        tokio::select! {
            _ = serve => {}
            () = stop.cancelled() => {}
        }
    });
    Ok(address)
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp::from_millis(since.as_millis() as u64)
}

const NODE: &str = "ldp:delegate:bench";
const SKILL: &str = "echo";
const NODE_SEED: [u8; 32] = [7; 32];
