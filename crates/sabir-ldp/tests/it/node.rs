//! A node for tests: a delegate with its keys and its store, driven as a server would drive it, with
//! messages that are texts and signatures that are real.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};

use sabir_ldp::{
    Channel, Declined, Delegate, DelegateId, DelegateInput, DelegateLimits, DelegateOutput,
    DelegateSettings, Envelope, IdentityCard, Moment, Origin, Peer, Received, Record, ReplayLimits,
    RequestId, Seal, SharedSecret, SignaturePolicy, Signer, SigningKey, SkillName, Standing,
    StopReason, TaskEnded, TaskEvent, TaskKey, TaskOrder, TaskStart, Timestamp, Trust, TrustDomain,
    sign_fields,
};
use serde_json::{Value, json};

/// When tests begin.
pub(crate) const START: u64 = 1_794_830_400_000;

pub(crate) const LOOPBACK: Channel = Channel { origin: Origin::Loopback, credential: None };

pub(crate) const NODE: &str = "ldp:delegate:harbor";
pub(crate) const CALLER: &str = "ldp:delegate:caller";

pub(crate) struct Node {
    pub(crate) delegate: Delegate,
    pub(crate) trust: Trust,
    pub(crate) identity: SigningKey,
    /// The way that messages come.
    pub(crate) channel: Channel,
    pub(crate) now: u64,
    pub(crate) records: Vec<Record>,
    pub(crate) started: Vec<TaskOrder>,
    pub(crate) stopped: Vec<(TaskKey, StopReason)>,
    pub(crate) updates: Vec<(u64, Value)>,
    /// Answers by request, each with a verified signature if it has one.
    pub(crate) replies: BTreeMap<RequestId, Value>,
    pub(crate) limits: DelegateLimits,
    next: u64,
}

pub(crate) fn id(name: &str) -> DelegateId {
    DelegateId::new(name).unwrap()
}

pub(crate) fn key(owner: &str, task: &str) -> TaskKey {
    serde_json::from_value(json!({ "owner": owner, "id": task })).unwrap()
}

pub(crate) fn card() -> IdentityCard {
    serde_json::from_value(json!({
        "delegate_id": NODE, "name": "Harbor", "model_family": "m", "model_version": "m-1",
        "trust_domain": { "name": "default", "allow_cross_domain": false, "trusted_peers": [] },
        "context_window": 8192, "endpoint": "http://127.0.0.1:7420",
        "capabilities": [{ "name": "echo" }, { "name": "sum" }],
        "supported_payload_modes": ["semantic_frame", "text"],
    }))
    .unwrap()
}

/// A peer that the node shares a secret with.
pub(crate) const FRIEND: &str = "ldp:delegate:old-friend";

pub(crate) fn secret() -> SharedSecret {
    SharedSecret::new("test-secret".to_owned())
}

fn trust() -> Trust {
    let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
    let friend = Peer {
        domain: "default".to_owned(),
        keys: Vec::new(),
        secret: Some(secret()),
        credentials: Vec::new(),
    };
    trust.add_peer(id(FRIEND), friend);
    trust.pin(&id(SIGNER), signer().public_key()).unwrap();
    trust
}

/// A peer whose key the node knows.
pub(crate) const SIGNER: &str = "ldp:delegate:signer";

pub(crate) fn signer() -> SigningKey {
    SigningKey::from_seed(&[9; 32])
}

impl Node {
    pub(crate) fn new() -> Self {
        Self::with(DelegateLimits::default())
    }

    pub(crate) fn with(limits: DelegateLimits) -> Self {
        Self::restored(limits, Vec::new(), START)
    }

    pub(crate) fn restored(limits: DelegateLimits, records: Vec<Record>, now: u64) -> Self {
        let mut moment = Moment::new(Timestamp::from_millis(now), [1; 32]);
        let settings = DelegateSettings {
            card: card(),
            trust: trust(),
            replay: ReplayLimits::default(),
            limits: limits.clone(),
            lasting: BTreeSet::from([SkillName::new("sum").unwrap()]),
        };
        let delegate = Delegate::restore(settings, records.clone(), &mut moment);
        let mut node = Self {
            delegate,
            trust: trust(),
            identity: SigningKey::from_seed(&[7; 32]),
            channel: LOOPBACK,
            now,
            records,
            started: Vec::new(),
            stopped: Vec::new(),
            updates: Vec::new(),
            replies: BTreeMap::new(),
            limits,
            next: 0,
        };
        node.drain();
        node
    }

    /// The same node after it died: what it has is what it stored.
    pub(crate) fn restart(self) -> Self {
        let node = Self::restored(self.limits, self.records, self.now);
        // What ran before it died counts: nothing may run twice.
        let started = [self.started, node.started.clone()].concat();
        Self { next: self.next, trust: self.trust, started, ..node }
    }

    /// Posts a text and returns the request, which may be answered or not.
    pub(crate) fn post_text(&mut self, text: &str) -> RequestId {
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
        request
    }

    pub(crate) fn recognise(&mut self, received: &Received) -> Result<Standing, Declined> {
        let key = self.delegate.session_key(received);
        let standing = self.trust.recognise(received, self.channel, key.as_ref())?;
        if let sabir_ldp::Means::FirstUse(key) = standing.means {
            self.trust.pin(&standing.delegate_id, key)?;
        }
        Ok(standing)
    }

