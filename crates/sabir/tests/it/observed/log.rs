//! The log of a node: what it says, and what it never says.

use sabir_testkit::fake_model::{FakeModel, Reply};
use serde_json::{Value, json};

use super::world::{Person, Watched, collector};
use crate::agents::harbor::{fresh, message, submit};

const TOKEN: &str = "door-word-7f3a9c1e5b2d4860";
const HMAC: &str = "shared-word-91b7d2c8e6f4a350";
const API_KEY: &str = "model-word-3c5e7a9b1d2f4068";
const COUNTERS: &str = "counter-word-5a7c9e1b3d2f4860";
const COLLECTOR: &str = "collector-word-2b4d6f8a1c3e5079";
const PASSWORD: &str = "hunter2hunter2";
const QUERY: &str = "what-i-am-looking-for";
const PROMPT: &str = "the-words-of-my-task";
const WRONG: &str = "wrong-word-0f1e2d3c4b5a6978";
const GITHUB: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// Secrets in every place that has one, and a stranger who writes to the terminal.
fn everything_secret(args: &[&str]) -> (String, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let collector = collector();
    let model = FakeModel::answering(|request, _| {
        // A server that says the key back.
        let key = request.header("authorization").unwrap_or("none").to_owned();
        let body = json!({ "error": { "message": format!("bad key {key} {API_KEY}") } });
        Some(Reply::json(401, &body))
    });
    let site = FakeModel::answering(|_, _| {
        let page = "<!doctype html><title>Lamps</title><article><p>A lamp for the pier.</p>";
        Some(Reply::body(200, "text/html; charset=utf-8", page))
    });
    let at = site.address().to_string();
    let config = format!(
        "[node]\ndelegate_id = \"ldp:delegate:harbor\"\n\
         [crew.coder]\nmodel = \"m\"\n\
         [telemetry]\nmetrics_token_env = \"COUNTERS\"\n\
         [[peers]]\ndelegate_id = \"ldp:delegate:old\"\nhmac_secret_env = \"OLD_FRIEND\"\n\
         [[skills]]\nname = \"copy\"\nrun = [\"sh\", \"-c\", \"cat >&2; echo {GITHUB} >&2; exit 3\"]\n"
    );
    let endpoint = format!("http://ann:{PASSWORD}@{}", collector.address());
    let headers = format!("authorization=Bearer%20{COLLECTOR}");
    let base_url = model.base_url();
    let mut all =
        vec!["--base-url", &base_url, "--model", "m", "--log", "trace", "--allow-egress", &at];
    all.extend(args);
    let envs = [
        ("SABIR_TOKEN", TOKEN),
        ("SABIR_API_KEY", API_KEY),
        ("OLD_FRIEND", HMAC),
        ("COUNTERS", COUNTERS),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", &headers),
    ];
    let node = Watched::start(home.path(), &config, &all, &envs);
    let login = node.console_token().to_owned();
    for word in [TOKEN, WRONG, COUNTERS] {
        let shown = format!("Bearer {word}");
        let path = format!("/ldp/identity?token={word}");
        node.get(&path, &[("authorization", &shown), ("x-forwarded-for", "192.0.2.1")]);
        node.get(&format!("/{word}"), &[("authorization", &shown)]);
        node.get("/metrics", &[("authorization", &shown)]);
    }
    let origin = node.url();
    node.post("/api/login", &[("origin", &origin)], &json!({ "token": WRONG }));
    let from = "ldp:delegate:mallory\u{1b}[2J\u{202e}\r\nINFO node: stopped";
    node.post("/ldp/messages", &[], &message(from, "", json!({ "type": "HELLO" })));
    let proposal = json!({ "type": "SESSION_PROPOSE", "config": { "trust_domain": "default" } });
    for from in ["ldp:delegate:old", "ldp:delegate:ann"] {
        let answer = node.post("/ldp/messages", &[], &message(from, "", proposal.clone())).json();
        let session = answer["body"]["session_id"].as_str().unwrap_or("none").to_owned();
        for (task, skill) in [(fresh("t"), "copy"), (format!("t\u{1b}]0;x\u{7}{GITHUB}"), "copy")] {
            let input = format!("{PROMPT} {GITHUB} https://ann:{PASSWORD}@shop.example/?q={QUERY}");
            let task = message(from, &session, submit(&task, skill, input));
            node.post("/ldp/messages", &[("traceparent", GITHUB)], &task);
        }
    }
    let person = Person::sign_in(&node);
    let page = format!("http://ann:{PASSWORD}@127.0.0.1:9/p?q={QUERY}&api_key={WRONG}");
    for order in [
        json!({ "task": PROMPT, "skill": "code", "to": ["coder"] }),
        json!({ "task": PROMPT, "to": ["researcher"], "skill": "research.capture",
                "input": { "sources": [page] } }),
        // One that may be fetched: the guard refuses the first, which has a password in it.
        json!({ "task": PROMPT, "to": ["researcher"], "skill": "research.capture",
                "input": { "sources": [format!("http://{at}/p?q={QUERY}&api_key={WRONG}")] } }),
        json!({ "task": PROMPT, "skill": "x",
                "to": [format!("http://ann:{PASSWORD}@127.0.0.1:9/?q={QUERY}")] }),
    ] {
        // Some come to nothing, some are not even taken: what matters is what is written meanwhile.
        person.try_order(&order);
    }
    let log = node.end();
    let secrets =
        [TOKEN, HMAC, API_KEY, COUNTERS, COLLECTOR, PASSWORD, QUERY, PROMPT, WRONG, GITHUB, &login];
    (log, secrets.into_iter().map(str::to_owned).collect())
}

