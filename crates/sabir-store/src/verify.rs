//! Is the journal what was written, and do the tables say the same?

use std::collections::BTreeMap;

use rusqlite::params;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::chain::{Hash, genesis_hash};
use crate::connection::store_id;
use crate::delegate::{PeerCheck, mark};
use crate::entry::{Kind, Row};
use crate::error::Tampered;
use crate::journal::{Broken, Head, Place, UNREADABLE, from_sql, to_sql, walk};
use crate::projection::Session;
use crate::tables::Version;

/// The whole chain fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Which store it is: another one of equal content has another id and other hashes.
    pub store_id: String,
    pub entries: u64,
    /// Kept elsewhere, it proves later that nothing up to here was changed or cut off, even by
    /// someone who computed all hashes anew.
    pub head_hash: Hash,
}

/// One row at a time; in memory are only the rows of the sessions.
pub(crate) fn verify(connection: &Connection) -> Result<Verified, Broken> {
    // One snapshot, or the tables would be newer than the journal.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    let store_id = store_id(&snapshot)?;
    let mut peers = PeerCheck::new(mark(&snapshot, Version::of(&snapshot)?)?)?;
    let start = Head { seq: 0, hash: genesis_hash(&store_id) };
    let head = walk(&snapshot, start, |columns| {
        let (place, row) = columns.read()?;
        let tampered = |why| Broken::Chain(Tampered { seq: place.seq, why });
        if row.kind == Kind::Peer {
            return peers.follow(place, &row);
        }
        if let Some(session) = sessions.get_mut(place.session_id) {
            session.follow(place, &row).ok_or_else(|| tampered(UNREADABLE))?;
        } else {
            let session = Session::start(place, &row).ok_or_else(|| tampered(UNREADABLE))?;
            sessions.insert(place.session_id.to_owned(), session);
        }
        let session = sessions.get(place.session_id).map_or(0, |session| session.first_seq);
        if !is_listed(&snapshot, session, place, &row)? {
            return Err(tampered("the table of its kind does not list it"));
        }
        Ok(())
    })?;
    for kind in Kind::ALL {
        if let Some(table) = kind.table() {
            refuse_strangers(&snapshot, kind, table)?;
        }
    }
    check_sessions(&snapshot, &sessions)?;
    peers.compare(&snapshot, head.seq)?;
    Ok(Verified { store_id, entries: head.seq, head_hash: head.hash })
}

fn is_listed(
    connection: &Connection,
    session: u64,
    place: Place<'_>,
    row: &Row<'_>,
) -> rusqlite::Result<bool> {
    let keys = match row.kind {
        Kind::Session | Kind::Event | Kind::Item | Kind::Peer => "",
        Kind::Submission => " AND sub_id = ?3",
        Kind::Turn => " AND response_id = ?3",
        Kind::Approval => " AND call_id = ?3 AND state = ?4",
        Kind::Note => " AND kind = ?3",
    };
    let Some(table) = row.kind.table() else { return Ok(true) };
    let sql = format!("SELECT 1 FROM {table} WHERE session = ?1 AND seq = ?2{keys}");
    let mut statement = connection.prepare_cached(&sql)?;
    let (session, seq) = (to_sql(session), to_sql(place.seq));
    match row.kind {
        Kind::Session | Kind::Event | Kind::Item | Kind::Peer => {
            statement.exists(params![session, seq])
        }
        Kind::Submission | Kind::Turn => statement.exists(params![session, seq, row.key]),
        Kind::Approval => statement.exists(params![session, seq, row.key, row.tag]),
        Kind::Note => statement.exists(params![session, seq, row.tag]),
    }
}

/// Finds what a table lists and the journal does not have, such as entries cut off at the end.
fn refuse_strangers(connection: &Connection, kind: Kind, table: &str) -> Result<(), Broken> {
    let sql = format!(
        "SELECT min(t.seq) FROM {table} AS t
         LEFT JOIN journal AS j ON j.seq = t.seq
         LEFT JOIN sessions AS s ON s.first_seq = t.session
         WHERE j.seq IS NULL OR j.kind <> ?1 OR s.id IS NOT j.session_id"
    );
    let stranger: Option<i64> = connection.query_row(&sql, [kind.as_str()], |row| row.get(0))?;
    match stranger {
        None => Ok(()),
        Some(seq) => {
            let why = "a table lists it and the journal does not have it so";
            Err(Tampered { seq: from_sql(seq), why }.into())
        }
    }
}

fn check_sessions(
    connection: &Connection,
    sessions: &BTreeMap<String, Session>,
) -> Result<(), Broken> {
    for (id, expected) in sessions {
        if Session::load(connection, id)?.as_ref() != Some(expected) {
            let why = "the table of sessions does not fit what began here";
            return Err(Tampered { seq: expected.first_seq, why }.into());
        }
    }
    let count: i64 = connection.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
    if from_sql(count) != sessions.len() as u64 {
        let why = "the table of sessions has one that the journal does not have";
        return Err(Tampered { seq: 0, why }.into());
    }
    Ok(())
}
