//! The node: a delegate that is served. It drives the machine of the protocol with a clock, a
//! journal and skills, one turn at a time, and does nothing before it is on disk.
//!
//! It takes messages as texts and answers with texts. How they travel is for others.

mod answer;
pub(crate) mod build;
mod config;
mod core;
mod criteria;
mod entrance;
mod error;
mod follow;
mod journal;
mod keys;
mod machine;
mod notary;
mod outbox;
mod pins;
mod request;
mod seeds;
mod settings;
pub(crate) mod skill;
mod tick;
mod topic;
mod watched;
mod work;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sabir_ldp::{
    Channel, Delegate, DelegateSettings, HexBytes, IdentityCard, Moment, PublicKey, SigningKey,
    SkillName, Timestamp,
};
use sabir_store::peers::{Peers, PinnedKey};
use sabir_store::{Batch, JournalCounts, Store};
use tokio::time::timeout;

pub use build::{SkillKit, Surroundings};
pub(crate) use config::KEYS as CONFIG_KEYS;
pub use config::{
    AgentConfig, CallerConfig, CrewConfig, DelegateConfig, Evidence, IdentityConfig, LlmcpConfig,
    NodeConfig, NodeConfigError, PeerConfig, ProgramConfig, ResearcherConfig, ServeConfig,
    SkillConfig, SkillKind, TelemetryConfig, TlsConfig, is_host_name,
};
pub use error::NodeError;
pub use follow::{Follow, Told};
pub use settings::NodeSettings;
pub use skill::{Agent, Broken, Echo, Llmcp, LlmcpTask, News, Program, Skill};

use self::core::{Closed, Core, Parts};
use crate::clock::now_ms;
use journal::Journal;
use machine::{Effect, Machine, Turn};
use notary::Notary;
use pins::Pins;

/// Cheap to clone; clones share everything. It goes on until it is stopped.
#[derive(Debug, Clone)]
pub struct Node(Arc<Core>);

/// How much a node has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeCounts {
    /// Open and suspended.
    pub sessions: usize,
    pub running_tasks: usize,
    /// Requests that wait for an answer.
    pub waiting_requests: usize,
    pub condition: Condition,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Serving,
    /// It finishes what it has to, and takes nothing new.
    Stopping,
    /// It cannot keep what it is told, so that it does nothing any more.
    Failed {
        why: String,
    },
}

