//! Answers: whether they belong, and what follows from them.

use super::sending::{Exchange, Repeat, Step};
use super::tasks::TaskPhase;
use super::{ExchangeId, Initiator, Phase};
use crate::delegate::{Declined, authentication};
use crate::envelope::{Body, Failure, Received, Recipient, TaskState};
use crate::error::{LdpError, Refusal};
use crate::id::TaskId;
use crate::mode::PayloadMode;
use crate::moment::Moment;
use crate::replay::ReplayLimits;
use crate::trust::Standing;

impl Initiator {
    pub(super) fn take_answer(
        &mut self,
        id: ExchangeId,
        received: &Received,
        standing: Result<Standing, Declined>,
        moment: &mut Moment,
    ) {
        // A second answer, or one that came too late.
        let Some(exchange) = self.settle(id) else { return };
        if let Err(declined) = self.check_sender(received, standing) {
            self.may_have_arrived(&exchange);
            return self.refused(&exchange, declined.error(), moment);
        }
        let placed = check_place(received, &exchange).and_then(|()| self.check_mode(received));
        if let Err(why) = placed {
            self.may_have_arrived(&exchange);
            let (step, attempt) = (exchange.step.repeat(), exchange.attempt);
            return self.try_again(step, attempt, super::transport_failed(why), moment);
        }
        self.take(exchange, received, moment);
    }

    /// An update on a stream.
    pub(super) fn take_news(&mut self, received: &Received, standing: Result<Standing, Declined>) {
        let session = self.agreed.as_ref().map(|agreed| &agreed.session);
        let belongs = self.check_sender(received, standing).is_ok()
            && (received.envelope.session_id.is_none()
                || received.envelope.session_id.as_ref() == session);
        if let Body::TaskUpdate(update) = &received.envelope.body
            && belongs
        {
            self.tell(update);
        }
    }

    /// From the delegate, as sure as it must be, and for us.
    fn check_sender(
        &self,
        received: &Received,
        standing: Result<Standing, Declined>,
    ) -> Result<(), Declined> {
        let standing = standing?;
        self.check_time(received)?;
        if authentication(&standing) < self.settings.required {
            return Err(
                Refusal::SignatureRequired.because("the answer is not signed as it must be")
            );
        }
        let envelope = &received.envelope;
        let agreed = self.agreed.as_ref().map(|agreed| &agreed.delegate);
        if let Some(expected) = agreed.or(self.settings.expected.as_ref())
            && *expected != envelope.from
        {
            let error = format!("the answer is from {}, not from {expected}", envelope.from);
            return Err(Refusal::BadSignature.because(error));
        }
        match &envelope.to {
            Recipient::Delegate(to) if *to != self.settings.delegate_id => {
                Err(Refusal::WrongRecipient.because(format!("the answer is for {to}")))
            }
            Recipient::Delegate(_) | Recipient::Address(_) | Recipient::Unnamed => Ok(()),
        }
    }

    /// An answer is as old as the question at most: what was said long ago is somebody's copy. News on
    /// a stream may have waited until the stream was taken up again.
    fn check_time(&self, received: &Received) -> Result<(), Declined> {
        if matches!(received.envelope.body, Body::TaskUpdate(_)) {
            return Ok(());
        }
        let sent_at = received.envelope.timestamp.at;
        let checked = ReplayLimits::default().check_time(sent_at, self.now);
        checked.map_err(|fault| fault.refusal().because(fault.to_string()))
    }

