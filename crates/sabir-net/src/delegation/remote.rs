//! Somebody elsewhere who does tasks, whatever protocol they speak.

use futures_util::future::BoxFuture;
use sabir_ldp::{
    Contract, DelegateId, IdentityCard, LdpError, Payload, PayloadMode, Provenance, SessionId,
    SkillName, TaskId, UpdateOf,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::request::TaskInput;

/// A delegate that can be given a task.
pub(crate) trait Remote: Send + Sync {
    /// Who it is and what it offers. For those who have no such card, one is made of what they say.
    fn card(&self) -> &IdentityCard;

    /// Does one task. When `stop` is cancelled it is asked to stop, and the answer is an error.
    fn perform<'a>(
        &'a self,
        job: &'a Job,
        news: &'a mpsc::Sender<News>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Product, LdpError>>;

    /// Who speaks here, as far as can be told by now.
    fn speaker(&self) -> Speaker {
        Speaker::Itself
    }

    /// Whether it stops by itself when a contract's deadline comes.
    fn keeps_deadlines(&self) -> bool;

    /// Takes leave.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Whether who answers is the delegate that its card names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// It proved so, or is one that nobody could tell from others.
    Itself,
    SomebodyElse,
    /// It has not answered at all.
    Unknown,
}

/// A task as all protocols need it.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) task_id: TaskId,
    pub(crate) skill: SkillName,
    pub(crate) input: TaskInput,
    pub(crate) payload: Payload,
    pub(crate) contract: Option<Contract>,
    pub(crate) path: Vec<DelegateId>,
    /// It was given away before, and is taken back, where the protocol can say so.
    pub(crate) is_withdrawn: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum News {
    Opened { session: SessionId, mode: PayloadMode },
    Progress(UpdateOf),
}

/// What came of it. Nobody has verified it yet.
#[derive(Debug, Clone)]
pub(crate) struct Product {
    pub(crate) output: Value,
    pub(crate) provenance: Provenance,
    pub(crate) mode: PayloadMode,
    pub(crate) signed_record: Option<Value>,
}
