//! A peer for tests: a real delegate's machine behind a real socket, with real signatures, and ways
//! to spoil what it says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use sabir_ldp::{
    Channel, Declined, Delegate, DelegateId, DelegateInput, DelegateLimits, DelegateOutput,
    DelegateSettings, Envelope, Finished, IdentityCard, LdpError, Moment, Origin, Received,
    Refusal, ReplayLimits, RequestId, Seal, SharedSecret, SignaturePolicy, SigningKey, Standing,
    TaskEnded, TaskEvent, TaskKey, TaskOrder, Timestamp, Trust, TrustDomain, Usage,
    sign_provenance,
};
use serde_json::{Value, json};

use crate::world::US;

/// What it does instead of what it should.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Twist {
    #[default]
    None,
    /// Takes off the signature.
    Unsigned,
    /// Changes the output after it was signed.
    Forged,
    WrongTask,
    WrongSession,
    OtherSender,
    /// A body without an end.
    Endless,
    /// No answer at all.
    Silent,
    Redirect,
    /// "Come back later", this often.
    Busy(u32),
    Unauthorized,
    NotJson,
    /// Says each update twice.
    Twice,
    /// The last event has a number that was there before.
    OldEnd,
    /// A server's error, after the work was done.
    Unavailable,
    /// Answers after so many milliseconds.
    Slow(u64),
    /// Used more tokens than it was given.
    Dear,
    /// Says itself that it did not keep the contract.
    Unkept,
    /// Redirects to where it is.
    Circle,
    /// Says that it was said then.
    Dated(&'static str),
    /// In a mode that nobody agreed on.
    OtherMode,
}

#[derive(Clone, Debug)]
pub(crate) struct Manner {
    pub(crate) twist: Twist,
    /// Only messages of this type are twisted; empty: all.
    pub(crate) only: &'static str,
    pub(crate) has_stream: bool,
    pub(crate) has_key: bool,
    pub(crate) has_well_known: bool,
    /// Bytes after which each stream is cut, in turn; then none is.
    pub(crate) cuts: Vec<usize>,
    pub(crate) name: String,
    pub(crate) modes: Vec<&'static str>,
    pub(crate) token: Option<&'static str>,
    /// Shared with the caller.
    pub(crate) secret: Option<&'static str>,
    /// In whose name it delivers.
    pub(crate) producer: Option<&'static str>,
    /// It begins tasks and does not end them.
    pub(crate) is_idle: bool,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            twist: Twist::None,
            only: "",
            has_stream: true,
            has_key: true,
            has_well_known: true,
            cuts: Vec::new(),
            name: "ldp:delegate:harbor".to_owned(),
            modes: vec!["semantic_frame", "text"],
            token: None,
            secret: None,
            producer: None,
            is_idle: false,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) url: String,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    manner: Manner,
    card: Value,
    delegate: Delegate,
    trust: Trust,
    key: SigningKey,
    next: u64,
    replies: BTreeMap<RequestId, String>,
    orders: Vec<TaskOrder>,
    updates: BTreeMap<TaskKey, Vec<String>>,
    ended: BTreeMap<TaskKey, TaskEnded>,
    /// The types of what came in, in order.
    heard: Vec<String>,
}

impl Peer {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut seed = [7; 32];
        seed[..4].copy_from_slice(&(manner.name.len() as u32).to_be_bytes());
        let key = SigningKey::from_seed(&seed);
        let mut card = json!({
            "delegate_id": manner.name, "name": "Harbor", "model_family": "m", "model_version": "m-1",
            "trust_domain": { "name": "default", "allow_cross_domain": false, "trusted_peers": [] },
            "context_window": 8192, "endpoint": url,
            "capabilities": [
                { "name": "echo" }, { "name": "count" }, { "name": "hang" }, { "name": "tired" },
                { "name": "broken" }, { "name": "verify" },
            ],
            "supported_payload_modes": manner.modes,
        });
        if manner.has_key {
            card["public_key"] = key.public_key().to_hex().into();
        }
        let checked: IdentityCard = serde_json::from_value(card.clone()).unwrap();
        let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        if let Some(secret) = manner.secret {
            trust.add_peer(DelegateId::new(US).unwrap(), sharing(secret));
        }
        let settings = DelegateSettings {
            card: checked,
            trust: trust.clone(),
            replay: ReplayLimits::default(),
            limits: DelegateLimits::default(),
            lasting: std::collections::BTreeSet::new(),
        };
        let inner = Inner {
            manner,
            card,
            delegate: Delegate::new(settings),
            trust,
            key,
            next: 0,
            replies: BTreeMap::new(),
            orders: Vec::new(),
            updates: BTreeMap::new(),
            ended: BTreeMap::new(),
            heard: Vec::new(),
        };
        let peer = Self { url, inner: Arc::new(Mutex::new(inner)) };
        let router = Router::new()
            .route("/.well-known/ldp-identity", get(well_known))
            .route("/ldp/identity", get(identity))
            .route("/ldp/messages", post(messages))
            .route("/ldp/stream", post(stream))
            .with_state(peer.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        peer
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.inner.lock().unwrap().heard.clone()
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.heard().iter().filter(|it| *it == kind).count()
    }

