//! The machine under its lock, and one turn of it: an input goes in, records and effects come out in
//! their order. It knows the protocol's machine and skills that take no time, and touches nothing.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Weak};

use sabir_ldp::{
    Delegate, DelegateInput, DelegateOutput, Moment, Record, RequestId, SkillName, StopReason,
    TaskEvent, TaskKey, TaskOrder, TaskUpdated, Timestamp,
};
use sabir_telemetry::TraceContext;
use tokio::sync::oneshot;

use super::answer::Answer;
use super::entrance::Arrival;
use super::keys::Keys;
use super::notary::{Notary, Reply};
use super::skill::Skill;
use super::topic::Topic;
use super::watched;

#[derive(Debug)]
pub(super) struct Machine {
    pub(super) delegate: Delegate,
    pub(super) waiting: HashMap<RequestId, Waiter>,
    /// Tasks whose streams somebody follows.
    pub(super) topics: HashMap<TaskKey, Weak<Topic>>,
    /// When somebody will wake it; it is to be woken no later than it wants.
    pub(super) wakes_at: Option<Timestamp>,
    /// Empty: where messages are taken in from, again and again.
    pub(super) arrivals: VecDeque<Arrival>,
    keys: Keys,
    notary: Notary,
}

/// Who waits for an answer.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) reply: oneshot::Sender<Box<Answer>>,
    /// Told when the task may be followed.
    pub(super) admitted: Option<oneshot::Sender<()>>,
    /// What its message is part of.
    pub(super) trace: Option<TraceContext>,
}

/// What is to be done once the records of its turn are on disk.
#[derive(Debug)]
pub(super) enum Effect {
    Reply(Reply),
    Admit(oneshot::Sender<()>),
    Start(Box<TaskOrder>, Option<TraceContext>),
    Stop(TaskKey, StopReason),
    Update(Arc<Topic>, Arc<TaskUpdated>),
    Recall(RequestId, TaskKey),
}

/// What one input led to.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) records: Vec<Record>,
    pub(super) effects: Vec<Effect>,
}

type Skills = BTreeMap<SkillName, Arc<dyn Skill>>;

impl Machine {
    pub(super) fn new(delegate: Delegate, notary: Notary) -> Self {
        let (waiting, topics) = (HashMap::new(), HashMap::new());
        let keys = Keys::of_all(&delegate);
        let arrivals = VecDeque::new();
        Self { delegate, waiting, topics, wakes_at: None, arrivals, keys, notary }
    }

    pub(super) fn wait(&mut self, request: RequestId, waiter: Waiter) {
        self.waiting.insert(request, waiter);
    }

    /// Who signs what it answers.
    pub(super) fn notary(&self) -> Notary {
        self.notary.clone()
    }

    /// Those of its open sessions, as they are at any time.
    pub(super) fn keys(&self) -> Keys {
        self.keys.clone()
    }

    /// The topic of a task, for one who follows it.
    pub(super) fn topic(&mut self, key: &TaskKey) -> Arc<Topic> {
        if let Some(topic) = self.topics.get(key).and_then(Weak::upgrade) {
            return topic;
        }
        let topic = Arc::new(Topic::default());
        self.topics.insert(key.clone(), Arc::downgrade(&topic));
        topic
    }

    /// Forgets a topic that nobody follows any more.
    pub(super) fn leave(&mut self, key: &TaskKey) {
        if self.topics.get(key).is_some_and(|topic| topic.strong_count() == 0) {
            self.topics.remove(key);
        }
    }

    pub(super) fn take(
        &mut self,
        input: DelegateInput,
        skills: &Skills,
        moment: &mut Moment,
    ) -> Turn {
        let asking = match &input {
            DelegateInput::Message { request, .. } | DelegateInput::Recalled { request, .. } => {
                Some(*request)
            }
            DelegateInput::Malformed { .. }
            | DelegateInput::Task { .. }
            | DelegateInput::GiveUp { .. }
            | DelegateInput::Tick => None,
        };
        // Who is answered waits no longer: what it was part of is asked for before.
        let trace = asking.and_then(|request| self.waiting.get(&request)?.trace);
        self.delegate.handle(input, moment);
        let mut turn = self.drain(skills, moment, trace);
        // A request that is neither refused nor answered waits for its task, or for the store.
        let recalls = |effect: &Effect| matches!(effect, Effect::Recall(..));
        if let Some(request) = asking
            && !turn.effects.iter().any(recalls)
            && let Some(waiter) = self.waiting.get_mut(&request)
            && let Some(admitted) = waiter.admitted.take()
        {
            turn.effects.push(Effect::Admit(admitted));
        }
        turn
    }

    /// Everything that the machine has put out.
    pub(super) fn drain(
        &mut self,
        skills: &Skills,
        moment: &mut Moment,
        trace: Option<TraceContext>,
    ) -> Turn {
        let mut turn = Turn::default();
        let mut is_refused = false;
        while let Some(output) = self.delegate.poll_output() {
            match output {
                DelegateOutput::Record(record) => {
                    is_refused |= matches!(*record, Record::Refused(_));
                    self.keys.follow(&self.delegate, &record);
                    if let Record::Updated(updated) = &*record
                        && let Some(topic) = self.topics.get(&updated.key).and_then(Weak::upgrade)
                    {
                        turn.effects.push(Effect::Update(topic, Arc::new((**updated).clone())));
                    }
                    // Nothing more is told of it. Who leaves may be too early for that: updates on
                    // their way hold the topic.
                    if let Record::Ended(ended) = &*record {
                        self.topics.remove(&ended.key);
                        watched::ended(&ended.ending);
                    }
                    turn.records.push(*record);
                }
                DelegateOutput::Reply { request, envelope, seal } => {
                    // Who has hung up is not answered.
                    if let Some(waiter) = self.waiting.remove(&request) {
                        let answer = Answer { envelope, seal, is_refused };
                        let reply = self.notary.take(Box::new(answer), waiter.reply);
                        turn.effects.push(Effect::Reply(reply));
                    }
                }
                DelegateOutput::Start(order) => match at_once(&order, skills) {
                    Some(event) => {
                        watched::done_at_once(&order);
                        let key = order.key.clone();
                        // What it shares with the delegate is the delegate's alone from here on.
                        drop(order);
                        let input = DelegateInput::Task { key, event };
                        self.delegate.handle(input, moment);
                    }
                    None => turn.effects.push(Effect::Start(order, trace)),
                },
                DelegateOutput::Stop { key, why } => turn.effects.push(Effect::Stop(key, why)),
                // Followers are told what was recorded, each in its own seal.
                DelegateOutput::Update { .. } => {}
                DelegateOutput::Recall { request, key } => {
                    turn.effects.push(Effect::Recall(request, key));
                }
            }
        }
        turn
    }
}

/// What comes of a task that takes no time. Criteria may take some.
fn at_once(order: &TaskOrder, skills: &Skills) -> Option<TaskEvent> {
    let has_criteria =
        order.contract.as_ref().is_some_and(|contract| !contract.success_criteria.is_empty());
    let skill = skills.get(&order.skill).filter(|_| !has_criteria)?;
    skill.at_once(order).map(|finished| TaskEvent::Finished(Box::new(finished)))
}
