//! The tables of the library's file: which versions there were, and how a new one is filled.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use super::error::{LibraryError, Trouble};
use super::ids::{Ids, suffix};
use crate::schema::{Tables, Unusable};

const LIBRARY: Tables = Tables {
    // The letters `SabL`.
    application: 0x5361_624c,
    newest: include_str!("../../library/schema.sql"),
    migrations: &[
        include_str!("../../library/migrations/0001_library.sql"),
        include_str!("../../library/migrations/0002_fetch_address.sql"),
        include_str!("../../library/migrations/0003_audit_head.sql"),
    ],
};

pub(crate) fn is_newest(connection: &Connection, path: &Path) -> Result<bool, LibraryError> {
    let found = LIBRARY.found(connection).map_err(|unusable| blame(path, unusable))?;
    Ok(found == LIBRARY.version())
}

pub(crate) fn prepare(
    connection: &mut Connection,
    path: &Path,
    ids: &mut dyn Ids,
) -> Result<(), LibraryError> {
    let fill = |transaction: &rusqlite::Transaction<'_>| {
        let sql = "INSERT INTO meta (key, value) VALUES ('library_id', ?1), ('audit_head', '0')";
        transaction.execute(sql, [suffix(ids)]).map(drop)
    };
    LIBRARY.prepare(connection, fill).map_err(|unusable| blame(path, unusable))
}

/// Goes into the hash before the first row of the audit.
pub(crate) fn library_id(connection: &Connection) -> Result<String, Trouble> {
    let sql = "SELECT value FROM meta WHERE key = 'library_id'";
    let found = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    found.ok_or_else(|| Trouble::unsound("meta", "the id of the library is missing"))
}

/// Whether the triggers are those that the file was made with. Without them rows could be changed
/// that nobody may change.
pub(crate) fn check_triggers(connection: &Connection) -> Result<(), Trouble> {
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(LIBRARY.newest)?;
    match triggers(connection)? == triggers(&fresh)? {
        true => Ok(()),
        false => Err(Trouble::unsound("the file", "its triggers are not those it was made with")),
    }
}

fn triggers(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn blame(path: &Path, unusable: Unusable) -> LibraryError {
    match unusable {
        Unusable::Foreign => {
            let why = "it is a database of another program".to_owned();
            LibraryError::Damaged { path: path.to_owned(), why }
        }
        Unusable::Newer { found, known } => {
            LibraryError::NewerSchema { path: path.to_owned(), found, known }
        }
        Unusable::Database(error) => Trouble::from(error).at(path),
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::tests::{assert_every_file_is_listed, assert_migrations_give_the_newest};

    use super::LIBRARY;

    #[test]
    fn all_migrations_together_give_the_schema_of_a_new_library() {
        assert_migrations_give_the_newest(&LIBRARY);
    }

    #[test]
    fn the_list_holds_every_file_of_the_library_s_folder_in_order() {
        assert_every_file_is_listed(&LIBRARY, "library/migrations");
    }
}
