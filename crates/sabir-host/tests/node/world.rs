//! A node in a temporary home, and callers that talk to it as a server would.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::StreamExt as _;
use sabir_host::process::Runner;
use sabir_host::sandbox::{Confinement, LayerChoice};
use sabir_host::{Echo, Follow, Node, NodeSettings, Program, Skill, Told};
use sabir_ldp::{
    Channel, DelegateId, IdentityCard, Origin, SignaturePolicy, SigningKey, SkillName, Timestamp,
    Trust, TrustDomain,
};
use sabir_policy::{SandboxMode, SandboxPolicy};
use sabir_store::peers::Peers;
use sabir_store::{Options, Reader, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

pub(crate) const NODE: &str = "ldp:delegate:harbor";
pub(crate) const CALLER: &str = "ldp:delegate:caller";
pub(crate) const SESSION: &str = "s-1";

pub(crate) const LOOPBACK: Channel = Channel { origin: Origin::Loopback, credential: None };

pub(crate) struct World {
    pub(crate) node: Node,
    pub(crate) home: Arc<TempDir>,
}

/// A program, run by a shell.
pub(crate) fn shell(script: &str) -> (&str, Arc<dyn Skill>) {
    (script, program(&["/bin/sh", "-c", script]))
}

pub(crate) fn program(argv: &[&str]) -> Arc<dyn Skill> {
    Arc::new(Program {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        cwd: "/".into(),
        env: Vec::new(),
        confinement: Confinement::FullAccess,
        sandbox: SandboxPolicy::of(SandboxMode::DangerFullAccess),
        runner: Arc::new(Runner::new(crate::helper::path(), LayerChoice::None)),
        turns: Arc::new(Semaphore::new(64)),
        repeatable: false,
    })
}

pub(crate) fn settings(skills: &[(&str, Arc<dyn Skill>)]) -> NodeSettings {
    let names: Vec<Value> = skills.iter().map(|(name, _)| json!({ "name": name })).collect();
    let card: IdentityCard = serde_json::from_value(json!({
        "delegate_id": NODE, "name": "Harbor", "model_family": "m", "model_version": "m-1",
        "trust_domain": { "name": "default" }, "context_window": 8192,
        "endpoint": "http://127.0.0.1:7420", "capabilities": names,
        "supported_payload_modes": ["semantic_frame", "text"],
    }))
    .unwrap();
    let trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
    let mut settings = NodeSettings::new(card, trust);
    for (name, skill) in skills {
        settings.skills.insert(SkillName::new(*name).unwrap(), Arc::clone(skill));
    }
    settings
}

pub(crate) fn echo() -> (&'static str, Arc<dyn Skill>) {
    ("echo", Arc::new(Echo))
}

pub(crate) fn key() -> SigningKey {
    SigningKey::from_seed(&[7; 32])
}

impl World {
    pub(crate) async fn new(skills: &[(&str, Arc<dyn Skill>)]) -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), settings(skills)).await
    }

    pub(crate) async fn at(home: Arc<TempDir>, settings: NodeSettings) -> Self {
        let node = start(home.path(), settings).await;
        Self { node, home }
    }

    /// Stops the node and starts another in its home.
    pub(crate) async fn restart(self, skills: &[(&str, Arc<dyn Skill>)]) -> Self {
        let Self { node, home } = self;
        node.stop().await;
        drop(node);
        Self::at(home, settings(skills)).await
    }

    pub(crate) async fn ask(&self, message: &Value) -> Value {
        let text = self.node.ask(&message.to_string(), LOOPBACK).await;
        let answer: Value = serde_json::from_str(&text).unwrap();
        answer["body"].clone()
    }

    /// Opens [`SESSION`] for [`CALLER`].
    pub(crate) async fn open(&self) {
        let body = json!({ "type": "SESSION_PROPOSE", "config": {} });
        let answer = self.ask(&message(CALLER, SESSION, body)).await;
        assert_eq!(answer["type"], "SESSION_ACCEPT", "{answer}");
    }

    pub(crate) async fn submit(&self, task: &str, skill: &str, input: Value) -> Value {
        self.ask(&submission(task, skill, input)).await
    }

    pub(crate) async fn follow(&self, message: &Value, after: Option<u64>) -> Follow {
        self.node.follow(&message.to_string(), LOOPBACK, after).await
    }
}

async fn start(home: &Path, settings: NodeSettings) -> Node {
    // The last one may still be letting go of it.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    let store = loop {
        match Store::open(home) {
            Ok(store) => break store,
            Err(error) if tokio::time::Instant::now() > deadline => panic!("{error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let peers = Peers::open(home).unwrap();
    Node::start(settings, store, peers, key()).await.unwrap()
}

/// A node whose journal takes no more than this.
pub(crate) async fn with_small_disk(max_bytes: u64) -> World {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let options = Options { max_bytes: Some(max_bytes), ..Options::default() };
    let store = Store::open_with(home.path(), &options).unwrap();
    let peers = Peers::open(home.path()).unwrap();
    let node = Node::start(settings(&[echo()]), store, peers, key()).await.unwrap();
    World { node, home }
}

/// All that a stream tells.
pub(crate) async fn all(follow: Follow) -> Vec<(u64, Value)> {
    let told: Vec<Told> = follow.collect().await;
    let (last, others) = told.split_last().unwrap();
    assert!(last.last && others.iter().all(|told| !told.last), "{told:?}");
    told.iter().map(|told| (told.id, body(&told.text))).collect()
}

pub(crate) fn body(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()["body"].clone()
}

pub(crate) fn submission(task: &str, skill: &str, input: Value) -> Value {
    let body = json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": skill, "input": input });
    message(CALLER, SESSION, body)
}

/// An envelope with an id that was never used, also not before a restart.
pub(crate) fn message(from: &str, session: &str, body: Value) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    json!({
        "message_id": format!("m-{number}"), "session_id": session, "from": from, "to": NODE,
        "body": body, "payload_mode": "text", "timestamp": stamp(0),
    })
}

/// The time, so many milliseconds from now.
pub(crate) fn stamp(later_ms: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    Timestamp::from_millis(u64::try_from(now).unwrap() + later_ms).to_string()
}

pub(crate) fn id(name: &str) -> DelegateId {
    DelegateId::new(name).unwrap()
}

pub(crate) fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or_else(|| panic!("no error in {body}"))
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(tokio::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// How many rows the journal has.
pub(crate) fn rows(home: &Path) -> u64 {
    Reader::open(home).unwrap().verify().unwrap().entries
}
