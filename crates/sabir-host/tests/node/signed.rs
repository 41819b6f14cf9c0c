//! A caller with a key: an initiator that signs, whose key is tied to its name on first use.

use std::collections::BTreeMap;
use std::sync::Arc;

use sabir_ldp::{
    Channel, ExchangeId, Initiator, InitiatorInput, InitiatorOutput, InitiatorSettings, KeyBytes,
    Moment, Origin, Payload, Received, Recipient, SignaturePolicy, SigningKey, SkillName, TaskId,
    TaskRequest, Timestamp, Trust, TrustDomain, verify_provenance,
};
use sabir_store::peers::Peers;
use serde_json::{Value, json};

use crate::world::{LOOPBACK, NODE, World, echo, id, key, settings, stamp};

struct Client {
    machine: Initiator,
    trust: Trust,
    identity: SigningKey,
    /// What came of tasks, and how the session ended.
    done: BTreeMap<String, Result<Value, String>>,
    ended: Option<String>,
    drawn: u8,
}

impl Client {
    fn new(name: &str, seed: u8) -> Self {
        let identity = SigningKey::from_seed(&[seed; 32]);
        let mut settings = InitiatorSettings::new(id(name), Recipient::Delegate(id(NODE)));
        settings.public_key = KeyBytes::from_hex(&identity.public_key().to_hex());
        let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        trust.pin(&id(NODE), key().public_key()).unwrap();
        let (machine, done) = (Initiator::new(settings), BTreeMap::new());
        Self { machine, trust, identity, done, ended: None, drawn: 0 }
    }

    /// Tells the machine something, and carries what it sends until it sends no more.
    async fn drive(&mut self, world: &World, input: InitiatorInput) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            self.drawn += 1;
            let seed = [self.drawn ^ self.identity.public_key().to_hex().as_bytes()[0]; 32];
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
