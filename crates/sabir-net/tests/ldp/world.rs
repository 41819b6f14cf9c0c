//! A node that is served, with skills that a test holds in its hands.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sabir_host::{Broken, Echo, News, Node, NodeSettings, Skill};
use sabir_ldp::{
    Capability, Credential, DelegateId, Fingerprint, Finished, Holder, IdentityCard, PayloadMode,
    SignaturePolicy, SigningKey, SkillName, TaskOrder, Timestamp, Trust, TrustDomain,
};
use sabir_net::{LdpLimits, LdpOptions, LdpServer, Mount, Served};
use sabir_store::{Reader, Store, StoreError};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::wire::Wire;

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) node: Node,
    /// Another delegate, with the same skills.
    pub(crate) member: Node,
    /// How many steps tasks may take.
    pub(crate) steps: watch::Sender<u64>,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    home: TempDir,
    _pilot: TempDir,
}

pub(crate) const PILOT: &str = "ldp:delegate:pilot";

pub(crate) const TOKEN: &str = "open-sesame";

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(LdpOptions::default()).await
    }

    /// With other limits than the defaults.
    pub(crate) async fn limited(limit: impl FnOnce(&mut LdpLimits)) -> Self {
        let mut options = LdpOptions::default();
        limit(&mut options.limits);
        Self::with(options).await
    }

    pub(crate) async fn with(options: LdpOptions) -> Self {
        Self::trusting(options, |_| {}).await
    }

    /// The node knows these certificates.
    pub(crate) async fn certified(options: LdpOptions, known: &[Fingerprint]) -> Self {
        let domain = || "default".to_owned();
        let certificates = known.iter().map(|known| Credential::Certificate(*known));
        let holders = certificates.map(|credential| Holder { domain: domain(), credential });
        Self::held(options, holders.collect()).await
    }

    /// The node knows what these hold.
    pub(crate) async fn held(options: LdpOptions, holders: Vec<Holder>) -> Self {
        Self::trusting(options, |trust| add(trust, holders)).await
    }

    /// The node knows somebody besides the holder of the token.
    pub(crate) async fn trusting(options: LdpOptions, acquaint: impl FnOnce(&mut Trust)) -> Self {
        let mut trust = trust();
        acquaint(&mut trust);
        Self::serve(tempfile::tempdir().unwrap(), watch::channel(0).0, options, trust, vec![]).await
    }

    /// With something beside the node.
    pub(crate) async fn beside(options: LdpOptions, mounts: Vec<Mount>) -> Self {
        Self::serve(tempfile::tempdir().unwrap(), watch::channel(0).0, options, trust(), mounts)
            .await
    }

    /// Ends the server and the node, and starts both again in the same home.
    pub(crate) async fn restart(self, options: LdpOptions, holders: Vec<Holder>) -> Self {
        let Self { stop, serving, node, member, home, steps, .. } = self;
        stop.cancel();
        serving.await.unwrap();
        node.stop().await;
        member.stop().await;
        drop(node);
        let mut trust = trust();
        add(&mut trust, holders);
        Self::serve(home, steps, options, trust, vec![]).await
    }

    async fn serve(
        home: TempDir,
        steps: watch::Sender<u64>,
        options: LdpOptions,
        trust: Trust,
        mounts: Vec<Mount>,
    ) -> Self {
        let pilot = tempfile::tempdir().unwrap();
        let member = node(&pilot, PILOT, steps.subscribe(), trust.clone()).await;
        let node = node(&home, "ldp:delegate:harbor", steps.subscribe(), trust).await;
        let here = "127.0.0.1:0".parse().unwrap();
        let server = LdpServer::bind(vec![here], options).await.unwrap();
        let address = server.listening()[0].address.parse().unwrap();
        let stop = CancellationToken::new();
        let members = vec![("pilot".to_owned(), member.clone())];
        let served = Served { root: node.clone(), members, mounts };
        let serving = tokio::spawn(server.serve(served, stop.clone()));
        Self { address, node, member, steps, stop, serving, home, _pilot: pilot }
    }

    pub(crate) async fn wire(&self) -> Wire {
        Wire::connect(self.address).await
    }

    /// Ends the server, and then the node.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.serving.await.unwrap();
        self.node.stop().await;
        self.member.stop().await;
    }

    /// Ends both at one time.
    pub(crate) async fn end_at_once(self) {
        self.stop.cancel();
        let (served, (), ()) = tokio::join!(self.serving, self.node.stop(), self.member.stop());
        served.unwrap();
    }

    /// Ends the server and nothing else.
    pub(crate) async fn stop_serving(&mut self) {
        self.stop.cancel();
        (&mut self.serving).await.unwrap();
    }

    /// The same node, at the address where it was before.
    pub(crate) async fn serve_again(&mut self) {
        let server = LdpServer::bind(vec![self.address], LdpOptions::default()).await.unwrap();
        self.stop = CancellationToken::new();
        let members = vec![("pilot".to_owned(), self.member.clone())];
        let served = Served { root: self.node.clone(), members, mounts: Vec::new() };
        self.serving = tokio::spawn(server.serve(served, self.stop.clone()));
    }

    /// The codes of what the journal says was refused.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let reader = Reader::open(self.home.path()).unwrap();
        let refusals = reader.peer_refusals(0, 1000).unwrap();
        refusals.into_iter().map(|refusal| refusal.refused.code).collect()
    }
}