    pub(crate) fn runs(&self) -> usize {
        self.inner.lock().unwrap().orders.len()
    }

    pub(crate) fn input(&self, at: usize) -> Value {
        self.inner.lock().unwrap().orders[at].payload.to_value()
    }

    /// Behaves otherwise from now on.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Manner)) {
        change(&mut self.inner.lock().unwrap().manner);
    }

    /// Forgets every session, as after a restart without a store.
    pub(crate) fn forget(&self) {
        let mut inner = self.inner.lock().unwrap();
        let settings = inner.delegate.settings().clone();
        inner.delegate = Delegate::new(settings);
    }

    pub(crate) fn key_hex(&self) -> String {
        self.inner.lock().unwrap().key.public_key().to_hex()
    }
}

async fn well_known(State(peer): State<Peer>, headers: HeaderMap) -> Response {
    if !peer.inner.lock().unwrap().manner.has_well_known {
        return StatusCode::NOT_FOUND.into_response();
    }
    identity(State(peer), headers).await
}

async fn identity(State(peer): State<Peer>, headers: HeaderMap) -> Response {
    let (manner, card) = {
        let inner = peer.inner.lock().unwrap();
        (inner.manner.clone(), inner.card.to_string())
    };
    if let Some(response) = refuse(&manner, &headers) {
        return response;
    }
    let is_meant = manner.only == "card";
    match manner.twist {
        Twist::Endless if is_meant => endless(),
        Twist::Silent if is_meant => std::future::pending().await,
        Twist::Redirect if is_meant => redirect(),
        Twist::Circle if is_meant => {
            let to = (header::LOCATION, "/.well-known/ldp-identity");
            (StatusCode::TEMPORARY_REDIRECT, [to], "").into_response()
        }
        Twist::NotJson if is_meant => "<html>".into_response(),
        _ => ([(header::CONTENT_TYPE, "application/json")], card).into_response(),
    }
}

fn refuse(manner: &Manner, headers: &HeaderMap) -> Option<Response> {
    let token = manner.token?;
    let given = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    let admitted = given == Some(format!("Bearer {token}").as_str());
    (!admitted).then(|| (StatusCode::UNAUTHORIZED, "a token is needed").into_response())
}

fn endless() -> Response {
    let chunk = Bytes::from(vec![b'x'; 256 * 1024]);
    let chunks = futures_util::stream::repeat_with(move || Ok::<_, Infallible>(chunk.clone()));
    Body::from_stream(chunks).into_response()
}

fn redirect() -> Response {
    let to = (header::LOCATION, "http://127.0.0.2:9/");
    (StatusCode::TEMPORARY_REDIRECT, [to], "").into_response()
}

/// A whole answer, and what is wrong with it.
async fn messages(State(peer): State<Peer>, headers: HeaderMap, text: String) -> Response {
    let (manner, answer) = {
        let mut inner = peer.inner.lock().unwrap();
        let manner = inner.manner.clone();
        if let Some(refused) = refuse(&manner, &headers) {
            return refused;
        }
        let kind = kind_of(&text);
        inner.heard.push(kind.clone());
        let is_meant = manner.only.is_empty() || manner.only == kind;
        match manner.twist {
            Twist::Busy(times) if is_meant && times > 0 => {
                inner.manner.twist = Twist::Busy(times - 1);
                let later = (header::RETRY_AFTER, "1");
                return (StatusCode::TOO_MANY_REQUESTS, [later], "busy").into_response();
            }
            Twist::Unauthorized if is_meant => {
                return (StatusCode::FORBIDDEN, "who are you?").into_response();
            }
            Twist::Redirect if is_meant => return redirect(),
            Twist::Endless if is_meant => return endless(),
            _ => {}
        }
        let manner = Manner { twist: if is_meant { manner.twist } else { Twist::None }, ..manner };
        (manner, inner.ask(&text))
    };
    match manner.twist {
        Twist::Silent => std::future::pending().await,
        Twist::NotJson => "<html>nobody here</html>".into_response(),
        Twist::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "try later").into_response(),
        twist => {
            if let Twist::Slow(millis) = twist {
                tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
            }
            let answer = twisted(&answer, twist);
            ([(header::CONTENT_TYPE, "application/json")], answer).into_response()
        }
    }
}

