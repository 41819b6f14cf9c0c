//! How the session is opened, rests, goes on and ends.

use super::sending::{Exchange, Share, Step};
use super::tasks::TaskPhase;
use super::{Agreed, Initiator, Output, Phase, Signing};
use crate::delegate::Declined;
use crate::envelope::{Acceptance, Body, Closing, Hello, Proposal, Received};
use crate::error::{LdpError, Refusal};
use crate::id::SessionId;
use crate::moment::Moment;
use crate::seal::Seal;
use crate::sign::{Algorithm, Handshake, SessionKeys, ShareSecret, SigningBytes};
use crate::value::KeyBytes;

impl Initiator {
    pub(super) fn greet(&mut self, moment: &mut Moment) {
        self.phase = Phase::Opening;
        self.say_hello(1, moment);
    }

    pub(super) fn say_hello(&mut self, attempt: u32, moment: &mut Moment) {
        let hello = Hello {
            delegate_id: self.settings.delegate_id.clone(),
            supported_modes: self.settings.modes.clone(),
            public_key: self.settings.public_key.filter(|_| self.signs_natively()),
        };
        self.say(Body::Hello(hello), Step::Hello, attempt, moment);
    }

    pub(super) fn propose(&mut self, resume: Option<SessionId>, attempt: u32, moment: &mut Moment) {
        let secret = self.signs_natively().then(|| ShareSecret::from_bytes(moment.fresh_secret()));
        let proposal = Proposal {
            preferred_payload_modes: self.settings.modes.clone(),
            ttl_secs: self.settings.ttl_secs,
            required_trust_domain: self.settings.required_trust_domain.clone(),
            trust_domain: self.settings.trust_domain.clone(),
            key_share: secret.as_ref().and_then(|it| KeyBytes::from_hex(&it.share())),
            resume_session_id: resume.clone(),
        };
        // The handshake is signed with the identity, also when a session is opened again.
        let seal = match self.seal() {
            Seal::Session(_) => Seal::Identity,
            other => other,
        };
        let mut envelope = self.envelope(Body::SessionPropose(proposal), &seal, moment);
        if resume.is_none() {
            // One reference wants the initiator to name the session; others name it themselves.
            envelope.session_id = Some(SessionId::fresh(moment));
        }
        let propose = SigningBytes::of_wire(Algorithm::Ed25519, &envelope.to_wire()).ok();
        let share = secret.zip(propose).map(|(secret, propose)| Share { secret, propose });
        self.send(envelope, seal, Step::Propose { resume, share }, attempt);
    }

    pub(super) fn take_acceptance(
        &mut self,
        received: &Received,
        acceptance: &Acceptance,
        share: Option<&Share>,
        moment: &mut Moment,
    ) {
        let mode = acceptance.negotiated_mode;
        let offered =
            |mode| self.settings.modes.contains(&mode) || mode == crate::mode::PayloadMode::Text;
        if !mode.is_implemented() || !offered(mode) {
            let error = format!("the delegate negotiated {mode}, which was not offered");
            return self.end(Some(Refusal::ModeNotNegotiated.error(error)));
        }
        if let Err(declined) = self.check_domain(acceptance) {
            return self.end(Some(declined.error()));
        }
        let keys = match self.agree(received, acceptance, share) {
            Ok(keys) => keys,
            Err(declined) => return self.end(Some(declined.error())),
        };
        let mut modes = vec![mode];
        for lower in
            acceptance.fallback_chain.iter().copied().chain([crate::mode::PayloadMode::Text])
        {
            // Only downwards: a chain that leads up again would go round.
            if modes.last().is_some_and(|last| lower.number() < last.number()) && offered(lower) {
                modes.push(lower);
            }
        }
        let (session, delegate) = (acceptance.session_id.clone(), received.envelope.from.clone());
        self.outputs.push_back(Output::Opened {
            session: session.clone(),
            delegate: delegate.clone(),
            mode,
            resumed: acceptance.resumed,
        });
        let epoch = self.agreed.as_ref().map_or(0, |agreed| agreed.epoch) + 1;
        self.agreed = Some(Agreed { session, delegate, modes, at: 0, keys, epoch });
        self.phase = Phase::Active;
        self.send_waiting(moment);
    }

