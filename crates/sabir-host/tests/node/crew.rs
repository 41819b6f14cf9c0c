//! The delegates that are built in: what they offer, what they do, what becomes of it when they are
//! stopped, and what a page cannot make them do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use sabir_engine::{ProviderSettings, WireApi};
use sabir_host::process::Runner;
use sabir_host::sandbox::{LayerChoice, OwnState};
use sabir_host::{
    Asker, Crew, CrewConfig, CrewSetup, Decision, Defaults, Desk, DeskModel, DeskSetup,
    EXAMPLE_COLLECTION, EXAMPLE_PAGES, EXAMPLE_QUESTION, Engine, Follow, Inbox, McpConfig, Member,
    ModelClient, Node, NodeConfig, Patron, Patrons, Providers, ResearcherConfig, Setup, SkillKit,
    Standing, Surroundings, TaskGate, VisitGate,
};
use sabir_ldp::TaskKey;
use sabir_policy::PolicyDoc;
use sabir_store::library::Library;
use sabir_store::peers::Peers;
use sabir_testkit::fake_model::{FakeModel, Reply, Request, responses};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::world::{CALLER, LOOPBACK, SESSION, body, code, key, message};

/// A home with a crew in it, and where its pages are.
struct Place {
    home: Arc<TempDir>,
    /// Where the coder works.
    workspace: PathBuf,
    inbox: Inbox,
    engine: Engine,
    desk: Desk,
    gate: TaskGate,
    crew: Crew,
}

/// Says that every task is for the user.
struct ForTheUser;

impl Patrons for ForTheUser {
    fn patron<'a>(&'a self, _: &'a TaskKey) -> BoxFuture<'a, Option<Patron>> {
        let actor = "person".to_owned();
        Box::pin(async { Some(Patron { actor, standing: Standing::Own }) })
    }
}

/// Who answers, if somebody does.
#[derive(Default)]
struct Models<'a> {
    coder: Option<&'a FakeModel>,
    researcher: Option<&'a FakeModel>,
}

impl Place {
    async fn new(config: CrewConfig, models: &Models<'_>, egress: &[String]) -> Self {
        let home = Arc::new(tempfile::tempdir().unwrap());
        Self::at(home, config, models, egress).await
    }

    async fn at(
        home: Arc<TempDir>,
        config: CrewConfig,
        models: &Models<'_>,
        egress: &[String],
    ) -> Self {
        let workspace = home.path().join("work");
        std::fs::create_dir_all(&workspace).unwrap();
        let state = home.path().join("home");
        let inbox = Inbox::default();
        let (engine, desk) =
            (engine(&state, &workspace, models.coder), desk(&state, models, egress));
        let gate = VisitGate::new(state.clone(), PolicyDoc::default(), None);
        let gate = TaskGate::new(gate, inbox.clone());
        let kit = SkillKit {
            runner: Arc::new(runner()),
            folder: home.path().to_owned(),
            own: OwnState { folders: vec![state.clone()], key_files: Vec::new() },
            engine: Some(engine.clone()),
            desk: Some(desk.clone()),
            inbox: inbox.clone(),
            gate: Some(gate.clone()),
        };
        let config = NodeConfig { crew: config, ..NodeConfig::default() };
        let key = key().public_key();
        let peers = Peers::open(&state).unwrap();
        let endpoint = "http://127.0.0.1:7420";
        let setup = CrewSetup {
            home: &state,
            config: &config,
            surroundings: &Surroundings { key, endpoint, domains: &[] },
            kit: &kit,
            peers: &peers,
            workspace: &workspace,
            environment: &|_| None,
        };
        let crew = Crew::start(&setup).await.unwrap();
        Self { home, workspace, inbox, engine, desk, gate, crew }
    }

    fn member(&self, name: &str) -> &Member {
        self.crew.members().iter().find(|it| it.name == name).unwrap()
    }

    fn node(&self, name: &str) -> &Node {
        self.member(name).node.as_ref().unwrap()
    }

    /// Hands a task to somebody of the crew.
    async fn submit(&self, name: &str, task: &str, skill: &str, input: Value) -> Value {
        let node = self.node(name);
        open(node).await;
        body(&node.ask(&submission(node, task, skill, input).to_string(), LOOPBACK).await)
    }

    async fn follow(&self, name: &str, task: &str, skill: &str, input: Value) -> Follow {
        let node = self.node(name);
        open(node).await;
        node.follow(&submission(node, task, skill, input).to_string(), LOOPBACK, None).await
    }

