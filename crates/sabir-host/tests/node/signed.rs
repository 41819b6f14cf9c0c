//! A caller with a key: an initiator that signs, whose key is tied to its name on first use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sabir_host::OwnIds;
use sabir_ldp::{
    Channel, ExchangeId, Initiator, InitiatorInput, InitiatorOutput, InitiatorSettings, KeyBytes,
    Moment, Origin, Payload, PayloadMode, Peer, Received, Recipient, SharedSecret, SignaturePolicy,
    SigningKey, SkillName, TaskId, TaskRequest, Timestamp, Trust, TrustDomain, verify_provenance,
};
use sabir_store::peers::Peers;
use serde_json::{Value, json};

use crate::world::{LOOPBACK, NODE, World, code, echo, id, key, message, settings, stamp};

struct Client {
    machine: Initiator,
    trust: Trust,
    identity: SigningKey,
    /// What came of tasks, and how the session ended.
    done: BTreeMap<String, Result<Value, String>>,
    ended: Option<String>,
}

impl Client {
    fn new(name: &str, seed: u8) -> Self {
        let identity = SigningKey::from_seed(&[seed; 32]);
        let mut settings = InitiatorSettings::new(id(name), Recipient::Delegate(id(NODE)));
        settings.modes = vec![PayloadMode::Text];
        settings.public_key = KeyBytes::from_hex(&identity.public_key().to_hex());
        let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        trust.pin(&id(NODE), key().public_key()).unwrap();
        let (machine, done) = (Initiator::new(settings), BTreeMap::new());
        Self { machine, trust, identity, done, ended: None }
    }

    /// Tells the machine something, and carries what it sends until it sends no more.
    async fn drive(&mut self, world: &World, input: InitiatorInput) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            // No two moments of any client are the same.
            static DRAWN: AtomicU64 = AtomicU64::new(1);
            let mut seed = [0; 32];
            seed[..8].copy_from_slice(&DRAWN.fetch_add(1, Ordering::Relaxed).to_be_bytes());
            let now = Timestamp::parse(&stamp(0)).unwrap();
            self.machine.handle(input, &mut Moment::new(now, seed));
            while let Some(output) = self.machine.poll_output() {
                match output {
                    InitiatorOutput::Send { exchange, mut envelope, seal, .. } => {
                        seal.apply(&mut envelope, &self.identity, &self.trust).unwrap();
                        let text = world.node.ask(&envelope.to_text(), LOOPBACK).await;
                        inputs.push(self.received(exchange, &text));
                    }
                    InitiatorOutput::Done(report) => {
                        let outcome = report.outcome;
                        self.done.insert(outcome.task_id.to_string(), Ok(outcome.output));
                    }
                    InitiatorOutput::Failed { task, error } => {
                        self.done.insert(task.to_string(), Err(error.code));
                    }
                    InitiatorOutput::Ended(error) => {
                        self.ended = Some(error.map_or_else(String::new, |error| error.message));
                    }
                    _ => {}
                }
            }
        }
    }

    fn received(&self, exchange: ExchangeId, text: &str) -> InitiatorInput {
        let received = Box::new(Received::read(text).unwrap());
        let channel = Channel { origin: Origin::Answer, credential: None };
        let key = self.machine.answer_key(exchange);
        let standing = self.trust.recognise(&received, channel, key).map_err(Into::into);
        InitiatorInput::Received { exchange, received, standing }
    }

    async fn submit(&mut self, world: &World, task: &str, input: Value) {
        let request = TaskRequest {
            task_id: TaskId::new(task).unwrap(),
            skill: SkillName::new("echo").unwrap(),
            payload: Payload::Text(input),
            contract: None,
            delegation_path: Vec::new(),
        };
        self.drive(world, InitiatorInput::Submit(Box::new(request))).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_session_works_and_goes_on_after_a_restart() {
    let skills = [echo()];
    let world = World::new(&skills).await;
    let mut client = Client::new("ldp:delegate:ann", 9);
    client.drive(&world, InitiatorInput::Begin).await;
    client.submit(&world, "t-1", json!("signed")).await;
    assert_eq!(client.done["t-1"], Ok(json!("signed")), "{:?}", client.ended);
    let world = world.restart(&skills).await;
    client.submit(&world, "t-2", json!("still")).await;
    assert_eq!(client.done["t-2"], Ok(json!("still")), "{:?}", client.ended);
}

/// LD-N9.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_first_use_is_kept_and_another_is_not_believed() {
    let skills = [echo()];
    let world = World::new(&skills).await;
    let mut first = Client::new("ldp:delegate:ann", 9);
    first.drive(&world, InitiatorInput::Begin).await;
    let pinned = Peers::open(world.home.path()).unwrap().pinned_keys().unwrap();
    assert_eq!(pinned.len(), 1);
    assert_eq!(pinned[0].key, first.identity.public_key());
    let mut thief = Client::new("ldp:delegate:ann", 10);
    thief.drive(&world, InitiatorInput::Begin).await;
    assert!(thief.ended.is_some());
    let world = world.restart(&skills).await;
    let mut thief = Client::new("ldp:delegate:ann", 10);
    thief.drive(&world, InitiatorInput::Begin).await;
    assert!(thief.ended.is_some());
    let mut again = Client::new("ldp:delegate:ann", 9);
    again.drive(&world, InitiatorInput::Begin).await;
    again.submit(&world, "t-1", json!(1)).await;
    assert_eq!(again.done["t-1"], Ok(json!(1)), "{:?}", again.ended);
}