    /// A delegate that passes over what is required accepts all the same, and does not say its domain.
    fn check_domain(&self, acceptance: &Acceptance) -> Result<(), Declined> {
        match (&self.settings.required_trust_domain, &acceptance.trust_domain) {
            (None, _) => Ok(()),
            (Some(required), Some(theirs)) if required == theirs => Ok(()),
            (Some(required), theirs) => {
                let theirs = theirs.as_deref().unwrap_or("one that it does not name");
                let error = format!("{required} is required, and the delegate is in {theirs}");
                Err(Refusal::TrustDomainMismatch.because(error))
            }
        }
    }

    /// The keys of the session, if both sides gave their half.
    fn agree(
        &self,
        received: &Received,
        acceptance: &Acceptance,
        share: Option<&Share>,
    ) -> Result<Option<SessionKeys>, Declined> {
        let (Some(theirs), Some(share)) = (acceptance.key_share, share) else { return Ok(None) };
        let Ok(Some(signed)) = received.signed() else {
            return Err(
                Refusal::BadSignature.because("a key share in an answer that is not signed")
            );
        };
        let handshake = Handshake {
            session_id: acceptance.session_id.as_str(),
            initiator: self.settings.delegate_id.as_str(),
            responder: received.envelope.from.as_str(),
            propose: &share.propose,
            accept: signed.signing_bytes(),
        };
        let keys = share.secret.agree(&theirs.to_hex(), handshake);
        keys.map(Some).map_err(|error| Refusal::BadSignature.because(error.to_string()))
    }

    /// The delegate does not know the session any more: another one is opened.
    pub(super) fn open_again(&mut self, exchange: &Exchange, moment: &mut Moment) {
        let is_current = self.agreed.as_ref().map(|it| &it.session) == exchange.session.as_ref();
        if self.phase == Phase::Active && is_current {
            self.phase = Phase::Opening;
            self.propose(None, 1, moment);
        }
    }

    pub(super) fn suspend(&mut self, moment: &mut Moment) {
        self.phase = Phase::Suspending;
        self.say_suspend(1, moment);
    }

    pub(super) fn say_suspend(&mut self, attempt: u32, moment: &mut Moment) {
        let body = Body::SessionClose(Closing { reason: None, suspend: true });
        self.say(body, Step::Suspend, attempt, moment);
    }

    pub(super) fn suspended(&mut self) {
        if self.phase == Phase::Suspending {
            self.phase = Phase::Suspended;
            self.outputs.push_back(Output::Suspended);
        }
    }

    pub(super) fn not_suspended(&mut self, why: LdpError, moment: &mut Moment) {
        if self.phase == Phase::Suspending {
            self.phase = Phase::Active;
            self.outputs.push_back(Output::NotSuspended(why));
            self.send_waiting(moment);
        }
    }

    pub(super) fn resume(&mut self, moment: &mut Moment) {
        self.phase = Phase::Opening;
        let session = self.agreed.as_ref().map(|agreed| agreed.session.clone());
        self.propose(session, 1, moment);
    }

    pub(super) fn close(&mut self, moment: &mut Moment) {
        match self.phase {
            Phase::Closing | Phase::Ended => {}
            Phase::Idle | Phase::Opening => self.end(None),
            Phase::Active | Phase::Suspending | Phase::Suspended => {
                for task in std::mem::take(&mut self.tasks).into_keys() {
                    self.outputs.push_back(Output::Failed { task, error: super::over() });
                }
                self.phase = Phase::Closing;
                self.say_close(1, moment);
            }
        }
    }

    pub(super) fn say_close(&mut self, attempt: u32, moment: &mut Moment) {
        let body = Body::SessionClose(Closing { reason: None, suspend: false });
        self.say(body, Step::Close, attempt, moment);
    }

    fn send_waiting(&mut self, moment: &mut Moment) {
        let waiting = |(task, it): (&_, &super::Task)| match it.phase {
            TaskPhase::Waiting => Some(Clone::clone(task)),
            TaskPhase::Under => None,
        };
        let waiting: Vec<_> = self.tasks.iter().filter_map(waiting).collect();
        for task in waiting {
            self.send_task(&task, 1, moment);
        }
    }

    fn signs_natively(&self) -> bool {
        self.settings.signing == Signing::Native
    }
}
