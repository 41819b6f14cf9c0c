//! Sessions in one process: what an idle one costs in memory, and how fast what a model says goes
//! through the machine and the journal to a reader.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use sabir_engine::{Decoded, EventMsg, decode};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{Connection, Defaults, Engine, Incoming, McpConfig, Providers, Setup};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Effort;

/// What was measured.
#[derive(Serialize)]
pub(crate) struct Sessions {
    idle: usize,
    /// Bytes that the process grew by for each idle session.
    bytes_each: f64,
    deltas: usize,
    /// Of the best round.
    seconds: f64,
}

/// The journal lies beside the report: the folder for temporary files is often in memory.
pub(crate) fn measure(beside: &Path, effort: Effort) -> anyhow::Result<Sessions> {
    let (idle, deltas, rounds) = match effort {
        Effort::Quick => (10, 1_000, 1),
        Effort::Full => (1_000, 100_000, 5),
    };
    let folder = beside.parent().filter(|it| it.is_dir()).unwrap_or(Path::new("."));
    let home = tempfile::tempdir_in(folder).context("cannot make a folder for the sessions")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let text: String =
        (0..deltas).map(|it| responses::text_delta(&format!("word {it} "))).collect();
    let text = text + &responses::message("") + &responses::completed("r");
    let model = FakeModel::answering(move |_, _| Some(Reply::sse([&text])));
    runtime.block_on(async {
        let engine = open(home.path())?;
        let configure = json!({
            "type": "configure_session", "model": "m", "cwd": home.path(),
            "provider": { "base_url": model.base_url(), "wire_api": "responses" },
        });
        // The first one pays for what all share.
        let mut first = engine.connect();
        begin(&mut first, &configure).await?;
        let mut best = Duration::MAX;
        for _ in 0..rounds {
            best = best.min(talk(&mut first, deltas).await?);
        }
        let before = resident_bytes()?;
        let mut others = Vec::with_capacity(idle);
        for _ in 0..idle {
            let mut connection = engine.connect();
            begin(&mut connection, &configure).await?;
            others.push(connection);
        }
        let grown = resident_bytes()?.saturating_sub(before);
        others.push(first);
        for Connection { submissions, events, done } in others {
            drop((submissions, events));
            done.await?;
        }
        let bytes_each = grown as f64 / idle as f64;
        Ok(Sessions { idle, bytes_each, deltas, seconds: best.as_secs_f64() })
    })
}

impl Sessions {
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let Self { idle, bytes_each, deltas, seconds } = self;
        let _ = writeln!(out, "\n{idle} idle sessions: {:.1} KiB each", bytes_each / 1024.0);
        let _ = writeln!(
            out,
            "{deltas} deltas from a model through the journal to a reader: {:.0} a second",
            *deltas as f64 / seconds
        );
        out
    }
}

fn open(home: &Path) -> anyhow::Result<Engine> {
    let runner = Runner::new(std::env::current_exe()?, LayerChoice::None);
    let (providers, defaults) = (Providers::none(), Defaults::default());
    Ok(Engine::open(Setup {
        home: home.join("home"),
        runner,
        providers,
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults,
    })?)
}

async fn submit(connection: &Connection, op: &Value) -> anyhow::Result<()> {
    let line = json!({ "id": "1", "op": op }).to_string();
    let decoded: Decoded = match decode(line.as_bytes()) {
        Ok(decoded) => decoded,
        Err(refusal) => bail!("{}", refusal.message),
    };
    connection.submissions.send(Incoming::Submission(decoded)).await.context("the engine is gone")
}

async fn begin(connection: &mut Connection, configure: &Value) -> anyhow::Result<()> {
    submit(connection, configure).await?;
    match connection.events.recv().await.map(|shown| shown.event.msg) {
        Some(EventMsg::SessionConfigured { .. }) => Ok(()),
        other => bail!("no session: {other:?}"),
    }
}

async fn talk(connection: &mut Connection, deltas: usize) -> anyhow::Result<Duration> {
    let input = json!({ "type": "user_input", "items": [{ "type": "text", "text": "talk" }] });
    let start = Instant::now();
    submit(connection, &input).await?;
    let mut seen = 0;
    loop {
        match connection.events.recv().await.context("the engine is gone")?.event.msg {
            EventMsg::AgentMessageDelta { .. } => seen += 1,
            EventMsg::TaskComplete { .. } => break,
            EventMsg::Error { message } => bail!("{message}"),
            _ => {}
        }
    }
    // The empty message at the end has one, too.
    ensure!(seen == deltas + 1 || seen == deltas, "{seen} of {deltas} deltas came");
    Ok(start.elapsed())
}

pub(crate) fn resident_bytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kib.context("/proc/self/status does not say how much memory is used")?.parse::<u64>()?
        * 1024)
}
