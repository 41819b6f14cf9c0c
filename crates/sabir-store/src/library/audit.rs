//! The audit of the gate: one row for each decision, in a hash chain like the journal's. What a row
//! says is not known here, but for what it is found by.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::error::{LibraryError, Trouble};
use super::ids::AuditId;
use super::limits::{MAX_LINE, check_json, check_size};
use super::named::named;
use super::rows::{Count, all, count, first, run, some};
use super::tables::library_id;
use super::{Library, limits};
use crate::chain::{Covered, Hash};

named! {
    AuditOutcome {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAudit {
    /// The session or the collection that it was for.
    pub actor: String,
    pub call_id: String,
    /// The tool or command.
    pub subject: String,
    pub outcome: AuditOutcome,
    /// The code of the reason.
    pub reason: String,
    /// JSON: the whole row, as the gate made it.
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    pub seq: u64,
    pub id: AuditId,
    pub at_ms: u64,
    pub actor: String,
    pub call_id: String,
    pub subject: String,
    pub outcome: AuditOutcome,
    pub reason: String,
    pub body: String,
    pub hash: Hash,
}

/// The end of the chain. Kept elsewhere, it proves later that nothing up to here was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AuditHead {
    pub seq: u64,
    pub hash: Hash,
}

/// What the hash of a row covers, besides the hash of the row before.
#[derive(Clone, Copy, Debug)]
pub struct AuditLink<'a> {
    pub seq: u64,
    pub id: &'a str,
    pub at_ms: u64,
    pub actor: &'a str,
    pub call_id: &'a str,
    pub subject: &'a str,
    pub outcome: &'a str,
    pub reason: &'a str,
    pub body: &'a str,
}

/// The hash that stands before the first row of a library.
#[must_use]
pub fn audit_genesis(library_id: &str) -> Hash {
    let mut digest = Covered::new(GENESIS);
    digest.field(library_id.as_bytes());
    digest.finish()
}

/// The hash of a row that follows one with the hash `previous`.
#[must_use]
pub fn audit_hash(previous: &Hash, link: &AuditLink<'_>) -> Hash {
    let mut digest = Covered::new(ROW);
    digest.field(previous.as_bytes());
    digest.field(&link.seq.to_be_bytes());
    digest.field(link.id.as_bytes());
    digest.field(&link.at_ms.to_be_bytes());
    for text in [link.actor, link.call_id, link.subject, link.outcome, link.reason, link.body] {
        digest.field(text.as_bytes());
    }
    digest.finish()
}

impl Library {
    /// Appends rows, all or none.
    ///
    /// # Errors
    ///
    /// When a row is too large or its body is not JSON.
    pub fn append_audit(&self, rows: &[NewAudit], now: u64) -> Result<AuditHead, LibraryError> {
        self.write(|connection, ids| {
            // The time is in the hash, so it has to be one that the file can hold.
            let Ok(at_ms) = i64::try_from(now) else {
                return Err(Trouble::invalid("a row of the audit", "its time is too far away"));
            };
            let before = head(connection)?;
            let mut head = before;
            for row in rows {
                for line in [&row.actor, &row.call_id, &row.subject, &row.reason] {
                    check_size("a name in the audit", line, MAX_LINE)?;
                }
                check_json("a row of the audit", &row.body)?;
                let id = AuditId::draw(ids);
                let link = AuditLink {
                    seq: head.seq + 1,
                    id: id.as_str(),
                    at_ms: now,
                    actor: &row.actor,
                    call_id: &row.call_id,
                    subject: &row.subject,
                    outcome: row.outcome.as_str(),
                    reason: &row.reason,
                    body: &row.body,
                };
                head = AuditHead { seq: link.seq, hash: audit_hash(&head.hash, &link) };
                let sql = "INSERT INTO policy_audit (seq, id, at_ms, actor, call_id, subject,
                                                     outcome, reason, hash, body)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
                let AuditLink { actor, call_id, subject, outcome, reason, body, .. } = link;
                let (seq, hash) = (Count(head.seq), head.hash);
                let parameters =
                    params![seq, id, at_ms, actor, call_id, subject, outcome, reason, hash, body];
                run(connection, sql, parameters)?;
            }
            keep_head(connection, &before, &head)?;
            Ok(head)
        })
    }

    /// Those after the number `after`; at most `limit`, never more than 1,000 nor than about 32 MiB. An
    /// empty answer is the end.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRow>, LibraryError> {
        self.read(|connection| {
            let sql = format!("{SELECT} WHERE seq > ?1 ORDER BY seq LIMIT ?2");
            let parameters = params![Count(after), limits::rows(limit)];
            some(connection, &sql, parameters, read, |row| row.body.len())
        })
    }

    /// The newest rows, at most `limit`, never more than [`Library::audit`] answers with; the oldest of
    /// them first.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn last_audit(&self, limit: usize) -> Result<Vec<AuditRow>, LibraryError> {
        self.read(|connection| {
            let sql = format!("{SELECT} ORDER BY seq DESC LIMIT ?1");
            let parameters = params![limits::rows(limit)];
            let mut rows = some(connection, &sql, parameters, read, |row| row.body.len())?;
            rows.reverse();
            Ok(rows)
        })
    }

    /// Rows before a number, the newest first; at most `limit`, never more than [`Library::audit`]
    /// answers with.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn audit_before(&self, before: u64, limit: usize) -> Result<Vec<AuditRow>, LibraryError> {
        self.read(|connection| {
            let sql = format!("{SELECT} WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2");
            let parameters = params![Count(before), limits::rows(limit)];
            some(connection, &sql, parameters, read, |row| row.body.len())
        })
    }

    /// How many rows are about what one did. None of them is read whole.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn audit_count(&self, actor: &str) -> Result<u64, LibraryError> {
        self.read(|connection| {
            let sql = "SELECT count(*) FROM policy_audit WHERE actor = ?1";
            let Count(count) =
                connection.prepare_cached(sql)?.query_row([actor], |row| row.get(0))?;
            Ok(count)
        })
    }

    /// The calls whose ids begin with `start`, in the order of the ids; at most `limit`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn audited_calls(&self, start: &str, limit: usize) -> Result<Vec<String>, LibraryError> {
        self.read(|connection| {
            // Nobody writes the last character there is, so that the index finds where they end.
            let sql = "SELECT DISTINCT call_id FROM policy_audit
                       WHERE call_id >= ?1 AND call_id < ?1 || char(1114111)
                       ORDER BY call_id LIMIT ?2";
            all(connection, sql, params![start, limits::rows(limit)], |row| row.get(0))
        })
    }

    /// The rows of one call, the oldest first.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn audit_of_call(&self, call_id: &str) -> Result<Vec<AuditRow>, LibraryError> {
        self.read(|connection| {
            let sql = format!("{SELECT} WHERE call_id = ?1 ORDER BY seq LIMIT ?2");
            let parameters = params![call_id, limits::rows(usize::MAX)];
            some(connection, &sql, parameters, read, |row| row.body.len())
        })
    }
}

