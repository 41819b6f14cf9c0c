//! Versions of the tables of a file, and how an old file becomes a new one. It knows no table.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The tables of one kind of file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    /// Tells our files from other databases, and one kind from another.
    pub(crate) application: i64,
    /// What a new file gets. A test proves that all migrations together give the same.
    pub(crate) newest: &'static str,
    /// What is run to get from version `n` to `n + 1`, counted from an empty file.
    pub(crate) migrations: &'static [&'static str],
}

/// Why the tables of a file cannot be used.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// The file has tables that are not ours.
    Foreign,
    /// A newer program wrote it.
    Newer {
        found: i64,
        known: i64,
    },
    Database(rusqlite::Error),
}

impl Tables {
    pub(crate) const fn version(&self) -> i64 {
        self.migrations.len() as i64
    }

    /// Makes the tables of a new file, which `fill` then fills, or brings those of an old one up to
    /// date.
    pub(crate) fn prepare(
        &self,
        connection: &mut Connection,
        fill: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), Unusable> {
        if self.found(connection)? == self.version() {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been here first.
        let found = self.found(&transaction)?;
        if found == 0 {
            transaction.execute_batch(self.newest)?;
            fill(&transaction)?;
            transaction.pragma_update(None, "application_id", self.application)?;
        } else {
            let done = usize::try_from(found).unwrap_or_default();
            for migration in self.migrations.iter().skip(done) {
                transaction.execute_batch(migration)?;
            }
        }
        transaction.pragma_update(None, "user_version", self.version())?;
        transaction.commit()?;
        Ok(())
    }

    /// The version of the file; 0 for one without tables.
    pub(crate) fn found(&self, connection: &Connection) -> Result<i64, Unusable> {
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
        let (application, found): (i64, i64) = (pragma("application_id")?, pragma("user_version")?);
        let objects: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if (application, found, objects) == (0, 0, 0) {
            return Ok(0);
        }
        if application != self.application || found < 1 {
            return Err(Unusable::Foreign);
        }
        if found > self.version() {
            return Err(Unusable::Newer { found, known: self.version() });
        }
        Ok(found)
    }
}

impl From<rusqlite::Error> for Unusable {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;

    fn objects(connection: &Connection) -> Vec<(String, String, Option<String>)> {
        let mut statement = connection
            .prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    pub(crate) fn assert_migrations_give_the_newest(tables: &Tables) {
        let fresh = Connection::open_in_memory().unwrap();
        fresh.execute_batch(tables.newest).unwrap();
        let migrated = Connection::open_in_memory().unwrap();
        for migration in tables.migrations {
            migrated.execute_batch(migration).unwrap();
        }
        assert_eq!(objects(&migrated), objects(&fresh));
        assert!(objects(&fresh).len() > 10);
    }

    pub(crate) fn assert_every_file_is_listed(tables: &Tables, folder: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        let texts: Vec<_> =
            names.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert_eq!(texts, tables.migrations);
    }
}
