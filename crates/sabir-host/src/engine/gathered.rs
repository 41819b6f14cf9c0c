//! What came out of a machine and is not on disk yet. While one part is being written, the next is
//! gathered; nothing of a part is shown or done before the part is on disk.

use std::future::Future;
use std::pin::Pin;

use sabir_engine::Output;
use sabir_policy::AuditRow;
use sabir_store::{Batch, Entry, Rejected, SessionId, Store};
use tokio::sync::oneshot;

use super::{Claim, Shown};
use crate::audit::Audit;

#[derive(Default)]
pub(super) struct Gathered {
    /// More than one only where the connection went over to another session.
    batches: Vec<Batch>,
    shown: Vec<Shown>,
    /// Of the lines in `shown`.
    bytes: usize,
    /// What the gate said, for the audit.
    pub(super) decided: Vec<AuditRow>,
    /// To be done.
    pub(super) todo: Vec<Output>,
    /// Sessions that were left: nobody else may open them before their end is on disk.
    pub(super) left: Vec<Claim>,
}

/// A part that is being written.
pub(super) struct Committing {
    pub(super) done: Pin<Box<dyn Future<Output = Result<(), String>> + Send>>,
    pub(super) shown: Vec<Shown>,
    pub(super) todo: Vec<Output>,
    _left: Vec<Claim>,
}

/// The most that is stored in one go: few events, so that a fast model does not delay what it says,
/// and few bytes, so that a flood of output is not held in memory.
const MOST_EVENTS: usize = 512;
const MOST_BYTES: usize = 512 * 1024;

impl Gathered {
    pub(super) fn is_full(&self) -> bool {
        self.shown.len() >= MOST_EVENTS || self.bytes >= MOST_BYTES
    }

    /// How many events wait here.
    pub(super) fn count(&self) -> usize {
        self.shown.len()
    }

    pub(super) fn show(&mut self, shown: Shown) {
        self.bytes += shown.line.len();
        self.shown.push(shown);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
            && self.shown.is_empty()
            && self.decided.is_empty()
            && self.todo.is_empty()
    }

    pub(super) fn keep(&mut self, session_id: &str, entry: Entry) {
        match self.batches.last_mut() {
            Some(batch) if batch.session_id.as_str() == session_id => batch.entries.push(entry),
            _ => self.batches.push(Batch {
                session_id: SessionId::new(session_id),
                at_ms: crate::clock::now_ms(),
                entries: vec![entry],
            }),
        }
    }

    /// Whether it was decided meanwhile that this is not wanted any more.
    pub(super) fn stops(&self, number: u64) -> bool {
        self.todo.iter().any(|output| match output {
            Output::HangUp { attempt: key } | Output::Stop { key } => *key == number,
            _ => false,
        })
    }

    pub(super) fn commit(self, store: &Store, audit: &Audit) -> Committing {
        let Self { batches, shown, bytes: _, decided, todo, left } = self;
        let (store, audit) = (store.clone(), audit.clone());
        let done = Box::pin(async move {
            for batch in batches {
                append(&store, batch).await?;
            }
            // Behind the journal: a question that only the journal knows is closed in both when the
            // session is resumed, and one that only the audit knew would stay open for ever.
            audit.keep(decided).await
        });
        Committing { done, shown, todo, _left: left }
    }
}

async fn append(store: &Store, batch: Batch) -> Result<(), String> {
    let (done, stored) = oneshot::channel();
    let taken = store.append(batch, move |result| {
        let _ = done.send(result.map(|_| ()));
    });
    if let Err(Rejected { batch, done }) = taken {
        // Too much waits for the disk. Whoever waits for room must not hold up others.
        let store = store.clone();
        tokio::task::spawn_blocking(move || store.append_blocking(batch, done));
    }
    match stored.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the store has stopped".to_owned()),
    }
}
