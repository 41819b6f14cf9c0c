//! `TASK_SUBMIT`: what must hold before a task is started.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::answers::Asker;
use super::claim::Claim;
use super::message::Admitted;
use super::record::{Record, TaskDigest, TaskKey, TaskStarted};
use super::sessions::{Session, SessionState};
use super::tasks::{Known, Looking, Running};
use super::{Declined, Delegate, Output, Recall, TaskOrder, TaskStart, Usage};
use crate::canonical::canonical_value;
use crate::contract::{Contract, Violation};
use crate::envelope::Submission;
use crate::error::Refusal;
use crate::id::{DelegateId, SessionId};
use crate::mode::PayloadMode;
use crate::moment::Moment;
use crate::payload::Payload;
use crate::route::check_path;
use crate::value::HexBytes;

impl Delegate {
    pub(super) fn submit(
        &mut self,
        message: Admitted<'_>,
        submission: &Submission,
        asker: &Arc<Asker>,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        let session_id = self.session_of(message, moment)?;
        let from = &message.envelope.from;
        let key = TaskKey { owner: from.clone(), id: submission.task_id.clone() };
        let digest = digest(submission);
        let mode = message.envelope.payload_mode;
        let Some(session) = self.sessions.find(&session_id) else { return Err(no_session()) };
        check_active(session)?;
        let spent = session.spent;
        let other_mode = (!session.allows(mode)).then_some(session.mode);
        if let Some(known) = self.tasks.find(&key) {
            return self.submit_again(key, known, digest, asker, moment);
        }
        self.check_skill(submission)?;
        check_mode(mode, other_mode)?;
        let payload = self.check_payload(&session_id, mode, submission)?;
        let path = delegation_path(submission, from);
        self.check_path(&path, submission.contract.as_ref())?;
        self.check_contract(submission.contract.as_ref())?;
        let weight = message.received.weight();
        self.check_room(spent, from, weight)?;

        let limits = &self.settings.limits;
        let longest = self.now.plus_millis(limits.task_ms);
        let agreed = submission.contract.as_ref().and_then(|contract| contract.deadline.as_ref());
        let deadline = agreed.map_or(longest, |deadline| deadline.at.min(longest));
        let session = self.sessions.begin_task(&session_id, key.id.clone());
        let Some(session) = session else { return Err(no_session()) };
        let Claim { authentication, shown } = asker.proof.claim();
        let started = TaskStarted {
            key: key.clone(),
            session: session_id.clone(),
            skill: submission.skill.clone(),
            digest,
            mode,
            contract: submission.contract.clone(),
            delegation_path: Arc::clone(&path),
            deadline,
            authentication,
            shown,
            input: self
                .settings
                .lasting
                .contains(&submission.skill)
                .then(|| submission.input.clone()),
            at: self.now,
        };
        let may_be_stored = self.tasks.may_be_stored(&key);
        let order = TaskOrder {
            key,
            session: session_id,
            skill: submission.skill.clone(),
            mode,
            payload,
            contract: submission.contract.clone(),
            history: Arc::clone(&session.history),
            delegation_path: path,
            deadline,
            started_at: self.now,
            start: TaskStart::First,
        };
        let askers = vec![Arc::clone(asker)];
        if may_be_stored {
            let key = order.key.clone();
            self.tasks.look(Looking { started, order, askers, weight });
            self.recalls.insert(asker.request, Recall::Before(key.clone()));
            self.outputs.push_back(Output::Recall { request: asker.request, key });
        } else {
            self.start(started, order, askers, weight);
        }
        Ok(())
    }

    pub(super) fn start(
        &mut self,
        started: TaskStarted,
        order: TaskOrder,
        askers: Vec<Arc<Asker>>,
        weight: usize,
    ) {
        self.record(Record::Started(Box::new(started.clone())));
        self.tasks.run(Running::new(started, askers, weight));
        self.outputs.push_back(Output::Start(Box::new(order)));
    }

    /// A known task: its state or its result, and never a second run.
    fn submit_again(
        &mut self,
        key: TaskKey,
        known: Known,
        digest: TaskDigest,
        asker: &Arc<Asker>,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        if known.digest != digest || !asker.proof.covers(known.claim) {
            return Err(id_is_taken());
        }
        self.wait_for(key, asker, moment);
        Ok(())
    }

