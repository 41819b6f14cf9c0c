//! The handle of the process that owns a home.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use crate::chain::Hash;
use crate::commits::Commits;
use crate::connection::{genesis, open_writer};
use crate::counts::{Counts, JournalCounts};
use crate::delegate::PeerTables;
use crate::entry::Batch;
use crate::error::StoreError;
use crate::gathering::CROWD;
use crate::journal::Broken;
use crate::projection::Projector;
use crate::queue::{Bounds, Queue};
use crate::reader::Reader;
use crate::writer::Writer;
use crate::{home, journal, tables};

/// Appends to the journal. Clones share one writer; when the last is dropped, what waits is written,
/// the file is closed and the home is free.
#[derive(Clone, Debug)]
pub struct Store(Arc<Owner>);

/// What can be said when a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Goes into the hash before the first entry, so that no other journal can take this one's place.
    /// Only a new store takes it, or a random one without it; an old one keeps what it was made with.
    pub store_id: Option<String>,
    /// The database never grows beyond this. A batch that does not fit fails, and with it the store.
    pub max_bytes: Option<u64>,
    /// Entries and bytes that may wait for the disk before `append` hands batches back.
    pub max_waiting_entries: usize,
    pub max_waiting_bytes: usize,
    /// Batches of peers that come at once, and whose tables may follow later. Readers see no difference.
    pub crowd: usize,
}

/// The entries of a batch are on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub first_seq: u64,
    pub last_seq: u64,
    /// The hash of the last one.
    pub hash: Hash,
}

/// What `append` hands back when too much waits for the disk.
pub struct Rejected<F> {
    pub batch: Batch,
    pub done: F,
}

#[derive(Debug)]
struct Owner {
    home: PathBuf,
    queue: Arc<Queue>,
    commits: Arc<Commits>,
    counts: Arc<Counts>,
    thread: Option<JoinHandle<()>>,
}

impl Store {
    /// Opens the store of `home`, and makes both when they are missing.
    ///
    /// # Errors
    ///
    /// When another process owns the home, when the file is damaged, newer than this program or
    /// changed near its end, and when the disk does not let us.
    pub fn open(home: &Path) -> Result<Self, StoreError> {
        Self::open_with(home, &Options::default())
    }

    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_with(home: &Path, options: &Options) -> Result<Self, StoreError> {
        let lock = home::own(home)?;
        let path = home::database_path(home);
        home::make_database_file(home, &path).map_err(|error| StoreError::io(&path, &error))?;
        let mut connection = open_writer(&path, options.max_bytes)?;
        tables::prepare(&mut connection, &path, options.store_id.as_deref())?;
        let mut look = || {
            let genesis = genesis(&connection)?;
            let head = journal::check_tail(&connection, genesis, TAIL)?;
            let crowd = options.crowd.max(1);
            Ok((head, PeerTables::open(&mut connection, genesis, head, crowd)?))
        };
        let (head, peers) = look().map_err(|broken: Broken| broken.at(&path))?;
        let (commits, counts) = (Arc::new(Commits::new(head.seq)), Arc::<Counts>::default());
        let writer = Writer {
            connection,
            lock,
            path: path.clone(),
            head,
            commits: Arc::clone(&commits),
            counts: Arc::clone(&counts),
            projector: Projector::default(),
            peers,
            failed: None,
            logged: 0,
        };
        let bounds =
            Bounds { entries: options.max_waiting_entries, bytes: options.max_waiting_bytes };
        let queue = Arc::new(Queue::new(bounds));
        let thread = thread::Builder::new()
            .name("sabir-store".to_owned())
            .spawn({
                let queue = Arc::clone(&queue);
                move || writer.run(&queue)
            })
            .map_err(|error| StoreError::io(&path, &error))?;
        let (home, thread) = (home.to_owned(), Some(thread));
        Ok(Self(Arc::new(Owner { home, queue, commits, counts, thread })))
    }

