//! The inbox: what waits for a person. Approvals of delegated tasks, of conversations and of calls
//! at the desk, questions and blockers are put here; whoever shows them to a person lists and decides
//! them, and who decides first has decided.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sabir_ldp::{SkillName, TaskKey};
use sabir_telemetry::{metrics, topic};
use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, watch};

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Inbox(Arc<Shared>);

/// Something that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Matter {
    /// The inbox numbers what it is given. No number stands for two matters, also not in the inbox of
    /// another start.
    pub id: u64,
    pub asker: Asker,
    pub kind: MatterKind,
    /// What is to be decided about, in words and in full: a command, or the lines of a patch.
    pub what: String,
    /// When the inbox was given it.
    pub asked_at_ms: u64,
    /// What can be decided.
    pub choices: Vec<Decision>,
}

/// On whose behalf something is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Asker {
    /// A task that somebody delegated to this node.
    Task {
        key: TaskKey,
        skill: SkillName,
        /// Which delegate of this node does it; its own has no name.
        delegate: String,
    },
    /// A conversation with the engine.
    Session { id: String },
    /// A call of a model at the desk.
    Desk { collection: Option<String> },
    /// A task that this node gave to another.
    Order { id: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatterKind {
    /// May this be done?
    Approval,
    /// Is this as it should be?
    Question,
    /// It does not go on by itself.
    Blocker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Approve,
    /// Also the next time, for as long as whoever asks goes on.
    ApproveForSession,
    Deny,
}

/// A decision, and what the person said with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub decision: Decision,
    /// Only to a blocker.
    pub words: Option<String>,
}

/// Why a decision counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// Nothing waits under that number: it was decided already, or whoever asked is gone.
    NotWaiting(u64),
    /// That was no choice.
    NotOffered(u64),
}

/// A matter that was put into the inbox. Dropping it takes it back.
#[derive(Debug)]
pub struct Asked {
    inbox: Inbox,
    id: u64,
    word: oneshot::Receiver<Word>,
}

/// Keeps what somebody asks out of the inbox. Dropping it opens the inbox again; what was asked
/// meanwhile is a no.
#[derive(Debug)]
#[must_use = "it holds only while it lives"]
pub struct Closed {
    inbox: Inbox,
    number: u64,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Waiting>,
    changes: watch::Sender<u64>,
}

#[derive(Debug)]
struct Waiting {
    /// The number that was given last.
    last: u64,
    matters: BTreeMap<u64, (Matter, oneshot::Sender<Word>)>,
    /// Numbered as matters are.
    closed: BTreeMap<u64, Shut>,
}

/// For whom the inbox is closed.
struct Shut {
    whose: Box<dyn Fn(&Asker) -> bool + Send>,
    /// Of those who asked: they hear nothing for as long as it is closed.
    unanswered: Vec<oneshot::Sender<Word>>,
}

impl Matter {
    /// A question that is answered with yes or no. Its number and time are the inbox's to give.
    pub fn new(asker: Asker, kind: MatterKind, what: String) -> Self {
        let choices = vec![Decision::Approve, Decision::Deny];
        Self { id: 0, asker, kind, what, asked_at_ms: 0, choices }
    }

    /// A yes may also hold for the next time.
    #[must_use]
    pub fn or_for_session(mut self) -> Self {
        self.choices = vec![Decision::Approve, Decision::ApproveForSession, Decision::Deny];
        self
    }
}

impl Matter {
    /// Who asks, and not for what: a command may hold anything.
    fn tell_log(&self) {
        let id = self.id;
        match &self.asker {
            Asker::Task { key, skill, .. } => {
                let (task, from, skill) = (key.id.as_str(), key.owner.as_str(), skill.as_str());
                tracing::info!(target: topic::APPROVAL, id, task, from, skill, "asked");
            }
            Asker::Session { id: session } => {
                tracing::info!(target: topic::APPROVAL, id, session, "asked");
            }
            Asker::Desk { .. } => tracing::info!(target: topic::APPROVAL, id, by = "desk", "asked"),
            Asker::Order { id: order } => {
                tracing::info!(target: topic::APPROVAL, id, order, "asked")
            }
        }
    }
}

impl Decision {
    fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::ApproveForSession => "approve_for_session",
            Self::Deny => "deny",
        }
    }
}

impl Default for Inbox {
    fn default() -> Self {
        let changes = watch::channel(0).0;
        let waiting =
            Waiting { last: first_number(), matters: BTreeMap::new(), closed: BTreeMap::new() };
        Self(Arc::new(Shared { waiting: Mutex::new(waiting), changes }))
    }
}

/// Somewhere else at each start. Who says yes to what a page showed before the node was started anew must
/// not say it to what waits there now.
fn first_number() -> u64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes) >> UNUSED_BITS,
        // The clock is seldom where it was.
        Err(_) => crate::clock::now_ms(),
    }
}

