//! The tables of the file of peers: which versions there were.

use std::path::Path;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::schema::Tables;

const PEERS: Tables = Tables {
    // The letters `SabP`.
    application: 0x5361_6250,
    newest: include_str!("../../peers/schema.sql"),
    migrations: &[include_str!("../../peers/migrations/0001_peers.sql")],
};

pub(super) fn is_newest(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let found = PEERS.found(connection).map_err(|unusable| StoreError::unusable(path, unusable))?;
    Ok(found == PEERS.version())
}

pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    PEERS.prepare(connection, |_| Ok(())).map_err(|unusable| StoreError::unusable(path, unusable))
}

#[cfg(test)]
mod tests {
    use crate::schema::tests::{assert_every_file_is_listed, assert_migrations_give_the_newest};

    use super::PEERS;

    #[test]
    fn all_migrations_together_give_the_schema_of_a_new_file_of_peers() {
        assert_migrations_give_the_newest(&PEERS);
    }

    #[test]
    fn the_list_holds_every_file_of_the_peers_folder_in_order() {
        assert_every_file_is_listed(&PEERS, "peers/migrations");
    }
}
