//! What those may do to whom an agent hands work: never more than the agent itself.

use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sabir_engine::ConfigureSession;
use sabir_host::process::Runner;
use sabir_host::sandbox::{Confinement, LayerChoice};
use sabir_host::{
    Agent, Broken, Decision, Inbox, News, Program, Skill, SpawnRequest, Spawned, Spawner as _,
};
use sabir_ldp::{Finished, TaskOrder, TrustDomain};
use sabir_net::Orders;
use sabir_policy::{ApprovalPolicy, Bounds, SandboxMode, SandboxPolicy};
use sabir_store::peers::{Peers, Probed};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::Buyer;
use super::spawning::{Place, configure, engine, home_domain, make_known, request, spawns, talk};

/// Says what the contract of its task holds it to.
#[derive(Debug)]
struct Held;

impl Skill for Held {
    fn run(&self, order: TaskOrder, _: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let contract = order.contract.as_ref();
        let held = contract.map(|it| it.policy.safety_constraints.clone());
        let output = json!({ "held": held });
        async move { Ok(Finished { output, ..Finished::default() }) }.boxed()
    }
}

fn within(mode: SandboxMode, cwd: &str) -> Bounds {
    Bounds::new(ApprovalPolicy::OnRequest, SandboxPolicy::of(mode), cwd.to_owned())
}

async fn spawn(orders: &Orders, request: SpawnRequest) -> Spawned {
    let (news, mut heard) = mpsc::channel(8);
    let listen = async { while heard.recv().await.is_some() {} };
    let spawned = orders.spawn(request, news, CancellationToken::new());
    tokio::join!(spawned, listen).0
}

/// Somebody plans, and hands the writing to the coder; both are this model.
fn planner() -> FakeModel {
    FakeModel::answering(|request, _| {
        let input = request.body["input"].to_string();
        let reply = if input.contains("function_call_output") {
            responses::message("that is all")
        } else if input.contains("plan it") {
            spawns("c-1", json!({ "task": "write it", "skill": "code" }))
        } else {
            let patch = "*** Begin Patch\n*** Add File: new.txt\n+hi\n*** End Patch\n";
            responses::call("c-2", "apply_patch", &json!({ "input": patch }))
        };
        Some(Reply::sse([reply, responses::completed("r")]))
    })
}

/// Has an agent with these rights have the coder write a file, who may write in `cwd`. Whether it did.
async fn has_written(
    (approval, mode): (ApprovalPolicy, SandboxMode),
    place: &Path,
    cwd: &Path,
    inbox: Inbox,
) -> bool {
    let (buyer, home) = (Buyer::new(), tempfile::tempdir().unwrap());
    let model = planner();
    let worker = engine(home.path());
    let rights = |approval, mode, cwd: &Path| ConfigureSession {
        approval_policy: Some(approval),
        sandbox_policy: Some(SandboxPolicy {
            exclude_slash_tmp: true,
            exclude_tmpdir_env_var: true,
            ..SandboxPolicy::of(mode)
        }),
        ..configure(&model, cwd)
    };
    let agent = Agent {
        engine: worker.clone(),
        configure: rights(ApprovalPolicy::OnRequest, SandboxMode::WorkspaceWrite, cwd),
        inbox,
        delegate: "coder".to_owned(),
    };
    let skill = Arc::new(agent) as Arc<dyn Skill>;
    let coder = Place::open("coder", home_domain(), vec![("code", skill)]).await;
    let engine = engine(buyer.home.path());
    let orders = buyer.orders_in(engine.store().clone(), vec![coder.own("coder", Some(cwd))]).await;
    engine.hand_on_to(Arc::new(orders.clone()));
    talk(engine.connect(), rights(approval, mode, place), "plan it").await;
    orders.leave().await;
    coder.end().await;
    cwd.join("new.txt").exists()
}

/// OR-19.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_writes_for_those_only_who_may_write_there_themselves() {
    let folder = || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    };
    let never = ApprovalPolicy::Never;
    for (mode, elsewhere, is_written) in [
        (SandboxMode::ReadOnly, false, false),
        (SandboxMode::WorkspaceWrite, false, true),
        (SandboxMode::WorkspaceWrite, true, false),
        (SandboxMode::DangerFullAccess, true, true),
    ] {
        let ((_one, cwd), (_other, other)) = (folder(), folder());
        let place = if elsewhere { &other } else { &cwd };
        let inbox = Inbox::default();
        let written = has_written((never, mode), place, &cwd, inbox.clone()).await;
        assert_eq!(written, is_written, "{mode:?} {elsewhere}");
        assert!(inbox.list().is_empty());
    }
}

/// OR-19: what the one that asks would have to ask a person for, the other one asks for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_asked_where_the_agent_would_ask() {
    for (decision, is_written) in [(Decision::Approve, true), (Decision::Deny, false)] {
        let (folder, inbox) = (tempfile::tempdir().unwrap(), Inbox::default());
        let cwd = folder.path().canonicalize().unwrap();
        let answering = tokio::spawn({
            let inbox = inbox.clone();
            async move {
                let mut watch = inbox.watch();
                loop {
                    if let Some(matter) = inbox.list().first() {
                        inbox.decide(matter.id, decision).unwrap();
                        return matter.what.clone();
                    }
                    watch.changed().await.unwrap();
                }
            }
        });
        let rights = (ApprovalPolicy::OnRequest, SandboxMode::ReadOnly);
        let written = has_written(rights, &cwd, &cwd, inbox).await;
        let asked = answering.await.unwrap();
        assert!(asked.contains("new.txt"), "{asked}");
        assert_eq!(written, is_written);
    }
}

