//! The tables of a delegate as a function of its entries. Rows that change with every message are kept
//! in memory and written once a transaction; how entries are spread over transactions changes nothing.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};
use sabir_ldp::{KeptKeys, SessionId, TaskKey, Timestamp, read_records};

use super::effect::{Began, Effect, Ended};
use super::entry::Meaning;
use super::sessions::{Open, State, bury};
use super::tasks::{Listed, Place, Running, last_ended, list_ended, list_update};
use crate::entry::{Kind, Row};
use crate::error::Tampered;
use crate::journal::{self, Broken, UNREADABLE, from_sql, to_sql};

#[derive(Default)]
pub(crate) struct PeerProjector {
    sessions: HashMap<SessionId, Held<Open>>,
    changed_sessions: Vec<SessionId>,
    running: HashMap<TaskKey, Held<Running>>,
    changed_tasks: Vec<TaskKey>,
    /// Tasks that ended and are not in the table yet, and the number of the last one of all.
    ended: Vec<Listed>,
    last_ended: Option<i64>,
    seen: Latest,
}

/// A row in memory.
struct Held<T> {
    row: T,
    /// The table has a row of it, which may be old.
    is_stored: bool,
    is_changed: bool,
}

/// The stretch of the journal that is being written.
#[derive(Default)]
enum Latest {
    #[default]
    NotLoaded,
    None,
    Some(Stretch),
}

/// Entries one after the other, and until when the ids of messages in them are of use.
struct Stretch {
    first_seq: u64,
    since: Timestamp,
    last: Timestamp,
    forget_at: Timestamp,
    /// The latest of what is not kept any more.
    forgotten: Timestamp,
    is_changed: bool,
}

impl PeerProjector {
    /// Writes what an entry means for the tables, and keeps the keys that came with it.
    pub(crate) fn apply(
        &mut self,
        connection: &Connection,
        seq: u64,
        meaning: Meaning,
    ) -> rusqlite::Result<()> {
        let mut keys = meaning.keys.iter().peekable();
        for effect in meaning.effects {
            // One entry may end a session and open another of that name.
            match &effect {
                Effect::SessionEnded(past) => drop_keys(connection, &past.session)?,
                Effect::Opened { session, .. } | Effect::Resumed { session, .. } => {
                    if let Some((_, kept)) = keys.next_if(|(of, _)| of == session) {
                        keep_keys(connection, session, kept)?;
                    }
                }
                _ => {}
            }
            self.follow(connection, seq, effect)?;
        }
        Ok(())
    }

    /// The same for an entry that is read again. It leaves the keys alone: they are of now, and the
    /// entry is of then.
    pub(crate) fn apply_again(
        &mut self,
        connection: &Connection,
        place: journal::Place<'_>,
        row: &Row<'_>,
    ) -> Result<(), Broken> {
        if row.kind != Kind::Peer {
            return Ok(());
        }
        let unreadable = Tampered { seq: place.seq, why: UNREADABLE };
        let records = read_records(&row.body).ok_or(unreadable)?;
        for effect in Effect::of_all(records) {
            self.follow(connection, place.seq, effect)?;
        }
        if self.ended.len() > UNLISTED {
            self.list_all(connection)?;
        }
        if self.sessions.len() > REMEMBERED || self.changed_tasks.len() > REMEMBERED {
            self.flush(connection)?;
        }
        Ok(())
    }

    /// Writes the rows that changed, and says how many did.
    pub(crate) fn flush(&mut self, connection: &Connection) -> rusqlite::Result<usize> {
        let count = self.changed_sessions.len() + self.changed_tasks.len();
        self.list_all(connection)?;
        for id in self.changed_sessions.drain(..) {
            if let Some(held) = self.sessions.get_mut(&id)
                && held.is_changed
            {
                held.row.save(connection, &id)?;
                (held.is_changed, held.is_stored) = (false, true);
            }
        }
        for key in self.changed_tasks.drain(..) {
            if let Some(held) = self.running.get_mut(&key)
                && held.is_changed
            {
                held.row.save(connection, &key)?;
                (held.is_changed, held.is_stored) = (false, true);
            }
        }
        if let Latest::Some(stretch) = &mut self.seen {
            stretch.save(connection)?;
        }
        if self.sessions.len() > REMEMBERED {
            self.sessions.clear();
        }
        if self.running.len() > REMEMBERED {
            self.running.clear();
        }
        Ok(count)
    }

    /// Empties the tables, except for the keys: they cannot be made again.
    pub(crate) fn clear(connection: &Connection) -> rusqlite::Result<()> {
        for table in TABLES {
            connection.execute(&format!("DELETE FROM {table}"), [])?;
        }
        Ok(())
    }

