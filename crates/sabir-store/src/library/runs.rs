//! Runs of models: what was sent and came back, redacted by whoever hands it in, and what it cost.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::error::{LibraryError, Trouble};
use super::ids::{ArtifactId, ChatId, CollectionId, RunId, SourceId};
use super::limits::{MAX_LINE, MAX_PACKET, check_size};
use super::rows::{Count, Named, count, first, maybe_count, run, some};
use super::sources::{Fault, read_fault};
use super::{Library, limits};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The task, such as `web.answer`.
    pub kind: String,
    pub provider: String,
    pub model: String,
    pub collection_id: Option<CollectionId>,
    pub source_id: Option<SourceId>,
    pub chat_id: Option<ChatId>,
    pub artifact_id: Option<ArtifactId>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// Millionths of a dollar.
    pub cost_usd_micros: Option<u64>,
    pub started_at_ms: u64,
    pub duration_ms: u64,
    /// The packet without the bodies of its documents, which stand in the sources.
    pub request_redacted: String,
    pub response_redacted: Option<String>,
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Where it stands in the list: the place to go back from.
    pub num: u64,
    pub id: RunId,
    pub kind: String,
    pub provider: String,
    pub model: String,
    pub collection_id: Option<CollectionId>,
    pub source_id: Option<SourceId>,
    pub chat_id: Option<ChatId>,
    pub artifact_id: Option<ArtifactId>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cost_usd_micros: Option<u64>,
    pub started_at_ms: u64,
    pub duration_ms: u64,
    pub request_redacted: String,
    pub response_redacted: Option<String>,
    pub fault: Option<Fault>,
}

impl Library {
    /// # Errors
    ///
    /// When something that it names does not exist, or a packet is too large, as one is that holds
    /// whole sources.
    pub fn record_run(&self, new: &NewRun) -> Result<RunId, LibraryError> {
        self.write(|connection, ids| {
            check_size("a request", &new.request_redacted, MAX_PACKET)?;
            let response = new.response_redacted.as_deref();
            check_size("a response", response.unwrap_or_default(), MAX_PACKET)?;
            if new.kind.is_empty() {
                return Err(Trouble::invalid("a run", "it does not say of what"));
            }
            for line in [&new.kind, &new.provider, &new.model] {
                check_size("the name of a model or task", line, MAX_LINE)?;
            }
            let id = RunId::draw(ids);
            let fault = new.fault.as_ref().map(Fault::clipped);
            let sql = "INSERT INTO llm_runs (id, kind, provider, model, collection, source,
                           chat_event, artifact, input_tokens, output_tokens, cost_usd_micros,
                           started_at_ms, duration_ms, error_code, error_text, request_redacted,
                           response_redacted)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                               ?16, ?17)";
            let parameters = params![
                id,
                new.kind,
                new.provider,
                new.model,
                maybe_num(connection, new.collection_id.as_ref())?,
                maybe_num(connection, new.source_id.as_ref())?,
                maybe_num(connection, new.chat_id.as_ref())?,
                maybe_num(connection, new.artifact_id.as_ref())?,
                new.input_tokens.map(Count),
                new.output_tokens.map(Count),
                new.cost_usd_micros.map(Count),
                Count(new.started_at_ms),
                Count(new.duration_ms),
                fault.as_ref().map(|fault| &fault.code),
                fault.as_ref().map(|fault| &fault.text),
                new.request_redacted,
                response,
            ];
            run(connection, sql, parameters)?;
            Ok(id)
        })
    }

    /// # Errors
    ///
    /// When there is none.
    pub fn run(&self, id: &RunId) -> Result<Run, LibraryError> {
        self.read(|connection| {
            first(connection, &select("r.id = ?1"), [id], read)?.ok_or_else(|| id.missing())
        })
    }

    /// The newest first, those before the place `before`, if given; of one collection or of all. At
    /// most `limit`, never more than 1,000 nor than about 32 MiB. An empty answer is the end.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn runs(
        &self,
        scope: Option<&CollectionId>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Run>, LibraryError> {
        self.read(|connection| {
            let collection = maybe_num(connection, scope)?;
            let before = Count(before.unwrap_or(u64::MAX));
            let sql = select(
                "(?1 IS NULL OR r.collection = ?1) AND r.num < ?2 ORDER BY r.num DESC LIMIT ?3",
            );
            let size = |run: &Run| {
                run.request_redacted.len() + run.response_redacted.as_ref().map_or(0, String::len)
            };
            some(connection, &sql, params![collection, before, limits::rows(limit)], read, size)
        })
    }
}

fn maybe_num(connection: &Connection, id: Option<&impl Named>) -> Result<Option<i64>, Trouble> {
    id.map(|id| id.num(connection)).transpose()
}

fn select(which: &str) -> String {
    format!(
        "SELECT r.num, r.id, r.kind, r.provider, r.model, c.id, s.id, e.id, a.id, r.input_tokens,
                r.output_tokens, r.cost_usd_micros, r.started_at_ms, r.duration_ms,
                r.request_redacted, r.response_redacted, r.error_code, r.error_text
         FROM llm_runs AS r
         LEFT JOIN collections AS c ON c.num = r.collection
         LEFT JOIN sources AS s ON s.num = r.source
         LEFT JOIN chat_events AS e ON e.num = r.chat_event
         LEFT JOIN artifacts AS a ON a.num = r.artifact
         WHERE {which}"
    )
}

fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        num: count(row, 0)?,
        id: row.get(1)?,
        kind: row.get(2)?,
        provider: row.get(3)?,
        model: row.get(4)?,
        collection_id: row.get(5)?,
        source_id: row.get(6)?,
        chat_id: row.get(7)?,
        artifact_id: row.get(8)?,
        input_tokens: maybe_count(row, 9)?,
        output_tokens: maybe_count(row, 10)?,
        cost_usd_micros: maybe_count(row, 11)?,
        started_at_ms: count(row, 12)?,
        duration_ms: count(row, 13)?,
        request_redacted: row.get(14)?,
        response_redacted: row.get(15)?,
        fault: read_fault(row, 16)?,
    })
}
