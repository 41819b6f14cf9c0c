//! Tasks on their way: sent, asked after, cancelled, and reported once.

use super::port::{Report, TaskRequest};
use super::sending::{Due, Exchange, Repeat, Step, doubled};
use super::{Initiator, Output, Phase};
use crate::contract::Violation;
use crate::envelope::{Body, Cancellation, Outcome, STATUS_QUERY, Submission, Update};
use crate::error::{LdpError, Refusal};
use crate::id::{SessionId, TaskId};
use crate::mode::PayloadMode;
use crate::moment::Moment;
use crate::provenance::VerificationStatus;

#[derive(Debug)]
pub(super) struct Task {
    pub(super) request: TaskRequest,
    pub(super) phase: TaskPhase,
    /// The session was opened again for it once.
    pub(super) reopened: bool,
    /// How often the session rested when it came.
    pub(super) rested: u32,
    cancelling: bool,
    wish: Wish,
    polls: u32,
    /// The number of the last update that was told.
    told: u64,
    /// Something new was told since it was sent last.
    is_moving: bool,
    /// How often in a row its stream broke soon.
    cuts: u32,
    /// The delegate may have begun with it: nobody else must be given it.
    may_run: bool,
}

/// What the delegate is wanted to do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Done,
    /// It may have it already, and is to leave it.
    Undone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskPhase {
    /// For the session.
    Waiting,
    /// A message about it is on its way, or will be after a pause.
    Under,
}

impl Initiator {
    pub(super) fn submit(&mut self, request: TaskRequest, wish: Wish, moment: &mut Moment) {
        let task = request.task_id.clone();
        if self.tasks.contains_key(&task) {
            // It is under way, and will be reported.
            return;
        }
        if self.phase == Phase::Closing || self.tasks.len() >= self.settings.patience.tasks {
            let error = match self.phase {
                Phase::Closing => super::over(),
                _ => Refusal::LimitReached.error("too many tasks are under way already"),
            };
            self.outputs.push_back(Output::Failed { task, error });
            return;
        }
        let deadline = request.contract.as_ref().and_then(|contract| contract.deadline.as_ref());
        if let Some(deadline) = deadline {
            let until = deadline.at.max(self.now).plus_millis(self.settings.patience.deadline_ms);
            self.at(until, Due::GiveUp(task.clone()));
        }
        let waiting = Task {
            request,
            phase: TaskPhase::Waiting,
            reopened: false,
            rested: 0,
            cancelling: wish == Wish::Undone,
            wish,
            polls: 0,
            told: 0,
            is_moving: false,
            cuts: 0,
            may_run: false,
        };
        self.tasks.insert(task.clone(), waiting);
        self.send_task(&task, 1, moment);
    }

    /// Sends a task in the mode that the session is in, or in the next that can say it.
    pub(super) fn send_task(&mut self, task: &TaskId, attempt: u32, moment: &mut Moment) {
        let (phase, resubmits) = (self.phase, self.settings.resubmits);
        let Some(waiting) = self.tasks.get_mut(task) else { return };
        let (Phase::Active, Some(agreed)) = (phase, &self.agreed) else {
            waiting.phase = TaskPhase::Waiting;
            return;
        };
        if waiting.wish == Wish::Undone {
            waiting.phase = TaskPhase::Under;
            return self.send_cancel(task, attempt, moment);
        }
        if waiting.may_run && !resubmits {
            waiting.phase = TaskPhase::Under;
            return self.poll(task, attempt, moment);
        }
        let mut sayable = None;
        for mode in agreed.modes.iter().skip(agreed.at) {
            if let Ok(payload) = waiting.request.payload.to_mode(*mode) {
                sayable = Some((*mode, payload));
                break;
            }
        }
        let Some((mode, payload)) = sayable else {
            let error = Refusal::FrameInvalid.error("no mode of the session can say this task");
            return self.report_failed(task, error);
        };
        waiting.phase = TaskPhase::Under;
        waiting.is_moving = false;
        let submission = Submission {
            task_id: task.clone(),
            skill: waiting.request.skill.clone(),
            input: payload.to_value(),
            contract: waiting.request.contract.clone(),
            delegation_path: waiting.request.delegation_path.clone(),
        };
        let cancelling = waiting.cancelling;
        let seal = self.seal();
        let mut envelope = self.envelope(Body::TaskSubmit(submission), &seal, moment);
        envelope.payload_mode = mode;
        self.send(envelope, seal, Step::Submit(task.clone()), attempt);
        if cancelling {
            self.send_cancel(task, 1, moment);
        }
    }

    pub(super) fn poll(&mut self, task: &TaskId, attempt: u32, moment: &mut Moment) {
        if self.is_held(task) {
            return;
        }
        let query = Update {
            task_id: task.clone(),
            progress: None,
            message: Some(STATUS_QUERY.to_owned()),
            state: None,
            seq: None,
        };
        self.say(Body::TaskUpdate(query), Step::Poll(task.clone()), attempt, moment);
    }

    pub(super) fn cancel(&mut self, task: &TaskId, moment: &mut Moment) {
        let Some(known) = self.tasks.get_mut(task) else { return };
        if std::mem::replace(&mut known.cancelling, true) {
            return;
        }
        match known.phase {
            // It was never sent in this session, and perhaps in none.
            TaskPhase::Waiting if self.agreed.is_none() => {
                let error = Refusal::Cancelled.error("cancelled before it was sent");
                self.report_failed(task, error);
            }
            TaskPhase::Waiting => {}
            TaskPhase::Under => self.send_cancel(task, 1, moment),
        }
    }

