//! One session, the same on every transport.

use std::io;

use expect_test::{Expect, expect};
use sabir_engine::MAX_LINE_BYTES;
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{Defaults, Engine, McpConfig, Providers, Setup};
use sabir_net::{Frame, Sink, Source};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::server::{Place, Serving, user_input};
use super::wires::{Kind, Wire};

/// QP-T1, QP-T2: the same events in the same order, through the program's own queues.
#[tokio::test(flavor = "multi_thread")]
async fn in_process() {
    let place = Place::new();
    let engine = Engine::open(Setup {
        home: place.home(),
        runner: Runner::new(env!("CARGO_BIN_EXE_sabir"), LayerChoice::from_environment().unwrap()),
        providers: Providers::none(),
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults: Defaults {
            model: None,
            provider: Default::default(),
            approval_policy: None,
            sandbox_policy: None,
            cwd: place.work(),
        },
    })
    .unwrap();
    let (to, submissions) = mpsc::channel(1);
    let (events, from) = mpsc::channel(1);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        sabir_net::carry(Queue(submissions), Told(events), engine.connect()).await;
    });
    converse(&place, Wire::of_channels(to, from, tasks)).await;
}

struct Queue(mpsc::Receiver<String>);
struct Told(mpsc::Sender<String>);

impl Source for Queue {
    async fn next(&mut self) -> Option<Frame> {
        self.0.recv().await.map(|message| Frame::Message(message.into_bytes()))
    }
}

impl Sink for Told {
    async fn send(&mut self, message: &str) -> io::Result<()> {
        let sent = self.0.send(message.to_owned()).await;
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    async fn close(&mut self) {}
}

/// QP-T2, QP-T3: lines on standard input and output.
#[tokio::test(flavor = "multi_thread")]
async fn stdio() {
    let place = Place::new();
    let wire = Wire::stdio(&place);
    converse(&place, wire).await;
}

/// QP-T2, QP-T3: lines over TCP.
#[tokio::test(flavor = "multi_thread")]
async fn tcp() {
    over(Kind::Tcp).await;
}

/// QP-T2, QP-T3: lines over a Unix socket.
#[tokio::test(flavor = "multi_thread")]
async fn unix() {
    over(Kind::Unix).await;
}

/// QP-T2, QP-T4: text frames of a WebSocket.
#[tokio::test(flavor = "multi_thread")]
async fn ws() {
    over(Kind::Ws).await;
}

/// QP-T2, QP-T5: the two bodies of a request over HTTP/2.
#[tokio::test(flavor = "multi_thread")]
async fn http2() {
    over(Kind::Http).await;
}

/// QP-T2, QP-T6: the two streams of a gRPC call.
#[tokio::test(flavor = "multi_thread")]
async fn grpc() {
    over(Kind::Grpc).await;
}

async fn over(kind: Kind) {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let wire = Wire::connect(kind, &serving, None).await;
    converse(&place, wire).await;
}

fn expected() -> Expect {
    expect![[r#"
        - error
        u error
        - error
        early error
        c session_configured
        t1 task_started
        t1 exec_approval_request
        t1 token_count
        t1 exec_command_begin
        t1 exec_command_end
        t1 turn_complete
        t1 agent_message_delta
        t1 agent_message
        t1 token_count
        t1 turn_complete
        t1 task_complete
        t2 task_started
        t2 agent_message_delta
        t2 turn_aborted
        t2 error
        - error
        h history
        s shutdown_complete
    "#]]
}

/// Everything that a transport can get wrong: bad messages, questions and answers, a task that is
/// interrupted while it streams, a long answer, and the end.
async fn converse(place: &Place, mut wire: Wire) {
    let touch = json!({ "command": ["touch", "made"] });
    let model = FakeModel::start([
        Reply::sse([
            responses::created("r1"),
            responses::call("call_1", "shell", &touch),
            responses::completed("r1"),
        ]),
        Reply::sse([
            responses::created("r2"),
            responses::message("made it"),
            responses::completed("r2"),
        ]),
        Reply::sse([responses::created("r3"), responses::text_delta("thinking")]).then_hold_open(),
    ]);
    let mut heard = Vec::new();

    wire.send("{").await;
    wire.until("- error", &mut heard).await;
    wire.send(r#"{"id":"u","op":{"type":"dance"}}"#).await;
    wire.until("u error", &mut heard).await;
    wire.send("x".repeat(MAX_LINE_BYTES + 1)).await;
    let error = wire.until("- error", &mut heard).await;
    assert!(error.contains("longer than 16 MiB"), "{error}");
    wire.send(user_input("early", "hello?")).await;
    wire.until("early error", &mut heard).await;

    wire.send(place.configure(&model, "untrusted")).await;
    wire.until("c session_configured", &mut heard).await;
    wire.send(user_input("t1", "make it")).await;
    wire.until("t1 exec_approval_request", &mut heard).await;
    // The model is still speaking while it is asked about.
    wire.until("t1 token_count", &mut heard).await;
    assert!(!place.work().join("made").exists());
    let approval = json!({ "type": "exec_approval", "call_id": "call_1", "decision": "approved" });
    wire.send(json!({ "id": "a", "op": approval }).to_string()).await;
    wire.until("t1 task_complete", &mut heard).await;
    assert!(place.work().join("made").exists());

    wire.send(user_input("t2", "think")).await;
    wire.until("t2 agent_message_delta", &mut heard).await;
    wire.send(r#"{"id":"i","op":{"type":"interrupt"}}"#).await;
    let error = wire.until("t2 error", &mut heard).await;
    assert!(error.contains(r#""message":"interrupted""#), "{error}");

    wire.send("[]").await;
    wire.until("- error", &mut heard).await;
    wire.send(r#"{"id":"h","op":{"type":"get_history"}}"#).await;
    let history = wire.until("h history", &mut heard).await;
    assert!(history.contains("made it"), "{history}");
    wire.send(r#"{"id":"s","op":{"type":"shutdown"}}"#).await;
    wire.until("s shutdown_complete", &mut heard).await;
    assert_eq!(wire.next().await, None, "something came after the end");
    model.assert_done();
    expected().assert_eq(&(heard.join("\n") + "\n"));
}
