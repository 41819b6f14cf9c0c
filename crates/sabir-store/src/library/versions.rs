//! Versions: what a source said, and when. A version is never changed, and its hash says what it was.

use rusqlite::{Connection, Row, params};
use sabir_base::text::one_line;
use serde::{Deserialize, Serialize};

use super::error::{LibraryError, Trouble};
use super::ids::{CollectionId, Ids, SourceId, VersionId};
use super::limits::{MAX_ADDRESS, MAX_BODY, MAX_LINE, MAX_TITLE, check_json, check_size};
use super::rows::{AsJson, Count, Named as _, count, first, run, some};
use super::sources::validator;
use super::{Library, limits};
use crate::chain::Hash;

/// What was fetched. The text is kept as it comes; it is not looked into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    pub title: String,
    pub byline: Option<String>,
    pub media_type: String,
    /// Where it was in the end, when it was sent on.
    pub final_address: Option<String>,
    pub markdown: String,
    pub links: Vec<SourceLink>,
    pub signals: Vec<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLink {
    pub url: String,
    pub text: String,
    /// The words around it.
    pub context: String,
}

/// A version without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    pub id: VersionId,
    pub source_id: SourceId,
    /// 1 for the first of its source.
    pub number: u64,
    /// SHA-256 of the text.
    pub hash: Hash,
    pub title: String,
    pub byline: Option<String>,
    pub media_type: String,
    pub final_address: Option<String>,
    pub chars: u64,
    pub words: u64,
    pub links: Vec<SourceLink>,
    pub signals: Vec<String>,
    pub captured_at_ms: u64,
}

/// A version with its text, and what is needed to show and to cite it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VersionText {
    /// Where its source stands in the list: the place to go on from.
    pub num: u64,
    /// The title of the source, which a person may have given.
    pub title: String,
    /// Where the source is fetched from.
    pub address: Option<String>,
    pub version: Version,
    pub markdown: String,
}

