//! Workers: who takes jobs, and what happens to those of one that died.
//!
//! A worker holds a lock of the system on a file of its own. The system takes it back when the process
//! ends, however it ends. So whether a worker lives is asked of the lock, never of a clock, and what a
//! dead one had at hand is free at once.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, params};

use super::Library;
use super::collections::touch;
use super::error::{LibraryError, Trouble};
use super::ids::{CollectionId, JobId, SourceId, VersionId, WorkerId};
use super::jobs::{self, Enqueued, Freshness, JobState, JobStatus, Order, Queueing};
use super::named::named;
use super::rows::{Count, Named as _, all, count, first, maybe_count, run};
use super::sources::{Fault, NewSource, Origin, note_fault};
use super::versions::{self, Captured};
use crate::home;

/// Takes jobs as long as it lives. When it is dropped, what it has at hand goes back into the queue.
#[derive(Debug)]
pub struct Worker {
    library: Library,
    id: WorkerId,
    path: PathBuf,
    #[expect(dead_code, reason = "closing the file frees the lock")]
    lock: File,
}

/// A job at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub id: JobId,
    pub source_id: SourceId,
    pub collection_id: CollectionId,
    pub origin: Origin,
    /// Where it is fetched from; it may hold what is not to be shown.
    pub fetch_address: Option<String>,
    /// JSON, as it was handed in.
    pub options: String,
    /// 1 for the first.
    pub attempt: u64,
    pub max_attempts: u64,
    /// What was captured last, and the options that were handed in for it.
    pub current: Option<VersionId>,
    pub current_options: Option<String>,
    /// What the server said last time, to be said back to it.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// What fetching led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Captured(Box<Captured>),
    /// The server says that what we have is still so.
    NotModified,
}

named! {
    Found {
        New = "new",
        /// The text is the one that we have; there is no new version.
        Unchanged = "unchanged",
    }
}

/// What became of a job that was finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    Kept {
        version: VersionId,
        found: Found,
    },
    /// It was cancelled, or its source was removed, or another has it now. Nothing was kept.
    Lost,
}

/// Whose jobs are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those that this worker queued or took over.
    Own,
    /// Those that are nobody's, too.
    Anyones,
}

/// What became of jobs that others left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenOver {
    pub taken: usize,
    /// They wait on, because they need more than this worker has, or are not due.
    pub left: usize,
}

/// The jobs of one worker that have not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InLine {
    pub queued: u64,
    pub running: u64,
    /// When the next one that waits may be tried.
    pub next_due_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Not before this time.
    At(u64),
    /// It would fail again.
    Never,
}

/// Where a job went that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Back into the queue.
    Back,
    /// Aside: it was tried often enough, or would fail again.
    Aside,
    /// It was not ours any more.
    Lost,
}

impl Worker {
    /// # Errors
    ///
    /// When the lock cannot be made.
    pub fn start(library: &Library) -> Result<Self, LibraryError> {
        let folder = folder(library.home());
        // Within a transaction, because only one process at a time has one: nobody takes the file
        // for that of a dead worker between its making and its locking.
        let (id, path, lock) = library.write(|_, ids| {
            let io = |error: std::io::Error| LibraryError::io(&folder, &error);
            home::make_folder(&folder).map_err(io)?;
            sweep(&folder).map_err(io)?;
            let id = WorkerId::draw(ids);
            let path = lock_path(library.home(), &id);
            let lock = home::open_private(&path).map_err(io)?;
            match lock.try_lock() {
                Ok(()) => Ok((id, path, lock)),
                Err(TryLockError::Error(error)) => Err(io(error).into()),
                Err(TryLockError::WouldBlock) => {
                    Err(Trouble::invalid("a worker", "its id was drawn twice"))
                }
            }
        })?;
        Ok(Self { library: library.clone(), id, path, lock })
    }

    #[must_use]
    pub fn id(&self) -> &WorkerId {
        &self.id
    }

    pub(crate) fn library(&self) -> &Library {
        &self.library
    }

    /// As [`Library::enqueue`], for this worker: no other takes these jobs while it lives. What
    /// waits for nobody becomes this worker's, with these options.
    ///
    /// # Errors
    ///
    /// As [`Library::enqueue`].
    pub fn enqueue(
        &self,
        collection: &CollectionId,
        sources: &[NewSource],
        options: &str,
        freshness: Freshness,
        now: u64,
    ) -> Result<Vec<Enqueued>, LibraryError> {
        let order = Order { owner: Some(&self.id), options, freshness, now };
        self.library.write(|connection, ids| {
            free_the_dead(connection, self.library.home(), now)?;
            jobs::enqueue(connection, ids, collection, sources, &order)
        })
    }

