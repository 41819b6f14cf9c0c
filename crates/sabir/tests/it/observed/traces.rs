//! One delegation over two nodes is one trace, and nothing is sent unasked.

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

use super::world::{Person, Watched, collector, spans};
use crate::agents::harbor::{connect, fresh, message, submit};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const ABOVE: &str = "b7ad6b7169203331";

/// A node with a skill that takes a moment, and an echo that takes none.
fn config(name: &str) -> String {
    format!(
        "[node]\ndelegate_id = \"ldp:delegate:{name}\"\n\
         [crew]\nresearcher = false\ncoder = false\nlinguist = false\n\
         [[skills]]\nname = \"copy\"\nrun = [\"cat\"]\n"
    )
}

fn named<'a>(spans: &'a [(String, Value)], who: &str, name: &str) -> &'a Value {
    let mut found = spans.iter().filter(|(by, span)| by == who && span["name"] == name);
    let first = found.next().unwrap_or_else(|| panic!("no {name} of {who}: {spans:#?}"));
    assert!(found.next().is_none(), "two {name} of {who}: {spans:#?}");
    &first.1
}

#[test]
fn one_delegation_over_two_nodes_is_one_trace() {
    let collector = collector();
    let endpoint = format!("http://{}", collector.address());
    let envs = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let there = Watched::start(theirs.path(), &config("there"), &[], &envs);
    // The other way to say it.
    let telemetry = format!("{}[telemetry]\notlp_endpoint = {endpoint:?}\n", config("here"));
    let here = Watched::start(ours.path(), &telemetry, &[], &[]);
    let person = Person::sign_in(&here);
    let order = json!({ "task": "copy this", "skill": "copy", "to": [there.url()] });
    let traceparent = format!("00-{TRACE}-{ABOVE}-01");
    let ended = person.order(&order, &[("traceparent", &traceparent)]);
    assert_eq!(ended["state"], "done", "{ended:#}");
    assert_eq!(ended["trace_id"], TRACE);
    let id = ended["id"].as_str().unwrap();
    let (log_here, log_there) = (here.end(), there.end());
    let spans = spans(&collector);
    let (here, there) = ("ldp:delegate:here", "ldp:delegate:there");
    let way = [
        named(&spans, here, "request"),
        named(&spans, here, "order"),
        named(&spans, here, "delegate"),
        named(&spans, there, "ldp stream"),
        named(&spans, there, "task"),
    ];
    let mut above = ABOVE;
    for span in way {
        assert_eq!(
            (&span["traceId"], &span["parentSpanId"]),
            (&TRACE.into(), &above.into()),
            "{span}"
        );
        above = span["spanId"].as_str().unwrap();
        let nanos = |key: &str| span[key].as_str().unwrap().parse::<u128>().unwrap();
        assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"), "{span}");
        assert_eq!(span["status"], json!({}), "{span}");
    }
    // A person finds the trace of an order in the logs of both.
    for (log, words) in [(&log_here, "order: ended"), (&log_there, "task: ended")] {
        let line = log.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{log}"));
        assert!(line.contains(&format!("trace={TRACE}")), "{line}");
    }
    assert!(
        log_here.lines().any(|it| it.contains("order: placed") && it.contains(id)),
        "{log_here}"
    );
    // Neither the task nor its result is anybody's business.
    assert!(!format!("{spans:?}{log_here}{log_there}").contains("copy this"));
}

/// What comes over a WebSocket is part of what the request that opened it is part of.
#[test]
fn a_socket_is_part_of_a_trace() {
    let collector = collector();
    let endpoint = format!("http://{}", collector.address());
    let home = tempfile::tempdir().unwrap();
    let envs = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
    let node = Watched::start(home.path(), &config("harbor"), &[], &envs);
    let from = "ldp:delegate:ann";
    let mut request = format!("ws://{}/ldp/ws", node.address).into_client_request().unwrap();
    let traceparent = format!("00-{TRACE}-{ABOVE}-01").parse().unwrap();
    request.headers_mut().insert("traceparent", traceparent);
    let (mut socket, _) = tungstenite::client(request, connect(node.address)).unwrap();
    let mut ask = |body: Value, session: &str, wanted: &str| {
        socket.send(Message::text(message(from, session, body).to_string())).unwrap();
        let heard = loop {
            let Message::Text(text) = socket.read().unwrap() else { continue };
            let heard: Value = serde_json::from_str(&text).unwrap();
            if heard["body"]["type"] != "TASK_UPDATE" {
                break heard;
            }
        };
        assert_eq!(heard["body"]["type"], wanted, "{heard}");
        heard
    };
    let proposal = json!({ "type": "SESSION_PROPOSE", "config": { "trust_domain": "default" } });
    let opened = ask(proposal, "", "SESSION_ACCEPT");
    let session = opened["body"]["session_id"].as_str().unwrap();
    ask(submit("over-a-socket", "copy", "x"), session, "TASK_RESULT");
    drop(socket);
    let log = node.end();
    let spans = spans(&collector);
    let task = named(&spans, "ldp:delegate:harbor", "task");
    let above = |span: &Value| {
        let mut all = spans.iter().map(|(_, it)| it);
        all.find(|it| it["spanId"] == span["parentSpanId"]).cloned()
    };
    let came_by = above(task).unwrap_or_else(|| panic!("{spans:#?}"));
    assert_eq!(
        (&came_by["name"], &came_by["parentSpanId"]),
        (&json!("ldp message"), &json!(ABOVE))
    );
    assert_eq!((&task["traceId"], &came_by["traceId"]), (&json!(TRACE), &json!(TRACE)));
    let line = log.lines().find(|it| it.contains("task=over-a-socket")).unwrap();
    assert!(line.contains(&format!("trace={TRACE}")), "{line}");
}

