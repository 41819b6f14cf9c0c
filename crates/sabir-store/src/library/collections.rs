//! Collections: made, found by what people call them, counted, removed.

use rusqlite::{Connection, Row, params};
use sabir_base::is_near;
use sabir_base::text::{is_hidden, one_line};
use serde::Serialize;

use super::error::{LibraryError, Trouble};
use super::ids::{CollectionId, Ids};
use super::limits::{MAX_TITLE, check_json, check_title};
use super::rows::{AsJson, Count, Named as _, all, count, first, run};
use super::{Library, limits};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Collection {
    /// Where it stands in the list: the place to go on from.
    pub num: u64,
    pub id: CollectionId,
    pub title: String,
    pub tags: Vec<String>,
    pub created_at_ms: u64,
    /// When something of it last changed.
    pub updated_at_ms: u64,
}

/// What is in a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CollectionCounts {
    pub pending: u64,
    pub captured: u64,
    pub failed: u64,
    /// Of the current versions.
    pub words: u64,
    pub versions: u64,
    pub messages: u64,
    /// Those that are done.
    pub artifacts: u64,
    pub failed_artifacts: u64,
}

impl Library {
    /// # Errors
    ///
    /// When there is one of that title, whatever its case and white space, or the title is empty or
    /// too long.
    pub fn create_collection(
        &self,
        title: &str,
        tags: &[String],
        now: u64,
    ) -> Result<Collection, LibraryError> {
        self.write(|connection, ids| {
            if let Some(taken) = by_key(connection, &title_key(title))? {
                let error = LibraryError::TitleTaken { title: taken.title, id: taken.id };
                return Err(error.into());
            }
            create(connection, ids, title, tags, now)
        })
    }

    /// Finds it by its id or its title, and makes it when there is none; whoever does so at the same
    /// time gets the same one.
    ///
    /// # Errors
    ///
    /// When there is none, and the name is empty or too long for a title.
    pub fn find_or_create_collection(
        &self,
        name: &str,
        now: u64,
    ) -> Result<Collection, LibraryError> {
        self.write(|connection, ids| match by_name(connection, name)? {
            Some(found) => Ok(found),
            None => create(connection, ids, name, &[], now),
        })
    }

    /// Finds it by its id or its title.
    ///
    /// # Errors
    ///
    /// When there is none; the error has titles that come near.
    pub fn find_collection(&self, name: &str) -> Result<Collection, LibraryError> {
        self.read(|connection| match by_name(connection, name)? {
            Some(found) => Ok(found),
            None => {
                let near = near_titles(connection, &title_key(name))?;
                let name = one_line(name, MAX_TITLE);
                Err(LibraryError::NotFound { what: "collection", name, near }.into())
            }
        })
    }

    /// # Errors
    ///
    /// When there is none.
    pub fn collection(&self, id: &CollectionId) -> Result<Collection, LibraryError> {
        self.read(|connection| load(connection, id))
    }

    /// In the order in which they were made, those after the place `after`; at most `limit`, and
    /// never more than 1,000.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn collections(&self, after: u64, limit: usize) -> Result<Vec<Collection>, LibraryError> {
        self.read(|connection| {
            let sql =
                format!("SELECT {COLUMNS} FROM collections WHERE num > ?1 ORDER BY num LIMIT ?2");
            all(connection, &sql, params![Count(after), limits::rows(limit)], read)
        })
    }

    /// # Errors
    ///
    /// When there is no such collection.
    pub fn collection_counts(&self, id: &CollectionId) -> Result<CollectionCounts, LibraryError> {
        self.read(|connection| {
            let num = id.num(connection)?;
            let sql = "SELECT count(*) FILTER (WHERE s.status = 'pending'),
                              count(*) FILTER (WHERE s.status = 'captured'),
                              count(*) FILTER (WHERE s.status = 'failed'),
                              coalesce(sum(v.words), 0),
                              (SELECT count(*) FROM source_versions AS o
                               JOIN sources AS t ON t.num = o.source WHERE t.collection = ?1),
                              (SELECT count(*) FROM chat_events WHERE collection = ?1),
                              (SELECT count(*) FROM artifacts
                               WHERE collection = ?1 AND status = 'completed'),
                              (SELECT count(*) FROM artifacts
                               WHERE collection = ?1 AND status = 'failed')
                       FROM sources AS s LEFT JOIN source_versions AS v ON v.num = s.current
                       WHERE s.collection = ?1";
            let counts = first(connection, sql, [num], |row| {
                Ok(CollectionCounts {
                    pending: count(row, 0)?,
                    captured: count(row, 1)?,
                    failed: count(row, 2)?,
                    words: count(row, 3)?,
                    versions: count(row, 4)?,
                    messages: count(row, 5)?,
                    artifacts: count(row, 6)?,
                    failed_artifacts: count(row, 7)?,
                })
            })?;
            Ok(counts.unwrap_or_default())
        })
    }

    /// With its sources, their versions, its jobs and its conversation. Artifacts and runs stay, and
    /// no longer name it.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn delete_collection(&self, id: &CollectionId) -> Result<(), LibraryError> {
        self.write(|connection, _| {
            match run(connection, "DELETE FROM collections WHERE id = ?1", [id])? {
                0 => Err(id.missing()),
                _ => Ok(()),
            }
        })
    }
}

