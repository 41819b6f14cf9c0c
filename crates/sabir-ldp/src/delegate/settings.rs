//! What a delegate is set to: its card, whom it trusts, and how much it takes on. The numbers are
//! defaults for one node on one machine; none of them is on the wire.

use std::collections::BTreeSet;

use crate::card::IdentityCard;
use crate::contract::Budget;
use crate::id::SkillName;
use crate::replay::ReplayLimits;
use crate::route::PathLimits;
use crate::trust::Trust;

#[derive(Debug, Clone)]
pub struct DelegateSettings {
    /// Who this node is, and what it offers.
    pub card: IdentityCard,
    pub trust: Trust,
    pub replay: ReplayLimits,
    pub limits: DelegateLimits,
    /// Skills whose tasks go on after a restart: they are started once more, and who does them knows
    /// how. Tasks of others end with INTERRUPTED.
    pub lasting: BTreeSet<SkillName>,
}

/// How much a delegate takes on. What is beyond is refused with `LIMIT_REACHED`.
#[derive(Debug, Clone, PartialEq)]
pub struct DelegateLimits {
    /// Open and suspended together.
    pub sessions: usize,
    /// Of one peer.
    pub sessions_of_one: usize,
    pub suspended: usize,
    /// How long a suspended session is kept.
    pub suspended_ms: u64,
    /// The longest time of inactivity that a proposal can ask for.
    pub ttl_ms: u64,
    /// Sessions that ended, kept so that a late message hears why.
    pub ended: usize,
    /// Tasks that run at once.
    pub running: usize,
    /// Of one peer.
    pub running_of_one: usize,
    /// What the messages of the tasks that run take together, in bytes of memory.
    pub running_bytes: usize,
    /// Of one peer.
    pub running_bytes_of_one: usize,
    /// Requests that wait for one task. Beyond it the one that has waited longest is told the state.
    pub waiting_for_one: usize,
    /// Finished tasks that are known without a look into the store.
    pub finished: usize,
    /// Tasks that finished before those, known by a trace: an id without one is new, and is not looked
    /// for in the store.
    pub faded: usize,
    /// Earlier tasks of the session that an order names.
    pub history: usize,
    /// How far a task may have come.
    pub path: PathLimits,
    /// What the tasks of one session may spend together.
    pub session_budget: Budget,
    /// How long a stopped task may take to say what it had.
    pub stop_ms: u64,
    /// How long a task may run, whatever its contract says.
    pub task_ms: u64,
    /// Updates of one task that are recorded and sent.
    pub updates: u64,
    /// Bytes of an update's text.
    pub update_bytes: usize,
}

impl Default for DelegateLimits {
    fn default() -> Self {
        Self {
            sessions: 20_000,
            // One peer may be a whole organisation behind one router.
            sessions_of_one: 12_000,
            suspended: 5_000,
            suspended_ms: 7 * DAY_MS,
            ttl_ms: DAY_MS,
            ended: 20_000,
            running: 4_096,
            running_of_one: 2_048,
            running_bytes: 256 << 20,
            running_bytes_of_one: 128 << 20,
            // A caller, its stream and a few retries; more is somebody who does not wait.
            waiting_for_one: 16,
            // About 20 MB of ids and digests.
            finished: 100_000,
            // About 20 MB of traces.
            faded: 1_000_000,
            history: 32,
            path: PathLimits::default(),
            session_budget: Budget::default(),
            // A process group is killed in less; a model call is abandoned at once.
            stop_ms: 5_000,
            task_ms: DAY_MS,
            updates: 100_000,
            update_bytes: 16 * 1024,
        }
    }
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