async fn node(home: &TempDir, id: &str, steps: watch::Receiver<u64>, trust: Trust) -> Node {
    let names = ["echo", "steps"].map(|name| SkillName::new(name).unwrap());
    let id = DelegateId::new(id).unwrap();
    let card = IdentityCard {
        context_window: 1000,
        capabilities: names.iter().cloned().map(Capability::named).collect(),
        supported_payload_modes: vec![PayloadMode::SemanticFrame, PayloadMode::Text],
        ..IdentityCard::named(id, "Harbor", TrustDomain::closed("default"))
    };
    let mut settings = NodeSettings::new(card, trust);
    let [echo, slow] = names;
    settings.skills.insert(echo, Arc::new(Echo));
    settings.skills.insert(slow, Arc::new(Steps(steps)));
    // One that was there before may still be letting go of it.
    let mut opened = None;
    until(async || match Store::open(home.path()) {
        Err(StoreError::InUse { .. }) => false,
        store => opened.insert(store).is_ok(),
    })
    .await;
    let store = opened.unwrap().unwrap();
    let peers = sabir_store::peers::Peers::open(home.path()).unwrap();
    Node::start(settings, store, peers, SigningKey::from_seed(&[7; 32])).await.unwrap()
}

/// Whoever holds this token.
/// Knows the holder of the token, and who is in the domain of friends.
fn trust() -> Trust {
    let domain = TrustDomain {
        allow_cross_domain: true,
        trusted_peers: vec!["friends".to_owned()],
        ..TrustDomain::closed("default")
    };
    let mut trust = Trust::new(domain, SignaturePolicy::WhereKnown);
    trust.add_holder(holder(TOKEN, "default"));
    trust
}

fn add(trust: &mut Trust, holders: Vec<Holder>) {
    holders.into_iter().for_each(|holder| trust.add_holder(holder));
}

pub(crate) fn holder(token: &str, domain: &str) -> Holder {
    let credential = Credential::Token(Fingerprint::of(token.as_bytes()));
    Holder { domain: domain.to_owned(), credential }
}

/// Takes as many steps as its input says, each when it is allowed; each is an update of so many bytes.
#[derive(Debug)]
struct Steps(watch::Receiver<u64>);

impl Skill for Steps {
    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let mut allowed = self.0.clone();
        let input = order.payload.to_value();
        let (count, bytes) = (input["steps"].as_u64().unwrap(), input["bytes"].as_u64());
        async move {
            for step in 1..=count {
                let may = async { allowed.wait_for(|allowed| *allowed >= step).await.is_ok() };
                let may = news.stop().run_until_cancelled(may).await;
                if may != Some(true) {
                    return Err(Broken::new("nobody is there any more"));
                }
                let filling = "x".repeat(bytes.unwrap_or(0) as usize);
                news.progress(format!("step {step} {filling}")).await;
            }
            Ok(Finished { output: json!(count), ..Finished::default() })
        }
        .boxed()
    }
}

static NUMBER: AtomicU64 = AtomicU64::new(1);

pub(crate) fn message(session: &str, body: Value) -> String {
    message_to("ldp:delegate:harbor", session, body)
}

pub(crate) fn message_to(to: &str, session: &str, body: Value) -> String {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    json!({
        "message_id": format!("message-{number}"),
        "session_id": session,
        "from": "ldp:delegate:visitor",
        "to": to,
        "body": body,
        "payload_mode": "text",
        "timestamp": now(),
    })
    .to_string()
}

#[expect(clippy::disallowed_methods, reason = "messages have to be of today")]
fn now() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(now.as_millis() as u64).to_string()
}

pub(crate) fn hello() -> String {
    let body = json!({
        "type": "HELLO",
        "delegate_id": "ldp:delegate:visitor",
        "supported_modes": ["text"],
    });
    message("", body)
}

pub(crate) fn submit(session: &str, task: &str, skill: &str, input: Value) -> String {
    let body = json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": skill, "input": input });
    message(session, body)
}

/// The way of one envelope there and one back.
pub(crate) async fn say(wire: &mut Wire, message: &str) -> Value {
    let reply = wire.post("/ldp/messages", "", message).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

pub(crate) async fn open_session(wire: &mut Wire) -> String {
    let config = json!({ "preferred_payload_modes": ["text"], "ttl_secs": 600 });
    let body = json!({ "type": "SESSION_PROPOSE", "config": config });
    let accepted = say(wire, &message("", body)).await;
    assert_eq!(accepted["body"]["type"], "SESSION_ACCEPT", "{accepted}");
    accepted["body"]["session_id"].as_str().unwrap().to_owned()
}

/// Comes again until it is so; how often does not matter.
pub(crate) async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asking).await.unwrap();
}
