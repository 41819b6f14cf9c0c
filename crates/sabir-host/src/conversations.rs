//! Conversations: sessions of the engine that a person talks to from a page that comes and goes. The
//! process holds their connections. What was said is in the journal, so that nothing is shown from
//! here; what needs an answer goes to the inbox.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sabir_engine::{
    ConfigureSession, Decoded, Event, EventMsg, InputItem, InputMode, Op, Submission,
};
use serde::Serialize;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::now_ms;
use crate::engine::{Connection, Engine, Incoming, Question, Shown};
use crate::inbox::{Asker, Decision, Inbox, Matter, MatterKind};

/// Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Conversations(Arc<Shared>);

/// A conversation that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conversation {
    pub id: String,
    pub state: ConversationState,
    pub opened_at_ms: u64,
    /// When somebody last said something in it.
    pub used_at_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationState {
    Idle,
    Working,
    /// For a person.
    Waiting,
}

/// Why somebody is not heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationError {
    /// The engine's word: no model, no such folder, no such session.
    Refused(String),
    /// It is not open.
    NotOpen,
    Empty,
    TooMany {
        limit: usize,
    },
    /// It ended while this was said.
    Ended,
}

struct Shared {
    engine: Engine,
    inbox: Inbox,
    /// After this long, one in which nothing happens is closed.
    patience: Duration,
    /// So many are open at once.
    most: usize,
    live: Mutex<BTreeMap<String, Live>>,
    /// Those that are on their way out.
    closing: Mutex<HashMap<String, CancellationToken>>,
    opening: Turns,
    changes: watch::Sender<u64>,
    running: TaskTracker,
    said: AtomicU64,
}

/// Two who open the same conversation wait for each other, and for nobody else.
#[derive(Default)]
struct Turns(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl Turns {
    fn of(&self, id: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(id).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        turns.insert(id.to_owned(), Arc::downgrade(&turn));
        turn
    }
}

struct Live {
    submissions: mpsc::Sender<Incoming>,
    state: watch::Receiver<ConversationState>,
    opened_at_ms: u64,
    used: watch::Sender<u64>,
    /// Something was said that the agent has not begun with.
    is_addressed: Arc<AtomicBool>,
    stop: CancellationToken,
}

/// Watches one conversation.
struct Watcher {
    id: String,
    shared: Arc<Shared>,
    state: watch::Sender<ConversationState>,
    used: watch::Receiver<u64>,
    is_addressed: Arc<AtomicBool>,
    /// What the agent is at, by what was submitted.
    task: Option<String>,
    stop: CancellationToken,
    submissions: mpsc::WeakSender<Incoming>,
    /// Nobody has let go of it yet.
    is_open: bool,
    /// By the call that waits; cancelled when it waits no longer.
    asked: BTreeMap<String, CancellationToken>,
    questions: FuturesUnordered<BoxFuture<'static, Option<(Question, Decision)>>>,
}

impl Conversations {
    pub fn new(engine: Engine, inbox: Inbox) -> Self {
        Self::with_patience(engine, inbox, PATIENCE)
    }

    /// Closes those in which nothing happens for so long.
    pub fn with_patience(engine: Engine, inbox: Inbox, patience: Duration) -> Self {
        Self::with_room(engine, inbox, patience, MOST_OPEN)
    }

    /// And has room for so many at once.
    pub fn with_room(engine: Engine, inbox: Inbox, patience: Duration, most: usize) -> Self {
        let shared = Shared {
            engine,
            inbox,
            patience,
            most,
            live: Mutex::default(),
            closing: Mutex::default(),
            opening: Turns::default(),
            changes: watch::channel(0).0,
            running: TaskTracker::new(),
            said: AtomicU64::new(0),
        };
        Self(Arc::new(shared))
    }

    /// Begins a conversation, and says its name once it is on disk.
    pub async fn start(
        &self,
        configure: ConfigureSession,
        text: &str,
    ) -> Result<String, ConversationError> {
        let input = said(text)?;
        let id = self.0.open(configure).await?;
        self.0.submit(&id, input).await?;
        Ok(id)
    }

    /// Opens one that is stored. One that is open stays as it is.
    pub async fn open(&self, id: &str) -> Result<(), ConversationError> {
        // Whoever speaks in one that is open waits for nobody who opens or closes another.
        if self.0.live().contains_key(id) {
            return Ok(());
        }
        let turn = self.0.opening.of(id);
        let _turn = turn.lock().await;
        if self.0.live().contains_key(id) {
            return Ok(());
        }
        let closing = self.0.closing().get(id).cloned();
        if let Some(closed) = closing {
            closed.cancelled().await;
        }
        let session_id = Some(id.to_owned());
        self.0.open(ConfigureSession { session_id, ..ConfigureSession::default() }).await.map(drop)
    }

    /// Says something. While the agent works, it hears it before its next turn. A conversation that is
    /// not open is opened.
    pub async fn input(&self, id: &str, text: &str) -> Result<(), ConversationError> {
        let input = said(text)?;
        self.open(id).await?;
        self.0.submit(id, input).await
    }

    /// Ends what the agent is doing.
    pub async fn interrupt(&self, id: &str) -> Result<(), ConversationError> {
        self.0.submit(id, Op::Interrupt).await
    }

    /// Those that are open, by name.
    pub fn list(&self) -> Vec<Conversation> {
        self.0.live().iter().map(|(id, live)| live.shown(id)).collect()
    }

    pub fn get(&self, id: &str) -> Option<Conversation> {
        self.0.live().get(id).map(|live| live.shown(id))
    }

    /// Whether somebody goes on with a session: a person here, or a task of an agent.
    pub fn is_held(&self, id: &str) -> bool {
        self.0.engine.is_held(id)
    }

    /// Changes whenever one is opened, closed, or does something else.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Ends them all, with what they are doing, and waits until everything they started is gone.
    pub async fn shutdown(&self) {
        self.0.running.close();
        let open = std::mem::take(&mut *self.0.live());
        open.values().for_each(|live| live.stop.cancel());
        drop(open);
        self.0.running.wait().await;
    }
}

impl fmt::Debug for Conversations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversations").field("open", &self.0.live().len()).finish_non_exhaustive()
    }
}

