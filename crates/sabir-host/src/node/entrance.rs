//! The way to the machine, which is told one thing at a time. Who brings a message does not wait until
//! the machine is free: whoever is with it sees to all messages that came meanwhile, one right after the
//! other. It knows who waits for what, and nothing of what a message means.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use sabir_ldp::{DelegateInput, RequestId};

use super::core::{Core, Room};
use super::machine::{Machine, Waiter};

#[derive(Debug)]
pub(super) struct Entrance {
    machine: Mutex<Machine>,
    /// In the order in which they came.
    arrivals: Mutex<VecDeque<Arrival>>,
    requests: AtomicU64,
}

/// A message that the machine is to be told, and who waits for the answer.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) request: RequestId,
    pub(super) input: DelegateInput,
    pub(super) waiter: Waiter,
    pub(super) room: Room,
}

/// The machine, for as long as nobody else has it.
#[derive(Debug)]
pub(super) struct Visit<'a> {
    // The order matters when it is dropped: the machine is free before anybody looks who came meanwhile.
    machine: MutexGuard<'a, Machine>,
    _leaving: Leaving<'a>,
}

#[derive(Debug)]
struct Leaving<'a>(&'a Arc<Core>);

impl Entrance {
    pub(super) fn new(machine: Machine) -> Self {
        let machine = Mutex::new(machine);
        Self { machine, arrivals: Mutex::default(), requests: AtomicU64::new(0) }
    }

    /// A number that no request had before.
    pub(super) fn number(&self) -> RequestId {
        RequestId(self.requests.fetch_add(1, Ordering::Relaxed))
    }

    fn arrivals(&self) -> MutexGuard<'_, VecDeque<Arrival>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// Waits for the machine. It has been told of all messages that came before.
    pub(super) fn machine(self: &Arc<Self>) -> Visit<'_> {
        let machine = self.entrance.machine.lock();
        let mut machine = machine.unwrap_or_else(PoisonError::into_inner);
        self.take_in(&mut machine);
        Visit { machine, _leaving: Leaving(self) }
    }

    /// Brings a message, and does not wait. If the node has ended by then, nobody is told of it, and the
    /// waiter is dropped.
    pub(super) fn bring(self: &Arc<Self>, arrival: Arrival) {
        self.entrance.arrivals().push_back(arrival);
        self.see_to_arrivals();
    }

    /// Tells the machine of the messages that came, unless somebody is with it, who will.
    fn see_to_arrivals(self: &Arc<Self>) {
        for _ in 0..MOST_ROUNDS {
            if self.entrance.arrivals().is_empty() {
                return;
            }
            let mut machine = match self.entrance.machine.try_lock() {
                Ok(machine) => machine,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                // It looks again when it leaves, which is after this message came.
                Err(TryLockError::WouldBlock) => return,
            };
            self.take_in(&mut machine);
        }
        // Whoever this is has more to do than that.
        let core = Arc::clone(self);
        self.runtime.spawn(async move { core.see_to_arrivals() });
    }

    fn take_in(self: &Arc<Self>, machine: &mut Machine) {
        let mut arrivals = std::mem::take(&mut machine.arrivals);
        std::mem::swap(&mut *self.entrance.arrivals(), &mut arrivals);
        for Arrival { request, input, waiter, room } in arrivals.drain(..) {
            let Some(mut moment) = self.moment() else { return };
            // Here, with the machine: when a node ends, all who wait are let go once, and nobody may come
            // after.
            if self.closed.get().is_some() {
                return;
            }
            machine.wait(request, waiter);
            let told = catch_unwind(AssertUnwindSafe(|| {
                let turn = machine.take(input, &self.skills, &mut moment);
                self.commit(machine, turn, Some(room), moment.now());
            }));
            // Whoever is with the machine came for something else: a panic is the message's alone.
            if told.is_err() {
                machine.waiting.remove(&request);
            }
        }
        // Room that a burst needed is given back.
        if arrivals.capacity() <= MOST_KEPT {
            machine.arrivals = arrivals;
        }
    }
}

impl Deref for Visit<'_> {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl DerefMut for Visit<'_> {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.see_to_arrivals();
    }
}

/// How often one looks for messages of others before somebody else does: under load there is always one
/// more.
const MOST_ROUNDS: usize = 16;

/// Messages for which there is always room.
const MOST_KEPT: usize = 256;
