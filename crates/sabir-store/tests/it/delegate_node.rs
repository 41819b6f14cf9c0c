//! A node for tests: a real delegate whose records are in a real store, one entry for each input.

use std::path::{Path, PathBuf};

use sabir_ldp::{
    Channel, Credential, Delegate, DelegateId, DelegateInput, DelegateLimits, DelegateOutput,
    DelegateSettings, Fingerprint, Finished, Holder, KeptKeys, Moment, Origin, Received, Record,
    ReplayLimits, RequestId, SessionKeys, SignaturePolicy, TaskEvent, TaskKey, Timestamp, Trust,
    TrustDomain, Usage,
};
use sabir_store::{Batch, Options, Store, StoreError};
use serde_json::{Value, json};

/// When tests begin.
pub(crate) const START: u64 = 1_794_830_400_000;
pub(crate) const CALLER: &str = "ldp:delegate:caller";

pub(crate) struct Node {
    pub(crate) delegate: Delegate,
    pub(crate) store: Store,
    pub(crate) now: u64,
    /// All of them, as the delegate made them.
    pub(crate) records: Vec<Record>,
    pub(crate) limits: DelegateLimits,
    pub(crate) keys: Keys,
    /// The way that messages come.
    pub(crate) channel: Channel,
    home: PathBuf,
    trust: Trust,
    name: String,
    next: u64,
    tables: Tables,
}

/// How the tables follow what this node writes, one entry at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tables {
    AtOnce,
    /// As under load: late, and only as far as they have to.
    Behind,
}

impl Tables {
    pub(crate) fn options(self) -> Options {
        let crowd = match self {
            Self::AtOnce => usize::MAX,
            Self::Behind => 1,
        };
        Options { crowd, ..Options::default() }
    }
}

/// Whether sessions are given keys on their way to the store, as if they had been agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    None,
    Made,
}

/// Such keys as a text: what must be in no journal.
pub(crate) fn keys_of(session: &str) -> String {
    let hex: String = session.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("{hex:f>128}")
}

pub(crate) fn key(task: &str) -> TaskKey {
    serde_json::from_value(json!({ "owner": CALLER, "id": task })).unwrap()
}

/// When a test begins.
pub(crate) fn start() -> Timestamp {
    Timestamp::from_millis(START)
}

pub(crate) fn restored(limits: &DelegateLimits, records: Vec<Record>, now: u64) -> Delegate {
    let mut moment = Moment::new(Timestamp::from_millis(now), [1; 32]);
    Delegate::restore(settings(limits), records, &mut moment)
}

/// Tokens that are for anyone.
pub(crate) const TOKENS: [&str; 2] = ["first-token", "second-token"];

pub(crate) const LOOPBACK: Channel = Channel { origin: Origin::Loopback, credential: None };

fn token(text: &str) -> Credential {
    Credential::Token(Fingerprint::of(text.as_bytes()))
}

/// From elsewhere, with this token.
pub(crate) fn showing(text: &str) -> Channel {
    Channel { origin: Origin::Remote, credential: Some(token(text)) }
}

fn trust() -> Trust {
    let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
    for text in TOKENS {
        trust.add_holder(Holder { domain: "default".to_owned(), credential: token(text) });
    }
    trust
}

fn settings(limits: &DelegateLimits) -> DelegateSettings {
    let card = json!({
        "delegate_id": "ldp:delegate:harbor", "name": "Harbor", "model_family": "m",
        "model_version": "m-1", "context_window": 8192, "endpoint": "http://127.0.0.1:7420",
        "trust_domain": { "name": "default", "allow_cross_domain": false, "trusted_peers": [] },
        "capabilities": [{ "name": "echo" }],
        "supported_payload_modes": ["semantic_frame", "text"],
    });
    DelegateSettings {
        card: serde_json::from_value(card).unwrap(),
        trust: trust(),
        replay: ReplayLimits::default(),
        limits: limits.clone(),
        lasting: std::collections::BTreeSet::new(),
    }
}

/// Writes an entry for each name: a task that began and ended as another did.
pub(crate) fn finish_many(store: &Store, made: &[Record], names: impl Iterator<Item = String>) {
    for name in names {
        let mut records = made.to_vec();
        for record in &mut records {
            match record {
                Record::Started(started) => started.key = key(&name),
                Record::Ended(ended) => ended.key = key(&name),
                _ => {}
            }
        }
        store.append_blocking(Batch::of_peers(START, records), |done| {
            done.unwrap();
        });
    }
}

impl Node {
    pub(crate) fn new(home: &Path) -> Self {
        Self::with(home, DelegateLimits::default(), "m")
    }

    /// `name` makes the ids of its messages its own.
    pub(crate) fn with(home: &Path, limits: DelegateLimits, name: &str) -> Self {
        Self::over(home, limits, name, Tables::AtOnce)
    }

    /// One whose tables follow late, or do not.
    pub(crate) fn with_tables(home: &Path, tables: Tables) -> Self {
        Self::over(home, DelegateLimits::default(), "m", tables)
    }

