//! Somebody who has a session with the node, and writes down tasks without sending them.

use anyhow::{Context as _, bail};
use sabir_host::Node;
use sabir_ldp::{
    Authentication, Channel, DelegateId, Initiator, InitiatorInput, InitiatorOutput,
    InitiatorSettings, KeyBytes, Moment, Origin, Payload, PayloadMode, Peer, PublicKey, Received,
    Recipient, Seal, SignaturePolicy, SigningKey, SkillName, TaskId, TaskRequest, Trust,
    TrustDomain,
};
use serde_json::json;

use super::{NODE, SKILL, now};

pub(super) struct Caller {
    initiator: Initiator,
    key: SigningKey,
    trust: Trust,
    /// How many random numbers were drawn.
    drawn: u64,
    number: usize,
    visit: usize,
    tasks: usize,
}

/// How a message proves who sent it.
#[derive(Clone, Copy)]
pub(super) enum Means {
    Session,
    Identity,
}

impl Caller {
    /// Somebody comes, for the first time or once more.
    pub(super) async fn open(
        (number, visit): (usize, usize),
        node: &Node,
        key: &PublicKey,
    ) -> anyhow::Result<Self> {
        let to = DelegateId::new(NODE)?;
        let from = DelegateId::new(format!("ldp:delegate:caller-{number}"))?;
        let mut seed = [1; 32];
        seed[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let own = SigningKey::from_seed(&seed);
        let mut settings = InitiatorSettings::new(from, Recipient::Delegate(to.clone()));
        settings.public_key = KeyBytes::from_hex(&own.public_key().to_hex());
        settings.required = Authentication::Signed;
        settings.trust_domain = Some("default".to_owned());
        settings.modes = vec![PayloadMode::Text];
        // None of them is ever answered.
        settings.patience.tasks = usize::MAX;
        let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        let domain = "default".to_owned();
        let peer = Peer { domain, keys: vec![*key], secret: None, credentials: Vec::new() };
        trust.add_peer(to, peer);
        let initiator = Initiator::new(settings);
        let mut caller = Self { initiator, key: own, trust, drawn: 0, number, visit, tasks: 0 };
        caller.greet(node).await?;
        Ok(caller)
    }

    async fn greet(&mut self, node: &Node) -> anyhow::Result<()> {
        self.tell(InitiatorInput::Begin);
        loop {
            match self.initiator.poll_output().context("the handshake stopped")? {
                InitiatorOutput::Send { exchange, mut envelope, seal, .. } => {
                    seal.apply(&mut envelope, &self.key, &self.trust)?;
                    let channel = Channel { origin: Origin::Loopback, credential: None };
                    let answer = node.ask(&envelope.to_text(), channel).await;
                    let received = match Received::read(&answer) {
                        Ok(received) => Box::new(received),
                        Err(malformed) => bail!("{malformed}: {answer}"),
                    };
                    let channel = Channel { origin: Origin::Answer, credential: None };
                    let session_key = self.initiator.answer_key(exchange);
                    let standing = self.trust.recognise(&received, channel, session_key);
                    let standing = standing.map_err(Into::into);
                    self.tell(InitiatorInput::Received { exchange, received, standing });
                }
                InitiatorOutput::Opened { .. } => return Ok(()),
                other => bail!("no session: {other:?}"),
            }
        }
    }

    /// So many tasks, as they would be sent.
    pub(super) fn tasks(&mut self, count: usize, means: Means) -> anyhow::Result<Vec<String>> {
        (0..count).map(|_| self.task(means)).collect()
    }

    fn task(&mut self, means: Means) -> anyhow::Result<String> {
        self.tasks += 1;
        let input =
            json!("Translate the notice at the harbour gate into every tongue of its port.");
        self.tell(InitiatorInput::Submit(Box::new(TaskRequest {
            task_id: TaskId::new(format!("task-{}-{}", self.number, self.tasks))?,
            skill: SkillName::new(SKILL)?,
            payload: Payload::check(PayloadMode::Text, &input)?,
            contract: None,
            delegation_path: Vec::new(),
        })));
        let output = self.initiator.poll_output().context("the task was not sent")?;
        let InitiatorOutput::Send { mut envelope, seal, .. } = output else {
            bail!("the task was not sent: {output:?}");
        };
        let seal = match means {
            Means::Session => seal,
            Means::Identity => Seal::Identity,
        };
        seal.apply(&mut envelope, &self.key, &self.trust)?;
        Ok(envelope.to_text())
    }

    fn tell(&mut self, input: InitiatorInput) {
        self.drawn += 1;
        let mut seed = [2; 32];
        seed[..8].copy_from_slice(&self.drawn.to_le_bytes());
        seed[8..16].copy_from_slice(&(self.number as u64).to_le_bytes());
        seed[16..24].copy_from_slice(&(self.visit as u64).to_le_bytes());
        self.initiator.handle(input, &mut Moment::new(now(), seed));
    }
}