    async fn stop(self) -> Arc<TempDir> {
        self.crew.stop().await;
        self.engine.shutdown().await;
        self.home
    }

    fn library(&self) -> &Library {
        self.desk.library()
    }
}

fn runner() -> Runner {
    Runner::new(crate::helper::path(), LayerChoice::None)
}

fn said(model: &FakeModel) -> ProviderSettings {
    ProviderSettings {
        base_url: Some(model.base_url()),
        wire_api: Some(WireApi::Responses),
        ..ProviderSettings::default()
    }
}

fn engine(home: &Path, cwd: &Path, model: Option<&FakeModel>) -> Engine {
    let defaults = Defaults {
        model: model.map(|_| "m".to_owned()),
        provider: model.map(said).unwrap_or_default(),
        cwd: cwd.to_owned(),
        ..Defaults::default()
    };
    let setup = || Setup {
        home: home.to_owned(),
        runner: runner(),
        providers: Providers::none(),
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults: defaults.clone(),
    };
    // The last one may still be letting go of the home.
    (0..1000)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            Engine::open(setup()).ok()
        })
        .unwrap()
}

fn desk(home: &Path, models: &Models<'_>, egress: &[String]) -> Desk {
    let model = match models.researcher {
        None => DeskModel::Extractive,
        Some(model) => {
            let provider = Providers::none().resolve(&[&said(model)], &|_| None).unwrap();
            let client = Box::new(ModelClient::new(provider).unwrap());
            DeskModel::Server { client, model: "m".to_owned(), budget: 8_000 }
        }
    };
    Desk::open(DeskSetup {
        home: home.to_owned(),
        allow_egress: egress.iter().map(|it| it.parse().unwrap()).collect(),
        program: "/nonexistent".into(),
        model,
        policy: PolicyDoc::default(),
        integrations: None,
        visible_browser: false,
    })
    .unwrap()
}

fn to(node: &Node, body: Value) -> Value {
    let mut message = message(CALLER, SESSION, body);
    message["to"] = node.card().delegate_id.as_str().into();
    message
}

fn submission(node: &Node, task: &str, skill: &str, input: Value) -> Value {
    to(node, json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": skill, "input": input }))
}

async fn open(node: &Node) {
    let proposal = to(node, json!({ "type": "SESSION_PROPOSE", "config": {} }));
    let answer = body(&node.ask(&proposal.to_string(), LOOPBACK).await);
    assert!(matches!(answer["type"].as_str(), Some("SESSION_ACCEPT" | "SESSION_REJECT")));
}

/// The pages of the example, on a server of this machine.
async fn site() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = EXAMPLE_PAGES.into_iter().fold(Router::new(), |app, (name, text)| {
        app.route(&format!("/{name}"), get(move || async move { Html(text) }))
    });
    tokio::spawn(async move { axum::serve(listener, app).await });
    address.to_string()
}

