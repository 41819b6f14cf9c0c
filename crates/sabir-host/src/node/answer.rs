//! From what the machine answers to the text that is sent, sealed. Also the node's own word, when
//! there is no machine to ask.

use sabir_ldp::{
    Body, DelegateId, Envelope, ErrorCategory, Failure, IdentityCard, LdpError, MessageId,
    MessageType, Moment, PayloadMode, Received, Recipient, Refusal, Rejection, Seal, SessionId,
    Severity, SigningKey, TaskId, TaskKey, TaskUpdated, Trust, Update,
};

/// An answer that is not sealed yet.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) envelope: Box<Envelope>,
    pub(super) seal: Seal,
    /// The message was not obeyed: the answer says nothing of any task.
    pub(super) is_refused: bool,
}

/// How somebody is spoken to.
#[derive(Debug, Clone)]
pub(super) struct Voice {
    pub(super) to: Recipient,
    pub(super) session: Option<SessionId>,
    pub(super) mode: PayloadMode,
    pub(super) seal: Seal,
}

/// What an answer needs to know of a message. The message itself is the machine's: it may be large,
/// and a task may run for long.
#[derive(Debug, Default)]
pub(super) struct About {
    /// None when the message could not be read.
    kind: Option<MessageType>,
    task: Option<TaskId>,
    pub(super) from: Option<DelegateId>,
}

/// What signs for the node.
#[derive(Debug)]
pub(super) struct Pen<'a> {
    pub(super) card: &'a IdentityCard,
    pub(super) key: &'a SigningKey,
    pub(super) trust: &'a Trust,
}

impl Voice {
    /// Like the sender of a message was.
    pub(super) fn to_sender(received: &Received, seal: Seal) -> Self {
        let envelope = &received.envelope;
        Self {
            to: Recipient::Delegate(envelope.from.clone()),
            session: envelope.session_id.clone(),
            mode: envelope.payload_mode,
            seal,
        }
    }

    /// To somebody of whom nothing could be read.
    pub(super) fn to_nobody() -> Self {
        let (to, session) = (Recipient::Unnamed, None);
        Self { to, session, mode: PayloadMode::Text, seal: Seal::None }
    }
}

impl About {
    pub(super) fn of(received: &Received) -> Self {
        let Envelope { body, from, .. } = &received.envelope;
        Self {
            kind: Some(body.message_type()),
            task: body.task_id().cloned(),
            from: Some(from.clone()),
        }
    }

    /// As messages name it; none when it could not be read.
    pub(super) fn kind_name(&self) -> Option<&'static str> {
        self.kind.map(MessageType::wire_name)
    }

    /// The task that it orders.
    pub(super) fn submitted(&self) -> Option<TaskKey> {
        let is_order = self.kind == Some(MessageType::TaskSubmit);
        let (owner, id) = self.from.clone().zip(self.task.clone()).filter(|_| is_order)?;
        Some(TaskKey { owner, id })
    }
}

impl Pen<'_> {
    pub(super) fn write(&self, answer: Answer) -> String {
        let Answer { mut envelope, seal, .. } = answer;
        self.seal(&mut envelope, &seal)
    }

    pub(super) fn write_update(
        &self,
        voice: &Voice,
        updated: &TaskUpdated,
        moment: &mut Moment,
    ) -> String {
        let body = Body::TaskUpdate(Update {
            task_id: updated.key.id.clone(),
            progress: updated.progress,
            // One reference looks for the state in the message.
            message: updated.message.clone().or_else(|| Some(updated.state.wire_name().to_owned())),
            state: Some(updated.state),
            seq: Some(updated.seq),
        });
        self.say(voice, body, moment)
    }

    /// The node's own refusal, in the form that suits the message.
    pub(super) fn write_failure(
        &self,
        voice: &Voice,
        about: &About,
        error: LdpError,
        moment: &mut Moment,
    ) -> String {
        let body = match about.kind {
            Some(MessageType::Hello | MessageType::SessionPropose) => {
                let reason = error.message.clone();
                Body::SessionReject(Rejection { reason, error: Some(error) })
            }
            _ => Body::TaskFailed(Failure { task_id: about.task.clone(), error }),
        };
        self.say(voice, body, moment)
    }

    fn say(&self, voice: &Voice, body: Body, moment: &mut Moment) -> String {
        let mut envelope = Envelope {
            message_id: MessageId::fresh(moment),
            session_id: voice.session.clone(),
            from: self.card.delegate_id.clone(),
            to: voice.to.clone(),
            body,
            payload_mode: voice.mode,
            timestamp: moment.now().into(),
            provenance: None,
            signature: None,
            signature_algorithm: None,
            nonce: None,
        };
        voice.seal.prepare(&mut envelope, moment);
        self.seal(&mut envelope, &voice.seal)
    }

    fn seal(&self, envelope: &mut Envelope, seal: &Seal) -> String {
        let error = match seal.write(envelope, self.key, self.trust) {
            Ok(text) => return text,
            Err(error) => error,
        };
        // What cannot be signed as it should be says so, and nothing else.
        let why = format!("the answer cannot be signed: {error}");
        let task_id = envelope.body.task_id().cloned();
        // It would be the same again, and what was asked for may have been done.
        let mut error = Refusal::TaskFailed.error(why);
        error.retryable = false;
        envelope.body = Body::TaskFailed(Failure { task_id, error });
        seal.write(envelope, self.key, self.trust).unwrap_or_else(|_| {
            envelope.signature_algorithm = None;
            envelope.nonce = None;
            envelope.to_text()
        })
    }
}

/// The node cannot do it now. It was not done, and may be tried again.
pub(super) fn unavailable(why: impl Into<String>) -> LdpError {
    LdpError {
        code: UNAVAILABLE.to_owned(),
        category: ErrorCategory::Runtime,
        message: why.into(),
        severity: Severity::Error,
        retryable: true,
        partial_output: None,
    }
}

const UNAVAILABLE: &str = "NODE_UNAVAILABLE";