    fn check_skill(&self, submission: &Submission) -> Result<(), Declined> {
        let skill = &submission.skill;
        if self.settings.card.capability(skill.as_str()).is_some() {
            return Ok(());
        }
        let card = &self.settings.card;
        let mut why = format!("this delegate does not offer {skill}");
        // One that offers nothing says on its card what it lacks.
        if let (true, Some(described)) = (card.capabilities.is_empty(), &card.description) {
            why = format!("{why}: {described}");
        }
        Err(Refusal::SkillNotFound.because(why))
    }

    /// Reads the input in the mode that the envelope names. If it does not fit, the session goes on
    /// one mode lower: whoever sent it cannot write this one.
    fn check_payload(
        &mut self,
        id: &SessionId,
        mode: PayloadMode,
        submission: &Submission,
    ) -> Result<Payload, Declined> {
        let checked = Payload::check(mode, &submission.input);
        if checked.is_err()
            && let Some(session) = self.sessions.find_mut(id)
            && let Some(lower) = session.below(mode)
        {
            session.mode = lower;
            self.record(Record::SteppedDown { session: id.clone(), mode: lower });
        }
        checked.map_err(|error| Refusal::FrameInvalid.because(error.to_string()))
    }

    fn check_path(&self, path: &[DelegateId], contract: Option<&Contract>) -> Result<(), Declined> {
        let agreed = contract.and_then(|contract| contract.policy.max_delegation_depth);
        let (own, limits) = (&self.settings.card.delegate_id, self.settings.limits.path);
        check_path(own, path, limits, agreed)
            .map_err(|error| error.refusal().because(error.to_string()))
    }

    fn check_contract(&self, contract: Option<&Contract>) -> Result<(), Declined> {
        let deadline = contract.and_then(|contract| contract.deadline.as_ref());
        match deadline {
            Some(deadline) if deadline.at <= self.now => {
                let name = Violation::DeadlineExceeded.wire_name();
                Err(Refusal::ContractViolated
                    .because(format!("{name}: the deadline {} has passed; not run", deadline.text)))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn check_room(&self, spent: Usage, owner: &DelegateId, weight: usize) -> Result<(), Declined> {
        let limits = &self.settings.limits;
        if let Some(violation) = spent.exhausts(limits.session_budget) {
            let name = violation.wire_name();
            let error = format!("{name}: the tasks of this session have used up its budget");
            return Err(Refusal::ContractViolated.because(error));
        }
        let (all, own) = (self.tasks.running(), self.tasks.running_of(owner));
        if all.tasks >= self.share_of(owner, limits.running) || own.tasks >= limits.running_of_one {
            return Err(Refusal::LimitReached.because("too many tasks run already"));
        }
        if all.bytes.saturating_add(weight) > self.share_of(owner, limits.running_bytes)
            || own.bytes.saturating_add(weight) > limits.running_bytes_of_one
        {
            let error = "the tasks that run already hold too much input";
            return Err(Refusal::LimitReached.because(error));
        }
        Ok(())
    }
}

fn check_active(session: &Session) -> Result<(), Declined> {
    match session.state {
        SessionState::Suspended => Err(Refusal::SessionSuspended
            .because("the session is suspended: resume it with config.resume_session_id")),
        SessionState::Active => Ok(()),
    }
}

/// `agreed` is what the session is in, where it does not allow this mode.
fn check_mode(mode: PayloadMode, agreed: Option<PayloadMode>) -> Result<(), Declined> {
    let Some(agreed) = agreed else { return Ok(()) };
    let error = format!("{mode} was not negotiated for this session: use {agreed}");
    Err(Refusal::ModeNotNegotiated.because(error))
}

fn no_session() -> Declined {
    Refusal::SessionNotFound.because("no session has this id")
}

pub(super) fn id_is_taken() -> Declined {
    Refusal::MessageInvalid.because(
        "the task id is taken: it names another task of yours, with another skill or input",
    )
}

/// Who handed the task on; the sender is always the last, whether it says so or not.
fn delegation_path(submission: &Submission, from: &DelegateId) -> Arc<[DelegateId]> {
    let path = &submission.delegation_path;
    let sender = (path.last() != Some(from)).then_some(from);
    path.iter().chain(sender).cloned().collect()
}

/// Over skill and input. The input is hashed in its canonical form, so that spaces and the order of
/// keys make no other task of it; where it has none (a number beyond doubles), as we write it.
fn digest(submission: &Submission) -> TaskDigest {
    let skill = submission.skill.as_str();
    let input = canonical_value(&submission.input).unwrap_or_else(|_| submission.input.to_string());
    let mut hash = Sha256::new();
    hash.update((skill.len() as u64).to_be_bytes());
    hash.update(skill);
    hash.update(input);
    TaskDigest(HexBytes(hash.finalize().into()))
}
