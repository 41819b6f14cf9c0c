//! Contracts, budgets, and tasks that go in circles.

use sabir_ldp::{
    Budget, DelegateLimits, Refusal, RequestId, StopReason, TaskEvent, Timestamp, Usage,
};
use serde_json::{Value, json};

use crate::node::{CALLER, NODE, Node, START, code, key};

fn submit(node: &mut Node, contract: Value, path: Value) -> RequestId {
    let body = json!({
        "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "echo", "input": "x",
        "contract": contract, "delegation_path": path,
    });
    let message = node.message(CALLER, "s-1", body);
    node.post(&message)
}

fn contract(policy: &str, deadline_ms: Option<u64>) -> Value {
    json!({
        "contract_id": "c-1", "objective": "o", "success_criteria": [],
        "policy": {
            "failure_policy": policy, "budget": { "max_tokens": 10, "max_cost_usd": null },
            "safety_constraints": [], "max_delegation_depth": 1,
        },
        "deadline": deadline_ms.map(|after| Timestamp::from_millis(START + after).to_string()),
        "created_at": Timestamp::from_millis(START).to_string(),
    })
}

fn opened() -> Node {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    node
}

/// LD-M27
#[test]
fn a_deadline_that_has_passed_is_not_tried() {
    let mut node = opened();
    node.now += 1;
    let request = submit(&mut node, contract("fail_open", Some(0)), json!([]));
    let failed = node.answer(request);
    assert_eq!(code(&failed), "CONTRACT_VIOLATED");
    assert!(failed["error"]["message"].as_str().unwrap().contains("deadline_exceeded"));
    assert!(node.started.is_empty());
}

/// LD-M28
#[test]
fn loops_and_long_ways_are_refused() {
    let mut node = opened();
    for (path, refusal) in [
        (json!([NODE, CALLER]), "LOOP_DETECTED"),
        (json!([NODE]), "LOOP_DETECTED"),
        (json!(["ldp:delegate:a", "ldp:delegate:b", CALLER]), "DEPTH_EXCEEDED"),
    ] {
        let request = submit(&mut node, contract("fail_open", None), path);
        assert_eq!(code(&node.answer(request)), refusal);
    }
    let far: Vec<String> = (0..10).map(|hop| format!("ldp:delegate:{hop}")).collect();
    let request = submit(&mut node, Value::Null, json!(far));
    assert_eq!(code(&node.answer(request)), "DEPTH_EXCEEDED");
    assert!(node.started.is_empty());
    submit(&mut node, contract("fail_open", None), json!(["ldp:delegate:a", CALLER]));
    assert_eq!(node.started[0].delegation_path.last().unwrap().as_str(), CALLER);
}

/// LD-M29
#[test]
fn a_budget_stops_a_task_while_it_runs() {
    for (policy, expected) in [("fail_closed", "TASK_FAILED"), ("fail_open", "TASK_RESULT")] {
        let mut node = opened();
        let request = submit(&mut node, contract(policy, None), json!([]));
        let task = key(CALLER, "t-1");
        node.tell(&task, TaskEvent::Usage(Usage { tokens: Some(10), cost_usd: None }));
        assert!(node.stopped.is_empty());
        node.tell(&task, TaskEvent::Usage(Usage { tokens: Some(11), cost_usd: None }));
        assert_eq!(node.stopped, [(task.clone(), StopReason::Violated)]);
        let mut error = Refusal::TaskFailed.error("killed");
        error.partial_output = Some(json!("half"));
        node.tell(&task, TaskEvent::Failed { error, usage: Usage::default() });
        let answer = node.answer(request);
        assert_eq!(answer["type"], expected);
        if policy == "fail_closed" {
            assert_eq!(code(&answer), "CONTRACT_VIOLATED");
            assert_eq!(answer["error"]["partial_output"], "half");
        } else {
            assert_eq!(answer["output"], "half");
            let provenance = &answer["provenance"];
            assert_eq!(provenance["contract_id"], "c-1");
            assert_eq!(provenance["contract_satisfied"], false);
            assert_eq!(provenance["contract_violations"], json!(["budget_tokens_exceeded"]));
        }
    }
}

