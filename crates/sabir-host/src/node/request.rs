//! A message on its way in: read, its sender recognised, handed to the machine, and waited for. All
//! that takes time happens here, outside of the machine's lock.

use std::sync::{Arc, PoisonError};

use sabir_ldp::{
    Body, Channel, Declined, DelegateId, DelegateInput, Envelope, Failure, IdentityCard, Means,
    MessageId, MessageType, Moment, PublicKey, Received, Rejection, RequestId, Standing, TaskId,
    TaskKey, TrustFault,
};
use sabir_store::peers::Pinning;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::answer::{Answer, Voice, unavailable};
use super::core::{Core, Room};
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
    about: About,
    /// The key that its sender came with first.
    first_key: Option<PublicKey>,
}

/// What an answer needs to know of a message. The message itself is the machine's: it may be large,
/// and a task may run for long.
#[derive(Debug, Default)]
struct About {
    /// None when the message could not be read.
    kind: Option<MessageType>,
    task: Option<TaskId>,
    from: Option<DelegateId>,
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
        // An echo writes about what it is told, beside what it is told in. Nothing was taken in yet,
        // so that who is refused for want of room can come again.
        let room = self.room_in_time(Received::weight_of(text)).await;
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
        let about = read.as_ref().map(|received| About::of(received)).unwrap_or_default();
        let Some(room) = room.filter(|_| self.closed.get().is_none()) else {
            let received = read.as_deref().ok();
            let Some(mut moment) = self.moment() else { return Err(String::new()) };
            let error = unavailable(self.why_not());
            return Err(
                self.with_pen(|pen| pen.write_failure(&voice, received, error, &mut moment))
            );
        };
        let (reply, answer) = oneshot::channel();
        let (admitted, is_admitted) = oneshot::channel();
        let key = match wish {
            Wish::Stream => about.submitted(),
            Wish::Answer => None,
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
        let Some(id) = id else { return Err(self.refuse(&voice, &about)) };
        let trail = key.zip(topic).map(|(key, topic)| Trail { key, topic, admitted: is_admitted });
        let request = Request {
            core: Arc::clone(self),
            id,
            reply: answer,
            is_answered: false,
            voice,
            about,
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
    fn refuse(self: &Arc<Self>, voice: &Voice, about: &About) -> String {
        let Some(mut moment) = self.moment() else { return String::new() };
        let answer = about.failure(voice, &self.why_not(), &self.card, &mut moment);
        self.with_pen(|pen| pen.write(answer))
    }

    fn why_not(&self) -> String {
        self.why_closed().unwrap_or_else(|| "this node cannot answer now".to_owned())
    }

    /// Room, if there is some before a caller loses patience.
    async fn room_in_time(&self, bytes: usize) -> Option<Room> {
        timeout(self.patience, self.room_for(bytes)).await.ok().flatten()
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
        let answer = match timeout(self.core.patience, self.replied()).await {
            Ok(answer) => answer,
            Err(_) => {
                // It takes no room that is worth waiting for.
                self.core.turn(None, DelegateInput::GiveUp { request: self.id });
                // What is on its way to the disk is not overtaken; a disk may be slow, and not
                // forever.
                timeout(SLOWEST_DISK, self.replied()).await.ok().flatten()
            }
        };
        // An answer that is there is written, however late it came.
        match answer {
            Some(answer) => self.write(answer).await,
            None => self.core.refuse(&self.voice, &self.about),
        }
    }

    /// The answer; none when the node stopped before there was one, or when it was given before.
    pub(super) async fn replied(&mut self) -> Option<Answer> {
        if self.is_answered {
            return None;
        }
        let answer = (&mut self.reply).await.ok();
        self.is_answered = true;
        answer
    }

    /// Signs an answer. A key that came first is tied to its sender before it is answered, and only
    /// when the machine let the message pass.
    pub(super) async fn write(&mut self, answer: Answer) -> String {
        let is_welcome = matches!(answer.envelope.body, Body::CapabilityManifest(_));
        if let Some(key) = self.first_key.take().filter(|_| is_welcome)
            && let Some(owner) = self.about.from.clone()
        {
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
        let answer = self.about.failure(&self.voice, why, &self.core.card, &mut moment);
        self.core.with_pen(|pen| pen.write(answer))
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

impl About {
    fn of(received: &Received) -> Self {
        let Envelope { body, from, .. } = &received.envelope;
        Self {
            kind: Some(body.message_type()),
            task: body.task_id().cloned(),
            from: Some(from.clone()),
        }
    }

    /// The task that it orders.
    fn submitted(&self) -> Option<TaskKey> {
        let is_order = self.kind == Some(MessageType::TaskSubmit);
        let (owner, id) = self.from.clone().zip(self.task.clone()).filter(|_| is_order)?;
        Some(TaskKey { owner, id })
    }

    /// That it cannot be done now, in the form that suits the message.
    fn failure(
        &self,
        voice: &Voice,
        why: &str,
        card: &IdentityCard,
        moment: &mut Moment,
    ) -> Answer {
        let error = unavailable(why);
        let body = match self.kind {
            Some(MessageType::Hello | MessageType::SessionPropose) => {
                Body::SessionReject(Rejection { reason: why.to_owned(), error: Some(error) })
            }
            _ => Body::TaskFailed(Failure { task_id: self.task.clone(), error }),
        };
        let mut envelope = Envelope {
            message_id: MessageId::fresh(moment),
            session_id: voice.session.clone(),
            from: card.delegate_id.clone(),
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
        Answer { envelope: Box::new(envelope), seal: voice.seal.clone(), is_refused: true }
    }
}

const SLOWEST_DISK: std::time::Duration = std::time::Duration::from_secs(4);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::future::{BoxFuture, FutureExt as _};
    use sabir_ldp::{
        Finished, Origin, SignaturePolicy, SigningKey, SkillName, TaskOrder, Timestamp, Trust,
        TrustDomain,
    };
    use sabir_store::Store;
    use sabir_store::peers::Peers;
    use serde_json::{Value, json};
    use tempfile::TempDir;
    use tokio::sync::Notify;

    use super::super::core::Closed;
    use super::*;
    use crate::clock::now_ms;
    use crate::{Broken, News, Node, NodeSettings, Skill};

    const LOOPBACK: Channel = Channel { origin: Origin::Loopback, credential: None };

    /// Is done when it is told so.
    #[derive(Debug, Default)]
    struct Waits(Arc<Notify>);

    impl Skill for Waits {
        fn run(&self, _: TaskOrder, _: News) -> BoxFuture<'static, Result<Finished, Broken>> {
            let told = Arc::clone(&self.0);
            async move {
                told.notified().await;
                Ok(Finished::default())
            }
            .boxed()
        }
    }

    async fn node(home: &TempDir, patience: Duration) -> (Node, Arc<Notify>) {
        let card = serde_json::from_value(json!({
            "delegate_id": "ldp:delegate:harbor", "name": "Harbor", "model_family": "m",
            "model_version": "m-1", "trust_domain": { "name": "default" }, "context_window": 1,
            "capabilities": [{ "name": "wait" }], "supported_payload_modes": ["text"],
        }));
        let trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        let mut settings = NodeSettings::new(card.unwrap(), trust);
        settings.patience = patience;
        let skill = Waits::default();
        let done = Arc::clone(&skill.0);
        settings.skills.insert(SkillName::new("wait").unwrap(), Arc::new(skill));
        let store = Store::open(home.path()).unwrap();
        let peers = Peers::open(home.path()).unwrap();
        let key = SigningKey::from_seed(&[7; 32]);
        (Node::start(settings, store, peers, key).await.unwrap(), done)
    }

    fn message(id: &str, body: Value) -> String {
        json!({
            "message_id": id, "session_id": "s", "from": "ldp:delegate:caller",
            "to": "ldp:delegate:harbor", "body": body, "payload_mode": "text",
            "timestamp": Timestamp::from_millis(now_ms()).to_string(),
        })
        .to_string()
    }

    fn propose() -> String {
        message("m-1", json!({ "type": "SESSION_PROPOSE", "config": {} }))
    }

    fn submit(id: &str) -> String {
        let body = json!({ "type": "TASK_SUBMIT", "task_id": "t", "skill": "wait", "input": 1 });
        message(id, body)
    }

    async fn ask(node: &Node, message: &str) -> Value {
        let answer = node.ask(message, LOOPBACK).await;
        serde_json::from_str::<Value>(&answer).unwrap()["body"].take()
    }

    /// LD-N5.
    #[tokio::test]
    async fn who_finds_no_room_in_time_is_refused_and_may_come_again() {
        let home = tempfile::tempdir().unwrap();
        let (node, _) = node(&home, Duration::from_millis(50)).await;
        let halves = [node.0.room_for(usize::MAX).await, node.0.room_for(usize::MAX).await];
        let refused = ask(&node, &propose()).await;
        let error = &refused["error"];
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&"NODE_UNAVAILABLE".into(), &true.into())
        );
        assert_eq!(node.0.machine().waiting.len(), 0);
        drop(halves);
        // The very same message: it was not taken in.
        assert_eq!(ask(&node, &propose()).await["type"], "SESSION_ACCEPT");
        // Who gives up needs no room to be told the state.
        let asking = node.0.take(&submit("m-2"), LOOPBACK).await.unwrap();
        let halves = async {
            node.0.settled().await;
            [node.0.room_for(usize::MAX).await, node.0.room_for(usize::MAX).await]
        };
        let _halves = halves.await;
        let answer: Value = serde_json::from_str(&asking.answer().await).unwrap();
        assert_eq!(answer["body"]["type"], "TASK_UPDATE");
    }

    /// LD-N6: not even one that was on its way in when the node ended.
    #[tokio::test]
    async fn nobody_is_waited_for_after_the_end() {
        let home = tempfile::tempdir().unwrap();
        let (node, _) = node(&home, Duration::from_secs(25)).await;
        let room = node.0.room_for(0).await.unwrap();
        node.0.closed.set(Closed::Failed("the disk is full".to_owned())).unwrap();
        let (reply, _answer) = oneshot::channel();
        let waiter = Waiter { reply, admitted: None };
        let input = |_| DelegateInput::Tick;
        assert_eq!(node.0.turn_for(room, waiter, input, |_| {}), None);
        assert_eq!(node.0.machine().waiting.len(), 0);
    }

    #[tokio::test]
    async fn an_answer_is_given_once() {
        let home = tempfile::tempdir().unwrap();
        let (node, _) = node(&home, Duration::from_secs(25)).await;
        let mut request = node.0.take(&propose(), LOOPBACK).await.unwrap();
        assert!(request.replied().await.is_some());
        assert!(request.replied().await.is_none());
    }

    /// LD-N13.
    #[tokio::test]
    async fn nothing_is_kept_for_the_followers_of_a_task_that_is_over() {
        let home = tempfile::tempdir().unwrap();
        let (node, done) = node(&home, Duration::from_secs(25)).await;
        ask(&node, &propose()).await;
        let (request, trail) = node.0.take_to_follow(&submit("m-2"), LOOPBACK).await.unwrap();
        let trail = trail.unwrap();
        // An update that is on its way to the disk holds the topic when its follower leaves.
        let on_its_way = Arc::clone(&trail.topic);
        drop(super::super::Follow::new(request, Some(trail), None));
        assert_eq!(node.0.machine().topics.len(), 1);
        done.notify_one();
        node.ask(&submit("m-3"), LOOPBACK).await;
        assert_eq!(node.0.machine().topics.len(), 0);
        drop(on_its_way);
    }
}
