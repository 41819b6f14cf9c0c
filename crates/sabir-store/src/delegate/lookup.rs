//! What the store has of single tasks, and of what was refused. Each entry that is read is held against
//! its hash.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use sabir_ldp::{
    DelegateId, Record, Refused, TaskEnded, TaskId, TaskKey, TaskStarted, TaskUpdated, read_records,
};

use super::mark::{Placed, Tail};
use super::names;
use super::tasks::{Place, Running};
use crate::chain::Hash;
use crate::connection::genesis;
use crate::entry::Kind;
use crate::error::{StoreError, Tampered};
use crate::journal::{Broken, UNREADABLE, from_sql, head_at, to_sql};
use crate::reader::Reader;
use crate::tables::Version;

/// A message that was not obeyed, and the entry that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerRefusal {
    pub seq: u64,
    pub refused: Refused,
}

impl Reader {
    /// How a task ended; `None` while it runs and when it is not known.
    ///
    /// # Errors
    ///
    /// [`StoreError::Tampered`] when the entry is not what was written; when the file cannot be read.
    pub fn peer_task_ended(&self, key: &TaskKey) -> Result<Option<TaskEnded>, StoreError> {
        self.of_peers(|rows| {
            let Some(num) = names::find(rows.connection, rows.version, key)? else {
                let ended = rows.tail()?.iter().find_map(|(_, _, record)| match record {
                    Record::Ended(ended) if ended.key == *key => Some(&**ended),
                    _ => None,
                });
                return Ok(ended.cloned());
            };
            let sql = "SELECT ended_seq FROM peer_tasks WHERE num = ?1";
            let mut statement = rows.connection.prepare_cached(sql)?;
            let seq: i64 = statement.query_row([num], |row| row.get(0))?;
            let found = rows.find(from_sql(seq), |record| match record {
                Record::Ended(ended) if ended.key == *key => Some(*ended),
                _ => None,
            });
            found.map(Some)
        })
    }

    /// The tasks with this id, whoever sent them; at most `limit`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn peer_tasks_named(&self, id: &str, limit: usize) -> Result<Vec<TaskKey>, StoreError> {
        let Ok(id) = TaskId::new(id) else { return Ok(Vec::new()) };
        self.of_peers(|rows| {
            let sql = "SELECT owner FROM peer_running WHERE id = ?1
                       UNION SELECT owner FROM peer_tasks WHERE id = ?1 ORDER BY owner LIMIT ?2";
            let mut statement = rows.connection.prepare_cached(sql)?;
            let found = statement.query_map(params![id.as_str(), to_sql(limit as u64)], |row| {
                row.get::<_, String>(0)
            })?;
            let mut owners = BTreeSet::new();
            for owner in found {
                // One that is none would have been found by verification.
                owners.extend(DelegateId::new(owner?));
            }
            owners.extend(rows.tail()?.iter().filter_map(|(_, _, record)| match record {
                Record::Started(started) if started.key.id == id => Some(started.key.owner.clone()),
                _ => None,
            }));
            let keys = owners.into_iter().map(|owner| TaskKey { owner, id: id.clone() });
            Ok(keys.take(limit).collect())
        })
    }

    /// With what a task was started, whether it runs or ended.
    ///
    /// # Errors
    ///
    /// As [`Reader::peer_task_ended`].
    pub fn peer_task_started(&self, key: &TaskKey) -> Result<Option<TaskStarted>, StoreError> {
        self.of_peers(|rows| {
            let Some(place) = rows.place(key)? else { return Ok(None) };
            rows.started(place.seq(), key).map(Some)
        })
    }

    /// Updates of a task after the one numbered `after`, in order, at most `limit`.
    ///
    /// # Errors
    ///
    /// As [`Reader::peer_task_ended`].
    pub fn peer_task_updates(
        &self,
        key: &TaskKey,
        after: u64,
        limit: usize,
    ) -> Result<Vec<TaskUpdated>, StoreError> {
        self.of_peers(|rows| {
            let Some(place) = rows.place(key)? else { return Ok(Vec::new()) };
            let mut statement = rows.connection.prepare_cached(
                "SELECT n, seq FROM peer_updates WHERE place = ?1 AND n > ?2 ORDER BY n LIMIT ?3",
            )?;
            let bounds = params![place.column(), to_sql(after), to_sql(limit as u64)];
            let found = statement
                .query_map(bounds, |row| Ok((from_sql(row.get(0)?), from_sql(row.get(1)?))))?;
            let mut updates = Vec::new();
            for found in found {
                let (n, seq) = found?;
                updates.push(rows.find(seq, |record| match record {
                    Record::Updated(updated) if updated.seq == n && updated.key == *key => {
                        Some(*updated)
                    }
                    _ => None,
                })?);
            }
            let last = updates.last().map_or(after, |updated: &TaskUpdated| updated.seq);
            let newer = rows.newer_updates(key)?.filter(|updated| updated.seq > last);
            updates.extend(newer.take(limit - updates.len()).cloned());
            Ok(updates)
        })
    }

    /// The number of the last update of a task; 0 if there is none.
    ///
    /// # Errors
    ///
    /// As [`Reader::peer_task_ended`].
    pub fn peer_task_last_update(&self, key: &TaskKey) -> Result<u64, StoreError> {
        self.of_peers(|rows| {
            let Some(place) = rows.place(key)? else { return Ok(0) };
            let sql = "SELECT coalesce(max(n), 0) FROM peer_updates WHERE place = ?1";
            let mut statement = rows.connection.prepare_cached(sql)?;
            let known = from_sql(statement.query_row(params![place.column()], |row| row.get(0))?);
            Ok(rows.newer_updates(key)?.map(|updated| updated.seq).fold(known, u64::max))
        })
    }

    /// What was refused, in entries after the one numbered `after_seq`: all of at most `limit` entries.
    ///
    /// # Errors
    ///
    /// As [`Reader::peer_task_ended`].
    pub fn peer_refusals(
        &self,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<PeerRefusal>, StoreError> {
        self.of_peers(|rows| {
            let mut statement = rows.connection.prepare_cached(
                "SELECT seq FROM peer_refusals WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            )?;
            let bounds = params![to_sql(after_seq), to_sql(limit as u64)];
            let seqs = statement.query_map(bounds, |row| Ok(from_sql(row.get(0)?)))?;
            let (mut refusals, mut entries) = (Vec::new(), 0);
            for seq in seqs {
                let seq = seq?;
                let refused = rows.records(seq)?.into_iter().filter_map(|record| match record {
                    Record::Refused(refused) => Some(PeerRefusal { seq, refused: *refused }),
                    _ => None,
                });
                refusals.extend(refused);
                entries += 1;
            }
            // All of an entry or none of it.
            let mut last = after_seq;
            for (seq, _, record) in rows.tail()? {
                let Record::Refused(refused) = record else { continue };
                if *seq <= after_seq {
                    continue;
                }
                entries += usize::from(*seq != std::mem::replace(&mut last, *seq));
                if entries > limit {
                    break;
                }
                refusals.push(PeerRefusal { seq: *seq, refused: (**refused).clone() });
            }
            Ok(refusals)
        })
    }

    /// One snapshot for all that `read` looks at; nothing where no delegate ever wrote.
    pub(super) fn of_peers<T: Default>(
        &self,
        read: impl FnOnce(&Rows<'_>) -> Result<T, Broken>,
    ) -> Result<T, StoreError> {
        let look = || {
            let snapshot =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
            let version = Version::of(&snapshot)?;
            if !version.has_delegate() {
                return Ok(T::default());
            }
            let (genesis, tail) = (genesis(&snapshot)?, Tail::after(self.tail.take()));
            let rows = Rows { connection: &snapshot, version, genesis, reader: self, tail };
            let found = read(&rows);
            self.tail.replace(rows.tail.known());
            found
        };
        look().map_err(|broken: Broken| broken.at(&self.path))
    }
}

/// Entries of peers, as one snapshot has them.
pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) version: Version,
    pub(super) genesis: Hash,
    reader: &'a Reader,
    tail: Tail,
}

