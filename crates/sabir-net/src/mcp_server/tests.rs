//! Conversations that are lost, given up, silent, somebody else's, and hard to read.

use std::sync::Mutex;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use http_body_util::BodyExt as _;
use sabir_host::{Consent, DeskModel, DeskSetup};
use sabir_ldp::{Channel, Credential, Fingerprint, Origin};
use sabir_policy::PolicyDoc;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::{Notify, watch};
use tower::Service as _;

use super::*;
use crate::errands::{
    ErrandsError, Listed, Listing, Movement, OrderVisit, Placed, PlacedState, Placement, Placer,
    Step,
};

/// Takes every task, and is done with it when it is told so.
struct Slow {
    done: watch::Sender<bool>,
    cancelled: Mutex<Vec<String>>,
    placed: Notify,
    /// Told when nobody waits for a task any more.
    left: Arc<Notify>,
}

struct Tells(Arc<Notify>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Slow {
    fn task(&self, state: PlacedState) -> Placed {
        Placed {
            id: "order-1".to_owned(),
            by: Placer::Mcp,
            visit: Some(OrderVisit::of("unknown")),
            skill: None,
            state,
            created_at_ms: 0,
            changed_at_ms: 0,
            output: Some(json!("slowly")),
            error: None,
            facts: Map::new(),
            last: 1,
        }
    }
}

impl Errands for Slow {
    fn place(&self, _: Placement) -> BoxFuture<'_, Result<String, ErrandsError>> {
        self.placed.notify_one();
        async { Ok("order-1".to_owned()) }.boxed()
    }

    fn find<'a>(&'a self, _: Placer, _: &'a str) -> BoxFuture<'a, Option<String>> {
        async { None }.boxed()
    }

    fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Placed, ErrandsError>> {
        async { Ok(self.task(PlacedState::Running)) }.boxed()
    }

    fn list<'a>(&'a self, _: &'a Listing) -> BoxFuture<'a, Result<Listed, ErrandsError>> {
        async { Ok(Listed::default()) }.boxed()
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), ErrandsError>> {
        self.cancelled.lock().unwrap().push(id.to_owned());
        async { Ok(()) }.boxed()
    }

    fn follow(&self, _: &str, _: u64) -> BoxStream<'static, Result<Step, ErrandsError>> {
        let (mut is_done, done) = (self.done.subscribe(), Box::new(self.task(PlacedState::Done)));
        let tells = Tells(Arc::clone(&self.left));
        let end = async move {
            let _tells = tells;
            is_done.wait_for(|it| *it).await.unwrap();
            Ok(Step { seq: 2, at_ms: 0, what: Movement::Ended(done) })
        };
        stream::once(end).boxed()
    }
}

/// Nobody ever answers.
struct Silent;

impl Consent for Silent {
    fn ask(&self, _: String) -> BoxFuture<'_, Option<bool>> {
        Box::pin(std::future::pending())
    }
}

struct Place {
    _home: TempDir,
    slow: Arc<Slow>,
    router: Router,
}

impl Place {
    fn new(limits: ToolLimits, policy: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let desk = Desk::open(DeskSetup {
            home: home.path().to_owned(),
            allow_egress: Vec::new(),
            program: "/nonexistent".into(),
            model: DeskModel::Extractive,
            policy: PolicyDoc::default(),
            integrations: None,
            visible_browser: false,
        });
        let slow = Arc::new(Slow {
            done: watch::Sender::new(false),
            cancelled: Mutex::default(),
            placed: Notify::new(),
            left: Arc::default(),
        });
        let policy = PolicyDoc::parse(policy).unwrap();
        let gate = VisitGate::new(home.path().to_owned(), policy, Some(Arc::new(Silent)));
        let kit = ToolKit::new(desk.unwrap(), Arc::clone(&slow) as Arc<dyn Errands>, gate, limits);
        let router = mcp_router(Arc::new(kit), CancellationToken::new());
        Self { _home: home, slow, router }
    }

