//! The replay window: which messages have been seen, for as long as one of them could pass again.
//!
//! A message passes by its timestamp for a few minutes. For that long its id is remembered, and a
//! second message with it is refused. An id that could still pass is never forgotten to make room:
//! when there is no room, new messages are refused instead.
//!
//! The window knows senders and ids, and nothing of signatures: ask it only about messages that are
//! known to be their sender's, or anyone could use up the ids of others. It reads no clock.

mod forgotten;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::forgotten::Forgotten;
use crate::error::Refusal;
use crate::hex;
use crate::id::{DelegateId, MessageId, hash_of_named};
use crate::time::Timestamp;

/// How long messages pass, and how many are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayLimits {
    /// How far in the past a timestamp may lie.
    pub past_ms: u64,
    /// How far in the future, for clocks that disagree.
    pub future_ms: u64,
    pub max_per_sender: usize,
    pub max_in_total: usize,
    /// Senders of whom something is remembered: each takes more than one of its messages does.
    pub max_senders: usize,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self {
            // Long enough for a message that waited for a connection, short enough to remember all of it.
            past_ms: 5 * 60 * 1000,
            future_ms: 60 * 1000,
            // Three thousand messages a second, all through the window. An id takes some 60 bytes.
            max_per_sender: 1 << 20,
            max_in_total: 1 << 21,
            // With names of the greatest length, 30 MB.
            max_senders: 1 << 16,
        }
    }
}

impl ReplayLimits {
    /// Whether a message of that time passes, as far as clocks can tell.
    pub(crate) fn check_time(&self, sent_at: Timestamp, now: Timestamp) -> Result<(), ReplayFault> {
        if self.passes_until(sent_at) < now.millis() {
            return Err(ReplayFault::TooOld { sent_at, now });
        }
        if sent_at > now.plus_millis(self.future_ms) {
            return Err(ReplayFault::TooNew { sent_at, now });
        }
        Ok(())
    }

    /// The last moment at which a message passes by its timestamp.
    fn passes_until(&self, sent_at: Timestamp) -> u64 {
        sent_at.plus_millis(self.past_ms).millis()
    }

    /// The second in which its id is of no use any more.
    fn forgets_at(&self, sent_at: Timestamp) -> u64 {
        self.passes_until(sent_at) / SECOND + 1
    }
}

/// The messages that were let in and could still pass.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    limits: ReplayLimits,
    senders: HashMap<Arc<str>, OfSender>,
    /// The same by the second in which they can be forgotten.
    by_second: BTreeMap<u64, Vec<(Arc<str>, Seen)>>,
    total: usize,
    /// What could pass until one of these seconds may be forgotten, so it is refused, also when the
    /// clock is set back.
    forgotten: Forgotten,
}

/// The messages of one sender.
#[derive(Clone, Debug)]
struct OfSender {
    /// Kept once for all of them.
    name: Arc<str>,
    seen: HashSet<Seen>,
}

/// One message that was let in. Kept and given back after a restart, it is refused then, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRecord {
    pub sender: DelegateId,
    /// Stands for the message id, at a length that no peer chooses: 32 hexadecimal digits. A mark, which
    /// stands for what was forgotten, has the second there with which that begins, behind a colon, or
    /// nothing where it is all that was before.
    pub digest: String,
    /// From then on its timestamp keeps it out, and the record is of no use.
    pub forget_at: Timestamp,
}

/// Why a message is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayFault {
    TooOld {
        sent_at: Timestamp,
        now: Timestamp,
    },
    TooNew {
        sent_at: Timestamp,
        now: Timestamp,
    },
    /// The clock was set back: messages of that time were let in before, and their ids are not known any
    /// more.
    Forgotten {
        sent_at: Timestamp,
    },
    /// The sender has used that id before.
    Replayed,
    /// There is no room for another message of this sender.
    SenderFull,
    /// There is no room for another message of anyone.
    Full,
}

impl ReplayFault {
    /// The code that the peer is told.
    pub fn refusal(self) -> Refusal {
        match self {
            ReplayFault::TooOld { .. }
            | ReplayFault::TooNew { .. }
            | ReplayFault::Forgotten { .. } => Refusal::TimestampOutOfWindow,
            ReplayFault::Replayed => Refusal::ReplayDetected,
            ReplayFault::SenderFull | ReplayFault::Full => Refusal::LimitReached,
        }
    }
}

impl fmt::Display for ReplayFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayFault::TooOld { sent_at, now } => {
                write!(f, "the message is from {sent_at}, which is too long ago at {now}")
            }
            ReplayFault::TooNew { sent_at, now } => {
                write!(f, "the message is from {sent_at}, which is yet to come at {now}")
            }
            ReplayFault::Forgotten { sent_at } => {
                let why = "this node's clock was past it before, so that it may be a second copy";
                write!(f, "the message is from {sent_at}: {why}")
            }
            ReplayFault::Replayed => f.write_str("a message with this id was received before"),
            ReplayFault::SenderFull => {
                f.write_str("too many messages from this delegate within a few minutes")
            }
            ReplayFault::Full => f.write_str("too many messages within a few minutes"),
        }
    }
}

impl std::error::Error for ReplayFault {}

/// The beginning of a hash over sender and message id. Finding a second id for one takes 2^128 tries,
/// and a sender that looks for two of its own that agree only shuts itself out.
type Seen = [u8; 16];

impl ReplayWindow {
    pub fn new(limits: ReplayLimits) -> Self {
        Self {
            limits,
            senders: HashMap::new(),
            by_second: BTreeMap::new(),
            total: 0,
            forgotten: Forgotten::new((limits.past_ms + limits.future_ms) / SECOND),
        }
    }

