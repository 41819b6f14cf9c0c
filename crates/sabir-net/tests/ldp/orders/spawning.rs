//! Agents that hand work on: it goes to delegates here and elsewhere, within what the agent was given.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sabir_engine::{
    ConfigureSession, Decoded, EventMsg, InputItem, InputMode, Op, ProviderSettings, Submission,
    WireApi,
};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{
    Agent, Broken, Connection, Defaults, Echo, Engine, Inbox, Incoming, McpConfig, News, Node,
    NodeSettings, Origin, Providers, Setup, Skill, SpawnRequest, Spawner as _,
};
use sabir_ldp::{
    Capability, DelegateId, Finished, IdentityCard, PayloadMode, SignaturePolicy, SigningKey,
    SkillName, TaskOrder, Timestamp, Trust, TrustDomain,
};
use sabir_net::{
    Address, LdpOptions, LdpServer, OrderState, Orders, OwnDelegate, PlainHttp, Served,
};
use sabir_policy::{ApprovalPolicy, Bounds, SandboxPolicy};
use sabir_store::Store;
use sabir_store::peers::{Peers, Probed};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Buyer;

/// Says on what terms it was given a task.
#[derive(Debug)]
pub(super) struct Terms;

impl Skill for Terms {
    fn run(&self, order: TaskOrder, _: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let contract = order.contract.as_ref();
        let output = json!({
            "input": order.payload.to_text(),
            "max_tokens": contract.and_then(|it| it.policy.budget.max_tokens),
            "has_deadline": contract.is_some_and(|it| it.deadline.is_some()),
            "path": order.delegation_path,
        });
        async move { Ok(Finished { output, ..Finished::default() }) }.boxed()
    }
}

/// Never ends by itself.
#[derive(Debug)]
pub(super) struct Waits;

impl Skill for Waits {
    fn run(&self, _: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        async move {
            news.progress("waits").await;
            news.stop().cancelled().await;
            Err(Broken::new("it was stopped"))
        }
        .boxed()
    }
}

pub(super) struct Place {
    address: SocketAddr,
    pub(super) node: Node,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    _home: TempDir,
}

impl Place {
    pub(super) async fn open(
        name: &str,
        domain: TrustDomain,
        skills: Vec<(&str, Arc<dyn Skill>)>,
    ) -> Self {
        let named = |name: &str| SkillName::new(name).unwrap();
        let capabilities = skills.iter().map(|(name, _)| Capability::named(named(name))).collect();
        let id = DelegateId::new(format!("ldp:delegate:{name}")).unwrap();
        let card = IdentityCard {
            context_window: 1000,
            capabilities,
            supported_payload_modes: vec![PayloadMode::SemanticFrame, PayloadMode::Text],
            ..IdentityCard::named(id, name, domain.clone())
        };
        let trust = Trust::new(domain, SignaturePolicy::WhereKnown);
        let mut settings = NodeSettings::new(card, trust);
        settings.skills.extend(skills.into_iter().map(|(name, skill)| (named(name), skill)));
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).unwrap();
        let peers = Peers::open(home.path()).unwrap();
        let mut seed = [0; 32];
        seed[..name.len()].copy_from_slice(name.as_bytes());
        let node = Node::start(settings, store, peers, SigningKey::from_seed(&seed)).await.unwrap();
        let here = "127.0.0.1:0".parse().unwrap();
        let server = LdpServer::bind(vec![here], LdpOptions::default()).await.unwrap();
        let address = server.listening()[0].address.parse().unwrap();
        let stop = CancellationToken::new();
        let served = Served { root: node.clone(), members: Vec::new(), mounts: Vec::new() };
        let serving = tokio::spawn(server.serve(served, stop.clone()));
        Self { address, node, stop, serving, _home: home }
    }

    pub(super) fn url(&self) -> Address {
        let url = format!("http://{}", self.address);
        Address::parse(&url, PlainHttp::LoopbackOnly).unwrap()
    }

    pub(super) fn own(&self, name: &str, workspace: Option<&Path>) -> OwnDelegate {
        let workspace = workspace.map(Path::to_owned);
        let delegate_id = self.node.card().delegate_id.clone();
        OwnDelegate {
            name: name.to_owned(),
            delegate_id,
            address: self.url(),
            repeats: false,
            workspace,
        }
    }

    pub(super) async fn end(self) {
        self.stop.cancel();
        self.serving.await.unwrap();
        self.node.stop().await;
    }
}

