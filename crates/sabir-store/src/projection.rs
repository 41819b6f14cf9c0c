//! The tables beside the journal, as a function of its entries: the same for an entry that is just
//! being written, for one read again in a rebuild, and for one under verification.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow, params};

use crate::entry::{Kind, Parent, Row, SessionFacts, SessionId};
use crate::error::Tampered;
use crate::journal::{Broken, Place, UNREADABLE, from_sql, to_sql};
use crate::title::first_input;

/// The row of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
    pub(crate) created_at_ms: u64,
    pub(crate) updated_at_ms: u64,
    pub(crate) facts: SessionFacts,
    pub(crate) first_input: Option<String>,
    pub(crate) turns: u64,
    pub(crate) items: u64,
    pub(crate) last_response_id: Option<String>,
}

impl Session {
    /// The session as its first entry leaves it; `None` when that entry does not start one.
    pub(crate) fn start(place: Place<'_>, row: &Row<'_>) -> Option<Self> {
        if row.kind != Kind::Session {
            return None;
        }
        Some(Self {
            first_seq: place.seq,
            last_seq: place.seq,
            created_at_ms: place.at_ms,
            updated_at_ms: place.at_ms,
            facts: serde_json::from_str(&row.body).ok()?,
            first_input: None,
            turns: 0,
            items: 0,
            last_response_id: None,
        })
    }

    /// The session after one more entry; `None` when the entry cannot be read.
    pub(crate) fn follow(&mut self, place: Place<'_>, row: &Row<'_>) -> Option<()> {
        self.last_seq = place.seq;
        self.updated_at_ms = place.at_ms;
        match row.kind {
            Kind::Session => {
                let new: SessionFacts = serde_json::from_str(&row.body).ok()?;
                let old = &mut self.facts;
                *old = SessionFacts {
                    cwd: new.cwd,
                    model: new.model,
                    title: new.title.or(old.title.take()),
                    parent: new.parent.or(old.parent.take()),
                };
            }
            Kind::Submission => {
                if self.first_input.is_none() {
                    self.first_input = first_input(&row.body);
                }
            }
            Kind::Item => self.items += 1,
            Kind::Turn => {
                self.turns += 1;
                self.last_response_id = Some(row.key.to_owned());
            }
            Kind::Event | Kind::Approval | Kind::Note => {}
            // It belongs to no session.
            Kind::Peer => return None,
        }
        Some(())
    }

    pub(crate) fn load(connection: &Connection, id: &str) -> rusqlite::Result<Option<Self>> {
        let mut statement = connection
            .prepare_cached(&format!("SELECT {} FROM sessions WHERE id = ?1", Self::COLUMNS))?;
        statement.query_row([id], Self::of).optional()
    }

    pub(crate) const COLUMNS: &str = "first_seq, last_seq, created_at_ms, updated_at_ms, cwd, \
        model, title, parent_session, parent_response, first_input, turns, items, last_response_id";

    pub(crate) fn of(row: &SqlRow<'_>) -> rusqlite::Result<Self> {
        let number = |index| row.get(index).map(from_sql);
        let parent: (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
        let (session_id, response_id) = parent;
        let parent = session_id
            .map(|session_id| Parent { session_id: SessionId::new(session_id), response_id });
        Ok(Self {
            first_seq: number(0)?,
            last_seq: number(1)?,
            created_at_ms: number(2)?,
            updated_at_ms: number(3)?,
            facts: SessionFacts {
                cwd: row.get(4)?,
                model: row.get(5)?,
                title: row.get(6)?,
                parent,
            },
            first_input: row.get(9)?,
            turns: number(10)?,
            items: number(11)?,
            last_response_id: row.get(12)?,
        })
    }

    fn save(&self, connection: &Connection, id: &str) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO sessions (first_seq, last_seq, created_at_ms, updated_at_ms, cwd, model,
                 title, parent_session, parent_response, first_input, turns, items,
                 last_response_id, id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (first_seq) DO UPDATE SET last_seq = ?2, updated_at_ms = ?4, cwd = ?5,
                 model = ?6, title = ?7, parent_session = ?8, parent_response = ?9,
                 first_input = ?10, turns = ?11, items = ?12, last_response_id = ?13",
        )?;
        let parent = self.facts.parent.as_ref();
        statement.execute(params![
            to_sql(self.first_seq),
            to_sql(self.last_seq),
            to_sql(self.created_at_ms),
            to_sql(self.updated_at_ms),
            self.facts.cwd,
            self.facts.model,
            self.facts.title,
            parent.map(|it| it.session_id.as_str()),
            parent.and_then(|it| it.response_id.as_deref()),
            self.first_input,
            to_sql(self.turns),
            to_sql(self.items),
            self.last_response_id,
            id,
        ])?;
        Ok(())
    }
}

