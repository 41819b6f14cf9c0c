//! How much is kept. What peers say is bounded by number and size, so that nobody fills the disk by
//! being talked to.

use super::Trouble;
use crate::error::StoreError;

/// Addresses, names of domains, origins.
pub(super) const MAX_LINE: usize = 2 << 10;
/// A card, a choice, a provenance record.
pub(super) const MAX_JSON: usize = 1 << 20;
/// Why a probe failed; it is cut there.
pub(super) const MAX_ERROR: usize = 2 << 10;
/// As many as a router takes.
pub(super) const MAX_DELEGATES: usize = 100_000;
/// As many as a node enforces: a key that is kept and not enforced protects nobody.
pub(super) const MAX_PINS: usize = 10_000;
pub(super) const MAX_DOMAINS: usize = 10_000;
/// Beyond this the ones that were changed longest ago go.
pub(super) const MAX_TALLIES: usize = 100_000;
/// Beyond this the oldest that are not running go.
pub(super) const MAX_DELEGATIONS: usize = 100_000;
/// Rows in one answer of the log.
pub(super) const MAX_ROWS: usize = 10_000;

pub(super) fn check_size(what: &'static str, text: &str, limit: usize) -> Result<(), Trouble> {
    if text.len() > limit {
        return Err(StoreError::TooLarge { what, bytes: text.len(), limit }.into());
    }
    Ok(())
}

/// Whether there is room for one row more.
pub(super) fn check_room(
    connection: &rusqlite::Connection,
    what: &'static str,
    table: &'static str,
    limit: usize,
) -> Result<(), Trouble> {
    let sql = format!("SELECT count(*) FROM {table}");
    let rows: i64 = connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
    match usize::try_from(rows).unwrap_or(usize::MAX) < limit {
        true => Ok(()),
        false => Err(StoreError::TooMany { what, limit }.into()),
    }
}
