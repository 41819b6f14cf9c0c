//! Collections: offline, from the first click to a cited answer, its passage and a file.

use sabir_host::EXAMPLE_QUESTION;
use serde_json::{Value, json};

use crate::world::World;

/// CO-15: the example pages become a collection, a question is answered from them, each citation opens
/// its passage, and what is HTML holds nothing that runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_gets_a_cited_answer_offline() {
    let world = World::start().await;
    let person = world.person().await;
    assert_eq!(person.see("/api/collections").await, json!({ "collections": [], "next": null }));
    let id = world.examples(&person).await;
    // Once more is the same collection.
    assert_eq!(world.examples(&person).await, id);
    let listed = person.see("/api/collections").await;
    assert_eq!(listed["collections"].as_array().unwrap().len(), 1);
    assert_eq!(listed["collections"][0]["counts"]["failed"], 0, "{listed}");
    assert!(listed["collections"][0]["counts"]["captured"].as_u64().unwrap() >= 2, "{listed}");
    let path = format!("/api/collections/{id}");
    let asked = json!({ "question": EXAMPLE_QUESTION });
    let answer = person.done(&format!("{path}/ask"), asked).await;
    let html = answer["html"].as_str().unwrap();
    assert!(
        html.contains("12 hours and 25 minutes") && html.contains("href=\"#s-cite-1\""),
        "{answer}"
    );
    assert_eq!(answer["model"], "extractive");
    let citations = answer["citations"].as_array().unwrap();
    assert!(!citations.is_empty(), "{answer}");
    for cited in citations {
        assert_eq!(cited["status"], "verified", "{cited}");
        let version = cited["version_id"].as_str().unwrap();
        let version = person.see(&format!("/api/versions/{version}")).await;
        let text = version["text"].as_str().unwrap();
        let place = |name: &str| usize::try_from(cited[name].as_u64().unwrap()).unwrap();
        let passage = &text[place("start")..place("end")];
        assert_eq!(passage, cited["quote"].as_str().unwrap());
        assert_eq!(version["source"]["id"], cited["source_id"]);
        assert!(!version["html"].as_str().unwrap().contains("<script"), "{version}");
    }
    let whole = person.see(&path).await;
    let roles: Vec<&Value> =
        whole["chat"].as_array().unwrap().iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["user", "assistant"]);
    assert_eq!(whole["chat"][0]["text"], EXAMPLE_QUESTION);
    assert_eq!(whole["chat"][1]["html"], answer["html"]);
    assert_eq!(whole["chat"][1]["citations"], answer["citations"]);
    assert!(whole["sources"].as_array().unwrap().iter().all(|it| it["version_id"].is_string()));
    world.end().await;
}

/// CO-15: what is made of a collection is shown, and taken away in every form.
#[tokio::test(flavor = "multi_thread")]
async fn artifacts_are_made_shown_and_taken_away() {
    let world = World::start().await;
    let person = world.person().await;
    let id = world.examples(&person).await;
    let path = format!("/api/collections/{id}");
    let kinds = person.see(&path).await["transforms"].clone();
    let kind = kinds[0].as_str().unwrap();
    let made = person.done(&format!("{path}/transform"), json!({ "kind": kind })).await;
    let artifact = made["artifact"]["id"].as_str().unwrap();
    assert_eq!(made["artifact"]["status"], "completed");
    let shown = person.see(&format!("/api/artifacts/{artifact}")).await;
    assert_eq!((&shown["kind"], &shown["title"]), (&json!(kind), &made["artifact"]["title"]));
    assert!(shown["html"].as_str().unwrap().starts_with('<'), "{shown}");
    assert!(!shown["citations"].as_array().unwrap().is_empty(), "{shown}");
    for (format, kind, start) in [
        ("md", "text/markdown; charset=utf-8", ""),
        ("txt", "text/plain; charset=utf-8", ""),
        ("json", "application/json", "{"),
        ("csv", "text/csv; charset=utf-8", ""),
        ("pdf", "application/pdf", "%PDF-"),
    ] {
        let file = person.get(&format!("/api/artifacts/{artifact}/file?format={format}")).await;
        assert_eq!((file.status, file.header("content-type")), (200, kind));
        assert!(file.body.starts_with(start.as_bytes()) && file.body.len() > 20, "{format}");
        let name = file.header("content-disposition");
        assert!(
            name.starts_with("attachment; filename=\"") && name.ends_with(&format!(".{format}\""))
        );
    }
    let wrong = person.get(&format!("/api/artifacts/{artifact}/file?format=exe")).await;
    assert_eq!(wrong.status, 400);
    let wrong = person.post(&format!("{path}/transform"), json!({ "kind": "poem" })).await;
    assert_eq!((wrong.status, wrong.code().as_str()), (409, "refused"));
    world.end().await;
}

/// CO-15: what is not there, or cannot be done, is said.
#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_named() {
    let world = World::start().await;
    let person = world.person().await;
    let made = person.post("/api/collections", json!({ "name": "Ports" })).await;
    assert_eq!(made.status, 201);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let again = person.post("/api/collections", json!({ "name": "ports " })).await;
    assert_eq!((again.status, again.code().as_str()), (409, "title_taken"));
    let path = format!("/api/collections/{id}");
    for (path, body, status) in [
        (format!("{path}/ask"), json!({ "question": " " }), 409),
        (format!("{path}/transform"), json!({ "kind": "timeline" }), 409),
        (format!("{path}/capture"), json!({ "inputs": [] }), 400),
        // A file of this machine is nothing for a page of the web.
        (format!("{path}/capture"), json!({ "inputs": ["/etc/passwd"] }), 400),
        (format!("{path}/capture"), json!({ "inputs": ["file:///etc/passwd"] }), 400),
        (format!("{path}/capture"), json!({ "inputs": ["https://me:secret@a.example/"] }), 400),
        ("/api/collections/col_none/ask".to_owned(), json!({ "question": "?" }), 404),
    ] {
        let reply = person.post(&path, body.clone()).await;
        assert_eq!(reply.status, status, "{path} {body} {reply:?}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("secret"), "{reply:?}");
    }
    for path in [
        "/api/collections/x",
        "/api/collections/col_none",
        "/api/artifacts/art_none",
        "/api/versions/1",
    ] {
        assert_eq!(person.get(path).await.status, 404, "{path}");
    }
    world.end().await;
}