/// LD-M29
#[test]
fn a_deadline_stops_a_task_that_has_nothing_to_say() {
    let mut node = opened();
    let request = submit(&mut node, contract("fail_open", Some(1_000)), json!([]));
    node.wait(999);
    assert!(node.stopped.is_empty());
    node.wait(1);
    assert_eq!(node.stopped.len(), 1);
    assert!(node.is_waiting(request));
    // Nothing comes: after a while the answer does without.
    node.wait(DelegateLimits::default().stop_ms);
    let failed = node.answer(request);
    assert_eq!(code(&failed), "CONTRACT_VIOLATED");
    assert!(failed["error"].get("partial_output").is_none());
}

/// LD-M29, LD-M35
#[test]
fn a_kept_contract_is_said_to_be_kept() {
    let mut node = opened();
    let request = submit(&mut node, contract("fail_closed", Some(60_000)), json!([]));
    let usage = Usage { tokens: Some(10), cost_usd: None };
    let finished = sabir_ldp::Finished { output: json!("done"), usage, ..Default::default() };
    node.tell(&key(CALLER, "t-1"), TaskEvent::Finished(Box::new(finished)));
    let provenance = node.answer(request)["provenance"].clone();
    assert_eq!(provenance["contract_id"], "c-1");
    assert_eq!(provenance["contract_satisfied"], true);
}

/// LD-M52: each row has a budget, what was measured, and what is said of the contract.
#[test]
fn what_nobody_measured_is_neither_kept_nor_broken() {
    let rows = [
        (json!({ "max_tokens": 10 }), (None, None), Value::Null),
        (json!({ "max_tokens": 10 }), (None, Some(0.1)), Value::Null),
        (json!({ "max_tokens": 10 }), (Some(0), None), json!(true)),
        (json!({ "max_cost_usd": 0.5 }), (Some(3), None), Value::Null),
        (json!({ "max_tokens": 10, "max_cost_usd": 0.5 }), (Some(3), None), Value::Null),
        (json!({ "max_tokens": 10, "max_cost_usd": 0.5 }), (Some(3), Some(0.5)), json!(true)),
        // What is known to be broken is, whatever else is not known.
        (json!({ "max_tokens": 10, "max_cost_usd": 0.5 }), (Some(11), None), json!(false)),
        (json!({}), (None, None), json!(true)),
    ];
    for (budget, (tokens, cost_usd), satisfied) in rows {
        let mut node = opened();
        let mut terms = contract("fail_open", Some(60_000));
        terms["policy"]["budget"] = budget.clone();
        let request = submit(&mut node, terms, json!([]));
        let usage = Usage { tokens, cost_usd };
        let finished = sabir_ldp::Finished { output: json!("done"), usage, ..Default::default() };
        node.tell(&key(CALLER, "t-1"), TaskEvent::Finished(Box::new(finished)));
        let answer = node.answer(request);
        // It is delivered all the same.
        assert_eq!(answer["output"], "done", "{budget}");
        let provenance = &answer["provenance"];
        assert_eq!(provenance["contract_id"], "c-1");
        assert_eq!(provenance["contract_satisfied"], satisfied, "{budget} {usage:?}");
        assert_eq!(provenance["tokens_used"], json!(tokens));
    }
}

/// LD-M30
#[test]
fn a_session_has_one_budget_for_all_its_tasks() {
    let budget = Budget { max_tokens: Some(100), max_cost_usd: None };
    let mut node =
        Node::with(DelegateLimits { session_budget: budget, ..DelegateLimits::default() });
    node.open(CALLER, "s-1", json!({}));
    for task in ["a", "b"] {
        node.submit("s-1", task, json!("x"));
        let finished = sabir_ldp::Finished {
            output: json!("y"),
            usage: Usage { tokens: Some(60), cost_usd: None },
            ..Default::default()
        };
        node.tell(&key(CALLER, task), TaskEvent::Finished(Box::new(finished)));
    }
    let mut node = node.restart();
    let refused = node.submit("s-1", "c", json!("x"));
    assert_eq!(code(&node.answer(refused)), "CONTRACT_VIOLATED");
    node.open(CALLER, "s-2", json!({}));
    let fresh = node.submit("s-2", "c", json!("x"));
    assert!(node.is_waiting(fresh));
    node.tell(&key(CALLER, "c"), TaskEvent::Usage(Usage { tokens: Some(101), cost_usd: None }));
    assert_eq!(node.stopped.len(), 1);
}