    async fn send(&self, session: Option<&str>, method: &str, body: &Value) -> Response {
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        self.send_as(None, session, method, body).await
    }

    /// As somebody whom the listener knows.
    async fn send_as(
        &self,
        visitor: Option<Visitor>,
        session: Option<&str>,
        method: &str,
        body: Body,
    ) -> Response {
        let mut request = Request::builder().method(method).uri("/mcp");
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("host", "localhost"),
        ];
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(http::SESSION, session);
        }
        if let Some(visitor) = visitor {
            request = request.extension(visitor);
        }
        self.router.clone().call(request.body(body).unwrap()).await.unwrap()
    }

    /// Begins a conversation, and gives its name.
    async fn begin(&self) -> Result<String, StatusCode> {
        let reply = self.send(None, "POST", &hello()).await;
        if reply.status() != StatusCode::OK {
            return Err(reply.status());
        }
        let session = reply.headers()[http::SESSION].to_str().unwrap().to_owned();
        reply.into_body().collect().await.unwrap();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.send(Some(&session), "POST", &ready).await;
        Ok(session)
    }

    async fn call(&self, session: &str, id: u64, tool: &str, arguments: Value) -> Response {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.send(Some(session), "POST", &call).await
    }

    fn cancelled(&self) -> usize {
        self.slow.cancelled.lock().unwrap().len()
    }
}

/// The answer at the end of a stream of events, if there is one.
async fn answer(response: Response) -> Option<Value> {
    let text = response.into_body().collect().await.ok()?.to_bytes();
    let text = String::from_utf8(text.to_vec()).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut told = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    told.find(|it| it.get("result").is_some()).map(|it| it["result"].clone())
}

fn hello() -> Value {
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn task() -> Value {
    json!({ "task": "walk", "wait_secs": 600 })
}

/// Whoever has this token.
fn somebody(token: &[u8]) -> Visitor {
    let credential = Some(Credential::Token(Fingerprint::of(token)));
    let channel = Channel { origin: Origin::Remote, credential };
    let address = std::net::Ipv4Addr::LOCALHOST.into();
    Visitor { address, is_near: false, is_tls: false, channel, trace: None }
}

/// BR-M5, BR-M11: no conversation ends before a call that waits in it.
#[test]
fn a_conversation_stays_while_a_call_waits_in_it() {
    let limits = ToolLimits::default();
    assert!(http::keep_alive(&limits) > limits.longest_wait);
    assert!(http::keep_alive(&limits) > limits.question);
}

/// BR-M6, BR-M9: a conversation that is lost takes no task back.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_lost_takes_no_task_back() {
    let place = Place::new(ToolLimits::default(), "");
    let session = place.begin().await.unwrap();
    let reply = place.call(&session, 1, "run_task", task()).await;
    place.slow.placed.notified().await;
    assert!(place.send(Some(&session), "DELETE", &Value::Null).await.status().is_success());
    place.slow.left.notified().await;
    assert_eq!((answer(reply).await, place.cancelled()), (None, 0));
}

/// BR-M6: a client that gives a call up takes its task back.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_takes_a_task_back() {
    let place = Place::new(ToolLimits::default(), "");
    let session = place.begin().await.unwrap();
    let _reply = place.call(&session, 1, "run_task", task()).await;
    place.slow.placed.notified().await;
    let params = json!({ "requestId": 1 });
    let word = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    place.send(Some(&session), "POST", &word).await;
    place.slow.left.notified().await;
    assert_eq!(place.cancelled(), 1);
}

