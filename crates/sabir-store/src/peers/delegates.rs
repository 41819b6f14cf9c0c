//! Delegates that this node knows: where they are, what their cards said, and whether they answered.

use rusqlite::{OptionalExtension as _, Row, params};
use sabir_ldp::DelegateId;
use serde::Serialize;

use super::limits::{MAX_DELEGATES, MAX_ERROR, MAX_JSON, MAX_LINE, check_room, check_size};
use super::{Peers, Trouble};
use crate::error::StoreError;
use crate::journal::{from_sql, to_sql};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownDelegate {
    pub url: String,
    /// As its card says; none before a card was read.
    pub delegate_id: Option<DelegateId>,
    /// The card as it was last read, as JSON.
    pub card: Option<String>,
    pub added_at_ms: u64,
    pub probed_at_ms: Option<u64>,
    /// Why the last probe failed.
    pub error: Option<String>,
}

/// What came of a look at a delegate's card.
#[derive(Clone, Copy, Debug)]
pub enum Probed<'a> {
    /// The card as JSON, and whose it is.
    Card {
        delegate_id: &'a DelegateId,
        card: &'a str,
    },
    Failed {
        error: &'a str,
    },
}

impl Peers {
    /// Keeps an address; one that is known stays as it is.
    ///
    /// # Errors
    ///
    /// When it is too long, when there are too many, and when the file cannot be written.
    pub fn add_delegate(&self, url: &str, at_ms: u64) -> Result<KnownDelegate, StoreError> {
        self.write(|transaction| {
            check_size("an address", url, MAX_LINE)?;
            if let Some(known) = find(transaction, url)? {
                return Ok(known);
            }
            if url.is_empty() {
                return Err(StoreError::Invalid { what: "an address", why: "it is empty" }.into());
            }
            check_room(transaction, "delegates", "delegates", MAX_DELEGATES)?;
            transaction
                .prepare_cached("INSERT INTO delegates (url, added_at_ms) VALUES (?1, ?2)")?
                .execute(params![url, to_sql(at_ms)])?;
            Ok(KnownDelegate {
                url: url.to_owned(),
                delegate_id: None,
                card: None,
                added_at_ms: at_ms,
                probed_at_ms: None,
                error: None,
            })
        })
    }

    /// Keeps what a look at its card brought; `false` when the address is not known. A failure leaves
    /// the card that was read before.
    ///
    /// # Errors
    ///
    /// When the card is too large or no JSON, and when the file cannot be written.
    pub fn record_probe(
        &self,
        url: &str,
        probed: Probed<'_>,
        at_ms: u64,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let at_ms = to_sql(at_ms);
            let changed = match probed {
                Probed::Card { delegate_id, card } => {
                    check_size("a card", card, MAX_JSON)?;
                    let mut statement = transaction.prepare_cached(
                        "UPDATE delegates SET delegate_id = ?2, card_json = ?3, probed_at_ms = ?4,
                             error = NULL WHERE url = ?1",
                    )?;
                    statement.execute(params![url, delegate_id.as_str(), card, at_ms])?
                }
                Probed::Failed { error } => {
                    let error = &error[..error.floor_char_boundary(MAX_ERROR)];
                    transaction
                        .prepare_cached(
                            "UPDATE delegates SET probed_at_ms = ?2, error = ?3 WHERE url = ?1",
                        )?
                        .execute(params![url, at_ms, error])?
                }
            };
            Ok(changed > 0)
        })
    }

    /// All of them, in the order in which they were added.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn delegates(&self) -> Result<Vec<KnownDelegate>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM delegates ORDER BY num");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], of)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Forgets those with this address or this delegate id, and says how many there were. Keys stay
    /// pinned: who comes back under an old name must be who it was.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn remove_delegate(&self, url_or_id: &str) -> Result<usize, StoreError> {
        self.write(|transaction| {
            let sql = "DELETE FROM delegates WHERE url = ?1 OR delegate_id = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([url_or_id])?)
        })
    }
}

const COLUMNS: &str = "url, delegate_id, card_json, added_at_ms, probed_at_ms, error";

fn find(connection: &rusqlite::Connection, url: &str) -> Result<Option<KnownDelegate>, Trouble> {
    let sql = format!("SELECT {COLUMNS} FROM delegates WHERE url = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([url], of).optional()?)
}

fn of(row: &Row<'_>) -> rusqlite::Result<KnownDelegate> {
    let delegate_id: Option<String> = row.get(1)?;
    Ok(KnownDelegate {
        url: row.get(0)?,
        delegate_id: delegate_id.and_then(|id| DelegateId::new(id).ok()),
        card: row.get(2)?,
        added_at_ms: from_sql(row.get(3)?),
        probed_at_ms: row.get::<_, Option<i64>>(4)?.map(from_sql),
        error: row.get(5)?,
    })
}
