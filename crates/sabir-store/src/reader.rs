//! Reading, beside the owner or without one. Takes no lock and makes neither a home nor a database.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use crate::chain::{Hash, Link, entry_hash};
use crate::connection::{genesis, open_reader};
use crate::delegate::Known;
use crate::entry::{Entry, Kind, Parent, SessionId};
use crate::error::{StoreError, Tampered};
use crate::journal::{Broken, COLUMNS, Columns, Head, UNREADABLE, head_at, to_sql};
use crate::projection::Session;
use crate::{home, tables, verify};

/// A connection that only reads. Each call sees what had been acknowledged when it started.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// Of the delegate's records, what its tables did not know of when somebody looked last.
    pub(crate) tail: RefCell<Known>,
}

/// A line in a list of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    pub id: SessionId,
    pub created_at_ms: u64,
    pub updated_at_ms: u64,
    pub cwd: String,
    pub model: String,
    /// As given, else the first words of the user.
    pub title: Option<String>,
    pub parent: Option<Parent>,
    pub turns: u64,
    pub items: u64,
    pub last_response_id: Option<String>,
}

/// Which sessions to list; those used last come first.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    pub cwd: Option<String>,
    /// Without those of agents that worked for another one.
    pub of_people: bool,
    /// Without those whose id begins with this.
    pub not_under: Option<String>,
    pub limit: Option<usize>,
}

/// An entry where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub seq: u64,
    pub at_ms: u64,
    pub entry: Entry,
}

/// A row of the journal as another program sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub seq: u64,
    pub session_id: SessionId,
    pub at_ms: u64,
    pub kind: String,
    pub tag: String,
    pub key: String,
    pub body: String,
    pub hash: Hash,
}

#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    All,
    Session(&'a SessionId),
}

/// How much is read at once.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub lines: usize,
    /// Of bodies. One line comes whatever its size, or nobody would get past it.
    pub bytes: usize,
}

/// Where a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    pub session_id: SessionId,
    pub seq: u64,
}

impl Reader {
    /// # Errors
    ///
    /// [`StoreError::Missing`] when there is no store; when it is damaged or newer than this program.
    pub fn open(home: &Path) -> Result<Self, StoreError> {
        let path = home::database_path(home);
        let connection = open_reader(&path)?;
        tables::check_readable(&connection, &path)?;
        Ok(Self { connection, path, tail: RefCell::default() })
    }

    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionSummary>, StoreError> {
        let sql = format!(
            "SELECT {}, id FROM sessions WHERE (?1 IS NULL OR cwd = ?1)
                 AND NOT (?3 AND parent_session IS NOT NULL AND parent_response IS NULL)
                 AND (?4 IS NULL OR substr(id, 1, length(?4)) <> ?4)
             ORDER BY last_seq DESC LIMIT ?2",
            Session::COLUMNS
        );
        let limit = filter.limit.map_or(-1, |limit| to_sql(limit as u64));
        let SessionFilter { cwd, of_people, not_under, .. } = filter;
        self.summaries(&sql, params![cwd, limit, of_people, not_under])
    }

