//! Messages on their way: numbers, deadlines, and trying again after a pause.

use super::{Arrival, ExchangeId, Initiator, Output, Phase, Signing};
use crate::envelope::{Body, Envelope, Recipient};
use crate::error::LdpError;
use crate::id::{MessageId, SessionId, TaskId};
use crate::mode::PayloadMode;
use crate::moment::Moment;
use crate::seal::Seal;
use crate::sign::{SessionKey, ShareSecret, SigningBytes};
use crate::time::Timestamp;

/// A message whose answer is awaited.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) step: Step,
    /// Which try it is, from one.
    pub(super) attempt: u32,
    /// The session that it was sent in.
    pub(super) session: Option<SessionId>,
    pub(super) mode: PayloadMode,
    /// The delegate's, at the time.
    pub(super) answer_key: Option<SessionKey>,
    pub(super) epoch: u64,
    sent_at: Timestamp,
    timeout: (Timestamp, u64),
}

#[derive(Debug)]
pub(super) enum Step {
    Hello,
    Propose { resume: Option<SessionId>, share: Option<Share> },
    Submit(TaskId),
    Poll(TaskId),
    Cancel(TaskId),
    Suspend,
    Close,
}

/// Our half of a key agreement, and what we signed it with.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) secret: ShareSecret,
    pub(super) propose: SigningBytes,
}

/// What happens when a time has come.
#[derive(Debug)]
pub(super) enum Due {
    Timeout(ExchangeId),
    Again(Repeat, u32),
    GiveUp(TaskId),
}

/// A step that can be taken once more.
#[derive(Debug, Clone)]
pub(super) enum Repeat {
    Hello,
    Propose(Option<SessionId>),
    Submit(TaskId),
    Poll(TaskId),
    Cancel(TaskId),
    Suspend,
    Close,
}

impl Step {
    pub(super) fn repeat(&self) -> Repeat {
        match self {
            Self::Hello => Repeat::Hello,
            Self::Propose { resume, .. } => Repeat::Propose(resume.clone()),
            Self::Submit(task) => Repeat::Submit(task.clone()),
            Self::Poll(task) => Repeat::Poll(task.clone()),
            Self::Cancel(task) => Repeat::Cancel(task.clone()),
            Self::Suspend => Repeat::Suspend,
            Self::Close => Repeat::Close,
        }
    }
}

impl Initiator {
    /// An envelope that says this, ready to be signed.
    pub(super) fn envelope(&self, body: Body, seal: &Seal, moment: &mut Moment) -> Envelope {
        let agreed = self.agreed.as_ref();
        let name = agreed.map(|agreed| &agreed.delegate).or(self.settings.expected.as_ref());
        let mut envelope = Envelope {
            message_id: MessageId::fresh(moment),
            session_id: agreed.map(|agreed| agreed.session.clone()),
            from: self.settings.delegate_id.clone(),
            to: name.cloned().map_or_else(|| self.settings.to.clone(), Recipient::Delegate),
            body,
            payload_mode: agreed.map_or(PayloadMode::Text, super::Agreed::mode),
            timestamp: self.now.into(),
            provenance: None,
            signature: None,
            signature_algorithm: None,
            nonce: None,
        };
        seal.prepare(&mut envelope, moment);
        envelope
    }

    /// How the handshake is signed, and what comes after it.
    pub(super) fn seal(&self) -> Seal {
        let agreed = self.agreed.as_ref();
        match self.settings.signing {
            Signing::Unsigned => Seal::None,
            Signing::Native => match agreed.and_then(|agreed| agreed.keys.as_ref()) {
                Some(keys) => Seal::Session(keys.initiator.clone()),
                None => Seal::Identity,
            },
            Signing::Reference => {
                let name = agreed.map(|it| &it.delegate).or(self.settings.expected.as_ref());
                name.map_or(Seal::None, |name| Seal::Reference(name.clone()))
            }
        }
    }

    pub(super) fn say(&mut self, body: Body, step: Step, attempt: u32, moment: &mut Moment) {
        let seal = self.seal();
        let envelope = self.envelope(body, &seal, moment);
        self.send(envelope, seal, step, attempt);
    }

    pub(super) fn send(&mut self, envelope: Envelope, seal: Seal, step: Step, attempt: u32) {
        let exchange = ExchangeId(self.number());
        let deadline = self.now.plus_millis(self.settings.patience.answer_ms);
        let timeout = self.at(deadline, Due::Timeout(exchange));
        let (session, mode) = (envelope.session_id.clone(), envelope.payload_mode);
        let agreed = self.agreed.as_ref();
        let keys = agreed.and_then(|agreed| agreed.keys.as_ref());
        let answer_key = keys.map(|keys| keys.responder.clone());
        let epoch = agreed.map_or(0, |agreed| agreed.epoch);
        let sent_at = self.now;
        let sent = Exchange { step, attempt, session, mode, answer_key, epoch, sent_at, timeout };
        self.exchanges.insert(exchange, sent);
        let envelope = Box::new(envelope);
        self.outputs.push_back(Output::Send { exchange, envelope, seal, deadline });
    }

