//! Finding sources by their words. The index is SQLite's; it is kept in step by triggers.

use std::ops::Range;

use rusqlite::{Connection, params};
use serde::Serialize;

use super::error::{LibraryError, Trouble};
use super::ids::{CollectionId, SourceId, VersionId};
use super::limits::{MAX_QUERY, check_size};
use super::query::expression;
use super::rows::{Named as _, all, first, run};
use super::{Library, limits};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// Every word occurs.
    All,
    /// At least one does; more and rarer ones come first.
    Any,
}

#[derive(Clone, Debug)]
pub struct SearchRequest<'a> {
    pub words: &'a str,
    pub matching: Matching,
    /// One collection, or all.
    pub scope: Option<&'a CollectionId>,
    /// How many of the best to pass over.
    pub skip: usize,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub source_id: SourceId,
    pub collection_id: CollectionId,
    pub version_id: VersionId,
    pub title: String,
    pub address: Option<String>,
    /// Higher is better; only to be compared with others of the same search.
    pub score: f64,
    pub snippet: Snippet,
}

/// A piece of the text in which the words stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snippet {
    pub text: String,
    /// Bytes of `text` that are words which were looked for.
    pub marks: Vec<Range<usize>>,
}

impl Library {
    /// The current versions in which the words stand, the best first; a word in a title counts
    /// more. Nothing that is typed is an error: without a word there are no hits.
    ///
    /// # Errors
    ///
    /// When there is no such collection, or what is looked for is too long.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<Vec<Hit>, LibraryError> {
        self.read(|connection| {
            check_size("what is looked for", request.words, MAX_QUERY)?;
            let collection = request.scope.map(|id| id.num(connection)).transpose()?;
            let Some(expression) = expression(request.words, request.matching) else {
                return Ok(Vec::new());
            };
            let skip = i64::try_from(request.skip).unwrap_or(i64::MAX);
            let parameters = params![expression, collection, limits::rows(request.limit), skip];
            let found: Vec<(i64, Hit)> = all(connection, RANKED, parameters, |row| {
                let hit = Hit {
                    source_id: row.get(1)?,
                    collection_id: row.get(2)?,
                    version_id: row.get(3)?,
                    title: row.get(4)?,
                    address: row.get(5)?,
                    score: -row.get::<_, f64>(6)?,
                    snippet: Snippet::default(),
                };
                Ok((row.get(0)?, hit))
            })?;
            // Only for those that are shown: a snippet costs a walk through the text.
            let with_snippet =
                |(num, hit)| Ok(Hit { snippet: snippet(connection, &expression, num)?, ..hit });
            found.into_iter().map(with_snippet).collect()
        })
    }

    /// Makes the index again from the texts.
    ///
    /// # Errors
    ///
    /// When the disk does not let us; the index is then as before.
    pub fn rebuild_search(&self) -> Result<(), LibraryError> {
        self.write(|connection, _| {
            run(connection, "INSERT INTO search_index (search_index) VALUES ('rebuild')", [])
                .map(drop)
        })
    }
}

/// The weights: a word in a title says more than one in ten thousand. Equals come in the order in
/// which they were added, so that pages do not overlap.
const RANKED: &str = "SELECT s.num, s.id, c.id, v.id, s.title, s.address,
           bm25(search_index, 8.0, 1.0) AS badness
    FROM search_index
    JOIN sources AS s ON s.num = search_index.rowid
    JOIN collections AS c ON c.num = s.collection
    JOIN source_versions AS v ON v.num = s.current
    WHERE search_index MATCH ?1 AND (?2 IS NULL OR s.collection = ?2)
    ORDER BY badness, s.num LIMIT ?3 OFFSET ?4";

fn snippet(connection: &Connection, expression: &str, num: i64) -> Result<Snippet, Trouble> {
    let sql = "SELECT snippet(search_index, 1, ?3, ?4, '', 32) FROM search_index
               WHERE search_index MATCH ?1 AND rowid = ?2";
    let parameters = params![expression, num, OPEN.to_string(), CLOSE.to_string()];
    let marked: Option<String> = first(connection, sql, parameters, |row| row.get(0))?;
    Ok(read_marks(&marked.unwrap_or_default()))
}

/// Takes the marks out of the text and says where they were. A text may hold such characters of its
/// own; then they go, and at worst a word of it is marked that was not looked for.
fn read_marks(marked: &str) -> Snippet {
    let mut snippet = Snippet::default();
    let mut start = None;
    for c in marked.chars() {
        match c {
            OPEN => start = Some(snippet.text.len()),
            CLOSE => {
                let mark = start.take().map(|start| start..snippet.text.len());
                snippet.marks.extend(mark.filter(|mark| !mark.is_empty()));
            }
            c => snippet.text.push(c),
        }
    }
    snippet
}

/// Characters that Unicode reserves for use inside of programs.
const OPEN: char = '\u{FDD0}';
const CLOSE: char = '\u{FDD1}';
