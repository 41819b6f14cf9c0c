//! What a person collects, asks and makes: collections, sources and their versions, the jobs that
//! fetch them, conversations, artifacts, runs of models, citations, approvals, the audit of the gate,
//! and a search over it all. `docs/protocol/library.md` has the rules.
//!
//! One file, `library.db`, that any number of processes read and write at once. It knows no clock and
//! no randomness: times come with each call, the randomness of ids comes with [`Library::open`]. It
//! fetches nothing, judges nothing and redacts nothing; it keeps what it is given, and says so once it
//! is on disk.

mod approvals;
mod artifacts;
mod audit;
mod chat;
mod citations;
mod collections;
mod error;
mod ids;
mod jobs;
mod limits;
mod named;
mod query;
mod rows;
mod runs;
mod search;
mod sources;
mod tables;
mod verify;
mod versions;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connection::{PATIENCE, open_reader, open_shared};
use crate::error::StoreError;
use crate::home;

pub use approvals::{Approval, ApprovalAnswer, ApprovalState, NewApproval, Spent};
pub use artifacts::{Artifact, ArtifactStatus, Begun, NewArtifact};
pub use audit::{
    AuditHead, AuditLink, AuditOutcome, AuditRow, NewAudit, audit_genesis, audit_hash,
};
pub use chat::{ChatEvent, ChatRole, NewChatEvent, Turn};
pub use citations::{Citation, CitationStatus, NewCitation};
pub use collections::{Collection, CollectionCounts};
pub use error::{LibraryError, Unsound};
pub use ids::{
    ApprovalId, ArtifactId, AuditId, ChatId, CitationId, CollectionId, Ids, JobId, RunId, SourceId,
    VersionId, WorkerId,
};
pub use jobs::{Enqueued, Freshness, JobCounts, JobState, JobStatus, Queueing};
pub use limits::{MAX_ADDRESS, MAX_BODY, MAX_MESSAGE, MAX_PACKET, MAX_QUERY, MAX_TITLE};
pub use runs::{NewRun, Run};
pub use search::{Hit, Matching, SearchRequest, Snippet};
pub use sources::{Fault, NewSource, Origin, Source, SourceKind, SourceStatus};
pub use verify::LibraryVerified;
pub use versions::{Captured, SourceLink, Version, VersionText};
pub use worker::{Finished, Found, InLine, Job, Outcome, Put, Retry, TakenOver, Whose, Worker};

pub(crate) use rows::AsJson;

use error::Trouble;

/// An open library. Clones share one connection, and wait for each other; a second `open` does not.
#[derive(Clone)]
pub struct Library(Arc<Opened>);

/// What can be said when a library is opened.
#[derive(Clone, Debug)]
pub struct LibraryOptions {
    /// The file never grows beyond this; what does not fit is refused, as on a full disk.
    pub max_bytes: Option<u64>,
    /// How long to wait for others that write.
    pub patience: Duration,
}

struct Opened {
    home: PathBuf,
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    connection: Connection,
    ids: Box<dyn Ids + Send>,
}

impl Library {
    /// Opens the library of `home`, and makes both when they are missing.
    ///
    /// # Errors
    ///
    /// When the file is damaged, somebody else's or newer than this program, and when the disk does
    /// not let us.
    pub fn open(home: &Path, ids: impl Ids + Send + 'static) -> Result<Self, LibraryError> {
        Self::open_with(home, ids, &LibraryOptions::default())
    }

    /// Opens the library of `home` if there is one, and makes none. Where nothing can be written, it
    /// can be read.
    ///
    /// # Errors
    ///
    /// As [`Library::open`].
    pub fn open_existing(
        home: &Path,
        ids: impl Ids + Send + 'static,
    ) -> Result<Option<Self>, LibraryError> {
        let path = home.join(FILE);
        match path.try_exists() {
            Ok(true) => match Self::open(home, ids) {
                Err(error @ (LibraryError::ReadOnly { .. } | LibraryError::Io { .. })) => {
                    Self::open_to_read(home).map(Some).map_err(|_| error)
                }
                opened => opened.map(Some),
            },
            Ok(false) => Ok(None),
            Err(error) => Err(LibraryError::io(&path, &error)),
        }
    }

