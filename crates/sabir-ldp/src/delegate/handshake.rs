//! How sessions begin, rest and end: `HELLO`, `SESSION_PROPOSE`, `SESSION_CLOSE`.

use super::answers::Asker;
use super::claim::Claim;
use super::message::Admitted;
use super::record::{HowEnded, KeptKeys, Opened, Record};
use super::sessions::SessionState;
use super::{Declined, Delegate, Output, Usage};
use crate::envelope::{Acceptance, Body, Closing, Envelope, Hello, Manifest, Proposal};
use crate::error::Refusal;
use crate::id::{DelegateId, SessionId};
use crate::mode::{PayloadMode, negotiate};
use crate::moment::Moment;
use crate::seal::Seal;
use crate::sign::{Algorithm, Handshake, SessionKeys, ShareSecret, SigningBytes};
use crate::value::KeyBytes;

impl Delegate {
    pub(super) fn greet(
        &mut self,
        message: Admitted<'_>,
        hello: &Hello,
        asker: &Asker,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        if hello.delegate_id != message.envelope.from {
            let error = "the delegate_id of a HELLO is that of its sender";
            return Err(Refusal::MessageInvalid.because(error));
        }
        let card = &self.settings.card;
        let manifest = Manifest {
            capabilities: card.capabilities.clone(),
            supported_modes: Some(self.modes()),
            max_concurrent_tasks: u64::try_from(self.settings.limits.running_of_one).ok(),
            public_key: card.public_key,
        };
        self.reply(asker, Body::CapabilityManifest(manifest), moment);
        Ok(())
    }

    pub(super) fn propose(
        &mut self,
        message: Admitted<'_>,
        proposal: &Proposal,
        asker: &Asker,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        let domain = self.settings.trust.may_open(proposal, message.standing)?.domain;
        if let Some(id) = &proposal.resume_session_id {
            return self.resume(id, message, proposal, asker, moment);
        }
        self.make_session_room(&message.envelope.from, moment)?;
        let negotiated = negotiate(&proposal.preferred_payload_modes, &self.modes());
        let wanted = message.envelope.session_id.clone();
        let session = wanted.filter(|id| self.sessions.is_unused(id));
        let session = session.unwrap_or_else(|| SessionId::fresh(moment));
        let acceptance = Acceptance {
            session_id: session.clone(),
            negotiated_mode: negotiated.mode,
            fallback_chain: negotiated.fallback_chain.clone(),
            trust_domain: Some(self.settings.card.trust_domain.name.clone()),
            key_share: None,
            resumed: false,
        };
        let (keys, reply) = self.accept(message, proposal, acceptance, asker, moment)?;
        let Claim { authentication, shown } = asker.proof.claim();
        let ttl_ms = proposal.ttl_secs.saturating_mul(1000).min(self.settings.limits.ttl_ms);
        let opened = Opened {
            session,
            owner: message.envelope.from.clone(),
            domain,
            mode: negotiated.mode,
            fallback_chain: negotiated.fallback_chain,
            ttl_ms,
            keys: keys.map(KeptKeys),
            authentication,
            shown,
            at: self.now,
            spent: Usage::default(),
            history: Vec::new(),
        };
        self.record(Record::Opened(Box::new(opened.clone())));
        self.sessions.open(opened);
        self.outputs.push_back(reply);
        Ok(())
    }

    pub(super) fn close(
        &mut self,
        message: Admitted<'_>,
        closing: &Closing,
        asker: &Asker,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        let id = self.session_of(message, moment)?;
        if closing.suspend {
            let state = self.sessions.find(&id).map(|session| session.state);
            if state == Some(SessionState::Active) {
                if self.sessions.suspended() >= self.settings.limits.suspended {
                    return Err(Refusal::LimitReached.because("too many sessions are suspended"));
                }
                self.sessions.suspend(&id, self.now, &self.settings.limits);
                self.record(Record::Suspended { session: id, at: self.now });
            }
        } else {
            self.end_session(&id, HowEnded::Closed, moment);
        }
        let reason = if closing.suspend { "suspended" } else { "closed" };
        let body = Closing { reason: Some(reason.to_owned()), suspend: closing.suspend };
        self.reply(asker, Body::SessionClose(body), moment);
        Ok(())
    }

