//! The counters of a node, and who may see them.

use serde_json::json;

use super::world::{Person, Watched};
use crate::agents::harbor::{fresh, message, submit};

const CONFIG: &str = "[node]\ndelegate_id = \"ldp:delegate:harbor\"\n\
                      [[skills]]\nname = \"echo\"\nbuiltin = \"echo\"\n\
                      [[skills]]\nname = \"copy\"\nrun = [\"cat\"]\n";
const WORD: &str = "a-word-that-opens-the-door-0001";
const OTHER: &str = "a-word-for-the-counters-0002";

/// The value of a sample.
fn value(page: &str, sample: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {sample}:\n{page}")).parse().unwrap()
}

#[test]
fn what_happens_is_counted() {
    let home = tempfile::tempdir().unwrap();
    let node = Watched::start(home.path(), CONFIG, &[], &[]);
    // Somebody whose name is chosen to be a label.
    let from = "ldp:delegate:mallory\"}evil";
    let proposal = json!({ "type": "SESSION_PROPOSE", "config": { "trust_domain": "default" } });
    let opened = node.post("/ldp/messages", &[], &message(from, "", proposal)).json();
    let session = opened["body"]["session_id"].as_str().unwrap();
    for skill in ["echo", "copy", "mallorys-skill"] {
        let task = message(from, session, submit(&fresh("t"), skill, "mallorys-input"));
        node.post("/ldp/messages", &[], &task);
    }
    node.post("/ldp/messages", &[], &json!({ "what": "ever" }));
    assert_eq!(node.get("/mallorys-path", &[]).status, 404);
    let order = json!({ "task": "x", "skill": "echo", "to": ["node"] });
    assert_eq!(Person::sign_in(&node).order(&order, &[])["state"], "done");
    let answer = node.get("/metrics", &[]);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.head.contains("content-type: text/plain; version=0.0.4"), "{}", answer.head);
    let page = answer.body;
    assert!(!page.contains("mallory"), "{page}");
    for (sample, at_least) in [
        ("sabir_http_requests_total{route=\"messages\",status=\"200\"}", 5.0),
        ("sabir_http_requests_total{route=\"console\",status=\"404\"}", 1.0),
        ("sabir_messages_total{type=\"SESSION_PROPOSE\",outcome=\"ok\"}", 1.0),
        ("sabir_messages_total{type=\"TASK_SUBMIT\",outcome=\"ok\"}", 3.0),
        ("sabir_messages_total{type=\"TASK_SUBMIT\",outcome=\"SKILL_NOT_FOUND\"}", 1.0),
        ("sabir_messages_total{type=\"unreadable\",outcome=\"MESSAGE_INVALID\"}", 1.0),
        ("sabir_tasks_ended_total{outcome=\"completed\"}", 3.0),
        ("sabir_task_duration_seconds_count", 3.0),
        ("sabir_orders_placed_total{by=\"page\"}", 1.0),
        ("sabir_orders_ended_total{state=\"done\"}", 1.0),
        ("sabir_journal_commits_total{journal=\"node\"}", 3.0),
        ("sabir_journal_rows_total{journal=\"node\"}", 5.0),
        ("sabir_journal_commit_duration_seconds_count{journal=\"node\"}", 3.0),
        ("sabir_sessions{delegate=\"node\"}", 1.0),
        ("process_resident_memory_bytes", 1e6),
        ("process_open_fds", 5.0),
        ("sabir_build_info{version=\"0.1.0\"}", 1.0),
    ] {
        assert!(value(&page, sample) >= at_least, "{sample}\n{page}");
    }
    for (sample, is) in [
        ("sabir_tasks_running", 0.0),
        ("sabir_orders{state=\"running\"}", 0.0),
        ("sabir_approvals_waiting", 0.0),
        ("sabir_model_calls_total{outcome=\"completed\"}", 0.0),
        ("sabir_model_tokens_total{kind=\"input\"}", 0.0),
    ] {
        assert_eq!(value(&page, sample), is, "{sample}\n{page}");
    }
    check_form(&page);
    node.end();
}

/// As the format has it: each metric is described once, right before its samples.
fn check_form(page: &str) {
    let (mut metric, mut seen) = ("", Vec::new());
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(!seen.contains(&name) && name == metric, "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            seen.push(name);
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            metric = rest.split_once(' ').unwrap().0;
        } else {
            let (sample, number) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            let ends = ["", "_bucket", "_sum", "_count"];
            assert!(ends.iter().any(|end| name == format!("{metric}{end}")), "{metric}: {line}");
            assert!(number.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        }
    }
    assert!(seen.len() > 20, "{page}");
}

#[test]
fn counters_are_shown_near_or_for_a_token() {
    let far = ("x-forwarded-for", "192.0.2.1");
    let bearer = |word: &str| format!("Bearer {word}");
    let (word, other) = (bearer(WORD), bearer(OTHER));
    let (word, other) = (("authorization", word.as_str()), ("authorization", other.as_str()));
    let ask = |node: &Watched, headers: &[(&str, &str)]| node.get("/metrics", headers).status;
    let home = |name: &str| tempfile::Builder::new().prefix(name).tempdir().unwrap();

    // Without tokens: this machine alone.
    let place = home("open");
    let node = Watched::start(place.path(), CONFIG, &[], &[]);
    assert_eq!((ask(&node, &[]), ask(&node, &[far])), (200, 401));
    let page = ("origin", "http://evil.example");
    assert_eq!(ask(&node, &[page]), 403);
    node.end();

    // Those of the door open this, too.
    let place = home("door");
    let envs = [("SABIR_TOKEN", WORD)];
    let node = Watched::start(place.path(), CONFIG, &[], &envs);
    assert_eq!((ask(&node, &[]), ask(&node, &[far]), ask(&node, &[far, word])), (200, 401, 200));
    assert_eq!((ask(&node, &[other]), ask(&node, &[far, other])), (401, 401));
    node.end();

    // One of its own opens this and nothing else, and then those of the door do not.
    let place = home("own");
    let own = format!("{CONFIG}[telemetry]\nmetrics_token_env = \"COUNTERS\"\n");
    let envs = [("SABIR_TOKEN", WORD), ("COUNTERS", OTHER)];
    let node = Watched::start(place.path(), &own, &["--token-for-all"], &envs);
    assert_eq!((ask(&node, &[]), ask(&node, &[word]), ask(&node, &[far, word])), (401, 401, 401));
    assert_eq!((ask(&node, &[other]), ask(&node, &[far, other])), (200, 200));
    assert_eq!(node.get("/ldp/identity", &[other]).status, 401);
    assert_eq!(node.get("/ldp/identity", &[word]).status, 200);
    node.end();
}