impl Shared {
    async fn open(
        self: &Arc<Self>,
        configure: ConfigureSession,
    ) -> Result<String, ConversationError> {
        self.make_room()?;
        let mut connection = self.engine.connect();
        send(&connection.submissions, "open", Op::ConfigureSession(configure)).await?;
        let id = loop {
            match connection.events.recv().await.map(|shown| shown.event.msg) {
                Some(EventMsg::SessionConfigured { session_id, .. }) => break session_id,
                Some(EventMsg::Error { message }) => {
                    return Err(ConversationError::Refused(message));
                }
                Some(_) => {}
                None => return Err(ConversationError::Ended),
            }
        };
        let (state, shown) = watch::channel(ConversationState::Idle);
        let (used, uses) = watch::channel(now_ms());
        let (stop, is_addressed) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
        let live = Live {
            submissions: connection.submissions.clone(),
            state: shown,
            opened_at_ms: now_ms(),
            used,
            is_addressed: Arc::clone(&is_addressed),
            stop: stop.clone(),
        };
        let watcher = Watcher {
            id: id.clone(),
            shared: Arc::clone(self),
            state,
            used: uses,
            is_addressed,
            task: None,
            stop,
            submissions: connection.submissions.downgrade(),
            is_open: true,
            asked: BTreeMap::new(),
            questions: FuturesUnordered::new(),
        };
        self.live().insert(id.clone(), live);
        self.changed();
        self.running.spawn(watcher.run(connection));
        Ok(id)
    }

