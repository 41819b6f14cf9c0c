//! The delegate: a value machine that answers for a whole node. It checks what is asked, keeps
//! sessions and tasks, and says what is to be run, stored and sent. It refuses to know sockets,
//! clocks, files, keys of the node, and how a skill does its work.
//!
//! Who drives it keeps one order: what an [`Output::Record`] says is on disk before anything that
//! came out after it is done or sent.

mod answers;
mod attest;
mod claim;
mod declined;
mod events;
mod handshake;
mod input;
mod message;
mod output;
mod query;
mod record;
mod restore;
mod sessions;
mod settings;
mod submit;
mod tasks;
mod usage;
mod written;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub use declined::Declined;
pub use input::{Finished, Input, RequestId, TaskEvent};
pub use output::{Output, StopReason, TaskOrder, TaskStart};
pub use record::{
    Attested, Authentication, Ending, HowEnded, KeptKeys, Opened, Record, Refused, Seen,
    TaskDigest, TaskEnded, TaskKey, TaskStarted, TaskUpdated,
};
pub use settings::{DelegateLimits, DelegateSettings};
pub use usage::Usage;
pub use written::{read_records, read_seen, spell_out_records, write_records};

pub(crate) use claim::authentication;

use answers::Asker;
use sessions::Sessions;
use tasks::Tasks;

use crate::envelope::Received;
use crate::id::{DelegateId, SessionId};
use crate::moment::Moment;
use crate::replay::ReplayWindow;
use crate::sign::{SessionKey, SessionKeys};
use crate::time::Timestamp;

/// All sessions and tasks of one node.
#[derive(Debug)]
pub struct Delegate {
    settings: DelegateSettings,
    sessions: Sessions,
    tasks: Tasks,
    replay: ReplayWindow,
    /// Who asked for a task that ended, while the store is asked how.
    recalls: BTreeMap<RequestId, Recall>,
    outputs: VecDeque<Output>,
    /// The time that was told last. Clocks are set back: what goes out must bear the time that others
    /// have, and the replay window keeps out by itself what it has forgotten.
    now: Timestamp,
}

/// Why the store is asked.
#[derive(Debug)]
enum Recall {
    /// A task is to be started, and may have been before.
    Before(TaskKey),
    /// Somebody asks how it ended.
    Ended { key: TaskKey, asker: Arc<Asker> },
}

impl Delegate {
    pub fn new(settings: DelegateSettings) -> Self {
        let replay = ReplayWindow::new(settings.replay);
        Self {
            settings,
            sessions: Sessions::default(),
            tasks: Tasks::default(),
            replay,
            recalls: BTreeMap::new(),
            outputs: VecDeque::new(),
            now: Timestamp::default(),
        }
    }

    /// Takes one input; what is to be done comes out of [`poll_output`](Self::poll_output).
    pub fn handle(&mut self, input: Input, moment: &mut Moment) {
        self.now = moment.now();
        match input {
            Input::Message { request, received, standing } => {
                self.take_message(request, &received, standing, moment);
            }
            Input::Malformed { request, malformed } => {
                self.refuse_malformed(request, &malformed, moment);
            }
            Input::Task { key, event } => self.take_event(&key, event, moment),
            Input::Recalled { request, ended } => self.take_recalled(request, ended, moment),
            Input::GiveUp { request } => self.give_up(request, moment),
            Input::Tick => self.tick(moment),
        }
    }

    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When a [`Input::Tick`] is due.
    pub fn next_wake(&self) -> Option<Timestamp> {
        match (self.sessions.next_wake(), self.tasks.next_wake()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The key that the sender of a message has in the session that it names, if that is its own.
    pub fn session_key(&self, received: &Received) -> Option<SessionKey> {
        let envelope = &received.envelope;
        let (owner, keys) = self.keys_of(envelope.session_id.as_ref()?)?;
        (*owner == envelope.from).then(|| keys.initiator.clone())
    }

    /// Whose a session is, and its keys. Nothing if it is over or has none.
    pub fn keys_of(&self, id: &SessionId) -> Option<(&DelegateId, &SessionKeys)> {
        let session = self.sessions.find(id)?;
        Some((&session.owner, &session.keys.as_ref()?.0))
    }

    /// Open and suspended ones, in no order.
    pub fn session_ids(&self) -> impl Iterator<Item = &SessionId> {
        self.sessions.ids()
    }

    pub fn settings(&self) -> &DelegateSettings {
        &self.settings
    }

    /// Open and suspended.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    pub fn running_tasks(&self) -> usize {
        self.tasks.running().tasks
    }

    /// Whether a task was started, and has not ended or been stopped.
    pub fn is_running(&self, key: &TaskKey) -> bool {
        self.tasks.running_ref(key).is_some_and(|running| running.stopping.is_none())
    }

    /// How much of what there is for all somebody may take part in. Strangers leave some of it to those
    /// whom the configuration names, and to the node itself.
    fn share_of(&self, owner: &DelegateId, all: usize) -> usize {
        if self.settings.trust.names(owner) { all } else { all - all / 8 }
    }

    fn record(&mut self, record: Record) {
        self.outputs.push_back(Output::Record(Box::new(record)));
    }
}