    /// As [`Library::refresh`], for this worker.
    ///
    /// # Errors
    ///
    /// As [`Library::refresh`].
    pub fn refresh(
        &self,
        source: &SourceId,
        options: &str,
        now: u64,
    ) -> Result<Queueing, LibraryError> {
        let freshness = Freshness::Everything;
        let order = Order { owner: Some(&self.id), options, freshness, now };
        self.library.write(|connection, ids| {
            free_the_dead(connection, self.library.home(), now)?;
            jobs::refresh(connection, ids, source, &order)
        })
    }

    /// Takes over what others left in the collection, as far as it is due before `due_ms` and `fits`
    /// says of its options that this worker can do it.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn take_over(
        &self,
        collection: &CollectionId,
        fits: impl Fn(&str) -> bool,
        due_ms: u64,
        now: u64,
    ) -> Result<TakenOver, LibraryError> {
        self.library.write(|connection, _| {
            free_the_dead(connection, self.library.home(), now)?;
            let collection = collection.num(connection)?;
            let sql = "SELECT j.id, j.options_json, j.not_before_ms
                       FROM capture_jobs AS j JOIN sources AS s ON s.num = j.source
                       WHERE j.status = 'queued' AND j.worker IS NULL AND s.collection = ?1";
            let jobs: Vec<(JobId, String, u64)> = all(connection, sql, [collection], |row| {
                Ok((row.get(0)?, row.get(1)?, count(row, 2)?))
            })?;
            let mut done = TakenOver::default();
            for (id, options, not_before_ms) in jobs {
                if not_before_ms < due_ms && fits(&options) {
                    jobs::take(connection, &id, Some(&self.id), &options)?;
                    done.taken += 1;
                } else {
                    done.left += 1;
                }
            }
            Ok(done)
        })
    }

    /// How jobs stand that are others'; nothing for one that is gone. One whose worker died before
    /// it ended becomes this worker's, with these options.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn follow(
        &self,
        jobs: &[JobId],
        options: &str,
        now: u64,
    ) -> Result<Vec<Option<JobState>>, LibraryError> {
        self.library.write(|connection, _| {
            free_the_dead(connection, self.library.home(), now)?;
            let state_of = |id| {
                let state = jobs::state(connection, id)?;
                let is_free = |it: &JobState| it.status == JobStatus::Queued && it.worker.is_none();
                if !state.as_ref().is_some_and(is_free) {
                    return Ok(state);
                }
                jobs::take(connection, id, Some(&self.id), options)?;
                jobs::state(connection, id)
            };
            jobs.iter().map(state_of).collect()
        })
    }

    /// What of this worker's has not ended.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn in_line(&self) -> Result<InLine, LibraryError> {
        self.library.read(|connection| {
            let sql = "SELECT count(*) FILTER (WHERE status = 'queued'),
                              count(*) FILTER (WHERE status = 'running'),
                              min(not_before_ms) FILTER (WHERE status = 'queued')
                       FROM capture_jobs WHERE status IN ('queued', 'running') AND worker = ?1";
            let found = first(connection, sql, [&self.id], |row| {
                Ok(InLine {
                    queued: count(row, 0)?,
                    running: count(row, 1)?,
                    next_due_ms: maybe_count(row, 2)?,
                })
            })?;
            Ok(found.unwrap_or_default())
        })
    }

    /// The job that has waited longest, of one collection or of all; it is then nobody else's. `None`
    /// when there is nothing to do now.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn claim_next(
        &self,
        scope: Option<&CollectionId>,
        whose: Whose,
        now: u64,
    ) -> Result<Option<Job>, LibraryError> {
        self.library.write(|connection, _| {
            if whose == Whose::Anyones {
                free_the_dead(connection, self.library.home(), now)?;
            }
            let collection = scope.map(|id| id.num(connection)).transpose()?;
            let parameters = params![Count(now), collection, self.id, whose == Whose::Anyones];
            let next = first(connection, NEXT, parameters, |row| row.get(0))?;
            let Some(num): Option<i64> = next else { return Ok(None) };
            let sql = "UPDATE capture_jobs
                       SET status = 'running', worker = ?2, attempts = attempts + 1
                       WHERE num = ?1";
            run(connection, sql, params![num, self.id])?;
            load(connection, num)
        })
    }

    /// Keeps what was fetched: the version, the source, the search and the job in one transaction.
    /// Finishing again changes nothing and says the same.
    ///
    /// # Errors
    ///
    /// When what was fetched cannot be kept; the job is then still at hand.
    pub fn finish(&self, job: &Job, outcome: &Outcome, now: u64) -> Result<Finished, LibraryError> {
        self.library.write(|connection, ids| {
            let Some(held) = self.held(connection, job)? else { return Ok(Finished::Lost) };
            if held.status == JobStatus::Succeeded {
                return finished(connection, held.num);
            }
            if held.status != JobStatus::Running {
                return Ok(Finished::Lost);
            }
            let (version, found) = match outcome {
                Outcome::Captured(captured) => {
                    let kept = versions::keep(connection, ids, held.source, captured, now)?;
                    (kept.num, if kept.is_new { Found::New } else { Found::Unchanged })
                }
                Outcome::NotModified => (still_so(connection, held.source, now)?, Found::Unchanged),
            };
            let sql = "UPDATE capture_jobs
                       SET status = 'succeeded', version = ?2, found = ?3, finished_at_ms = ?4,
                           error_code = NULL, error_text = NULL
                       WHERE num = ?1";
            run(connection, sql, params![held.num, version, found, Count(now)])?;
            touch(connection, held.collection, now)?;
            finished(connection, held.num)
        })
    }

    /// Puts the job back for another attempt, or aside. What was captured before is not hidden by it.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn fail(
        &self,
        job: &Job,
        fault: &Fault,
        retry: Retry,
        now: u64,
    ) -> Result<Put, LibraryError> {
        self.library.write(|connection, _| {
            let held = self.held(connection, job)?;
            let Some(held) = held.filter(|held| held.status == JobStatus::Running) else {
                return Ok(Put::Lost);
            };
            let put = put_back(connection, &held, fault, retry, now)?;
            touch(connection, held.collection, now)?;
            Ok(put)
        })
    }

    /// The row of the job, if this attempt at it is still the last one and ours.
    fn held(&self, connection: &Connection, job: &Job) -> Result<Option<Held>, Trouble> {
        let sql = format!("{HELD} WHERE j.id = ?1 AND j.worker = ?2 AND j.attempts = ?3");
        first(connection, &sql, params![job.id, self.id, Count(job.attempt)], Held::read)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The lock goes with the file; a file that stays is swept by another.
        let _ = fs::remove_file(&self.path);
    }
}