/// Pages keep numbers in 53 bits; the rest of these is for counting on.
const UNUSED_BITS: u32 = 64 - 52;

impl Inbox {
    /// What waits, oldest first.
    pub fn list(&self) -> Vec<Matter> {
        self.waiting().matters.values().map(|(matter, _)| matter.clone()).collect()
    }

    /// How much waits.
    pub fn count(&self) -> usize {
        self.waiting().matters.len()
    }

    pub fn is_waiting(&self, id: u64) -> bool {
        self.waiting().matters.contains_key(&id)
    }

    /// The first decision counts.
    pub fn decide(&self, id: u64, decision: Decision) -> Result<(), Undecided> {
        self.answer(id, Word { decision, words: None })
    }

    /// The same, with words for whoever is blocked.
    pub fn answer(&self, id: u64, word: Word) -> Result<(), Undecided> {
        let answer = {
            let mut waiting = self.waiting();
            let (matter, _) = waiting.matters.get(&id).ok_or(Undecided::NotWaiting(id))?;
            let takes_words = matter.kind == MatterKind::Blocker;
            if !matter.choices.contains(&word.decision) || (word.words.is_some() && !takes_words) {
                return Err(Undecided::NotOffered(id));
            }
            waiting.matters.remove(&id).map(|(_, answer)| answer)
        };
        self.changed();
        let answer = answer.ok_or(Undecided::NotWaiting(id))?;
        let decision = word.decision.name();
        metrics().approvals_decided.add(decision, 1);
        tracing::info!(target: topic::APPROVAL, id, decision, "decided");
        answer.send(word).map_err(|_| Undecided::NotWaiting(id))
    }

    /// Changes whenever the list does.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Puts a matter in, under a number of its own.
    pub fn ask(&self, matter: Matter) -> Asked {
        let (answer, word) = oneshot::channel();
        let id = {
            let mut waiting = self.waiting();
            waiting.last += 1;
            let id = waiting.last;
            let matter = Matter { id, asked_at_ms: crate::clock::now_ms(), ..matter };
            if let Some(shut) = waiting.closed.values_mut().find(|it| (it.whose)(&matter.asker)) {
                shut.unanswered.push(answer);
                return Asked { inbox: self.clone(), id, word };
            }
            matter.tell_log();
            waiting.matters.insert(id, (matter, answer));
            id
        };
        self.changed();
        Asked { inbox: self.clone(), id, word }
    }

    /// From now on nobody decides about what these ask: what waits is taken back, and what they ask
    /// later is not put in.
    pub fn close(&self, whose: impl Fn(&Asker) -> bool + Send + 'static) -> Closed {
        let mut waiting = self.waiting();
        let taken = waiting.matters.extract_if(.., |_, (matter, _)| whose(&matter.asker));
        let taken: Vec<(u64, oneshot::Sender<Word>)> =
            taken.map(|(id, (_, answer))| (id, answer)).collect();
        for (id, _) in &taken {
            tell_withdrawn(*id);
        }
        let is_changed = !taken.is_empty();
        let unanswered = taken.into_iter().map(|(_, answer)| answer).collect();
        waiting.last += 1;
        let number = waiting.last;
        waiting.closed.insert(number, Shut { whose: Box::new(whose), unanswered });
        drop(waiting);
        if is_changed {
            self.changed();
        }
        Closed { inbox: self.clone(), number }
    }

    fn changed(&self) {
        self.0.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Nobody can decide any more when everything is over: that is a no.
    pub async fn decided(&mut self) -> Decision {
        self.answered().await.decision
    }

    /// The same, with what the person said.
    pub async fn answered(&mut self) -> Word {
        let nobody = Word { decision: Decision::Deny, words: None };
        (&mut self.word).await.unwrap_or(nobody)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.inbox.waiting().matters.remove(&self.id).is_some() {
            tell_withdrawn(self.id);
            self.inbox.changed();
        }
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        let shut = self.inbox.waiting().closed.remove(&self.number);
        // Who still waits is woken when nobody holds the lock.
        drop(shut);
    }
}

fn tell_withdrawn(id: u64) {
    metrics().approvals_decided.add("withdrawn", 1);
    tracing::info!(target: topic::APPROVAL, id, "nobody waits for it any more");
}

impl fmt::Debug for Shut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shut").field("unanswered", &self.unanswered.len()).finish_non_exhaustive()
    }
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWaiting(id) => write!(f, "nothing waits under the number {id}"),
            Self::NotOffered(id) => write!(f, "that cannot be said to number {id}"),
        }
    }
}

impl std::error::Error for Undecided {}

#[cfg(test)]
mod tests {
    use super::*;

