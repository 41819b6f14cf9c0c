//! What this node knows of others: delegates and their cards, the keys they are pinned to, trust
//! domains, how tasks went that were given to them, and a log of those tasks. `docs/protocol/peers.md`
//! has the rules.
//!
//! One file, `peers.db`, that any number of processes read and write at once. It knows no clock and no
//! network: times come with each call, and what a peer said is kept as it was given. Whom to trust and
//! whom to choose is decided elsewhere.

mod delegates;
mod delegations;
mod domains;
mod evidence;
mod limits;
mod pins;
mod tables;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connection::{PATIENCE, open_shared};
use crate::error::StoreError;
use crate::home;

pub use delegates::{KnownDelegate, Probed};
pub use delegations::{Delegation, DelegationStatus};
pub use pins::{PinnedKey, Pinning};

/// What is known of others. Clones share one connection, and wait for each other; a second `open` does
/// not.
#[derive(Clone)]
pub struct Peers(Arc<Opened>);

/// What can be said when the file is opened.
#[derive(Clone, Debug)]
pub struct PeersOptions {
    /// The file never grows beyond this; what does not fit is refused, as on a full disk.
    pub max_bytes: Option<u64>,
    /// How long to wait for others that write.
    pub patience: Duration,
}

struct Opened {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Peers {
    /// Opens what `home` knows of others, and makes home and file when they are missing.
    ///
    /// # Errors
    ///
    /// When the file is damaged, somebody else's or newer than this program, and when the disk does
    /// not let us.
    pub fn open(home: &Path) -> Result<Self, StoreError> {
        Self::open_with(home, &PeersOptions::default())
    }

    /// # Errors
    ///
    /// As [`Peers::open`].
    pub fn open_with(home: &Path, options: &PeersOptions) -> Result<Self, StoreError> {
        let path = home.join(FILE);
        let connection = Mutex::new(open_connection(home, &path, options)?);
        Ok(Self(Arc::new(Opened { path, connection })))
    }

    /// One snapshot for all that `work` looks at.
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let result = connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .map_err(Trouble::from)
            .and_then(|snapshot| work(&snapshot));
        result.map_err(|trouble| trouble.at(&self.0.path))
    }

    /// All of `work` or nothing of it; when this returns, it is on disk. Immediate, because a
    /// transaction that reads first and writes later would fail where another wrote in between.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let result = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Trouble::from)
            .and_then(|transaction| {
                let done = work(&transaction)?;
                transaction.commit()?;
                Ok(done)
            });
        result.map_err(|trouble| trouble.at(&self.0.path))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic rolled its transaction back; what is behind the lock is as it was.
        self.0.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open_connection(
    home: &Path,
    path: &Path,
    options: &PeersOptions,
) -> Result<Connection, StoreError> {
    let io = |error: std::io::Error| StoreError::io(path, &error);
    let database = |error: rusqlite::Error| StoreError::database(path, &error);
    if !path.exists() {
        home::make_folder(home).map_err(io)?;
        home::make_database_file(home, path).map_err(io)?;
    }
    let mut connection =
        open_shared(path, options.max_bytes, options.patience).map_err(database)?;
    if tables::is_newest(&connection, path)? {
        return Ok(connection);
    }
    // One at a time makes or changes the tables: switching a file to a write-ahead log does not wait
    // for others, it fails.
    let turn = home::open_private(&home.join("peers.lock")).map_err(io)?;
    turn.lock().map_err(io)?;
    connection.execute_batch("PRAGMA journal_mode = WAL").map_err(database)?;
    tables::prepare(&mut connection, path)?;
    Ok(connection)
}

/// What stops a piece of work, before it is known at which file.
enum Trouble {
    Database(rusqlite::Error),
    Refused(StoreError),
}

impl Trouble {
    fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Database(error) => StoreError::database(path, &error),
            Self::Refused(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl Default for PeersOptions {
    fn default() -> Self {
        Self { max_bytes: None, patience: PATIENCE }
    }
}

impl std::fmt::Debug for Peers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peers").field("path", &self.0.path).finish_non_exhaustive()
    }
}

/// In the home.
const FILE: &str = "peers.db";