impl Library {
    /// The oldest first, without texts, those after the number `after`; at most `limit`. An empty
    /// answer is the end.
    ///
    /// # Errors
    ///
    /// When there is no such source.
    pub fn versions(
        &self,
        source: &SourceId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Version>, LibraryError> {
        self.read(|connection| {
            let source = source.num(connection)?;
            let sql = format!(
                "SELECT {COLUMNS} FROM source_versions AS v JOIN sources AS s ON s.num = v.source
                 WHERE v.source = ?1 AND v.number > ?2 ORDER BY v.number LIMIT ?3"
            );
            let size = |version: &Version| version.links.iter().map(SourceLink::bytes).sum();
            let parameters = params![source, Count(after), limits::rows(limit)];
            some(connection, &sql, parameters, read, size)
        })
    }

    /// Of any version, also one that is no longer current.
    ///
    /// # Errors
    ///
    /// When there is none, or its text is not the one that was kept.
    pub fn version_text(&self, id: &VersionId) -> Result<VersionText, LibraryError> {
        self.read(|connection| {
            let sql = format!("{TEXTS} v.id = ?1");
            let found = first(connection, &sql, [id], read_text)?.ok_or_else(|| id.missing())?;
            check_text(found)
        })
    }

    /// The current version of a source; `None` when nothing was captured yet.
    ///
    /// # Errors
    ///
    /// When there is no such source, or its text is not the one that was kept.
    pub fn current_text(&self, source: &SourceId) -> Result<Option<VersionText>, LibraryError> {
        self.read(|connection| {
            let source = source.num(connection)?;
            let sql = format!("{TEXTS} s.num = ?1 AND v.num = s.current");
            first(connection, &sql, [source], read_text)?.map(check_text).transpose()
        })
    }

    /// The current versions of a collection in the order of its sources, those after the place
    /// `after`; at most `limit`, and about 32 MiB of text. An empty answer is the end.
    ///
    /// # Errors
    ///
    /// When there is no such collection, or a text is not the one that was kept.
    pub fn current_texts(
        &self,
        collection: &CollectionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<VersionText>, LibraryError> {
        self.read(|connection| {
            let collection = collection.num(connection)?;
            let sql = format!(
                "{TEXTS} s.collection = ?1 AND s.num > ?2 AND v.num = s.current
                 ORDER BY s.num LIMIT ?3"
            );
            let parameters = params![collection, Count(after), limits::rows(limit)];
            let texts = some(connection, &sql, parameters, read_text, |text| text.markdown.len())?;
            texts.into_iter().map(check_text).collect()
        })
    }
}

impl SourceLink {
    fn bytes(&self) -> usize {
        self.url.len() + self.text.len() + self.context.len()
    }
}

/// The version that a capture led to.
pub(crate) struct Kept {
    pub(crate) num: i64,
    pub(crate) is_new: bool,
}

/// Makes it the current version of the source, unless the current one says the same.
pub(crate) fn keep(
    connection: &Connection,
    ids: &mut dyn Ids,
    source: i64,
    captured: &Captured,
    now: u64,
) -> Result<Kept, Trouble> {
    let links_json = serde_json::to_string(&captured.links).unwrap_or_default();
    let signals_json = serde_json::to_string(&captured.signals).unwrap_or_default();
    check_size("the text of a source", &captured.markdown, MAX_BODY)?;
    check_size("a media type", &captured.media_type, MAX_LINE)?;
    check_size("an address", captured.final_address.as_deref().unwrap_or_default(), MAX_ADDRESS)?;
    check_json("a list of links", &links_json)?;
    check_json("a list of signals", &signals_json)?;
    let hash = Hash::of(captured.markdown.as_bytes());
    let sql = "SELECT s.current, v.hash FROM sources AS s
               LEFT JOIN source_versions AS v ON v.num = s.current WHERE s.num = ?1";
    let current: Option<(Option<i64>, Option<Hash>)> =
        first(connection, sql, [source], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let kept = match current {
        Some((Some(num), Some(same))) if same == hash => Kept { num, is_new: false },
        _ => {
            let sql = "INSERT INTO source_versions
                           (id, source, number, hash, title, byline, media_type, final_address,
                            chars, words, links_json, signals_json, captured_at_ms, markdown)
                       SELECT ?1, ?2, 1 + coalesce(max(number), 0), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
                              ?11, ?12, ?13
                       FROM source_versions WHERE source = ?2";
            let text = &captured.markdown;
            let parameters = params![
                VersionId::draw(ids),
                source,
                hash,
                one_line(&captured.title, MAX_TITLE),
                captured.byline.as_deref().map(|byline| one_line(byline, MAX_TITLE)),
                captured.media_type,
                captured.final_address,
                Count(text.chars().count() as u64),
                Count(text.split_whitespace().count() as u64),
                links_json,
                signals_json,
                Count(now),
                text,
            ];
            run(connection, sql, parameters)?;
            Kept { num: connection.last_insert_rowid(), is_new: true }
        }
    };
    let title = one_line(&captured.title, MAX_TITLE);
    let sql = "UPDATE sources
               SET current = ?2, status = 'captured', error_code = NULL, error_text = NULL,
                   title = coalesce(given_title, nullif(?3, ''), iif(kind = 'file', title, address), title),
                   etag = ?4, last_modified = ?5, checked_at_ms = ?6
               WHERE num = ?1";
    let etag = validator(captured.etag.as_deref());
    let last_modified = validator(captured.last_modified.as_deref());
    run(connection, sql, params![source, kept.num, title, etag, last_modified, Count(now)])?;
    Ok(kept)
}

/// Whoever reads a text gets the one that was kept, or nothing.
fn check_text(found: VersionText) -> Result<VersionText, Trouble> {
    match Hash::of(found.markdown.as_bytes()) == found.version.hash {
        true => Ok(found),
        false => Err(Trouble::unsound(found.version.id.as_str(), WRONG_TEXT)),
    }
}

pub(crate) const WRONG_TEXT: &str = "its text does not have its hash";

const COLUMNS: &str =
    "v.id, s.id, v.number, v.hash, v.title, v.byline, v.media_type, v.final_address,
    v.chars, v.words, v.links_json, v.signals_json, v.captured_at_ms";

const TEXTS: &str = "SELECT v.id, s.id, v.number, v.hash, v.title, v.byline, v.media_type,
        v.final_address, v.chars, v.words, v.links_json, v.signals_json, v.captured_at_ms,
        v.markdown, s.num, s.title, s.address
    FROM source_versions AS v JOIN sources AS s ON s.num = v.source
    WHERE";

fn read(row: &Row<'_>) -> rusqlite::Result<Version> {
    Ok(Version {
        id: row.get(0)?,
        source_id: row.get(1)?,
        number: count(row, 2)?,
        hash: row.get(3)?,
        title: row.get(4)?,
        byline: row.get(5)?,
        media_type: row.get(6)?,
        final_address: row.get(7)?,
        chars: count(row, 8)?,
        words: count(row, 9)?,
        links: row.get::<_, AsJson<_>>(10)?.0,
        signals: row.get::<_, AsJson<_>>(11)?.0,
        captured_at_ms: count(row, 12)?,
    })
}

fn read_text(row: &Row<'_>) -> rusqlite::Result<VersionText> {
    Ok(VersionText {
        version: read(row)?,
        markdown: row.get(13)?,
        num: count(row, 14)?,
        title: row.get(15)?,
        address: row.get(16)?,
    })
}
