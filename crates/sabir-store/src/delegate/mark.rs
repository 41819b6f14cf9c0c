//! How far the tables of a delegate follow the journal. Under load they are behind it by a few entries,
//! because a page of a table that is changed by every task costs as much for one as for hundreds. The
//! entries after the mark are the tail: who reads looks at them where they stand.

use std::cell::{Cell, OnceCell};
use std::fmt;

use rusqlite::{Connection, OptionalExtension as _};
use sabir_ldp::{Record, read_records};

use crate::chain::Hash;
use crate::entry::Kind;
use crate::error::Tampered;
use crate::journal::{Broken, Head, UNREADABLE, from_sql, head_at, to_sql, walk};
use crate::tables::Version;

/// The number of the last entry that the tables know of; none in a file that an older program wrote,
/// whose tables know all of them.
pub(crate) fn mark(connection: &Connection, version: Version) -> rusqlite::Result<Option<u64>> {
    if !version.has_mark() {
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

/// A record, with the number of its entry and the place in it.
pub(super) type Placed = (u64, u16, Record);

/// What a reader has read of the tail. It is kept from one snapshot to the next: under load many ask for
/// tasks that nobody knows, and each would read all of it again.
#[derive(Default)]
pub(crate) struct Known {
    /// Up to which entry the tables knew by themselves, and the last one that was read.
    between: Option<(u64, Head)>,
    records: Vec<Placed>,
}

impl Known {
    /// The tail as this snapshot has it. What is new is held against its hashes.
    fn followed(
        mut self,
        connection: &Connection,
        version: Version,
        genesis: Hash,
    ) -> Result<Self, Broken> {
        let Some(mark) = mark(connection, version)? else { return Ok(Self::default()) };
        let read = match self.between {
            Some((from, read)) if from <= mark && mark <= read.seq => read,
            // There was none yet, the tables are ahead of it, or they were made anew.
            _ => {
                self.records.clear();
                head_at(connection, genesis, mark)?
            }
        };
        let Self { mut records, .. } = self;
        records.retain(|(seq, ..)| *seq > mark);
        let read = walk(connection, read, |columns| {
            let (place, row) = columns.read()?;
            if row.kind == Kind::Peer {
                let unreadable = Tampered { seq: place.seq, why: UNREADABLE };
                let read = read_records(&row.body).ok_or(unreadable)?;
                records.extend((0..).zip(read).map(|(index, it)| (place.seq, index, it)));
            }
            Ok(())
        })?;
        Ok(Self { between: Some((mark, read)), records })
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("records", &self.records.len()).finish_non_exhaustive()
    }
}

/// The records of entries that the tables do not know of, in one snapshot. Read when they are asked for.
pub(super) struct Tail {
    before: Cell<Known>,
    now: OnceCell<Known>,
}

impl Tail {
    /// Of the snapshot that follows the one in which this was known.
    pub(super) fn after(known: Known) -> Self {
        Self { before: Cell::new(known), now: OnceCell::new() }
    }

    /// What the next snapshot begins with.
    pub(super) fn known(self) -> Known {
        let Self { before, now } = self;
        now.into_inner().unwrap_or_else(|| before.into_inner())
    }

    pub(super) fn records(
        &self,
        connection: &Connection,
        version: Version,
        genesis: Hash,
    ) -> Result<&[Placed], Broken> {
        if let Some(known) = self.now.get() {
            return Ok(&known.records);
        }
        let known = self.before.take().followed(connection, version, genesis)?;
        Ok(&self.now.get_or_init(|| known).records)
    }
}
