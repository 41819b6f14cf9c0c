//! Our client and our server, over real connections: what each of them says is what the other one
//! understands.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use sabir_ldp::{
    DelegateId, Frame, Payload, PayloadMode, Peer, SharedSecret, SignaturePolicy, SigningKey,
    SkillName, TaskId, TaskRequest, Trust, TrustDomain,
};
use sabir_net::{
    Base, Client, ClientSettings, Delivered, ErrandNews, HttpSettings, LdpOptions, Met, Pace,
    PlainHttp,
};
use sabir_store::peers::Peers;
use serde_json::Value;
use tempfile::TempDir;

use crate::world::{World, hello};

const CLIENT: &str = "ldp:delegate:caller";

/// A client with a home of its own.
pub(crate) struct Caller {
    pub(crate) client: Client,
    _home: TempDir,
}

impl Caller {
    pub(crate) fn new(http: HttpSettings, acquaint: impl FnOnce(&mut Trust)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        acquaint(&mut trust);
        let settings = ClientSettings {
            delegate_id: DelegateId::new(CLIENT).unwrap(),
            key: SigningKey::from_seed(&[3; 32]),
            trust,
            peers: Peers::open(home.path()).unwrap(),
            http,
            pace: Pace {
                answer: Duration::from_secs(30),
                silence: Duration::from_secs(30),
                attempts: 3,
                pause: Duration::from_millis(2),
            },
        };
        Self { client: Client::new(settings).unwrap(), _home: home }
    }

    pub(crate) async fn meet(&self, url: &str) -> Result<Met, String> {
        let base = Base::parse(url, PlainHttp::LoopbackOnly).unwrap();
        self.client.meet(&base).await.map_err(|error| error.to_string())
    }

    /// Has a task done: `echo`, which gives back what it is given.
    pub(crate) async fn echo(&self, met: &Met, task: &str) -> Result<Delivered, String> {
        let request = TaskRequest {
            task_id: TaskId::new(task).unwrap(),
            skill: SkillName::new("echo").unwrap(),
            payload: Payload::Frame(Frame::from_text("ahoy").unwrap()),
            contract: None,
            delegation_path: Vec::new(),
        };
        let mut errand = self.client.session(met, None).submit(request).await;
        while let Some(news) = errand.next().await {
            match news {
                ErrandNews::Done(delivered) => return Ok(*delivered),
                ErrandNews::Failed(error) => return Err(error.code),
                ErrandNews::Opened { .. } | ErrandNews::Progress(_) => {}
            }
        }
        panic!("a task without an end")
    }
}

/// Somebody on the way from a client to a server, who writes down what passes and may change it.
#[derive(Clone)]
struct Between {
    url: String,
    to: String,
    client: reqwest::Client,
    /// Whether semantic frames lose their instruction on the way.
    spoils: bool,
    passed: Arc<Mutex<Vec<Passed>>>,
}

/// A message that passed, and the content types of it and of its answer.
#[derive(Clone, Debug, PartialEq)]
struct Passed {
    path: String,
    kind: String,
    mode: String,
    session: String,
    sent: String,
    answered: String,
}

impl Between {
    async fn start(world: &World, spoils: bool) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let to = format!("http://{}", world.address);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let between = Self { url, to, client, spoils, passed: Arc::default() };
        let router = Router::new().fallback(pass).with_state(between.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        between
    }

    fn passed(&self, kind: &str) -> Vec<Passed> {
        let passed = self.passed.lock().unwrap();
        passed.iter().filter(|it| it.kind == kind).cloned().collect()
    }
}

