//! Sources: where each comes from, how it stands, and the list of a collection.

use rusqlite::{Connection, Row, params};
use sabir_base::text::{clip, one_line};
use serde::Serialize;

use super::collections::touch;
use super::error::{LibraryError, Trouble};
use super::ids::{CollectionId, Ids, SourceId, VersionId};
use super::limits::{MAX_ADDRESS, MAX_ERROR, MAX_LINE, MAX_TITLE, check_size, check_title};
use super::named::named;
use super::rows::{Count, Named as _, all, count, first, maybe_count, run};
use super::versions::{self, Captured};
use super::{Library, limits};

named! {
    SourceKind {
        Url = "url",
        File = "file",
        Note = "note",
    }

    SourceStatus {
        /// Nothing was fetched yet.
        Pending = "pending",
        /// It can be read, asked and cited, whatever happened to it since.
        Captured = "captured",
        /// Nothing was fetched, and the last attempt said why.
        Failed = "failed",
    }
}

/// Where a source comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    pub kind: SourceKind,
    /// As it may be shown; none for a note.
    pub address: Option<String>,
}

/// A source to be fetched. What makes two addresses the same is not known here, so both come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSource {
    pub kind: SourceKind,
    /// As it may be shown.
    pub address: String,
    /// Where it is fetched from, when that is not to be shown.
    pub fetch_address: Option<String>,
    /// The address in the form in which it is compared: one source for each in a collection.
    pub normalized: String,
    /// As a person named it; otherwise it gets the title of the page.
    pub title: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Where it stands in the list: the place to go on from.
    pub num: u64,
    pub id: SourceId,
    pub collection_id: CollectionId,
    pub origin: Origin,
    pub title: String,
    pub status: SourceStatus,
    pub current_version: Option<VersionId>,
    /// Why the last attempt failed, also when an earlier one did not.
    pub fault: Option<Fault>,
    pub added_at_ms: u64,
    /// When it was last fetched with success, whether or not it had changed.
    pub checked_at_ms: Option<u64>,
}

/// Why something failed: a code for programs, a text for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub code: String,
    pub text: String,
}

impl Library {
    /// Keeps a text of the person's own as a source, captured at once.
    ///
    /// # Errors
    ///
    /// When there is no such collection, or the text is empty or too large.
    pub fn add_note(
        &self,
        collection: &CollectionId,
        title: Option<&str>,
        markdown: &str,
        now: u64,
    ) -> Result<Source, LibraryError> {
        self.write(|connection, ids| {
            let collection = collection.num(connection)?;
            if markdown.trim().is_empty() {
                return Err(Trouble::invalid("a note", "it is empty"));
            }
            let given = given_title(title)?;
            let first_line = markdown.lines().find(|line| !line.trim().is_empty());
            let own = first_line.unwrap_or_default().trim_start_matches(['#', ' ']);
            let shown = given.clone().unwrap_or_else(|| one_line(own, MAX_TITLE));
            let id = SourceId::draw(ids);
            let sql = "INSERT INTO sources
                           (id, collection, kind, given_title, title, status, added_at_ms)
                       VALUES (?1, ?2, 'note', ?3, ?4, 'pending', ?5)";
            run(connection, sql, params![id, collection, given, shown, Count(now)])?;
            let num = connection.last_insert_rowid();
            let captured = Captured {
                title: shown,
                media_type: "text/markdown".to_owned(),
                markdown: markdown.to_owned(),
                ..Captured::default()
            };
            versions::keep(connection, ids, num, &captured, now)?;
            touch(connection, collection, now)?;
            load(connection, &id)
        })
    }

    /// # Errors
    ///
    /// When there is none.
    pub fn source(&self, id: &SourceId) -> Result<Source, LibraryError> {
        self.read(|connection| load(connection, id))
    }

    /// The source of an address, in the form in which addresses are compared.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn source_by_address(
        &self,
        collection: &CollectionId,
        normalized: &str,
    ) -> Result<Option<Source>, LibraryError> {
        self.read(|connection| {
            let collection = collection.num(connection)?;
            let sql = select("s.collection = ?1 AND s.address_key = ?2");
            first(connection, &sql, params![collection, normalized], read)
        })
    }

    /// In the order in which they were added, those after the place `after`; at most `limit`, and
    /// never more than 1,000.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn sources(
        &self,
        collection: &CollectionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Source>, LibraryError> {
        self.read(|connection| {
            let collection = collection.num(connection)?;
            let sql = select("s.collection = ?1 AND s.num > ?2 ORDER BY s.num LIMIT ?3");
            let parameters = params![collection, Count(after), limits::rows(limit)];
            all(connection, &sql, parameters, read)
        })
    }

    /// With its versions and jobs. Citations of it stay, without a place.
    ///
    /// # Errors
    ///
    /// When there is no such source.
    pub fn remove_source(&self, id: &SourceId, now: u64) -> Result<(), LibraryError> {
        self.write(|connection, _| {
            let sql = "SELECT collection FROM sources WHERE id = ?1";
            let collection = first(connection, sql, [id], |row| row.get(0))?;
            let collection = collection.ok_or_else(|| id.missing())?;
            run(connection, "DELETE FROM sources WHERE id = ?1", [id])?;
            touch(connection, collection, now)
        })
    }
}

