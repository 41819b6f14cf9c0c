//! Tasks while they run, and how they end: updates, budgets, deadlines, results.

use serde_json::Value;

use super::answers::failed;
use super::record::{Ending, HowEnded, Record, TaskEnded, TaskKey, TaskUpdated};
use super::tasks::{Running, Stopping};
use super::{Delegate, Finished, Output, StopReason, TaskEvent};
use crate::card::IdentityCard;
use crate::contract::{FailurePolicy, Violation};
use crate::envelope::TaskState;
use crate::error::{LdpError, Refusal};
use crate::id::SessionId;
use crate::moment::Moment;
use crate::provenance::{LineageHop, Provenance, VerificationStatus};
use crate::time::{Stamp, Timestamp};
use crate::value::Score;

impl Delegate {
    pub(super) fn take_event(&mut self, key: &TaskKey, event: TaskEvent, moment: &mut Moment) {
        // Late news from a task that was cancelled, or was never ours.
        let Some(running) = self.tasks.running_mut(key) else { return };
        match event {
            TaskEvent::Progress { message, progress } => {
                self.update(key, TaskState::Working, message, progress, moment);
            }
            TaskEvent::WaitingForApproval { what } => {
                self.update(key, TaskState::WaitingForApproval, Some(what), None, moment);
            }
            TaskEvent::Usage(usage) => {
                running.usage = running.usage.at_least(usage);
                self.check_budget(key);
            }
            TaskEvent::Finished(finished) => {
                running.usage = running.usage.at_least(finished.usage);
                self.finish(key, *finished, moment);
            }
            TaskEvent::Failed { error, usage } => {
                running.usage = running.usage.at_least(usage);
                self.fail(key, error, moment);
            }
        }
    }

    /// Ends sessions that have outlived their time, and stops tasks whose deadline has come.
    pub(super) fn tick(&mut self, moment: &mut Moment) {
        while let Some(key) = self.tasks.next_due(self.now) {
            match self.tasks.running_mut(&key) {
                Some(running) if running.stopping.is_some() => {
                    // It had its time to say what there was.
                    self.fail(&key, Refusal::TaskFailed.error("stopped"), moment);
                }
                Some(running) => {
                    let stopping = if running.deadline_passed(self.now) {
                        Stopping::Violated(vec![Violation::DeadlineExceeded])
                    } else {
                        Stopping::TooLong
                    };
                    self.stop(&key, stopping);
                }
                None => {}
            }
        }
        while let Some(id) = self.sessions.next_over(self.now, &self.settings.limits) {
            self.end_session(&id, HowEnded::Expired, moment);
        }
    }

    /// Ends a session; what still runs in it is cancelled.
    pub(super) fn end_session(&mut self, id: &SessionId, how: HowEnded, moment: &mut Moment) {
        let Some(session) = self.sessions.find(id) else { return };
        let (owner, shown) = (session.owner.clone(), session.claim.shown);
        for task in session.running().to_vec() {
            let key = TaskKey { owner: owner.clone(), id: task };
            self.cancel_task(&key, "the session was closed", moment);
        }
        self.sessions.end(id, how, &self.settings.limits);
        self.record(Record::SessionEnded { session: id.clone(), owner, how, shown, at: self.now });
    }

    /// Stops a task for which nobody waits any more. Whoever still does is told.
    pub(super) fn cancel_task(&mut self, key: &TaskKey, why: &str, moment: &mut Moment) {
        let error = Refusal::Cancelled.error(why);
        if let Some(looking) = self.tasks.take_looking(key) {
            // It never started: there is nothing to stop, and the id is not used up.
            if let Some(session) = self.sessions.find_mut(&looking.started.session) {
                session.forget_task(&key.id);
            }
            for asker in &looking.askers {
                self.reply(asker, failed(&key.id, error.clone()), moment);
            }
        } else if self.tasks.running_mut(key).is_some() {
            self.end_task(key, Ending::Failed(error), moment);
            let why = StopReason::Cancelled;
            self.outputs.push_back(Output::Stop { key: key.clone(), why });
        }
    }

    fn update(
        &mut self,
        key: &TaskKey,
        state: TaskState,
        message: Option<String>,
        progress: Option<f64>,
        moment: &mut Moment,
    ) {
        let limits = &self.settings.limits;
        let Some(running) = self.tasks.running_mut(key) else { return };
        if running.stopping.is_some() || running.seq >= limits.updates {
            return;
        }
        let message = message.map(|text| shortened(text, limits.update_bytes));
        let progress = progress.filter(|progress| progress.is_finite());
        running.seq += 1;
        running.state = state;
        running.message.clone_from(&message);
        running.progress = progress;
        let body = running.update();
        let sender = running.sender.clone();
        let updated = TaskUpdated {
            key: key.clone(),
            seq: running.seq,
            state,
            message,
            progress,
            at: self.now,
        };
        let seq = updated.seq;
        self.record(Record::Updated(Box::new(updated)));
        // After a restart nobody is known to whom it could be sent; who follows reads the records.
        let Some(asker) = sender else { return };
        let envelope = Box::new(self.envelope(&asker, body, moment));
        self.outputs.push_back(Output::Update {
            key: key.clone(),
            seq,
            envelope,
            seal: asker.seal.clone(),
        });
    }

