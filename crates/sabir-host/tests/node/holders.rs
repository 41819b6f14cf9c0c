//! Two who hold different tokens for anyone and come under one id: a stream is for one of them.

use std::sync::Arc;

use futures_util::StreamExt as _;
use sabir_host::{NodeSettings, Skill};
use sabir_ldp::{Channel, Credential, Fingerprint, Holder, Origin};
use serde_json::{Value, json};

use crate::streams::{ids, teller};
use crate::world::{CALLER, SESSION, World, all, body, code, echo, message, settings, submission};

const ANN: &str = "anns-token";
const BOB: &str = "bobs-token";
const BOBS: &str = "s-bob";

fn showing(token: &str) -> Channel {
    let credential = Credential::Token(Fingerprint::of(token.as_bytes()));
    Channel { origin: Origin::Remote, credential: Some(credential) }
}

/// Tasks that ended are soon in the store only.
fn with_holders(skills: &[(&str, Arc<dyn Skill>)]) -> NodeSettings {
    let mut settings = settings(skills);
    for token in [ANN, BOB] {
        let credential = Credential::Token(Fingerprint::of(token.as_bytes()));
        settings.trust.add_holder(Holder { domain: "default".to_owned(), credential });
    }
    settings.limits.finished = 1;
    settings
}

async fn ask(world: &World, token: &str, message: &Value) -> Value {
    body(&world.node.ask(&message.to_string(), showing(token)).await)
}

async fn open(world: &World, token: &str, session: &str) {
    let propose = json!({ "type": "SESSION_PROPOSE", "config": {} });
    let answer = ask(world, token, &message(CALLER, session, propose)).await;
    assert_eq!(answer["session_id"], session, "{answer}");
}

fn order(session: &str) -> Value {
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "tell", "input": 1 });
    message(CALLER, session, body)
}

async fn assert_bob_is_told_nothing(world: &World) {
    for (session, refusal) in [(BOBS, "MESSAGE_INVALID"), (SESSION, "SESSION_NOT_YOURS")] {
        for after in [None, Some(0), Some(1), Some(3), Some(4)] {
            let text = order(session).to_string();
            let told = all(world.node.follow(&text, showing(BOB), after).await).await;
            let [(_, only)] = told.as_slice() else { panic!("{told:?}") };
            assert_eq!(code(only), refusal, "after {after:?}");
        }
    }
}

/// LD-N23: while the task runs, when it is over, when only the store knows it, after a restart.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_for_who_shows_what_its_task_was_begun_with() {
    let (permits, skill) = teller(3, 1);
    let skills = [skill, echo()];
    let home = Arc::new(tempfile::tempdir().unwrap());
    let world = World::at(Arc::clone(&home), with_holders(&skills)).await;
    open(&world, ANN, SESSION).await;
    open(&world, BOB, BOBS).await;
    let mut follow = world.node.follow(&order(SESSION).to_string(), showing(ANN), None).await;
    assert_eq!(follow.next().await.unwrap().id, 1);
    assert_bob_is_told_nothing(&world).await;
    permits.add_permits(2);
    assert_eq!(ids(&all(follow).await), [2, 3, 4]);
    assert_bob_is_told_nothing(&world).await;
    for number in 0..3 {
        ask(&world, ANN, &submission(&format!("e-{number}"), "echo", json!(1))).await;
    }
    assert_bob_is_told_nothing(&world).await;
    world.node.stop().await;
    drop(world);
    let world = World::at(home, with_holders(&skills)).await;
    assert_bob_is_told_nothing(&world).await;
    for (after, expected) in [(None, vec![1, 2, 3, 4]), (Some(2), vec![3, 4])] {
        let text = order(SESSION).to_string();
        let told = all(world.node.follow(&text, showing(ANN), after).await).await;
        assert_eq!(ids(&told), expected, "after {after:?}");
        assert_eq!(told.last().unwrap().1["output"], "told all");
    }
}
