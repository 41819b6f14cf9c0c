//! Keys that delegates are known by. The first one stays until somebody takes it away: a peer that
//! comes with another is not believed.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sabir_ldp::{DelegateId, PublicKey};

use super::limits::{MAX_LINE, MAX_PINS, check_room, check_size};
use super::{Peers, Trouble};
use crate::error::StoreError;
use crate::journal::{from_sql, to_sql};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedKey {
    pub delegate_id: DelegateId,
    pub key: PublicKey,
    /// Where the key was first seen: an address, or who gave it.
    pub origin: String,
    pub pinned_at_ms: u64,
}

/// What came of pinning a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// It was the first.
    Pinned,
    /// It is the one that was pinned before.
    Same,
    /// Another one was, and still is.
    Other(Box<PinnedKey>),
}

impl Peers {
    /// Pins a key, unless the delegate has another.
    ///
    /// # Errors
    ///
    /// When there are too many, and when the file cannot be written.
    pub fn pin(
        &self,
        delegate_id: &DelegateId,
        key: &PublicKey,
        origin: &str,
        at_ms: u64,
    ) -> Result<Pinning, StoreError> {
        self.write(|transaction| {
            match find(transaction, delegate_id)? {
                Some(pinned) if pinned.key == *key => return Ok(Pinning::Same),
                Some(pinned) => return Ok(Pinning::Other(Box::new(pinned))),
                None => {}
            }
            check_size("an origin", origin, MAX_LINE)?;
            check_room(transaction, "pinned keys", "pinned_keys", MAX_PINS)?;
            let mut statement = transaction.prepare_cached(
                "INSERT INTO pinned_keys (delegate_id, public_key, origin, pinned_at_ms)
                 VALUES (?1, ?2, ?3, ?4)",
            )?;
            statement.execute(params![
                delegate_id.as_str(),
                key.to_hex(),
                origin,
                to_sql(at_ms)
            ])?;
            Ok(Pinning::Pinned)
        })
    }

    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn pinned_key(&self, delegate_id: &DelegateId) -> Result<Option<PinnedKey>, StoreError> {
        self.read(|connection| find(connection, delegate_id))
    }

    /// All of them, by delegate.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn pinned_keys(&self) -> Result<Vec<PinnedKey>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM pinned_keys ORDER BY delegate_id");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], of)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Takes a key away, so that another can be pinned; `false` when there was none.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn unpin(&self, delegate_id: &DelegateId) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let sql = "DELETE FROM pinned_keys WHERE delegate_id = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([delegate_id.as_str()])? > 0)
        })
    }
}

const COLUMNS: &str = "delegate_id, public_key, origin, pinned_at_ms";

fn find(connection: &Connection, id: &DelegateId) -> Result<Option<PinnedKey>, Trouble> {
    let sql = format!("SELECT {COLUMNS} FROM pinned_keys WHERE delegate_id = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([id.as_str()], of).optional()?)
}

/// A key that cannot be read is an error, never no key: or the next one would be believed.
fn of(row: &Row<'_>) -> rusqlite::Result<PinnedKey> {
    let unreadable = |index, error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Text, error)
    };
    let delegate_id = DelegateId::new(row.get::<_, String>(0)?);
    let key = PublicKey::from_hex(row.get_ref(1)?.as_str()?);
    Ok(PinnedKey {
        delegate_id: delegate_id.map_err(|error| unreadable(0, error.into()))?,
        key: key.map_err(|error| unreadable(1, error.to_string().into()))?,
        origin: row.get(2)?,
        pinned_at_ms: from_sql(row.get(3)?),
    })
}