/// Whoever sends nonsense begins a trace of its own, like one who sends nothing.
#[test]
fn nonsense_in_the_header_is_no_trace() {
    let collector = collector();
    let endpoint = format!("http://{}", collector.address());
    let home = tempfile::tempdir().unwrap();
    let envs = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
    let node = Watched::start(home.path(), &config("harbor"), &[], &envs);
    let from = "ldp:delegate:ann";
    let proposal = json!({ "type": "SESSION_PROPOSE", "config": { "trust_domain": "default" } });
    let opened = node.post("/ldp/messages", &[], &message(from, "", proposal)).json();
    let session = opened["body"]["session_id"].as_str().unwrap();
    let good = format!("00-{TRACE}-{ABOVE}-01");
    let (upper, unsampled) = (good.to_uppercase(), good.replace("-01", "-00"));
    let twice = [("traceparent", good.as_str()), ("traceparent", &good)];
    let nothing = format!("00-{}-{ABOVE}-01", "0".repeat(32));
    let mut ways: Vec<Vec<(&str, &str)>> = vec![vec![], twice.to_vec()];
    for bad in ["", "x", "00-1-2-01", &upper, &nothing, &good[..54]] {
        ways.push(vec![("traceparent", bad)]);
    }
    for headers in &ways {
        let task = message(from, session, submit(&fresh("t"), "copy", "x"));
        let answer = node.post("/ldp/messages", headers, &task).json();
        assert_eq!(answer["body"]["type"], "TASK_RESULT", "{headers:?} {answer}");
    }
    // Who does not want to be recorded is not.
    let task = message(from, session, submit("unsampled", "copy", "x"));
    node.post("/ldp/messages", &[("traceparent", &unsampled)], &task).json();
    let log = node.end();
    let spans = spans(&collector);
    assert_eq!(spans.len(), ways.len(), "{spans:#?}");
    for (_, span) in &spans {
        assert_eq!(span["name"], "task");
        assert!(span["parentSpanId"].is_null() && span["traceId"] != TRACE, "{span}");
    }
    // Its trace is known all the same.
    let line = log.lines().find(|it| it.contains("task=unsampled")).unwrap();
    assert!(line.contains(&format!("trace={TRACE}")), "{line}");
}

/// A collector that is not there stops nobody, and its headers go to it alone.
#[test]
fn nobody_waits_for_a_collector() {
    let home = tempfile::tempdir().unwrap();
    // A port that nobody listens on: it was ours a moment ago.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{gone}");
    let headers = "authorization=Bearer%20collector-word-0001";
    let envs = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", headers),
    ];
    let node = Watched::start(home.path(), &config("harbor"), &[], &envs);
    let task = json!({ "task": "x", "skill": "copy", "to": ["node"] });
    assert_eq!(Person::sign_in(&node).order(&task, &[])["state"], "done");
    let log = node.end();
    assert!(log.contains("telemetry: traces are lost"), "{log}");
    assert!(!log.contains("collector-word-0001"), "{log}");
}

#[test]
fn what_cannot_be_sent_to_is_told_at_the_start() {
    let home = tempfile::tempdir().unwrap();
    let args = ["up", "--listen", "127.0.0.1:0", "--home", home.path().to_str().unwrap()];
    for (name, value, words) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "nowhere-hunter2", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ("SABIR_LOG", "loud", "SABIR_LOG"),
    ] {
        let mut command = crate::process::sabir();
        command.args(args).env(name, value);
        let done = crate::process::finish(&mut command, &args, "");
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains(words) && !done.stderr.contains("hunter2"), "{}", done.stderr);
    }
}