    /// The one that was idle longest makes room.
    fn make_room(&self) -> Result<(), ConversationError> {
        let mut live = self.live();
        if live.len() < self.most {
            return Ok(());
        }
        let idle = live.iter().filter(|(_, it)| *it.state.borrow() == ConversationState::Idle);
        let longest = idle.min_by_key(|(_, it)| *it.used.borrow()).map(|(id, _)| id.clone());
        let longest = longest.ok_or(ConversationError::TooMany { limit: self.most })?;
        self.let_go(&longest, &mut live);
        Ok(())
    }

    /// Takes one out of the list, which ends it. Another may open the session once it has ended.
    fn let_go(&self, id: &str, live: &mut BTreeMap<String, Live>) {
        if live.remove(id).is_some() {
            self.closing().entry(id.to_owned()).or_default();
        }
    }

    async fn submit(&self, id: &str, op: Op) -> Result<(), ConversationError> {
        let submissions = {
            let live = self.live();
            let live = live.get(id).ok_or(ConversationError::NotOpen)?;
            if let Op::UserInput { .. } = &op {
                live.is_addressed.store(true, Ordering::Relaxed);
            }
            live.used.send_replace(now_ms());
            live.submissions.clone()
        };
        let number = self.said.fetch_add(1, Ordering::Relaxed) + 1;
        send(&submissions, &format!("{:011x}-{number}", now_ms()), op).await
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<String, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closing(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl Watcher {
    /// Reads what the engine tells until there is no more. The session ends with the last who can
    /// submit to it, and those are in the list.
    async fn run(mut self, connection: Connection) {
        let Connection { submissions, mut events, done } = connection;
        drop(submissions);
        loop {
            let closes_at = self.closes_at();
            tokio::select! {
                shown = events.recv() => match shown {
                    Some(shown) => self.hear(shown),
                    None => break,
                },
                Some(answered) = self.questions.next() => {
                    if let Some((question, decision)) = answered {
                        self.asked.remove(question.call_id());
                        self.answer(question.answered(decision)).await;
                        self.settle();
                    }
                }
                () = self.stop.cancelled() => break,
                Ok(()) = self.used.changed() => {}
                () = tokio::time::sleep_until(closes_at.unwrap_or_else(Instant::now)),
                    if closes_at.is_some() =>
                {
                    self.close_unless_used();
                }
            }
        }
        self.forget();
        self.questions.clear();
        drop(events);
        // Everything that the session started ends with it.
        let _ = done.await;
        if let Some(closed) = self.shared.closing().remove(&self.id) {
            closed.cancel();
        }
        self.shared.changed();
    }

    /// When nobody will have used it for long.
    fn closes_at(&self) -> Option<Instant> {
        let is_idle = *self.state.borrow() == ConversationState::Idle
            && !self.is_addressed.load(Ordering::Relaxed);
        let left = (*self.used.borrow())
            .saturating_add(self.shared.patience.as_millis() as u64)
            .saturating_sub(now_ms());
        (is_idle && self.is_open).then(|| Instant::now() + Duration::from_millis(left))
    }

    fn hear(&mut self, shown: Shown) {
        let Event { id, msg } = shown.event;
        if let Some((question, what)) = Question::of(&msg) {
            return self.ask(question, what);
        }
        let state = match msg {
            EventMsg::TaskStarted { .. } => {
                self.is_addressed.store(false, Ordering::Relaxed);
                self.task = Some(id);
                ConversationState::Working
            }
            EventMsg::Error { .. } if self.task.as_ref() != Some(&id) => {
                // What was said is refused, or was to join a task that failed.
                return self.is_addressed.store(false, Ordering::Relaxed);
            }
            EventMsg::TaskComplete { .. }
            | EventMsg::TurnAborted { .. }
            | EventMsg::Error { .. } => {
                self.is_addressed.store(false, Ordering::Relaxed);
                self.task = None;
                self.take_back(|_| true);
                ConversationState::Idle
            }
            EventMsg::ApprovalExpired { call_id } => {
                self.take_back(|it| it == call_id);
                return self.settle();
            }
            _ => return,
        };
        self.show(state);
    }

    fn ask(&mut self, question: Question, what: String) {
        let asker = Asker::Session { id: self.id.clone() };
        let matter = Matter::new(asker, MatterKind::Approval, what).or_for_session();
        let mut asked = self.shared.inbox.ask(matter);
        let gone = CancellationToken::new();
        self.asked.insert(question.call_id().to_owned(), gone.clone());
        self.questions.push(Box::pin(async move {
            let decision = gone.run_until_cancelled(asked.decided()).await?;
            Some((question, decision))
        }));
        self.show(ConversationState::Waiting);
    }

    async fn answer(&mut self, op: Op) {
        // Whoever closed it meanwhile has answered in another way.
        if let Some(submissions) = self.submissions.upgrade() {
            let _ = send(&submissions, "answer", op).await;
        }
    }

    fn take_back(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.asked.retain(|call_id, gone| {
            let is_meant = is_meant(call_id);
            if is_meant {
                gone.cancel();
            }
            !is_meant
        });
    }

    /// It goes on when nothing waits any more.
    fn settle(&self) {
        if self.asked.is_empty() && *self.state.borrow() == ConversationState::Waiting {
            self.show(ConversationState::Working);
        }
    }

    fn show(&self, state: ConversationState) {
        if self.state.send_replace(state) != state {
            self.shared.changed();
        }
    }

    /// Whoever says something says so under the lock, so that nobody speaks to one that closes.
    fn close_unless_used(&mut self) {
        let shared = Arc::clone(&self.shared);
        let mut live = shared.live();
        let since = now_ms().saturating_sub(*self.used.borrow());
        let is_addressed = self.is_addressed.load(Ordering::Relaxed);
        if !is_addressed && u128::from(since) >= self.shared.patience.as_millis() {
            self.is_open = false;
            shared.let_go(&self.id, &mut live);
        }
    }

    /// Until it has ended nobody opens it anew, so that what is in the list is this one.
    fn forget(&mut self) {
        self.is_open = false;
        self.shared.let_go(&self.id, &mut self.shared.live());
        self.shared.changed();
    }
}

impl Live {
    fn shown(&self, id: &str) -> Conversation {
        Conversation {
            id: id.to_owned(),
            state: *self.state.borrow(),
            opened_at_ms: self.opened_at_ms,
            used_at_ms: *self.used.borrow(),
        }
    }
}

fn said(text: &str) -> Result<Op, ConversationError> {
    if text.trim().is_empty() {
        return Err(ConversationError::Empty);
    }
    Ok(Op::UserInput {
        items: vec![InputItem::Text { text: text.to_owned() }],
        last_response_id: None,
        mode: InputMode::Steer,
    })
}

async fn send(
    submissions: &mpsc::Sender<Incoming>,
    id: &str,
    op: Op,
) -> Result<(), ConversationError> {
    let submission = Submission { id: id.to_owned(), op };
    let incoming = Incoming::Submission(Decoded { submission, unknown: Vec::new() });
    submissions.send(incoming).await.map_err(|_| ConversationError::Ended)
}

impl fmt::Display for ConversationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::NotOpen => f.write_str("the conversation is not open"),
            Self::Empty => f.write_str("there is nothing in what was said"),
            Self::TooMany { limit } => write!(f, "{limit} conversations are at work already"),
            Self::Ended => f.write_str("the conversation has ended"),
        }
    }
}

impl std::error::Error for ConversationError {}

/// A person who thinks for half an hour is still there.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
const MOST_OPEN: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_opens_one_waits_for_nobody_who_opens_another() {
        let turns = Turns::default();
        let first = turns.of("a");
        let held = first.try_lock().unwrap();
        assert!(turns.of("a").try_lock().is_err());
        assert!(turns.of("b").try_lock().is_ok());
        drop(held);
        assert!(turns.of("a").try_lock().is_ok());
        drop(first);
        turns.of("c");
        assert_eq!(turns.0.lock().unwrap().len(), 1, "who is done is forgotten");
    }
}
