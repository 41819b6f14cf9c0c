//! Several tokens for anyone, and one id that their holders come under.

use sabir_ldp::Holder;
use sabir_net::{Demand, LdpOptions};
use serde_json::{Value, json};

use crate::stream::Events;
use crate::world::{World, holder, message, submit};

/// Two are in one domain, and the last is in another.
const ANN: &str = "anns-token";
const BOB: &str = "bobs-token";
const CARO: &str = "caros-token";

fn holders() -> Vec<Holder> {
    vec![holder(ANN, "default"), holder(BOB, "default"), holder(CARO, "friends")]
}

fn options() -> LdpOptions {
    let tokens = [ANN, BOB, CARO].map(|text| sabir_ldp::Fingerprint::of(text.as_bytes()));
    LdpOptions { tokens: tokens.into(), demand: Demand::Everyone, ..LdpOptions::default() }
}

fn shows(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

/// The body of what is answered to who shows this token.
async fn say(world: &World, token: &str, message: &str) -> Value {
    let reply = world.wire().await.post("/ldp/messages", &shows(token), message).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["body"].clone()
}

async fn open(world: &World, token: &str) -> String {
    let accepted = say(world, token, &propose(json!({ "ttl_secs": 600 }))).await;
    assert_eq!(accepted["type"], "SESSION_ACCEPT", "{accepted}");
    accepted["session_id"].as_str().unwrap().to_owned()
}

fn propose(config: Value) -> String {
    message("", json!({ "type": "SESSION_PROPOSE", "config": config }))
}

fn resume(session: &str) -> String {
    propose(json!({ "resume_session_id": session }))
}

fn query(session: &str) -> String {
    let body = json!({ "type": "TASK_UPDATE", "task_id": "t", "message": "status_query" });
    message(session, body)
}

fn cancel(session: &str) -> String {
    message(session, json!({ "type": "TASK_CANCEL", "task_id": "t" }))
}

fn close(session: &str, suspend: bool) -> String {
    message(session, json!({ "type": "SESSION_CLOSE", "reason": null, "suspend": suspend }))
}

fn steps(session: &str) -> String {
    submit(session, "t", "steps", json!({ "steps": 2 }))
}

/// Everything that somebody else could try, with a session of its own and without.
async fn assert_all_refused(world: &World, other: &str, own: &str, anns: &str) {
    for (said, code) in [
        (query(""), "TASK_NOT_FOUND"),
        (query(own), "TASK_NOT_FOUND"),
        (cancel(""), "TASK_NOT_FOUND"),
        (cancel(own), "TASK_NOT_FOUND"),
        (steps(own), "MESSAGE_INVALID"),
        (query(anns), "SESSION_NOT_YOURS"),
        (cancel(anns), "SESSION_NOT_YOURS"),
        (steps(anns), "SESSION_NOT_YOURS"),
        (submit(anns, "t-new", "echo", json!(1)), "SESSION_NOT_YOURS"),
        (close(anns, true), "SESSION_NOT_YOURS"),
        (close(anns, false), "SESSION_NOT_YOURS"),
        (resume(anns), "SESSION_NOT_YOURS"),
    ] {
        let told = say(world, other, &said).await;
        assert_eq!(told["error"]["code"], code, "{other}: {said}");
    }
    for after in [None, Some(0), Some(1), Some(2), Some(3)] {
        for (said, code) in [(steps(own), "MESSAGE_INVALID"), (steps(anns), "SESSION_NOT_YOURS")] {
            let told = Events::open_with(world, &shows(other), &said, after).await.all().await;
            let [only] = told.as_slice() else { panic!("{told:?}") };
            assert_eq!(only.data["body"]["error"]["code"], code, "{other}: {said}");
        }
    }
}

/// LD-M50, LD-N23: in one domain and in two, while the task runs, when it is over, after a restart.
#[tokio::test]
async fn what_one_token_began_is_not_for_another_under_the_same_id() {
    for other in [BOB, CARO] {
        let world = World::held(options(), holders()).await;
        let anns = open(&world, ANN).await;
        let mut events = Events::open_with(&world, &shows(ANN), &steps(&anns), None).await;
        world.steps.send_replace(1);
        let first = events.next().await.unwrap();
        assert_eq!((first.id, &first.data["body"]["seq"]), (1, &json!(1)));
        let own = open(&world, other).await;
        assert_all_refused(&world, other, &own, &anns).await;
        assert_eq!(say(&world, ANN, &query(&anns)).await["state"], "working");
        world.steps.send_replace(2);
        let rest = events.all().await;
        assert_eq!(rest.last().unwrap().data["body"]["output"], 2, "{rest:?}");
        assert_all_refused(&world, other, &own, &anns).await;

        let world = world.restart(options(), holders()).await;
        assert_all_refused(&world, other, &own, &anns).await;
        for said in [query(""), cancel(&anns), steps(&anns)] {
            assert_eq!(say(&world, ANN, &said).await["output"], 2, "{said}");
        }
        let again = Events::open_with(&world, &shows(ANN), &steps(&anns), Some(1)).await;
        let ids: Vec<u64> = again.all().await.iter().map(|event| event.id).collect();
        assert_eq!(ids, [2, 3]);
        let echo = submit(&anns, "t-2", "echo", json!("mine"));
        assert_eq!(say(&world, ANN, &echo).await["output"], "mine");
        assert_eq!(say(&world, ANN, &close(&anns, true)).await["suspend"], true);
        assert_eq!(say(&world, other, &resume(&anns)).await["error"]["code"], "SESSION_NOT_YOURS");
        assert_eq!(say(&world, ANN, &resume(&anns)).await["resumed"], true);
        world.end().await;
    }
}
