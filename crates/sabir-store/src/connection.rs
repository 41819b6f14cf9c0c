//! How the database is opened: by its one writer, and by any number of readers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::chain::{Hash, genesis_hash};
use crate::error::StoreError;

pub(crate) fn open_writer(path: &Path, max_bytes: Option<u64>) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = open_shared(path, max_bytes, PATIENCE)?;
        // The checkpoint is ours to run, after the acknowledgement. What is deleted is overwritten:
        // keys of sessions are among it.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA wal_autocheckpoint = 0;
             PRAGMA secure_delete = ON;",
        )?;
        Ok(connection)
    };
    open().map_err(|error| StoreError::database(path, &error))
}

/// Open for writing, by one process or several.
pub(crate) fn open_shared(
    path: &Path,
    max_bytes: Option<u64>,
    patience: Duration,
) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    // FULL: the write-ahead log is synced at every commit, so that what was acknowledged survives
    // the loss of power.
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
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
}

pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |name: &Path, flags| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // The first look at the file is where it shows whether it can be read at all.
        connection.pragma_query_value(None, "schema_version", |_| Ok(()))?;
        Ok(connection)
    };
    match open(path, flags) {
        Err(_) if is_not_to_be_written(path) => {
            // Readers and writers share a file beside the database that cannot be made here. Nobody
            // needs it when nobody writes, which is so when nothing is left in the log.
            let log = with_ending(path, "-wal");
            if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
                return Err(StoreError::Io { path: log, why: UNMERGED.to_owned() });
            }
            open(&address_of_unchanging(path), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        opened => opened,
    }
    .map_err(|error| StoreError::database(path, &error))
}

const UNMERGED: &str = "it cannot be written, and this log holds entries that have to be merged \
                        into the file beside it first; copy the folder to where it can be written, and \
                        name the copy with --home DIR";

/// Asking to write an existing file changes nothing in it.
fn is_not_to_be_written(path: &Path) -> bool {
    let opened = std::fs::OpenOptions::new().write(true).open(path);
    opened.is_err_and(|error| {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        matches!(error.kind(), ReadOnlyFilesystem | PermissionDenied)
    })
}

/// For a file that nobody changes while it is read.
fn address_of_unchanging(path: &Path) -> PathBuf {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(char::from(*byte));
            }
            other => address.push_str(&format!("%{other:02x}")),
        }
    }
    address.push_str("?immutable=1");
    PathBuf::from(address)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

pub(crate) fn store_id(connection: &Connection) -> rusqlite::Result<String> {
    let sql = "SELECT value FROM meta WHERE key = 'store_id'";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

pub(crate) fn genesis(connection: &Connection) -> rusqlite::Result<Hash> {
    store_id(connection).map(|store_id| genesis_hash(&store_id))
}

/// Readers never block a writer nor a writer them; what is waited for is the recovery of the log after
/// a crash, by whoever comes first, and in a file with several writers the one whose turn it is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// More than the statements there are, so that none is prepared twice.
const STATEMENTS: usize = 128;
