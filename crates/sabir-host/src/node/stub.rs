//! Stub.
use sabir_ldp::{Record, TaskEnded, TaskKey, TaskUpdated};
use sabir_store::{Batch, Reader, SessionId, StoreError};
#[derive(Debug, Clone)]
pub struct Peers;
pub(super) trait OfPeers {
    fn of_peers(at_ms: u64, records: Vec<Record>) -> Batch;
}
impl OfPeers for Batch {
    fn of_peers(at_ms: u64, _records: Vec<Record>) -> Batch {
        Batch { session_id: SessionId::new(""), at_ms, entries: Vec::new() }
    }
}
pub(super) trait Reads {
    fn peer_state(&self, now_ms: u64, replay_ms: u64) -> Result<Vec<Record>, StoreError>;
    fn peer_task_ended(&self, key: &TaskKey) -> Result<Option<TaskEnded>, StoreError>;
    fn peer_task_updates(
        &self,
        key: &TaskKey,
        after: u64,
        limit: usize,
    ) -> Result<Vec<TaskUpdated>, StoreError>;
}
impl Reads for Reader {
    fn peer_state(&self, _now_ms: u64, _replay_ms: u64) -> Result<Vec<Record>, StoreError> {
        Ok(Vec::new())
    }
    fn peer_task_ended(&self, _key: &TaskKey) -> Result<Option<TaskEnded>, StoreError> {
        Ok(None)
    }
    fn peer_task_updates(
        &self,
        _key: &TaskKey,
        _after: u64,
        _limit: usize,
    ) -> Result<Vec<TaskUpdated>, StoreError> {
        Ok(Vec::new())
    }
}
