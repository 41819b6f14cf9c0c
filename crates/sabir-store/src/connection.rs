//! How the database is opened: by its one writer, and by any number of readers.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::chain::{Hash, genesis_hash};
use crate::error::StoreError;

pub(crate) fn open_writer(path: &Path, max_bytes: Option<u64>) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        // FULL: the write-ahead log is synced at every commit, so that what was acknowledged
        // survives the loss of power. The checkpoint is ours to run, after the acknowledgement.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA trusted_schema = OFF;
             PRAGMA wal_autocheckpoint = 0;
             PRAGMA journal_size_limit = 67108864;",
        )?;
        if let Some(max_bytes) = max_bytes {
            let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let pages = i64::try_from(max_bytes).unwrap_or(i64::MAX) / page.max(1);
            // It answers with what it set, which is no error.
            connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
        }
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    };
    open().map_err(|error| StoreError::database(path, &error))
}

pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    };
    open().map_err(|error| StoreError::database(path, &error))
}

pub(crate) fn store_id(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("SELECT value FROM meta WHERE key = 'store_id'", [], |row| row.get(0))
}

pub(crate) fn genesis(connection: &Connection) -> rusqlite::Result<Hash> {
    store_id(connection).map(|store_id| genesis_hash(&store_id))
}

/// Readers never block the writer nor the writer them; what is waited for is the recovery of the log
/// after a crash, by whoever comes first.
const PATIENCE: Duration = Duration::from_secs(10);

/// More than the statements there are, so that none is prepared twice.
const STATEMENTS: usize = 64;