async fn stream(State(peer): State<Peer>, headers: HeaderMap, text: String) -> Response {
    let mut inner = peer.inner.lock().unwrap();
    let manner = inner.manner.clone();
    if !manner.has_stream {
        return StatusCode::NOT_FOUND.into_response();
    }
    if let Some(refused) = refuse(&manner, &headers) {
        return refused;
    }
    inner.heard.push(kind_of(&text));
    let after = headers.get("last-event-id").and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    let last = inner.ask(&text);
    let sender = Received::read(&text).unwrap().envelope;
    let key = json!({ "owner": sender.from, "id": sender.body.task_id().unwrap() });
    let key: TaskKey = serde_json::from_value(key).unwrap();
    let updates = inner.updates.get(&key).cloned().unwrap_or_default();
    let mut body = String::from(": hello\n\n");
    for (at, update) in updates.iter().enumerate().skip(after.unwrap_or(0)) {
        let update = twisted(update, manner.twist);
        let event = format!("id: {}\ndata: {update}\n\n", at + 1);
        body.push_str(&event);
        if manner.twist == Twist::Twice {
            body.push_str(&event);
        }
    }
    let runs_on = kind_of(&last) == "TASK_UPDATE";
    if !runs_on {
        let last = twisted(&last, manner.twist);
        let id = if manner.twist == Twist::OldEnd { 1 } else { updates.len() + 1 };
        body.push_str(&format!("id: {id}\ndata: {last}\n\n"));
    }
    let cut = (!inner.manner.cuts.is_empty()).then(|| inner.manner.cuts.remove(0));
    drop(inner);
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    if let Some(cut) = cut {
        let part = body.as_bytes()[..cut.min(body.len())].to_vec();
        // What was said before is on its way when the connection breaks.
        let broken = futures_util::stream::once(async {
            tokio::task::yield_now().await;
            Err(std::io::Error::other("cut"))
        });
        let said = futures_util::stream::iter([Ok(Bytes::from(part))]);
        let chunks = futures_util::StreamExt::chain(said, broken);
        return (kind, Body::from_stream(chunks)).into_response();
    }
    let whole = futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from(body))]);
    if runs_on {
        let open = futures_util::StreamExt::chain(whole, futures_util::stream::pending());
        return (kind, Body::from_stream(open)).into_response();
    }
    (kind, Body::from_stream(whole)).into_response()
}

fn kind_of(text: &str) -> String {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    message["body"]["type"].as_str().unwrap_or("?").to_owned()
}

fn twisted(answer: &str, twist: Twist) -> String {
    let mut message: Value = serde_json::from_str(answer).unwrap();
    match twist {
        Twist::Unsigned => {
            let fields = message.as_object_mut().unwrap();
            for key in ["signature", "signature_algorithm", "nonce"] {
                fields.remove(key);
            }
        }
        Twist::Forged => {
            message["body"]["output"] = "forged".into();
            message["body"]["message"] = "forged".into();
        }
        Twist::WrongTask => message["body"]["task_id"] = "another".into(),
        Twist::WrongSession => message["session_id"] = "another".into(),
        Twist::Dear => message["body"]["provenance"]["tokens_used"] = 1_000_000.into(),
        Twist::Unkept => message["body"]["provenance"]["contract_satisfied"] = false.into(),
        Twist::Dated(then) => message["timestamp"] = then.into(),
        Twist::OtherMode => message["payload_mode"] = "embedding_hints".into(),
        Twist::OtherSender => message["from"] = "ldp:delegate:mallory".into(),
        _ => return answer.to_owned(),
    }
    message.to_string()
}

impl Inner {
    /// The answer to a message; what would be waited for is given up at once.
    fn ask(&mut self, text: &str) -> String {
        self.next += 1;
        let request = RequestId(self.next);
        let input = match Received::read(text) {
            Ok(received) => {
                let standing = self.recognise(&received);
                DelegateInput::Message { request, received: Box::new(received), standing }
            }
            Err(malformed) => DelegateInput::Malformed { request, malformed },
        };
        self.handle(input);
        if !self.replies.contains_key(&request) {
            self.handle(DelegateInput::GiveUp { request });
        }
        self.replies.remove(&request).unwrap()
    }

    fn recognise(&mut self, received: &Received) -> Result<Standing, Declined> {
        let channel = Channel { origin: Origin::Loopback, credential: None };
        let key = self.delegate.session_key(received);
        let standing = self.trust.recognise(received, channel, key.as_ref())?;
        if let sabir_ldp::Means::FirstUse(key) = standing.means {
            self.trust.pin(&standing.delegate_id, key)?;
        }
        Ok(standing)
    }

