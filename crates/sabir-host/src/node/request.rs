//! A message on its way in: read, its sender recognised, handed to the machine, and waited for. All
//! that takes time happens here, outside of the machine's lock.

use std::sync::{Arc, PoisonError};

use sabir_ldp::{
    Body, Channel, Declined, DelegateInput, Means, PublicKey, Received, RequestId, Standing,
    TaskKey, TrustFault,
};
use sabir_store::peers::Pinning;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::answer::{Answer, Voice, unavailable};
use super::core::Core;
use super::machine::Waiter;
use super::topic::Topic;

/// A message that the machine was told, and whose answer is awaited. Dropping it hangs up.
#[derive(Debug)]
pub(super) struct Request {
    core: Arc<Core>,
    id: RequestId,
    reply: oneshot::Receiver<Answer>,
    is_answered: bool,
    pub(super) voice: Voice,
    /// None when the message could not be read.
    received: Option<Box<Received>>,
    /// The key that its sender came with first.
    first_key: Option<PublicKey>,
}

/// What is needed to follow the task of a request.
#[derive(Debug)]
pub(super) struct Trail {
    pub(super) key: TaskKey,
    pub(super) topic: Arc<Topic>,
    pub(super) admitted: oneshot::Receiver<()>,
}

impl Core {
    /// Tells the machine of a message. What cannot even be told comes back as the answer.
    pub(super) async fn take(
        self: &Arc<Self>,
        text: &str,
        channel: Channel,
    ) -> Result<Request, String> {
        self.take_message(text, channel, Wish::Answer).await.map(|(request, _)| request)
    }

    /// The same, and its task, if it has one, is to be followed.
    pub(super) async fn take_to_follow(
        self: &Arc<Self>,
        text: &str,
        channel: Channel,
    ) -> Result<(Request, Option<Trail>), String> {
        self.take_message(text, channel, Wish::Stream).await
    }

    async fn take_message(
        self: &Arc<Self>,
        text: &str,
        channel: Channel,
        wish: Wish,
    ) -> Result<(Request, Option<Trail>), String> {
        // An echo writes about what it is told, beside what it is told in.
        let room = self.room_for(text.len()).await;
        let read = Received::read(text).map(Box::new);
        let standing = read.as_ref().ok().map(|received| self.recognise(received, channel));
        let standing = standing.unwrap_or(Ok(None));
        let seal = match (&read, &standing) {
            (Ok(received), Ok(Some(standing))) => {
                Some(self.machine().delegate.seal_for(&received.envelope, Some(standing)))
            }
            (Ok(received), _) => Some(self.machine().delegate.seal_for(&received.envelope, None)),
            (Err(_), _) => None,
        };
        let voice = match (&read, seal) {
            (Ok(received), Some(seal)) => Voice::to_sender(received, seal),
            (_, _) => Voice::to_nobody(),
        };
        let received = read.as_ref().ok().cloned();
        let Some(room) = room.filter(|_| self.closed.get().is_none()) else {
            return Err(self.refuse(&voice, received.as_deref()));
        };
        let (reply, answer) = oneshot::channel();
        let (admitted, is_admitted) = oneshot::channel();
        let key = match (&received, wish) {
            (Some(received), Wish::Stream) => task_of(received),
            (_, Wish::Answer) | (None, Wish::Stream) => None,
        };
        let waiter = Waiter { reply, admitted: key.is_some().then_some(admitted) };
        let first_key = match &standing {
            Ok(Some(Standing { means: Means::FirstUse(key), .. })) => Some(*key),
            Ok(_) | Err(_) => None,
        };
        let input = |request| match read {
            Ok(received) => DelegateInput::Message {
                request,
                received,
                standing: standing.and_then(|standing| {
                    // A message that was read was looked at.
                    standing.ok_or_else(|| TrustFault::NothingShown.into())
                }),
            },
            Err(malformed) => DelegateInput::Malformed { request, malformed },
        };
        let mut topic = None;
        let id = self.turn_for(room, waiter, input, |machine| {
            topic = key.as_ref().map(|key| machine.topic(key));
        });
        let Some(id) = id else { return Err(self.refuse(&voice, received.as_deref())) };
        let trail = key.zip(topic).map(|(key, topic)| Trail { key, topic, admitted: is_admitted });
        let request = Request {
            core: Arc::clone(self),
            id,
            reply: answer,
            is_answered: false,
            voice,
            received,
            first_key,
        };
        Ok((request, trail))
    }