pub(super) fn home_domain() -> TrustDomain {
    TrustDomain {
        allow_cross_domain: true,
        trusted_peers: vec!["elsewhere".to_owned()],
        ..TrustDomain::closed("default")
    }
}

pub(super) async fn near() -> Place {
    let skills: Vec<(&str, Arc<dyn Skill>)> =
        vec![("terms", Arc::new(Terms)), ("echo", Arc::new(Echo)), ("wait", Arc::new(Waits))];
    Place::open("near", home_domain(), skills).await
}

pub(super) fn engine(home: &Path) -> Engine {
    Engine::open(Setup {
        home: home.to_owned(),
        runner: Runner::new("/nonexistent", LayerChoice::None),
        providers: Providers::none(),
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults: Defaults::default(),
    })
    .unwrap()
}

pub(super) fn configure(model: &FakeModel, cwd: &Path) -> ConfigureSession {
    ConfigureSession {
        model: Some("m".to_owned()),
        provider: Some(ProviderSettings {
            base_url: Some(model.base_url()),
            wire_api: Some(WireApi::Responses),
            ..ProviderSettings::default()
        }),
        cwd: cwd.to_str().map(str::to_owned),
        approval_policy: Some(ApprovalPolicy::Never),
        ..ConfigureSession::default()
    }
}

/// Has the agent of a session do something, and returns the session's name and what it said last.
pub(super) async fn talk(
    mut connection: Connection,
    configure: ConfigureSession,
    text: &str,
) -> (String, String) {
    let input = Op::UserInput {
        items: vec![InputItem::Text { text: text.to_owned() }],
        last_response_id: None,
        mode: InputMode::Replace,
    };
    for op in [Op::ConfigureSession(configure), input] {
        let submission = Submission { id: "s".to_owned(), op };
        let decoded = Decoded { submission, unknown: Vec::new() };
        connection.submissions.send(Incoming::Submission(decoded)).await.unwrap();
    }
    let mut session = String::new();
    while let Some(shown) = connection.events.recv().await {
        match shown.event.msg {
            EventMsg::SessionConfigured { session_id, .. } => session = session_id,
            EventMsg::TaskComplete { last_agent_message } => {
                return (session, last_agent_message.unwrap_or_default());
            }
            EventMsg::Error { message } => panic!("{message}"),
            _ => {}
        }
    }
    panic!("the session ended");
}

pub(super) fn spawns(call: &str, arguments: Value) -> String {
    responses::call(call, "spawn_agent", &arguments)
}

/// What a model was told that its calls brought, by their names.
pub(super) fn outputs(model: &FakeModel, request: usize) -> Vec<String> {
    let body = &model.requests()[request].body;
    let items = body["input"].as_array().unwrap().iter();
    let mut outputs: Vec<&Value> =
        items.filter(|item| item["type"] == "function_call_output").collect();
    // They come as they are done.
    outputs.sort_by_key(|item| item["call_id"].as_str());
    outputs.iter().map(|item| item["output"].as_str().unwrap().to_owned()).collect()
}

/// Adds a delegate to those that are known, as a person would.
pub(super) async fn make_known(buyer: &Buyer, place: &Place) {
    let peers = Peers::open(buyer.home.path()).unwrap();
    let url = place.url().to_string();
    peers.add_delegate(&url, 1).unwrap();
    let card = place.node.card();
    let text = serde_json::to_string(&*card).unwrap();
    let probed = Probed::Card { delegate_id: &card.delegate_id, card: &text };
    assert!(peers.record_probe(&url, probed, 2).unwrap());
}

