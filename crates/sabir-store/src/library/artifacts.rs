//! Artifacts: what was made of sources, or saved. They outlive the collection that they came from.

use rusqlite::{Connection, Row, params};
use sabir_base::text::one_line;
use serde::Serialize;

use super::citations::{self, NewCitation, Owner};
use super::error::{LibraryError, Trouble};
use super::ids::{ArtifactId, CollectionId, Ids, SourceId};
use super::limits::{MAX_BODY, MAX_LINE, MAX_TITLE, check_json, check_size, check_title};
use super::named::named;
use super::rows::{AsJson, Count, Named as _, count, first, run, some};
use super::sources::{Fault, read_fault};
use super::worker::{Worker, free_the_dead};
use super::{Library, limits};

named! {
    ArtifactStatus {
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// What is known of an artifact before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewArtifact {
    pub collection_id: Option<CollectionId>,
    /// `comparison`, `timeline`, `note` and so on.
    pub kind: String,
    pub title: String,
    pub tags: Vec<String>,
    /// What it is made of.
    pub source_ids: Vec<SourceId>,
    /// JSON: how it is made.
    pub config: String,
    /// Two with the same key are the same; they are not made at the same time.
    pub dedupe_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Artifact {
    /// Where it stands in the list: the place to go on from.
    pub num: u64,
    pub id: ArtifactId,
    /// None also when the collection was deleted since.
    pub collection_id: Option<CollectionId>,
    pub kind: String,
    pub title: String,
    pub tags: Vec<String>,
    pub status: ArtifactStatus,
    pub markdown: String,
    pub source_ids: Vec<SourceId>,
    pub config: String,
    pub fault: Option<Fault>,
    pub created_at_ms: u64,
    pub updated_at_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    Started(ArtifactId),
    /// One with the same key is being made.
    AlreadyRunning(ArtifactId),
}

impl Library {
    /// Keeps one that is done.
    ///
    /// # Errors
    ///
    /// When the collection does not exist, or something of it cannot be kept.
    pub fn save_artifact(
        &self,
        artifact: &NewArtifact,
        markdown: &str,
        citations: &[NewCitation],
        now: u64,
    ) -> Result<Artifact, LibraryError> {
        self.write(|connection, ids| {
            check_size("an artifact", markdown, MAX_BODY)?;
            let id = insert(connection, ids, artifact, Entry::Done(markdown), now)?;
            let owner = Owner::Artifact(connection.last_insert_rowid());
            citations::insert(connection, ids, owner, citations)?;
            load(connection, &id)
        })
    }

    /// # Errors
    ///
    /// When there is none.
    pub fn artifact(&self, id: &ArtifactId) -> Result<Artifact, LibraryError> {
        self.read(|connection| load(connection, id))
    }

    /// The newest first, those before the place `before`, if given; of one collection or of all. At
    /// most `limit`, and never more than 1,000; an empty answer is the end. Without their Markdown.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn artifacts(
        &self,
        scope: Option<&CollectionId>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Artifact>, LibraryError> {
        self.read(|connection| {
            let collection = scope.map(|id| id.num(connection)).transpose()?;
            let before = Count(before.unwrap_or(u64::MAX));
            let sql = select(
                "''",
                "(?1 IS NULL OR a.collection = ?1) AND a.num < ?2 ORDER BY a.num DESC LIMIT ?3",
            );
            let parameters = params![collection, before, limits::rows(limit)];
            some(connection, &sql, parameters, read, |artifact| artifact.config.len())
        })
    }

    /// Whoever makes it finds out when it is finished, and nothing of it is kept.
    ///
    /// # Errors
    ///
    /// When there is no such artifact. One that is done stays as it is.
    pub fn cancel_artifact(
        &self,
        id: &ArtifactId,
        now: u64,
    ) -> Result<ArtifactStatus, LibraryError> {
        self.write(|connection, _| {
            let sql = "UPDATE artifacts SET status = 'cancelled', updated_at_ms = ?2
                       WHERE id = ?1 AND status = 'running'";
            run(connection, sql, params![id, Count(now)])?;
            load(connection, id).map(|artifact| artifact.status)
        })
    }

    /// With its citations.
    ///
    /// # Errors
    ///
    /// When there is no such artifact.
    pub fn delete_artifact(&self, id: &ArtifactId) -> Result<(), LibraryError> {
        self.write(|connection, _| {
            match run(connection, "DELETE FROM artifacts WHERE id = ?1", [id])? {
                0 => Err(id.missing()),
                _ => Ok(()),
            }
        })
    }
}

impl Worker {
    /// Begins one that takes a while. If this worker dies over it, it has failed.
    ///
    /// # Errors
    ///
    /// When the collection does not exist, or something of it cannot be kept.
    pub fn begin_artifact(&self, artifact: &NewArtifact, now: u64) -> Result<Begun, LibraryError> {
        self.library().write(|connection, ids| {
            free_the_dead(connection, self.library().home(), now)?;
            let sql = "SELECT id FROM artifacts WHERE status = 'running' AND dedupe_key = ?1";
            let same = first(connection, sql, [&artifact.dedupe_key], |row| row.get(0))?;
            if let Some(id) = same {
                return Ok(Begun::AlreadyRunning(id));
            }
            insert(connection, ids, artifact, Entry::Begun(self), now).map(Begun::Started)
        })
    }

    /// Keeps what was made, with its citations. False when it is not being made any more, because it
    /// was cancelled or is done; then nothing changes.
    ///
    /// # Errors
    ///
    /// When what was made cannot be kept.
    pub fn finish_artifact(
        &self,
        id: &ArtifactId,
        markdown: &str,
        citations: &[NewCitation],
        now: u64,
    ) -> Result<bool, LibraryError> {
        self.library().write(|connection, ids| {
            check_size("an artifact", markdown, MAX_BODY)?;
            let sql = "UPDATE artifacts SET status = 'completed', markdown = ?3, updated_at_ms = ?4
                       WHERE id = ?1 AND worker = ?2 AND status = 'running' RETURNING num";
            let parameters = params![id, self.id(), markdown, Count(now)];
            let Some(num) = first(connection, sql, parameters, |row| row.get(0))? else {
                return Ok(false);
            };
            citations::insert(connection, ids, Owner::Artifact(num), citations)?;
            Ok(true)
        })
    }

    /// Says why it could not be made. False when it is not being made any more.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn fail_artifact(
        &self,
        id: &ArtifactId,
        fault: &Fault,
        now: u64,
    ) -> Result<bool, LibraryError> {
        self.library().write(|connection, _| {
            let sql = "UPDATE artifacts
                       SET status = 'failed', error_code = ?3, error_text = ?4, updated_at_ms = ?5
                       WHERE id = ?1 AND worker = ?2 AND status = 'running'";
            let Fault { code, text } = fault.clipped();
            let changed = run(connection, sql, params![id, self.id(), code, text, Count(now)])?;
            Ok(changed > 0)
        })
    }
}

/// How an artifact comes in.
enum Entry<'a> {
    Done(&'a str),
    Begun(&'a Worker),
}

fn insert(
    connection: &Connection,
    ids: &mut dyn Ids,
    artifact: &NewArtifact,
    entry: Entry<'_>,
    now: u64,
) -> Result<ArtifactId, Trouble> {
    check_title(&artifact.title)?;
    check_size("the type of an artifact", &artifact.kind, MAX_LINE)?;
    if artifact.kind.is_empty() {
        return Err(Trouble::invalid("the type of an artifact", "it is empty"));
    }
    check_size("a key", artifact.dedupe_key.as_deref().unwrap_or_default(), MAX_LINE)?;
    check_json("the configuration of an artifact", &artifact.config)?;
    let tags_json = serde_json::to_string(&artifact.tags).unwrap_or_default();
    let source_ids_json = serde_json::to_string(&artifact.source_ids).unwrap_or_default();
    check_json("a list of tags", &tags_json)?;
    check_json("a list of sources", &source_ids_json)?;
    let collection = artifact.collection_id.as_ref().map(|id| id.num(connection)).transpose()?;
    let (status, worker, markdown) = match entry {
        Entry::Done(markdown) => (ArtifactStatus::Completed, None, markdown),
        Entry::Begun(worker) => (ArtifactStatus::Running, Some(worker.id()), ""),
    };
    let id = ArtifactId::draw(ids);
    let sql = "INSERT INTO artifacts (id, collection, type, title, tags_json, status, worker,
                   dedupe_key, source_ids_json, config_json, created_at_ms, updated_at_ms, markdown)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12)";
    let parameters = params![
        id,
        collection,
        artifact.kind,
        one_line(&artifact.title, MAX_TITLE),
        tags_json,
        status,
        worker,
        artifact.dedupe_key,
        source_ids_json,
        artifact.config,
        Count(now),
        markdown,
    ];
    run(connection, sql, parameters)?;
    Ok(id)
}

