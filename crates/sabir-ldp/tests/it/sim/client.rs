//! An initiator with its keys, driven as a client program would drive it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use sabir_ldp::{
    Authentication, Channel, Declined, ExchangeId, Initiator, InitiatorInput, InitiatorOutput,
    InitiatorSettings, KeyBytes, Moment, Origin, Received, Recipient, SignaturePolicy, Signing,
    SigningKey, Standing, TaskId, Timestamp, Trust, TrustDomain,
};
use serde_json::Value;

use crate::node::{NODE, id};

pub(crate) struct Client {
    pub(crate) machine: Initiator,
    trust: Trust,
    identity: SigningKey,
    seed: u64,
    /// What was sent and is not carried yet.
    pub(crate) outbox: Vec<(ExchangeId, String)>,
    /// Every report about a task: its output, or the code of its failure.
    pub(crate) reports: BTreeMap<TaskId, Vec<Result<Value, String>>>,
    pub(crate) progress: Vec<Option<u64>>,
    /// What else came out, in words.
    pub(crate) notes: Vec<String>,
    pub(crate) ended: bool,
}

/// The key of the node that tests talk to.
fn node_key() -> SigningKey {
    SigningKey::from_seed(&[7; 32])
}

impl Client {
    pub(crate) fn new(name: &str, signing: Signing) -> Self {
        Self::with(name, signing, |_| {})
    }

    pub(crate) fn with(
        name: &str,
        signing: Signing,
        change: impl FnOnce(&mut InitiatorSettings),
    ) -> Self {
        let mut seed = [3; 32];
        seed[..name.len().min(32)].copy_from_slice(&name.as_bytes()[..name.len().min(32)]);
        let identity = SigningKey::from_seed(&seed);
        let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        let to = Recipient::Address("http://127.0.0.1:7420/".to_owned());
        let mut settings = InitiatorSettings::new(id(name), to);
        settings.public_key = KeyBytes::from_hex(&identity.public_key().to_hex());
        settings.signing = signing;
        settings.required = match signing {
            Signing::Native => {
                trust.pin(&id(NODE), node_key().public_key()).unwrap();
                Authentication::Signed
            }
            Signing::Unsigned | Signing::Reference => Authentication::Unsigned,
        };
        change(&mut settings);
        Self {
            machine: Initiator::new(settings),
            trust,
            identity,
            seed: name.bytes().map(u64::from).sum::<u64>() << 32,
            outbox: Vec::new(),
            reports: BTreeMap::new(),
            progress: Vec::new(),
            notes: Vec::new(),
            ended: false,
        }
    }

    pub(crate) fn take(&mut self, exchange: ExchangeId, text: &str, now: u64) {
        let received = Received::read(text).unwrap();
        let standing = self.recognise(exchange, &received);
        let received = Box::new(received);
        self.handle(InitiatorInput::Received { exchange, received, standing }, now);
    }

    /// News on the stream that answers an exchange.
    pub(crate) fn hear(&mut self, exchange: ExchangeId, text: &str, now: u64) {
        let received = Received::read(text).unwrap();
        let standing = self.recognise(exchange, &received);
        let received = Box::new(received);
        self.handle(InitiatorInput::Streamed { received, standing }, now);
    }

    fn recognise(&self, exchange: ExchangeId, received: &Received) -> Result<Standing, Declined> {
        let channel = Channel { origin: Origin::Answer, credential: None };
        Ok(self.trust.recognise(received, channel, self.machine.answer_key(exchange))?)
    }

    pub(crate) fn handle(&mut self, input: InitiatorInput, now: u64) {
        self.seed += 1;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_be_bytes());
        self.machine.handle(input, &mut Moment::new(Timestamp::from_millis(now), seed));
        while let Some(output) = self.machine.poll_output() {
            match output {
                InitiatorOutput::Failed { task, error } => {
                    self.reports.entry(task).or_default().push(Err(error.code));
                }
                _ if self.ended => panic!("after the end: {output:?}"),
                InitiatorOutput::Send { exchange, mut envelope, seal, .. } => {
                    seal.apply(&mut envelope, &self.identity, &self.trust).unwrap();
                    self.outbox.push((exchange, envelope.to_text()));
                }
                InitiatorOutput::Done(report) => {
                    assert!(!report.outcome.provenance.verification.is_independent());
                    let task = report.outcome.task_id.clone();
                    self.reports.entry(task).or_default().push(Ok(report.outcome.output));
                }
                InitiatorOutput::Progress(update) => self.progress.push(update.seq),
                InitiatorOutput::Opened { mode, resumed, .. } => {
                    self.notes.push(format!("opened in {mode}, resumed: {resumed}"));
                }
                InitiatorOutput::Suspended => self.notes.push("suspended".to_owned()),
                InitiatorOutput::NotSuspended(error) => {
                    self.notes.push(format!("not suspended: {}", error.code));
                }
                InitiatorOutput::Ended(error) => {
                    self.ended = true;
                    let why = error.map_or_else(|| "closed".to_owned(), |error| error.code);
                    self.notes.push(format!("ended: {why}"));
                }
            }
        }
    }
}
