//! A skill that is an agent: what it may not do alone waits for this node's operator.

use std::sync::Arc;

use futures_util::StreamExt as _;
use sabir_engine::{ConfigureSession, ProviderSettings, WireApi};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{
    Agent, Approvals, Decision, Defaults, Engine, McpConfig, Node, Providers, Setup, Skill,
};
use sabir_policy::{ApprovalPolicy, SandboxMode, SandboxPolicy};
use sabir_store::peers::Peers;
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::json;

use crate::world::{World, body, key, settings, submission};

fn engine(home: &std::path::Path) -> Engine {
    Engine::open(Setup {
        home: home.to_owned(),
        runner: Runner::new(crate::helper::path(), LayerChoice::None),
        providers: Providers::none(),
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults: Defaults::default(),
    })
    .unwrap()
}

fn agent(
    engine: &Engine,
    model: &FakeModel,
    approvals: &Approvals,
    mode: SandboxMode,
) -> Arc<dyn Skill> {
    let provider = ProviderSettings {
        base_url: Some(model.base_url()),
        wire_api: Some(WireApi::Responses),
        ..ProviderSettings::default()
    };
    let configure = ConfigureSession {
        model: Some("m".to_owned()),
        provider: Some(provider),
        cwd: Some("/".to_owned()),
        approval_policy: Some(ApprovalPolicy::Untrusted),
        sandbox_policy: Some(SandboxPolicy { mode, ..SandboxPolicy::default() }),
        ..ConfigureSession::default()
    };
    Arc::new(Agent { engine: engine.clone(), configure, approvals: approvals.clone() })
}

/// LD-N22.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_may_not_do_alone_is_asked_of_the_operator() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let mark = home.path().join("mark");
    let touch = json!({ "command": ["touch", mark] });
    let model = FakeModel::start([
        Reply::sse([responses::call("c-1", "shell", &touch), responses::completed("r-1")]),
        Reply::sse([responses::message("touched"), responses::completed("r-2")]),
    ]);
    let engine = engine(home.path());
    let approvals = Approvals::default();
    let settings =
        settings(&[("touch", agent(&engine, &model, &approvals, SandboxMode::DangerFullAccess))]);
    let peers = Peers::open(home.path()).unwrap();
    let node = Node::start(settings, engine.store().clone(), peers, key()).await.unwrap();
    let world = World { node, home };
    world.open().await;
    let mut follow = world.follow(&submission("t-1", "touch", json!("touch it")), None).await;
    let waiting = loop {
        let told = body(&follow.next().await.unwrap().text);
        assert_eq!(told["type"], "TASK_UPDATE", "{told}");
        if told["state"] == "waiting_for_approval" {
            break told;
        }
    };
    assert!(waiting["message"].as_str().unwrap().contains("touch"), "{waiting}");
    assert!(!mark.exists());
    let [question] = <[_; 1]>::try_from(approvals.list()).unwrap();
    approvals.decide(question.id, Decision::Approve).unwrap();
    assert!(approvals.decide(question.id, Decision::Approve).is_err());
    let mut last = None;
    while let Some(told) = follow.next().await {
        last = Some(body(&told.text));
    }
    assert_eq!(last.unwrap()["output"], "touched");
    assert!(mark.exists());
    assert!(approvals.list().is_empty());
    world.node.stop().await;
}

/// LD-N22: the operator is shown all of a patch, and the caller no more than what it is about.
#[tokio::test(flavor = "multi_thread")]
async fn a_patch_is_shown_in_full_to_the_operator() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let work = tempfile::tempdir().unwrap();
    let file = work.path().join("new.txt");
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+first\n+rm -rf everything\n*** End Patch\n",
        // From the folder that the agent works in.
        file.strip_prefix("/").unwrap().display()
    );
    let input = json!({ "input": patch });
    let model = FakeModel::start([
        Reply::sse([responses::call("c-1", "apply_patch", &input), responses::completed("r-1")]),
        Reply::sse([responses::message("left"), responses::completed("r-2")]),
    ]);
    let engine = engine(home.path());
    let approvals = Approvals::default();
    let settings =
        settings(&[("write", agent(&engine, &model, &approvals, SandboxMode::ReadOnly))]);
    let peers = Peers::open(home.path()).unwrap();
    let node = Node::start(settings, engine.store().clone(), peers, key()).await.unwrap();
    let world = World { node, home };
    world.open().await;
    let mut follow = world.follow(&submission("t-1", "write", json!("write it")), None).await;
    let waiting = loop {
        let told = body(&follow.next().await.unwrap().text);
        assert_eq!(told["type"], "TASK_UPDATE", "{told} {:?}", model.requests());
        if told["state"] == "waiting_for_approval" {
            break told["message"].as_str().unwrap().to_owned();
        }
    };
    assert!(waiting.contains("new.txt") && !waiting.contains("rm -rf"), "{waiting}");
    let [question] = <[_; 1]>::try_from(approvals.list()).unwrap();
    assert!(question.what.contains("\n+first\n+rm -rf everything"), "{}", question.what);
    approvals.decide(question.id, Decision::Deny).unwrap();
    while follow.next().await.is_some() {}
    assert!(!file.exists());
    world.node.stop().await;
}
