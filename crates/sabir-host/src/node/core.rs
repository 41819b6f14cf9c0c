//! One turn at a time: the machine is told something under its lock, what it records goes to the
//! journal in the same order, and what it wants done is done when that is on disk.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use sabir_ldp::{
    DelegateInput, IdentityCard, Moment, RequestId, SigningKey, SkillName, StopReason, TaskEvent,
    TaskKey, TaskOrder, Timestamp, Trust,
};
use sabir_store::{Batch, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::answer::Pen;
use super::entrance::Entrance;
use super::journal::{Journal, Written};
use super::keys::Keys;
use super::machine::{Effect, Machine, Turn};
use super::notary::Notary;
use super::outbox::Outbox;
use super::pins::Pins;
use super::seeds::Seeds;
use super::skill::Skill;
use super::watched;
use super::work::{Cause, Running};
use crate::clock::now_ms;

#[derive(Debug)]
pub(super) struct Core {
    pub(super) card: Arc<IdentityCard>,
    pub(super) key: SigningKey,
    pub(super) notary: Notary,
    pub(super) trust: RwLock<Trust>,
    pub(super) pins: Pins,
    pub(super) skills: BTreeMap<SkillName, Arc<dyn Skill>>,
    pub(super) patience: Duration,
    pub(super) journal: Journal,
    pub(super) runtime: Handle,
    pub(super) running: Mutex<HashMap<TaskKey, Arc<Running>>>,
    /// What the last end cut off and is to go on, until it does.
    pub(super) again: Mutex<Vec<TaskOrder>>,
    /// Why nothing is taken any more.
    pub(super) closed: OnceLock<Closed>,
    /// The machine wants to be woken earlier than it said before.
    pub(super) wake: Notify,
    pub(super) entrance: Entrance,
    /// Of open sessions.
    pub(super) keys: Keys,
    seeds: Seeds,
    queue: Mutex<Queue>,
    outbox: Outbox<Passed>,
    /// Told when the node fails.
    pub(super) failure: Notify,
    /// Told when everything is on disk.
    settled: Notify,
    /// Kibibytes that may be on their way to the disk.
    room: Arc<Semaphore>,
}

#[derive(Debug, Clone)]
pub(super) enum Closed {
    Stopping,
    Failed(String),
}

/// What waits for the journal.
#[derive(Debug, Default)]
struct Queue {
    /// Batches that were handed to the journal, and those that it has written.
    appended: u64,
    written: u64,
    /// Effects of turns that recorded nothing, and the batch that they must not overtake.
    after: VecDeque<(u64, Vec<Effect>)>,
    /// Batches that the journal had no room for; while there are some, all go here.
    overflow: VecDeque<Waiting>,
    is_draining: bool,
}

struct Waiting {
    batch: Batch,
    done: Written,
}

/// A batch that is on disk, or is lost.
#[derive(Debug)]
struct Passed {
    number: u64,
    /// None if it is lost.
    effects: Option<Vec<Effect>>,
    /// What it took of the room, for as long as it is here.
    _room: Option<Room>,
}

/// Room for what is on its way to the disk.
pub(super) type Room = OwnedSemaphorePermit;

/// What a core is made of.
pub(super) struct Parts {
    pub(super) card: Arc<IdentityCard>,
    pub(super) key: SigningKey,
    pub(super) trust: Trust,
    pub(super) pins: Pins,
    pub(super) skills: BTreeMap<SkillName, Arc<dyn Skill>>,
    pub(super) patience: Duration,
    pub(super) journal: Journal,
    pub(super) machine: Machine,
    pub(super) again: Vec<TaskOrder>,
}

impl Core {
    pub(super) fn new(parts: Parts) -> Arc<Self> {
        let core = Arc::new(Self {
            card: parts.card,
            notary: parts.machine.notary(),
            key: parts.key,
            trust: RwLock::new(parts.trust),
            pins: parts.pins,
            skills: parts.skills,
            patience: parts.patience,
            journal: parts.journal,
            runtime: Handle::current(),
            running: Mutex::default(),
            again: Mutex::new(parts.again),
            closed: OnceLock::new(),
            wake: Notify::new(),
            keys: parts.machine.keys(),
            entrance: Entrance::new(parts.machine),
            seeds: Seeds::default(),
            queue: Mutex::default(),
            outbox: Outbox::default(),
            failure: Notify::new(),
            settled: Notify::new(),
            room: Arc::new(Semaphore::new(ROOM_KIB)),
        });
        let weak = Arc::downgrade(&core);
        // What is written to disk together is signed together, meanwhile.
        core.journal.before_commit(move || {
            if let Some(core) = weak.upgrade() {
                core.notary.sign(&core.runtime);
            }
        });
        let weak = Arc::downgrade(&core);
        // Others may write there, and be the first whom the disk fails.
        core.journal.on_failure(move |failure| {
            if let Some(core) = weak.upgrade() {
                core.fail(failure.to_string());
            }
        });
        core
    }

    pub(super) fn trust(&self) -> RwLockReadGuard<'_, Trust> {
        self.trust.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn with_pen<T>(&self, write: impl FnOnce(&Pen<'_>) -> T) -> T {
        let trust = self.trust();
        write(&Pen { card: &self.card, key: &self.key, trust: &trust })
    }

    /// Waits until what is on its way to the disk leaves room for about so many bytes.
    pub(super) async fn room_for(&self, bytes: usize) -> Option<Room> {
        Arc::clone(&self.room).acquire_many_owned(kib(bytes)).await.ok()
    }

    /// The same, if there is room and nobody else waits for it.
    pub(super) fn room_now(&self, bytes: usize) -> Option<Room> {
        Arc::clone(&self.room).try_acquire_many_owned(kib(bytes)).ok()
    }

    /// Tells the machine something. What comes of it happens when it is on disk.
    pub(super) fn turn(self: &Arc<Self>, room: Option<Room>, input: DelegateInput) {
        let Some(mut moment) = self.moment() else { return };
        let mut machine = self.machine();
        let turn = machine.take(input, &self.skills, &mut moment);
        self.commit(&mut machine, turn, room, moment.now());
    }

    /// Nobody waits for this any more.
    pub(super) fn hang_up(self: &Arc<Self>, request: RequestId) {
        let Some(mut moment) = self.moment() else { return };
        let mut machine = self.machine();
        if machine.waiting.remove(&request).is_some() {
            let input = DelegateInput::GiveUp { request };
            let turn = machine.take(input, &self.skills, &mut moment);
            self.commit(&mut machine, turn, None, moment.now());
        }
    }

    /// News of a task.
    pub(super) async fn tell(self: &Arc<Self>, key: &TaskKey, event: TaskEvent) {
        let room = self.room_for(weight(&event)).await;
        self.turn(room, DelegateInput::Task { key: key.clone(), event });
    }

    /// Puts what a turn came to in line. The caller holds the lock, so that the journal has the order
    /// of the machine.
    pub(super) fn commit(
        self: &Arc<Self>,
        machine: &mut Machine,
        turn: Turn,
        room: Option<Room>,
        now: Timestamp,
    ) {
        let Turn { records, effects } = turn;
        let wanted = machine.delegate.next_wake();
        if wanted.is_some_and(|wanted| machine.wakes_at.is_none_or(|at| wanted < at)) {
            machine.wakes_at = wanted;
            self.wake.notify_one();
        }
        let mut queue = self.queue();
        if records.is_empty() {
            if self.has_failed() {
                // What they follow may be lost.
            } else if queue.written == queue.appended {
                drop(queue);
                self.perform(effects);
            } else if !effects.is_empty() {
                let number = queue.appended;
                queue.after.push_back((number, effects));
            }
            // Nothing of this will be written.
            self.notary.sign(&self.runtime);
            return;
        }
        queue.appended += 1;
        let number = queue.appended;
        let core = Arc::clone(self);
        let done: Written = Box::new(move |result| core.written(number, effects, room, result));
        let batch = Batch::of_peers(now.millis(), records);
        let rejected = match queue.is_draining {
            true => Some((batch, done)),
            false => {
                // A closed journal calls back at once, and then wants the queue.
                drop(queue);
                let rejected = self.journal.append(batch, done).err();
                queue = self.queue();
                rejected
            }
        };
        let Some((batch, done)) = rejected else { return };
        queue.overflow.push_back(Waiting { batch, done });
        if !std::mem::replace(&mut queue.is_draining, true) {
            let core = Arc::clone(self);
            self.runtime.spawn_blocking(move || core.drain());
        }
    }

    /// Waits until all that was recorded is on disk, or is lost.
    pub(super) async fn settled(&self) {
        loop {
            let settled = self.settled.notified();
            {
                let queue = self.queue();
                if queue.written == queue.appended {
                    return;
                }
            }
            settled.await;
        }
    }

    /// The time, and a seed that nobody can guess. Without one nothing is safe to go on.
    pub(super) fn moment(self: &Arc<Self>) -> Option<Moment> {
        match self.seeds.next() {
            Ok(seed) => Some(Moment::new(Timestamp::from_millis(now_ms()), seed)),
            Err(error) => {
                self.fail(format!("the system gives no random numbers: {error}"));
                None
            }
        }
    }

    /// What others are told. Why a disk fails is for this machine to know.
    pub(super) fn why_closed(&self) -> Option<&'static str> {
        self.closed.get().map(|closed| match closed {
            Closed::Stopping => "this node is stopping",
            Closed::Failed(_) => "this node cannot keep what it is told",
        })
    }

    fn has_failed(&self) -> bool {
        matches!(self.closed.get(), Some(Closed::Failed(_)))
    }

    /// Stops everything: what cannot be written down is not done.
    fn fail(self: &Arc<Self>, why: String) {
        if self.closed.set(Closed::Failed(why)).is_err() {
            return;
        }
        self.failure.notify_waiters();
        watched::failed(self);
        let core = Arc::clone(self);
        // Not here: this may be the journal's own thread.
        self.runtime.spawn_blocking(move || {
            // Who waits hears of it when its sender is gone.
            core.machine().waiting.clear();
            core.stop_all();
        });
    }

    pub(super) fn stop_all(&self) -> Vec<Arc<Running>> {
        let running: Vec<_> = self.running().values().cloned().collect();
        running.iter().for_each(|running| running.stop(Cause::Shutdown));
        running
    }

    pub(super) fn running(&self) -> MutexGuard<'_, HashMap<TaskKey, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over what the journal had no room for, and waits for it to have some.
    fn drain(self: Arc<Self>) {
        loop {
            let Some(waiting) = self.queue().overflow.pop_front() else {
                let mut queue = self.queue();
                if queue.overflow.is_empty() {
                    queue.is_draining = false;
                    return;
                }
                continue;
            };
            self.journal.append_blocking(waiting.batch, waiting.done);
        }
    }

    /// A batch is on disk, or is lost. This is the journal's own thread, for which others wait: what
    /// comes of it is done elsewhere, for all that were written together.
    fn written<T>(
        self: &Arc<Self>,
        number: u64,
        effects: Vec<Effect>,
        room: Option<Room>,
        result: Result<T, StoreError>,
    ) {
        let effects = match result {
            Ok(_) => Some(effects),
            Err(error) => {
                self.fail(error.to_string());
                // Results of it are not released, and are kept for their signature alone.
                drop(effects);
                self.notary.sign(&self.runtime);
                None
            }
        };
        if self.outbox.put(Passed { number, effects, _room: room }) {
            let core = Arc::clone(self);
            self.runtime.spawn(async move { core.see_to_outbox() });
        }
    }

    /// Does what batches led to, one after the other in the order of the journal.
    fn see_to_outbox(self: &Arc<Self>) {
        while let Some(all) = self.outbox.take_all() {
            for Passed { number, effects, _room } in all {
                self.perform_whole(effects.unwrap_or_default());
                self.go_past(number);
            }
        }
    }

    /// Does what came of turns that recorded nothing and waited for this batch.
    fn go_past(self: &Arc<Self>, number: u64) {
        loop {
            let effects = {
                let mut queue = self.queue();
                if queue.after.front().is_none_or(|(before, _)| *before > number) {
                    queue.written = number;
                    if queue.written == queue.appended {
                        self.settled.notify_waiters();
                    }
                    return;
                }
                queue.after.pop_front().map(|(_, effects)| effects).unwrap_or_default()
            };
            if !self.has_failed() {
                self.perform_whole(effects);
            }
        }
    }

    /// A panic over one of them must not end who does what others wait for.
    fn perform_whole(self: &Arc<Self>, effects: Vec<Effect>) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.perform(effects)));
    }

    /// Short: many wait for it. Who is not there any more misses nothing.
    fn perform(self: &Arc<Self>, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Reply(reply) => reply.release(),
                Effect::Admit(admitted) => drop(admitted.send(())),
                Effect::Start(order, trace) => self.begin(*order, trace),
                Effect::Stop(key, why) => {
                    if let Some(running) = self.running().get(&key) {
                        running.stop(match why {
                            StopReason::Cancelled => Cause::Cancelled,
                            StopReason::Violated => Cause::Violated,
                        });
                    }
                }
                Effect::Update(topic, update) => topic.push(update),
                Effect::Recall(request, key) => {
                    let core = Arc::clone(self);
                    self.runtime.spawn(async move { core.recall(request, key).await });
                }
            }
        }
    }

    async fn recall(self: Arc<Self>, request: RequestId, key: TaskKey) {
        let ended = match self.journal.task_ended(key).await {
            Ok(ended) => ended.map(Box::new),
            Err(error) => return self.fail(error.to_string()),
        };
        let room = self.room_for(0).await;
        self.turn(room, DelegateInput::Recalled { request, ended });
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiting").field("batch", &self.batch).finish_non_exhaustive()
    }
}