    /// Who sent a message. It takes the time of a signature, and holds no lock meanwhile.
    fn recognise(
        &self,
        received: &Received,
        channel: Channel,
    ) -> Result<Option<Standing>, Declined> {
        let key = match received.envelope.session_id {
            Some(_) => self.machine().delegate.session_key(received),
            None => None,
        };
        Ok(Some(self.trust().recognise(received, channel, key.as_ref())?))
    }

    /// The node's own word, when the machine is not asked any more.
    pub(super) fn refuse(self: &Arc<Self>, voice: &Voice, received: Option<&Received>) -> String {
        let why = self.why_closed().unwrap_or_else(|| "this node cannot answer now".to_owned());
        let Some(mut moment) = self.moment() else { return String::new() };
        self.with_pen(|pen| pen.write_failure(voice, received, unavailable(why), &mut moment))
    }
}

#[derive(Clone, Copy)]
enum Wish {
    Answer,
    Stream,
}

impl Request {
    /// The answer, or the state when that takes too long.
    pub(super) async fn answer(mut self) -> String {
        if let Ok(text) = timeout(self.core.patience, self.written()).await {
            return text;
        }
        let room = self.core.room_for(0).await;
        self.core.turn(room, DelegateInput::GiveUp { request: self.id });
        // What is on its way to the disk is not overtaken; a disk may be slow, and not forever.
        match timeout(SLOWEST_DISK, self.written()).await {
            Ok(text) => text,
            Err(_) => self.core.refuse(&self.voice, self.received.as_deref()),
        }
    }

    /// The answer as a text, whenever it comes.
    async fn written(&mut self) -> String {
        match self.replied().await {
            Some(answer) => self.write(answer).await,
            None => self.core.refuse(&self.voice, self.received.as_deref()),
        }
    }

    /// The answer; none when the node stopped before there was one.
    pub(super) async fn replied(&mut self) -> Option<Answer> {
        let answer = (&mut self.reply).await.ok();
        self.is_answered = true;
        answer
    }

    /// Signs an answer. A key that came first is tied to its sender before it is answered, and only
    /// when the machine let the message pass.
    pub(super) async fn write(&mut self, answer: Answer) -> String {
        let is_welcome = matches!(answer.envelope.body, Body::CapabilityManifest(_));
        if let Some(key) = self.first_key.take().filter(|_| is_welcome)
            && let Some(received) = &self.received
        {
            let owner = received.envelope.from.clone();
            let kept = match self.core.pins.keep(&owner, key).await {
                Ok(Pinning::Pinned | Pinning::Same) => {
                    let mut trust = self.core.trust.write().unwrap_or_else(PoisonError::into_inner);
                    trust.pin(&owner, key).map_err(|fault| fault.to_string())
                }
                Ok(Pinning::Other(_)) => Err("it is known by another key".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            if let Err(why) = kept {
                return self.failed(&format!("the key cannot be tied to {owner}: {why}"));
            }
        }
        self.core.with_pen(|pen| pen.write(answer))
    }

    pub(super) fn failed(&self, why: &str) -> String {
        let Some(mut moment) = self.core.moment() else { return String::new() };
        let received = self.received.as_deref();
        self.core
            .with_pen(|pen| pen.write_failure(&self.voice, received, unavailable(why), &mut moment))
    }

    pub(super) fn core(&self) -> &Arc<Core> {
        &self.core
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if !self.is_answered {
            self.core.hang_up(self.id);
        }
    }
}

fn task_of(received: &Received) -> Option<TaskKey> {
    let Body::TaskSubmit(submission) = &received.envelope.body else { return None };
    let owner = received.envelope.from.clone();
    Some(TaskKey { owner, id: submission.task_id.clone() })
}

const SLOWEST_DISK: std::time::Duration = std::time::Duration::from_secs(4);