    /// Drops the keys of sessions that are not open.
    pub(crate) fn forget_keys(connection: &Connection) -> rusqlite::Result<()> {
        let sql = "DELETE FROM peer_keys WHERE session NOT IN (SELECT id FROM peer_sessions)";
        connection.execute(sql, []).map(drop)
    }

    fn follow(
        &mut self,
        connection: &Connection,
        seq: u64,
        effect: Effect,
    ) -> rusqlite::Result<()> {
        match effect {
            Effect::Seen { session, at, forget_at } => {
                if let Some(id) = session {
                    self.change(connection, &id, |open| open.touch(at))?;
                }
                self.see(connection, seq, at, forget_at)?;
            }
            Effect::Opened { session, mode, at, spent } => {
                let row = Open {
                    opened_seq: seq,
                    mode,
                    state: State::Active,
                    used_at: at,
                    last_task: None,
                    spent,
                };
                let held = Held { row, is_stored: false, is_changed: true };
                self.sessions.insert(session.clone(), held);
                self.changed_sessions.push(session);
            }
            Effect::SteppedDown { session, mode } => {
                self.change(connection, &session, |open| open.mode = mode)?;
            }
            Effect::Suspended { session, at } => self.change(connection, &session, |open| {
                open.state = State::Suspended;
                open.touch(at);
            })?,
            Effect::Resumed { session, at } => self.change(connection, &session, |open| {
                open.state = State::Active;
                open.touch(at);
            })?,
            Effect::SessionEnded(past) => {
                self.sessions.remove(&past.session);
                bury(connection, &past, seq)?;
            }
            Effect::Started { key, session, at, index } => {
                self.change(connection, &session, |open| open.touch(at))?;
                let row = Running { place: Place::new(seq, index), updated_seq: None };
                let held = Held { row, is_stored: false, is_changed: true };
                self.running.insert(key.clone(), held);
                self.changed_tasks.push(key);
            }
            Effect::Updated { key, n } => self.update(connection, seq, &key, n)?,
            Effect::Ended(ended) => self.end(connection, seq, ended)?,
            Effect::Refused => {
                let sql = "INSERT OR IGNORE INTO peer_refusals (seq) VALUES (?1)";
                connection.prepare_cached(sql)?.execute([to_sql(seq)])?;
            }
        }
        Ok(())
    }

    fn change(
        &mut self,
        connection: &Connection,
        id: &SessionId,
        change: impl FnOnce(&mut Open),
    ) -> rusqlite::Result<()> {
        let held = match self.sessions.get_mut(id) {
            Some(held) => held,
            None => {
                let Some(row) = Open::load(connection, id)? else { return Ok(()) };
                let held = Held { row, is_stored: true, is_changed: false };
                self.sessions.entry(id.clone()).or_insert(held)
            }
        };
        change(&mut held.row);
        if !held.is_changed {
            held.is_changed = true;
            self.changed_sessions.push(id.clone());
        }
        Ok(())
    }

    fn update(
        &mut self,
        connection: &Connection,
        seq: u64,
        key: &TaskKey,
        n: u64,
    ) -> rusqlite::Result<()> {
        if !self.running.contains_key(key) {
            let Some(row) = Running::load(connection, key)? else { return Ok(()) };
            let held = Held { row, is_stored: true, is_changed: false };
            self.running.insert(key.clone(), held);
        }
        if let Some(held) = self.running.get_mut(key) {
            held.row.updated_seq = Some(seq);
            if !held.is_changed {
                held.is_changed = true;
                self.changed_tasks.push(key.clone());
            }
            list_update(connection, held.row.place, n, seq)?;
        }
        Ok(())
    }

    fn end(
        &mut self,
        connection: &Connection,
        seq: u64,
        ended: Box<Ended>,
    ) -> rusqlite::Result<()> {
        if let Some(Began { index, .. }) = ended.began {
            return self.list(connection, seq, ended, Some(Place::new(seq, index)));
        }
        let key = &ended.key;
        let running = match self.running.remove(key) {
            Some(held) if !held.is_stored => Some(held.row),
            Some(held) => {
                Running::delete(connection, key)?;
                Some(held.row)
            }
            None => {
                let row = Running::load(connection, key)?;
                if row.is_some() {
                    Running::delete(connection, key)?;
                }
                row
            }
        };
        self.list(connection, seq, ended, running.map(|running| running.place))
    }