/// BR-M6, BR-M8: over standard streams neither the end of the input nor the node's takes a task back.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_gone_takes_no_task_back() {
    use tokio::io::AsyncWriteExt as _;
    for is_stopped in [true, false] {
        let place = Place::new(ToolLimits::default(), "");
        let desk = Desk::open(DeskSetup {
            home: place._home.path().to_owned(),
            allow_egress: Vec::new(),
            program: "/nonexistent".into(),
            model: DeskModel::Extractive,
            policy: PolicyDoc::default(),
            integrations: None,
            visible_browser: false,
        });
        let gate = VisitGate::new(place._home.path().to_owned(), PolicyDoc::default(), None);
        let errands = Arc::clone(&place.slow) as Arc<dyn Errands>;
        let kit = ToolKit::new(desk.unwrap(), errands, gate, ToolLimits::default());
        let (mut ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let served = tokio::spawn(serve_mcp(Arc::new(kit), input, output, stop.clone()));
        let call = json!({ "name": "run_task", "arguments": task() });
        for message in [
            hello(),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }),
        ] {
            ours.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
        place.slow.placed.notified().await;
        if is_stopped {
            stop.cancel();
        } else {
            ours.shutdown().await.unwrap();
        }
        place.slow.left.notified().await;
        served.await.unwrap().unwrap();
        assert_eq!(place.cancelled(), 0, "stopped: {is_stopped}");
    }
}

/// BR-M10: who waits, for a task or for a person, keeps nobody else from being answered; and nobody is
/// waited for without end.
#[tokio::test(flavor = "multi_thread")]
async fn who_waits_takes_no_place() {
    let limits = ToolLimits {
        calls: 1,
        calls_of_one: 4,
        question: Duration::from_millis(50),
        ..ToolLimits::default()
    };
    let place = Place::new(limits, "[[ask]]\ntool = \"serve.convert\"\nreason = \"mine\"");
    let session = place.begin().await.unwrap();
    let first = place.call(&session, 1, "run_task", task()).await;
    place.slow.placed.notified().await;
    let check = || json!({ "text": "INF(@a>@b): ok" });
    let told = answer(place.call(&session, 2, "axon_check", check()).await).await.unwrap();
    assert_eq!(told["structuredContent"]["valid"], true, "{told}");
    let input = json!({ "text": "INF(@a>@b): ok", "from": "axon", "to": "llmx" });
    let told = answer(place.call(&session, 3, "convert", input).await).await.unwrap();
    assert!(told["isError"] == true && told.to_string().contains("refused"), "{told}");
    let mut more = Vec::new();
    for id in [4, 5, 6] {
        more.push(place.call(&session, id, "run_task", task()).await);
        place.slow.placed.notified().await;
    }
    let busy = answer(place.call(&session, 7, "axon_check", check()).await).await.unwrap();
    assert!(busy["isError"] == true && busy.to_string().contains("busy"), "{busy}");
    place.slow.done.send_replace(true);
    for reply in [first].into_iter().chain(more) {
        assert_eq!(answer(reply).await.unwrap()["structuredContent"]["state"], "done");
    }
}

/// BR-M4, BR-M11: where all places are taken, a conversation that was silent for long makes room.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_conversation_makes_room_and_one_that_waits_does_not() {
    let limits = ToolLimits { sessions: 2, silence: Duration::ZERO, ..ToolLimits::default() };
    let place = Place::new(limits, "");
    let busy = place.begin().await.unwrap();
    let reply = place.call(&busy, 1, "run_task", task()).await;
    place.slow.placed.notified().await;
    let silent = place.begin().await.unwrap();
    let new = place.begin().await.unwrap();
    let gone = place.call(&silent, 1, "axon_check", json!({ "text": "x" })).await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    let also = place.call(&new, 1, "run_task", task()).await;
    place.slow.placed.notified().await;
    assert_eq!(place.begin().await, Err(StatusCode::SERVICE_UNAVAILABLE));
    place.slow.done.send_replace(true);
    for reply in [reply, also] {
        assert_eq!(answer(reply).await.unwrap()["structuredContent"]["state"], "done");
    }
    // One that spoke a moment ago is not silent.
    let limits = ToolLimits { sessions: 1, ..ToolLimits::default() };
    let place = Place::new(limits, "");
    place.begin().await.unwrap();
    assert_eq!(place.begin().await, Err(StatusCode::SERVICE_UNAVAILABLE));
}

