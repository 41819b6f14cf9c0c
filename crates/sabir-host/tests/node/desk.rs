//! Skills that are tasks of the desk: what their model uses up counts.

use std::sync::Arc;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use sabir_engine::{ProviderSettings, WireApi};
use sabir_host::{Desk, DeskModel, DeskSetup, Llmcp, LlmcpTask, ModelClient, Providers, Skill};
use sabir_policy::PolicyDoc;
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::json;

use crate::world::{World, code, settings, submission};

const PAGE: &str =
    "<title>Ferry</title><p>The ferry leaves at nine. In winter it leaves at ten.</p>";

/// A page on this machine, and where it is.
async fn page() -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Router::new().route("/", get(|| async { Html(PAGE) }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

fn summarizer(home: &std::path::Path, model: &FakeModel, page: &str) -> Arc<dyn Skill> {
    let said = ProviderSettings {
        base_url: Some(model.base_url()),
        wire_api: Some(WireApi::Responses),
        ..ProviderSettings::default()
    };
    let provider = Providers::none().resolve(&[&said], &|_| None).unwrap();
    let client = Box::new(ModelClient::new(provider).unwrap());
    let desk = Desk::open(DeskSetup {
        home: home.to_owned(),
        allow_egress: vec![page.parse().unwrap()],
        program: "/nonexistent".into(),
        model: DeskModel::Server { client, model: "m".to_owned(), budget: 8_000 },
        policy: PolicyDoc::default(),
        integrations: None,
        visible_browser: false,
    });
    Arc::new(Llmcp { desk: desk.unwrap(), task: LlmcpTask::Summarize })
}

/// LD-N18: a budget of a task whose model says what it used.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_of_the_desk_uses_up_is_told_and_held_to_the_budget() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let says = || {
        let used = responses::completed_with_usage("r", 120, 30);
        Reply::sse([responses::message("The ferry leaves at nine."), used])
    };
    let model = FakeModel::start([says(), says()]);
    let page = page().await.to_string();
    let skill = summarizer(home.path(), &model, &page);
    let world = World::at(home, settings(&[("sum", skill)])).await;
    world.open().await;
    let input = json!({ "url": format!("http://{page}/") });
    let told = world.submit("t-1", "sum", input.clone()).await;
    assert_eq!(told["provenance"]["tokens_used"], 150, "{told}");
    let mut dear = submission("t-2", "sum", input);
    let policy = json!({ "failure_policy": "fail_closed", "budget": { "max_tokens": 100 } });
    dear["body"]["contract"] = json!({ "contract_id": "c-1", "policy": policy });
    let told = world.ask(&dear).await;
    assert_eq!(code(&told), "CONTRACT_VIOLATED", "{told}");
    world.node.stop().await;
}
