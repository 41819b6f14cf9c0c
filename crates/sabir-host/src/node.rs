//! The node: a delegate that is served. It drives the machine of the protocol with a clock, a
//! journal and skills, one turn at a time, and does nothing before it is on disk.
//!
//! It takes messages as texts and answers with texts. How they travel is for others.

mod approvals;
mod error;
mod follow;
mod journal;
mod settings;
mod skill;

use std::sync::Arc;

use sabir_ldp::{Channel, IdentityCard, SigningKey};
use sabir_store::Store;

pub use approvals::{Approval, Approvals, Decision, NotWaiting};
pub use error::NodeError;
pub use follow::{Follow, Told};
pub use settings::NodeSettings;
pub use skill::{Broken, Echo, News, Skill};

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Node(Arc<IdentityCard>);

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
    /// Takes up where the last one stopped: what ran then is reported as interrupted.
    pub async fn start(
        settings: NodeSettings,
        _store: Store,
        _key: SigningKey,
    ) -> Result<Self, NodeError> {
        Ok(Self(Arc::new(settings.card)))
    }

    /// What this node publishes about itself.
    pub fn card(&self) -> Arc<IdentityCard> {
        Arc::clone(&self.0)
    }

    /// One message and its one answer, a sealed envelope. It takes no longer than the node's patience:
    /// who waits for a task that runs longer is told its state.
    pub async fn ask(&self, _text: &str, _channel: Channel) -> String {
        String::new()
    }

    /// Like [`Node::ask`] for a TASK_SUBMIT, with the updates of its task: those after the number that
    /// is given, then those to come, then how it ended.
    pub async fn follow(&self, _text: &str, _channel: Channel, _after: Option<u64>) -> Follow {
        Follow::new(Box::pin(futures_util::stream::empty()))
    }

    pub fn counts(&self) -> NodeCounts {
        let condition = Condition::Serving;
        NodeCounts { sessions: 0, running_tasks: 0, waiting_requests: 0, condition }
    }

    /// Takes no more work, ends what runs with everything that it started, and writes down that it was
    /// interrupted.
    pub async fn stop(&self) {}
}
