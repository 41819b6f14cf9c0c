//! Do the tables of a delegate say what its entries say? They are made again in a database of their
//! own and compared row by row: the same code that writes them says what they must be.

use rusqlite::Connection;
use rusqlite::types::Value;
use sabir_ldp::read_records;

use super::projection::PeerProjector;
use crate::entry::Row;
use crate::error::Tampered;
use crate::journal::{Broken, Place, UNREADABLE, from_sql};
use crate::tables::{DELEGATE, Version};

pub(crate) struct PeerCheck {
    /// On disk when it grows, and gone afterwards.
    made: Connection,
    projector: PeerProjector,
    /// The last entry that the tables know of, if that is not all of them.
    mark: Option<u64>,
}

impl PeerCheck {
    pub(crate) fn new(mark: Option<u64>) -> Result<Self, Broken> {
        let made = Connection::open("")?;
        made.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;")?;
        for tables in DELEGATE {
            made.execute_batch(tables)?;
        }
        made.execute_batch("BEGIN")?;
        Ok(Self { made, projector: PeerProjector::default(), mark })
    }

    /// Takes in one entry of a peer.
    pub(crate) fn follow(&mut self, place: Place<'_>, row: &Row<'_>) -> Result<(), Broken> {
        if self.mark.is_some_and(|mark| mark < place.seq) {
            let unreadable = Tampered { seq: place.seq, why: UNREADABLE };
            return read_records(&row.body).map(drop).ok_or_else(|| unreadable.into());
        }
        self.projector.apply_again(&self.made, place, row)
    }

    /// Compares with the tables that are there. The journal has entries up to `last`.
    pub(crate) fn compare(&mut self, found: &Connection, last: u64) -> Result<(), Broken> {
        if let Some(mark) = self.mark.filter(|mark| *mark > last) {
            let why = "the tables of peers know of it and the journal does not have it";
            return Err(Tampered { seq: mark, why }.into());
        }
        self.projector.flush(&self.made)?;
        let version = Version::of(found)?;
        if !version.has_delegate() {
            // An old file, in which no peer wrote; the entry would have been found above.
            return Ok(());
        }
        let shown = version.shown_column();
        let by_name = if version.has_names() { NAMES } else { INDEX };
        for (table, columns, order, why) in TABLES.into_iter().chain([by_name]) {
            let select = |columns: &str| format!("SELECT {columns} FROM {table} ORDER BY {order}");
            let made = (&self.made, select(columns));
            compare(made, (found, select(&columns.replace("shown", shown))), why)?;
        }
        let sql = "SELECT 1 FROM peer_keys WHERE session NOT IN (SELECT id FROM peer_sessions)";
        if found.prepare(sql)?.exists([])? {
            let why = "there are keys of a session with a peer that is not open";
            return Err(Tampered { seq: 0, why }.into());
        }
        Ok(())
    }
}

/// Both sides with how they are read.
fn compare(
    made: (&Connection, String),
    found: (&Connection, String),
    why: &'static str,
) -> Result<(), Broken> {
    let (mut made, mut found) = (made.0.prepare(&made.1)?, found.0.prepare(&found.1)?);
    let count = made.column_count();
    let (mut made, mut found) = (made.query([])?, found.query([])?);
    let read = |row: Option<&rusqlite::Row<'_>>| -> rusqlite::Result<Option<Vec<Value>>> {
        row.map(|row| (0..count).map(|index| row.get(index)).collect()).transpose()
    };
    loop {
        let (expected, actual) = (read(made.next()?)?, read(found.next()?)?);
        if expected != actual {
            let seqs = [&expected, &actual].map(|row| match row.as_deref() {
                Some([Value::Integer(seq), ..]) => Some(from_sql(*seq)),
                _ => None,
            });
            let seq = seqs.into_iter().flatten().min().unwrap_or(0);
            return Err(Tampered { seq, why }.into());
        }
        if expected.is_none() {
            return Ok(());
        }
    }
}

/// A table with its columns, the first of which is the entry to blame, the order in which both sides are
/// read, and what it means when they differ.
type Table = (&'static str, &'static str, &'static str, &'static str);

const TABLES: [Table; 8] = [
    (
        "peer_sessions",
        "opened_seq, id, mode, state, used_at_ms, last_task, spent_tokens, spent_usd",
        "id",
        "the table of sessions with peers does not fit what began here",
    ),
    (
        "peer_past_sessions",
        "ended_seq, num, id, owner, how, ended_at_ms, shown",
        "num",
        "the table of past sessions with peers does not fit what ended here",
    ),
    (
        "peer_running",
        "place / 65536, place, owner, id, updated_seq",
        "owner, id",
        "the table of running tasks does not fit what began here",
    ),
    (
        "peer_tasks",
        "ended_seq, num, owner, id, digest, authentication, place, before, shown",
        "num",
        "the table of tasks does not fit what ended here",
    ),
    (
        "peer_updates",
        "seq, place, n",
        "place, n",
        "the table of updates does not fit what was told here",
    ),
    (
        "peer_seen",
        "first_seq, since_ms, last_ms, forget_at_ms, forgotten_ms",
        "first_seq",
        "the table of seen messages does not fit what came from here on",
    ),
    // By this order the rows come from the index: a session that is not found there could be opened again.
    (
        "peer_past_sessions",
        "NULL, num, id",
        "id",
        "the index of past sessions with peers does not fit their table",
    ),
    ("peer_refusals", "seq", "seq", "the table of refusals does not fit what was refused here"),
];

/// Of tasks by their names: one that is not found there would run again.
const NAMES: Table = (
    "peer_task_names",
    "NULL, stretch, owner, id, num",
    "stretch, owner, id, num",
    "the names of tasks do not fit their table",
);

/// The same in a file that an older program wrote, where the rows come from an index by this order.
const INDEX: Table = (
    "peer_tasks",
    "NULL, num, owner, id",
    "owner, id",
    "the index of tasks does not fit their table",
);