/// BR-M4, BR-M11: who has said only half of it when places are counted has none.
#[tokio::test(flavor = "multi_thread")]
async fn no_more_conversations_begin_at_once_than_there_may_be() {
    let limits = ToolLimits { sessions: 2, ..ToolLimits::default() };
    let place = Place::new(limits, "");
    let (go, went) = watch::channel(false);
    let hello = hello().to_string();
    let slowly = |_| {
        let (mut went, hello) = (went.clone(), hello.clone());
        let (first, rest) = hello.split_at(10);
        let (first, rest) = (first.to_owned(), rest.to_owned());
        let rest = async move {
            went.wait_for(|it| *it).await.unwrap();
            rest
        };
        let parts = stream::once(async { first }).chain(stream::once(rest));
        let body = Body::from_stream(parts.map(Ok::<_, std::convert::Infallible>));
        place.send_as(None, None, "POST", body)
    };
    let replies = futures_util::future::join_all((0..8).map(slowly));
    let told = async { go.send_replace(true) };
    let (replies, _) = futures_util::future::join(replies, told).await;
    let begun = replies.iter().filter(|it| it.status() == StatusCode::OK).count();
    let refused = replies.iter().filter(|it| it.status() == StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!((begun, refused.count()), (2, 6));
}

/// BR-M11: who takes all places leaves some to others, and not those in which a call waits.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_most_conversations_makes_room_for_others() {
    let limits = ToolLimits { sessions: 4, ..ToolLimits::default() };
    let place = Place::new(limits, "");
    let busy = place.begin().await.unwrap();
    let reply = place.call(&busy, 1, "run_task", task()).await;
    place.slow.placed.notified().await;
    let mut many = vec![busy];
    for _ in 0..3 {
        many.push(place.begin().await.unwrap());
    }
    assert_eq!(place.begin().await, Err(StatusCode::SERVICE_UNAVAILABLE));
    let begin = async |token: &[u8]| {
        let hello = Body::from(hello().to_string());
        place.send_as(Some(somebody(token)), None, "POST", hello).await.status()
    };
    for _ in 0..2 {
        assert_eq!(begin(b"another").await, StatusCode::OK);
    }
    // Now both have as many.
    assert_eq!(begin(b"another").await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(place.begin().await, Err(StatusCode::SERVICE_UNAVAILABLE));
    let mut left = Vec::new();
    for session in &many[1..] {
        let reply = place.call(session, 1, "axon_check", json!({ "text": "x" })).await;
        left.push(reply.status() == StatusCode::OK);
    }
    assert_eq!(left, [false, false, true], "those that were silent for longer went first");
    place.slow.done.send_replace(true);
    assert_eq!(answer(reply).await.unwrap()["structuredContent"]["state"], "done");
}

/// BR-M11: who hangs up before a conversation has a name takes no place with it.
#[tokio::test]
async fn a_conversation_that_nobody_was_told_of_takes_no_place() {
    let limits = ToolLimits { sessions: 1, ..ToolLimits::default() };
    let place = Place::new(limits, "");
    for _ in 0..3 {
        let hello = hello();
        let begun = place.send(None, "POST", &hello);
        assert!(begun.now_or_never().is_none(), "it is on its way");
    }
    let session = place.begin().await.unwrap();
    let told = place.call(&session, 1, "axon_check", json!({ "text": "x" })).await;
    assert_eq!(told.status(), StatusCode::OK);
}

/// BR-G7: what is large in memory is read when there is room for it, and who only waits for a task takes
/// none; small messages pass whatever there is.
#[tokio::test(flavor = "multi_thread")]
async fn messages_that_take_much_memory_wait_for_room() {
    let policy = "[[ask]]\ntool = \"serve.delegate\"\nreason = \"mine\"";
    let limits = ToolLimits {
        held_bytes: 64 << 20,
        held_wait: Duration::from_millis(20),
        question: Duration::from_secs(3),
        ..ToolLimits::default()
    };
    let place = Place::new(limits, policy);
    let session = place.begin().await.unwrap();
    let large = || json!({ "task": "walk", "wait_secs": 3600, "input": vec![0; 200_000] });
    // This one is done by somebody else, and its caller waits.
    let first = place.call(&session, 1, "run_task", large()).await;
    place.slow.placed.notified().await;
    // This one waits for a person, who has to be shown all of it.
    let second = place.call(&session, 2, "delegate", large()).await;
    assert_eq!((first.status(), second.status()), (StatusCode::OK, StatusCode::OK));
    let third = place.call(&session, 3, "delegate", large()).await;
    assert_eq!(third.status(), StatusCode::SERVICE_UNAVAILABLE);
    let small = answer(place.call(&session, 4, "axon_check", json!({ "text": "x" })).await).await;
    assert_eq!(small.unwrap()["isError"], false);
    // Nobody said a word.
    assert_eq!(answer(second).await.unwrap()["isError"], true);
    let next = place.call(&session, 5, "run_task", large()).await;
    assert_eq!(next.status(), StatusCode::OK);
}

/// BR-M13: not even its name helps somebody else to a conversation.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_its_callers() {
    let place = Place::new(ToolLimits::default(), "");
    let session = place.begin().await.unwrap();
    let reply = place.call(&session, 1, "run_task", task()).await;
    place.slow.placed.notified().await;
    let other = || Some(somebody(b"another"));
    let params = json!({ "requestId": 1 });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    for (method, body) in [
        ("POST", cancel.to_string()),
        ("POST", list.to_string()),
        ("GET", String::new()),
        ("DELETE", String::new()),
    ] {
        let body = Body::from(body);
        let refused = place.send_as(other(), Some(&session), method, body).await;
        assert_eq!(refused.status(), StatusCode::NOT_FOUND, "{method}");
    }
    place.slow.done.send_replace(true);
    assert_eq!(answer(reply).await.unwrap()["structuredContent"]["state"], "done");
    assert_eq!(place.cancelled(), 0);
}

