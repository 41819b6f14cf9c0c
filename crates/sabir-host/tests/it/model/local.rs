//! Finding model servers on this machine.

use sabir_host::{LocalServer, probe_local};
use sabir_testkit::fake_model::{FakeModel, Reply};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn servers_that_list_models_are_found() {
    let list =
        json!({ "object": "list", "data": [{ "id": "a" }, { "id": "b\u{1b}[2J" }, { "id": "c" }] });
    let good = FakeModel::start([Reply::json(200, &list)]);
    let page = FakeModel::start([Reply::body(200, "text/html", "<h1>a site</h1>")]);
    let closed = FakeModel::start([Reply::error(401, "x", "who")]);
    let moved = FakeModel::start([
        Reply::body(302, "text/plain", "").header("location", "http://192.0.2.1/")
    ]);
    let silent = FakeModel::start([Reply::body(200, "application/json", "{").then_hold_open()]);
    let ports =
        [&page, &good, &closed, &moved, &silent].map(|model| (model.address().port(), "Name"));
    let found = probe_local(&ports).await;
    let expected = LocalServer {
        name: "Name".to_owned(),
        base_url: good.base_url(),
        models: vec!["a".to_owned(), "c".to_owned()],
    };
    assert_eq!(found, [expected]);
    let asked = good.wait_for_request(0);
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("GET", "/v1/models"));
    assert_eq!(probe_local(&[]).await, []);
}