    /// A result is in a mode that was agreed on. Text is always one.
    fn check_mode(&self, received: &Received) -> Result<(), &'static str> {
        let mode = received.envelope.payload_mode;
        let agreed = self.agreed.as_ref().is_none_or(|agreed| agreed.modes.contains(&mode));
        match &received.envelope.body {
            Body::TaskResult(_) if !agreed && mode != PayloadMode::Text => {
                Err("the answer is in a mode that was not negotiated")
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, exchange: Exchange, received: &Received, moment: &mut Moment) {
        match (&exchange.step, &received.envelope.body) {
            (Step::Hello, Body::CapabilityManifest(_)) => self.propose(None, 1, moment),
            (Step::Propose { share, .. }, Body::SessionAccept(acceptance)) => {
                self.take_acceptance(received, acceptance, share.as_ref(), moment);
            }
            (Step::Hello | Step::Propose { .. }, Body::SessionReject(rejection)) => {
                let told = Refusal::TaskFailed.error(rejection.reason.clone());
                self.refused(&exchange, rejection.error.clone().unwrap_or(told), moment);
            }
            (Step::Submit(_) | Step::Poll(_) | Step::Cancel(_), Body::TaskResult(outcome)) => {
                self.report_done(outcome.clone(), exchange.mode, exchange.session);
            }
            (Step::Submit(_) | Step::Poll(_), Body::TaskUpdate(update)) => {
                // Cancelled by somebody else, in one dialect.
                if update.state == Some(TaskState::Cancelled) {
                    self.report_failed(&update.task_id, cancelled());
                } else {
                    self.running(update);
                }
            }
            (Step::Cancel(task), Body::TaskUpdate(_)) => self.report_failed(task, cancelled()),
            (Step::Suspend, Body::SessionClose(_)) => self.suspended(),
            (Step::Close, _) => self.end(None),
            (_, Body::TaskFailed(Failure { error, .. })) => {
                self.refused(&exchange, error.clone(), moment);
            }
            (
                Step::Hello
                | Step::Propose { .. }
                | Step::Submit(_)
                | Step::Poll(_)
                | Step::Cancel(_)
                | Step::Suspend,
                _,
            ) => {
                self.may_have_arrived(&exchange);
                let kind = received.envelope.body.message_type();
                let why =
                    super::transport_failed(&format!("{kind} answers nothing that was asked"));
                self.try_again(exchange.step.repeat(), exchange.attempt, why, moment);
            }
        }
    }

    /// The delegate said no.
    pub(super) fn refused(&mut self, exchange: &Exchange, error: LdpError, moment: &mut Moment) {
        let refusal = error.refusal();
        match (&exchange.step, refusal) {
            // A copy of our message came before it: nobody can tell what became of the first. Or there
            // is no room now.
            (_, Some(Refusal::ReplayDetected | Refusal::LimitReached))
                if !matches!(exchange.step, Step::Suspend) =>
            {
                if refusal == Some(Refusal::ReplayDetected) {
                    self.may_have_arrived(exchange);
                }
                self.try_again(exchange.step.repeat(), exchange.attempt, error, moment);
            }
            // It goes along when the session is open again.
            (Step::Cancel(_), Some(Refusal::BadSignature)) if self.phase == Phase::Opening => {
                self.try_again(exchange.step.repeat(), exchange.attempt, error, moment);
            }
            // Signed with keys that are not the session's any more.
            (Step::Submit(_) | Step::Poll(_) | Step::Cancel(_), Some(Refusal::BadSignature))
                if self.agreed.as_ref().is_some_and(|it| it.epoch != exchange.epoch) =>
            {
                self.try_again(exchange.step.repeat(), exchange.attempt, error, moment);
            }
            (
                Step::Propose { resume: Some(_), .. },
                Some(Refusal::SessionNotFound | Refusal::SessionExpired | Refusal::SessionClosed),
            ) => self.propose(None, 1, moment),
            (Step::Hello | Step::Propose { .. }, _) => self.end(Some(error)),
            (Step::Submit(task), _) => self.task_refused(task, exchange, error, moment),
            (
                Step::Poll(task),
                Some(
                    Refusal::TaskNotFound
                    | Refusal::SessionNotFound
                    | Refusal::SessionExpired
                    | Refusal::SessionClosed
                    | Refusal::BadSignature,
                ),
            )
            | (Step::Cancel(task), Some(Refusal::BadSignature)) => {
                self.task_refused(task, exchange, error, moment);
            }
            (Step::Poll(task), _) => self.report_failed(task, error),
            // It may have been quicker than the task.
            (Step::Cancel(task), Some(Refusal::TaskNotFound)) if self.is_submitting(task) => {
                self.try_again(exchange.step.repeat(), exchange.attempt, error, moment);
            }
            (Step::Cancel(task), Some(Refusal::TaskNotFound)) => {
                self.report_failed(task, cancelled());
            }
            (Step::Cancel(task), _) => self.report_failed(task, error),
            (Step::Suspend, _) => self.not_suspended(error, moment),
            (Step::Close, _) => self.end(None),
        }
    }

    fn task_refused(
        &mut self,
        task: &TaskId,
        exchange: &Exchange,
        error: LdpError,
        moment: &mut Moment,
    ) {
        let Some(known) = self.tasks.get_mut(task) else { return };
        let is_lost = match error.refusal() {
            Some(Refusal::SessionNotFound | Refusal::SessionExpired | Refusal::SessionClosed) => {
                true
            }
            // The two sides have different keys: a handshake of ours came late.
            Some(Refusal::BadSignature) => exchange.answer_key.is_some(),
            _ => false,
        };
        match error.refusal() {
            _ if is_lost && !std::mem::replace(&mut known.reopened, true) => {
                self.open_again(exchange, moment);
                self.send_task(task, 1, moment);
            }
            // Sent before the session was suspended, or a late copy of our wish suspended it again.
            Some(Refusal::SessionSuspended) if known.rested < self.settings.patience.attempts => {
                known.rested += 1;
                known.phase = TaskPhase::Waiting;
                if self.phase == Phase::Active {
                    self.resume(moment);
                }
            }
            Some(Refusal::TaskNotFound) => {
                let step = Repeat::Submit(task.clone());
                self.try_again(step, exchange.attempt, error, moment);
            }
            _ if is_about_mode(&error, exchange) => match self.step_down(exchange) {
                true => self.send_task(task, 1, moment),
                false => self.report_failed(task, error),
            },
            _ => self.report_failed(task, error),
        }
    }

    /// Goes one mode down, unless another task did before. False at the end of the chain.
    fn step_down(&mut self, exchange: &Exchange) -> bool {
        let Some(agreed) = &mut self.agreed else { return false };
        let failed = agreed.modes.iter().position(|mode| *mode == exchange.mode);
        let next = failed.map_or(agreed.modes.len(), |at| at + 1);
        if next >= agreed.modes.len() {
            return false;
        }
        agreed.at = agreed.at.max(next);
        true
    }
}

/// In the session and about the task that the question was about.
fn check_place(received: &Received, exchange: &Exchange) -> Result<(), &'static str> {
    let envelope = &received.envelope;
    let task = match &exchange.step {
        Step::Submit(task) | Step::Poll(task) | Step::Cancel(task) => Some(task),
        Step::Hello | Step::Propose { .. } => return Ok(()),
        Step::Suspend | Step::Close => None,
    };
    // One reference leaves the session out of its answers.
    if envelope.session_id.is_some() && envelope.session_id != exchange.session {
        return Err("the answer is in another session");
    }
    let about = envelope.body.task_id();
    if task.is_some() && about.is_some() && about != task {
        return Err("the answer is about another task");
    }
    Ok(())
}

/// Our code, or words of a reference that name the mode.
fn is_about_mode(error: &LdpError, exchange: &Exchange) -> bool {
    match error.refusal() {
        Some(Refusal::FrameInvalid | Refusal::ModeNotNegotiated) => true,
        Some(Refusal::TaskFailed) | None => {
            let words = error.message.to_ascii_lowercase();
            words.contains(exchange.mode.wire_name())
                && ["valid", "schema", "unsupported", "not supported"]
                    .iter()
                    .any(|word| words.contains(word))
        }
        Some(_) => false,
    }
}

fn cancelled() -> LdpError {
    Refusal::Cancelled.error("the task was cancelled")
}