/// BR-M12
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_not_read_ends_no_conversation() {
    let place = Place::new(ToolLimits::default(), "");
    let session = place.begin().await.unwrap();
    let long = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_task",
        "arguments":{"task":"count","input":{"n":123456789012345678901234567890}}}}"#;
    for (body, status, code) in [
        (long.to_owned(), StatusCode::OK, -32602),
        ("{".to_owned(), StatusCode::BAD_REQUEST, -32700),
        ("[]".to_owned(), StatusCode::BAD_REQUEST, -32600),
        (" ".repeat(MAX_MESSAGE_BYTES + 1), StatusCode::PAYLOAD_TOO_LARGE, -32600),
    ] {
        let reply = place.send_as(None, Some(&session), "POST", Body::from(body)).await;
        assert_eq!(reply.status(), status);
        let told = reply.into_body().collect().await.unwrap().to_bytes();
        let told: Value = serde_json::from_slice(&told).unwrap();
        assert_eq!(told["error"]["code"], code, "{told}");
    }
    let check = json!({ "text": "INF(@a>@b): ok" });
    let told = answer(place.call(&session, 4, "axon_check", check).await).await.unwrap();
    assert_eq!(told["structuredContent"]["valid"], true, "{told}");
}

/// BR-M8, BR-M12: over standard streams nobody waits for an answer that never comes.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_not_read_is_answered() {
    use rmcp::transport::Transport as _;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    let mut streams = Streams::new(input, output);
    let (heard, mut say) = tokio::io::split(ours);
    let mut heard = BufReader::new(heard).lines();
    let received = tokio::spawn(async move { (streams.receive().await, streams) });
    let long = " ".repeat(MAX_MESSAGE_BYTES + 1);
    let integer = r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[18446744073709551616]}"#;
    for (line, id, code) in
        [("ahoy", Value::Null, -32700), (&long, Value::Null, -32600), (integer, json!(3), -32602)]
    {
        say.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let told: Value = serde_json::from_str(&heard.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!((&told["id"], &told["error"]["code"]), (&id, &json!(code)), "{told}");
    }
    say.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\n").await.unwrap();
    assert!(received.await.unwrap().0.is_some());
}
