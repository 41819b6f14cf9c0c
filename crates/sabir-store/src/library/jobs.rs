//! The queue of what is to be fetched: put in, counted, cancelled. Who takes jobs out of it is in
//! [`super::worker`].

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::Library;
use super::collections::touch;
use super::error::{LibraryError, Trouble};
use super::ids::{CollectionId, Ids, JobId, SourceId, VersionId, WorkerId};
use super::limits::check_json;
use super::named::named;
use super::rows::{Count, Named as _, all, count, first, run};
use super::sources::{self, Fault, NewSource, SourceKind, SourceStatus, read_fault};
use super::worker::Found;

named! {
    JobStatus {
        Queued = "queued",
        Running = "running",
        Succeeded = "succeeded",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// What became of one source that was handed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Enqueued {
    pub source_id: SourceId,
    pub queueing: Queueing,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Queueing {
    /// A job for it waits; where a worker queued it, it is that worker's.
    Queued(JobId),
    /// A job for it waits or runs, and is another's, or nobody's.
    AlreadyQueued(JobId),
    /// It is in the collection; [`Library::refresh`] fetches it anew.
    AlreadyCaptured,
}

/// What is fetched of what is handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// What was not captured yet, and not before the time that the last failure named.
    Missing,
    /// Everything, now.
    Everything,
}

/// Who queues, for whom, and how it is to be fetched.
pub(crate) struct Order<'a> {
    /// Nobody: then it is for whoever comes first.
    pub(crate) owner: Option<&'a WorkerId>,
    pub(crate) options: &'a str,
    pub(crate) freshness: Freshness,
    pub(crate) now: u64,
}

/// A job as others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobState {
    pub id: JobId,
    pub source_id: SourceId,
    pub status: JobStatus,
    /// Whose it is, or was last.
    pub worker: Option<WorkerId>,
    /// JSON, as it was handed in.
    pub options: String,
    pub attempts: u64,
    pub max_attempts: u64,
    /// It is not tried before.
    pub not_before_ms: u64,
    /// What came of it.
    pub version: Option<VersionId>,
    pub found: Option<Found>,
    /// Why the last attempt failed.
    pub fault: Option<Fault>,
    pub created_at_ms: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobCounts {
    pub queued: u64,
    pub running: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub cancelled: u64,
}

impl Library {
    /// Adds sources and queues a job for each that is new, or that was never fetched with success.
    /// `options` is JSON for whoever fetches. All in one transaction, so hundreds cost little more
    /// than one.
    ///
    /// # Errors
    ///
    /// When there is no such collection, or one of the sources cannot be kept; then none is.
    pub fn enqueue(
        &self,
        collection: &CollectionId,
        sources: &[NewSource],
        options: &str,
        now: u64,
    ) -> Result<Vec<Enqueued>, LibraryError> {
        let order = Order { owner: None, options, freshness: Freshness::Missing, now };
        self.write(|connection, ids| enqueue(connection, ids, collection, sources, &order))
    }

    /// Queues a job for a source that may have been fetched before.
    ///
    /// # Errors
    ///
    /// When there is no such source, or it is a note.
    pub fn refresh(
        &self,
        source: &SourceId,
        options: &str,
        now: u64,
    ) -> Result<Queueing, LibraryError> {
        let order = Order { owner: None, options, freshness: Freshness::Everything, now };
        self.write(|connection, ids| refresh(connection, ids, source, &order))
    }

    /// # Errors
    ///
    /// When there is none.
    pub fn job(&self, id: &JobId) -> Result<JobState, LibraryError> {
        self.read(|connection| state(connection, id)?.ok_or_else(|| id.missing()))
    }

    /// Of one collection, or of all.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn job_counts(&self, scope: Option<&CollectionId>) -> Result<JobCounts, LibraryError> {
        self.read(|connection| {
            let collection = scope.map(|id| id.num(connection)).transpose()?;
            let sql = "SELECT count(*) FILTER (WHERE j.status = 'queued'),
                              count(*) FILTER (WHERE j.status = 'running'),
                              count(*) FILTER (WHERE j.status = 'succeeded'),
                              count(*) FILTER (WHERE j.status = 'failed'),
                              count(*) FILTER (WHERE j.status = 'cancelled')
                       FROM capture_jobs AS j JOIN sources AS s ON s.num = j.source
                       WHERE ?1 IS NULL OR s.collection = ?1";
            let counts = first(connection, sql, [collection], |row| {
                Ok(JobCounts {
                    queued: count(row, 0)?,
                    running: count(row, 1)?,
                    succeeded: count(row, 2)?,
                    failed: count(row, 3)?,
                    cancelled: count(row, 4)?,
                })
            })?;
            Ok(counts.unwrap_or_default())
        })
    }

    /// The sources of a collection whose servers want to be left alone, and until when.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn waiting_until(
        &self,
        collection: &CollectionId,
    ) -> Result<HashMap<SourceId, u64>, LibraryError> {
        self.read(|connection| {
            let sql = "SELECT s.id, j.not_before_ms
                       FROM capture_jobs AS j JOIN sources AS s ON s.num = j.source
                       WHERE s.collection = ?1 AND j.status = 'queued' AND j.not_before_ms > 0";
            let read = |row: &Row<'_>| Ok((row.get(0)?, count(row, 1)?));
            Ok(all(connection, sql, [collection.num(connection)?], read)?.into_iter().collect())
        })
    }

    /// Whoever runs it finds out when it finishes, and nothing of it is kept.
    ///
    /// # Errors
    ///
    /// When there is no such job. One that has ended stays as it is.
    pub fn cancel_job(&self, id: &JobId, now: u64) -> Result<JobStatus, LibraryError> {
        self.write(|connection, _| {
            let num = id.num(connection)?;
            cancel(connection, "num = ?2", now, num)?;
            let sql = "SELECT status FROM capture_jobs WHERE num = ?1";
            first(connection, sql, [num], |row| row.get(0))?.ok_or_else(|| id.missing())
        })
    }

    /// All jobs of a collection that have not ended; says how many.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn cancel_jobs(&self, collection: &CollectionId, now: u64) -> Result<usize, LibraryError> {
        self.write(|connection, _| {
            let collection = collection.num(connection)?;
            let which = "source IN (SELECT num FROM sources WHERE collection = ?2)";
            cancel(connection, which, now, collection)
        })
    }
}

