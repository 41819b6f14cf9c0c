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

    /// Whether it stops by itself when a contract's deadline comes.
    fn keeps_deadlines(&self) -> bool;

    /// Takes leave.
    fn close(&self) -> BoxFuture<'_, ()>;
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
