//! Nothing that a peer sends, in whatever order, makes a machine panic or grow.

use proptest::prelude::*;
use sabir_ldp::{DelegateLimits, ReplayLimits};
use serde_json::{Value, json};

use crate::node::{CALLER, Node};

fn small() -> DelegateLimits {
    DelegateLimits {
        sessions: 8,
        sessions_of_one: 4,
        suspended: 2,
        ended: 4,
        running: 6,
        running_of_one: 4,
        waiting_for_one: 2,
        finished: 8,
        history: 3,
        updates: 5,
        ..DelegateLimits::default()
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,10}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_body() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "HELLO",
        "SESSION_PROPOSE",
        "SESSION_ACCEPT",
        "TASK_SUBMIT",
        "TASK_SUBMIT",
        "TASK_SUBMIT",
        "TASK_UPDATE",
        "TASK_RESULT",
        "TASK_FAILED",
        "TASK_CANCEL",
        "ATTESTATION",
        "SESSION_CLOSE",
    ]);
    (kind, 0..12u8, any_json(), any::<bool>(), 0..5u8).prop_map(|(kind, task, input, flag, s)| {
        json!({
            "type": kind, "task_id": format!("t-{task}"), "skill": "echo", "input": input,
            "delegate_id": CALLER, "supported_modes": ["text"], "suspend": flag,
            "message": "status_query", "claim": input, "evidence": null,
            "config": if flag { json!({ "ttl_secs": 1 + task }) }
                else { json!({ "resume_session_id": format!("s-{s}") }) },
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// LD-M3
    #[test]
    fn any_conversation_stays_within_the_limits(
        messages in prop::collection::vec((any_body(), 0..5u8, 0..3u8, 0..9_000u64), 1..60),
    ) {
        let limits = small();
        let mut node = Node::with(limits.clone());
        for (body, session, peer, later) in messages {
            let from = format!("ldp:delegate:{}", ["caller", "b", "c"][usize::from(peer)]);
            let mut message = node.message(&from, &format!("s-{session}"), body);
            if later % 5 == 0 {
                message["payload_mode"] = json!("semantic_frame");
            }
            node.post(&message);
            if later % 3 == 0 {
                node.wait(later);
            }
            if later % 4 == 0 && let Some(order) = node.started.last() {
                let key = order.key.clone();
                node.finish(&key, json!(later));
            }
            prop_assert!(node.delegate.sessions() <= limits.sessions);
            prop_assert!(node.delegate.running_tasks() <= limits.running);
            // Sessions, past sessions, tasks and ids: nothing else is kept.
            let most = 3 * limits.sessions + limits.ended + limits.finished + 2 * limits.running + 1
                + ReplayLimits::default().max_in_total.min(64);
            prop_assert!(node.delegate.snapshot().len() <= most);
        }
    }

    /// LD-M3: no text at all.
    #[test]
    fn any_text_is_answered(text in ".{0,200}", body in any_json()) {
        let mut node = Node::new();
        let first = node.post_text(&text);
        prop_assert!(!node.is_waiting(first));
        let message = node.message(CALLER, "s", body);
        let second = node.post(&message);
        prop_assert!(!node.is_waiting(second));
    }
}