pub(crate) fn enqueue(
    connection: &Connection,
    ids: &mut dyn Ids,
    collection: &CollectionId,
    sources: &[NewSource],
    order: &Order<'_>,
) -> Result<Vec<Enqueued>, Trouble> {
    check_json("the options of a job", order.options)?;
    let collection = collection.num(connection)?;
    touch(connection, collection, order.now)?;
    let enqueue_one = |source: &NewSource| {
        let added = sources::add(connection, ids, collection, source, order.now)?;
        let queueing = match (added.status, order.freshness) {
            (SourceStatus::Captured, Freshness::Missing) => Queueing::AlreadyCaptured,
            (SourceStatus::Captured, Freshness::Everything)
            | (SourceStatus::Pending | SourceStatus::Failed, _) => {
                queue(connection, ids, added.num, order)?
            }
        };
        Ok(Enqueued { source_id: added.id, queueing })
    };
    sources.iter().map(enqueue_one).collect()
}

pub(crate) fn refresh(
    connection: &Connection,
    ids: &mut dyn Ids,
    source: &SourceId,
    order: &Order<'_>,
) -> Result<Queueing, Trouble> {
    check_json("the options of a job", order.options)?;
    let sql = "SELECT num, kind FROM sources WHERE id = ?1";
    let found = first(connection, sql, [source], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match found.ok_or_else(|| source.missing())? {
        (_, SourceKind::Note) => Err(Trouble::invalid("a note", "it is kept, not fetched")),
        (num, SourceKind::Url | SourceKind::File) => queue(connection, ids, num, order),
    }
}

/// A source has one job at a time. One that waits for nobody becomes the worker's that orders it,
/// and is fetched as that one wants it.
fn queue(
    connection: &Connection,
    ids: &mut dyn Ids,
    source: i64,
    order: &Order<'_>,
) -> Result<Queueing, Trouble> {
    let Order { owner, options, freshness, now } = *order;
    let sql = "SELECT id, status, worker FROM capture_jobs
               WHERE source = ?1 AND status IN ('queued', 'running')";
    let waiting: Option<(JobId, JobStatus, Option<WorkerId>)> =
        first(connection, sql, [source], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if let Some((id, status, worker)) = waiting {
        let is_free = worker.is_none() || worker.as_ref() == owner;
        if owner.is_none() || status != JobStatus::Queued || !is_free {
            return Ok(Queueing::AlreadyQueued(id));
        }
        take(connection, &id, owner, options)?;
        if freshness == Freshness::Everything {
            run(connection, "UPDATE capture_jobs SET not_before_ms = 0 WHERE id = ?1", [&id])?;
        }
        return Ok(Queueing::Queued(id));
    }
    let id = JobId::draw(ids);
    let sql = "INSERT INTO capture_jobs (id, source, options_json, status, attempts, max_attempts,
                                         not_before_ms, created_at_ms, worker)
               VALUES (?1, ?2, ?3, 'queued', 0, ?4, 0, ?5, ?6)";
    run(connection, sql, params![id, source, options, MAX_ATTEMPTS, Count(now), owner])?;
    Ok(Queueing::Queued(id))
}

/// Makes a job that waits the worker's.
pub(crate) fn take(
    connection: &Connection,
    id: &JobId,
    worker: Option<&WorkerId>,
    options: &str,
) -> Result<(), Trouble> {
    let sql = "UPDATE capture_jobs SET worker = ?2, options_json = ?3
               WHERE id = ?1 AND status = 'queued'";
    run(connection, sql, params![id, worker, options]).map(drop)
}

pub(crate) fn state(connection: &Connection, id: &JobId) -> Result<Option<JobState>, Trouble> {
    let sql = "SELECT j.id, s.id, j.status, j.attempts, j.max_attempts, j.not_before_ms, v.id,
                      j.error_code, j.error_text, j.created_at_ms, j.worker, j.options_json, j.found
               FROM capture_jobs AS j
               JOIN sources AS s ON s.num = j.source
               LEFT JOIN source_versions AS v ON v.num = j.version
               WHERE j.id = ?1";
    first(connection, sql, [id], read)
}

fn cancel(connection: &Connection, which: &str, now: u64, of: i64) -> Result<usize, Trouble> {
    let sql = format!(
        "UPDATE capture_jobs SET status = 'cancelled', finished_at_ms = ?1
         WHERE status IN ('queued', 'running') AND {which}"
    );
    run(connection, &sql, params![Count(now), of])
}

fn read(row: &Row<'_>) -> rusqlite::Result<JobState> {
    Ok(JobState {
        id: row.get(0)?,
        source_id: row.get(1)?,
        status: row.get(2)?,
        attempts: count(row, 3)?,
        max_attempts: count(row, 4)?,
        not_before_ms: count(row, 5)?,
        version: row.get(6)?,
        fault: read_fault(row, 7)?,
        created_at_ms: count(row, 9)?,
        worker: row.get(10)?,
        options: row.get(11)?,
        found: row.get(12)?,
    })
}

/// A server that was away for a moment is back by the third time; one that is not will not be.
const MAX_ATTEMPTS: i64 = 3;
