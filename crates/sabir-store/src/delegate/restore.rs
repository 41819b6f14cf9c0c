//! What a delegate needs to go on: what is open, what runs, what is known of the past. It costs as
//! much as that is, whatever the journal holds besides.

use sabir_ldp::{
    DelegateId, DelegateLimits, HexBytes, KeptKeys, Mark, Record, ReplayRecord, Seen, SessionId,
    SessionKeys, TaskDigest, TaskId, TaskKey, Timestamp, read_seen,
};
use zeroize::Zeroizing;

use super::lookup::Rows;
use super::sessions::{Open, State, how_from_name};
use super::tasks::{Place, authentication_from_sql};
use crate::entry::Kind;
use crate::error::{StoreError, Tampered};
use crate::journal::{Broken, UNREADABLE, from_sql, head_at, to_sql, walk};
use crate::reader::Reader;

impl Reader {
    /// Records from which `sabir_ldp::Delegate::restore` makes the delegate that wrote the journal, in
    /// the order of a snapshot: sessions that ended lately, open sessions with their keys, finished
    /// tasks, running tasks, and the ids of messages that could still pass at `now`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Tampered`] when an entry is not what was written; when the file cannot be read.
    pub fn peer_state(
        &self,
        limits: &DelegateLimits,
        now: Timestamp,
    ) -> Result<Vec<Record>, StoreError> {
        self.of_peers(|rows| {
            let mut records = Vec::new();
            past_sessions(rows, limits, &mut records)?;
            open_sessions(rows, limits, &mut records)?;
            ended_tasks(rows, limits, &mut records)?;
            running_tasks(rows, &mut records)?;
            seen_messages(rows, now, &mut records)?;
            // From where the tables stop it goes on as it went on then.
            records.extend(rows.tail()?.iter().map(|(_, _, record)| record.clone()));
            Ok(records)
        })
    }
}

fn past_sessions(
    rows: &Rows<'_>,
    limits: &DelegateLimits,
    records: &mut Vec<Record>,
) -> Result<(), Broken> {
    let mut statement = rows.connection.prepare_cached(&format!(
        "SELECT id, owner, how, ended_at_ms, ended_seq, {} FROM peer_past_sessions
         ORDER BY num DESC LIMIT ?1",
        rows.version.shown_column()
    ))?;
    let first = records.len();
    let mut found = statement.query([to_sql(limits.ended as u64)])?;
    while let Some(row) = found.next()? {
        let seq = from_sql(row.get(4)?);
        let read = || {
            Some(Record::SessionEnded {
                session: SessionId::new(row.get::<_, String>(0).ok()?).ok()?,
                owner: DelegateId::new(row.get::<_, String>(1).ok()?).ok()?,
                how: how_from_name(row.get_ref(2).ok()?.as_str().ok()?)?,
                shown: mark(row.get(5).ok()?),
                at: Timestamp::from_millis(from_sql(row.get(3).ok()?)),
            })
        };
        records.push(read().ok_or(Tampered { seq, why: UNREADABLE })?);
    }
    if let Some(newest_first) = records.get_mut(first..) {
        newest_first.reverse();
    }
    Ok(())
}

fn open_sessions(
    rows: &Rows<'_>,
    limits: &DelegateLimits,
    records: &mut Vec<Record>,
) -> Result<(), Broken> {
    let sql = format!(
        "SELECT {}, id, keys FROM peer_sessions LEFT JOIN peer_keys ON session = id ORDER BY id",
        Open::COLUMNS
    );
    let mut statement = rows.connection.prepare_cached(&sql)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let open = Open::of(row)?;
        let id: String = row.get(7)?;
        let keys = row.get::<_, Option<String>>(8)?.map(Zeroizing::new);
        let mut opened = rows.find(open.opened_seq, |record| match record {
            Record::Opened(opened) if opened.session.as_str() == id => Some(opened),
            _ => None,
        })?;
        opened.keys = keys.and_then(|keys| SessionKeys::restore(&keys)).map(KeptKeys);
        opened.at = open.used_at;
        opened.spent = open.spent;
        opened.history = history(rows, open.last_task, limits.history)?;
        let (session, negotiated) = (opened.session.clone(), opened.mode);
        records.push(Record::Opened(opened));
        if open.mode != negotiated {
            records.push(Record::SteppedDown { session: session.clone(), mode: open.mode });
        }
        if open.state == State::Suspended {
            records.push(Record::Suspended { session, at: open.used_at });
        }
    }
    Ok(())
}

/// The last tasks of a session, oldest first.
fn history(rows: &Rows<'_>, mut last: Option<i64>, most: usize) -> Result<Vec<TaskId>, Broken> {
    let sql = "SELECT id, before, ended_seq FROM peer_tasks WHERE num = ?1";
    let mut statement = rows.connection.prepare_cached(sql)?;
    let mut tasks = Vec::new();
    while let Some(num) = last
        && tasks.len() < most
    {
        let (id, before, seq) = statement.query_row([num], |row| {
            Ok((row.get::<_, String>(0)?, row.get(1)?, from_sql(row.get(2)?)))
        })?;
        tasks.push(TaskId::new(id).map_err(|_| Tampered { seq, why: UNREADABLE })?);
        last = before;
    }
    tasks.reverse();
    Ok(tasks)
}

