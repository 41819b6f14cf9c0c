//! The tasks of a node: those that run, and those that ended and are still known by name. The table
//! counts and finds; it refuses to know messages and results.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::answers::Asker;
use super::claim::Claim;
use super::record::{TaskDigest, TaskKey, TaskStarted};
use super::{DelegateLimits, Finished, RequestId, TaskOrder, Usage};
use crate::contract::{FailurePolicy, Violation};
use crate::envelope::{Body, TaskState, Update};
use crate::id::{DelegateId, TaskId};
use crate::time::Timestamp;

#[derive(Debug)]
enum Task {
    /// The store is asked whether it knows the id; this is what happens if not.
    Looking(Box<Looking>),
    Running(Box<Running>),
    /// How it ended is in the store.
    Ended(Known),
}

/// What is known of a task without asking the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) digest: TaskDigest,
    pub(super) claim: Claim,
}

impl Task {
    fn known(&self) -> Known {
        match self {
            Self::Looking(looking) => looking.started.known(),
            Self::Running(running) => running.started.known(),
            Self::Ended(known) => *known,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Looking(looking) => looking.weight,
            Self::Running(running) => running.weight,
            Self::Ended(_) => 0,
        }
    }

    /// Those who wait for it.
    fn askers(&self) -> &[Arc<Asker>] {
        match self {
            Self::Looking(looking) => &looking.askers,
            Self::Running(running) => &running.askers,
            Self::Ended(_) => &[],
        }
    }
}

impl Update {
    /// One that says no more than this.
    pub(super) fn of_state(task_id: TaskId, state: TaskState) -> Body {
        Body::TaskUpdate(Self {
            task_id,
            progress: None,
            // One reference looks for the state in the message.
            message: Some(state.wire_name().to_owned()),
            state: Some(state),
            seq: None,
        })
    }
}

impl TaskStarted {
    fn known(&self) -> Known {
        Known { digest: self.digest, claim: self.claim() }
    }
}

#[derive(Debug)]
pub(super) struct Looking {
    pub(super) started: TaskStarted,
    pub(super) order: TaskOrder,
    pub(super) askers: Vec<Arc<Asker>>,
    /// Bytes of its message.
    pub(super) weight: usize,
}

#[derive(Debug)]
pub(super) struct Running {
    pub(super) started: TaskStarted,
    /// To whom updates go, whether somebody waits or not. None after a restart.
    pub(super) sender: Option<Arc<Asker>>,
    pub(super) askers: Vec<Arc<Asker>>,
    pub(super) state: TaskState,
    /// The last update's number.
    pub(super) seq: u64,
    pub(super) message: Option<String>,
    pub(super) progress: Option<f64>,
    pub(super) usage: Usage,
    /// Why it was stopped, while what there was is awaited.
    pub(super) stopping: Option<Stopping>,
    wakes_at: Timestamp,
    /// Bytes of its message. None after a restart, of which the message is no part.
    weight: usize,
}

#[derive(Debug)]
pub(super) enum Stopping {
    Violated(Vec<Violation>),
    /// Longer than the node lets any task run.
    TooLong,
}

impl Running {
    pub(super) fn new(started: TaskStarted, askers: Vec<Arc<Asker>>, weight: usize) -> Self {
        let wakes_at = started.deadline;
        Self {
            started,
            sender: askers.first().cloned(),
            askers,
            state: TaskState::Working,
            seq: 0,
            message: None,
            progress: None,
            usage: Usage::default(),
            stopping: None,
            wakes_at,
            weight,
        }
    }

    /// How it stands, as the last update said.
    pub(super) fn update(&self) -> Body {
        Body::TaskUpdate(Update {
            task_id: self.started.key.id.clone(),
            progress: self.progress,
            // One reference looks for the state in the message.
            message: self.message.clone().or_else(|| Some(self.state.wire_name().to_owned())),
            state: Some(self.state),
            seq: (self.seq > 0).then_some(self.seq),
        })
    }

    /// Without a contract the node's own limits are all there is, and they fail closed.
    pub(super) fn failure_policy(&self) -> FailurePolicy {
        let contract = self.started.contract.as_ref();
        contract.map_or(FailurePolicy::FailClosed, |contract| contract.policy.failure_policy)
    }

    pub(super) fn deadline_passed(&self, now: Timestamp) -> bool {
        let contract = self.started.contract.as_ref();
        let deadline = contract.and_then(|contract| contract.deadline.as_ref());
        deadline.is_some_and(|deadline| deadline.at <= now)
    }

    pub(super) fn over_budget(&self) -> impl Iterator<Item = Violation> {
        let contract = self.started.contract.as_ref();
        let budget = contract.map(|contract| contract.policy.budget).unwrap_or_default();
        self.usage.beyond(budget)
    }

