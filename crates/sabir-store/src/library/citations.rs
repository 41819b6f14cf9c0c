//! Citations of a message or an artifact: what was quoted, and where it stands. Whether it stands
//! there was found out by others; what is checked here is that the place exists.

use std::ops::Range;

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::Library;
use super::error::{LibraryError, Trouble};
use super::ids::{ArtifactId, ChatId, CitationId, Ids, SourceId, VersionId};
use super::limits::{MAX_BODY, MAX_LINE, MAX_ROWS, check_size};
use super::named::named;
use super::rows::{Count, Named as _, all, count, first, maybe_count, run};

named! {
    CitationStatus {
        /// The words stand in the source.
        Verified = "verified",
        /// The source's own words were put in.
        Repaired = "repaired",
        Ambiguous = "ambiguous",
        Unverified = "unverified",
        UnknownSource = "unknown_source",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCitation {
    /// As the model named it.
    pub source_id: String,
    /// The version that it was held against.
    pub version: Option<VersionId>,
    pub status: CitationStatus,
    /// How the words were found.
    pub how: Option<String>,
    pub quote: String,
    /// Bytes of the version's text.
    pub place: Option<Range<u64>>,
    pub text_fragment: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Citation {
    pub id: CitationId,
    /// 1 for the first of its message or artifact.
    pub position: u64,
    pub source_id: String,
    /// None also when the source was removed since.
    pub version: Option<VersionId>,
    pub status: CitationStatus,
    pub how: Option<String>,
    pub quote: String,
    pub place: Option<Range<u64>>,
    pub text_fragment: Option<String>,
    /// Where the source is fetched from, by our own record.
    pub address: Option<String>,
}

/// Where a citation stands.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    ChatEvent(i64),
    Artifact(i64),
}

impl Library {
    /// In their order.
    ///
    /// # Errors
    ///
    /// When there is no such message.
    pub fn citations_of_chat(&self, event: &ChatId) -> Result<Vec<Citation>, LibraryError> {
        self.read(|connection| load(connection, Owner::ChatEvent(event.num(connection)?)))
    }

    /// In their order.
    ///
    /// # Errors
    ///
    /// When there is no such artifact.
    pub fn citations_of_artifact(
        &self,
        artifact: &ArtifactId,
    ) -> Result<Vec<Citation>, LibraryError> {
        self.read(|connection| load(connection, Owner::Artifact(artifact.num(connection)?)))
    }
}

pub(crate) fn insert(
    connection: &Connection,
    ids: &mut dyn Ids,
    owner: Owner,
    citations: &[NewCitation],
) -> Result<(), Trouble> {
    if citations.len() > MAX_ROWS {
        let (what, size, limit) = ("a list of citations", citations.len(), MAX_ROWS);
        return Err(LibraryError::TooLarge { what, size, limit }.into());
    }
    let (chat_event, artifact) = owner.columns();
    for (citation, position) in citations.iter().zip(1_u64..) {
        check_size("a quote", &citation.quote, MAX_BODY)?;
        check_size("the name of a source", &citation.source_id, MAX_LINE)?;
        let fragment = citation.text_fragment.as_deref();
        check_size("a text fragment", fragment.unwrap_or_default(), 8 * MAX_LINE)?;
        let version = check_place(connection, citation)?;
        let sql = "INSERT INTO citations (id, chat_event, artifact, position, source_id, version,
                                          status, how, quote, start_byte, end_byte, text_fragment)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let parameters = params![
            CitationId::draw(ids),
            chat_event,
            artifact,
            Count(position),
            citation.source_id,
            version,
            citation.status,
            citation.how,
            citation.quote,
            citation.place.as_ref().map(|place| Count(place.start)),
            citation.place.as_ref().map(|place| Count(place.end)),
            fragment,
        ];
        run(connection, sql, parameters)?;
    }
    Ok(())
}

/// A citation that says that its words were found says where; and there is such a place.
fn check_place(connection: &Connection, citation: &NewCitation) -> Result<Option<i64>, Trouble> {
    let wrong = |why| Err(Trouble::invalid("a citation", why));
    let was_found = match citation.status {
        CitationStatus::Verified | CitationStatus::Repaired => true,
        CitationStatus::Ambiguous | CitationStatus::Unverified | CitationStatus::UnknownSource => {
            false
        }
    };
    let Some(id) = &citation.version else {
        return match was_found || citation.place.is_some() {
            true => wrong("it does not say which version was quoted"),
            false => Ok(None),
        };
    };
    let sql = "SELECT v.num, v.markdown, s.id FROM source_versions AS v
               JOIN sources AS s ON s.num = v.source WHERE v.id = ?1";
    let row: Option<(i64, String, SourceId)> =
        first(connection, sql, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let (num, text, source) = row.ok_or_else(|| id.missing())?;
    if source.as_str() != citation.source_id {
        return wrong("its version is one of another source");
    }
    match &citation.place {
        None if was_found => wrong("it does not say where its words stand"),
        None => Ok(Some(num)),
        Some(place) => {
            let bounds = usize::try_from(place.start).ok().zip(usize::try_from(place.end).ok());
            match bounds.and_then(|(start, end)| text.get(start..end)) {
                Some(words) if !words.is_empty() => Ok(Some(num)),
                Some(_) | None => wrong("its place is not in the text"),
            }
        }
    }
}

fn load(connection: &Connection, owner: Owner) -> Result<Vec<Citation>, Trouble> {
    let (chat_event, artifact) = owner.columns();
    let sql = "SELECT c.id, c.position, c.source_id, v.id, c.status, c.how, c.quote, c.start_byte,
                      c.end_byte, c.text_fragment, s.address
               FROM citations AS c
               LEFT JOIN source_versions AS v ON v.num = c.version
               LEFT JOIN sources AS s ON s.num = v.source
               WHERE c.chat_event = ?1 OR c.artifact = ?2
               ORDER BY c.position";
    all(connection, sql, params![chat_event, artifact], read)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Citation> {
    let place = maybe_count(row, 7)?.zip(maybe_count(row, 8)?);
    Ok(Citation {
        id: row.get(0)?,
        position: count(row, 1)?,
        source_id: row.get(2)?,
        version: row.get(3)?,
        status: row.get(4)?,
        how: row.get(5)?,
        quote: row.get(6)?,
        place: place.map(|(start, end)| start..end),
        text_fragment: row.get(9)?,
        address: row.get(10)?,
    })
}

impl Owner {
    fn columns(self) -> (Option<i64>, Option<i64>) {
        match self {
            Self::ChatEvent(num) => (Some(num), None),
            Self::Artifact(num) => (None, Some(num)),
        }
    }
}
