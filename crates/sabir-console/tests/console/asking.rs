//! Questions to a model on a server: what it may not do by itself waits in the inbox, and whoever goes
//! away stops it.

use sabir_host::{Asker, Matter, MatterKind};
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, Request, responses};
use serde_json::{Value, json};

use crate::served::Line;
use crate::world::{Wishes, World};

/// The packet that the prompt wants filled in, with a paragraph and calls put into it.
fn fill(request: &Request, text: &str, calls: &Value) -> Reply {
    let user = request.body["input"][0]["content"][0]["text"].as_str().unwrap();
    let packet = user.trim_end().lines().next_back().unwrap();
    let mut packet: Value = serde_json::from_str(packet).unwrap();
    packet["assistant"]["render"] = json!({ "type": "doc", "children": [
        { "type": "paragraph", "children": [{ "type": "text", "text": text }] },
    ]});
    packet["assistant"]["citations"] = json!([]);
    packet["tool_calls"] = calls.clone();
    let used = responses::completed_with_usage("r", 100, 10);
    Reply::sse([responses::message(&packet.to_string()), used])
}

/// A model that does what a page told it, and then says that it is done.
fn obedient(calls: Value) -> FakeModel {
    FakeModel::answering(move |request, number| {
        Some(match number % 2 {
            0 => fill(request, "As the page says.", &calls),
            _ => fill(request, "Done.", &json!([])),
        })
    })
}

/// Waits until something is in the inbox.
async fn waiting(world: &World) -> u64 {
    let mut changes = world.inbox.watch();
    loop {
        if let Some(matter) = world.inbox.list().first() {
            return matter.id;
        }
        changes.changed().await.unwrap();
    }
}

/// CO-24: a blocker is answered in words, and nothing else is.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_blocked_is_told_what_a_person_says() {
    let world = World::with(Wishes::default()).await;
    let person = world.person().await;
    let asker = || Asker::Session { id: "s".to_owned() };
    let put = |kind| world.inbox.ask(Matter::new(asker(), kind, "no key".to_owned()));
    let (mut blocked, mut plain) = (put(MatterKind::Blocker), put(MatterKind::Approval));
    let inbox = person.see("/api/inbox").await;
    assert_eq!(inbox["matters"][0]["kind"], "blocker", "{inbox}");
    let path = |id: u64| format!("/api/inbox/{id}");
    let say = |words: &str| json!({ "decision": "approve", "words": words });
    assert_eq!(person.post(&path(plain.id()), say("take mine")).await.status, 400);
    assert_eq!(person.post(&path(blocked.id()), say(&"x".repeat(4_001))).await.status, 400);
    person.done(&path(blocked.id()), say(" take mine ")).await;
    assert_eq!(blocked.answered().await.words.as_deref(), Some("take mine"));
    person.done(&path(plain.id()), say("  ")).await;
    assert_eq!(plain.answered().await.words, None);
    world.end().await;
}

/// CO-26: a page that still shows what waited before the node was started anew decides about nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_word_on_what_was_before_is_no_word_on_what_waits_now() {
    let worlds = [World::start().await, World::start().await];
    let put = |world: &World, what: &str| {
        let asker = Asker::Session { id: "s".to_owned() };
        world.inbox.ask(Matter::new(asker, MatterKind::Approval, what.to_owned()))
    };
    let (before, now) = (put(&worlds[0], "look"), put(&worlds[1], "delete everything"));
    let person = worlds[1].person().await;
    let path = format!("/api/inbox/{}", before.id());
    assert_eq!(person.post(&path, json!({ "decision": "approve" })).await.status, 404);
    assert!(worlds[1].inbox.is_waiting(now.id()));
    drop((before, now));
    for world in worlds {
        world.end().await;
    }
}