    /// A task that ended stands in the list of them, and is the last one of its session.
    fn list(
        &mut self,
        connection: &Connection,
        seq: u64,
        ended: Box<Ended>,
        place: Option<Place>,
    ) -> rusqlite::Result<()> {
        let last = match self.last_ended {
            Some(last) => last,
            None => last_ended(connection)?,
        };
        let (num, mut before) = (last + 1, None);
        self.change(connection, &ended.session, |open| {
            open.spent = open.spent.plus(ended.usage);
            open.touch(ended.began.map_or(ended.at, |began| began.at.max(ended.at)));
            before = open.last_task.replace(num);
        })?;
        self.last_ended = Some(num);
        self.ended.push(Listed { num, seq, place, before, ended });
        Ok(())
    }

    /// Writes the tasks that ended. One statement for many costs less than one for each.
    fn list_all(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        list_ended(connection, &self.ended)?;
        self.ended.clear();
        Ok(())
    }

    fn see(
        &mut self,
        connection: &Connection,
        seq: u64,
        at: Timestamp,
        forget_at: Timestamp,
    ) -> rusqlite::Result<()> {
        if matches!(self.seen, Latest::NotLoaded) {
            self.seen = Stretch::load_last(connection)?.map_or(Latest::None, Latest::Some);
        }
        let (mut last, mut forgotten) = (at, Timestamp::default());
        if let Latest::Some(stretch) = &mut self.seen {
            last = last.max(stretch.last);
            let is_over = at >= stretch.since.plus_millis(STRETCH_MS);
            if !is_over || stretch.first_seq == seq {
                stretch.last = last;
                stretch.forget_at = stretch.forget_at.max(forget_at);
                stretch.is_changed = true;
                return Ok(());
            }
            stretch.save(connection)?;
            let over = [to_sql(last.millis())];
            let sql = "SELECT max(forget_at_ms) FROM peer_seen WHERE forget_at_ms <= ?1";
            let greatest: Option<i64> =
                connection.prepare_cached(sql)?.query_row(over, |row| row.get(0))?;
            let greatest = greatest.map(from_sql).map(Timestamp::from_millis);
            forgotten = stretch.forgotten.max(greatest.unwrap_or_default());
            connection
                .prepare_cached("DELETE FROM peer_seen WHERE forget_at_ms <= ?1")?
                .execute(over)?;
        }
        let (first_seq, since, is_changed) = (seq, at, true);
        self.seen =
            Latest::Some(Stretch { first_seq, since, last, forget_at, forgotten, is_changed });
        Ok(())
    }
}

fn keep_keys(
    connection: &Connection,
    session: &SessionId,
    keys: &KeptKeys,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO peer_keys (session, keys) VALUES (?1, ?2)";
    let keys = keys.0.reveal();
    connection.prepare_cached(sql)?.execute([session.as_str(), keys.as_str()]).map(drop)
}

fn drop_keys(connection: &Connection, session: &SessionId) -> rusqlite::Result<()> {
    let sql = "DELETE FROM peer_keys WHERE session = ?1";
    connection.prepare_cached(sql)?.execute([session.as_str()]).map(drop)
}

impl Stretch {
    fn load_last(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT first_seq, since_ms, last_ms, forget_at_ms, forgotten_ms FROM peer_seen
                   ORDER BY first_seq DESC LIMIT 1";
        let found = connection.prepare_cached(sql)?.query_row([], |row| {
            let time = |index| row.get(index).map(from_sql).map(Timestamp::from_millis);
            Ok(Self {
                first_seq: from_sql(row.get(0)?),
                since: time(1)?,
                last: time(2)?,
                forget_at: time(3)?,
                forgotten: time(4)?,
                is_changed: false,
            })
        });
        found.optional()
    }

    fn save(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        let sql = "INSERT OR REPLACE INTO peer_seen
                       (first_seq, since_ms, last_ms, forget_at_ms, forgotten_ms)
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![
            to_sql(self.first_seq),
            to_sql(self.since.millis()),
            to_sql(self.last.millis()),
            to_sql(self.forget_at.millis()),
            to_sql(self.forgotten.millis()),
        ];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Those that can be made again.
const TABLES: [&str; 8] = [
    "peer_sessions",
    "peer_past_sessions",
    "peer_running",
    "peer_tasks",
    "peer_task_names",
    "peer_updates",
    "peer_seen",
    "peer_refusals",
];

/// Rows kept in memory: more than a node has open at a time, and a few megabytes.
const REMEMBERED: usize = 32_768;

/// Tasks kept in memory while entries are read again: enough that their names come nearly in order.
const UNLISTED: usize = 4096;

/// Ids of messages are looked for from the start of a stretch, so that at most this much too many are
/// looked at.
const STRETCH_MS: u64 = 10_000;
