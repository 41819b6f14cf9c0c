//! The journals: rows from the end, filtered, searched, each checked.

use sabir_store::{Batch, Entry, SessionFacts, SessionId};
use serde_json::{Value, json};

use crate::world::World;

fn fill(world: &World) {
    let store = world.engine.store();
    for talk in ["a", "b"] {
        let facts = SessionFacts {
            cwd: "/project".to_owned(),
            model: "m".to_owned(),
            title: None,
            parent: None,
        };
        let mut entries = vec![Entry::Session(facts)];
        for number in 0..300 {
            let kind = if number % 3 == 0 { "token_count" } else { "agent_message" };
            let body = json!({ "id": "1", "msg": { "type": kind, "message": format!("Word-{talk}-{number}"),
                "input": 10, "output": 1 } });
            let (sub_id, kind) = ("1".to_owned(), kind.to_owned());
            entries.push(Entry::Event { sub_id, kind, body: body.to_string() });
        }
        let session_id = SessionId::new(talk);
        store.append_and_wait(Batch { session_id, at_ms: 1_000, entries }).unwrap();
    }
}

fn seqs(lines: &Value) -> Vec<u64> {
    lines["lines"].as_array().unwrap().iter().map(|it| it["seq"].as_u64().unwrap()).collect()
}

/// CO-18: rows are read page by page, the last first or on from a place, by kind, session and words.
#[tokio::test(flavor = "multi_thread")]
async fn rows_are_found() {
    let world = World::start().await;
    fill(&world);
    let person = world.person().await;
    let journals = person.see("/api/journals").await;
    let names: Vec<&Value> =
        journals["journals"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["node", "audit"]);
    let last = journals["journals"][0]["last_seq"].as_u64().unwrap();
    let newest = person.see("/api/journal/node?limit=3").await;
    assert_eq!(seqs(&newest), [last, last - 1, last - 2]);
    assert_eq!(newest["next"], last - 2);
    let older = person.see(&format!("/api/journal/node?limit=3&before={}", last - 2)).await;
    assert_eq!(seqs(&older), [last - 3, last - 4, last - 5]);
    let onward = person.see("/api/journal/node?after=2&limit=2").await;
    assert_eq!(seqs(&onward), [3, 4]);
    // Page by page, each row once.
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let more = before.map_or(String::new(), |it: u64| format!("&before={it}"));
        let page = person
            .see(&format!("/api/journal/node?limit=70&session=a&kind=event&tag=token_count{more}"))
            .await;
        all.extend(seqs(&page));
        match page["next"].as_u64() {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    assert_eq!(all.len(), 100);
    assert!(all.is_sorted_by(|one, other| one > other));
    let found = person.see("/api/journal/node?q=word-b-299").await;
    assert_eq!(found["lines"].as_array().unwrap().len(), 1);
    assert_eq!(found["lines"][0]["session_id"], "b");
    assert!(found["lines"][0]["summary"].as_str().unwrap().contains("Word-b-299"));
    let missing = person.get("/api/journal/nobody").await;
    assert!(
        missing.status == 404 && missing.json()["error"]["message"].to_string().contains("node")
    );
    world.end().await;
}

/// CO-18: a row is shown whole, and whether it is still what was written.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_shown_whole() {
    let world = World::start().await;
    fill(&world);
    let person = world.person().await;
    let newest = person.see("/api/journal/node?limit=1").await;
    let seq = seqs(&newest)[0];
    let row = person.see(&format!("/api/journal/node/{seq}")).await;
    assert_eq!((&row["is_sound"], &row["line"]["seq"]), (&json!(true), &json!(seq)));
    assert_eq!(row["hash"].as_str().unwrap().len(), 64);
    assert!(row["line"]["body"].as_str().unwrap().contains("Word-b-299"), "{row}");
    for form in ["json", "axon", "llmx", "english"] {
        assert!(row["forms"][form].as_str().unwrap().contains("Word-b-299"), "{form}: {row}");
        assert!(row["tokens"][form].as_u64().unwrap() > 3, "{form}: {row}");
    }
    assert_eq!(row["vocabulary"], "o200k");
    let other = person.see(&format!("/api/journal/node/{seq}?vocabulary=cl100k")).await;
    assert_eq!((&other["forms"], &other["vocabulary"]), (&row["forms"], &json!("cl100k")));
    let unknown = person.get(&format!("/api/journal/node/{seq}?vocabulary=klingon")).await;
    assert!(unknown.status == 400 && unknown.json().to_string().contains("o200k"), "{unknown:?}");
    for (path, status) in [("/api/journal/node/999999", 404), ("/api/journal/node/x", 400)] {
        assert_eq!(person.get(path).await.status, status);
    }
    world.end().await;
}

/// CO-18: the chain of a journal is followed to its end.
#[tokio::test(flavor = "multi_thread")]
async fn a_journal_is_checked() {
    let world = World::start().await;
    fill(&world);
    let person = world.person().await;
    let newest = person.see("/api/journal/node?limit=1").await;
    let checked = person.see("/api/journal/node/check").await;
    assert_eq!(
        (&checked["result"], &checked["entries"]),
        (&json!("whole"), &json!(seqs(&newest)[0]))
    );
    assert_eq!(person.see("/api/journal/audit/check").await["result"], "whole");
    assert_eq!(person.get("/api/journal/nobody/check").await.status, 404);
    world.end().await;
}

/// CO-20: what agents used is added up from what their models said.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_sessions_are_counted() {
    let world = World::start().await;
    let person = world.person().await;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = u64::try_from(now.as_millis()).unwrap();
    let day = 24 * 3600 * 1000;
    for (talk, at_ms) in [("old", now - 40 * day), ("new", now - 2 * day), ("now", now)] {
        let facts = SessionFacts {
            cwd: "/project".to_owned(),
            model: format!("model-{talk}"),
            title: None,
            parent: None,
        };
        let body = json!({ "id": "1", "msg": { "type": "token_count", "input": 10, "output": 2 } });
        let event = Entry::Event {
            sub_id: "1".to_owned(),
            kind: "token_count".to_owned(),
            body: body.to_string(),
        };
        let entries = vec![Entry::Session(facts), event.clone(), event];
        let session_id = SessionId::new(talk);
        world.engine.store().append_and_wait(Batch { session_id, at_ms, entries }).unwrap();
    }
    let names = |usage: &Value| -> Vec<String> {
        let series = usage["series"].as_array().unwrap();
        series.iter().map(|it| it["model"].as_str().unwrap().to_owned()).collect()
    };
    let week = person.see("/api/usage?days=7").await;
    assert_eq!(names(&week), ["model-new", "model-now"]);
    assert_eq!(week["totals"]["input_tokens"], 40, "{week}");
    assert_eq!(week["totals"]["calls"], 4, "{week}");
    let day = person.see("/api/usage?days=1").await;
    assert_eq!(names(&day), ["model-now"]);
    assert_eq!(person.see("/api/usage?days=90").await["totals"]["output_tokens"], 12);
    world.end().await;
}
