//! Rows of the journal table: writing one, reading one, and following the chain through them.

use std::borrow::Cow;

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row as SqlRow, params};

use crate::chain::{Hash, Link, entry_hash};
use crate::entry::{Kind, Row};
use crate::error::{StoreError, Tampered};

/// The columns in the order in which [`Columns`] reads them.
pub(crate) const COLUMNS: &str = "seq, session_id, at_ms, kind, tag, key, hash, body";

/// Where an entry stands, besides what it says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) seq: u64,
    pub(crate) session_id: &'a str,
    pub(crate) at_ms: u64,
}

/// The end of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
}

/// A row as it lies in the database. Texts are bytes, because a changed file may hold anything.
pub(crate) struct Columns<'a> {
    seq: i64,
    at_ms: i64,
    pub(crate) session_id: &'a [u8],
    pub(crate) kind: &'a [u8],
    pub(crate) tag: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) hash: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// Why a walk over the journal ended early.
pub(crate) enum Broken {
    Chain(Tampered),
    Database(rusqlite::Error),
}

impl Head {
    /// The head after one more entry.
    pub(crate) fn follow(&mut self, session_id: &str, at_ms: u64, row: &Row<'_>) {
        self.seq += 1;
        let link = Link {
            seq: self.seq,
            session_id: session_id.as_bytes(),
            at_ms,
            kind: row.kind.as_str().as_bytes(),
            tag: row.tag.as_bytes(),
            key: row.key.as_bytes(),
            body: row.body.as_bytes(),
        };
        self.hash = entry_hash(&self.hash, &link);
    }
}

/// Writes rows at the end of the table.
pub(crate) struct Insert<'c>(CachedStatement<'c>);

impl<'c> Insert<'c> {
    pub(crate) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let sql = "INSERT INTO journal (seq, session_id, at_ms, kind, tag, key, hash, body)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        connection.prepare_cached(sql).map(Self)
    }

    pub(crate) fn write(
        &mut self,
        place: Place<'_>,
        row: &Row<'_>,
        hash: &Hash,
    ) -> rusqlite::Result<()> {
        let values = params![
            to_sql(place.seq),
            place.session_id,
            to_sql(place.at_ms),
            row.kind.as_str(),
            row.tag,
            row.key,
            hash.as_bytes(),
            row.body,
        ];
        self.0.execute(values).map(drop)
    }
}

impl<'a> Columns<'a> {
    pub(crate) fn of(row: &'a SqlRow<'_>) -> rusqlite::Result<Self> {
        let bytes = |index| -> rusqlite::Result<&'a [u8]> {
            Ok(match row.get_ref(index)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
                // The tables are STRICT, so only a changed file gets here; its hash will not match.
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
            })
        };
        Ok(Self {
            seq: row.get(0)?,
            session_id: bytes(1)?,
            at_ms: row.get(2)?,
            kind: bytes(3)?,
            tag: bytes(4)?,
            key: bytes(5)?,
            hash: bytes(6)?,
            body: bytes(7)?,
        })
    }

    pub(crate) fn seq(&self) -> u64 {
        from_sql(self.seq)
    }

    pub(crate) fn at_ms(&self) -> u64 {
        from_sql(self.at_ms)
    }

    /// The entry as it was before it was written.
    pub(crate) fn read(&self) -> Result<(Place<'a>, Row<'a>), Tampered> {
        let read = || {
            let place = Place {
                seq: self.seq(),
                session_id: str::from_utf8(self.session_id).ok()?,
                at_ms: self.at_ms(),
            };
            let row = Row {
                kind: Kind::from_str(str::from_utf8(self.kind).ok()?)?,
                tag: str::from_utf8(self.tag).ok()?,
                key: str::from_utf8(self.key).ok()?,
                body: Cow::Borrowed(str::from_utf8(self.body).ok()?),
            };
            Some((place, row))
        };
        read().ok_or(Tampered { seq: self.seq(), why: UNREADABLE })
    }

    pub(crate) fn follows(&self, head: &Head) -> Result<Head, Tampered> {
        let seq = head.seq + 1;
        let tampered = |why| Err(Tampered { seq, why });
        match self.seq.cmp(&to_sql(seq)) {
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => return tampered("it is missing"),
            std::cmp::Ordering::Less => return tampered("another one stands before it"),
        }
        let link = Link {
            seq,
            session_id: self.session_id,
            at_ms: self.at_ms.cast_unsigned(),
            kind: self.kind,
            tag: self.tag,
            key: self.key,
            body: self.body,
        };
        let hash = entry_hash(&head.hash, &link);
        if self.hash != hash.as_bytes() {
            return tampered("its hash does not fit its content and the entry before it");
        }
        Ok(Head { seq, hash })
    }
}

/// Follows the chain from `head` to the end, one row in memory at a time.
pub(crate) fn walk(
    connection: &Connection,
    mut head: Head,
    mut each: impl FnMut(&Columns<'_>) -> Result<(), Broken>,
) -> Result<Head, Broken> {
    // From the very start, rows with numbers that the journal never gives are looked at too.
    let after = if head.seq == 0 { i64::MIN } else { to_sql(head.seq) };
    let sql = format!("SELECT {COLUMNS} FROM journal WHERE seq > ?1 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([after])?;
    while let Some(row) = rows.next()? {
        let columns = Columns::of(row)?;
        head = columns.follows(&head)?;
        each(&columns)?;
    }
    Ok(head)
}

/// The end of the chain, when its last entries fit together. Looking at all of them would make
/// starting slower with every day of use; `verify` does that when asked.
pub(crate) fn check_tail(
    connection: &Connection,
    genesis: Hash,
    entries: u64,
) -> Result<Head, Broken> {
    let last: Option<i64> =
        connection.query_row("SELECT max(seq) FROM journal", [], |row| row.get(0))?;
    let before = from_sql(last.unwrap_or(0)).saturating_sub(entries);
    walk(connection, head_at(connection, genesis, before)?, |_| Ok(()))
}

/// The chain up to the entry with this number, as it stands there.
pub(crate) fn head_at(connection: &Connection, genesis: Hash, seq: u64) -> Result<Head, Broken> {
    if seq == 0 {
        return Ok(Head { seq, hash: genesis });
    }
    let mut statement = connection.prepare_cached("SELECT hash FROM journal WHERE seq = ?1")?;
    let hash = statement.query_row([to_sql(seq)], |row| row.get::<_, [u8; 32]>(0)).optional()?;
    let hash = hash.ok_or(Tampered { seq, why: "it is missing" })?;
    Ok(Head { seq, hash: Hash::from_bytes(hash) })
}

/// Numbers and times are checked when they come in, so that none is beyond what SQLite counts.
pub(crate) fn to_sql(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn from_sql(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

pub(crate) const UNREADABLE: &str = "it cannot be read";

impl From<rusqlite::Error> for Broken {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Tampered> for Broken {
    fn from(tampered: Tampered) -> Self {
        Self::Chain(tampered)
    }
}

impl Broken {
    pub(crate) fn at(self, path: &std::path::Path) -> StoreError {
        match self {
            Self::Chain(tampered) => tampered.into(),
            Self::Database(error) => StoreError::database(path, &error),
        }
    }
}
