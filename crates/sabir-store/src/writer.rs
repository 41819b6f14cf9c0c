//! The thread that owns the connection: it takes everything that waits, writes it in one
//! transaction, and tells everyone that it is on disk.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior};

use crate::commits::Commits;
use crate::counts::Counts;
use crate::delegate::{PeerTables, RECORDS};
use crate::entry::{Batch, Entry, Kind};
use crate::error::{StoreError, Tampered};
use crate::gathering::Gathering;
use crate::home::Lock;
use crate::journal::{Broken, COLUMNS, Columns, Head, Insert, Place, UNREADABLE};
use crate::projection::Projector;
use crate::queue::{Done, Queue, Work, answer};
use crate::store::Receipt;

pub(crate) struct Writer {
    // The order matters when it is dropped: the connection closes before another may open the file.
    pub(crate) connection: Connection,
    #[expect(dead_code, reason = "held, not read")]
    pub(crate) lock: Lock,
    pub(crate) path: PathBuf,
    pub(crate) head: Head,
    pub(crate) commits: Arc<Commits>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) projector: Projector,
    pub(crate) peers: PeerTables,
    /// Why nothing is written any more.
    pub(crate) failed: Option<String>,
    /// Written since the log was last copied into the database.
    pub(crate) logged: usize,
}

impl Writer {
    pub(crate) fn run(mut self, queue: &Arc<Queue>) {
        let commits = Arc::clone(&self.commits);
        let _abandon = Abandon(queue, &commits);
        queue.claim();
        let mut gathering = Gathering::default();
        while let Some(mut waiting) = queue.take_all(gathering) {
            let (count, began) = (waiting.len(), Instant::now());
            while let Some(work) = waiting.pop_front() {
                match work {
                    Work::Append { batch, done } => {
                        let mut group = vec![(batch, done)];
                        take_appends(&mut waiting, &mut group);
                        self.append(group);
                    }
                    Work::Rebuild { done } => {
                        let result = self.rebuild();
                        answer(done, result);
                    }
                }
            }
            gathering = gathering.after(count, began.elapsed());
            self.checkpoint();
        }
        self.finish();
    }

    fn append(&mut self, group: Vec<(Batch, Done<Receipt>)>) {
        self.commits.begun();
        let (mut accepted, mut refused) = (Vec::with_capacity(group.len()), Vec::new());
        let mut started = HashSet::new();
        for (batch, done) in group {
            // Judged before the transaction, so that one wrong batch costs the others nothing.
            match self.judge(&batch, &mut started) {
                Ok(()) => accepted.push((batch, done)),
                Err(error) => refused.push((done, error)),
            }
        }
        let began = Instant::now();
        let result = if accepted.is_empty() {
            Ok((self.head, Vec::new()))
        } else {
            self.write(&mut accepted)
        };
        match result {
            Ok((head, receipts)) => {
                if self.head.seq != head.seq {
                    self.counts.committed(head.seq - self.head.seq, began.elapsed());
                    self.commits.reached(head.seq);
                }
                self.head = head;
                for ((_, done), receipt) in accepted.into_iter().zip(receipts) {
                    answer(done, Ok(receipt));
                }
            }
            Err(broken) => {
                let error = self.fail(broken);
                for (_, done) in accepted {
                    answer(done, Err(error.clone()));
                }
            }
        }
        for (done, error) in refused {
            answer(done, Err(error));
        }
    }

    fn judge(&mut self, batch: &Batch, started: &mut HashSet<String>) -> Result<(), StoreError> {
        self.check_alive()?;
        if batch.entries.is_empty() {
            return Err(StoreError::BadBatch { why: "it has no entries" });
        }
        if i64::try_from(batch.at_ms).is_err() {
            return Err(StoreError::BadBatch { why: "its time is too far away" });
        }
        let too_large = |what, bytes, limit| Err(StoreError::TooLarge { what, bytes, limit });
        if let Some(bytes) = batch.entries.iter().map(Entry::bytes).find(|it| *it > MAX_ENTRY) {
            return too_large("an entry", bytes, MAX_ENTRY);
        }
        if batch.bytes() > MAX_BATCH {
            return too_large("a batch", batch.bytes(), MAX_BATCH);
        }
        let id = batch.session_id.as_str();
        if batch.entries.iter().any(|entry| matches!(entry, Entry::Peer(_))) {
            return judge_peers(batch);
        }
        if id.is_empty() || id.len() > MAX_ID {
            return Err(StoreError::BadBatch { why: "a session id has 1 to 256 bytes" });
        }
        if started.contains(id) {
            return Ok(());
        }
        if self.projector.knows(&self.connection, id).map_err(|error| self.fail(error.into()))? {
            return Ok(());
        }
        if batch.entries.first().is_some_and(|entry| entry.row().kind == Kind::Session) {
            started.insert(id.to_owned());
            return Ok(());
        }
        Err(StoreError::UnknownSession { session_id: batch.session_id.clone() })
    }