    /// What a finished task broke of its contract.
    pub(super) fn broken(&self, finished: &Finished, now: Timestamp) -> Vec<String> {
        let late = self.deadline_passed(now).then_some(Violation::DeadlineExceeded);
        let named = late.into_iter().chain(self.over_budget());
        let mut broken: Vec<String> = named.map(|it| it.wire_name().to_owned()).collect();
        if self.started.contract.is_some() {
            broken.extend(finished.unmet.iter().map(|unmet| format!("criterion_unmet: {unmet}")));
        }
        broken
    }
}

#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: HashMap<TaskKey, Task>,
    /// The task that was started last, until something else is asked or started. Most end before, and
    /// then they were never in the tables of those that run.
    latest: Option<Box<Running>>,
    /// Those that ended, oldest first.
    ended: VecDeque<TaskKey>,
    /// The traces of those that ended before them.
    faded: HashSet<u64>,
    /// Some that ended are not known here any more, not even by a trace, so that an unknown id says
    /// nothing.
    forgot: bool,
    /// How many run, of each owner, without the latest; looking counts as running.
    running: HashMap<DelegateId, Load>,
    /// With the latest.
    running_total: Load,
    wakes: BTreeSet<(Timestamp, TaskKey)>,
    /// Which task a request waits for, unless it is the latest.
    waiting: BTreeMap<RequestId, TaskKey>,
}

/// How much runs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) tasks: usize,
    /// Of their messages.
    pub(super) bytes: usize,
}

impl Load {
    fn add(&mut self, weight: usize) {
        self.tasks += 1;
        self.bytes += weight;
    }

    fn remove(&mut self, weight: usize) {
        self.tasks -= 1;
        self.bytes -= weight;
    }
}

impl Tasks {
    pub(super) fn find(&self, key: &TaskKey) -> Option<Known> {
        match &self.latest {
            Some(latest) if latest.started.key == *key => Some(latest.started.known()),
            Some(_) | None => self.known.get(key).map(Task::known),
        }
    }

    pub(super) fn running_ref(&self, key: &TaskKey) -> Option<&Running> {
        if self.is_latest(key) {
            return self.latest.as_deref();
        }
        match self.known.get(key)? {
            Task::Running(running) => Some(running),
            Task::Looking(_) | Task::Ended(_) => None,
        }
    }

    pub(super) fn running_mut(&mut self, key: &TaskKey) -> Option<&mut Running> {
        if self.is_latest(key) {
            return self.latest.as_deref_mut();
        }
        match self.known.get_mut(key)? {
            Task::Running(running) => Some(running),
            Task::Looking(_) | Task::Ended(_) => None,
        }
    }

    /// How a task stands that has not ended, and who waits for it.
    pub(super) fn waited_for(&mut self, key: &TaskKey) -> Option<(Body, &mut Vec<Arc<Asker>>)> {
        self.settle();
        match self.known.get_mut(key)? {
            Task::Running(running) => Some((running.update(), &mut running.askers)),
            Task::Looking(looking) => {
                let update = Update::of_state(key.id.clone(), TaskState::Queued);
                Some((update, &mut looking.askers))
            }
            Task::Ended(_) => None,
        }
    }

    pub(super) fn running(&self) -> Load {
        self.running_total
    }

    pub(super) fn running_of(&self, owner: &DelegateId) -> Load {
        let mut load = self.running.get(owner).copied().unwrap_or_default();
        if let Some(latest) = self.latest.as_ref().filter(|it| it.started.key.owner == *owner) {
            load.add(latest.weight);
        }
        load
    }

    /// Only for a key that is not known.
    pub(super) fn look(&mut self, looking: Looking) {
        self.running_total.add(looking.weight);
        let key = looking.started.key.clone();
        self.put(key, Task::Looking(Box::new(looking)));
    }

    /// Only for a key that is not known.
    pub(super) fn run(&mut self, running: Running) {
        self.settle();
        self.running_total.add(running.weight);
        self.latest = Some(Box::new(running));
    }

    fn is_latest(&self, key: &TaskKey) -> bool {
        self.latest.as_ref().is_some_and(|latest| latest.started.key == *key)
    }

    /// Puts the latest task to those that run.
    fn settle(&mut self) {
        let Some(latest) = self.latest.take() else { return };
        let key = latest.started.key.clone();
        self.wakes.insert((latest.wakes_at, key.clone()));
        self.put(key, Task::Running(latest));
    }

    /// Takes out a task that was looked for. Nobody waits for it then.
    pub(super) fn take_looking(&mut self, key: &TaskKey) -> Option<Looking> {
        match self.known.get(key)? {
            Task::Looking(_) => match self.take(key)? {
                Task::Looking(looking) => Some(*looking),
                Task::Running(_) | Task::Ended(_) => None,
            },
            Task::Running(_) | Task::Ended(_) => None,
        }
    }