    fn handle(&mut self, input: DelegateInput) {
        self.next += 1;
        let mut seed = [5; 32];
        seed[..8].copy_from_slice(&self.next.to_be_bytes());
        #[expect(clippy::disallowed_methods, reason = "a peer has a clock of its own")]
        let now = std::time::SystemTime::now();
        let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        let now = Timestamp::from_millis(now.try_into().unwrap());
        self.delegate.handle(input, &mut Moment::new(now, seed));
        while let Some(output) = self.delegate.poll_output() {
            match output {
                DelegateOutput::Reply { request, envelope, seal } => {
                    let text = self.sealed(*envelope, &seal);
                    self.replies.insert(request, text);
                }
                DelegateOutput::Start(order) => {
                    self.orders.push((*order).clone());
                    self.perform(&order);
                }
                DelegateOutput::Update { key, envelope, seal, .. } => {
                    let text = self.sealed(*envelope, &seal);
                    self.updates.entry(key).or_default().push(text);
                }
                DelegateOutput::Recall { request, key } => {
                    let ended = self.ended.get(&key).cloned().map(Box::new);
                    self.handle(DelegateInput::Recalled { request, ended });
                }
                DelegateOutput::Record(record) => {
                    if let sabir_ldp::Record::Ended(ended) = *record {
                        self.ended.insert(ended.key.clone(), *ended);
                    }
                }
                DelegateOutput::Stop { .. } => {}
            }
        }
    }

    fn perform(&mut self, order: &TaskOrder) {
        let said = order.payload.to_text();
        let output = match order.skill.as_str() {
            "hang" => return,
            _ if self.manner.is_idle => return,
            "tired" => {
                let mut error = Refusal::TaskFailed.error("too tired");
                (error.code, error.retryable) = ("TIRED".to_owned(), true);
                return self.fail(order, &error);
            }
            "broken" => return self.fail(order, &Refusal::TaskFailed.error("it broke")),
            "count" => {
                for number in 1..=20 {
                    let message = Some(format!("update {number}"));
                    let event = TaskEvent::Progress { message, progress: None };
                    self.handle(DelegateInput::Task { key: order.key.clone(), event });
                }
                json!("counted")
            }
            "verify" => json!({ "passed": said.contains("say hi"), "reason": "looked at it" }),
            _ => json!({ "said": said, "by": self.manner.name }),
        };
        let usage = Usage::default();
        let finished = Finished { output, usage, ..Finished::default() };
        let event = TaskEvent::Finished(Box::new(finished));
        self.handle(DelegateInput::Task { key: order.key.clone(), event });
    }

    fn fail(&mut self, order: &TaskOrder, error: &LdpError) {
        let event = TaskEvent::Failed { error: error.clone(), usage: Usage::default() };
        self.handle(DelegateInput::Task { key: order.key.clone(), event });
    }

    /// Signed as a node signs: the record first, then the envelope.
    fn sealed(&self, mut envelope: Envelope, seal: &Seal) -> String {
        if !self.manner.has_key && self.manner.secret.is_none() {
            envelope.signature_algorithm = None;
            envelope.nonce = None;
            if let sabir_ldp::Body::SessionAccept(acceptance) = &mut envelope.body {
                acceptance.key_share = None;
            }
            if let sabir_ldp::Body::TaskResult(outcome) = &mut envelope.body
                && let Some(producer) = self.manner.producer
            {
                outcome.provenance.produced_by = DelegateId::new(producer).unwrap();
            }
            return envelope.to_text();
        }
        if let sabir_ldp::Body::TaskResult(outcome) = &mut envelope.body
            && self.manner.has_key
        {
            if let Some(producer) = self.manner.producer {
                outcome.provenance.produced_by = DelegateId::new(producer).unwrap();
            }
            let record = outcome.provenance.to_value();
            let task = outcome.task_id.as_str();
            let signature = sign_provenance(&record, task, &outcome.output, &self.key).unwrap();
            outcome.provenance.signature = Some(signature);
        }
        seal.apply(&mut envelope, &self.key, &self.trust).unwrap();
        envelope.to_text()
    }
}

/// A peer that is known by a secret.
pub(crate) fn sharing(secret: &str) -> sabir_ldp::Peer {
    sabir_ldp::Peer {
        domain: "default".to_owned(),
        keys: Vec::new(),
        secret: Some(SharedSecret::new(secret.to_owned())),
        credentials: Vec::new(),
    }
}

/// Names of delegates that tests use.
pub(crate) fn named(name: &str) -> Manner {
    Manner { name: format!("ldp:delegate:{name}"), ..Manner::default() }
}

pub(crate) fn delegate_id(name: &str) -> DelegateId {
    DelegateId::new(format!("ldp:delegate:{name}")).unwrap()
}
