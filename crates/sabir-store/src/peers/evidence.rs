//! How tasks went that were given to others: tallies for the router, and breakers. Several processes
//! count at once, so that each change reads and writes in one transaction.

use rusqlite::{Connection, OptionalExtension as _, params};
use sabir_ldp::{Breaker, DelegateId, SkillName, Tally, TallyRecord, Timestamp};

use super::limits::MAX_TALLIES;
use super::{Peers, Trouble};
use crate::error::StoreError;
use crate::journal::to_sql;
use crate::library::AsJson;

impl Peers {
    /// Changes the tally of a delegate with a skill, an empty one if there is none, and gives what it
    /// became.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn change_tally(
        &self,
        delegate: &DelegateId,
        skill: &SkillName,
        now: Timestamp,
        change: impl FnOnce(&mut Tally),
    ) -> Result<Tally, StoreError> {
        self.write(|transaction| {
            let sql = "SELECT tally_json FROM tallies WHERE delegate_id = ?1 AND skill = ?2";
            let names = params![delegate.as_str(), skill.as_str()];
            let found: Option<AsJson<Tally>> =
                transaction.prepare_cached(sql)?.query_row(names, |row| row.get(0)).optional()?;
            let mut tally = found.map_or_else(|| Tally::new(now), |AsJson(tally)| tally);
            change(&mut tally);
            let mut statement = transaction.prepare_cached(
                "INSERT OR REPLACE INTO tallies (delegate_id, skill, tally_json, changed_at_ms)
                 VALUES (?1, ?2, ?3, ?4)",
            )?;
            let changed_at_ms = to_sql(now.millis());
            let values = params![delegate.as_str(), skill.as_str(), AsJson(&tally), changed_at_ms];
            statement.execute(values)?;
            forget_oldest_tallies(transaction)?;
            Ok(tally)
        })
    }

    /// All evidence, by delegate and skill: what a router takes in.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn tallies(&self) -> Result<Vec<TallyRecord>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT delegate_id, skill, tally_json FROM tallies
                       ORDER BY delegate_id, skill";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut tallies = Vec::new();
            while let Some(row) = rows.next()? {
                let delegate = DelegateId::new(row.get::<_, String>(0)?);
                let skill = SkillName::new(row.get::<_, String>(1)?);
                // Only a changed file has names that are none; what they count is for nobody.
                if let (Ok(delegate), Ok(skill)) = (delegate, skill) {
                    let AsJson(tally) = row.get(2)?;
                    tallies.push(TallyRecord { delegate, skill, tally });
                }
            }
            Ok(tallies)
        })
    }

    /// Changes the breaker of a delegate, a closed one if there is none, and gives what it became.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn change_breaker(
        &self,
        delegate: &DelegateId,
        change: impl FnOnce(&mut Breaker),
    ) -> Result<Breaker, StoreError> {
        self.write(|transaction| {
            let sql = "SELECT breaker_json FROM breakers WHERE delegate_id = ?1";
            let found: Option<AsJson<Breaker>> = transaction
                .prepare_cached(sql)?
                .query_row([delegate.as_str()], |row| row.get(0))
                .optional()?;
            let mut breaker = found.map_or_else(Breaker::default, |AsJson(breaker)| breaker);
            change(&mut breaker);
            if breaker == Breaker::Closed {
                let sql = "DELETE FROM breakers WHERE delegate_id = ?1";
                transaction.prepare_cached(sql)?.execute([delegate.as_str()])?;
            } else {
                let sql = "INSERT OR REPLACE INTO breakers (delegate_id, breaker_json)
                           VALUES (?1, ?2)";
                let values = params![delegate.as_str(), AsJson(breaker)];
                transaction.prepare_cached(sql)?.execute(values)?;
            }
            Ok(breaker)
        })
    }

    /// Those that are not closed, by delegate.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn breakers(&self) -> Result<Vec<(DelegateId, Breaker)>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT delegate_id, breaker_json FROM breakers ORDER BY delegate_id";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut breakers = Vec::new();
            while let Some(row) = rows.next()? {
                if let Ok(delegate) = DelegateId::new(row.get::<_, String>(0)?) {
                    let AsJson(breaker) = row.get(1)?;
                    breakers.push((delegate, breaker));
                }
            }
            Ok(breakers)
        })
    }
}

/// At most one: each change adds at most one.
fn forget_oldest_tallies(connection: &Connection) -> Result<(), Trouble> {
    let sql = "SELECT count(*) FROM tallies";
    let rows: i64 = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    if rows > to_sql(MAX_TALLIES as u64) {
        let sql = "DELETE FROM tallies WHERE (delegate_id, skill) IN
                   (SELECT delegate_id, skill FROM tallies ORDER BY changed_at_ms LIMIT 1)";
        connection.prepare_cached(sql)?.execute([])?;
    }
    Ok(())
}