impl Node {
    /// Takes up where the last one stopped. What ran then is reported as interrupted, but for tasks
    /// that last: these wait for [`Node::take_up`].
    pub async fn start(
        settings: NodeSettings,
        store: Store,
        peers: Peers,
        key: SigningKey,
    ) -> Result<Self, NodeError> {
        let NodeSettings { mut card, mut trust, replay, limits, skills, patience } = settings;
        card.public_key = HexBytes::from_hex(&key.public_key().to_hex());
        let at_once = IdentityCard::TASKS_AT_ONCE.to_owned();
        card.metadata.entry(at_once).or_insert_with(|| limits.running.to_string());
        if let Some(offered) = card.capabilities.iter().find(|it| !skills.contains_key(&it.name)) {
            return Err(NodeError::NoSuchSkill(offered.name.clone()));
        }
        let pins = Pins::new(peers);
        // Nobody else speaks in its name, whoever came with it first.
        trust.tie(&card.delegate_id, key.public_key());
        for PinnedKey { delegate_id, key, .. } in pins.all().await? {
            // Whoever is left out could be spoken for by anybody.
            trust
                .pin(&delegate_id, key)
                .map_err(|fault| NodeError::Unpinned { delegate_id, why: fault.to_string() })?;
        }
        let journal = Journal::new(store.clone());
        let now = Timestamp::from_millis(now_ms());
        let records = journal.state(limits.clone(), now).await?;
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| NodeError::NoRandom(error.to_string()))?;
        let mut moment = Moment::new(now, seed);
        let lasting = skills.iter().filter(|(_, skill)| skill.lasts());
        let lasting = lasting.map(|(name, _)| name.clone()).collect();
        let settings =
            DelegateSettings { card: card.clone(), trust: trust.clone(), replay, limits, lasting };
        let mut machine = Machine::new(
            Delegate::restore(settings, records, &mut moment),
            Notary::new(key.clone()),
        );
        // Nothing starts before it is written down what did not end.
        let Turn { records: interrupted, effects } = machine.drain(&skills, &mut moment, None);
        let order = |effect| match effect {
            Effect::Start(order, _) => Some(*order),
            _ => None,
        };
        let again = effects.into_iter().filter_map(order).collect();
        if !interrupted.is_empty() {
            let batch = Batch::of_peers(now.millis(), interrupted);
            let written = tokio::task::spawn_blocking(move || store.append_and_wait(batch));
            written.await.unwrap_or(Err(sabir_store::StoreError::Closed))?;
        }
        let card = Arc::new(card);
        let parts = Parts { card, key, trust, pins, skills, patience, journal, machine, again };
        let core = Core::new(parts);
        tokio::spawn(tick::run(Arc::downgrade(&core)));
        Ok(Self(core))
    }

    /// What this node publishes about itself.
    pub fn card(&self) -> Arc<IdentityCard> {
        Arc::clone(&self.0.card)
    }

    /// Signs for it.
    pub fn public_key(&self) -> PublicKey {
        self.0.key.public_key()
    }

    /// One message and its one answer, a sealed envelope. It takes no longer than the node's patience:
    /// who waits for a task that runs longer is told its state. Dropping it hangs up.
    pub async fn ask(&self, text: &str, channel: Channel) -> String {
        match self.0.take(text, channel).await {
            Ok(request) => request.answer().await,
            Err(refused) => refused,
        }
    }

    /// Like [`Node::ask`] for a TASK_SUBMIT, with the updates of its task: those after the number that
    /// is given, then those to come, then how it ended. A message that is refused, or is none of that
    /// kind, has its answer for a stream.
    pub async fn follow(&self, text: &str, channel: Channel, after: Option<u64>) -> Follow {
        match self.0.take_to_follow(text, channel).await {
            Ok((request, trail)) => Follow::new(request, trail, after),
            Err(refused) => Follow::of_one(refused),
        }
    }

    /// Waits until the node fails, and says why: what cannot be written down is not done any more.
    pub async fn failure(&self) -> String {
        loop {
            let failed = self.0.failure.notified();
            if let Some(Closed::Failed(why)) = self.0.closed.get() {
                return why.clone();
            }
            failed.await;
        }
    }

    /// How much its journal wrote since it was opened.
    pub fn journal_counts(&self) -> JournalCounts {
        self.0.journal.counts()
    }

    pub fn counts(&self) -> NodeCounts {
        let condition = match self.0.closed.get() {
            None => Condition::Serving,
            Some(Closed::Stopping) => Condition::Stopping,
            Some(Closed::Failed(why)) => Condition::Failed { why: why.clone() },
        };
        let machine = self.0.machine();
        NodeCounts {
            sessions: machine.delegate.sessions(),
            running_tasks: machine.delegate.running_tasks(),
            waiting_requests: machine.waiting.len(),
            condition,
        }
    }

    /// Goes on with what the last end cut off, once everything is there that it may need. Says how many
    /// tasks that are.
    pub fn take_up(&self) -> usize {
        let again = std::mem::take(
            &mut *self.0.again.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
        );
        // Under the lock: who was cancelled meanwhile does not begin, and who is cancelled from here
        // on is found among those that run.
        let machine = self.0.machine();
        let mut count = 0;
        for order in again {
            if machine.delegate.is_running(&order.key) {
                self.0.begin(order, None);
                count += 1;
            }
        }
        count
    }

    /// What runs now: the skills, and whether the next start goes on with the task.
    pub fn running(&self) -> Vec<(SkillName, bool)> {
        self.0.running().values().map(|it| (it.skill.clone(), it.lasts)).collect()
    }

    /// Takes no more work, and waits until all has ended that would be lost with a stop.
    pub async fn drain(&self) {
        let _ = self.0.closed.set(Closed::Stopping);
        loop {
            let next = self.0.running().values().find(|running| !running.lasts).cloned();
            match next {
                Some(running) => running.over.cancelled().await,
                None => return self.0.settled().await,
            }
        }
    }

    /// Takes no more work, ends what runs with everything that it started, and writes down that it was
    /// interrupted, unless it lasts. Whoever waits is answered.
    pub async fn stop(&self) {
        let _ = self.0.closed.set(Closed::Stopping);
        for running in self.0.stop_all() {
            // Those that do not end were told to; the next start says what became of them.
            let _ = timeout(PATIENCE_WITH_RUNNING, running.over.cancelled()).await;
        }
        self.0.settled().await;
        self.0.machine().waiting.clear();
    }
}

/// The key of the node of a home, made when there is none.
pub fn node_signing_key(home: &Path) -> Result<SigningKey, NodeError> {
    let draw = || {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(std::io::Error::other)?;
        Ok(seed)
    };
    Ok(SigningKey::from_seed(&*sabir_store::node_key(home, draw)?))
}

/// Longer than any skill takes to stop.
const PATIENCE_WITH_RUNNING: Duration = Duration::from_secs(25);