/// OR-6, OR-10.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_goes_to_delegates_here_and_in_another_trust_domain() {
    let (buyer, near) = (Buyer::new(), near().await);
    let elsewhere = TrustDomain {
        allow_cross_domain: true,
        trusted_peers: vec!["default".to_owned()],
        ..TrustDomain::closed("elsewhere")
    };
    let far = Place::open("far", elsewhere, vec![("terms", Arc::new(Terms))]).await;
    make_known(&buyer, &far).await;
    let engine = engine(buyer.home.path());
    let orders = buyer.orders_in(engine.store().clone(), vec![near.own("near", None)]).await;
    engine.hand_on_to(Arc::new(orders.clone()));
    let far_away = json!({
        "task": "far work", "skill": "terms", "to": "ldp:delegate:far", "budget_tokens": 500,
        "deadline_secs": 60,
    });
    let model = FakeModel::start([
        Reply::sse([
            spawns("c-1", json!({ "task": "near work", "skill": "terms", "to": "near" })),
            spawns("c-2", far_away),
            spawns("c-3", json!({ "task": "no work", "to": "http://example.org" })),
            responses::completed("r-1"),
        ]),
        Reply::sse([responses::message("all of it"), responses::completed("r-2")]),
    ]);
    let configure = configure(&model, buyer.home.path());
    let (session, said) = talk(engine.connect(), configure, "split it").await;
    assert_eq!(said, "all of it");
    let [at_home, away, nowhere] = <[String; 3]>::try_from(outputs(&model, 1)).unwrap();
    assert!(at_home.contains("near work"), "{at_home}");
    let away: Value = serde_json::from_str(&away).unwrap();
    assert_eq!((&away["max_tokens"], &away["has_deadline"]), (&json!(500), &json!(true)));
    assert!(nowhere.contains("only delegates that a person added"), "{nowhere}");
    // Its children are seen with who has them.
    let mut children = orders.children(&session).await.unwrap();
    children.sort_by(|one, other| one.delegate_id.cmp(&other.delegate_id));
    let seen: Vec<_> =
        children.iter().map(|it| (it.delegate_id.as_deref().unwrap(), it.state)).collect();
    let done = OrderState::Done;
    assert_eq!(seen, [("ldp:delegate:far", done), ("ldp:delegate:near", done)]);
    model.assert_done();
    orders.leave().await;
    near.end().await;
    far.end().await;
}

/// OR-9, OR-10.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_gives_away_no_more_than_it_has() {
    let (buyer, near) = (Buyer::new(), near().await);
    let engine = engine(buyer.home.path());
    let orders = buyer.orders_in(engine.store().clone(), vec![near.own("near", None)]).await;
    engine.hand_on_to(Arc::new(orders.clone()));
    let wants =
        |call: &str| spawns(call, json!({ "task": "a", "skill": "terms", "budget_tokens": 900 }));
    let model = FakeModel::start([
        Reply::sse([wants("c-1"), responses::completed_with_usage("r-1", 60, 30)]),
        Reply::sse([wants("c-2"), responses::completed_with_usage("r-2", 8, 2)]),
        Reply::sse([responses::message("enough"), responses::completed("r-3")]),
    ]);
    let origin = Origin { max_tokens: Some(100), ..Origin::default() };
    let settings = configure(&model, buyer.home.path());
    talk(engine.connect_for(origin), settings, "go").await;
    let brought = outputs(&model, 2);
    let first: Value = serde_json::from_str(&brought[0]).unwrap();
    assert_eq!(first["max_tokens"], 10);
    assert!(brought[1].contains("the budget of 100 tokens is used up"), "{}", brought[1]);

    let model = FakeModel::start([
        Reply::sse([wants("c-1"), responses::completed("r-1")]),
        Reply::sse([responses::message("late"), responses::completed("r-2")]),
    ]);
    let origin = Origin { deadline: Some(Timestamp::from_millis(1)), ..Origin::default() };
    talk(engine.connect_for(origin), configure(&model, buyer.home.path()), "go").await;
    assert!(outputs(&model, 1)[0].contains("the time for this task is over"));

    let path = (0..5).map(|hop| DelegateId::new(format!("ldp:delegate:hop-{hop}")).unwrap());
    let origin = Origin { path: path.collect(), ..Origin::default() };
    let request = SpawnRequest { origin, ..request("too deep") };
    let (news, _heard) = mpsc::channel(8);
    let spawned = orders.spawn(request, news, CancellationToken::new()).await;
    let why = spawned.answer.unwrap_err();
    assert!(why.starts_with("TOO_DEEP: ") && why.contains("nested 4 deep"), "{why}");
    orders.leave().await;
    near.end().await;
}