/// Says that something of the collection changed. Clocks go back; this does not.
pub(crate) fn touch(connection: &Connection, collection: i64, now: u64) -> Result<(), Trouble> {
    let sql = "UPDATE collections SET updated_at_ms = max(updated_at_ms, ?2) WHERE num = ?1";
    run(connection, sql, params![collection, Count(now)]).map(drop)
}

fn create(
    connection: &Connection,
    ids: &mut dyn Ids,
    title: &str,
    tags: &[String],
    now: u64,
) -> Result<Collection, Trouble> {
    check_title(title)?;
    let title = one_line(title, MAX_TITLE);
    let key = title_key(&title);
    if key.is_empty() {
        return Err(Trouble::invalid("a title", "it is empty"));
    }
    let tags_json = serde_json::to_string(tags).unwrap_or_default();
    check_json("a list of tags", &tags_json)?;
    let id = CollectionId::draw(ids);
    let sql = "INSERT INTO collections
                   (id, title, title_key, tags_json, created_at_ms, updated_at_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?5)";
    run(connection, sql, params![id, title, key, tags_json, Count(now)])?;
    load(connection, &id)
}

fn title_key(title: &str) -> String {
    let lower = title.replace(is_hidden, "").to_lowercase();
    let mut words = lower.split_whitespace();
    let mut key: String = words.next().unwrap_or_default().to_owned();
    for word in words {
        key.push(' ');
        key.push_str(word);
    }
    key
}

/// The few titles that were perhaps meant.
fn near_titles(connection: &Connection, key: &str) -> Result<Vec<String>, Trouble> {
    let sql = "SELECT title, title_key FROM collections ORDER BY updated_at_ms DESC, num LIMIT ?1";
    let rows: Vec<(String, String)> =
        all(connection, sql, [limits::rows(usize::MAX)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let is_part = |other: &str| !key.is_empty() && (other.contains(key) || key.contains(other));
    let near = rows.into_iter().filter(|(_, other)| is_near(key, other) || is_part(other));
    Ok(near.map(|(title, _)| title).take(3).collect())
}

pub(crate) fn load(connection: &Connection, id: &CollectionId) -> Result<Collection, Trouble> {
    by_id(connection, id)?.ok_or_else(|| id.missing())
}

fn by_name(connection: &Connection, name: &str) -> Result<Option<Collection>, Trouble> {
    if let Some(id) = CollectionId::parse(name)
        && let Some(found) = by_id(connection, &id)?
    {
        return Ok(Some(found));
    }
    by_key(connection, &title_key(name))
}

fn by_id(connection: &Connection, id: &CollectionId) -> Result<Option<Collection>, Trouble> {
    first(connection, &format!("SELECT {COLUMNS} FROM collections WHERE id = ?1"), [id], read)
}

fn by_key(connection: &Connection, key: &str) -> Result<Option<Collection>, Trouble> {
    first(
        connection,
        &format!("SELECT {COLUMNS} FROM collections WHERE title_key = ?1"),
        [key],
        read,
    )
}

const COLUMNS: &str = "num, id, title, tags_json, created_at_ms, updated_at_ms";

fn read(row: &Row<'_>) -> rusqlite::Result<Collection> {
    Ok(Collection {
        num: count(row, 0)?,
        id: row.get(1)?,
        title: row.get(2)?,
        tags: row.get::<_, AsJson<_>>(3)?.0,
        created_at_ms: count(row, 4)?,
        updated_at_ms: count(row, 5)?,
    })
}
