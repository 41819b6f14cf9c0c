//! A node with a console, in a home of its own. Everything is real but the model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sabir_console::{
    About, Builtin, ConsoleSetup, ConsoleToken, Hint, ModelState, PlainLogin, console,
};
use sabir_engine::{ProviderSettings, WireApi};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{
    Broken, Conversations, Defaults, Desk, DeskModel, DeskSetup, Echo, Engine, Feed, Inbox,
    McpConfig, MemberState, ModelClient, News, Node, NodeSettings, Providers, Setup, Skill,
    load_policy,
};
use sabir_ldp::{
    Capability, DelegateId, Finished, IdentityCard, PayloadMode, SignaturePolicy, SigningKey,
    SkillName, TaskOrder, Trust, TrustDomain,
};
use sabir_net::{
    Absence, Address, Client, ClientSettings, Delegation, Entry, HttpSettings, LdpOptions,
    LdpServer, LocalGround, Mount, OrderLimits, Orders, OrdersSetup, OwnDelegate, Pace, PlainHttp,
    Served,
};
use sabir_store::peers::Peers;
use sabir_testkit::fake_model::FakeModel;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::browser::Browser;

pub(crate) const OWN: &str = "ldp:delegate:harbor";

/// What a test asks for; the rest is usual.
#[derive(Default)]
pub(crate) struct Wishes<'a> {
    /// Who answers questions and talks, instead of the model that is built in.
    pub(crate) model: Option<&'a FakeModel>,
    /// What stands in the policy file.
    pub(crate) policy: &'a str,
    pub(crate) plain_login: PlainLogin,
    /// Addresses that may be fetched although they are not public.
    pub(crate) allow: Vec<String>,
    /// Where others reach the node, if it is not where it reaches itself.
    pub(crate) shown_at: Option<&'a str>,
    /// Its id, if it is not [`OWN`].
    pub(crate) id: Option<&'a str>,
}

pub(crate) struct World {
    pub(crate) home: Arc<TempDir>,
    pub(crate) router: Router,
    /// Where the node is served, console and all.
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) engine: Engine,
    pub(crate) inbox: Inbox,
    pub(crate) orders: Orders,
    pub(crate) stop: CancellationToken,
    /// How many steps the skill `steps` may take.
    pub(crate) steps: watch::Sender<u64>,
    node: Node,
    serving: JoinHandle<()>,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Wishes::default()).await
    }

    pub(crate) async fn with(wishes: Wishes<'_>) -> Self {
        let home = Arc::new(tempfile::tempdir().unwrap());
        let at = home.path();
        if !wishes.policy.is_empty() {
            std::fs::write(at.join("policy.toml"), wishes.policy).unwrap();
        }
        let engine = engine(at, wishes.model);
        let desk = desk(at, &wishes);
        let peers = Peers::open(at).unwrap();
        let here = "127.0.0.1:0".parse().unwrap();
        let server = LdpServer::bind(vec![here], LdpOptions::default()).await.unwrap();
        let url = format!("http://{}", server.listening()[0].address);
        let steps = watch::channel(u64::MAX).0;
        let id = DelegateId::new(wishes.id.unwrap_or(OWN)).unwrap();
        let node = node(&engine, &peers, steps.subscribe(), &id).await;
        let delegation = delegation(at, &peers, id);
        let feed = Feed::new(engine.store());
        let inbox = Inbox::default();
        let own = OwnDelegate {
            name: "harbor".to_owned(),
            delegate_id: node.card().delegate_id.clone(),
            address: Address::parse(&url, PlainHttp::LoopbackOnly).unwrap(),
            repeats: false,
            workspace: None,
        };
        let orders = Orders::open(OrdersSetup {
            delegation: delegation.clone(),
            store: engine.store().clone(),
            feed: feed.clone(),
            own: vec![own],
            people: None,
            absence: Absence::default(),
            limits: OrderLimits::default(),
        });
        let orders = orders.await.unwrap();
        let stop = CancellationToken::new();
        let setup = ConsoleSetup {
            home: at.to_owned(),
            token: ConsoleToken::of_home(at).unwrap(),
            config_file: sabir_host::config_file(at),
            plain_login: wishes.plain_login,
            about: about(&node, &url),
            models: vec![ModelState {
                provider: "built-in".to_owned(),
                model: "extractive".to_owned(),
                ready: true,
                why: "it needs nothing".to_owned(),
            }],
            hints: vec![Hint {
                title: "Collect".to_owned(),
                text: "Load the example pages.".to_owned(),
                command: None,
            }],
            desk,
            policy: load_policy(at).unwrap(),
            peers,
            delegation,
            inbox: inbox.clone(),
            orders: orders.clone(),
            conversations: Conversations::new(engine.clone(), inbox.clone()),
            builtin: builtin(&node, wishes.shown_at.unwrap_or(&url)),
            feed,
            stop: stop.clone(),
        };
        let router = console(setup);
        let mount = Mount { under: "/".to_owned(), router: router.clone(), entry: Entry::Own };
        let served = Served { root: node.clone(), members: Vec::new(), mounts: vec![mount] };
        let serving = tokio::spawn(server.serve(served, stop.clone()));
        let token = std::fs::read_to_string(at.join("console.token")).unwrap().trim().to_owned();
        Self { home, router, url, token, engine, inbox, orders, stop, steps, node, serving }
    }

    /// Somebody who is signed in.
    pub(crate) async fn person(&self) -> Browser {
        let mut browser = self.stranger();
        browser.sign_in(&self.token).await;
        browser
    }

    /// Somebody who is not.
    pub(crate) fn stranger(&self) -> Browser {
        Browser::new(self.router.clone())
    }

    /// A collection with the pages that come with the program.
    pub(crate) async fn examples(&self, browser: &Browser) -> String {
        let made = browser.post("/api/examples", json!({})).await;
        assert_eq!(made.status, 200, "{made:?}");
        made.json()["collection_id"].as_str().unwrap().to_owned()
    }

    /// Ends it as `sabir up` does.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.serving.await.unwrap();
        self.orders.leave().await;
        self.node.stop().await;
    }
}

