//! What all requests share.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use sabir_host::record::RecordError;
use sabir_store::library::{Library, LibraryError};
use sabir_store::peers::Peers;
use sabir_store::{Reader, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::changes::Changes;
use crate::door::Door;
use crate::refused::Refused;
use crate::setup::ConsoleSetup;

#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) setup: ConsoleSetup,
    pub(crate) door: Door,
    pub(crate) changes: Changes,
    /// Questions, captures and looks at delegates that are under way.
    errands: Arc<Semaphore>,
    /// Streams that are open.
    streams: Arc<Semaphore>,
}

impl Console {
    pub(crate) fn new(setup: ConsoleSetup) -> Arc<Self> {
        let door = Door::new(setup.token.clone(), setup.plain_login);
        Arc::new(Self {
            door,
            changes: Changes::default(),
            errands: Arc::new(Semaphore::new(MOST_ERRANDS)),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            setup,
        })
    }

    /// A place for something that takes long; it is free again when it is over.
    pub(crate) fn errand(&self) -> Result<OwnedSemaphorePermit, Refused> {
        let place = Arc::clone(&self.errands).try_acquire_owned();
        place.map_err(|_| Refused::busy("too much is being asked at once: try again later"))
    }

    pub(crate) fn stream(&self) -> Result<OwnedSemaphorePermit, Refused> {
        let place = Arc::clone(&self.streams).try_acquire_owned();
        place.map_err(|_| Refused::busy("too many streams are open: close other pages"))
    }

    /// A call of the library, where it blocks nobody.
    pub(crate) async fn library<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Library) -> Result<T, LibraryError> + Send + 'static,
    ) -> Result<T, Refused> {
        let library = self.setup.desk.library().clone();
        Ok(tokio::task::spawn_blocking(move || work(&library)).await??)
    }

    /// The same for what is known of others.
    pub(crate) async fn peers<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Peers) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Refused> {
        let peers = self.setup.peers.clone();
        Ok(tokio::task::spawn_blocking(move || work(&peers)).await??)
    }

    /// The same for the node's own journal. One that is not there yet has nothing to read.
    pub(crate) async fn read<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Refused> {
        let home = self.setup.home.clone();
        let read = tokio::task::spawn_blocking(move || match Reader::open(&home) {
            Ok(reader) => work(&reader),
            Err(StoreError::Missing { .. }) => Ok(T::default()),
            Err(error) => Err(error),
        });
        Ok(read.await??)
    }

    /// The same for all that is written down in the home.
    pub(crate) async fn record<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, RecordError> + Send + 'static,
    ) -> Result<T, Refused> {
        let home = self.setup.home.clone();
        Ok(tokio::task::spawn_blocking(move || work(&home)).await??)
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Each may fetch pages and ask a model.
const MOST_ERRANDS: usize = 16;
/// Each costs a few kilobytes.
const MOST_STREAMS: usize = 2048;