    pub(super) fn send_cancel(&mut self, task: &TaskId, attempt: u32, moment: &mut Moment) {
        if self.is_held(task) {
            return;
        }
        let body = Body::TaskCancel(Cancellation { task_id: task.clone() });
        self.say(body, Step::Cancel(task.clone()), attempt, moment);
    }

    /// While the session rests or is opened, a task waits; it is sent again under its id then, which
    /// gives its state.
    fn is_held(&mut self, task: &TaskId) -> bool {
        let phase = self.phase;
        let Some(known) = self.tasks.get_mut(task) else { return true };
        if phase != Phase::Active {
            known.phase = TaskPhase::Waiting;
        }
        phase != Phase::Active
    }

    /// The delegate says that the task still runs: it is asked again after a pause.
    pub(super) fn running(&mut self, update: &Update) {
        self.tell(update);
        let patience = &self.settings.patience;
        let Some(known) = self.tasks.get_mut(&update.task_id) else { return };
        let pause = doubled(patience.poll_ms, known.polls, patience.longest_poll_ms);
        known.polls = known.polls.saturating_add(1);
        let step = Repeat::Poll(update.task_id.clone());
        self.at(self.now.plus_millis(pause), Due::Again(step, 1));
    }

    /// Passes an update on, once.
    pub(super) fn tell(&mut self, update: &Update) {
        let Some(known) = self.tasks.get_mut(&update.task_id) else { return };
        known.may_run = true;
        if let Some(seq) = update.seq {
            if seq <= known.told {
                return;
            }
            known.told = seq;
            // Without a number it may be the same again.
            known.is_moving = true;
        }
        self.outputs.push_back(Output::Progress(update.clone().into()));
    }

    /// Counts that what carried a task broke off after so long; whether it had brought something.
    pub(super) fn was_cut(&mut self, task: &TaskId, lasted_ms: u64) -> bool {
        let is_soon = lasted_ms < self.settings.patience.longest_pause_ms;
        let Some(known) = self.tasks.get_mut(task) else { return false };
        known.cuts = if is_soon { known.cuts.saturating_add(1) } else { 1 };
        known.is_moving
    }

    pub(super) fn cuts(&self, task: &TaskId) -> u32 {
        self.tasks.get(task).map_or(0, |known| known.cuts)
    }

    /// Nobody can tell what became of a message. If it was a task, it may be done by now.
    pub(super) fn may_have_arrived(&mut self, exchange: &Exchange) {
        if let Step::Submit(task) = &exchange.step
            && let Some(known) = self.tasks.get_mut(task)
        {
            known.may_run = true;
        }
    }

    pub(super) fn may_run(&self, task: &TaskId) -> bool {
        self.tasks.get(task).is_some_and(|known| known.may_run) || self.is_submitting(task)
    }

    pub(super) fn is_submitting(&self, task: &TaskId) -> bool {
        let mut steps = self.exchanges.values().map(|exchange| &exchange.step);
        steps.any(|step| matches!(step, Step::Submit(other) if other == task))
    }

    pub(super) fn deadline_passed(&mut self, task: &TaskId, moment: &mut Moment) {
        if !self.tasks.contains_key(task) {
            return;
        }
        self.send_cancel(task, self.settings.patience.attempts, moment);
        let name = Violation::DeadlineExceeded.wire_name();
        let error = format!("{name}: the delegate did not answer before the deadline");
        self.report_failed(task, Refusal::ContractViolated.error(error));
    }

    /// The way to the delegate failed. A task that it may have begun with is not to be given to
    /// somebody else.
    pub(super) fn report_lost(&mut self, task: &TaskId, why: LdpError) {
        let why = if self.may_run(task) { interrupted(&why) } else { why };
        self.report_failed(task, why);
    }

    pub(super) fn report_failed(&mut self, task: &TaskId, error: LdpError) {
        // Codes that allow another try are about messages and sessions, never about what was done.
        let is_about_way = error.refusal().is_some_and(Refusal::is_retryable);
        let error = if is_about_way && self.may_run(task) { interrupted(&error) } else { error };
        if self.tasks.remove(task).is_some() {
            self.outputs.push_back(Output::Failed { task: task.clone(), error });
        }
    }

    /// What the delegate says about its own verification is not passed on.
    pub(super) fn report_done(
        &mut self,
        mut outcome: Outcome,
        mode: PayloadMode,
        session: Option<SessionId>,
    ) {
        let agreed = self.agreed.as_ref().map(|agreed| agreed.session.clone());
        let Some(session) = session.or(agreed) else { return };
        if self.tasks.remove(&outcome.task_id).is_some() {
            outcome.provenance.verification = VerificationStatus::Unverified;
            outcome.provenance.verified_by = None;
            let report = Report { outcome, mode, session };
            self.outputs.push_back(Output::Done(Box::new(report)));
        }
    }
}

fn interrupted(why: &LdpError) -> LdpError {
    let LdpError { code, message, category, .. } = why;
    let words = format!("it was sent, and may have been done ({code}: {message})");
    // Where the way failed, it is not the delegate's word that it was cut short.
    LdpError { category: *category, ..Refusal::Interrupted.error(words) }
}