fn engine(home: &Path, model: Option<&FakeModel>) -> Engine {
    let defaults = Defaults {
        model: model.map(|_| "m".to_owned()),
        provider: model.map(provider).unwrap_or_default(),
        cwd: home.to_owned(),
        ..Defaults::default()
    };
    let setup = Setup {
        home: home.to_owned(),
        runner: Runner::new("/nonexistent", LayerChoice::None),
        providers: Providers::none(),
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults,
    };
    Engine::open(setup).unwrap()
}

fn provider(model: &FakeModel) -> ProviderSettings {
    ProviderSettings {
        base_url: Some(model.base_url()),
        wire_api: Some(WireApi::Responses),
        ..ProviderSettings::default()
    }
}

fn desk(home: &Path, wishes: &Wishes<'_>) -> Desk {
    let model = match wishes.model {
        None => DeskModel::Extractive,
        Some(model) => {
            let said = provider(model);
            let provider = Providers::none().resolve(&[&said], &|_| None).unwrap();
            let client = Box::new(ModelClient::new(provider).unwrap());
            DeskModel::Server { client, model: "m".to_owned(), budget: 8_000 }
        }
    };
    let setup = DeskSetup {
        home: home.to_owned(),
        allow_egress: wishes.allow.iter().map(|it| it.parse().unwrap()).collect(),
        program: PathBuf::from("/nonexistent"),
        model,
        policy: load_policy(home).unwrap(),
        integrations: None,
        visible_browser: false,
    };
    Desk::open(setup).unwrap()
}

async fn node(
    engine: &Engine,
    peers: &Peers,
    steps: watch::Receiver<u64>,
    id: &DelegateId,
) -> Node {
    let names = ["echo", "steps"].map(|name| SkillName::new(name).unwrap());
    let card = IdentityCard {
        description: Some("Gives back what it is given.".to_owned()),
        model_family: "none".to_owned(),
        model_version: "0".to_owned(),
        context_window: 1000,
        capabilities: names.iter().cloned().map(Capability::named).collect(),
        supported_payload_modes: vec![PayloadMode::SemanticFrame, PayloadMode::Text],
        ..IdentityCard::named(id.clone(), "Harbor", TrustDomain::closed("default"))
    };
    let mut settings = NodeSettings::new(card, trust());
    let [echo, slow] = names;
    settings.skills.insert(echo, Arc::new(Echo));
    settings.skills.insert(slow, Arc::new(Steps(steps)));
    let key = SigningKey::from_seed(&[7; 32]);
    Node::start(settings, engine.store().clone(), peers.clone(), key).await.unwrap()
}

fn trust() -> Trust {
    Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown)
}

fn delegation(home: &Path, peers: &Peers, id: DelegateId) -> Delegation {
    let client = Client::new(ClientSettings {
        delegate_id: id,
        key: SigningKey::from_seed(&[7; 32]),
        trust: trust(),
        peers: peers.clone(),
        http: HttpSettings::default(),
        pace: Pace::default(),
    });
    let ground = LocalGround {
        environment: Vec::new(),
        directory: home.to_owned(),
        helper: "/nonexistent".into(),
    };
    Delegation::new(client.unwrap(), ground)
}

fn about(node: &Node, url: &str) -> About {
    About {
        delegate_id: node.card().delegate_id.clone(),
        name: "Harbor".to_owned(),
        version: "0.1.0".to_owned(),
        public_key: node.public_key().to_hex(),
        started_at_ms: 1,
        listening: vec![url.to_owned()],
    }
}

fn builtin(node: &Node, url: &str) -> Vec<Builtin> {
    let card = IdentityCard::clone(&node.card());
    let off = |name: &str, state| Builtin {
        name: name.to_owned(),
        url: format!("{url}/delegates/{name}"),
        state,
        card: None,
    };
    vec![
        Builtin {
            name: "harbor".to_owned(),
            url: url.to_owned(),
            state: MemberState::Ready,
            card: Some(card),
        },
        off("coder", MemberState::NoModel { why: "name a model in sabir.toml".to_owned() }),
        off("linguist", MemberState::Off),
    ]
}

/// Takes as many steps as its input says, each when it is allowed.
#[derive(Debug)]
struct Steps(watch::Receiver<u64>);

impl Skill for Steps {
    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let mut allowed = self.0.clone();
        let count = order.payload.to_value()["steps"].as_u64().unwrap_or(1);
        async move {
            for step in 1..=count {
                let may = async { allowed.wait_for(|allowed| *allowed >= step).await.is_ok() };
                if news.stop().run_until_cancelled(may).await != Some(true) {
                    return Err(Broken::new("told to stop"));
                }
                news.progress(format!("step {step}")).await;
            }
            Ok(Finished { output: json!({ "steps": count }), ..Finished::default() })
        }
        .boxed()
    }
}
