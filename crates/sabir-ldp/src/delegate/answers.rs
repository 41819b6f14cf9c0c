//! What a delegate says: envelopes around its answers, and refusals. It knows forms, not reasons.

use super::claim::Proof;
use super::record::{Record, Refused};
use super::{Declined, Delegate, Output, RequestId};
use crate::envelope::{Body, Envelope, Failure, MessageType, Recipient, Rejection};
use crate::error::LdpError;
use crate::id::{DelegateId, MessageId, SessionId, TaskId};
use crate::mode::PayloadMode;
use crate::moment::Moment;
use crate::seal::Seal;

/// Who waits for an answer, and how it is to be sent.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) request: RequestId,
    pub(super) to: Option<DelegateId>,
    pub(super) session: Option<SessionId>,
    pub(super) mode: PayloadMode,
    pub(super) seal: Seal,
    pub(super) proof: Proof,
}

/// What a refused message was, as far as it could be read.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    pub(super) from: Option<DelegateId>,
    pub(super) session: Option<SessionId>,
    pub(super) message: Option<MessageId>,
    pub(super) kind: Option<MessageType>,
    pub(super) task: Option<TaskId>,
}

impl Delegate {
    pub(super) fn reply(&mut self, asker: &Asker, body: Body, moment: &mut Moment) {
        let envelope = self.envelope(asker, body, moment);
        let (request, seal) = (asker.request, asker.seal.clone());
        self.outputs.push_back(Output::Reply { request, envelope: Box::new(envelope), seal });
    }

    pub(super) fn envelope(&self, asker: &Asker, body: Body, moment: &mut Moment) -> Envelope {
        let to = asker.to.clone().map_or(Recipient::Unnamed, Recipient::Delegate);
        let mut envelope = Envelope {
            message_id: MessageId::fresh(moment),
            session_id: asker.session.clone(),
            from: self.settings.card.delegate_id.clone(),
            to,
            body,
            payload_mode: asker.mode,
            timestamp: self.now.into(),
            provenance: None,
            signature: None,
            signature_algorithm: None,
            nonce: None,
        };
        asker.seal.prepare(&mut envelope, moment);
        envelope
    }

    /// Says no, and keeps a record of it.
    pub(super) fn refuse(
        &mut self,
        asker: &Asker,
        about: About,
        declined: Declined,
        moment: &mut Moment,
    ) {
        let error = declined.error();
        let body = match about.kind {
            Some(MessageType::Hello | MessageType::SessionPropose) => {
                Body::SessionReject(Rejection {
                    reason: error.message.clone(),
                    error: Some(error.clone()),
                })
            }
            _ => Body::TaskFailed(Failure { task_id: about.task.clone(), error: error.clone() }),
        };
        let refused = Refused {
            from: about.from,
            session: about.session,
            message: about.message,
            kind: about.kind,
            task: about.task,
            code: error.code,
            why: error.message,
            at: self.now,
        };
        self.record(Record::Refused(Box::new(refused)));
        self.reply(asker, body, moment);
    }
}

pub(super) fn failed(task: &TaskId, error: LdpError) -> Body {
    Body::TaskFailed(Failure { task_id: Some(task.clone()), error })
}