    /// The window as it was before a restart. What could pass until before `now` is left out, and stays
    /// refused.
    ///
    /// What was let in is remembered, whatever the limits; they hold for what comes next. A record
    /// whose digest is none is left out; a [mark](Self::marks) keeps out what it stands for.
    pub fn restore(
        limits: ReplayLimits,
        records: impl IntoIterator<Item = ReplayRecord>,
        now: Timestamp,
    ) -> Self {
        let mut window = Self::new(limits);
        for ReplayRecord { sender, digest, forget_at } in records {
            let second = forget_at.millis() / SECOND;
            if let Some(stretch) = marked(&digest, second) {
                window.forgotten.add(stretch);
            } else if let Some(seen) = hex::decode(&digest) {
                if second > now.millis() / SECOND {
                    window.remember(sender.as_str(), seen, second);
                } else {
                    window.forgotten.add(second..=second);
                }
            }
        }
        window
    }

    /// Lets a message in once.
    pub fn admit(
        &mut self,
        sender: &DelegateId,
        message_id: &MessageId,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Result<ReplayRecord, ReplayFault> {
        self.forget(now);
        self.check_time(sent_at, now)?;
        let seen = digest(sender, message_id);
        let of_sender = self.senders.get(sender.as_str());
        if of_sender.is_some_and(|it| it.seen.contains(&seen)) {
            return Err(ReplayFault::Replayed);
        }
        if of_sender.map_or(0, |it| it.seen.len()) >= self.limits.max_per_sender {
            return Err(ReplayFault::SenderFull);
        }
        let is_crowded = of_sender.is_none() && self.senders.len() >= self.limits.max_senders;
        if self.total >= self.limits.max_in_total || is_crowded {
            return Err(ReplayFault::Full);
        }
        let second = self.limits.forgets_at(sent_at);
        self.remember(sender.as_str(), seen, second);
        Ok(record(sender.clone(), seen, second))
    }

    /// Whether a message of that time passes, whatever its id.
    pub fn check_time(&self, sent_at: Timestamp, now: Timestamp) -> Result<(), ReplayFault> {
        self.limits.check_time(sent_at, now)?;
        if self.forgotten.contains(self.limits.forgets_at(sent_at)) {
            return Err(ReplayFault::Forgotten { sent_at });
        }
        Ok(())
    }

    /// What is remembered, the first to be forgotten first.
    pub fn records(&self) -> impl Iterator<Item = ReplayRecord> {
        self.by_second.iter().flat_map(|(second, seen)| {
            seen.iter().filter_map(|(sender, seen)| {
                Some(record(DelegateId::new(&**sender).ok()?, *seen, *second))
            })
        })
    }

    /// To be kept with the records, under the node's own name: after a restart with a clock that was
    /// set back, what this window has forgotten stays out.
    pub fn marks(&self, node: &DelegateId) -> impl Iterator<Item = ReplayRecord> {
        self.forgotten.stretches().map(|stretch| {
            let digest = match stretch.start() {
                0 => String::new(),
                first => format!(":{first}"),
            };
            let forget_at = Timestamp::from_millis(stretch.end().saturating_mul(SECOND));
            ReplayRecord { sender: node.clone(), digest, forget_at }
        })
    }

    /// How many messages are remembered.
    pub fn len(&self) -> usize {
        self.total
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    fn remember(&mut self, sender: &str, seen: Seen, second: u64) {
        let of_sender = match self.senders.get_mut(sender) {
            Some(of_sender) => of_sender,
            None => {
                let name: Arc<str> = Arc::from(sender);
                let of_sender = OfSender { name: Arc::clone(&name), seen: HashSet::new() };
                self.senders.entry(name).or_insert(of_sender)
            }
        };
        if of_sender.seen.insert(seen) {
            self.total += 1;
            let name = Arc::clone(&of_sender.name);
            self.by_second.entry(second).or_default().push((name, seen));
        }
    }

    /// Forgets the seconds that are over. Each message is touched once in its life.
    fn forget(&mut self, now: Timestamp) {
        while let Some(oldest) = self.by_second.first_entry()
            && *oldest.key() <= now.millis() / SECOND
        {
            self.forgotten.add(*oldest.key()..=*oldest.key());
            for (sender, seen) in oldest.remove() {
                let Some(of_sender) = self.senders.get_mut(&sender) else { continue };
                let of_sender = &mut of_sender.seen;
                self.total -= usize::from(of_sender.remove(&seen));
                if of_sender.is_empty() {
                    self.senders.remove(&sender);
                } else if of_sender.len() < of_sender.capacity() / 8 {
                    // Room that a burst needed is given back.
                    of_sender.shrink_to_fit();
                }
            }
        }
    }
}

/// The seconds that a mark stands for; none for any other record.
fn marked(digest: &str, last: u64) -> Option<RangeInclusive<u64>> {
    let first = match digest.strip_prefix(':') {
        Some(first) => first.parse().ok()?,
        None => digest.is_empty().then_some(0)?,
    };
    Some(first..=last.max(first))
}

fn record(sender: DelegateId, seen: Seen, second: u64) -> ReplayRecord {
    let forget_at = Timestamp::from_millis(second.saturating_mul(SECOND));
    ReplayRecord { sender, digest: hex::encode(&seen), forget_at }
}

fn digest(sender: &DelegateId, message_id: &MessageId) -> Seen {
    let mut seen = [0; 16];
    seen.copy_from_slice(&hash_of_named(sender, message_id.as_str())[..16]);
    seen
}

/// In milliseconds.
const SECOND: u64 = 1000;
