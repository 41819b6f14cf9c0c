//! Rows of sessions with peers: the open ones change with every message, those that ended never.

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow, params};
use sabir_ldp::{HowEnded, PayloadMode, SessionId, Timestamp, Usage};

use super::effect::Past;
use crate::journal::{from_sql, to_sql};

/// An open or suspended session, as far as it is not in the entry that opened it.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) opened_seq: u64,
    pub(super) mode: PayloadMode,
    pub(super) state: State,
    pub(super) used_at: Timestamp,
    pub(super) last_task: Option<i64>,
    pub(super) spent: Usage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Active,
    Suspended,
}

impl Open {
    pub(super) const COLUMNS: &str =
        "opened_seq, mode, state, used_at_ms, last_task, spent_tokens, spent_usd";

    pub(super) fn of(row: &SqlRow<'_>) -> rusqlite::Result<Self> {
        let number: i64 = row.get(1)?;
        let mode = PayloadMode::ALL.into_iter().find(|mode| i64::from(mode.number()) == number);
        let state = match row.get_ref(2)?.as_str()? {
            "suspended" => State::Suspended,
            _ => State::Active,
        };
        Ok(Self {
            opened_seq: from_sql(row.get(0)?),
            mode: mode.ok_or(rusqlite::Error::IntegralValueOutOfRange(1, number))?,
            state,
            used_at: Timestamp::from_millis(from_sql(row.get(3)?)),
            last_task: row.get(4)?,
            spent: Usage {
                tokens: row.get::<_, Option<i64>>(5)?.map(from_sql),
                cost_usd: row.get(6)?,
            },
        })
    }

    pub(super) fn load(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<Self>> {
        let sql = format!("SELECT {} FROM peer_sessions WHERE id = ?1", Self::COLUMNS);
        connection.prepare_cached(&sql)?.query_row([id.as_str()], Self::of).optional()
    }

    pub(super) fn save(&self, connection: &Connection, id: &SessionId) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "INSERT OR REPLACE INTO peer_sessions
                 (id, opened_seq, mode, state, used_at_ms, last_task, spent_tokens, spent_usd)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        statement.execute(params![
            id.as_str(),
            to_sql(self.opened_seq),
            self.mode.number(),
            self.state.as_str(),
            to_sql(self.used_at.millis()),
            self.last_task,
            self.spent.tokens.map(to_sql),
            self.spent.cost_usd,
        ])?;
        Ok(())
    }

    pub(super) fn touch(&mut self, at: Timestamp) {
        self.used_at = self.used_at.max(at);
    }
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
        }
    }
}

/// Remembers that a session ended, after all that ended before it.
pub(super) fn bury(connection: &Connection, past: &Past, seq: u64) -> rusqlite::Result<()> {
    let id = past.session.as_str();
    connection.prepare_cached("DELETE FROM peer_sessions WHERE id = ?1")?.execute([id])?;
    // An id that is used again ended where it did last.
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO peer_past_sessions (id, owner, how, ended_at_ms, ended_seq, shown)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let (owner, how) = (past.owner.as_str(), how_name(past.how));
    let (at_ms, shown) = (to_sql(past.at.millis()), past.shown.map(|mark| mark.0.0));
    statement.execute(params![id, owner, how, at_ms, to_sql(seq), shown])?;
    Ok(())
}

fn how_name(how: HowEnded) -> &'static str {
    match how {
        HowEnded::Closed => "closed",
        HowEnded::Expired => "expired",
    }
}

pub(super) fn how_from_name(name: &str) -> Option<HowEnded> {
    [HowEnded::Closed, HowEnded::Expired].into_iter().find(|how| how_name(*how) == name)
}
