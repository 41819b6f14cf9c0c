//! `ATTESTATION`: what a peer vouches for is kept, with its name. What it is worth is for others.

use serde_json::{Value, json};

use super::answers::Asker;
use super::claim::authentication;
use super::message::Admitted;
use super::record::{Attested, Authentication, Record};
use super::{Declined, Delegate};
use crate::envelope::{Attestation, Body};
use crate::error::Refusal;
use crate::moment::Moment;

impl Delegate {
    pub(super) fn attest(
        &mut self,
        message: Admitted<'_>,
        attestation: &Attestation,
        asker: &Asker,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        // The reference's signature leaves the claim out, so that it proves none.
        if authentication(message.standing) < Authentication::Signed {
            return Err(Refusal::SignatureRequired.because("an attestation must be signed"));
        }
        if message.envelope.session_id.is_some() {
            self.session_of(message, moment)?;
        }
        let attested = Attested {
            from: message.envelope.from.clone(),
            session: message.envelope.session_id.clone(),
            claim: attestation.claim.clone(),
            evidence: attestation.evidence.clone(),
            at: self.now,
        };
        self.record(Record::Attested(Box::new(attested)));
        let claim = json!({ "recorded": message.envelope.message_id.as_str() });
        let answer = Attestation { claim, evidence: Value::Null };
        self.reply(asker, Body::Attestation(answer), moment);
        Ok(())
    }
}
