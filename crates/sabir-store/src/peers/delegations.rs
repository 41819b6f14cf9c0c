//! A log of the tasks that this node gave to others: to whom, why to them, and what came of it.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension as _, Row, params};
use sabir_ldp::{DelegateId, PayloadMode, SkillName};
use serde::Serialize;

use super::Peers;
use super::limits::{MAX_DELEGATIONS, MAX_JSON, MAX_LINE, MAX_ROWS, check_size};
use crate::error::StoreError;
use crate::journal::{from_sql, to_sql};

/// A task that was given away. What is JSON is kept as it was given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delegation {
    /// Chosen by whoever gave the task away; the same id is the same task.
    pub id: String,
    pub at_ms: u64,
    /// None before somebody took it.
    pub delegate_id: Option<DelegateId>,
    pub url: Option<String>,
    pub skill: Option<SkillName>,
    pub payload_mode: Option<PayloadMode>,
    pub status: DelegationStatus,
    /// Why this delegate was chosen.
    pub choice: Option<String>,
    pub provenance: Option<String>,
    pub error: Option<String>,
    pub cost_usd: Option<f64>,
    pub ended_at_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DelegationStatus {
    Running,
    Succeeded,
    Failed,
    Cancelled,
}

impl Peers {
    /// Writes a line of the log, or what became of one.
    ///
    /// # Errors
    ///
    /// When something of it is too long or no JSON, and when the file cannot be written.
    pub fn log_delegation(&self, delegation: &Delegation) -> Result<(), StoreError> {
        self.write(|transaction| {
            check_size("the id of a task", &delegation.id, MAX_LINE)?;
            if delegation.id.is_empty() {
                let what = "the id of a task";
                return Err(StoreError::Invalid { what, why: "it is empty" }.into());
            }
            check_size("an address", delegation.url.as_deref().unwrap_or(""), MAX_LINE)?;
            for (what, text) in [
                ("a choice", &delegation.choice),
                ("a provenance record", &delegation.provenance),
                ("an error", &delegation.error),
            ] {
                check_size(what, text.as_deref().unwrap_or(""), MAX_JSON)?;
            }
            let mut statement = transaction.prepare_cached(
                "INSERT INTO delegations (id, at_ms, delegate_id, url, skill, payload_mode, status,
                     choice_json, provenance_json, error_json, cost_usd, ended_at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                 ON CONFLICT (id) DO UPDATE SET at_ms = ?2, delegate_id = ?3, url = ?4, skill = ?5,
                     payload_mode = ?6, status = ?7, choice_json = ?8, provenance_json = ?9,
                     error_json = ?10, cost_usd = ?11, ended_at_ms = ?12",
            )?;
            statement.execute(params![
                delegation.id,
                to_sql(delegation.at_ms),
                delegation.delegate_id.as_ref().map(DelegateId::as_str),
                delegation.url,
                delegation.skill.as_ref().map(SkillName::as_str),
                delegation.payload_mode.map(PayloadMode::wire_name),
                delegation.status,
                delegation.choice,
                delegation.provenance,
                delegation.error,
                delegation.cost_usd,
                delegation.ended_at_ms.map(to_sql),
            ])?;
            // Numbers only grow, so that this looks at what goes and at nothing else.
            let sql = "DELETE FROM delegations WHERE status <> 'running'
                       AND num <= (SELECT max(num) FROM delegations) - ?1";
            transaction.prepare_cached(sql)?.execute([to_sql(MAX_DELEGATIONS as u64)])?;
            Ok(())
        })
    }

    /// The latest, newest first.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn delegations(&self, limit: usize) -> Result<Vec<Delegation>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM delegations ORDER BY num DESC LIMIT ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([to_sql(limit.min(MAX_ROWS) as u64)], of)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn delegation(&self, id: &str) -> Result<Option<Delegation>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM delegations WHERE id = ?1");
            Ok(connection.prepare_cached(&sql)?.query_row([id], of).optional()?)
        })
    }
}

const COLUMNS: &str = "id, at_ms, delegate_id, url, skill, payload_mode, status, choice_json, \
    provenance_json, error_json, cost_usd, ended_at_ms";

fn of(row: &Row<'_>) -> rusqlite::Result<Delegation> {
    let text = |index| row.get::<_, Option<String>>(index);
    Ok(Delegation {
        id: row.get(0)?,
        at_ms: from_sql(row.get(1)?),
        delegate_id: text(2)?.and_then(|id| DelegateId::new(id).ok()),
        url: text(3)?,
        skill: text(4)?.and_then(|skill| SkillName::new(skill).ok()),
        payload_mode: text(5)?.and_then(|mode| PayloadMode::from_wire(&mode)),
        status: row.get(6)?,
        choice: text(7)?,
        provenance: text(8)?,
        error: text(9)?,
        cost_usd: row.get(10)?,
        ended_at_ms: row.get::<_, Option<i64>>(11)?.map(from_sql),
    })
}

impl DelegationStatus {
    const ALL: [Self; 4] = [Self::Running, Self::Succeeded, Self::Failed, Self::Cancelled];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl ToSql for DelegationStatus {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.as_str()))
    }
}

impl FromSql for DelegationStatus {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|it| it.as_str() == name).ok_or(FromSqlError::InvalidType)
    }
}
