//! From ids to rows and back: what every table needs.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::Trouble;
use super::ids::{ApprovalId, ArtifactId, ChatId, CollectionId, JobId, RunId, SourceId, VersionId};
use crate::chain::Hash;

/// What has a row of its own.
pub(crate) trait Named: ToSql {
    const TABLE: &'static str;
    const WHAT: &'static str;

    fn name(&self) -> &str;

    /// The number of the row.
    fn num(&self, connection: &Connection) -> Result<i64, Trouble> {
        let sql = format!("SELECT num FROM {} WHERE id = ?1", Self::TABLE);
        let found =
            connection.prepare_cached(&sql)?.query_row([self], |row| row.get(0)).optional()?;
        found.ok_or_else(|| self.missing())
    }

    fn missing(&self) -> Trouble {
        Trouble::not_found(Self::WHAT, self.name())
    }
}

macro_rules! rows {
    ($($id:ident $table:literal $what:literal,)*) => {$(
        impl Named for $id {
            const TABLE: &'static str = $table;
            const WHAT: &'static str = $what;

            fn name(&self) -> &str {
                self.as_str()
            }
        }
    )*};
}

rows! {
    CollectionId "collections" "collection",
    SourceId "sources" "source",
    VersionId "source_versions" "version",
    JobId "capture_jobs" "job",
    ChatId "chat_events" "message",
    ArtifactId "artifacts" "artifact",
    RunId "llm_runs" "run",
    ApprovalId "approvals" "approval",
}

pub(crate) fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Trouble> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(parameters, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// As many rows as an answer may have bytes, by the account of `size`; at least one, if there is one.
pub(crate) fn some<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    size: impl Fn(&T) -> usize,
) -> Result<Vec<T>, Trouble> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(parameters)?;
    let (mut values, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_ANSWER
        && let Some(row) = rows.next()?
    {
        let value = read(row)?;
        bytes += size(&value);
        values.push(value);
    }
    Ok(values)
}

/// Four thousand pages, or sixteen of the largest.
const MAX_ANSWER: usize = 32 << 20;

pub(crate) fn first<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, Trouble> {
    Ok(connection.prepare_cached(sql)?.query_row(parameters, read).optional()?)
}

pub(crate) fn run(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Result<usize, Trouble> {
    Ok(connection.prepare_cached(sql)?.execute(parameters)?)
}

/// A list or a structure of ours that stands in a column as JSON.
pub(crate) struct AsJson<T>(pub(crate) T);

impl<T: Serialize> ToSql for AsJson<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        Ok(ToSqlOutput::from(text))
    }
}

impl<T: DeserializeOwned> FromSql for AsJson<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let read = serde_json::from_str(value.as_str()?);
        read.map(Self).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A number that is never negative. What a clock cannot show is kept as the latest that a file can
/// hold.
#[derive(Clone, Copy)]
pub(crate) struct Count(pub(crate) u64);

impl ToSql for Count {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(crate::journal::to_sql(self.0)))
    }
}

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let value = value.as_i64()?;
        u64::try_from(value).map(Self).map_err(|_| FromSqlError::OutOfRange(value))
    }
}

impl ToSql for Hash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.as_bytes().as_slice()))
    }
}

impl FromSql for Hash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        bytes.try_into().map(Self::from_bytes).map_err(|_| FromSqlError::InvalidType)
    }
}

pub(crate) fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    row.get(index).map(|Count(value)| value)
}

pub(crate) fn maybe_count(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<Count>>(index)?.map(|Count(value)| value))
}