    pub(crate) fn over(home: &Path, limits: DelegateLimits, name: &str, tables: Tables) -> Self {
        let store = Store::open_with(home, &tables.options()).unwrap();
        let records = store.reader().unwrap().peer_state(&limits, start()).unwrap();
        let mut node = Self {
            delegate: restored(&limits, records.clone(), START),
            store,
            now: START,
            records,
            limits,
            keys: Keys::None,
            channel: LOOPBACK,
            home: home.to_owned(),
            trust: trust(),
            name: name.to_owned(),
            next: 0,
            tables,
        };
        node.drain();
        node
    }

    /// The store is closed and opened again; the delegate goes on.
    pub(crate) fn reopen(mut self) -> Self {
        drop(self.store);
        // A process that another test starts at this moment holds the lock too, until it is itself.
        self.store = loop {
            match Store::open_with(&self.home, &self.tables.options()) {
                Err(StoreError::InUse { .. }) => std::thread::yield_now(),
                opened => break opened.unwrap(),
            }
        };
        self
    }

    /// The records of a task of the session `s-1` that began and ended.
    pub(crate) fn finished(&mut self) -> Vec<Record> {
        self.open("s-1");
        self.submit("s-1", "t");
        self.finish("t");
        let of_task = |record: &&Record| matches!(record, Record::Started(_) | Record::Ended(_));
        self.records.iter().filter(of_task).cloned().collect()
    }

    pub(crate) fn handle(&mut self, input: DelegateInput) {
        self.next += 1;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.next.to_be_bytes());
        self.delegate.handle(input, &mut Moment::new(Timestamp::from_millis(self.now), seed));
        self.drain();
    }

    fn drain(&mut self) {
        let (mut records, mut recalls) = (Vec::new(), Vec::new());
        while let Some(output) = self.delegate.poll_output() {
            match output {
                DelegateOutput::Record(record) => records.push(*record),
                DelegateOutput::Recall { request, key } => recalls.push((request, key)),
                DelegateOutput::Reply { .. }
                | DelegateOutput::Start(_)
                | DelegateOutput::Stop { .. }
                | DelegateOutput::Update { .. } => {}
            }
        }
        if self.keys == Keys::Made {
            records.iter_mut().for_each(give_keys);
        }
        if !records.is_empty() {
            self.records.extend(records.iter().cloned());
            self.store.append_and_wait(Batch::of_peers(self.now, records)).unwrap();
        }
        for (request, key) in recalls {
            let ended = self.store.reader().unwrap().peer_task_ended(&key).unwrap();
            self.handle(DelegateInput::Recalled { request, ended: ended.map(Box::new) });
        }
    }

    pub(crate) fn post(&mut self, message: &Value) {
        self.next += 1;
        let request = RequestId(self.next);
        let received = Received::read(&message.to_string()).unwrap();
        let standing = self.trust.recognise(&received, self.channel, None).map_err(Into::into);
        let received = Box::new(received);
        self.handle(DelegateInput::Message { request, received, standing });
    }

    /// Posts this body, with a fresh message id.
    pub(crate) fn say(&mut self, session: &str, mode: &str, body: Value) -> Value {
        self.next += 1;
        let message = json!({
            "message_id": format!("{}-{}", self.name, self.next), "session_id": session,
            "from": CALLER, "to": "ldp:delegate:harbor", "body": body, "payload_mode": mode,
            "timestamp": Timestamp::from_millis(self.now).to_string(),
        });
        self.post(&message);
        message
    }

    pub(crate) fn open(&mut self, session: &str) {
        let config = json!({
            "ttl_secs": 30, "preferred_payload_modes": ["semantic_frame", "text"],
        });
        self.say(session, "text", json!({ "type": "SESSION_PROPOSE", "config": config }));
    }

    pub(crate) fn submit(&mut self, session: &str, task: &str) -> Value {
        let body = json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": "echo", "input": "x" });
        self.say(session, "text", body)
    }

    pub(crate) fn update(&mut self, task: &str, message: &str) {
        let event = TaskEvent::Progress { message: Some(message.to_owned()), progress: Some(0.5) };
        self.handle(DelegateInput::Task { key: key(task), event });
    }

    pub(crate) fn finish(&mut self, task: &str) {
        let usage = Usage { tokens: Some(3), cost_usd: Some(0.1) };
        let finished = Finished { output: json!(task), usage, ..Finished::default() };
        let event = TaskEvent::Finished(Box::new(finished));
        self.handle(DelegateInput::Task { key: key(task), event });
    }

    pub(crate) fn close(&mut self, session: &str, suspend: Value) {
        let body = json!({ "type": "SESSION_CLOSE", "reason": null, "suspend": suspend });
        self.say(session, "text", body);
    }

    pub(crate) fn wait(&mut self, millis: u64) {
        self.now += millis;
        self.handle(DelegateInput::Tick);
    }
}

fn give_keys(record: &mut Record) {
    let made = |session: &str| SessionKeys::restore(&keys_of(session)).map(KeptKeys);
    match record {
        Record::Opened(opened) => opened.keys = made(opened.session.as_str()),
        Record::Resumed { session, keys, .. } => *keys = made(&format!("{session}+")),
        _ => {}
    }
}

/// A delegate's id, for those who need only that.
pub(crate) fn delegate_id(name: &str) -> DelegateId {
    DelegateId::new(name).unwrap()
}
