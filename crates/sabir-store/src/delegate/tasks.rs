//! Rows of tasks for peers: those that run, and those that ended.

use rusqlite::{Connection, OptionalExtension as _, params};
use sabir_ldp::{Authentication, TaskKey};

use super::effect::Ended;
use super::names;
use crate::journal::{from_sql, to_sql};

/// Which entry started a task, and where in it: a number for the task, by which its updates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(i64);

/// A task that runs, as far as it is not in the entry that started it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) place: Place,
    pub(super) updated_seq: Option<u64>,
}

impl Place {
    pub(super) fn new(seq: u64, index: u16) -> Self {
        Self(to_sql(seq.saturating_mul(RECORDS)).saturating_add(i64::from(index)))
    }

    pub(super) fn from_column(column: i64) -> Self {
        Self(column)
    }

    pub(super) fn column(self) -> i64 {
        self.0
    }

    pub(super) fn seq(self) -> u64 {
        from_sql(self.0) / RECORDS
    }
}

/// A task that ended, on its way into the table.
pub(super) struct Listed {
    pub(super) num: i64,
    pub(super) seq: u64,
    pub(super) place: Option<Place>,
    /// The task of the same session that ended before it.
    pub(super) before: Option<i64>,
    pub(super) ended: Box<Ended>,
}

/// Records of one entry, at most.
pub(crate) const RECORDS: u64 = 1 << 16;

impl Running {
    pub(super) fn load(connection: &Connection, key: &TaskKey) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT place, updated_seq FROM peer_running WHERE owner = ?1 AND id = ?2";
        let names = params![key.owner.as_str(), key.id.as_str()];
        let found = connection.prepare_cached(sql)?.query_row(names, |row| {
            Ok(Self {
                place: Place(row.get(0)?),
                updated_seq: row.get::<_, Option<i64>>(1)?.map(from_sql),
            })
        });
        found.optional()
    }

    pub(super) fn save(&self, connection: &Connection, key: &TaskKey) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "INSERT OR REPLACE INTO peer_running (owner, id, place, updated_seq)
             VALUES (?1, ?2, ?3, ?4)",
        )?;
        let updated_seq = self.updated_seq.map(to_sql);
        statement.execute(params![
            key.owner.as_str(),
            key.id.as_str(),
            self.place.0,
            updated_seq
        ])?;
        Ok(())
    }

    pub(super) fn delete(connection: &Connection, key: &TaskKey) -> rusqlite::Result<()> {
        let sql = "DELETE FROM peer_running WHERE owner = ?1 AND id = ?2";
        let names = params![key.owner.as_str(), key.id.as_str()];
        connection.prepare_cached(sql)?.execute(names).map(drop)
    }
}

/// Where an update of a task stands.
pub(super) fn list_update(
    connection: &Connection,
    place: Place,
    n: u64,
    seq: u64,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO peer_updates (place, n, seq) VALUES (?1, ?2, ?3)";
    let values = params![place.0, to_sql(n), to_sql(seq)];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

/// The number of the task that ended last; 0 if none did.
pub(super) fn last_ended(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(max(num), 0) FROM peer_tasks";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Lists tasks that ended. Their numbers follow each other, and those that are there.
pub(super) fn list_ended(connection: &Connection, tasks: &[Listed]) -> rusqlite::Result<()> {
    let [first, ..] = tasks else { return Ok(()) };
    let mut statement = connection.prepare_cached(
        "INSERT INTO peer_tasks
             (num, owner, id, digest, authentication, place, ended_seq, before, shown)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let mut last = first.num;
    for Listed { num, seq, place, before, ended } in tasks {
        statement.execute(params![
            num,
            ended.key.owner.as_str(),
            ended.key.id.as_str(),
            ended.digest,
            authentication_to_sql(ended.authentication),
            place.map(Place::column),
            to_sql(*seq),
            before,
            ended.shown.map(|mark| mark.0.0),
        ])?;
        last = *num;
    }
    names::list(connection, first.num, last)
}

fn authentication_to_sql(authentication: Authentication) -> i64 {
    match authentication {
        Authentication::Unsigned => 0,
        Authentication::Shown => 1,
        Authentication::Reference => 2,
        Authentication::Signed => 3,
    }
}

pub(super) fn authentication_from_sql(number: i64) -> Option<Authentication> {
    let all = [
        Authentication::Unsigned,
        Authentication::Shown,
        Authentication::Reference,
        Authentication::Signed,
    ];
    all.into_iter().find(|it| authentication_to_sql(*it) == number)
}
