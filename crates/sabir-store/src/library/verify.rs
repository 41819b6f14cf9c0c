//! Is the library what was put into it, and do its parts say the same?

use rusqlite::Connection;
use serde::Serialize;

use super::Library;
use super::audit::{self, AuditHead};
use super::error::{LibraryError, Trouble};
use super::rows::{count, first};
use super::tables::{check_triggers, library_id};
use super::versions::WRONG_TEXT;
use crate::chain::Hash;

/// Everything fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LibraryVerified {
    /// Which library it is: another one of equal content has another id, and its audit other hashes.
    pub library_id: String,
    pub collections: u64,
    pub sources: u64,
    pub versions: u64,
    pub audit: AuditHead,
}

impl Library {
    /// Looks at all of it: the pages of the file, the references between rows, the text of every
    /// version against its hash, the audit against its chain and its end, the triggers, and the
    /// search against the texts.
    ///
    /// # Errors
    ///
    /// The first thing that does not fit.
    pub fn verify(&self) -> Result<LibraryVerified, LibraryError> {
        let verified = self.read(|connection| {
            check_pages(connection)?;
            check_references(connection)?;
            check_texts(connection)?;
            Ok(LibraryVerified {
                library_id: library_id(connection)?,
                collections: rows_of(connection, "collections")?,
                sources: rows_of(connection, "sources")?,
                versions: rows_of(connection, "source_versions")?,
                audit: audit::verify(connection)?,
            })
        })?;
        // The index is asked by a statement that has the form of a write; where nothing can be
        // written, what the pages say of it has to do.
        match self.write(|connection, _| check_search(connection)) {
            Ok(()) | Err(LibraryError::ReadOnly { .. }) => {}
            Err(error) => return Err(error),
        }
        // Last: what was changed without them says more.
        self.read(check_triggers)?;
        Ok(verified)
    }
}

fn check_pages(connection: &Connection) -> Result<(), Trouble> {
    // A look at the search index makes it forget what it remembers from before others wrote. The
    // check below does not, and would find fault with a sound index.
    first(connection, "SELECT rowid FROM search_index WHERE rowid = 0", [], |_| Ok(()))?;
    let sql = "PRAGMA integrity_check(1)";
    let found: Option<String> = first(connection, sql, [], |row| row.get(0))?;
    match found.as_deref() {
        None | Some("ok") => Ok(()),
        Some(_) => Err(Trouble::unsound("the file", "its pages and indexes do not fit together")),
    }
}

fn check_references(connection: &Connection) -> Result<(), Trouble> {
    let sql = "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1";
    if let Some(table) = first(connection, sql, [], |row| row.get::<_, String>(0))? {
        return Err(Trouble::unsound(table, "a row of it names one that does not exist"));
    }
    let sql = "SELECT s.id FROM sources AS s
               WHERE s.current IS NOT (SELECT v.num FROM source_versions AS v
                                       WHERE v.source = s.num ORDER BY v.number DESC LIMIT 1)
               LIMIT 1";
    match first(connection, sql, [], |row| row.get::<_, String>(0))? {
        Some(id) => Err(Trouble::unsound(id, "its current version is not its newest")),
        None => Ok(()),
    }
}

fn check_texts(connection: &Connection) -> Result<(), Trouble> {
    let mut statement =
        connection.prepare_cached("SELECT id, hash, markdown FROM source_versions ORDER BY num")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // As bytes: what was changed from outside need not be a text any more.
        let bytes = match row.get_ref(2)? {
            rusqlite::types::ValueRef::Text(bytes) => bytes,
            _ => &[],
        };
        if row.get::<_, Hash>(1).ok() != Some(Hash::of(bytes)) {
            return Err(Trouble::unsound(row.get::<_, String>(0)?, WRONG_TEXT));
        }
    }
    Ok(())
}

fn check_search(connection: &Connection) -> Result<(), Trouble> {
    // With 1 it compares the index with the texts, not only with itself.
    let sql = "INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)";
    match connection.execute(sql, []) {
        Ok(_) => Ok(()),
        Err(error) => match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
                Err(Trouble::unsound("the search", "it is not in step with the texts"))
            }
            _ => Err(error.into()),
        },
    }
}

fn rows_of(connection: &Connection, table: &str) -> Result<u64, Trouble> {
    let rows = first(connection, &format!("SELECT count(*) FROM {table}"), [], |row| count(row, 0));
    rows.map(Option::unwrap_or_default)
}
