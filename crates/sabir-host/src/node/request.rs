//! A message on its way in: read, its sender recognised, handed to the machine, and waited for. All
//! that takes time happens here, outside of the machine's lock.

use std::sync::{Arc, PoisonError};

use sabir_ldp::{
    Body, Channel, Declined, DelegateId, DelegateInput, Means, PublicKey, Received, RequestId,
    Seal, Standing, TaskKey, Weighed,
};
use sabir_store::peers::Pinning;
use sabir_telemetry::current;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::answer::{About, Answer, Voice, unavailable};
use super::core::{Core, Room};
use super::entrance::Arrival;
use super::keys::Kept;
use super::machine::Waiter;
use super::topic::Topic;
use super::watched;

/// A message that the machine was told, and whose answer is awaited. Dropping it hangs up.
#[derive(Debug)]
pub(super) struct Request {
    core: Arc<Core>,
    id: RequestId,
    reply: oneshot::Receiver<Box<Answer>>,
    is_answered: bool,
    pub(super) voice: Voice,
    about: About,
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
        // An echo writes about what it is told, beside what it is told in. Nothing was taken in yet,
        // so that who is refused for want of room can come again.
        let weighed = Weighed::of(text);
        let room = self.room_in_time(weighed.bytes()).await;
        let mut read = weighed.read().map(|received| {
            let standing = self.recognise(&received, channel);
            (Box::new(received), standing)
        });
        if let Ok((received, standing @ Err(_))) = &mut read
            && self.has_forgotten(&received.envelope.from).await
        {
            *standing = self.recognise(received, channel);
        }
        let about = read.as_ref().map(|(received, _)| About::of(received)).unwrap_or_default();
        let voice = match &read {
            Ok((received, standing)) => {
                let keys = self.keys_of(received);
                let (standing, keys) = (standing.as_ref().ok(), keys.as_ref().map(|it| &it.keys));
                let seal = Seal::of_answer(&received.envelope, standing, &self.trust(), keys);
                Voice::to_sender(received, seal)
            }
            Err(_) => Voice::to_nobody(),
        };
        let Some(room) = room.filter(|_| self.closed.get().is_none()) else {
            return Err(self.refuse(&voice, &about));
        };
        let (reply, answer) = oneshot::channel();
        let (key, admitted, is_admitted) = match wish {
            Wish::Stream => {
                let (admitted, is_admitted) = oneshot::channel();
                (about.submitted(), Some(admitted), Some(is_admitted))
            }
            Wish::Answer => (None, None, None),
        };
        let admitted = admitted.filter(|_| key.is_some());
        let waiter = Waiter { reply, admitted, trace: current() };
        let first_key = match &read {
            Ok((_, Ok(Standing { means: Means::FirstUse(key), .. }))) => Some(*key),
            Ok(_) | Err(_) => None,
        };
        let topic = key.as_ref().map(|key| self.machine().topic(key));
        let id = self.entrance.number();
        let input = match read {
            Ok((received, standing)) => DelegateInput::Message { request: id, received, standing },
            Err(malformed) => DelegateInput::Malformed { request: id, malformed },
        };
        self.bring(Arrival { request: id, input, waiter, room });
        let trail = key.zip(topic).zip(is_admitted);
        let trail = trail.map(|((key, topic), admitted)| Trail { key, topic, admitted });
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
    fn recognise(&self, received: &Received, channel: Channel) -> Result<Standing, Declined> {
        let keys = self.keys_of(received);
        let own = keys.as_ref().filter(|kept| kept.owner == received.envelope.from);
        Ok(self.trust().recognise(received, channel, own.map(|kept| &kept.keys.initiator))?)
    }

    /// Those of the session that a message names.
    fn keys_of(&self, received: &Received) -> Option<Arc<Kept>> {
        self.keys.find(received.envelope.session_id.as_ref()?)
    }

    /// Whether the key that an id is tied to was taken away or replaced by somebody else of this home. It
    /// is looked for when somebody is not believed, so that it costs nobody else anything.
    async fn has_forgotten(&self, owner: &DelegateId) -> bool {
        let Some(known) = self.trust().pinned(owner) else { return false };
        // Where nobody can say so, nothing was.
        let Ok(kept) = self.pins.of(owner).await else { return false };
        if kept == Some(known) {
            return false;
        }
        let mut trust = self.trust.write().unwrap_or_else(PoisonError::into_inner);
        // Another message may have been quicker.
        if trust.pinned(owner) == Some(known) {
            trust.unpin(owner);
            if let Some(key) = kept {
                // There is room for it where the other one was.
                let _ = trust.pin(owner, key);
            }
        }
        true
    }

    /// The node's own word, when the machine is not asked any more.
    fn refuse(self: &Arc<Self>, voice: &Voice, about: &About) -> String {
        let why = self.why_closed().unwrap_or("this node cannot answer now");
        self.say_no(voice, about, why)
    }

    fn say_no(self: &Arc<Self>, voice: &Voice, about: &About, why: &str) -> String {
        let Some(mut moment) = self.moment() else { return String::new() };
        let error = unavailable(why);
        watched::refused(about, &error.code);
        self.with_pen(|pen| pen.write_failure(voice, about, error, &mut moment))
    }