fn ended_tasks(
    rows: &Rows<'_>,
    limits: &DelegateLimits,
    records: &mut Vec<Record>,
) -> Result<(), Broken> {
    let mut statement = rows.connection.prepare_cached(&format!(
        "SELECT owner, id, digest, authentication, ended_seq, {} FROM peer_tasks
         ORDER BY num DESC LIMIT ?1",
        rows.version.shown_column()
    ))?;
    let first = records.len();
    let most = to_sql(limits.finished as u64).saturating_add(to_sql(limits.faded as u64));
    let mut traces = Vec::new();
    let mut found = statement.query([most.saturating_add(1)])?;
    while let Some(row) = found.next()? {
        if records.len() - first == limits.finished {
            let seq = from_sql(row.get(4)?);
            let key = key(row.get(0)?, row.get(1)?).ok_or(Tampered { seq, why: UNREADABLE })?;
            traces.push(key.trace());
            continue;
        }
        let seq = from_sql(row.get(4)?);
        let read = || {
            Some(Record::Known {
                key: key(row.get(0).ok()?, row.get(1).ok()?)?,
                digest: TaskDigest(HexBytes(row.get(2).ok()?)),
                authentication: authentication_from_sql(row.get(3).ok()?)?,
                shown: mark(row.get(5).ok()?),
            })
        };
        records.push(read().ok_or(Tampered { seq, why: UNREADABLE })?);
    }
    if traces.len() > limits.faded {
        records.push(Record::Forgot);
    } else if !traces.is_empty() {
        records.push(Record::Faded { traces });
    }
    if let Some(newest_first) = records.get_mut(first..) {
        newest_first.reverse();
    }
    Ok(())
}

fn running_tasks(rows: &Rows<'_>, records: &mut Vec<Record>) -> Result<(), Broken> {
    let sql = "SELECT owner, id, place, updated_seq FROM peer_running ORDER BY owner, id";
    let mut statement = rows.connection.prepare_cached(sql)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let seq = Place::from_column(row.get(2)?).seq();
        let key = key(row.get(0)?, row.get(1)?).ok_or(Tampered { seq, why: UNREADABLE })?;
        records.push(Record::Started(Box::new(rows.started(seq, &key)?)));
        if let Some(seq) = row.get::<_, Option<i64>>(3)? {
            // The last of the entry, if it has several.
            let mut last = None;
            for record in rows.records(from_sql(seq))? {
                if let Record::Updated(updated) = record
                    && updated.key == key
                {
                    last = Some(updated);
                }
            }
            records.extend(last.map(Record::Updated));
        }
    }
    Ok(())
}

fn key(owner: String, id: String) -> Option<TaskKey> {
    Some(TaskKey { owner: DelegateId::new(owner).ok()?, id: TaskId::new(id).ok()? })
}

fn mark(column: Option<[u8; 16]>) -> Option<Mark> {
    column.map(|bytes| Mark(HexBytes(bytes)))
}

fn seen_messages(rows: &Rows<'_>, now: Timestamp, records: &mut Vec<Record>) -> Result<(), Broken> {
    let sql = "SELECT max(last_ms), max(forgotten_ms), min(first_seq) FROM peer_seen";
    let found: (Option<i64>, Option<i64>, Option<i64>) = rows
        .connection
        .prepare_cached(sql)?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let (Some(last), Some(forgotten), Some(first)) = found else { return Ok(()) };
    let last = Timestamp::from_millis(from_sql(last));
    let mut seen = Vec::new();
    let mut forgotten = Timestamp::from_millis(from_sql(forgotten)).max(seen_from(
        rows,
        from_sql(first).saturating_sub(1),
        last,
        &mut seen,
    )?);
    if forgotten > now.plus_millis(AHEAD_MS) {
        // The clock was ahead and was set back: a mark would keep out all that is new until it is there
        // again. So every id is looked for that could pass from now on.
        seen.clear();
        forgotten = seen_from(rows, 0, now, &mut seen)?;
    }
    records.append(&mut seen);
    // What was left out stays out, even if the clock is set back.
    if forgotten > Timestamp::default()
        && let Ok(sender) = DelegateId::new(NOBODY)
    {
        let replay = ReplayRecord { sender, digest: String::new(), forget_at: forgotten };
        records.push(Record::Seen(Seen { replay, session: None, at: last }));
    }
    Ok(())
}

/// The messages in entries after the one numbered `after` that could pass at `time`, and until when those
/// could at most that are left out.
fn seen_from(
    rows: &Rows<'_>,
    after: u64,
    time: Timestamp,
    records: &mut Vec<Record>,
) -> Result<Timestamp, Broken> {
    let mut forgotten = Timestamp::default();
    let before = head_at(rows.connection, rows.genesis, after)?;
    walk(rows.connection, before, |columns| {
        let (place, row) = columns.read()?;
        if row.kind != Kind::Peer {
            return Ok(());
        }
        let unreadable = Tampered { seq: place.seq, why: UNREADABLE };
        for Seen { replay, at, .. } in read_seen(&row.body).ok_or(unreadable)? {
            if replay.forget_at > time {
                // The session that it used knows of it already.
                records.push(Record::Seen(Seen { replay, session: None, at }));
            } else {
                forgotten = forgotten.max(replay.forget_at);
            }
        }
        Ok(())
    })?;
    Ok(forgotten)
}

/// How far a clock may be set back before every entry is read once more. What is new passes for longer
/// than that.
const AHEAD_MS: u64 = 60_000;

/// Under whose name a mark stands, which is of nobody.
const NOBODY: &str = "ldp:delegate:nobody";