/// What a turn of about so many bytes counts.
fn kib(bytes: usize) -> u32 {
    let kib = (LEAST_KIB + bytes / 1024).min(ROOM_KIB / 2);
    u32::try_from(kib).unwrap_or(u32::MAX)
}

/// About how many bytes an event makes a journal write.
fn weight(event: &TaskEvent) -> usize {
    match event {
        TaskEvent::Progress { message, .. } => message.as_ref().map_or(0, String::len),
        TaskEvent::WaitingForApproval { what } => what.len(),
        TaskEvent::Usage(_) => 0,
        TaskEvent::Finished(finished) => size(&finished.output),
        TaskEvent::Failed { error, .. } => {
            error.message.len() + error.partial_output.as_ref().map_or(0, size)
        }
    }
}

/// Texts are what makes a value large.
fn size(value: &serde_json::Value) -> usize {
    let mut bytes = 0_usize;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        bytes += 8;
        match value {
            serde_json::Value::String(text) => bytes += text.len(),
            serde_json::Value::Array(items) => open.extend(items),
            serde_json::Value::Object(fields) => {
                bytes += fields.keys().map(String::len).sum::<usize>();
                open.extend(fields.values());
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            }
        }
    }
    bytes
}

/// Half of what the store lets wait, so that others find room in it, too.
const ROOM_KIB: usize = 32 << 10;
/// What the smallest turn counts: so that no more than 8,192 batches are on their way.
const LEAST_KIB: usize = 4;
