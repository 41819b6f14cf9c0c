//! How far the tables of a delegate follow the journal. Under load they are behind it by a few entries,
//! because a page of a table that is changed by every task costs as much for one as for hundreds. The
//! entries after the mark are the tail: who reads looks at them where they stand.

use std::cell::OnceCell;

use rusqlite::{Connection, OptionalExtension as _};
use sabir_ldp::{Record, read_records};

use crate::chain::Hash;
use crate::entry::Kind;
use crate::error::Tampered;
use crate::journal::{Broken, UNREADABLE, from_sql, head_at, to_sql, walk};
use crate::tables;

/// The number of the last entry that the tables know of; none in a file that an older program wrote,
/// whose tables know all of them.
pub(crate) fn mark(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    if !tables::has_mark(connection)? {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached("SELECT seq FROM peer_mark")?;
    let seq: Option<i64> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(Some(seq.map_or(0, from_sql)))
}

pub(crate) fn set_mark(connection: &Connection, seq: u64) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO peer_mark (one, seq) VALUES (1, ?1)";
    connection.prepare_cached(sql)?.execute([to_sql(seq)]).map(drop)
}

/// The records of entries that the tables do not know of, with the number of the entry and the place in
/// it. Read when they are asked for, and held against their hashes.
#[derive(Default)]
pub(super) struct Tail(OnceCell<Vec<(u64, u16, Record)>>);

impl Tail {
    pub(super) fn records(
        &self,
        connection: &Connection,
        genesis: Hash,
    ) -> Result<&[(u64, u16, Record)], Broken> {
        if let Some(records) = self.0.get() {
            return Ok(records);
        }
        let mut records = Vec::new();
        if let Some(mark) = mark(connection)? {
            walk(connection, head_at(connection, genesis, mark)?, |columns| {
                let (place, row) = columns.read()?;
                if row.kind == Kind::Peer {
                    let unreadable = Tampered { seq: place.seq, why: UNREADABLE };
                    let read = read_records(&row.body).ok_or(unreadable)?;
                    records.extend((0..).zip(read).map(|(index, it)| (place.seq, index, it)));
                }
                Ok(())
            })?;
        }
        Ok(self.0.get_or_init(|| records))
    }
}
