//! The tables of a delegate, as its journal is written: when they follow it. It knows when, and not what
//! they hold.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::entry::Meaning;
use super::mark::{mark, set_mark};
use super::projection::PeerProjector;
use crate::chain::Hash;
use crate::entry::Row;
use crate::journal::{Broken, Head, Place, head_at, walk};
use crate::tables::Version;

pub(crate) struct PeerTables {
    projector: PeerProjector,
    /// What the tables do not know of yet.
    behind: Vec<(u64, Meaning)>,
    /// The last entry that they know of.
    mark: u64,
    /// Of the entries after it.
    bytes: usize,
    /// Whether one of them is about keys.
    is_urgent: bool,
    /// So many batches at once, and the tables may be behind.
    crowd: usize,
}

impl PeerTables {
    /// Has the tables of a file follow to its last entry: who wrote it may have been ended before they did.
    pub(crate) fn open(
        connection: &mut Connection,
        genesis: Hash,
        head: Head,
        crowd: usize,
    ) -> Result<Self, Broken> {
        let mark = mark(connection, Version::of(connection)?)?.unwrap_or(head.seq);
        let mut tables = Self {
            projector: PeerProjector::default(),
            behind: Vec::new(),
            mark,
            bytes: 0,
            is_urgent: false,
            crowd,
        };
        if mark != head.seq {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            walk(&transaction, head_at(&transaction, genesis, mark)?, |columns| {
                let (place, row) = columns.read()?;
                tables.projector.apply_again(&transaction, place, &row)
            })?;
            tables.follow(&transaction, head.seq)?;
            transaction.commit()?;
        }
        Ok(tables)
    }

    /// So many bytes of an entry were just written, whoever it is of.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// An entry of a peer that was just written.
    pub(crate) fn take(&mut self, seq: u64, meaning: Meaning) {
        self.is_urgent |= meaning.is_urgent();
        self.behind.push((seq, meaning));
    }

    /// Has the tables follow if they have to, in a transaction of so many batches that ends with the entry
    /// numbered `last`, and says how many rows changed.
    pub(crate) fn follow_if_due(
        &mut self,
        transaction: &Transaction<'_>,
        batches: usize,
        last: u64,
    ) -> rusqlite::Result<usize> {
        let most = if self.behind.is_empty() { MOST_OF_OTHERS } else { MOST_BEHIND };
        let is_far = last.saturating_sub(self.mark) >= most || self.bytes >= MOST_BYTES;
        // Where few write at once, it costs little to have the tables up to date.
        let is_due = !self.behind.is_empty() && (batches < self.crowd || self.is_urgent);
        if is_far || is_due { self.follow(transaction, last) } else { Ok(0) }
    }

    /// Has the tables follow to the end before the file is closed.
    pub(crate) fn close(&mut self, connection: &mut Connection, last: u64) -> rusqlite::Result<()> {
        if self.behind.is_empty() {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.follow(&transaction, last)?;
        transaction.commit()
    }

    /// Empties the tables, to be filled by [`apply_again`](Self::apply_again) for every entry.
    pub(crate) fn start_over(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        self.projector = PeerProjector::default();
        self.behind.clear();
        self.is_urgent = false;
        PeerProjector::clear(transaction)
    }

    pub(crate) fn apply_again(
        &mut self,
        transaction: &Transaction<'_>,
        place: Place<'_>,
        row: &Row<'_>,
    ) -> Result<(), Broken> {
        self.projector.apply_again(transaction, place, row)
    }

    /// Every entry was applied again, up to the one numbered `last`.
    pub(crate) fn finish(
        &mut self,
        transaction: &Transaction<'_>,
        last: u64,
    ) -> rusqlite::Result<()> {
        self.follow(transaction, last)?;
        PeerProjector::forget_keys(transaction)
    }

    fn follow(&mut self, transaction: &Transaction<'_>, last: u64) -> rusqlite::Result<usize> {
        for (seq, meaning) in self.behind.drain(..) {
            self.projector.apply(transaction, seq, meaning)?;
        }
        (self.mark, self.bytes, self.is_urgent) = (last, 0, false);
        set_mark(transaction, last)?;
        self.projector.flush(transaction)
    }
}

/// Enough that a page of a table is written once for many tasks, few enough that who looks for a task reads
/// them in a moment.
const MOST_BEHIND: u64 = 512;

/// Entries of others, of which the tables have nothing to learn. Who looks for a task reads them, too.
const MOST_OF_OTHERS: u64 = 64;

/// What whoever looks for a task may have to read, and to keep in memory meanwhile.
const MOST_BYTES: usize = 1 << 20;