    /// Ends a running task; it stays known by its digest, and nobody waits for it then.
    pub(super) fn end(&mut self, key: &TaskKey, limits: &DelegateLimits) -> Option<Box<Running>> {
        let running = match self.latest.take_if(|latest| latest.started.key == *key) {
            Some(latest) => {
                self.running_total.remove(latest.weight);
                latest
            }
            None => {
                self.running_mut(key)?;
                let Some(Task::Running(running)) = self.take(key) else { return None };
                running
            }
        };
        self.know(key.clone(), running.started.known(), limits);
        Some(running)
    }

    /// A task that ended. The oldest are forgotten, which makes the store be asked from then on.
    pub(super) fn know(&mut self, key: TaskKey, known: Known, limits: &DelegateLimits) {
        self.settle();
        if self.known.insert(key.clone(), Task::Ended(known)).is_none() {
            self.ended.push_back(key);
        }
        while self.ended.len() > limits.finished {
            let Some(oldest) = self.ended.pop_front() else { return };
            self.known.remove(&oldest);
            self.fade(oldest.trace(), limits);
        }
    }

    /// A task that is known by its trace alone. With too many of them none is, and the store is asked
    /// about every id that is new.
    pub(super) fn fade(&mut self, trace: u64, limits: &DelegateLimits) {
        if self.forgot {
            return;
        }
        self.faded.insert(trace);
        if self.faded.len() > limits.faded {
            self.forget();
        }
    }

    pub(super) fn forget(&mut self) {
        self.forgot = true;
        self.faded = HashSet::new();
    }

    pub(super) fn has_forgotten(&self) -> bool {
        self.forgot
    }

    /// The traces of tasks that are known by them alone, in order.
    pub(super) fn all_faded(&self) -> Vec<u64> {
        let mut traces: Vec<u64> = self.faded.iter().copied().collect();
        traces.sort_unstable();
        traces
    }

    /// Whether the store may know a task that is not known here.
    pub(super) fn may_be_stored(&self, key: &TaskKey) -> bool {
        self.forgot || (!self.faded.is_empty() && self.faded.contains(&key.trace()))
    }

    /// Wakes the machine for this task then, and not before.
    pub(super) fn wake(&mut self, key: &TaskKey, at: Timestamp) {
        self.settle();
        let Some(Task::Running(running)) = self.known.get_mut(key) else { return };
        let before = std::mem::replace(&mut running.wakes_at, at);
        self.wakes.remove(&(before, key.clone()));
        self.wakes.insert((at, key.clone()));
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        let latest = self.latest.as_ref().map(|latest| latest.wakes_at);
        let first = self.wakes.first().map(|(at, _)| *at);
        first.into_iter().chain(latest).min()
    }

    /// The next task whose time has come. Its wake-up is used up.
    pub(super) fn next_due(&mut self, now: Timestamp) -> Option<TaskKey> {
        if self.next_wake()? > now {
            return None;
        }
        self.settle();
        self.wakes.pop_first().map(|(_, key)| key)
    }

    /// For who asks about a task that is [waited for](Self::waited_for).
    pub(super) fn wait(&mut self, request: RequestId, key: TaskKey) {
        self.waiting.insert(request, key);
    }

    pub(super) fn stop_waiting(&mut self, request: RequestId) -> Option<TaskKey> {
        self.settle();
        self.waiting.remove(&request)
    }

    /// Running tasks, by key.
    pub(super) fn all_running(&self) -> Vec<&Running> {
        let mut all: Vec<&Running> = self
            .known
            .values()
            .filter_map(|task| match task {
                Task::Running(running) => Some(&**running),
                Task::Looking(_) | Task::Ended(_) => None,
            })
            .chain(self.latest.as_deref())
            .collect();
        all.sort_unstable_by(|one, other| one.started.key.cmp(&other.started.key));
        all
    }

    /// Ended tasks, oldest first.
    pub(super) fn all_ended(&self) -> impl Iterator<Item = (&TaskKey, Known)> {
        self.ended.iter().filter_map(|key| match self.known.get(key)? {
            Task::Ended(known) => Some((key, *known)),
            Task::Looking(_) | Task::Running(_) => None,
        })
    }

    fn put(&mut self, key: TaskKey, task: Task) {
        for asker in task.askers() {
            self.waiting.insert(asker.request, key.clone());
        }
        self.running.entry(key.owner.clone()).or_default().add(task.weight());
        self.known.insert(key, task);
    }

    fn take(&mut self, key: &TaskKey) -> Option<Task> {
        let task = self.known.remove(key)?;
        if let Task::Running(running) = &task {
            self.wakes.remove(&(running.wakes_at, key.clone()));
        }
        for asker in task.askers() {
            self.waiting.remove(&asker.request);
        }
        let weight = task.weight();
        self.running_total.remove(weight);
        if let Some(load) = self.running.get_mut(&key.owner) {
            load.remove(weight);
            if load.tasks == 0 {
                self.running.remove(&key.owner);
            }
        }
        Some(task)
    }
}
