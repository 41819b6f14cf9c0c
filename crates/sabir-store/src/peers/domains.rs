//! Trust domains, as the person at this node set them up. What a peer says of its own is not kept here.

use rusqlite::{Connection, OptionalExtension as _, params};
use sabir_ldp::TrustDomain;

use super::limits::{MAX_DOMAINS, MAX_JSON, MAX_LINE, check_room, check_size};
use super::{Peers, Trouble};
use crate::error::StoreError;
use crate::library::AsJson;

impl Peers {
    /// Changes a domain, or makes one that trusts only itself and changes that; gives what it became.
    ///
    /// # Errors
    ///
    /// When its name is empty or too long, when there are too many, and when the file cannot be
    /// written.
    pub fn change_domain(
        &self,
        name: &str,
        change: impl FnOnce(&mut TrustDomain),
    ) -> Result<TrustDomain, StoreError> {
        self.write(|transaction| {
            check_size("the name of a domain", name, MAX_LINE)?;
            if name.is_empty() {
                let what = "the name of a domain";
                return Err(StoreError::Invalid { what, why: "it is empty" }.into());
            }
            let found = find(transaction, name)?;
            if found.is_none() {
                check_room(transaction, "trust domains", "trust_domains", MAX_DOMAINS)?;
            }
            let mut domain = found.unwrap_or_else(|| TrustDomain::closed(name));
            change(&mut domain);
            name.clone_into(&mut domain.name);
            domain.trusted_peers.sort();
            domain.trusted_peers.dedup();
            let size = domain.trusted_peers.iter().map(|peer| peer.len() + 8).sum::<usize>();
            if size > MAX_JSON {
                let what = "a trust domain";
                return Err(StoreError::TooLarge { what, bytes: size, limit: MAX_JSON }.into());
            }
            let sql = "INSERT OR REPLACE INTO trust_domains (name, domain_json) VALUES (?1, ?2)";
            transaction.prepare_cached(sql)?.execute(params![name, AsJson(&domain)])?;
            Ok(domain)
        })
    }

    /// All of them, by name.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn domains(&self) -> Result<Vec<TrustDomain>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT domain_json FROM trust_domains ORDER BY name";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok(row.get::<_, AsJson<_>>(0)?.0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// `false` when there was none.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn remove_domain(&self, name: &str) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let sql = "DELETE FROM trust_domains WHERE name = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([name])? > 0)
        })
    }
}

fn find(connection: &Connection, name: &str) -> Result<Option<TrustDomain>, Trouble> {
    let sql = "SELECT domain_json FROM trust_domains WHERE name = ?1";
    let found = connection
        .prepare_cached(sql)?
        .query_row([name], |row| Ok(row.get::<_, AsJson<_>>(0)?.0))
        .optional()?;
    Ok(found)
}