    /// Opens the library of `home` to look at it, also where nothing can be written; whoever writes
    /// all the same is told that it is read-only.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be read as it is.
    pub fn open_to_read(home: &Path) -> Result<Self, LibraryError> {
        let path = home.join(FILE);
        let connection = open_reader(&path).map_err(|error| match error {
            StoreError::Io { path, why } => LibraryError::Io { path, why },
            other => LibraryError::Io { path: path.clone(), why: other.to_string() },
        })?;
        if !tables::is_newest(&connection, &path)? {
            return Err(LibraryError::ReadOnly { path });
        }
        // Nothing is made, so that nothing needs a name.
        let state = Mutex::new(State { connection, ids: Box::new(|| [0; 10]) });
        Ok(Self(Arc::new(Opened { home: home.to_owned(), path, state })))
    }

    /// # Errors
    ///
    /// As [`Library::open`].
    pub fn open_with(
        home: &Path,
        ids: impl Ids + Send + 'static,
        options: &LibraryOptions,
    ) -> Result<Self, LibraryError> {
        let path = home.join(FILE);
        let mut ids = Box::new(ids);
        let connection = open_connection(home, &path, options, &mut *ids)?;
        let state = Mutex::new(State { connection, ids });
        Ok(Self(Arc::new(Opened { home: home.to_owned(), path, state })))
    }

    #[must_use]
    pub fn home(&self) -> &Path {
        &self.0.home
    }

    /// One snapshot for all that `work` looks at.
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, LibraryError> {
        let mut state = self.state();
        let result = state
            .connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .map_err(Trouble::from)
            .and_then(|snapshot| work(&snapshot));
        result.map_err(|trouble| trouble.at(&self.0.path))
    }

    /// All of `work` or nothing of it; when this returns, it is on disk. Immediate, because a
    /// transaction that reads first and writes later would fail where another wrote in between.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>, &mut dyn Ids) -> Result<T, Trouble>,
    ) -> Result<T, LibraryError> {
        let mut state = self.state();
        let State { connection, ids } = &mut *state;
        let result = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Trouble::from)
            .and_then(|transaction| {
                let done = work(&transaction, &mut **ids)?;
                transaction.commit()?;
                Ok(done)
            });
        result.map_err(|trouble| trouble.at(&self.0.path))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic rolled its transaction back; what is behind the lock is as it was.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open_connection(
    home: &Path,
    path: &Path,
    options: &LibraryOptions,
    ids: &mut dyn Ids,
) -> Result<Connection, LibraryError> {
    let io = |error: std::io::Error| LibraryError::io(path, &error);
    let database = |error: rusqlite::Error| Trouble::from(error).at(path);
    if !path.exists() {
        home::make_folder(home).map_err(io)?;
        home::make_database_file(home, path).map_err(io)?;
    }
    let mut connection =
        open_shared(path, options.max_bytes, options.patience).map_err(database)?;
    if tables::is_newest(&connection, path)? {
        return Ok(connection);
    }
    // One at a time makes or changes the tables. A lock of the system, because switching a file to
    // a write-ahead log does not wait for others, it fails.
    let turn = home::open_private(&home.join("library.lock")).map_err(io)?;
    turn.lock().map_err(io)?;
    connection.execute_batch("PRAGMA journal_mode = WAL").map_err(database)?;
    tables::prepare(&mut connection, path, ids)?;
    Ok(connection)
}

/// In the home.
const FILE: &str = "library.db";

impl Default for LibraryOptions {
    fn default() -> Self {
        Self { max_bytes: None, patience: PATIENCE }
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("path", &self.0.path).finish_non_exhaustive()
    }
}
