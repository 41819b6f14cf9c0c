//! What the node keeps on disk, as far as it asks for it: its records, and tasks that ended. It knows
//! the store, and nothing of what a record means.

use sabir_ldp::{Record, TaskEnded, TaskKey, TaskUpdated};
use sabir_store::{Receipt, Store, StoreError};

#[derive(Debug)]
pub(super) struct Journal {
    store: Store,
}

/// Called on the writer's thread, when the records are on disk or have failed.
pub(super) type Written = Box<dyn FnOnce(Result<Receipt, StoreError>) + Send>;

impl Journal {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }

    pub(super) fn append(
        &self,
        _records: Vec<Record>,
        _at_ms: u64,
        _done: Written,
    ) -> Result<(), (Vec<Record>, Written)> {
        let _ = &self.store;
        Ok(())
    }

    pub(super) fn state(&self, _now_ms: u64, _replay_ms: u64) -> Result<Vec<Record>, StoreError> {
        Ok(Vec::new())
    }

    pub(super) fn task_ended(&self, _key: &TaskKey) -> Result<Option<TaskEnded>, StoreError> {
        Ok(None)
    }

    pub(super) fn updates(
        &self,
        _key: &TaskKey,
        _after: u64,
        _limit: usize,
    ) -> Result<Vec<TaskUpdated>, StoreError> {
        Ok(Vec::new())
    }
}
