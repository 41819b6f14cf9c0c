//! Approvals: a person's yes to one thing, once, for a while. What the thing is, the gate knows; here
//! it is a hash.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::error::{LibraryError, Trouble};
use super::ids::ApprovalId;
use super::limits::{MAX_LINE, MAX_PACKET, check_size};
use super::named::named;
use super::rows::{Count, Named as _, all, count, first, maybe_count, run};
use super::{Library, limits};
use crate::chain::Hash;

named! {
    ApprovalState {
        Asked = "asked",
        Approved = "approved",
        Denied = "denied",
        Used = "used",
        Expired = "expired",
    }

    ApprovalAnswer {
        Approve = "approved",
        Deny = "denied",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApproval {
    /// Covers the tool, its arguments and what is known about them.
    pub binding: Hash,
    /// The tool or command.
    pub subject: String,
    /// What the person is shown.
    pub question: String,
    pub expires_at_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub binding: Hash,
    pub subject: String,
    pub question: String,
    pub state: ApprovalState,
    pub asked_at_ms: u64,
    pub expires_at_ms: u64,
    pub decided_by: Option<String>,
    pub decided_at_ms: Option<u64>,
    pub used_at_ms: Option<u64>,
}

/// Whether an approval was there to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spent {
    /// It is, and it is used up.
    Granted(Approval),
    /// It is not, for it is in this state.
    Refused(ApprovalState),
    /// It is for something else.
    WrongBinding,
}

impl Library {
    /// # Errors
    ///
    /// When it has expired before it was asked, or its texts are too large.
    pub fn ask_approval(&self, new: &NewApproval, now: u64) -> Result<Approval, LibraryError> {
        self.write(|connection, ids| {
            check_size("the subject of an approval", &new.subject, MAX_LINE)?;
            check_size("the question of an approval", &new.question, MAX_PACKET)?;
            if new.expires_at_ms <= now {
                return Err(Trouble::invalid("an approval", "it expires before it is asked"));
            }
            let id = ApprovalId::draw(ids);
            let sql = "INSERT INTO approvals
                           (id, binding, subject, question, state, asked_at_ms, expires_at_ms)
                       VALUES (?1, ?2, ?3, ?4, 'asked', ?5, ?6)";
            let NewApproval { binding, subject, question, expires_at_ms } = new;
            let parameters =
                params![id, binding, subject, question, Count(now), Count(*expires_at_ms)];
            run(connection, sql, parameters)?;
            load(connection, &id)
        })
    }

    /// # Errors
    ///
    /// When there is none.
    pub fn approval(&self, id: &ApprovalId, now: u64) -> Result<Approval, LibraryError> {
        self.write(|connection, _| {
            expire(connection, now)?;
            load(connection, id)
        })
    }

    /// Those that wait for an answer, the oldest first; at most `limit`, and never more than 1,000.
    ///
    /// # Errors
    ///
    /// When the file cannot be used.
    pub fn open_approvals(&self, limit: usize, now: u64) -> Result<Vec<Approval>, LibraryError> {
        self.write(|connection, _| {
            expire(connection, now)?;
            let sql = format!("{SELECT} state = 'asked' ORDER BY num LIMIT ?1");
            all(connection, &sql, [limits::rows(limit)], read)
        })
    }

    /// The first answer counts. Says what the approval is now, which is not what was answered if
    /// another was first or it had expired.
    ///
    /// # Errors
    ///
    /// When there is no such approval.
    pub fn answer_approval(
        &self,
        id: &ApprovalId,
        answer: ApprovalAnswer,
        by: &str,
        now: u64,
    ) -> Result<Approval, LibraryError> {
        self.write(|connection, _| {
            check_size("the name of a person", by, MAX_LINE)?;
            expire(connection, now)?;
            let sql = "UPDATE approvals SET state = ?2, decided_by = ?3, decided_at_ms = ?4
                       WHERE id = ?1 AND state = 'asked'";
            run(connection, sql, params![id, answer, by, Count(now)])?;
            load(connection, id)
        })
    }

    /// Uses it up, if it is approved, for this thing and not expired. Of any number who try at once,
    /// one is granted it.
    ///
    /// # Errors
    ///
    /// When there is no such approval.
    pub fn use_approval(
        &self,
        id: &ApprovalId,
        binding: &Hash,
        now: u64,
    ) -> Result<Spent, LibraryError> {
        self.write(|connection, _| {
            expire(connection, now)?;
            let approval = load(connection, id)?;
            if approval.binding != *binding {
                return Ok(Spent::WrongBinding);
            }
            if approval.state != ApprovalState::Approved {
                return Ok(Spent::Refused(approval.state));
            }
            let sql = "UPDATE approvals SET state = 'used', used_at_ms = ?2 WHERE id = ?1";
            run(connection, sql, params![id, Count(now)])?;
            load(connection, id).map(Spent::Granted)
        })
    }
}

/// Whatever time it is later, what has expired stays so: a clock that goes back revives nothing.
fn expire(connection: &Connection, now: u64) -> Result<(), Trouble> {
    let sql = "UPDATE approvals SET state = 'expired'
               WHERE state IN ('asked', 'approved') AND expires_at_ms <= ?1";
    run(connection, sql, [Count(now)]).map(drop)
}

fn load(connection: &Connection, id: &ApprovalId) -> Result<Approval, Trouble> {
    first(connection, &format!("{SELECT} id = ?1"), [id], read)?.ok_or_else(|| id.missing())
}

const SELECT: &str = "SELECT id, binding, subject, question, state, asked_at_ms, expires_at_ms,
        decided_by, decided_at_ms, used_at_ms
    FROM approvals WHERE";

fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
    Ok(Approval {
        id: row.get(0)?,
        binding: row.get(1)?,
        subject: row.get(2)?,
        question: row.get(3)?,
        state: row.get(4)?,
        asked_at_ms: count(row, 5)?,
        expires_at_ms: count(row, 6)?,
        decided_by: row.get(7)?,
        decided_at_ms: maybe_count(row, 8)?,
        used_at_ms: maybe_count(row, 9)?,
    })
}