impl Fault {
    #[must_use]
    pub fn new(code: impl Into<String>, text: impl Into<String>) -> Self {
        Self { code: code.into(), text: text.into() }
    }

    /// Short enough for a row: the text of an error may hold what a server sent.
    pub(crate) fn clipped(&self) -> Self {
        let clip = |text: &str| clip(text, MAX_ERROR).into_owned();
        Self { code: clip(&self.code), text: clip(&self.text) }
    }
}

/// A source that an address led to.
pub(crate) struct Added {
    pub(crate) num: i64,
    pub(crate) id: SourceId,
    pub(crate) status: SourceStatus,
}

/// The source of that address, made if there is none.
pub(crate) fn add(
    connection: &Connection,
    ids: &mut dyn Ids,
    collection: i64,
    source: &NewSource,
    now: u64,
) -> Result<Added, Trouble> {
    if source.kind == SourceKind::Note {
        return Err(Trouble::invalid("a note", "it is kept, not fetched"));
    }
    if source.address.is_empty() || source.normalized.is_empty() {
        return Err(Trouble::invalid("an address", "it is empty"));
    }
    check_size("an address", &source.address, MAX_ADDRESS)?;
    check_size("an address", &source.normalized, MAX_ADDRESS)?;
    check_size("an address", source.fetch_address.as_deref().unwrap_or_default(), MAX_ADDRESS)?;
    let sql = "SELECT num, id, status FROM sources WHERE collection = ?1 AND address_key = ?2";
    let found = first(connection, sql, params![collection, source.normalized], |row| {
        Ok(Added { num: row.get(0)?, id: row.get(1)?, status: row.get(2)? })
    })?;
    if let Some(found) = found {
        return Ok(found);
    }
    let given = given_title(source.title.as_deref())?;
    // Of a file the name: who is shown a title need not learn where the file lies.
    let own = match source.kind {
        SourceKind::File => source.address.rsplit(['/', '\\']).next().unwrap_or_default(),
        SourceKind::Url | SourceKind::Note => &source.address,
    };
    let title = given.clone().unwrap_or_else(|| one_line(own, MAX_TITLE));
    let id = SourceId::draw(ids);
    let sql = "INSERT INTO sources (id, collection, kind, address, address_key, given_title, title,
                                    status, added_at_ms, fetch_address)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8, ?9)";
    let NewSource { kind, address, fetch_address, normalized, .. } = source;
    let now = Count(now);
    let parameters =
        params![id, collection, kind, address, normalized, given, title, now, fetch_address];
    run(connection, sql, parameters)?;
    Ok(Added { num: connection.last_insert_rowid(), id, status: SourceStatus::Pending })
}

/// As it is shown, and nothing when nothing would be shown.
fn given_title(title: Option<&str>) -> Result<Option<String>, Trouble> {
    let Some(title) = title else { return Ok(None) };
    check_title(title)?;
    Ok(Some(one_line(title, MAX_TITLE)).filter(|title| !title.is_empty()))
}

/// Notes that an attempt failed. What was captured before stays as it is.
pub(crate) fn note_fault(
    connection: &Connection,
    source: i64,
    fault: &Fault,
) -> Result<(), Trouble> {
    let sql = "UPDATE sources
               SET status = iif(status = 'captured', 'captured', 'failed'),
                   error_code = ?2, error_text = ?3
               WHERE num = ?1";
    let Fault { code, text } = fault.clipped();
    run(connection, sql, params![source, code, text]).map(drop)
}

/// What a server said about freshness, kept only when it can be said back.
pub(crate) fn validator(value: Option<&str>) -> Option<&str> {
    value.filter(|value| value.len() <= MAX_LINE && !value.contains(char::is_control))
}

pub(crate) fn load(connection: &Connection, id: &SourceId) -> Result<Source, Trouble> {
    first(connection, &select("s.id = ?1"), [id], read)?.ok_or_else(|| id.missing())
}

fn select(which: &str) -> String {
    format!(
        "SELECT s.num, s.id, c.id, s.kind, s.address, s.title, s.status, v.id, s.error_code,
                s.error_text, s.added_at_ms, s.checked_at_ms
         FROM sources AS s
         JOIN collections AS c ON c.num = s.collection
         LEFT JOIN source_versions AS v ON v.num = s.current
         WHERE {which}"
    )
}

fn read(row: &Row<'_>) -> rusqlite::Result<Source> {
    Ok(Source {
        num: count(row, 0)?,
        id: row.get(1)?,
        collection_id: row.get(2)?,
        origin: Origin { kind: row.get(3)?, address: row.get(4)? },
        title: row.get(5)?,
        status: row.get(6)?,
        current_version: row.get(7)?,
        fault: read_fault(row, 8)?,
        added_at_ms: count(row, 10)?,
        checked_at_ms: maybe_count(row, 11)?,
    })
}

/// From two columns, the first of which is `code`.
pub(crate) fn read_fault(row: &Row<'_>, code: usize) -> rusqlite::Result<Option<Fault>> {
    let (code, text): (Option<String>, Option<String>) = (row.get(code)?, row.get(code + 1)?);
    Ok(code.zip(text).map(|(code, text)| Fault { code, text }))
}
