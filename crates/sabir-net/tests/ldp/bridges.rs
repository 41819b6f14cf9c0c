//! The node as a server of tools and as an agent of another protocol, in front of real orders that
//! real delegates carry out. The other side is the published SDK for Python, our own client, or a
//! request made by hand.

mod a2a;
mod a2a_python;
mod lists;
mod mcp_python;
mod push;
mod restarts;
mod rules;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use sabir_capture::{Guard, HostPort, Rules};
use sabir_host::{Desk, DeskModel, DeskSetup, VisitGate};
use sabir_ldp::Fingerprint;
use sabir_net::{
    A2aAgent, A2aLimits, A2aOffer, A2aSetup, Entry, Errands, LdpOptions, Mount, Orders, ToolKit,
    ToolLimits, a2a_router, mcp_router,
};
use sabir_policy::PolicyDoc;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_util::sync::CancellationToken;

use crate::orders::{Buyer, own};
use crate::world::{TOKEN, World};

/// A node with both doors, and a delegate that does its orders.
pub(crate) struct Front {
    pub(crate) worker: World,
    pub(crate) world: World,
    pub(crate) orders: Orders,
    pub(crate) library: TempDir,
    stop: CancellationToken,
    _buyer: Arc<Buyer>,
}

/// How a front is made.
pub(crate) struct Plan<'a> {
    pub(crate) policy: &'a str,
    /// Webhooks that are reached although they are here.
    pub(crate) hooks: Vec<HostPort>,
    pub(crate) limits: A2aLimits,
    pub(crate) tools: ToolLimits,
}

impl Default for Plan<'_> {
    fn default() -> Self {
        let mut limits = A2aLimits::default();
        limits.push.pause = Duration::from_millis(5);
        Self { policy: "", hooks: Vec::new(), limits, tools: ToolLimits::default() }
    }
}

impl Front {
    pub(crate) async fn open() -> Self {
        Self::with(Plan::default()).await
    }

    pub(crate) async fn with(plan: Plan<'_>) -> Self {
        Self::at(&Arc::new(Buyer::new()), plan).await
    }

    /// In a home that may have been used before.
    pub(crate) async fn at(buyer: &Arc<Buyer>, plan: Plan<'_>) -> Self {
        let worker = World::start().await;
        let orders = buyer.orders(vec![own("harbor", &worker)]).await;
        orders.resume_all();
        let library = tempfile::tempdir().unwrap();
        let policy = PolicyDoc::parse(plan.policy).unwrap();
        let desk = Desk::open(DeskSetup {
            home: library.path().to_owned(),
            allow_egress: plan.hooks.clone(),
            program: "/nonexistent".into(),
            model: DeskModel::Extractive,
            policy: policy.clone(),
            integrations: None,
            visible_browser: false,
        });
        let gate = VisitGate::new(library.path().to_owned(), policy, None);
        let errands: Arc<dyn Errands> = Arc::new(orders.clone());
        let kit = ToolKit::new(desk.unwrap(), Arc::clone(&errands), gate.clone(), plan.tools);
        let stop = CancellationToken::new();
        let agent = A2aAgent::open(A2aSetup {
            name: "Harbor".to_owned(),
            description: "does what its delegates do".to_owned(),
            base: "http://127.0.0.1:1".to_owned(),
            offers: Arc::new(|| {
                ["echo", "steps"]
                    .map(|skill| A2aOffer {
                        skill: skill.to_owned(),
                        description: format!("{skill}, for tests"),
                        tags: vec!["test".to_owned()],
                    })
                    .into()
            }),
            needs_token: false,
            errands,
            gate,
            push_folder: buyer.home.path().join("a2a"),
            guard: Guard::new(Rules { allow: plan.hooks }),
            limits: plan.limits,
        });
        let agent = a2a_router(agent.await.unwrap());
        let at =
            |under: &str, router| Mount { under: under.to_owned(), router, entry: Entry::Caller };
        let mounts = vec![
            at("/mcp", mcp_router(Arc::new(kit), stop.clone())),
            at("/a2a", agent.clone()),
            at("/.well-known/agent-card.json", agent),
        ];
        let tokens = vec![Fingerprint::of(TOKEN.as_bytes())];
        let world = World::beside(LdpOptions { tokens, ..LdpOptions::default() }, mounts).await;
        Self { worker, world, orders, library, stop, _buyer: Arc::clone(buyer) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.world.address)
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.world.end().await;
        self.orders.leave().await;
        self.worker.end().await;
    }
}

/// A program in Python that does what it is told.
pub(crate) struct Script {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Script {
    pub(crate) fn start(python: &Path, name: &str, args: &[&str]) -> Self {
        let script: PathBuf =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../sabir/tests/python").join(name);
        let mut command = Command::new(python);
        command.arg(script).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, output }
    }

    /// Tells it to do something, and waits for nothing.
    pub(crate) async fn tell(&mut self, order: Value) {
        self.input.write_all(format!("{order}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await.unwrap();
        let line = line.unwrap().unwrap_or_else(|| panic!("it ended"));
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
    }

    /// What comes of it, whatever it is.
    pub(crate) async fn order(&mut self, order: Value) -> Value {
        self.tell(order).await;
        loop {
            let line = self.next().await;
            if line.get("event").is_none() {
                return line;
            }
        }
    }

    /// What comes of it, which is good.
    pub(crate) async fn good(&mut self, order: Value) -> Value {
        let answer = self.order(order.clone()).await;
        let done = answer.get("ok").cloned();
        done.unwrap_or_else(|| panic!("{order}: {answer}"))
    }

    pub(crate) async fn end(mut self) {
        drop(self.input);
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        assert!(ended.unwrap().unwrap().success());
    }
}

/// A message of A2A.
pub(crate) fn message(id: &str, skill: &str, parts: Value) -> Value {
    json!({ "messageId": id, "role": "ROLE_USER", "parts": parts, "metadata": { "skill": skill } })
}

const PATIENCE: Duration = Duration::from_secs(60);
