//! The checks that every message passes first, in their order, and who takes it then.

use std::sync::Arc;

use super::answers::{About, Asker};
use super::claim::Proof;
use super::query::Question;
use super::record::{HowEnded, Record, Seen};
use super::{Declined, Delegate, Output, RequestId};
use crate::envelope::{Body, Envelope, Malformed, Received, Recipient};
use crate::error::Refusal;
use crate::id::{DelegateId, SessionId};
use crate::mode::PayloadMode;
use crate::moment::Moment;
use crate::seal::Seal;
use crate::sign::Algorithm;
use crate::trust::Standing;

/// A message that passed the first checks.
#[derive(Clone, Copy)]
pub(super) struct Admitted<'a> {
    pub(super) received: &'a Received,
    pub(super) envelope: &'a Envelope,
    pub(super) standing: &'a Standing,
}

impl Delegate {
    pub(super) fn take_message(
        &mut self,
        request: RequestId,
        received: &Received,
        standing: Result<Standing, Declined>,
        moment: &mut Moment,
    ) {
        let envelope = &received.envelope;
        let asker = Arc::new(Asker {
            request,
            to: Some(envelope.from.clone()),
            session: envelope.session_id.clone(),
            mode: envelope.payload_mode,
            seal: self.seal_for(envelope, standing.as_ref().ok()),
            proof: standing.as_ref().map_or(Proof::NONE, Proof::of),
        });
        let standing =
            standing.map_err(|declined| self.unknown_session(envelope).unwrap_or(declined));
        let taken = standing.and_then(|standing| {
            self.admit(envelope)?;
            let admitted = Admitted { received, envelope, standing: &standing };
            self.dispatch(admitted, &asker, moment)
        });
        if let Err(declined) = taken {
            self.refuse(&asker, About::of(envelope), declined, moment);
        }
    }

    pub(super) fn refuse_malformed(
        &mut self,
        request: RequestId,
        malformed: &Malformed,
        moment: &mut Moment,
    ) {
        let asker = Asker {
            request,
            to: malformed.from.clone(),
            session: None,
            mode: PayloadMode::Text,
            seal: Seal::None,
            proof: Proof::NONE,
        };
        let about = About {
            from: malformed.from.clone(),
            session: malformed.session_id.clone(),
            message: malformed.message_id.clone(),
            kind: malformed.message_type,
            task: malformed.task_id.clone(),
        };
        let declined = Refusal::MessageInvalid.because(malformed.to_string());
        self.refuse(&asker, about, declined, moment);
    }

    /// Time, recipient, replay. A message that fails the first two does not use up its id: who sends
    /// it may be somebody else than it says, or nobody could tell a replay from a late copy.
    fn admit(&mut self, envelope: &Envelope) -> Result<(), Declined> {
        let sent_at = envelope.timestamp.at;
        self.replay.check_time(sent_at, self.now)?;
        if let Recipient::Delegate(to) = &envelope.to
            && *to != self.settings.card.delegate_id
        {
            let ours = &self.settings.card.delegate_id;
            return Err(Refusal::WrongRecipient.because(format!("this is {ours}, not {to}")));
        }
        let admitted = self.replay.admit(&envelope.from, &envelope.message_id, sent_at, self.now);
        let replay = admitted?;
        self.record(Record::Seen(Seen { replay, session: None, at: self.now }));
        Ok(())
    }

    fn dispatch(
        &mut self,
        message: Admitted<'_>,
        asker: &Arc<Asker>,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        match &message.envelope.body {
            Body::Hello(hello) => self.greet(message, hello, asker, moment),
            Body::SessionPropose(proposal) => self.propose(message, proposal, asker, moment),
            Body::SessionClose(closing) => self.close(message, closing, asker, moment),
            Body::TaskSubmit(submission) => self.submit(message, submission, asker, moment),
            Body::TaskUpdate(update) if update.is_status_query() => {
                self.ask(Question::Status, message, &update.task_id, asker, moment)
            }
            Body::TaskCancel(cancel) => {
                self.ask(Question::Cancel, message, &cancel.task_id, asker, moment)
            }
            Body::Attestation(attestation) => self.attest(message, attestation, asker, moment),
            Body::CapabilityManifest(_)
            | Body::SessionAccept(_)
            | Body::SessionReject(_)
            | Body::TaskUpdate(_)
            | Body::TaskResult(_)
            | Body::TaskFailed(_) => {
                let kind = message.envelope.body.message_type();
                let error = format!("a delegate is not sent {}", kind.wire_name());
                Err(Refusal::UnexpectedMessage.because(error))
            }
        }
    }