    fn summaries(
        &self,
        sql: &str,
        given: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<SessionSummary>, StoreError> {
        let list = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map(given, |row| {
                let id = SessionId::new(row.get::<_, String>(13)?);
                Ok(SessionSummary::of(id, Session::of(row)?))
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        list().map_err(|error| self.database(&error))
    }

    /// Sessions whose ids begin with `prefix`, the greatest first, those below `before`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn sessions_under(
        &self,
        prefix: &str,
        before: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>, StoreError> {
        // Nothing that begins with the prefix comes after it with the last of all characters.
        let end = format!("{prefix}{}", char::MAX);
        let end = before.map_or(end.as_str(), SessionId::as_str);
        let sql = format!(
            "SELECT {}, id FROM sessions WHERE id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
            Session::COLUMNS
        );
        self.summaries(&sql, params![prefix, end, to_sql(limit as u64)])
    }

    /// Sessions of agents that work for another one, the latest first.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn sessions_for(
        &self,
        parent: &SessionId,
        limit: usize,
    ) -> Result<Vec<SessionSummary>, StoreError> {
        let sql = format!(
            "SELECT {}, id FROM sessions WHERE parent_session = ?1 AND parent_response IS NULL
             ORDER BY first_seq DESC LIMIT ?2",
            Session::COLUMNS
        );
        self.summaries(&sql, params![parent.as_str(), to_sql(limit as u64)])
    }

    /// The last event of a session.
    ///
    /// # Errors
    ///
    /// When the file or the entry cannot be read.
    pub fn last_event(&self, id: &SessionId) -> Result<Option<Line>, StoreError> {
        let find = || -> Result<Option<Line>, Broken> {
            let mut statement = self.connection.prepare_cached(
                "SELECT max(events.seq) FROM events
                 JOIN sessions ON sessions.first_seq = events.session WHERE sessions.id = ?1",
            )?;
            let seq: Option<i64> = statement.query_row([id.as_str()], |row| row.get(0))?;
            seq.map(|seq| self.row(seq.cast_unsigned(), Line::of)).transpose()
        };
        find().map_err(|broken| broken.at(&self.path))
    }

    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError> {
        let session = Session::load(&self.connection, id.as_str());
        let session = session.map_err(|error| self.database(&error))?;
        Ok(session.map(|session| SessionSummary::of(id.clone(), session)))
    }

    /// The items, turns, approvals and notes of a session in order: what is needed to resume it. Each
    /// is held against its hash; entries of others and events are not looked at.
    ///
    /// # Errors
    ///
    /// [`StoreError::Tampered`] with the first entry that is not what was written; when the file or
    /// an entry cannot be read.
    pub fn records(&self, session_id: &SessionId) -> Result<Vec<Recorded>, StoreError> {
        let kinds = [Kind::Item, Kind::Turn, Kind::Approval, Kind::Note];
        let read = || -> Result<Vec<Recorded>, Broken> {
            let genesis = genesis(&self.connection)?;
            let mut records = Vec::new();
            for seq in self.entries(session_id, &kinds, 0, usize::MAX)? {
                let before = head_at(&self.connection, genesis, seq.saturating_sub(1))?;
                records.push(self.recorded(session_id, seq, &before)?);
            }
            Ok(records)
        };
        read().map_err(|broken| broken.at(&self.path))
    }

    /// Rows of the journal in order, at most `limit`, after the one numbered `after_seq`.
    ///
    /// # Errors
    ///
    /// When the file or an entry cannot be read.
    pub fn journal(
        &self,
        scope: Scope<'_>,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<Line>, StoreError> {
        self.stretch(scope, after_seq, Most { lines: limit, bytes: usize::MAX })
    }

    /// Like [`Reader::journal`], with a bound on what the lines hold.
    ///
    /// # Errors
    ///
    /// When the file or an entry cannot be read.
    pub fn stretch(
        &self,
        scope: Scope<'_>,
        after_seq: u64,
        most: Most,
    ) -> Result<Vec<Line>, StoreError> {
        let mut room = Room { left: most.bytes };
        let lines = match scope {
            Scope::All => self.lines(after_seq, most.lines, &mut room),
            Scope::Session(id) => {
                self.entries(id, &Kind::ALL, after_seq, most.lines).and_then(|seqs| {
                    let mut lines = Vec::new();
                    for seq in seqs {
                        let line = self.row(seq, Line::of)?;
                        if !room.takes(&line) && !lines.is_empty() {
                            break;
                        }
                        lines.push(line);
                    }
                    Ok(lines)
                })
            }
        };
        lines.map_err(|broken| broken.at(&self.path))
    }

    /// The hash that the entry with this number has to follow.
    ///
    /// # Errors
    ///
    /// When the file or the entry before it cannot be read.
    pub fn hash_before(&self, seq: u64) -> Result<Hash, StoreError> {
        match seq {
            0 | 1 => genesis(&self.connection).map_err(|error| self.database(&error)),
            _ => {
                let before = self.row(seq - 1, |columns| Ok(Line::of(columns)?.hash));
                before.map_err(|broken| broken.at(&self.path))
            }
        }
    }

    /// Where the turn with this response ended; the first time, if several sessions name it.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn find_response(&self, response_id: &str) -> Result<Option<Bookmark>, StoreError> {
        let find = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT sessions.id, turns.seq FROM turns
                 JOIN sessions ON sessions.first_seq = turns.session
                 WHERE turns.response_id = ?1 ORDER BY turns.seq LIMIT 1",
            )?;
            let bookmark = statement.query_row([response_id], |row| {
                let session_id = SessionId::new(row.get::<_, String>(0)?);
                Ok(Bookmark { session_id, seq: row.get::<_, i64>(1)?.cast_unsigned() })
            });
            bookmark.optional()
        };
        find().map_err(|error| self.database(&error))
    }

    /// Follows the chain from the first entry to the last and compares the tables with it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Tampered`] with the first place that does not fit; when the file cannot be read.
    pub fn verify(&self) -> Result<verify::Verified, StoreError> {
        verify::verify(&self.connection).map_err(|broken| broken.at(&self.path))
    }

    /// Numbers of a session's entries of these kinds, in order.
    fn entries(
        &self,
        session_id: &SessionId,
        kinds: &[Kind],
        after: u64,
        limit: usize,
    ) -> Result<Vec<u64>, Broken> {
        let find = "SELECT first_seq FROM sessions WHERE id = ?1";
        let session: Option<i64> = self
            .connection
            .prepare_cached(find)?
            .query_row([session_id.as_str()], |row| row.get(0))
            .optional()?;
        let Some(session) = session else { return Ok(Vec::new()) };
        // Every table is in order, so this merges them.
        let selects: Vec<String> = kinds
            .iter()
            .filter_map(|kind| kind.table())
            .map(|table| format!("SELECT seq FROM {table} WHERE session = ?1 AND seq > ?2"))
            .collect();
        let sql = format!("{} ORDER BY seq LIMIT ?3", selects.join(" UNION ALL "));
        let mut statement = self.connection.prepare_cached(&sql)?;
        let limit = to_sql(limit as u64);
        let seqs = statement.query_map(params![session, to_sql(after), limit], |row| {
            Ok(row.get::<_, i64>(0)?.cast_unsigned())
        })?;
        Ok(seqs.collect::<rusqlite::Result<_>>()?)
    }

    fn lines(&self, after: u64, limit: usize, room: &mut Room) -> Result<Vec<Line>, Broken> {
        let sql = format!("SELECT {COLUMNS} FROM journal WHERE seq > ?1 ORDER BY seq LIMIT ?2");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![to_sql(after), to_sql(limit as u64)])?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            let line = Line::of(&Columns::of(row)?)?;
            if !room.takes(&line) && !lines.is_empty() {
                break;
            }
            lines.push(line);
        }
        Ok(lines)
    }

    fn recorded(
        &self,
        session_id: &SessionId,
        seq: u64,
        before: &Head,
    ) -> Result<Recorded, Broken> {
        self.row(seq, |columns| {
            columns.follows(before)?;
            let (place, row) = columns.read()?;
            if place.session_id != session_id.as_str() {
                return Err(Tampered { seq, why: "a table lists it for another session" });
            }
            let entry = Entry::from_columns(row.kind, row.tag, row.key, row.body.into_owned())
                .ok_or(Tampered { seq, why: UNREADABLE })?;
            Ok(Recorded { seq, at_ms: place.at_ms, entry })
        })
    }

    pub(crate) fn row<T>(
        &self,
        seq: u64,
        read: impl FnOnce(&Columns<'_>) -> Result<T, Tampered>,
    ) -> Result<T, Broken> {
        let sql = format!("SELECT {COLUMNS} FROM journal WHERE seq = ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([to_sql(seq)])?;
        let Some(row) = rows.next()? else {
            return Err(Tampered { seq, why: "it is missing" }.into());
        };
        Ok(read(&Columns::of(row)?)?)
    }

    pub(crate) fn database(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::database(&self.path, error)
    }
}

/// Room for bodies.
struct Room {
    left: usize,
}

impl Room {
    fn takes(&mut self, line: &Line) -> bool {
        let left = self.left.checked_sub(line.body.len());
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

impl SessionSummary {
    fn of(id: SessionId, session: Session) -> Self {
        let facts = session.facts;
        Self {
            id,
            created_at_ms: session.created_at_ms,
            updated_at_ms: session.updated_at_ms,
            cwd: facts.cwd,
            model: facts.model,
            title: facts.title.or(session.first_input),
            parent: facts.parent,
            turns: session.turns,
            items: session.items,
            last_response_id: session.last_response_id,
        }
    }
}

impl Line {
    /// Whether its hash is the one of its content after an entry with the hash `previous`.
    #[must_use]
    pub fn follows(&self, previous: &Hash) -> bool {
        let link = Link {
            seq: self.seq,
            session_id: self.session_id.as_str().as_bytes(),
            at_ms: self.at_ms,
            kind: self.kind.as_bytes(),
            tag: self.tag.as_bytes(),
            key: self.key.as_bytes(),
            body: self.body.as_bytes(),
        };
        entry_hash(previous, &link) == self.hash
    }

    pub(crate) fn of(columns: &Columns<'_>) -> Result<Self, Tampered> {
        let (place, row) = columns.read()?;
        let unreadable = Tampered { seq: place.seq, why: UNREADABLE };
        Ok(Self {
            seq: place.seq,
            session_id: SessionId::new(place.session_id),
            at_ms: place.at_ms,
            kind: row.kind.as_str().to_owned(),
            tag: row.tag.to_owned(),
            key: row.key.to_owned(),
            body: row.body.into_owned(),
            hash: columns.hash.try_into().map(Hash::from_bytes).map_err(|_| unreadable)?,
        })
    }
}