impl Rows<'_> {
    /// The records that the tables do not know of.
    pub(super) fn tail(&self) -> Result<&[Placed], Broken> {
        self.tail.records(self.connection, self.version, self.genesis)
    }

    /// Updates of a task that the tables do not know of, in order.
    fn newer_updates(&self, key: &TaskKey) -> Result<impl Iterator<Item = &TaskUpdated>, Broken> {
        Ok(self.tail()?.iter().filter_map(move |(_, _, record)| match record {
            Record::Updated(updated) if updated.key == *key => Some(&**updated),
            _ => None,
        }))
    }

    /// The records of an entry, once it fits its hash and the one before it.
    pub(super) fn records(&self, seq: u64) -> Result<Vec<Record>, Broken> {
        let before = head_at(self.connection, self.genesis, seq.saturating_sub(1))?;
        self.reader.row(seq, |columns| {
            columns.follows(&before)?;
            let (_, row) = columns.read()?;
            match row.kind {
                Kind::Peer => read_records(&row.body).ok_or(Tampered { seq, why: UNREADABLE }),
                _ => Err(Tampered { seq, why: ELSEWHERE }),
            }
        })
    }

    /// The first record of an entry that is looked for.
    pub(super) fn find<T>(
        &self,
        seq: u64,
        pick: impl FnMut(Record) -> Option<T>,
    ) -> Result<T, Broken> {
        let found = self.records(seq)?.into_iter().find_map(pick);
        found.ok_or_else(|| Tampered { seq, why: ELSEWHERE }.into())
    }

    pub(super) fn started(&self, seq: u64, key: &TaskKey) -> Result<TaskStarted, Broken> {
        self.find(seq, |record| match record {
            Record::Started(started) if started.key == *key => Some(*started),
            _ => None,
        })
    }

    fn place(&self, key: &TaskKey) -> Result<Option<Place>, Broken> {
        if let Some(running) = Running::load(self.connection, key)? {
            return Ok(Some(running.place));
        }
        let Some(num) = names::find(self.connection, self.version, key)? else {
            let began = |(seq, index, record): &Placed| match record {
                Record::Started(started) if started.key == *key => Some(Place::new(*seq, *index)),
                _ => None,
            };
            return Ok(self.tail()?.iter().find_map(began));
        };
        let sql = "SELECT place FROM peer_tasks WHERE num = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let place: Option<i64> = statement.query_row([num], |row| row.get(0))?;
        Ok(place.map(Place::from_column))
    }
}

const ELSEWHERE: &str = "a table lists it for what it does not say";