    /// Writes the batches, whose entries are taken out of them, and gives the end of the chain and a receipt
    /// for each.
    fn write(
        &mut self,
        accepted: &mut [(Batch, Done<Receipt>)],
    ) -> Result<(Head, Vec<Receipt>), Broken> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (batches, mut head) = (accepted.len(), self.head);
        let mut receipts = Vec::with_capacity(batches);
        // Asked for once, and not for each row.
        let mut journal = Insert::new(&transaction)?;
        for (batch, _) in accepted {
            let first_seq = head.seq + 1;
            let (session_id, at_ms) = (batch.session_id.as_str(), batch.at_ms);
            for entry in std::mem::take(&mut batch.entries) {
                let row = entry.row();
                head.follow(session_id, at_ms, &row);
                let place = Place { seq: head.seq, session_id, at_ms };
                journal.write(place, &row, &head.hash)?;
                self.logged += ROW_OVERHEAD + row.body.len();
                self.peers.pass(row.body.len());
                if row.kind != Kind::Peer {
                    self.projector.apply(&transaction, place, &row)?;
                }
                if let Entry::Peer(peer) = entry {
                    self.peers.take(head.seq, peer.into_meaning());
                }
            }
            receipts.push(Receipt { first_seq, last_seq: head.seq, hash: head.hash });
        }
        drop(journal);
        // Whole pages are logged: the last one of the journal, and two for each session.
        let changed = self.projector.flush(&transaction)?;
        let followed = self.peers.follow_if_due(&transaction, batches, head.seq)?;
        self.logged += PAGE * (1 + 2 * changed + followed);
        transaction.commit()?;
        Ok((head, receipts))
    }

    /// Nothing more comes: the tables follow. If that fails, who opens the file has them follow.
    fn finish(&mut self) {
        if self.failed.is_none()
            && let Err(error) = self.peers.close(&mut self.connection, self.head.seq)
        {
            self.fail(error.into());
        }
    }

    fn rebuild(&mut self) -> Result<(), StoreError> {
        self.check_alive()?;
        self.rewrite_tables().map_err(|broken| self.fail(broken))
    }

    fn rewrite_tables(&mut self) -> Result<(), Broken> {
        self.projector = Projector::default();
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for table in Kind::ALL.into_iter().filter_map(Kind::table) {
            transaction.execute(&format!("DELETE FROM {table}"), [])?;
        }
        self.peers.start_over(&transaction)?;
        transaction.execute("DELETE FROM sessions", [])?;
        {
            let sql = format!("SELECT {COLUMNS} FROM journal ORDER BY seq");
            let mut statement = transaction.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (place, row) = Columns::of(row)?.read()?;
                self.projector.apply(&transaction, place, &row)?;
                self.peers.apply_again(&transaction, place, &row)?;
                self.logged += ROW_OVERHEAD;
            }
        }
        self.projector.flush(&transaction)?;
        self.peers.finish(&transaction, self.head.seq)?;
        transaction.commit()?;
        Ok(())
    }

    /// Copies the log into the database, once it is long. Nobody waits for this.
    fn checkpoint(&mut self) {
        if self.failed.is_some() || self.logged < CHECKPOINT {
            return;
        }
        // Passive: a reader may keep part of the log in use; the rest follows another time.
        let result = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            let (log, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(log == copied)
        });
        match result {
            Ok(is_whole) => self.logged = if is_whole { 0 } else { CHECKPOINT - AGAIN },
            Err(error) => {
                self.fail(error.into());
            }
        }
    }

    fn check_alive(&self) -> Result<(), StoreError> {
        match &self.failed {
            Some(why) => Err(StoreError::Failed { why: why.clone() }),
            None => Ok(()),
        }
    }

    fn fail(&mut self, broken: Broken) -> StoreError {
        let why = match broken {
            Broken::Database(error) => format!("{}: {error}", self.path.display()),
            Broken::Chain(Tampered { seq, why: UNREADABLE }) => {
                format!("{}: entry {seq} cannot be read", self.path.display())
            }
            Broken::Chain(tampered) => tampered.to_string(),
        };
        self.failed = Some(why.clone());
        let failure = StoreError::Failed { why };
        self.commits.failed(&failure);
        failure
    }
}

/// Entries of peers come by themselves, and belong to no session.
fn judge_peers(batch: &Batch) -> Result<(), StoreError> {
    if !batch.session_id.as_str().is_empty() {
        return Err(StoreError::BadBatch { why: "entries of peers belong to no session" });
    }
    for entry in &batch.entries {
        match entry {
            Entry::Peer(peer) if peer.count() == 0 => {
                return Err(StoreError::BadBatch { why: "an entry of a peer has no records" });
            }
            Entry::Peer(peer) if peer.count() as u64 > RECORDS => {
                let (what, limit) = ("records in an entry of a peer", RECORDS as usize);
                return Err(StoreError::TooMany { what, limit });
            }
            Entry::Peer(_) => {}
            _ => return Err(StoreError::BadBatch { why: "entries of peers come by themselves" }),
        }
    }
    Ok(())
}

fn take_appends(waiting: &mut VecDeque<Work>, group: &mut Vec<(Batch, Done<Receipt>)>) {
    while let Some(work) = waiting.pop_front() {
        match work {
            Work::Append { batch, done } => group.push((batch, done)),
            work @ Work::Rebuild { .. } => return waiting.push_front(work),
        }
    }
}

/// However the thread ends, nobody is left waiting.
struct Abandon<'q>(&'q Arc<Queue>, &'q Commits);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
        self.1.close();
    }
}

/// Larger than any message we know, smaller than what would stop the machine.
const MAX_ENTRY: usize = 64 << 20;
const MAX_BATCH: usize = 256 << 20;
const MAX_ID: usize = 256;

/// What a row costs in the log besides its body: keys, hash, and its row in a table.
const ROW_OVERHEAD: usize = 200;

const PAGE: usize = 4096;

/// How much is in the log before it is copied. Long, because each copy syncs two files; short
/// enough that a restart after a crash reads it in a moment.
const CHECKPOINT: usize = 8 << 20;

/// How much more is in the log before it is tried again. Short: what is left of it keeps all of it.
const AGAIN: usize = 1 << 20;