fn citations(output: &Value) -> Vec<(String, String)> {
    let list = output["citations"].as_array().unwrap().iter();
    list.map(|it| {
        let text = |key: &str| it[key].as_str().unwrap().to_owned();
        (text("status"), text("quote"))
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_is_a_delegate_of_its_own_and_one_without_a_model_offers_nothing() {
    let place = Place::new(CrewConfig::default(), &Models::default(), &[]).await;
    let skills: BTreeMap<&str, Vec<String>> = place
        .crew
        .members()
        .iter()
        .map(|member| {
            let card = member.node.as_ref().unwrap().card();
            assert!(card.delegate_id.as_str().ends_with(&format!("-{}", member.name)));
            let endpoint = card.endpoint.as_ref().unwrap().as_str().to_owned();
            assert_eq!(endpoint, format!("http://127.0.0.1:7420/delegates/{}", member.name));
            (member.name, card.capabilities.iter().map(|it| it.name.to_string()).collect())
        })
        .collect();
    let research = ["research", "research.capture", "research.answer", "research.brief"];
    let language = ["language.check", "language.repair", "language.convert", "language.tokens"];
    assert_eq!(skills["researcher"], research);
    assert_eq!(skills["linguist"], language);
    assert_eq!(skills["coder"], Vec::<String>::new());
    let keys: Vec<String> =
        place.crew.nodes().map(|(_, node)| node.public_key().to_hex()).collect();
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2], "{keys:?}");

    assert_eq!(place.member("coder").state.name(), "no_model");
    let why = place.member("coder").state.why().unwrap().to_owned();
    assert!(why.contains("sabir up --base-url"), "{why}");
    let card = place.node("coder").card();
    assert!(card.description.as_ref().unwrap().contains(&why), "{card:?}");
    let refused = place.submit("coder", "t-1", "code", json!("fix it")).await;
    assert_eq!(code(&refused), "SKILL_NOT_FOUND");
    assert!(refused["error"]["message"].as_str().unwrap().contains(&why), "{refused}");
    // Of one that offers something the words are as ever.
    let refused = place.submit("linguist", "t-1", "sing", json!("la")).await;
    assert_eq!(refused["error"]["message"], "this delegate does not offer sing");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_switched_off_is_not_there() {
    let config = CrewConfig { linguist: true, ..CrewConfig::none() };
    let place = Place::new(config, &Models::default(), &[]).await;
    let names: Vec<&str> = place.crew.nodes().map(|(name, _)| name).collect();
    assert_eq!(names, ["linguist"]);
    let states: Vec<&str> = place.crew.members().iter().map(|it| it.state.name()).collect();
    assert_eq!(states, ["off", "off", "ready"]);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_linguist_works_without_anybody() {
    let place = Place::new(CrewConfig::default(), &Models::default(), &[]).await;
    let wrong = "INF(@a->@b): ok";
    let checked = place.submit("linguist", "t-1", "language.check", json!(wrong)).await;
    assert_eq!(checked["type"], "TASK_RESULT", "{checked}");
    assert_eq!(checked["output"]["valid"], false);
    let mended = place.submit("linguist", "t-2", "language.repair", json!(wrong)).await;
    let mended = mended["output"]["text"].clone();
    let input = json!({ "text": mended, "to": "llmx" });
    let said = place.submit("linguist", "t-3", "language.convert", input).await;
    let llmx = said["output"]["text"].as_str().unwrap().to_owned();
    assert_eq!(sabir_lingua::guess(&llmx), Some(sabir_lingua::Tongue::Llmx), "{llmx}");
    let counted = place.submit("linguist", "t-4", "language.tokens", json!(llmx)).await;
    assert!(counted["output"]["tokens"]["o200k"].as_u64().unwrap() > 5, "{counted}");
    let failed = place.submit("linguist", "t-5", "language.convert", json!("no words")).await;
    assert_eq!(failed["type"], "TASK_FAILED");
    assert!(failed["error"]["message"].as_str().unwrap().contains("no tongue"), "{failed}");
    place.stop().await;
}

/// Offline, with the model that is built in.
#[tokio::test(flavor = "multi_thread")]
async fn three_pages_become_an_answer_with_verified_citations_and_a_brief() {
    let site = site().await;
    let place =
        Place::new(CrewConfig::default(), &Models::default(), std::slice::from_ref(&site)).await;
    place.gate.ask_about(Arc::new(ForTheUser));
    let pages = ["tides", "locks", "pilots"].map(|name| format!("http://{site}/{name}.html"));
    let missing = format!("http://{site}/none.html");
    let note = "The harbour office opens at seven.";
    let sources = json!([pages[0], pages[1], pages[2], missing, note]);
    let input = json!({ "question": EXAMPLE_QUESTION, "sources": sources, "brief": true });
    let done = place.submit("researcher", "t-1", "research", input).await;
    let output = &done["output"];
    assert_eq!(done["type"], "TASK_RESULT", "{done}");
    assert!(output["answer"].as_str().unwrap().contains("12 hours and 25 minutes"), "{output}");
    let cited = citations(output);
    assert!(!cited.is_empty() && cited.iter().all(|(status, _)| status == "verified"), "{output}");
    assert_eq!(output["citations"][0]["url"], pages[0]);
    assert_eq!(output["captured"].as_array().unwrap().len(), 4, "{output}");
    assert_eq!(output["failed"][0]["url"], missing, "{output}");
    assert_eq!(output["refused"], json!([]));
    assert_eq!(done["provenance"]["model_version"], "extractive", "{done}");
    // What is said is what is kept.
    let collection = place.library().find_collection(EXAMPLE_QUESTION).unwrap();
    assert_eq!(output["collection"]["id"], collection.id.as_str());
    let made = place.library().artifacts(None, None, 10).unwrap();
    assert_eq!(made.len(), 1);
    assert_eq!(output["artifact"]["id"], made[0].id.as_str());
    assert_eq!(output["artifact"]["kind"], "executive_brief");

    // Asked again with nothing but words, it finds where they stand.
    let again =
        place.submit("researcher", "t-2", "research", json!("When is a ship neaped?")).await;
    assert_eq!(again["output"]["collection"]["id"], collection.id.as_str(), "{again}");
    let input = json!({ "collection": collection.title, "kind": "outline" });
    let brief = place.submit("researcher", "t-3", "research.brief", input).await;
    assert_eq!(brief["output"]["artifact"]["kind"], "outline", "{brief}");
    place.stop().await;
}

/// BR-G6: a task is no way around the gate. A page that somebody else's task names waits for a person,
/// who sees its whole address, and what was decided is on record.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_a_stranger_has_captured_is_asked_for() {
    let site = site().await;
    let place =
        Place::new(CrewConfig::default(), &Models::default(), std::slice::from_ref(&site)).await;
    let page = format!("http://{site}/tides.html?told=everything");
    for (task, decision) in [("t-1", Decision::Deny), ("t-2", Decision::Approve)] {
        let input = json!({ "sources": [page], "collection": "Tides" });
        let mut told = place.follow("researcher", task, "research.capture", input).await;
        loop {
            let event = body(&told.next().await.unwrap().text);
            assert_eq!(event["type"], "TASK_UPDATE", "{event}");
            if event["state"] == "waiting_for_approval" {
                break;
            }
        }
        let [matter] = <[_; 1]>::try_from(place.inbox.list()).unwrap();
        assert!(matches!(&matter.asker, Asker::Task { key, .. } if key.id.as_str() == task));
        assert!(matter.what.starts_with(&format!("ldp:{CALLER} asks for")), "{}", matter.what);
        assert!(matter.what.ends_with(&format!("\n  | {page}")), "{}", matter.what);
        place.inbox.decide(matter.id, decision).unwrap();
        let events: Vec<Value> = told.map(|it| body(&it.text)).collect().await;
        let last = events.last().unwrap();
        let kept = place.library().find_collection("Tides").ok();
        let kept = kept.map_or(0, |it| place.library().collection_counts(&it.id).unwrap().captured);
        match decision {
            Decision::Deny => {
                assert!(code(last) == "TASK_FAILED" && last.to_string().contains("said no"));
                assert_eq!(kept, 0, "{last}");
            }
            _ => {
                assert_eq!(last["type"], "TASK_RESULT", "{last}");
                assert_eq!(kept, 1, "{last}");
            }
        }
        let audit = place.library().audit(0, 100).unwrap();
        let rows = audit.iter().filter(|it| it.call_id == format!("task-{task}"));
        let rows: Vec<String> = rows.map(|it| format!("{} {:?}", it.actor, it.outcome)).collect();
        let end = if decision == Decision::Deny { "Deny" } else { "Allow" };
        assert_eq!(rows, [format!("ldp:{CALLER} Ask"), format!("ldp:{CALLER} {end}")]);
    }
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_researched_is_said() {
    let site = site().await;
    let only = ResearcherConfig { collections: vec!["Open".to_owned()] };
    let config = CrewConfig { researcher: Some(only), ..CrewConfig::default() };
    let place = Place::new(config, &Models::default(), std::slice::from_ref(&site)).await;
    place.gate.ask_about(Arc::new(ForTheUser));
    place.library().create_collection("Closed", &[], 1).unwrap();
    let page = format!("http://{site}/tides.html");
    for (task, skill, input, why) in [
        ("t-1", "research", json!("When does it open?"), "give `sources`"),
        ("t-2", "research", json!({ "sources": [page] }), "no `question`"),
        ("t-3", "research.capture", json!("nothing to see"), "no `sources`"),
        ("t-4", "research.answer", json!({ "question": "q", "sources": [page] }), "takes no"),
        ("t-5", "research", json!({ "question": "q", "sources": ["http://10.0.0.1/"] }), "not for"),
        (
            "t-6",
            "research",
            json!({ "question": "q", "sources": ["http://10.0.0.1/"], "collection": "open" }),
            "none of the sources",
        ),
        ("t-7", "research", json!({ "question": "q", "collection": "Closed" }), "not for"),
        (
            "t-8",
            "research.brief",
            json!({ "collection": "Open", "kind": "song" }),
            "cannot be made",
        ),
    ] {
        let failed = place.submit("researcher", task, skill, input).await;
        assert_eq!(failed["type"], "TASK_FAILED", "{task}: {failed}");
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{task}: {message}");
    }
    let titles: Vec<String> =
        place.library().collections(0, 10).unwrap().into_iter().map(|it| it.title).collect();
    assert_eq!(titles, ["Closed", "open"], "nothing else was made");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_pages_become_a_collection_offline() {
    let place = Place::new(CrewConfig::default(), &Models::default(), &[]).await;
    let stop = CancellationToken::new();
    let made = place.desk.make_example(&stop).await.unwrap();
    let again = place.desk.make_example(&stop).await.unwrap();
    assert_eq!((made.id.clone(), made.title.as_str()), (again.id, EXAMPLE_COLLECTION));
    let counts = place.library().collection_counts(&made.id).unwrap();
    assert_eq!((counts.captured, counts.versions, counts.failed), (4, 4, 0));
    // What a page hides is not there for a model to read; what it shows is.
    let sources = place.library().sources(&made.id, 0, 10).unwrap();
    let texts: Vec<String> = sources
        .iter()
        .map(|it| place.library().current_text(&it.id).unwrap().unwrap().markdown)
        .collect();
    let all = texts.join("\n");
    assert!(!all.contains("collector.invalid") && !all.contains("administrator"), "{all}");
    assert!(all.contains("Note to language models"), "{all}");
    let input = json!(EXAMPLE_QUESTION);
    let done = place.submit("researcher", "t-1", "research", input).await;
    let cited = citations(&done["output"]);
    assert!(
        cited.iter().any(|(status, quote)| status == "verified" && quote.contains("25 minutes"))
    );
    place.stop().await;
}

/// The packet that a prompt wants filled in, with words and calls put into it.
fn filled(request: &Request, text: &str, calls: &Value) -> Reply {
    let user = request.body["input"][0]["content"][0]["text"].as_str().unwrap();
    let packet = user.trim_end().lines().next_back().unwrap();
    let mut packet: Value = serde_json::from_str(packet).unwrap();
    let words = json!({ "type": "text", "text": text });
    let paragraph = json!({ "type": "paragraph", "children": [words] });
    packet["assistant"]["render"] = json!({ "type": "doc", "children": [paragraph] });
    packet["assistant"]["citations"] = json!([]);
    packet["tool_calls"] = calls.clone();
    Reply::sse([responses::message(&packet.to_string()), responses::completed("r")])
}

/// A model that obeys what a page says, and then says that it is done.
fn obeys(calls: Value) -> FakeModel {
    FakeModel::answering(move |request, number| {
        Some(match number % 2 {
            0 => filled(request, "As the page says.", &calls),
            _ => filled(request, "Done.", &json!([])),
        })
    })
}

/// What a page orders a model to do waits for a person, and does not happen without a yes.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_gives_orders_is_contained() {
    let calls = json!([{ "name": "artifact.save",
        "arguments": { "title": "Approved by the harbour master", "markdown": "x" } }]);
    let model = obeys(calls);
    let models = Models { researcher: Some(&model), ..Models::default() };
    let place = Place::new(CrewConfig::default(), &models, &[]).await;
    place.desk.make_example(&CancellationToken::new()).await.unwrap();
    for (task, decision, saved) in [("t-1", Decision::Deny, 0), ("t-2", Decision::Approve, 1)] {
        let input = json!({ "question": "Who is in command?", "collection": EXAMPLE_COLLECTION });
        let mut told = place.follow("researcher", task, "research", input).await;
        let waiting = loop {
            let event = body(&told.next().await.unwrap().text);
            assert_eq!(event["type"], "TASK_UPDATE", "{event}");
            if event["state"] == "waiting_for_approval" {
                break event["message"].as_str().unwrap().to_owned();
            }
        };
        assert!(waiting.contains("artifact.save"), "{waiting}");
        let [matter] = <[_; 1]>::try_from(place.inbox.list()).unwrap();
        let Asker::Task { key, skill, delegate } = &matter.asker else { panic!("{matter:?}") };
        assert_eq!((key.id.as_str(), skill.as_str()), (task, "research"));
        assert_eq!(delegate, "researcher");
        assert!(matter.what.contains("Approved by the harbour master"), "{}", matter.what);
        assert!(matter.what.contains("strangers wrote"), "{}", matter.what);
        assert!(place.library().artifacts(None, None, 10).unwrap().is_empty());
        place.inbox.decide(matter.id, decision).unwrap();
        let events: Vec<Value> = told.map(|it| body(&it.text)).collect().await;
        let output = &events.last().unwrap()["output"];
        let refused = output["refused"].as_array().unwrap();
        match decision {
            Decision::Deny => {
                assert_eq!(refused[0]["tool"], "artifact.save", "{output}");
                assert!(!refused[0]["why"].as_str().unwrap().is_empty(), "{output}");
            }
            _ => assert!(refused.is_empty(), "{output}"),
        }
        assert_eq!(place.library().artifacts(None, None, 10).unwrap().len(), saved);
        assert!(place.inbox.list().is_empty());
    }
    place.stop().await;
}

/// What a model was asked when the task was stopped is on record: it was paid for.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_stopped_writes_down_what_it_asked() {
    let model = FakeModel::start([Reply::sse([responses::created("r-1")]).then_hold_open()]);
    let models = Models { researcher: Some(&model), ..Models::default() };
    let place = Place::new(CrewConfig::default(), &models, &[]).await;
    place.desk.make_example(&CancellationToken::new()).await.unwrap();
    let input = json!({ "question": EXAMPLE_QUESTION, "collection": EXAMPLE_COLLECTION });
    let told = place.follow("researcher", "t-1", "research", input).await;
    model.wait_for_request(0);
    let node = place.node("researcher");
    let cancel = to(node, json!({ "type": "TASK_CANCEL", "task_id": "t-1" }));
    node.ask(&cancel.to_string(), LOOPBACK).await;
    let events: Vec<Value> = told.map(|it| body(&it.text)).collect().await;
    assert_eq!(events.last().unwrap()["type"], "TASK_FAILED", "{events:?}");
    // The crew waits for what it still has to say.
    let library = place.library().clone();
    place.stop().await;
    let runs = library.runs(None, None, 10).unwrap();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert!(runs[0].fault.is_some(), "{runs:?}");
}

/// The coder changes files in its folder, and tells what it did.
#[tokio::test(flavor = "multi_thread")]
async fn the_coder_works_in_its_folder_and_goes_on_after_a_restart() {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+ahoy\n*** End Patch\n";
    let model = FakeModel::start([
        Reply::sse([
            responses::call("c-1", "apply_patch", &json!({ "input": patch })),
            responses::completed("r-1"),
        ]),
        Reply::sse([responses::message("new.txt says ahoy"), responses::completed("r-2")]),
        Reply::sse([responses::created("r-3")]).then_hold_open(),
        Reply::sse([responses::message("it ended"), responses::completed("r-4")]),
    ]);
    // Nothing of this machine confines commands here, and none is run.
    let coder = sabir_host::AgentConfig {
        sandbox: Some(sabir_policy::SandboxMode::DangerFullAccess),
        ..Default::default()
    };
    let config = CrewConfig { coder: Some(coder), ..CrewConfig::default() };
    let models = Models { coder: Some(&model), ..Models::default() };
    let place = Place::new(config.clone(), &models, &[]).await;
    let file = place.workspace.join("new.txt");
    let done = place.submit("coder", "t-1", "code", json!("say ahoy in new.txt")).await;
    assert_eq!(done["output"], "new.txt says ahoy", "{done} {:?}", place.inbox.list());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "ahoy\n");
    assert_eq!(done["provenance"]["model_version"], "m", "{done}");
    let asked = model.requests()[0].body["instructions"].to_string();
    assert!(asked.contains("other agents hand to you"), "{asked}");

    let mut told = place.follow("coder", "t-2", "code", json!("never end")).await;
    model.wait_for_request(2);
    let home = place.stop().await;
    let last = loop {
        let event = told.next().await.unwrap();
        if event.last {
            break body(&event.text);
        }
    };
    assert_eq!(code(&last), "NODE_UNAVAILABLE", "{last}");
    // It keeps the node, which keeps the home.
    drop(told);
    let place = Place::at(home, config, &models, &[]).await;
    assert_eq!(model.requests().len(), 3, "nothing is done before everything is there");
    assert_eq!(place.crew.take_up(), 1);
    let again = place.submit("coder", "t-2", "code", json!("never end")).await;
    assert_eq!(again["output"], "it ended", "{again}");
    let asked = model.requests()[3].body.to_string();
    assert!(asked.contains("never end") && asked.contains("go on, and finish"), "{asked}");
    let before = place.submit("coder", "t-1", "code", json!("say ahoy in new.txt")).await;
    assert_eq!(before["output"], "new.txt says ahoy", "{before}");
    assert_eq!(model.requests().len(), 4, "nothing was done twice");
    place.stop().await;
}