    fn check_budget(&mut self, key: &TaskKey) {
        let Some(running) = self.tasks.running_mut(key) else { return };
        if running.stopping.is_some() {
            return;
        }
        let mut violations: Vec<Violation> = running.over_budget().collect();
        if violations.is_empty() {
            let usage = running.usage;
            let session = running.started.session.clone();
            let Some(session) = self.sessions.find(&session) else { return };
            violations
                .extend(session.spent.plus(usage).beyond(self.settings.limits.session_budget));
        }
        if !violations.is_empty() {
            self.stop(key, Stopping::Violated(violations));
        }
    }

    /// Stops a running task; what it had is awaited for a while.
    fn stop(&mut self, key: &TaskKey, stopping: Stopping) {
        let Some(running) = self.tasks.running_mut(key) else { return };
        running.stopping = Some(stopping);
        self.tasks.wake(key, self.now.plus_millis(self.settings.limits.stop_ms));
        let why = StopReason::Violated;
        self.outputs.push_back(Output::Stop { key: key.clone(), why });
    }

    fn finish(&mut self, key: &TaskKey, finished: Finished, moment: &mut Moment) {
        let Some(running) = self.tasks.running_mut(key) else { return };
        let violations = match running.stopping.take() {
            Some(Stopping::TooLong) => {
                let error = with_output(too_long(), finished.output);
                return self.end_task(key, Ending::Failed(error), moment);
            }
            Some(Stopping::Violated(violations)) => {
                violations.into_iter().map(|it| it.wire_name().to_owned()).collect()
            }
            None => running.broken(&finished, self.now),
        };
        let closed = running.failure_policy() == FailurePolicy::FailClosed;
        let stopped_empty = finished.output.is_null() && !violations.is_empty();
        let ending = if !violations.is_empty() && (closed || stopped_empty) {
            Ending::Failed(with_output(violated(&violations), finished.output))
        } else {
            let card = &self.settings.card;
            let provenance = provenance(card, running, &finished, violations, self.now);
            Ending::Result { output: finished.output, provenance: Box::new(provenance) }
        };
        self.end_task(key, ending, moment);
    }

    fn fail(&mut self, key: &TaskKey, error: LdpError, moment: &mut Moment) {
        let Some(running) = self.tasks.running_mut(key) else { return };
        match running.stopping {
            None => self.end_task(key, Ending::Failed(error), moment),
            // It was stopped, and this is what there was.
            Some(_) => {
                let output = error.partial_output.unwrap_or(Value::Null);
                let finished = Finished { output, ..Finished::default() };
                self.finish(key, finished, moment);
            }
        }
    }

    pub(super) fn end_task(&mut self, key: &TaskKey, ending: Ending, moment: &mut Moment) {
        let Some(running) = self.tasks.end(key, &self.settings.limits) else { return };
        let Running { started, askers, usage, .. } = *running;
        if let Some(session) = self.sessions.find_mut(&started.session) {
            session.end_task(&key.id, usage, self.now, &self.settings.limits);
        }
        let body = ending.body(&key.id);
        let ended = TaskEnded {
            key: key.clone(),
            session: started.session,
            digest: started.digest,
            mode: started.mode,
            ending,
            usage,
            authentication: started.authentication,
            shown: started.shown,
            at: self.now,
        };
        self.record(Record::Ended(Box::new(ended)));
        let Some((last, others)) = askers.split_last() else { return };
        for asker in others {
            self.reply(asker, body.clone(), moment);
        }
        self.reply(last, body, moment);
    }
}

/// What was measured. That somebody verified the result is for others to say.
fn provenance(
    card: &IdentityCard,
    running: &Running,
    finished: &Finished,
    violations: Vec<String>,
    now: Timestamp,
) -> Provenance {
    let model_version =
        finished.model_version.clone().unwrap_or_else(|| card.model_version.clone());
    let started = &running.started;
    let stamp = Stamp::from(now);
    let hop = LineageHop {
        delegate_id: card.delegate_id.clone(),
        model_version: model_version.clone(),
        step: started.skill.as_str().to_owned(),
        timestamp: Some(stamp.clone()),
        verification: VerificationStatus::Unverified,
    };
    let earlier = finished.lineage.iter().take(MAX_LINEAGE - 1).cloned();
    let mut provenance = Provenance::new(card.delegate_id.clone(), model_version, started.mode);
    provenance.confidence = finished.confidence.and_then(Score::new);
    provenance.session_id = Some(started.session.clone());
    provenance.timestamp = Some(stamp);
    provenance.tokens_used = running.usage.tokens;
    provenance.cost_usd = running.usage.cost_usd;
    provenance.latency_ms = Some(now.distance_millis(started.at));
    if let Some(contract) = &started.contract {
        provenance.contract_id = Some(contract.contract_id.clone());
        // What nobody measured is neither kept nor broken.
        let is_known = !violations.is_empty() || running.usage.covers(contract.policy.budget);
        provenance.contract_satisfied = is_known.then_some(violations.is_empty());
    }
    provenance.contract_violations = violations;
    provenance.lineage = std::iter::once(hop).chain(earlier).collect();
    provenance
}

fn violated(violations: &[String]) -> LdpError {
    Refusal::ContractViolated.error(violations.join(", "))
}

fn too_long() -> LdpError {
    Refusal::LimitReached.error("the task ran longer than this node lets any task run")
}

fn with_output(mut error: LdpError, output: Value) -> LdpError {
    error.partial_output = (!output.is_null()).then_some(output);
    error
}

/// Cut at a character, with a mark that it was.
fn shortened(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = text.floor_char_boundary(most);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Hops beyond this say nothing that a reader could follow.
const MAX_LINEAGE: usize = 64;
