//! A skill that is an agent: what it may not do alone waits for this node's operator.

use std::sync::Arc;

use futures_util::StreamExt as _;
use sabir_engine::{ConfigureSession, ProviderSettings, WireApi};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{
    Agent, Decision, Defaults, Engine, Inbox, MatterKind, McpConfig, Node, Providers, Setup, Skill,
    Word,
};
use sabir_policy::{ApprovalPolicy, SandboxMode, SandboxPolicy};
use sabir_store::peers::Peers;
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::json;

use crate::world::{World, body, code, key, settings, submission};

fn engine(home: &std::path::Path) -> Engine {
    let setup = || Setup {
        home: home.to_owned(),
        runner: Runner::new(crate::helper::path(), LayerChoice::None),
        providers: Providers::none(),
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults: Defaults::default(),
    };
    // The last one may still be letting go of the home.
    (0..5000)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            Engine::open(setup()).ok()
        })
        .unwrap()
}

fn agent(engine: &Engine, model: &FakeModel, inbox: &Inbox, mode: SandboxMode) -> Arc<dyn Skill> {
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
    Arc::new(Agent {
        engine: engine.clone(),
        configure,
        inbox: inbox.clone(),
        delegate: String::new(),
    })
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
    let inbox = Inbox::default();
    let settings =
        settings(&[("touch", agent(&engine, &model, &inbox, SandboxMode::DangerFullAccess))]);
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
    let [question] = <[_; 1]>::try_from(inbox.list()).unwrap();
    inbox.decide(question.id, Decision::Approve).unwrap();
    assert!(inbox.decide(question.id, Decision::Approve).is_err());
    let mut last = None;
    while let Some(told) = follow.next().await {
        last = Some(body(&told.text));
    }
    assert_eq!(last.unwrap()["output"], "touched");
    assert!(mark.exists());
    assert!(inbox.list().is_empty());
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
    let inbox = Inbox::default();
    let settings = settings(&[("write", agent(&engine, &model, &inbox, SandboxMode::ReadOnly))]);
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
    let [question] = <[_; 1]>::try_from(inbox.list()).unwrap();
    assert!(question.what.contains("\n+first\n+rm -rf everything"), "{}", question.what);
    inbox.decide(question.id, Decision::Deny).unwrap();
    while follow.next().await.is_some() {}
    assert!(!file.exists());
    world.node.stop().await;
}

/// LD-N22: what only a person can lift is put to one, also after a restart, and the agent is told their
/// words.
#[tokio::test(flavor = "multi_thread")]
async fn a_blocker_waits_for_the_operator() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let blocked = "I cannot go on.\nHEADER:{f:Coder,t:Person,s:1}\n\
                   BLK:{w:\"no key\",a:[\"use the recorded tides\"],esc:true}";
    let model = FakeModel::start([
        Reply::sse([responses::message(blocked), responses::completed("r-1")]),
        Reply::sse([responses::message("done with the key"), responses::completed("r-2")]),
        Reply::sse([responses::message(blocked), responses::completed("r-3")]),
    ]);
    let start = async || {
        let (engine, inbox) = (engine(home.path()), Inbox::default());
        let settings =
            settings(&[("tides", agent(&engine, &model, &inbox, SandboxMode::ReadOnly))]);
        let peers = Peers::open(home.path()).unwrap();
        let node = Node::start(settings, engine.store().clone(), peers, key()).await.unwrap();
        (World { node, home: Arc::clone(&home) }, inbox)
    };
    let waiting = async |inbox: &Inbox| {
        let mut changes = inbox.watch();
        loop {
            if let Some(matter) = inbox.list().pop() {
                return matter;
            }
            changes.changed().await.unwrap();
        }
    };
    let (world, inbox) = start().await;
    world.open().await;
    let asking = submission("t-1", "tides", json!("test it"));
    let hearing = async {
        let matter = waiting(&inbox).await;
        assert_eq!(matter.kind, MatterKind::Blocker);
        assert!(matter.what.contains("  | no key"), "{}", matter.what);
        world.node.stop().await;
    };
    let (told, ()) = tokio::join!(world.ask(&asking), hearing);
    assert_eq!(code(&told), "NODE_UNAVAILABLE", "{told}");
    drop((world, inbox));

    // Nobody has answered: the next start asks again, and the model is not asked before.
    let (world, inbox) = start().await;
    assert_eq!(world.node.take_up(), 1);
    let matter = waiting(&inbox).await;
    assert_eq!(model.requests().len(), 1);
    let word = Word { decision: Decision::Approve, words: Some("it is in the drawer".to_owned()) };
    inbox.answer(matter.id, word).unwrap();
    let told = world.submit("t-1", "tides", json!("test it")).await;
    assert_eq!(told["output"], "done with the key", "{told}");
    let asked = model.requests()[1].body.to_string();
    assert!(asked.contains("it is in the drawer"), "{asked}");

    // A person may also say that this is the end.
    let stopping = async {
        let matter = waiting(&inbox).await;
        inbox.decide(matter.id, Decision::Deny).unwrap();
    };
    let (told, ()) = tokio::join!(world.submit("t-2", "tides", json!("again")), stopping);
    assert_eq!(code(&told), "TASK_FAILED", "{told}");
    assert!(told["error"]["message"].as_str().unwrap().contains("no key"), "{told}");
    world.node.stop().await;
}

/// LD-N26: two tasks in one folder take turns, and who waits says for whom.
#[tokio::test(flavor = "multi_thread")]
async fn agents_that_change_files_take_turns_in_a_folder() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let gate = Gate::new();
    let model = FakeModel::start([
        Reply::sse([responses::created("r-1")])
            .then_wait(&gate)
            .then(responses::message("first"))
            .then(responses::completed("r-1")),
        Reply::sse([responses::message("second"), responses::completed("r-2")]),
    ]);
    let engine = engine(home.path());
    let settings = settings(&[(
        "work",
        agent(&engine, &model, &Inbox::default(), SandboxMode::WorkspaceWrite),
    )]);
    let peers = Peers::open(home.path()).unwrap();
    let node = Node::start(settings, engine.store().clone(), peers, key()).await.unwrap();
    let world = World { node, home };
    world.open().await;
    let mut first = world.follow(&submission("t-1", "work", json!("one")), None).await;
    let model = tokio::task::spawn_blocking(move || {
        model.wait_for_request(0);
        model
    });
    let model = model.await.unwrap();
    let mut second = world.follow(&submission("t-2", "work", json!("two")), None).await;
    let waits = body(&second.next().await.unwrap().text);
    assert!(waits["message"].as_str().unwrap().contains("the task t-1"), "{waits}");
    assert_eq!(model.requests().len(), 1, "the second has not begun");
    gate.open();
    for (follow, said) in [(&mut first, "first"), (&mut second, "second")] {
        let mut last = None;
        while let Some(told) = follow.next().await {
            last = Some(body(&told.text));
        }
        assert_eq!(last.unwrap()["output"], said);
    }
    model.assert_done();
    world.node.stop().await;
}

/// LD-N25.
#[tokio::test(flavor = "multi_thread")]
async fn the_card_says_how_much_is_done_at_once() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let mut settings = settings(&[]);
    settings.limits.running = 7;
    let world = World::at(home, settings).await;
    assert_eq!(world.node.card().tasks_at_once(), Some(7));
    world.node.stop().await;
}