    /// Queues the batch; `done` is called on the writer's thread once it is on disk or has failed.
    /// It should be quick: the next batch waits for it.
    ///
    /// # Errors
    ///
    /// When too much waits for the disk: then nothing happened, and both come back.
    pub fn append<F>(&self, batch: Batch, done: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce(Result<Receipt, StoreError>) + Send + 'static,
    {
        let rejected = |(batch, done)| Rejected { batch, done };
        self.0.queue.try_append(batch, done).map_err(rejected)
    }

    /// Like [`Store::append`], but waits while too much waits for the disk.
    pub fn append_blocking(
        &self,
        batch: Batch,
        done: impl FnOnce(Result<Receipt, StoreError>) + Send + 'static,
    ) {
        self.0.queue.append(batch, Box::new(done));
    }

    /// Appends and waits until it is on disk. Never to be called from a `done`, which runs on the
    /// thread that this waits for.
    ///
    /// # Errors
    ///
    /// When the batch was not written.
    pub fn append_and_wait(&self, batch: Batch) -> Result<Receipt, StoreError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.append_blocking(batch, move |result| {
            // The receiver is there: it waits below.
            let _ = sender.send(result);
        });
        receiver.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Makes every table but the journal again, from the journal.
    ///
    /// # Errors
    ///
    /// When an entry cannot be read or the disk does not let us; the tables are then as before.
    pub fn rebuild(&self) -> Result<(), StoreError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.0.queue.rebuild(Box::new(move |result| {
            // The receiver is there: it waits below.
            let _ = sender.send(result);
        }));
        receiver.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// A reader of what has been acknowledged so far and of what follows.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened once more.
    pub fn reader(&self) -> Result<Reader, StoreError> {
        Reader::open(&self.0.home)
    }

    /// Has `told` called with the number of the last entry on disk: at once, and then on the writer's
    /// thread whenever there are more, before those who appended them hear of it. It should be quick:
    /// the next batch waits for it. It is dropped when the store closes, and must not hold the store.
    pub fn on_commit(&self, told: impl Fn(u64) + Send + Sync + 'static) {
        self.0.commits.listen(Box::new(told));
    }

    /// Has `begun` called on the writer's thread whenever it is about to write what was appended until
    /// then: while the disk works, what hangs on it can be made ready. It should be quick, as above, and
    /// must not hold the store either.
    pub fn before_commit(&self, begun: impl Fn() + Send + Sync + 'static) {
        self.0.commits.listen_before(Box::new(begun));
    }

    /// Has `lost` called once, when a write has failed and nothing more is taken, whoever wrote it; at
    /// once if that was before. It should be quick, as above, and must not hold the store either.
    pub fn on_failure(&self, lost: impl Fn(&StoreError) + Send + Sync + 'static) {
        self.0.commits.listen_for_failure(Box::new(lost));
    }

    /// How much was written since it was opened.
    #[must_use]
    pub fn counts(&self) -> JournalCounts {
        self.0.counts.get()
    }

    #[must_use]
    pub fn home(&self) -> &Path {
        &self.0.home
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            store_id: None,
            max_bytes: None,
            // A few transactions' worth: enough to keep the disk busy, little enough to lose nothing
            // but time when it is slow.
            max_waiting_entries: 16_384,
            max_waiting_bytes: 64 << 20,
            crowd: CROWD,
        }
    }
}

impl<F> fmt::Debug for Rejected<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").field("batch", &self.batch).finish_non_exhaustive()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.queue.close();
        let Some(thread) = self.thread.take() else { return };
        // The last handle may be one that a `done` held; the writer cannot wait for itself.
        if thread.thread().id() != thread::current().id() {
            // It has nothing to say that was not said to those who waited.
            let _ = thread.join();
        }
    }
}

/// How many entries at the end of the chain are checked at every start.
const TAIL: u64 = 64;
