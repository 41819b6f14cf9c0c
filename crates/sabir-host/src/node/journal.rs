//! What the node keeps on disk, as far as it asks for it: its records, and tasks that ended. It knows
//! the store, and nothing of what a record means.

use std::sync::{Arc, Mutex, PoisonError};

use sabir_ldp::{DelegateLimits, Record, TaskEnded, TaskKey, TaskUpdated, Timestamp};
use sabir_store::{Batch, JournalCounts, Reader, Receipt, Rejected, Store, StoreError};
use tokio::sync::Semaphore;

#[derive(Debug, Clone)]
pub(super) struct Journal {
    store: Store,
    readers: Arc<Readers>,
}

/// Connections that nobody reads from at the moment.
#[derive(Debug)]
struct Readers {
    idle: Mutex<Vec<Reader>>,
    /// Reads at once: more would only wait for each other, each on a thread.
    turns: Arc<Semaphore>,
}

/// Called on the writer's thread, when the records are on disk or have failed.
pub(super) type Written = Box<dyn FnOnce(Result<Receipt, StoreError>) + Send>;

impl Journal {
    pub(super) fn new(store: Store) -> Self {
        let readers = Readers { idle: Mutex::default(), turns: Arc::new(Semaphore::new(READERS)) };
        Self { store, readers: Arc::new(readers) }
    }

    pub(super) fn counts(&self) -> JournalCounts {
        self.store.counts()
    }

    /// Has `begun` called whenever the records of some are about to be written together.
    pub(super) fn before_commit(&self, begun: impl Fn() + Send + Sync + 'static) {
        self.store.before_commit(begun);
    }

    /// Has `lost` called when nothing more can be written, whoever found out.
    pub(super) fn on_failure(&self, lost: impl Fn(&StoreError) + Send + Sync + 'static) {
        self.store.on_failure(lost);
    }

    /// Hands both back when too much waits for the disk.
    pub(super) fn append(&self, batch: Batch, done: Written) -> Result<(), (Batch, Written)> {
        self.store.append(batch, done).map_err(|Rejected { batch, done }| (batch, done))
    }

    /// Waits for room.
    pub(super) fn append_blocking(&self, batch: Batch, done: Written) {
        self.store.append_blocking(batch, done);
    }

    /// What a delegate is restored from at this time.
    pub(super) async fn state(
        &self,
        limits: DelegateLimits,
        now: Timestamp,
    ) -> Result<Vec<Record>, StoreError> {
        self.read(move |reader| reader.peer_state(&limits, now)).await
    }

    pub(super) async fn task_ended(&self, key: TaskKey) -> Result<Option<TaskEnded>, StoreError> {
        self.read(move |reader| reader.peer_task_ended(&key)).await
    }

    pub(super) async fn updates(
        &self,
        key: TaskKey,
        after: u64,
        limit: usize,
    ) -> Result<Vec<TaskUpdated>, StoreError> {
        self.read(move |reader| reader.peer_task_updates(&key, after, limit)).await
    }

    /// The number of a task's last update; 0 if there is none.
    pub(super) async fn last_update(&self, key: TaskKey) -> Result<u64, StoreError> {
        self.read(move |reader| reader.peer_task_last_update(&key)).await
    }

    /// Reads where that blocks nobody.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (store, readers) = (self.store.clone(), Arc::clone(&self.readers));
        // A task of its own: whoever waits for this may be left alone for long, and must not hold a
        // turn meanwhile, or wait in line for one.
        let reading = tokio::spawn(async move {
            let turn = Arc::clone(&readers.turns).acquire_owned().await;
            let turn = turn.map_err(|_| StoreError::Closed)?;
            let reading = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                let idle = readers.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let reader = match idle {
                    Some(reader) => reader,
                    None => store.reader()?,
                };
                let found = read(&reader);
                if found.is_ok() {
                    readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
                }
                found
            });
            reading.await.unwrap_or(Err(StoreError::Closed))
        });
        reading.await.unwrap_or(Err(StoreError::Closed))
    }
}

const READERS: usize = 4;