fn load(connection: &Connection, id: &ArtifactId) -> Result<Artifact, Trouble> {
    let sql = select("a.markdown", "a.id = ?1");
    first(connection, &sql, [id], read)?.ok_or_else(|| id.missing())
}

fn select(markdown: &str, which: &str) -> String {
    format!(
        "SELECT a.num, a.id, c.id, a.type, a.title, a.tags_json, a.status, {markdown},
                a.source_ids_json, a.config_json, a.error_code, a.error_text, a.created_at_ms,
                a.updated_at_ms
         FROM artifacts AS a LEFT JOIN collections AS c ON c.num = a.collection
         WHERE {which}"
    )
}

fn read(row: &Row<'_>) -> rusqlite::Result<Artifact> {
    Ok(Artifact {
        num: count(row, 0)?,
        id: row.get(1)?,
        collection_id: row.get(2)?,
        kind: row.get(3)?,
        title: row.get(4)?,
        tags: row.get::<_, AsJson<_>>(5)?.0,
        status: row.get(6)?,
        markdown: row.get(7)?,
        source_ids: row.get::<_, AsJson<_>>(8)?.0,
        config: row.get(9)?,
        fault: read_fault(row, 10)?,
        created_at_ms: count(row, 12)?,
        updated_at_ms: count(row, 13)?,
    })
}