    fn resume(
        &mut self,
        id: &SessionId,
        message: Admitted<'_>,
        proposal: &Proposal,
        asker: &Asker,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        self.session_named(id, message, moment)?;
        let Some(session) = self.sessions.find(id) else {
            return Err(Refusal::SessionNotFound.because("no session has this id"));
        };
        let acceptance = Acceptance {
            session_id: id.clone(),
            negotiated_mode: session.mode,
            fallback_chain: session.below_current(),
            trust_domain: Some(self.settings.card.trust_domain.name.clone()),
            key_share: None,
            resumed: true,
        };
        let (keys, reply) = self.accept(message, proposal, acceptance, asker, moment)?;
        let keys = keys.map(KeptKeys);
        self.sessions.resume(id, self.now, &self.settings.limits);
        if let Some(session) = self.sessions.find_mut(id)
            && keys.is_some()
        {
            session.keys.clone_from(&keys);
        }
        self.record(Record::Resumed { session: id.clone(), keys, at: self.now });
        self.outputs.push_back(reply);
        Ok(())
    }

    /// The answer to a proposal, and the keys that both sides have from then on. A share counts only
    /// in a proposal that its sender's key signed: anybody could have put it into another.
    fn accept(
        &mut self,
        message: Admitted<'_>,
        proposal: &Proposal,
        mut acceptance: Acceptance,
        asker: &Asker,
        moment: &mut Moment,
    ) -> Result<(Option<SessionKeys>, Output), Declined> {
        let asker = Asker {
            session: Some(acceptance.session_id.clone()),
            mode: acceptance.negotiated_mode,
            ..asker.clone()
        };
        let share = match asker.seal {
            Seal::Identity => proposal.key_share,
            Seal::None | Seal::Session(_) | Seal::Reference(_) => None,
        };
        let Some(share) = share else {
            let envelope = self.envelope(&asker, Body::SessionAccept(acceptance), moment);
            return Ok((None, reply(&asker, envelope)));
        };
        let secret = ShareSecret::from_bytes(moment.fresh_secret());
        acceptance.key_share = KeyBytes::from_hex(&secret.share());
        let session = acceptance.session_id.clone();
        let envelope = self.envelope(&asker, Body::SessionAccept(acceptance), moment);
        let signed = message.received.signed().ok().flatten();
        let accept = SigningBytes::of_wire(Algorithm::Ed25519, &envelope.to_wire());
        let (Some(propose), Ok(accept)) = (signed, accept) else {
            return Err(Refusal::BadSignature.because("the proposal has no canonical form"));
        };
        let handshake = Handshake {
            session_id: session.as_str(),
            initiator: message.envelope.from.as_str(),
            responder: self.settings.card.delegate_id.as_str(),
            propose: propose.signing_bytes(),
            accept: &accept,
        };
        let keys = secret.agree(&share.to_hex(), handshake);
        let keys = keys.map_err(|error| Refusal::MessageInvalid.because(error.to_string()))?;
        Ok((Some(keys), reply(&asker, envelope)))
    }

    /// What the card lists and this crate can check. Text is always among it.
    fn modes(&self) -> Vec<PayloadMode> {
        let listed = self.settings.card.supported_payload_modes.iter().copied();
        let mut modes: Vec<PayloadMode> = listed.filter(|mode| mode.is_implemented()).collect();
        if !modes.contains(&PayloadMode::Text) {
            modes.push(PayloadMode::Text);
        }
        modes
    }

    /// When there is no room, that session makes some which a stranger opened longest ago and never used.
    fn make_session_room(
        &mut self,
        owner: &DelegateId,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        let limits = &self.settings.limits;
        let full = || Refusal::LimitReached.because("too many sessions are open");
        if self.sessions.owned_by(owner) >= limits.sessions_of_one {
            return Err(full());
        }
        if self.sessions.len() < self.share_of(owner, limits.sessions) {
            return Ok(());
        }
        let is_strangers = |owner: &DelegateId| !self.settings.trust.names(owner);
        let unused = self.sessions.oldest_unused(self.now, is_strangers).ok_or_else(full)?;
        self.end_session(&unused, HowEnded::Expired, moment);
        Ok(())
    }
}

fn reply(asker: &Asker, envelope: Envelope) -> Output {
    let (request, seal) = (asker.request, asker.seal.clone());
    Output::Reply { request, envelope: Box::new(envelope), seal }
}