/// Writes the tables. Rows of sessions are kept in memory and written once a transaction: a stream
/// of events would otherwise write the same row over and over.
#[derive(Default)]
pub(crate) struct Projector {
    sessions: HashMap<String, Session>,
    changed: Vec<String>,
}

impl Projector {
    /// Whether the session is in the store.
    pub(crate) fn knows(&mut self, connection: &Connection, id: &str) -> rusqlite::Result<bool> {
        if self.sessions.contains_key(id) {
            return Ok(true);
        }
        let Some(session) = Session::load(connection, id)? else { return Ok(false) };
        self.sessions.insert(id.to_owned(), session);
        Ok(true)
    }

    /// Writes what one entry of the journal means for the tables of sessions.
    pub(crate) fn apply(
        &mut self,
        connection: &Connection,
        place: Place<'_>,
        row: &Row<'_>,
    ) -> Result<(), Broken> {
        let Some(sql) = insert_sql(row.kind) else { return Ok(()) };
        let unreadable = Tampered { seq: place.seq, why: UNREADABLE };
        let id = place.session_id;
        let first_seq = if self.knows(connection, id)?
            && let Some(session) = self.sessions.get_mut(id)
        {
            session.follow(place, row).ok_or(unreadable)?;
            session.first_seq
        } else {
            let session = Session::start(place, row).ok_or(unreadable)?;
            // At once: the rows below refer to it.
            session.save(connection, id)?;
            self.sessions.insert(id.to_owned(), session);
            place.seq
        };
        if self.changed.last().is_none_or(|last| last != id) {
            self.changed.push(id.to_owned());
        }
        let (session, seq) = (to_sql(first_seq), to_sql(place.seq));
        let mut insert = connection.prepare_cached(sql)?;
        match row.kind {
            Kind::Session | Kind::Event | Kind::Item | Kind::Peer => {
                insert.execute(params![session, seq])?
            }
            Kind::Submission | Kind::Turn => insert.execute(params![session, seq, row.key])?,
            Kind::Approval => insert.execute(params![session, seq, row.key, row.tag])?,
            Kind::Note => insert.execute(params![session, seq, row.tag])?,
        };
        Ok(())
    }

    /// Writes the rows of the sessions that changed, and says how many did.
    pub(crate) fn flush(&mut self, connection: &Connection) -> rusqlite::Result<usize> {
        self.changed.sort_unstable();
        self.changed.dedup();
        let count = self.changed.len();
        for id in self.changed.drain(..) {
            if let Some(session) = self.sessions.get(&id) {
                session.save(connection, &id)?;
            }
        }
        if self.sessions.len() > REMEMBERED {
            self.sessions.clear();
        }
        Ok(count)
    }
}

fn insert_sql(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Session => "INSERT INTO session_facts (session, seq) VALUES (?1, ?2)",
        Kind::Submission => "INSERT INTO submissions (session, seq, sub_id) VALUES (?1, ?2, ?3)",
        Kind::Event => "INSERT INTO events (session, seq) VALUES (?1, ?2)",
        Kind::Item => "INSERT INTO items (session, seq) VALUES (?1, ?2)",
        Kind::Turn => "INSERT INTO turns (session, seq, response_id) VALUES (?1, ?2, ?3)",
        Kind::Approval => {
            "INSERT INTO approvals (session, seq, call_id, state) VALUES (?1, ?2, ?3, ?4)"
        }
        Kind::Note => "INSERT INTO notes (session, seq, kind) VALUES (?1, ?2, ?3)",
        Kind::Peer => return None,
    })
}

/// Rows of sessions kept in memory: more than run at a time, and a few megabytes.
const REMEMBERED: usize = 4096;