/// A job as a worker that ends it needs it.
struct Held {
    num: i64,
    source: i64,
    collection: i64,
    status: JobStatus,
    attempts: i64,
    max_attempts: i64,
}

const NEXT: &str = "SELECT j.num FROM capture_jobs AS j JOIN sources AS s ON s.num = j.source
    WHERE j.status = 'queued' AND j.not_before_ms <= ?1 AND (?2 IS NULL OR s.collection = ?2)
      AND (j.worker = ?3 OR ?4 AND j.worker IS NULL)
    ORDER BY j.not_before_ms, j.num LIMIT 1";

const HELD: &str = "SELECT j.num, j.source, s.collection, j.status, j.attempts, j.max_attempts
    FROM capture_jobs AS j JOIN sources AS s ON s.num = j.source";

impl Held {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            num: row.get(0)?,
            source: row.get(1)?,
            collection: row.get(2)?,
            status: row.get(3)?,
            attempts: row.get(4)?,
            max_attempts: row.get(5)?,
        })
    }
}

/// Frees what dead workers had at hand or had queued. Called before anything of others is looked at,
/// in the same transaction.
pub(crate) fn free_the_dead(
    connection: &Transaction<'_>,
    home: &Path,
    now: u64,
) -> Result<(), Trouble> {
    let sql = "SELECT worker FROM capture_jobs
               WHERE status IN ('queued', 'running') AND worker IS NOT NULL
               UNION SELECT worker FROM artifacts WHERE status = 'running'";
    let workers: Vec<WorkerId> = all(connection, sql, [], |row| row.get(0))?;
    for worker in workers {
        if is_alive(&lock_path(home, &worker)) {
            continue;
        }
        let sql = format!("{HELD} WHERE j.worker = ?1 AND j.status = 'running'");
        let jobs = all(connection, &sql, [&worker], Held::read)?;
        let fault = Fault::new("worker_died", "the process that fetched it died");
        for job in &jobs {
            put_back(connection, job, &fault, Retry::At(0), now)?;
        }
        let sql = "UPDATE capture_jobs SET worker = NULL WHERE worker = ?1 AND status = 'queued'";
        run(connection, sql, [&worker])?;
        let sql = "UPDATE artifacts SET status = 'failed', error_code = ?2, error_text = ?3
                   WHERE worker = ?1 AND status = 'running'";
        run(connection, sql, params![worker, fault.code, "the process that made it died"])?;
    }
    Ok(())
}

