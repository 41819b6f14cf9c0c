//! The tables of the journal's file: which versions there were, and what a reader understands.

use std::path::Path;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::schema::Tables;

/// Make the tables of what this node does for peers, and nothing else.
pub(crate) const DELEGATE: [&str; 3] = [
    include_str!("../migrations/0003_delegate.sql"),
    include_str!("../migrations/0004_holders.sql"),
    include_str!("../migrations/0005_task_names.sql"),
];

const JOURNAL: Tables = Tables {
    // The letters `Sabr`.
    application: 0x5361_6272,
    newest: include_str!("../schema.sql"),
    migrations: &[
        include_str!("../migrations/0001_journal.sql"),
        include_str!("../migrations/0002_find_a_response.sql"),
        DELEGATE[0],
        DELEGATE[1],
        DELEGATE[2],
        include_str!("../migrations/0006_peer_mark.sql"),
    ],
};

/// The version with the first of [`DELEGATE`].
const WITH_DELEGATE: i64 = 3;

const WITH_HOLDERS: i64 = 4;

/// The version with all of [`DELEGATE`].
const WITH_NAMES: i64 = 5;

const WITH_MARK: i64 = 6;

/// The oldest version that a reader, which cannot migrate, still understands.
const READABLE: i64 = 1;

pub(crate) fn prepare(
    connection: &mut Connection,
    path: &Path,
    store_id: Option<&str>,
) -> Result<(), StoreError> {
    let fill = |transaction: &rusqlite::Transaction<'_>| {
        let sql = "INSERT INTO meta (key, value)
                   VALUES ('store_id', coalesce(?1, lower(hex(randomblob(16)))))";
        transaction.execute(sql, [store_id]).map(drop)
    };
    JOURNAL.prepare(connection, fill).map_err(|unusable| StoreError::unusable(path, unusable))
}

/// Refuses what a reader cannot understand.
pub(crate) fn check_readable(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    // An owner that was killed while it made the file leaves an empty one.
    if JOURNAL.found(connection).map_err(|unusable| StoreError::unusable(path, unusable))?
        < READABLE
    {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    Ok(())
}

/// Which tables a file has, as one snapshot shows it: an older program may have written it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version(i64);

impl Version {
    pub(crate) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        // Kept prepared: every look at a task asks, once.
        connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0)).map(Self)
    }

    /// Whether the file has the tables of a delegate; one that an older program wrote does not.
    pub(crate) fn has_delegate(self) -> bool {
        self.0 >= WITH_DELEGATE
    }

    /// How the marks of holders are read: a file that an older program wrote has none.
    pub(crate) fn shown_column(self) -> &'static str {
        if self.0 >= WITH_HOLDERS { "shown" } else { "NULL" }
    }

    /// Whether tasks that ended have a table of names; in older files they are found by an index.
    pub(crate) fn has_names(self) -> bool {
        self.0 >= WITH_NAMES
    }

    /// Whether the file says how far its tables follow the journal; in older files they always did.
    pub(crate) fn has_mark(self) -> bool {
        self.0 >= WITH_MARK
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::tests::{assert_every_file_is_listed, assert_migrations_give_the_newest};

    use super::JOURNAL;

    #[test]
    fn all_migrations_together_give_the_schema_of_a_new_file() {
        assert_migrations_give_the_newest(&JOURNAL);
    }

    #[test]
    fn the_list_holds_every_file_of_the_folder_in_order() {
        assert_every_file_is_listed(&JOURNAL, "migrations");
    }
}