pub(super) fn request(task: &str) -> SpawnRequest {
    SpawnRequest {
        task: task.to_owned(),
        skill: Some("wait".to_owned()),
        to: None,
        budget_tokens: None,
        deadline_secs: None,
        within: Bounds::new(ApprovalPolicy::Never, SandboxPolicy::default(), "/".to_owned()),
        origin: Origin::default(),
        parent: "session".to_owned(),
        depth: 0,
    }
}

pub(super) async fn only_child(orders: &Orders) -> sabir_net::OrderId {
    let mut watch = orders.watch();
    loop {
        let children = orders.children("session").await.unwrap();
        if let Some(child) = children.iter().find(|it| it.delegate_id.is_some()) {
            return child.id.clone();
        }
        watch.changed().await.unwrap();
    }
}

/// OR-11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_nobody_waits_for_is_stopped() {
    for is_dropped in [false, true] {
        let (buyer, near) = (Buyer::new(), near().await);
        let orders = buyer.orders(vec![near.own("near", None)]).await;
        let stop = CancellationToken::new();
        let (news, mut heard) = mpsc::channel(8);
        let spawned = tokio::spawn(orders.spawn(request("wait"), news, stop.clone()));
        let listening = tokio::spawn(async move { while heard.recv().await.is_some() {} });
        let child = only_child(&orders).await;
        if is_dropped {
            spawned.abort();
        } else {
            stop.cancel();
            assert!(spawned.await.unwrap().answer.unwrap_err().contains("was not done"));
        }
        assert_eq!(orders.wait(&child).await.unwrap().state, OrderState::Cancelled);
        assert_eq!(near.node.counts().running_tasks, 0);
        listening.await.unwrap();
        orders.leave().await;
        near.end().await;
    }
}

/// An agent that works in a folder, as a delegate with a journal of its own.
fn coder(home: &Path, model: &FakeModel, cwd: &Path) -> (Engine, Arc<dyn Skill>) {
    let engine = engine(home);
    let (inbox, delegate) = (Inbox::default(), "coder".to_owned());
    let configure = configure(model, cwd);
    (engine.clone(), Arc::new(Agent { engine, configure, inbox, delegate }))
}

/// OR-9, OR-10.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_of_a_delegated_task_hangs_under_its_order() {
    let (buyer, near) = (Buyer::new(), near().await);
    let (home, cwd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cwd = cwd.path().canonicalize().unwrap();
    let model = FakeModel::answering(|request, _| {
        let input = request.body["input"].to_string();
        let reply = if input.contains("function_call_output") {
            responses::message("it is done")
        } else if input.contains("plan it") {
            // Somebody works in the same folder, and gets it.
            spawns("c-1", json!({ "task": "write it" }))
        } else {
            spawns("c-2", json!({ "task": "say hi", "skill": "echo" }))
        };
        Some(Reply::sse([reply, responses::completed("r")]))
    });
    let (worker, skill) = coder(home.path(), &model, &cwd);
    let place = Place::open("coder", home_domain(), vec![("code", skill)]).await;
    let engine = engine(buyer.home.path());
    let own = vec![near.own("near", None), place.own("coder", Some(&cwd))];
    let orders = buyer.orders_in(engine.store().clone(), own).await;
    engine.hand_on_to(Arc::new(orders.clone()));
    worker.hand_on_to(Arc::new(orders.clone()));
    let (session, said) = talk(engine.connect(), configure(&model, &cwd), "plan it").await;
    assert_eq!(said, "it is done");
    let [child] = <[_; 1]>::try_from(orders.children(&session).await.unwrap()).unwrap();
    assert_eq!((child.task.as_str(), child.skill.as_deref()), ("write it", Some("code")));
    let child = orders.get(&child.id).await.unwrap();
    assert_eq!(child.state, OrderState::Done, "{child:?}");
    let [grandchild] = <[_; 1]>::try_from(child.children).unwrap();
    assert_eq!(grandchild.state, OrderState::Done);
    assert_eq!(grandchild.delegate.as_deref(), Some("ldp:delegate:near"));
    let grandchild = orders.get(&grandchild.id).await.unwrap();
    assert_eq!(grandchild.request.depth, 1);
    assert_eq!(grandchild.parent, Some(child.id.to_string()));
    orders.leave().await;
    near.end().await;
    place.end().await;
}