fn check(log: &str, secrets: &[String]) {
    for secret in secrets {
        let line = log.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "{secret} is in the log");
    }
    let raw = |c: char| c != '\n' && sabir_base::text::is_hidden(c);
    assert_eq!(log.lines().find(|line| line.contains(raw)), None, "a terminal would obey this");
    // Each of these was there to be leaked from.
    for words in ["refused", "TOKEN_WRONG", "message refused", "started", "failed", "fetched"] {
        assert!(log.contains(words), "{words} is missing:\n{log}");
    }
}

#[test]
fn no_secret_is_in_the_log_for_people() {
    let (log, secrets) = everything_secret(&[]);
    check(&log, &secrets);
    // What looks like a line of ours stands in the middle of one.
    assert!(!log.lines().any(|line| line.starts_with("INFO node: stopped")), "{log}");
}

#[test]
fn no_secret_is_in_the_log_as_json() {
    let (log, secrets) = everything_secret(&["--log-format", "json"]);
    check(&log, &secrets);
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        for field in ["time", "level", "topic", "message"] {
            assert!(line[field].is_string(), "{line}");
        }
    }
}

/// From its start to its end, and nothing below the level that was asked for.
#[test]
fn the_log_tells_what_a_node_does() {
    let home = tempfile::tempdir().unwrap();
    let config = "[node]\ndelegate_id = \"ldp:delegate:harbor\"\n[telemetry]\nlog = \"off\"\n\
                  [[skills]]\nname = \"copy\"\nrun = [\"cat\"]\n";
    let start = |args: &[&str], envs: &[(&str, &str)]| {
        let node = Watched::start(home.path(), config, args, envs);
        let order = json!({ "task": "x", "skill": "copy", "to": ["node"] });
        assert_eq!(Person::sign_in(&node).order(&order, &[])["state"], "done");
        node.end()
    };
    let log = start(&["--log", "info"], &[("SABIR_LOG", "off")]);
    let words = [
        " INFO  node: listening delegate=ldp:delegate:harbor ",
        " INFO  order: placed order=order-",
        " INFO  order: given to order=order-",
        " INFO  task: started task=",
        " INFO  task: ended task=",
        " INFO  order: ended order=order-",
        " INFO  node: stopping",
        " INFO  node: stopped",
    ];
    let mut lines = log.lines();
    for words in words {
        assert!(lines.any(|line| line.contains(words)), "{words} in this order:\n{log}");
    }
    assert!(!log.contains("DEBUG"), "{log}");
    // A variable is said over the file, and a topic over the rest.
    let log = start(&[], &[("SABIR_LOG", "off,task=info")]);
    assert!(log.contains("task: ended") && !log.contains("order: "), "{log}");
    let log = start(&[], &[]);
    assert!(!log.contains("task: ended"), "{log}");
}