    pub(crate) fn post(&mut self, message: &Value) -> RequestId {
        self.post_text(&message.to_string())
    }

    /// Posts a message and returns the body of its answer.
    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        let request = self.post(message);
        self.answer(request)
    }

    pub(crate) fn answer(&mut self, request: RequestId) -> Value {
        let reply = self.replies.get(&request);
        reply.unwrap_or_else(|| panic!("{request:?} is not answered"))["body"].clone()
    }

    pub(crate) fn is_waiting(&self, request: RequestId) -> bool {
        !self.replies.contains_key(&request)
    }

    pub(crate) fn tell(&mut self, key: &TaskKey, event: TaskEvent) {
        self.handle(DelegateInput::Task { key: key.clone(), event });
    }

    pub(crate) fn finish(&mut self, key: &TaskKey, output: Value) {
        let finished = sabir_ldp::Finished { output, ..Default::default() };
        self.tell(key, TaskEvent::Finished(Box::new(finished)));
    }

    pub(crate) fn wait(&mut self, millis: u64) {
        self.now += millis;
        self.handle(DelegateInput::Tick);
    }

    pub(crate) fn handle(&mut self, input: DelegateInput) {
        // Inputs are data: what is written down and read again is the same input.
        let text = serde_json::to_string(&input).unwrap();
        let input = serde_json::from_str(&text).unwrap();
        self.next += 1;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.next.to_be_bytes());
        self.delegate.handle(input, &mut Moment::new(Timestamp::from_millis(self.now), seed));
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.delegate.poll_output() {
            match output {
                DelegateOutput::Record(record) => {
                    let text = serde_json::to_string(&record).unwrap();
                    self.records.push(serde_json::from_str(&text).unwrap());
                }
                DelegateOutput::Reply { request, envelope, seal } => {
                    if let sabir_ldp::Body::TaskResult(outcome) = &envelope.body {
                        let is_stored = self.records.iter().any(|record| match record {
                            Record::Ended(ended) => ended.key.id == outcome.task_id,
                            _ => false,
                        });
                        assert!(is_stored, "told before it was recorded");
                    }
                    let text = self.sealed(*envelope, &seal);
                    let twice = self.replies.insert(request, serde_json::from_str(&text).unwrap());
                    assert!(twice.is_none(), "{request:?} is answered twice");
                }
                DelegateOutput::Start(order) => {
                    let last = self.records.last().unwrap();
                    let is_recorded = matches!(last, Record::Started(_));
                    let is_new = order.start == TaskStart::First;
                    assert!(is_recorded || !is_new, "started before it was recorded");
                    self.started.push(*order);
                }
                DelegateOutput::Stop { key, why } => self.stopped.push((key, why)),
                DelegateOutput::Update { seq, envelope, seal, .. } => {
                    let text = self.sealed(*envelope, &seal);
                    self.updates.push((seq, serde_json::from_str(&text).unwrap()));
                }
                DelegateOutput::Recall { request, key } => {
                    let ended = self.stored(&key).map(Box::new);
                    self.handle(DelegateInput::Recalled { request, ended });
                }
            }
        }
    }

    pub(crate) fn sealed(&self, mut envelope: Envelope, seal: &Seal) -> String {
        seal.apply(&mut envelope, &self.identity, &self.trust).unwrap();
        envelope.to_text()
    }

    fn stored(&self, wanted: &TaskKey) -> Option<TaskEnded> {
        self.records.iter().find_map(|record| match record {
            Record::Ended(ended) if ended.key == *wanted => Some((**ended).clone()),
            _ => None,
        })
    }

    /// How many messages were refused, by the journal.
    pub(crate) fn refused(&self) -> usize {
        self.records.iter().filter(|record| matches!(record, Record::Refused(_))).count()
    }

    pub(crate) fn stamp(&self) -> String {
        Timestamp::from_millis(self.now).to_string()
    }

    /// An envelope with a fresh id around this body.
    pub(crate) fn message(&mut self, from: &str, session: &str, body: Value) -> Value {
        self.next += 1;
        json!({
            "message_id": format!("m-{}", self.next), "session_id": session, "from": from,
            "to": NODE, "body": body, "payload_mode": "text", "timestamp": self.stamp(),
        })
    }

    /// Opens a session for a peer that does not sign.
    pub(crate) fn open(&mut self, from: &str, session: &str, config: Value) -> Value {
        let message =
            self.message(from, session, json!({ "type": "SESSION_PROPOSE", "config": config }));
        self.ask(&message)
    }

    pub(crate) fn submit(&mut self, session: &str, task: &str, input: Value) -> RequestId {
        let body =
            json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": "echo", "input": input });
        let message = self.message(CALLER, session, body);
        self.post(&message)
    }
}

/// The same message, signed.
pub(crate) fn signed(message: &Value, signer: Signer<'_>) -> Value {
    let fields = message.as_object().unwrap().clone();
    let mut nonce = [0; 16];
    let name = message["message_id"].as_str().unwrap().as_bytes();
    nonce[..name.len().min(16)].copy_from_slice(&name[..name.len().min(16)]);
    sign_fields(fields, signer, sabir_ldp::Nonce::new(nonce)).unwrap()
}

pub(crate) fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or_else(|| panic!("no error in {body}"))
}