fn put_back(
    connection: &Connection,
    job: &Held,
    fault: &Fault,
    retry: Retry,
    now: u64,
) -> Result<Put, Trouble> {
    // Counted for dead workers, too: a page that kills whoever reads it is not read for ever.
    let again = match retry {
        Retry::At(at) if job.attempts < job.max_attempts => Some(at),
        Retry::At(_) | Retry::Never => None,
    };
    let Fault { code, text } = fault.clipped();
    match again {
        Some(at) => {
            let sql = "UPDATE capture_jobs
                       SET status = 'queued', not_before_ms = ?2, error_code = ?3,
                           error_text = ?4
                       WHERE num = ?1";
            run(connection, sql, params![job.num, Count(at), code, text])?;
            Ok(Put::Back)
        }
        None => {
            let sql = "UPDATE capture_jobs
                       SET status = 'failed', finished_at_ms = ?2, error_code = ?3, error_text = ?4
                       WHERE num = ?1";
            run(connection, sql, params![job.num, Count(now), code, text])?;
            note_fault(connection, job.source, fault)?;
            Ok(Put::Aside)
        }
    }
}

fn still_so(connection: &Connection, source: i64, now: u64) -> Result<i64, Trouble> {
    let sql = "UPDATE sources SET error_code = NULL, error_text = NULL, checked_at_ms = ?2
               WHERE num = ?1 AND current IS NOT NULL RETURNING current";
    first(connection, sql, params![source, Count(now)], |row| row.get(0))?
        .ok_or_else(|| Trouble::invalid("an unchanged page", "there is no version of it yet"))
}

fn finished(connection: &Connection, job: i64) -> Result<Finished, Trouble> {
    let sql = "SELECT v.id, j.found FROM capture_jobs AS j
               JOIN source_versions AS v ON v.num = j.version WHERE j.num = ?1";
    let kept = first(connection, sql, [job], |row| {
        Ok(Finished::Kept { version: row.get(0)?, found: row.get(1)? })
    })?;
    Ok(kept.unwrap_or(Finished::Lost))
}

fn load(connection: &Connection, num: i64) -> Result<Option<Job>, Trouble> {
    let sql = "SELECT j.id, s.id, c.id, s.kind, s.address, j.options_json, j.attempts,
                      j.max_attempts, s.etag, s.last_modified, coalesce(s.fetch_address, s.address),
                      v.id, (SELECT o.options_json FROM capture_jobs AS o
                             WHERE o.source = s.num AND o.status = 'succeeded'
                             ORDER BY o.num DESC LIMIT 1)
               FROM capture_jobs AS j
               JOIN sources AS s ON s.num = j.source
               JOIN collections AS c ON c.num = s.collection
               LEFT JOIN source_versions AS v ON v.num = s.current
               WHERE j.num = ?1";
    first(connection, sql, [num], |row| {
        Ok(Job {
            id: row.get(0)?,
            source_id: row.get(1)?,
            collection_id: row.get(2)?,
            origin: Origin { kind: row.get(3)?, address: row.get(4)? },
            options: row.get(5)?,
            attempt: count(row, 6)?,
            max_attempts: count(row, 7)?,
            etag: row.get(8)?,
            last_modified: row.get(9)?,
            fetch_address: row.get(10)?,
            current: row.get(11)?,
            current_options: row.get(12)?,
        })
    })
}

fn folder(home: &Path) -> PathBuf {
    home.join("workers")
}

fn lock_path(home: &Path, worker: &WorkerId) -> PathBuf {
    folder(home).join(format!("{worker}.lock"))
}

/// A worker lives as long as its lock is held. Asking takes the lock for a moment, which nobody
/// notices: only one process at a time asks, within a transaction.
fn is_alive(path: &Path) -> bool {
    match File::open(path).map(|file| file.try_lock()) {
        Ok(Ok(())) => false,
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        // What cannot be found out is left alone: a job too late is better than a job twice.
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) => true,
    }
}

/// Removes the files of workers that died. Their jobs are freed by a missing file, too.
fn sweep(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        if is_lock && !is_alive(&path) {
            // Another worker that ends at this moment removes its own.
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}