/// OR-19: the bounds travel to the node's own only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_may_do_is_told_to_nobody_else() {
    let buyer = Buyer::new();
    let held = || vec![("held", Arc::new(Held) as Arc<dyn Skill>)];
    let near = Place::open("near", home_domain(), held()).await;
    let elsewhere = TrustDomain {
        allow_cross_domain: true,
        trusted_peers: vec!["default".to_owned()],
        ..TrustDomain::closed("elsewhere")
    };
    let far = Place::open("far", elsewhere, held()).await;
    make_known(&buyer, &far).await;
    let orders = buyer.orders(vec![near.own("near", None)]).await;
    let bounds = within(SandboxMode::ReadOnly, "/secret/place");
    for (to, expected) in
        [("near", json!([bounds.to_constraint()])), ("ldp:delegate:far", Value::Null)]
    {
        let (within, to) = (bounds.clone(), Some(to.to_owned()));
        let asked = SpawnRequest { within, to, skill: Some("held".to_owned()), ..request("say") };
        let answer = spawn(&orders, asked).await.answer.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["held"], expected);
    }
    orders.leave().await;
    near.end().await;
    far.end().await;
}

/// OR-19: programs cannot be given less than they have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_with_more_rights_is_not_run() {
    let buyer = Buyer::new();
    let program = |mode: SandboxMode| -> Arc<dyn Skill> {
        Arc::new(Program {
            argv: vec!["true".to_owned()],
            cwd: "/work".into(),
            env: Vec::new(),
            confinement: Confinement::FullAccess,
            sandbox: SandboxPolicy::of(mode),
            runner: Arc::new(Runner::new("/nonexistent", LayerChoice::None)),
            turns: Arc::new(Semaphore::new(1)),
            repeatable: false,
        })
    };
    let free = ("free", program(SandboxMode::DangerFullAccess));
    let reads = ("reads", program(SandboxMode::ReadOnly));
    let near = Place::open("near", home_domain(), vec![free, reads]).await;
    let orders = buyer.orders(vec![near.own("near", None)]).await;
    for (skill, mode, is_run) in [
        ("free", SandboxMode::ReadOnly, false),
        ("free", SandboxMode::WorkspaceWrite, false),
        ("free", SandboxMode::DangerFullAccess, true),
        ("reads", SandboxMode::ReadOnly, true),
    ] {
        // Who is named does not rest after failures.
        let (within, to) = (within(mode, "/work"), Some("near".to_owned()));
        let asked = SpawnRequest { within, to, skill: Some(skill.to_owned()), ..request("go") };
        let why = spawn(&orders, asked).await.answer.unwrap_err();
        // There is nothing to run it with here; that it got there is enough.
        let expected =
            if is_run { "could not be run" } else { "the program has the rights of this node" };
        assert!(why.contains(expected), "{skill} {mode:?}: {why}");
    }
    orders.leave().await;
    near.end().await;
}

/// OR-19: a program of this machine that a person made known is held by nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delegate_that_is_a_program_is_not_started_for_an_agent_in_a_sandbox() {
    let (buyer, near) = (Buyer::new(), super::spawning::near().await);
    let started = buyer.home.path().join("started");
    let url = format!("mcp+stdio:touch {}", started.display());
    let mut card = sabir_ldp::IdentityCard::clone(&near.node.card());
    card.delegate_id = sabir_ldp::DelegateId::new("ldp:delegate:touch").unwrap();
    card.capabilities.truncate(1);
    card.capabilities[0].name = sabir_ldp::SkillName::new("touch").unwrap();
    card.public_key = None;
    let peers = Peers::open(buyer.home.path()).unwrap();
    peers.add_delegate(&url, 1).unwrap();
    let text = serde_json::to_string(&card).unwrap();
    let probed = Probed::Card { delegate_id: &card.delegate_id, card: &text };
    assert!(peers.record_probe(&url, probed, 2).unwrap());
    let orders = buyer.orders(vec![near.own("near", None)]).await;
    for (to, expected) in [(None, "NO_DELEGATE"), (Some("ldp:delegate:touch"), "no sandbox holds")]
    {
        let (within, to) = (within(SandboxMode::WorkspaceWrite, "/work"), to.map(str::to_owned));
        let asked = SpawnRequest { within, to, skill: Some("touch".to_owned()), ..request("go") };
        let Spawned { answer, tokens } = spawn(&orders, asked).await;
        let why = answer.unwrap_err();
        assert!(why.contains(expected), "{why}");
        // Nobody was given it, so that nothing was used up.
        assert_eq!(tokens, Some(0));
        assert!(!started.exists());
    }
    orders.leave().await;
    near.end().await;
}