/// LD-N9: a node that runs sees that a key was taken away elsewhere, and which one came after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_forgotten_elsewhere_makes_room_for_the_next() {
    let ann = id("ldp:delegate:ann");
    let world = World::new(&[echo()]).await;
    let mut first = Client::new("ldp:delegate:ann", 9);
    first.drive(&world, InitiatorInput::Begin).await;
    let elsewhere = Peers::open(world.home.path()).unwrap();
    assert!(elsewhere.unpin(&ann).unwrap());
    let mut second = Client::new("ldp:delegate:ann", 10);
    second.drive(&world, InitiatorInput::Begin).await;
    assert_eq!(second.ended, None);
    let pinned = elsewhere.pinned_key(&ann).unwrap().unwrap();
    assert_eq!(pinned.key, second.identity.public_key());
    // The session that was open goes on; a new one under the old key is not opened.
    first.submit(&world, "t-1", json!(1)).await;
    assert_eq!(first.done["t-1"], Ok(json!(1)));
    let mut old = Client::new("ldp:delegate:ann", 9);
    old.drive(&world, InitiatorInput::Begin).await;
    assert!(old.ended.is_some());
    // What is pinned elsewhere in its place counts here, too.
    let third = Client::new("ldp:delegate:ann", 11);
    elsewhere.unpin(&ann).unwrap();
    elsewhere.pin(&ann, &third.identity.public_key(), "the command line", 1).unwrap();
    let mut third = third;
    third.drive(&world, InitiatorInput::Begin).await;
    assert_eq!(third.ended, None);
    let mut second = Client::new("ldp:delegate:ann", 10);
    second.drive(&world, InitiatorInput::Begin).await;
    assert!(second.ended.is_some());
    // A delegate that is forgotten has no key to sign with, and need not.
    elsewhere.unpin(&ann).unwrap();
    let propose = json!({ "type": "SESSION_PROPOSE", "config": {} });
    let unsigned = world.ask(&message(ann.as_str(), "", propose)).await;
    assert_eq!(unsigned["type"], "SESSION_ACCEPT", "{unsigned}");
}

/// LD-N24: a stranger that comes first does not come as one of ours, whatever an older program kept.
#[tokio::test(flavor = "multi_thread")]
async fn ids_of_ours_belong_to_our_keys_from_the_first_start_on() {
    let names =
        ["", ":caller", "-researcher", "-coder", "-linguist"].map(|it| format!("{NODE}{it}"));
    let home = Arc::new(tempfile::tempdir().unwrap());
    let peers = Peers::open(home.path()).unwrap();
    let thief = SigningKey::from_seed(&[10; 32]).public_key();
    peers.pin(&id(&names[2]), &thief, "its first HELLO to this node", 1).unwrap();
    let own = OwnIds::of_home(home.path(), &id(NODE), key().public_key()).unwrap();
    own.keep(&peers, "http://127.0.0.1:7420").unwrap();
    let mut settings = settings(&[echo()]);
    // Not even who is configured under such an id.
    for name in &names {
        let (domain, secret) = ("default".to_owned(), Some(SharedSecret::new("shared".to_owned())));
        let peer = Peer { domain, keys: vec![thief], secret, credentials: Vec::new() };
        settings.trust.add_peer(id(name), peer);
    }
    own.tie(&mut settings.trust);
    let world = World::at(home, settings).await;
    for name in &names {
        let mut stranger = Client::new(name, 10);
        stranger.drive(&world, InitiatorInput::Begin).await;
        assert!(stranger.ended.is_some(), "{name}");
        let propose = json!({ "type": "SESSION_PROPOSE", "config": {} });
        let unsigned = world.ask(&message(name, "", propose)).await;
        assert_eq!(code(&unsigned), "SIGNATURE_REQUIRED", "{name}");
        let pinned = peers.pinned_key(&id(name)).unwrap().unwrap();
        assert_ne!(pinned.key, thief, "{name}");
    }
    // Somebody else's name is as free as ever, and ours are ours.
    let mut other = Client::new(&format!("{NODE}-clerk"), 10);
    other.drive(&world, InitiatorInput::Begin).await;
    assert_eq!(other.ended, None);
    let mut caller = Client::new(&names[1], 7);
    caller.drive(&world, InitiatorInput::Begin).await;
    caller.submit(&world, "t-1", json!("ours")).await;
    assert_eq!(caller.done["t-1"], Ok(json!("ours")), "{:?}", caller.ended);
    let known = OwnIds::known(world.home.path(), &id(NODE), key().public_key()).unwrap();
    assert_eq!(format!("{known:?}"), format!("{own:?}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_key_that_somebody_else_was_seen_with_elsewhere_is_not_believed() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let skills = [echo()];
    let world = World::at(home, settings(&skills)).await;
    // Another process of this home has met her meanwhile.
    let real = SigningKey::from_seed(&[9; 32]).public_key();
    let peers = Peers::open(world.home.path()).unwrap();
    peers.pin(&id("ldp:delegate:ann"), &real, "elsewhere", 1).unwrap();
    let mut thief = Client::new("ldp:delegate:ann", 10);
    thief.drive(&world, InitiatorInput::Begin).await;
    assert!(thief.ended.is_some_and(|why| why.contains("another key")));
}

/// LD-N10.
#[tokio::test(flavor = "multi_thread")]
async fn provenance_is_signed_with_the_key_of_the_node() {
    let world = World::new(&[echo()]).await;
    world.open().await;
    let answer = world.submit("t-1", "echo", json!({ "n": 1.5 })).await;
    let text = answer.to_string();
    let read = sabir_base::json::Json::read(&text, 64).unwrap();
    assert_eq!(verify_provenance(read.top()).unwrap(), world.node.public_key());
}