/// CO-16, CO-17: a call that has to be asked for waits in the inbox with all that it says; a person's
/// word decides, and the answer says what became of it.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_may_not_do_by_itself_waits_for_a_person() {
    let calls = json!([{ "name": "artifact.save",
        "arguments": { "title": "Lamp", "markdown": "Buy this lamp." } }]);
    let model = obedient(calls);
    let world = World::with(Wishes { model: Some(&model), ..Wishes::default() }).await;
    let person = world.person().await;
    let id = world.examples(&person).await;
    for (decision, outcome, artifacts) in [("deny", "deny", 0), ("approve", "allow", 1)] {
        let asking = {
            let (person, path) = (person.clone(), format!("/api/collections/{id}/ask"));
            tokio::spawn(async move { person.done(&path, json!({ "question": "What?" })).await })
        };
        let number = waiting(&world).await;
        let inbox = person.see("/api/inbox").await;
        let matter = &inbox["matters"][0];
        assert_eq!((&matter["id"], &matter["kind"]), (&json!(number), &json!("approval")));
        assert_eq!(matter["asker"], json!({ "type": "desk", "collection": id }));
        assert_eq!(matter["choices"], json!(["approve", "deny"]));
        let what = matter["what"].as_str().unwrap();
        assert!(
            what.starts_with("artifact.save: ") && what.contains("\n  | Buy this lamp."),
            "{what}"
        );
        assert!(what.starts_with(matter["title"].as_str().unwrap()), "{matter}");
        assert_eq!(person.see("/api/me").await["counts"]["inbox"], 1);
        let path = format!("/api/inbox/{number}");
        for (word, status) in [("approve_for_session", 400), ("maybe", 400)] {
            let reply = person.post(&path, json!({ "decision": word })).await;
            assert_eq!(reply.status, status, "{word}");
        }
        person.done(&path, json!({ "decision": decision })).await;
        let late = person.post(&path, json!({ "decision": decision })).await;
        assert_eq!((late.status, late.code().as_str()), (404, "not_found"));
        let answer = asking.await.unwrap();
        let call = &answer["calls"][0];
        assert_eq!((&call["tool"], &call["outcome"]), (&json!("artifact.save"), &json!(outcome)));
        assert!(!call["why"].as_str().unwrap().is_empty(), "{call}");
        let whole = person.see(&format!("/api/collections/{id}")).await;
        assert_eq!(whole["artifacts"].as_array().unwrap().len(), artifacts);
        assert_eq!(person.see("/api/inbox").await, json!({ "matters": [] }));
    }
    let decided = person.see("/api/decisions?limit=10").await;
    let rows = decided["decisions"].as_array().unwrap();
    let outcomes: Vec<&str> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["allow", "ask", "deny", "ask"], "{decided}");
    assert!(rows.windows(2).all(|pair| pair[0]["seq"].as_u64() > pair[1]["seq"].as_u64()));
    for row in rows {
        assert_eq!(row["tool"], "artifact.save");
        assert!(
            row["why"].is_string() && row["rule"].is_string() && row["hash"].is_string(),
            "{row}"
        );
        assert!(row["explanation"].as_str().unwrap().contains("artifact.save"), "{row}");
    }
    let before = format!("/api/decisions?limit=2&before={}", rows[1]["seq"]);
    assert_eq!(person.see(&before).await["decisions"], json!(rows[2..4]));
    let call = format!("/api/decisions?call={}", rows[0]["call_id"].as_str().unwrap());
    assert_eq!(person.see(&call).await["decisions"], json!(rows[..2]));
    let usage = person.see("/api/usage?days=1").await;
    assert_eq!(usage["totals"]["input_tokens"], 400, "{usage}");
    assert_eq!(usage["totals"]["output_tokens"], 40, "{usage}");
    assert_eq!(usage["series"][0]["model"], "m", "{usage}");
    world.end().await;
}

/// CO-16: whoever hangs up stops the question, takes back what waits for a person, and leaves a place
/// for the next. Over a real connection, because only that can be lost.
#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_is_not_worked_for() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = FakeModel::answering(move |request, number| match number {
        0 => Some(Reply::sse([responses::created("r")]).then_wait(&held)),
        _ => {
            let calls = json!([{ "name": "artifact.save",
                "arguments": { "title": "x", "markdown": "y" } }]);
            Some(fill(request, "As the page says.", &calls))
        }
    });
    let world = World::with(Wishes { model: Some(&model), ..Wishes::default() }).await;
    let person = world.person().await;
    let id = world.examples(&person).await;
    let path = format!("/api/collections/{id}/ask");
    let ask = || Line::post(&world, &person, &path, json!({ "question": "What?" }));
    // While the model thinks.
    let line = ask().await;
    model.wait_for_request(0);
    line.hang_up().await;
    model.wait_for_close(0);
    gate.open();
    // While a person is asked.
    let line = ask().await;
    waiting(&world).await;
    line.hang_up().await;
    let mut changes = world.inbox.watch();
    while !world.inbox.list().is_empty() {
        changes.changed().await.unwrap();
    }
    world.end().await;
}
