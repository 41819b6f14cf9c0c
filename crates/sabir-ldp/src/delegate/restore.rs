//! A delegate from its records, and the records of a delegate.

use std::sync::Arc;

use super::claim::Claim;
use super::record::{Ending, Record, Seen, TaskKey, TaskUpdated};
use super::sessions::{Past, SessionState};
use super::tasks::{Known, Running};
use super::{Delegate, DelegateSettings, Output, TaskOrder, TaskStart};
use crate::error::Refusal;
use crate::moment::Moment;
use crate::payload::Payload;
use crate::replay::ReplayWindow;

impl Delegate {
    /// The delegate that wrote these records, in their order. What ran when they end was interrupted:
    /// that comes out as records, which are to be stored before anything else is handled, and for tasks
    /// that last as orders to start them once more.
    pub fn restore(
        settings: DelegateSettings,
        records: impl IntoIterator<Item = Record>,
        moment: &mut Moment,
    ) -> Self {
        let mut delegate = Self::new(settings);
        delegate.now = moment.now();
        let mut seen = Vec::new();
        for record in records {
            if let Record::Seen(Seen { replay, session, at }) = record {
                seen.push(replay);
                if let Some(session) = session.and_then(|id| delegate.sessions.find_mut(&id)) {
                    session.touch(at);
                }
            } else {
                delegate.replay_record(record);
            }
        }
        delegate.replay = ReplayWindow::restore(delegate.settings.replay, seen, delegate.now);
        let running = delegate.tasks.all_running();
        let cut_off: Vec<TaskKey> =
            running.into_iter().map(|running| running.started.key.clone()).collect();
        // All of them before any ends: what the stop cut off beside a task was not its past when it was
        // ordered, whichever comes first here.
        let orders: Vec<Option<TaskOrder>> =
            cut_off.iter().map(|key| delegate.order_again(key)).collect();
        for (key, order) in cut_off.into_iter().zip(orders) {
            if let Some(order) = order {
                delegate.outputs.push_back(Output::Start(Box::new(order)));
                continue;
            }
            let mut error = Refusal::Interrupted
                .error("the node stopped while the task ran; nobody knows how far it came");
            // Under another id, by a caller who knows that it may have been done already.
            error.retryable = true;
            delegate.end_task(&key, Ending::Failed(error), moment);
        }
        delegate
    }

    /// The order of a task that lasts, as it was given.
    fn order_again(&self, key: &TaskKey) -> Option<TaskOrder> {
        let started = &self.tasks.running_ref(key)?.started;
        if !self.settings.lasting.contains(&started.skill) {
            return None;
        }
        // What cannot be read any more cannot be done any more.
        let payload = Payload::check(started.mode, started.input.as_ref()?).ok()?;
        let session = self.sessions.find(&started.session)?;
        Some(TaskOrder {
            key: key.clone(),
            session: started.session.clone(),
            skill: started.skill.clone(),
            mode: started.mode,
            payload,
            contract: started.contract.clone(),
            history: Arc::clone(&session.history),
            delegation_path: Arc::clone(&started.delegation_path),
            deadline: started.deadline,
            started_at: started.at,
            start: TaskStart::Again,
        })
    }

    /// Records that restore to what this delegate is now, without its past.
    pub fn snapshot(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for (id, past) in self.sessions.all_past() {
            let Past { owner, how, shown } = past;
            let (session, owner, how, shown) = (id.clone(), owner.clone(), *how, *shown);
            records.push(Record::SessionEnded { session, owner, how, shown, at: self.now });
        }
        for (id, session) in self.sessions.all() {
            let opened = session.opened(id);
            let (negotiated, at) = (opened.mode, opened.at);
            records.push(Record::Opened(Box::new(opened)));
            if session.mode != negotiated {
                records.push(Record::SteppedDown { session: id.clone(), mode: session.mode });
            }
            if session.state == SessionState::Suspended {
                records.push(Record::Suspended { session: id.clone(), at });
            }
        }
        let traces = self.tasks.all_faded();
        if self.tasks.has_forgotten() {
            records.push(Record::Forgot);
        } else if !traces.is_empty() {
            records.push(Record::Faded { traces });
        }
        for (key, Known { digest, claim }) in self.tasks.all_ended() {
            let Claim { authentication, shown } = claim;
            records.push(Record::Known { key: key.clone(), digest, authentication, shown });
        }
        for running in self.tasks.all_running() {
            records.push(Record::Started(Box::new(running.started.clone())));
            if running.seq > 0 {
                let updated = TaskUpdated {
                    key: running.started.key.clone(),
                    seq: running.seq,
                    state: running.state,
                    message: running.message.clone(),
                    progress: running.progress,
                    at: self.now,
                };
                records.push(Record::Updated(Box::new(updated)));
            }
        }
        let marks = self.replay.marks(&self.settings.card.delegate_id);
        let seen = marks.chain(self.replay.records());
        records
            .extend(seen.map(|replay| Record::Seen(Seen { replay, session: None, at: self.now })));
        records
    }

    fn replay_record(&mut self, record: Record) {
        let limits = &self.settings.limits;
        match record {
            Record::Opened(opened) => self.sessions.open(*opened),
            Record::SteppedDown { session, mode } => {
                if let Some(session) = self.sessions.find_mut(&session) {
                    session.mode = mode;
                }
            }
            Record::Suspended { session, at } => self.sessions.suspend(&session, at, limits),
            Record::Resumed { session: id, keys, at } => {
                self.sessions.resume(&id, at, limits);
                if let Some(session) = self.sessions.find_mut(&id)
                    && keys.is_some()
                {
                    session.keys = keys;
                }
            }
            Record::SessionEnded { session, owner, how, shown, .. } => {
                self.sessions.end(&session, how, limits);
                self.sessions.bury(session, Past { owner, how, shown }, limits);
            }
            // A record that is read twice must not count twice.
            Record::Started(started) if self.tasks.find(&started.key).is_some() => {}
            Record::Started(started) => {
                self.sessions.begin_task(&started.session, started.key.id.clone());
                if let Some(session) = self.sessions.find_mut(&started.session) {
                    session.touch(started.at);
                }
                self.tasks.run(Running::new(*started, Vec::new(), 0));
            }
            Record::Updated(updated) => {
                if let Some(running) = self.tasks.running_mut(&updated.key) {
                    running.seq = updated.seq;
                    running.state = updated.state;
                    running.message = updated.message;
                    running.progress = updated.progress;
                }
            }
            Record::Ended(ended) => {
                if let Some(session) = self.sessions.find_mut(&ended.session) {
                    session.end_task(&ended.key.id, ended.usage, ended.at, limits);
                }
                if self.tasks.end(&ended.key, limits).is_none() {
                    let known = Known { digest: ended.digest, claim: ended.claim() };
                    self.tasks.know(ended.key, known, limits);
                }
            }
            Record::Known { key, digest, authentication, shown } => {
                let claim = Claim { authentication, shown };
                self.tasks.know(key, Known { digest, claim }, limits);
            }
            Record::Faded { traces } => {
                traces.into_iter().for_each(|trace| self.tasks.fade(trace, limits));
            }
            Record::Forgot => self.tasks.forget(),
            // What these say is kept for people, or was counted before.
            Record::Seen(_) | Record::Attested(_) | Record::Refused(_) => {}
        }
    }
}