    /// Takes an exchange off the list: its answer is here, or will not come.
    pub(super) fn settle(&mut self, id: ExchangeId) -> Option<Exchange> {
        let exchange = self.exchanges.remove(&id)?;
        self.due.remove(&exchange.timeout);
        Some(exchange)
    }

    /// The exchange came to nothing: the step is taken again after a pause, or has failed.
    pub(super) fn attempt_failed(
        &mut self,
        id: ExchangeId,
        why: LdpError,
        arrival: Arrival,
        moment: &mut Moment,
    ) {
        let Some(exchange) = self.settle(id) else { return };
        if arrival == Arrival::Unknown {
            self.may_have_arrived(&exchange);
        }
        let lasted = self.now.distance_millis(exchange.sent_at);
        let attempt = match &exchange.step {
            // A stream that was cut after it brought something is no failed attempt: it goes on.
            Step::Submit(task) if self.was_cut(task, lasted) => 1,
            _ => exchange.attempt,
        };
        self.try_again(exchange.step.repeat(), attempt, why, moment);
    }

    /// It would be turned away again.
    pub(super) fn turned_away(
        &mut self,
        id: ExchangeId,
        error: LdpError,
        arrival: Arrival,
        moment: &mut Moment,
    ) {
        let Some(exchange) = self.settle(id) else { return };
        if arrival == Arrival::Unknown {
            self.may_have_arrived(&exchange);
        }
        let step = exchange.step.repeat();
        match &step {
            Repeat::Submit(task) | Repeat::Poll(task) | Repeat::Cancel(task)
                if self.may_run(task) =>
            {
                self.give_up(&step, error, moment);
            }
            _ => self.refused(&exchange, error, moment),
        }
    }

    pub(super) fn try_again(
        &mut self,
        step: Repeat,
        attempt: u32,
        why: LdpError,
        moment: &mut Moment,
    ) {
        let patience = &self.settings.patience;
        let (is_twice, cuts) = match &step {
            Repeat::Submit(task) => {
                (!self.settings.resubmits && self.may_run(task), self.cuts(task))
            }
            _ => (false, 0),
        };
        if attempt >= patience.attempts || is_twice {
            return self.give_up(&step, why, moment);
        }
        // However much each connection brought, one that breaks at once is not to be had at once.
        let times = (attempt - 1).max(cuts.saturating_sub(1));
        let pause = doubled(patience.pause_ms, times, patience.longest_pause_ms);
        // Spread, so that those who lost the same server do not come back together.
        let pause = pause / 2 + moment.fresh_below(pause / 2 + 1);
        self.at(self.now.plus_millis(pause), Due::Again(step, attempt + 1));
    }

    pub(super) fn tick(&mut self, moment: &mut Moment) {
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 <= self.now
        {
            match entry.remove() {
                Due::Timeout(exchange) => {
                    let why = super::transport_failed("no answer in time");
                    self.attempt_failed(exchange, why, Arrival::Unknown, moment);
                }
                Due::Again(step, attempt) => self.repeat(step, attempt, moment),
                Due::GiveUp(task) => self.deadline_passed(&task, moment),
            }
        }
    }

    pub(super) fn at(&mut self, at: Timestamp, due: Due) -> (Timestamp, u64) {
        let key = (at, self.number());
        self.due.insert(key, due);
        key
    }

    fn repeat(&mut self, step: Repeat, attempt: u32, moment: &mut Moment) {
        match (step, self.phase) {
            (Repeat::Hello, _) => self.say_hello(attempt, moment),
            (Repeat::Propose(resume), _) => self.propose(resume, attempt, moment),
            (Repeat::Submit(task), _) => self.send_task(&task, attempt, moment),
            (Repeat::Poll(task), _) => self.poll(&task, attempt, moment),
            (Repeat::Cancel(task), _) => self.send_cancel(&task, attempt, moment),
            (Repeat::Suspend, Phase::Suspending) => self.say_suspend(attempt, moment),
            (Repeat::Close, Phase::Closing) => self.say_close(attempt, moment),
            // The phase is another by now.
            (Repeat::Suspend | Repeat::Close, _) => {}
        }
    }

    fn give_up(&mut self, step: &Repeat, why: LdpError, moment: &mut Moment) {
        match step {
            Repeat::Hello | Repeat::Propose(_) => self.end(Some(why)),
            Repeat::Submit(task) | Repeat::Poll(task) => {
                if self.may_run(task) {
                    self.send_cancel(task, self.settings.patience.attempts, moment);
                }
                self.report_lost(task, why);
            }
            Repeat::Cancel(task) => self.report_lost(task, why),
            // The delegate will let the session expire.
            Repeat::Close => self.end(None),
            Repeat::Suspend => self.not_suspended(why, moment),
        }
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }
}

pub(super) fn doubled(first: u64, times: u32, most: u64) -> u64 {
    first.saturating_mul(1 << times.min(20)).min(most)
}