async fn pass(
    State(between): State<Between>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let kind_of = |headers: &HeaderMap| {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        kind.unwrap_or_default().to_owned()
    };
    let sent = kind_of(&headers);
    let mut message: Value = serde_json::from_slice(&body).unwrap_or_default();
    if between.spoils && message["payload_mode"] == "semantic_frame" {
        let input = message["body"].get_mut("input").and_then(Value::as_object_mut);
        input.and_then(|fields| fields.remove("instruction"));
    }
    let body = if message.is_null() { body } else { message.to_string().into() };
    let url = format!("{}{uri}", between.to);
    let asked = between.client.request(method, url).header(header::CONTENT_TYPE, &sent).body(body);
    let Ok(answer) = asked.send().await else { return StatusCode::BAD_GATEWAY.into_response() };
    let (status, answered) = (answer.status(), kind_of(answer.headers()));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    between.passed.lock().unwrap().push(Passed {
        path: uri.path().to_owned(),
        kind: text(&message["body"]["type"]),
        mode: text(&message["payload_mode"]),
        session: text(&message["session_id"]),
        sent,
        answered: answered.clone(),
    });
    let body = Body::from_stream(answer.bytes_stream());
    (status, [(header::CONTENT_TYPE, answered)], body).into_response()
}

/// LD-T2: the client's messages and the server's answers, and nothing else is taken.
#[tokio::test]
async fn messages_are_json_both_ways() {
    let world = World::start().await;
    let between = Between::start(&world, false).await;
    let caller = Caller::new(HttpSettings::default(), |_| {});
    let met = caller.meet(&between.url).await.unwrap();
    let delivered = caller.echo(&met, "t").await.unwrap();
    assert_eq!(delivered.report.outcome.output["instruction"], "ahoy");
    caller.client.close().await;
    for kind in ["HELLO", "SESSION_PROPOSE", "SESSION_CLOSE"] {
        let passed = between.passed(kind);
        assert_eq!(passed.len(), 1, "{kind}");
        assert_eq!(passed[0].path, "/ldp/messages");
        assert_eq!(passed[0].sent, "application/json", "{kind}");
        assert_eq!(passed[0].answered, "application/json", "{kind}");
    }
    let task = &between.passed("TASK_SUBMIT")[0];
    assert_eq!((task.path.as_str(), task.sent.as_str()), ("/ldp/stream", "application/json"));
    // An answer that is a refusal has the same form.
    let mut wire = world.wire().await;
    let refused = wire.post("/ldp/messages", "", "nonsense").await;
    assert_eq!(
        (refused.status, refused.headers["content-type"].as_str()),
        (400, "application/json")
    );
    let other = crate::wire::posted("/ldp/messages", "", &hello());
    wire.send(other.replace("content-type: application/json", "content-type: text/plain")).await;
    assert_eq!(wire.reply().await.status, 415);
    world.end().await;
}

/// LD-C20, LD-M25, LD-M39: frames arrive spoiled, which the signature of the reference does not
/// cover. The task is done in the next mode, in the same session, and the one after it begins there.
#[tokio::test]
async fn a_mode_that_fails_steps_down_within_the_session() {
    let sharing = |who: &str| {
        let peer = Peer {
            domain: "default".to_owned(),
            keys: Vec::new(),
            secret: Some(SharedSecret::new("sesame".to_owned())),
            credentials: Vec::new(),
        };
        let id = DelegateId::new(who).unwrap();
        move |trust: &mut Trust| trust.add_peer(id, peer)
    };
    let world = World::trusting(LdpOptions::default(), sharing(CLIENT)).await;
    let between = Between::start(&world, true).await;
    let caller = Caller::new(HttpSettings::default(), sharing("ldp:delegate:harbor"));
    let met = caller.meet(&between.url).await.unwrap();
    for task in ["t-1", "t-2"] {
        let report = caller.echo(&met, task).await.unwrap().report;
        assert_eq!(report.outcome.output, "ahoy");
        assert_eq!(report.mode, PayloadMode::Text);
        assert_eq!(report.outcome.provenance.payload_mode_used, PayloadMode::Text);
    }
    assert_eq!(between.passed("SESSION_PROPOSE").len(), 1);
    let tasks = between.passed("TASK_SUBMIT");
    let modes: Vec<&str> = tasks.iter().map(|it| it.mode.as_str()).collect();
    assert_eq!(modes, ["semantic_frame", "text", "text"]);
    assert!(tasks.iter().all(|it| it.session == tasks[0].session), "{tasks:?}");
    assert_eq!(world.refusals(), ["FRAME_INVALID"]);
    world.end().await;
}