    /// The session that a message names, if it is open and the sender's, who proves as much as when
    /// it was opened. Using it keeps it alive.
    pub(super) fn session_of(
        &mut self,
        message: Admitted<'_>,
        moment: &mut Moment,
    ) -> Result<SessionId, Declined> {
        let Some(id) = &message.envelope.session_id else {
            return Err(Refusal::SessionNotFound.because("the message names no session"));
        };
        self.session_named(id, message, moment)?;
        Ok(id.clone())
    }

    pub(super) fn session_named(
        &mut self,
        id: &SessionId,
        message: Admitted<'_>,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        let (from, proof) = (&message.envelope.from, Proof::of(message.standing));
        let session = match self.sessions.find_mut(id) {
            Some(session) if session.is_over(self.now, &self.settings.limits) => {
                self.end_session(id, HowEnded::Expired, moment);
                return Err(self.gone(id, from, proof));
            }
            Some(session) => session,
            None => return Err(self.gone(id, from, proof)),
        };
        if session.owner != *from {
            return Err(not_yours());
        }
        if proof.authentication < session.claim.authentication {
            let error =
                "the session was opened with better proof of who sends than this message has";
            return Err(Refusal::SignatureRequired.because(error));
        }
        if let Some(bound) = &message.standing.bound_domain
            && *bound != session.domain
        {
            return Err(not_yours());
        }
        if !proof.covers(session.claim) {
            return Err(not_yours());
        }
        session.touch(self.now);
        // The record of this message is the last that was made.
        if let Some(Output::Record(record)) = self.outputs.back_mut()
            && let Record::Seen(seen) = &mut **record
        {
            seen.session = Some(id.clone());
        }
        Ok(())
    }

    /// Who signs with the key of a session that is not there any more cannot be verified, and needs
    /// to hear why.
    fn unknown_session(&self, envelope: &Envelope) -> Option<Declined> {
        let name = envelope.signature_algorithm.as_deref()?;
        let id = envelope.session_id.as_ref()?;
        let with_session_key = Algorithm::from_wire(name) == Some(Algorithm::SessionHmac);
        let is_unknown = with_session_key && self.sessions.find(id).is_none();
        is_unknown.then(|| self.gone(id, &envelope.from, Proof::NONE))
    }

    /// Why there is no session of this id.
    fn gone(&self, id: &SessionId, from: &DelegateId, proof: Proof) -> Declined {
        match self.sessions.past(id) {
            None => Refusal::SessionNotFound.because("no session has this id"),
            Some(past) if past.owner != *from || !proof.holds(past.shown) => not_yours(),
            Some(past) => match past.how {
                HowEnded::Closed => Refusal::SessionClosed.because("the session was closed"),
                HowEnded::Expired => Refusal::SessionExpired
                    .because("the session was not used for longer than its ttl_secs"),
            },
        }
    }

    fn seal_for(&self, envelope: &Envelope, standing: Option<&Standing>) -> Seal {
        let session = envelope.session_id.as_ref().and_then(|id| self.sessions.find(id));
        let keys = session.and_then(|session| session.keys.as_ref());
        Seal::of_answer(envelope, standing, &self.settings.trust, keys.map(|keys| &keys.0))
    }
}

impl About {
    fn of(envelope: &Envelope) -> Self {
        Self {
            from: Some(envelope.from.clone()),
            session: envelope.session_id.clone(),
            message: Some(envelope.message_id.clone()),
            kind: Some(envelope.body.message_type()),
            task: envelope.body.task_id().cloned(),
        }
    }
}

fn not_yours() -> Declined {
    Refusal::SessionNotYours.because("the session was opened by somebody else")
}