    /// Room, if there is some before a caller loses patience.
    async fn room_in_time(&self, bytes: usize) -> Option<Room> {
        match self.room_now(bytes) {
            Some(room) => Some(room),
            None => timeout(self.patience, self.room_for(bytes)).await.ok().flatten(),
        }
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
    pub(super) async fn replied(&mut self) -> Option<Box<Answer>> {
        if self.is_answered {
            return None;
        }
        let answer = (&mut self.reply).await.ok();
        self.is_answered = true;
        answer
    }

    /// Seals an answer. A key that came first is tied to its sender before it is answered, and only
    /// when the machine let the message pass.
    pub(super) async fn write(&mut self, answer: Box<Answer>) -> String {
        watched::answered(&self.about, &answer);
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
        self.core.with_pen(|pen| pen.write(*answer))
    }

    pub(super) fn failed(&self, why: &str) -> String {
        self.core.say_no(&self.voice, &self.about, why)
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

const SLOWEST_DISK: std::time::Duration = std::time::Duration::from_secs(4);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::future::{BoxFuture, FutureExt as _};
    use sabir_ldp::{
        Finished, Origin, Record, SignaturePolicy, SigningKey, SkillName, TaskOrder, Timestamp,
        Trust, TrustDomain,
    };
    use sabir_store::Store;
    use sabir_store::peers::Peers;
    use serde_json::{Value, json};
    use tempfile::TempDir;
    use tokio::sync::Notify;

    use super::super::core::Closed;
    use super::super::machine::{Effect, Turn};
    use super::*;
    use crate::clock::now_ms;
    use crate::{Broken, News, Node, NodeSettings, Skill};

    const LOOPBACK: Channel = Channel { origin: Origin::Loopback, credential: None };

    /// Is done when it is told so, and breaks over one task.
    #[derive(Debug, Default)]
    struct Waits(Arc<Notify>);

    impl Skill for Waits {
        fn at_once(&self, order: &TaskOrder) -> Option<Finished> {
            assert_ne!(order.key.id.as_str(), "breaks");
            None
        }

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
        node_over(Store::open(home.path()).unwrap(), home, patience).await
    }

    async fn node_over(store: Store, home: &TempDir, patience: Duration) -> (Node, Arc<Notify>) {
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

    /// Somebody else fills a journal, and hears that it is full.
    async fn fill(store: Store) -> String {
        let facts = sabir_store::SessionFacts {
            cwd: "/".to_owned(),
            model: "m".repeat(500_000),
            title: None,
            parent: None,
        };
        let entries = vec![sabir_store::Entry::Session(facts)];
        let session_id = sabir_store::SessionId::new("another");
        let batch = sabir_store::Batch { session_id, at_ms: 1, entries };
        let full = tokio::task::spawn_blocking(move || store.append_and_wait(batch)).await.unwrap();
        full.unwrap_err().to_string()
    }

    fn small_store(home: &TempDir) -> Store {
        let options = sabir_store::Options { max_bytes: Some(400_000), ..Default::default() };
        Store::open_with(home.path(), &options).unwrap()
    }

    /// LD-N6: what is full for others is full for the node.
    #[tokio::test]
    async fn a_node_fails_when_somebody_else_cannot_write_in_its_journal() {
        let home = tempfile::tempdir().unwrap();
        let store = small_store(&home);
        let (node, _) = node_over(store.clone(), &home, Duration::from_secs(25)).await;
        assert_eq!(node.counts().condition, crate::Condition::Serving);
        let why = fill(store).await;
        assert_eq!(node.failure().await, why);
    }

    /// LD-N6: who waits for a result that cannot be written does not wait for its signature.
    #[tokio::test]
    async fn a_result_that_is_lost_is_waited_for_by_nobody() {
        let home = tempfile::tempdir().unwrap();
        let store = small_store(&home);
        let (node, _) = node_over(store.clone(), &home, Duration::from_secs(25)).await;
        let result = message(
            "m-1",
            json!({
                "type": "TASK_RESULT", "task_id": "t", "output": 1,
                "provenance": { "produced_by": "ldp:delegate:harbor", "payload_mode_used": "text" },
            }),
        );
        let envelope = Box::new(Received::read(&result).unwrap().envelope);
        let (reader, answer) = oneshot::channel();
        let told = Answer { envelope, seal: Seal::None, is_refused: false };
        fill(store).await;
        node.failure().await;
        {
            let mut machine = node.0.machine();
            let effects = vec![Effect::Reply(node.0.notary.take(Box::new(told), reader))];
            let turn = Turn { records: vec![Record::Forgot], effects };
            node.0.commit(&mut machine, turn, None, Timestamp::from_millis(now_ms()));
        }
        assert!(answer.await.is_err());
    }

    /// LD-N6: not even one that was on its way in when the node ended.
    #[tokio::test]
    async fn nobody_is_waited_for_after_the_end() {
        let home = tempfile::tempdir().unwrap();
        let (node, _) = node(&home, Duration::from_secs(25)).await;
        let room = node.0.room_for(0).await.unwrap();
        node.0.closed.set(Closed::Failed("the disk is full".to_owned())).unwrap();
        let (reply, answer) = oneshot::channel();
        let waiter = Waiter { reply, admitted: None, trace: None };
        let request = node.0.entrance.number();
        node.0.bring(Arrival { request, input: DelegateInput::Tick, waiter, room });
        assert!(answer.await.is_err());
        assert_eq!(node.0.machine().waiting.len(), 0);
    }

    #[tokio::test]
    async fn a_panic_over_a_message_is_that_messages_alone() {
        let home = tempfile::tempdir().unwrap();
        let (node, done) = node(&home, Duration::from_secs(25)).await;
        ask(&node, &propose()).await;
        let body =
            json!({ "type": "TASK_SUBMIT", "task_id": "breaks", "skill": "wait", "input": 1 });
        let refused = ask(&node, &message("m-2", body)).await;
        assert_eq!(refused["error"]["code"], "NODE_UNAVAILABLE");
        assert_eq!(node.0.machine().waiting.len(), 0);
        done.notify_one();
        assert_eq!(ask(&node, &submit("m-3")).await["type"], "TASK_RESULT");
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
