//! What does the work of a task, behind one small trait. A skill is given an order and says what
//! comes of it; it knows no session, no message and no journal.

mod agent;
mod blocker;
mod echo;
pub(crate) mod llmcp;
mod program;
pub(crate) mod words;

use std::fmt;

use futures_util::future::BoxFuture;
use sabir_ldp::{Finished, LdpError, Refusal, TaskEvent, TaskOrder, Usage, canonical_value};
use sabir_policy::{Bounds, UnreadableBounds};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use agent::Agent;
pub use echo::Echo;
pub use llmcp::{Llmcp, LlmcpTask};
pub use program::Program;

/// An output as it can be signed. A number that has no canonical form would be another one elsewhere, so
/// that what has one is told as a text.
pub(super) fn signable(output: Value) -> Value {
    // A text always has such a form, and nobody needs to see it.
    if output.is_string() || canonical_value(&output).is_ok() {
        return output;
    }
    Value::String(output.to_string())
}

pub trait Skill: Send + Sync + fmt::Debug {
    /// What comes of a task that takes no time and touches nothing. It is done while everybody waits,
    /// and is written down together with the order.
    fn at_once(&self, _order: &TaskOrder) -> Option<Finished> {
        None
    }

    /// Whether a task that was cut off by the end of the node is started once more by the next start.
    /// Whoever says so knows from the order that it was, and does nothing twice that must not be.
    fn lasts(&self) -> bool {
        false
    }

    /// Does the task. It ends soon after `news` says stop, with what there was.
    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>>;
}

/// A task that came to nothing, or not to all.
#[derive(Debug)]
pub struct Broken {
    /// Its `partial_output` is what there was.
    pub error: Box<LdpError>,
    pub usage: Usage,
}

impl Broken {
    pub fn new(why: impl Into<String>) -> Self {
        let error = Box::new(Refusal::TaskFailed.error(why));
        Self { error, usage: Usage::default() }
    }
}

/// What whoever handed the task on may do itself, if it is an agent of this node. What cannot be read
/// is no permission.
pub(crate) fn bounds_of(order: &TaskOrder) -> Result<Vec<Bounds>, Broken> {
    let constraints = order.contract.as_ref().map(|it| it.policy.safety_constraints.as_slice());
    Bounds::of_constraints(constraints.unwrap_or_default()).map_err(|UnreadableBounds| {
        Broken::new("its contract says what the agent that asks may do, and that cannot be read")
    })
}

/// The line between a task that runs and the node.
#[derive(Debug, Clone)]
pub struct News {
    tell: mpsc::Sender<TaskEvent>,
    stop: CancellationToken,
}

impl News {
    /// Also gives the end at which the news come out.
    pub fn new(stop: CancellationToken) -> (Self, mpsc::Receiver<TaskEvent>) {
        let (tell, heard) = mpsc::channel(ON_THE_WAY);
        (Self { tell, stop }, heard)
    }

    /// Waits while too much is on its way: a task that talks faster than the disk writes is slowed.
    pub async fn progress(&self, message: impl Into<String>) {
        self.send(TaskEvent::Progress { message: Some(message.into()), progress: None }).await;
    }

    /// What was used up so far, in total.
    pub async fn usage(&self, usage: Usage) {
        self.send(TaskEvent::Usage(usage)).await;
    }

    pub async fn waiting_for_approval(&self, what: impl Into<String>) {
        self.send(TaskEvent::WaitingForApproval { what: what.into() }).await;
    }

    /// Set when the task is to stop.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    async fn send(&self, event: TaskEvent) {
        // Nobody listens any more when the task was cut off.
        let _ = self.tell.send(event).await;
    }
}

const ON_THE_WAY: usize = 16;