impl AuditRow {
    /// Whether this row may stand behind one with the hash `previous`.
    #[must_use]
    pub fn follows(&self, previous: &Hash) -> bool {
        let link = AuditLink {
            seq: self.seq,
            id: self.id.as_str(),
            at_ms: self.at_ms,
            actor: &self.actor,
            call_id: &self.call_id,
            subject: &self.subject,
            outcome: self.outcome.as_str(),
            reason: &self.reason,
            body: &self.body,
        };
        audit_hash(previous, &link) == self.hash
    }
}

/// Where the next row follows: where the audit ended when it was last written. Rows that were taken
/// away since are missed for ever.
fn head(connection: &Connection) -> Result<AuditHead, Trouble> {
    if let Some(head) = kept_head(connection)? {
        return Ok(head);
    }
    let sql = "SELECT seq, hash FROM policy_audit ORDER BY seq DESC LIMIT 1";
    let last =
        first(connection, sql, [], |row| Ok(AuditHead { seq: count(row, 0)?, hash: row.get(1)? }))?;
    match last {
        Some(head) => Ok(head),
        None => no_rows(connection),
    }
}

fn no_rows(connection: &Connection) -> Result<AuditHead, Trouble> {
    Ok(AuditHead { seq: 0, hash: audit_genesis(&library_id(connection)?) })
}

/// What is kept of the head beside the rows: `SEQ HASH`, or `0` before the first.
fn kept_head(connection: &Connection) -> Result<Option<AuditHead>, Trouble> {
    let sql = "SELECT value FROM meta WHERE key = 'audit_head'";
    let kept: Option<String> = first(connection, sql, [], |row| row.get(0))?;
    let Some(kept) = kept else { return Ok(None) };
    if kept == "0" {
        return no_rows(connection).map(Some);
    }
    let parts = kept.split_once(' ');
    Ok(parts.and_then(|(seq, hash)| {
        Some(AuditHead { seq: seq.parse().ok()?, hash: Hash::from_hex(hash)? })
    }))
}

/// One that is gone, or is another, is not made anew: that is to be found.
fn keep_head(connection: &Connection, before: &AuditHead, now: &AuditHead) -> Result<(), Trouble> {
    let as_kept = |head: &AuditHead| match head.seq {
        0 => "0".to_owned(),
        seq => format!("{seq} {}", head.hash),
    };
    let sql = "UPDATE meta SET value = ?2 WHERE key = 'audit_head' AND value = ?1";
    run(connection, sql, params![as_kept(before), as_kept(now)])?;
    Ok(())
}

/// Goes through the whole chain.
pub(crate) fn verify(connection: &Connection) -> Result<AuditHead, Trouble> {
    let mut head = no_rows(connection)?;
    let mut statement = connection.prepare_cached(&format!("{SELECT} ORDER BY seq"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let next = head.seq + 1;
        let unsound = |why| Trouble::unsound(format!("row {next} of the audit"), why);
        let row = read(row).map_err(|_| unsound("it cannot be read"))?;
        if row.seq != next {
            return Err(unsound("it is missing"));
        }
        if !row.follows(&head.hash) {
            return Err(unsound("it or the one before it was changed"));
        }
        head = AuditHead { seq: row.seq, hash: row.hash };
    }
    let unsound = |seq, why| Trouble::unsound(format!("row {seq} of the audit"), why);
    match kept_head(connection)? {
        Some(kept) if kept == head => Ok(head),
        Some(kept) if kept.seq > head.seq => Err(unsound(head.seq + 1, "it is missing")),
        Some(kept) => Err(unsound(kept.seq + 1, "nobody here has written it")),
        None => Err(Trouble::unsound("meta", "where the audit ends is missing")),
    }
}

const SELECT: &str = "SELECT seq, id, at_ms, actor, call_id, subject, outcome, reason, body, hash
    FROM policy_audit";

fn read(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    Ok(AuditRow {
        seq: count(row, 0)?,
        id: row.get(1)?,
        at_ms: count(row, 2)?,
        actor: row.get(3)?,
        call_id: row.get(4)?,
        subject: row.get(5)?,
        outcome: row.get(6)?,
        reason: row.get(7)?,
        body: row.get(8)?,
        hash: row.get(9)?,
    })
}

/// The labels keep these hashes apart from all others; a change of what is covered changes them.
const GENESIS: &str = "sabir policy audit genesis v1";
const ROW: &str = "sabir policy audit v1";