    fn matter(what: &str) -> Matter {
        let asker = Asker::Session { id: "s".to_owned() };
        Matter::new(asker, MatterKind::Approval, what.to_owned())
    }

    #[tokio::test]
    async fn the_first_decision_counts() {
        let inbox = Inbox::default();
        let mut changes = inbox.watch();
        let mut first = inbox.ask(matter("one"));
        let mut second = inbox.ask(matter("two").or_for_session());
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        let listed: Vec<_> = inbox.list().into_iter().map(|it| (it.id, it.what)).collect();
        assert_eq!(listed, [(first.id(), "one".to_owned()), (second.id(), "two".to_owned())]);
        let (one, two) = (first.id(), second.id());
        assert_eq!(inbox.decide(one, Decision::ApproveForSession), Err(Undecided::NotOffered(one)));
        assert!(!changes.has_changed().unwrap(), "what is no choice changes nothing");
        assert_eq!(inbox.decide(one, Decision::Deny), Ok(()));
        assert_eq!(inbox.decide(one, Decision::Approve), Err(Undecided::NotWaiting(one)));
        assert_eq!(inbox.decide(two, Decision::ApproveForSession), Ok(()));
        assert_eq!(first.decided().await, Decision::Deny);
        assert_eq!(second.decided().await, Decision::ApproveForSession);
        assert!(inbox.list().is_empty());
    }

    #[tokio::test]
    async fn a_blocker_is_answered_in_words() {
        let inbox = Inbox::default();
        let asker = Asker::Session { id: "s".to_owned() };
        let blocker = Matter::new(asker, MatterKind::Blocker, "no key".to_owned());
        let (mut blocked, plain) = (inbox.ask(blocker), inbox.ask(matter("one")));
        let word = Word { decision: Decision::Approve, words: Some("take mine".to_owned()) };
        let refused = inbox.answer(plain.id(), word.clone());
        assert_eq!(refused, Err(Undecided::NotOffered(plain.id())), "a yes is no place for more");
        assert_eq!(inbox.answer(blocked.id(), word.clone()), Ok(()));
        assert_eq!(blocked.answered().await, word);
    }

    #[tokio::test]
    async fn who_is_gone_waits_for_nothing() {
        let inbox = Inbox::default();
        let asked = inbox.ask(matter("gone"));
        let (id, mut changes) = (asked.id(), inbox.watch());
        drop(asked);
        assert!(changes.has_changed().unwrap() && !inbox.is_waiting(id));
        assert_eq!(inbox.decide(id, Decision::Approve), Err(Undecided::NotWaiting(id)));
        changes.mark_unchanged();
        let other = inbox.ask(matter("next"));
        assert_ne!(other.id(), id, "a number is never used again");
    }

    /// OR-23
    #[tokio::test]
    async fn nobody_decides_for_whom_the_inbox_is_closed() {
        let inbox = Inbox::default();
        let session = |id: &str| Asker::Session { id: id.to_owned() };
        let of = |id: &str| Matter::new(session(id), MatterKind::Approval, id.to_owned());
        let (mut early, other) = (inbox.ask(of("a")), inbox.ask(of("b")));
        let mut changes = inbox.watch();
        let closed = inbox.close(move |asker| *asker == session("a"));
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        let late = inbox.ask(of("a"));
        for asked in [&early, &late] {
            let decided = inbox.decide(asked.id(), Decision::Approve);
            assert_eq!(decided, Err(Undecided::NotWaiting(asked.id())));
        }
        let listed: Vec<u64> = inbox.list().iter().map(|matter| matter.id).collect();
        assert_eq!(listed, [other.id()]);
        assert!(!changes.has_changed().unwrap());
        let unheard = futures_util::FutureExt::now_or_never(early.decided());
        assert_eq!(unheard, None, "that nobody is asked is no answer yet");
        drop(late);
        drop(closed);
        assert_eq!(early.decided().await, Decision::Deny);
        let again = inbox.ask(of("a"));
        assert_eq!(inbox.decide(again.id(), Decision::Approve), Ok(()));
    }

    /// CO-26: who decides about what was shown before a start decides about nothing else.
    #[test]
    fn each_start_has_numbers_of_its_own() {
        let starts: Vec<Inbox> = (0..16).map(|_| Inbox::default()).collect();
        let asked: Vec<Asked> = starts.iter().map(|inbox| inbox.ask(matter("one"))).collect();
        for (at, one) in asked.iter().enumerate() {
            assert!(one.id() < 1 << 53, "a page can keep it");
            let elsewhere = starts.iter().enumerate().filter(|(other, _)| *other != at);
            assert!(elsewhere.map(|(_, it)| it).all(|inbox| !inbox.is_waiting(one.id())));
        }
    }
}
