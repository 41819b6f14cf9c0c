//! Versions of the tables, and how an old file becomes a new one.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::StoreError;

/// What a new file gets. A test proves that all migrations together give the same.
const SCHEMA: &str = include_str!("../schema.sql");

/// What is run to get from version `n` to `n + 1`, counted from an empty file.
const MIGRATIONS: [&str; 2] = [
    include_str!("../migrations/0001_journal.sql"),
    include_str!("../migrations/0002_find_a_response.sql"),
];

const VERSION: i64 = MIGRATIONS.len() as i64;

/// The oldest version that a reader, which cannot migrate, still understands.
const READABLE: i64 = 1;

/// Makes the tables of a new file, or brings those of an old one up to date.
pub(crate) fn prepare(
    connection: &mut Connection,
    path: &Path,
    store_id: Option<&str>,
) -> Result<(), StoreError> {
    let database = |error: rusqlite::Error| StoreError::database(path, &error);
    let found = version(connection, path)?;
    if found == VERSION {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(database)?;
    if found == 0 {
        create(&transaction, store_id).map_err(database)?;
    } else {
        let done = usize::try_from(found).unwrap_or_default();
        for migration in MIGRATIONS.iter().skip(done) {
            transaction.execute_batch(migration).map_err(database)?;
        }
    }
    transaction.pragma_update(None, "user_version", VERSION).map_err(database)?;
    transaction.commit().map_err(database)
}

/// Refuses what a reader cannot understand.
pub(crate) fn check_readable(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    // An owner that was killed while it made the file leaves an empty one.
    if version(connection, path)? < READABLE {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    Ok(())
}

fn create(transaction: &Transaction<'_>, store_id: Option<&str>) -> rusqlite::Result<()> {
    transaction.execute_batch(SCHEMA)?;
    transaction.execute(
        "INSERT INTO meta (key, value)
         VALUES ('store_id', coalesce(?1, lower(hex(randomblob(16)))))",
        [store_id],
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION)
}

/// 0 for a file without tables.
fn version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let database = |error: rusqlite::Error| StoreError::database(path, &error);
    let pragma =
        |name| connection.pragma_query_value(None, name, |row| row.get(0)).map_err(database);
    let (application, found): (i64, i64) = (pragma("application_id")?, pragma("user_version")?);
    let objects: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(database)?;
    if (application, found, objects) == (0, 0, 0) {
        return Ok(0);
    }
    if application != APPLICATION || found < 1 {
        let why = "it is a database of another program".to_owned();
        return Err(StoreError::Damaged { path: path.to_owned(), why });
    }
    if found > VERSION {
        return Err(StoreError::NewerSchema { path: path.to_owned(), found, known: VERSION });
    }
    Ok(found)
}

/// The letters `Sabr`, which tell our files from other databases.
const APPLICATION: i64 = 0x5361_6272;

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(connection: &Connection) -> Vec<(String, String, Option<String>)> {
        let mut statement = connection
            .prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn all_migrations_together_give_the_schema_of_a_new_file() {
        let fresh = Connection::open_in_memory().unwrap();
        fresh.execute_batch(SCHEMA).unwrap();
        let migrated = Connection::open_in_memory().unwrap();
        for migration in MIGRATIONS {
            migrated.execute_batch(migration).unwrap();
        }
        assert_eq!(objects(&migrated), objects(&fresh));
        assert!(objects(&fresh).len() > 10);
    }

    #[test]
    fn the_list_holds_every_file_of_the_folder_in_order() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        let texts: Vec<_> =
            names.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert_eq!(texts, MIGRATIONS);
    }
}
