//! The sessions of a node, and those that ended lately. The table knows ids, owners and times; it
//! refuses to know messages.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use super::claim::Claim;
use super::record::{HowEnded, KeptKeys, Opened};
use super::{DelegateLimits, Usage};
use crate::id::{DelegateId, SessionId, TaskId};
use crate::mode::PayloadMode;
use crate::time::Timestamp;
use crate::trust::Mark;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) owner: DelegateId,
    pub(super) domain: String,
    /// The richest mode that has not failed.
    pub(super) mode: PayloadMode,
    negotiated: PayloadMode,
    pub(super) fallback_chain: Vec<PayloadMode>,
    ttl_ms: u64,
    pub(super) keys: Option<KeptKeys>,
    pub(super) claim: Claim,
    pub(super) state: SessionState,
    last_used: Timestamp,
    /// When the table looks at it next. Not moved on every use: a session that was used is looked at
    /// once too often, and using one costs nothing.
    wakes_at: Timestamp,
    /// In order.
    running: Vec<TaskId>,
    /// When it was opened, while there was no task in it.
    unused_since: Option<Timestamp>,
    /// Shared with the orders that name it; who changes it while one does has a copy.
    pub(super) history: Arc<VecDeque<TaskId>>,
    pub(super) spent: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionState {
    Active,
    Suspended,
}

impl Session {
    /// Text is everybody's: it is the last resort whether the chain names it or not.
    pub(super) fn allows(&self, mode: PayloadMode) -> bool {
        mode == self.negotiated || mode == PayloadMode::Text || self.fallback_chain.contains(&mode)
    }

    /// The mode to go on with after this one failed, if the session was still in it.
    pub(super) fn below(&self, failed: PayloadMode) -> Option<PayloadMode> {
        if failed != self.mode {
            return None;
        }
        let lower =
            self.fallback_chain.iter().copied().find(|mode| mode.number() < failed.number());
        lower.or((failed != PayloadMode::Text).then_some(PayloadMode::Text))
    }

    /// What is left of the chain below the current mode.
    pub(super) fn below_current(&self) -> Vec<PayloadMode> {
        let lower = |mode: &PayloadMode| mode.number() < self.mode.number();
        self.fallback_chain.iter().copied().filter(lower).collect()
    }

    pub(super) fn touch(&mut self, now: Timestamp) {
        self.last_used = self.last_used.max(now);
    }

    fn ends_at(&self, limits: &DelegateLimits) -> Timestamp {
        let patience = match self.state {
            SessionState::Active => self.ttl_ms,
            SessionState::Suspended => limits.suspended_ms,
        };
        self.last_used.plus_millis(patience)
    }

    pub(super) fn running(&self) -> &[TaskId] {
        &self.running
    }

    /// A task that was never started is none of it.
    pub(super) fn forget_task(&mut self, task: &TaskId) {
        if let Ok(at) = self.running.binary_search(task) {
            self.running.remove(at);
        }
    }

    /// Whether it has outlived its time. A running task keeps it alive.
    pub(super) fn is_over(&self, now: Timestamp, limits: &DelegateLimits) -> bool {
        self.running.is_empty() && self.ends_at(limits) <= now
    }

    /// A task of it ended, and spent this much.
    pub(super) fn end_task(
        &mut self,
        task: &TaskId,
        usage: Usage,
        now: Timestamp,
        limits: &DelegateLimits,
    ) {
        self.forget_task(task);
        self.spent = self.spent.plus(usage);
        self.touch(now);
        let history = Arc::make_mut(&mut self.history);
        history.push_back(task.clone());
        while history.len() > limits.history {
            history.pop_front();
        }
    }

    /// As a record from which it can be opened again.
    pub(super) fn opened(&self, id: &SessionId) -> Opened {
        Opened {
            session: id.clone(),
            owner: self.owner.clone(),
            domain: self.domain.clone(),
            mode: self.negotiated,
            fallback_chain: self.fallback_chain.clone(),
            ttl_ms: self.ttl_ms,
            keys: self.keys.clone(),
            authentication: self.claim.authentication,
            shown: self.claim.shown,
            at: self.last_used,
            spent: self.spent,
            history: self.history.iter().cloned().collect(),
        }
    }
}

/// A session that ended.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) owner: DelegateId,
    pub(super) how: HowEnded,
    pub(super) shown: Option<Mark>,
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: HashMap<SessionId, Session>,
    /// How many each owner has.
    owned: HashMap<DelegateId, usize>,
    suspended: usize,
    past: HashMap<SessionId, Past>,
    past_order: VecDeque<SessionId>,
    /// Those without a task so far, by when they were opened.
    unused: BTreeSet<(Timestamp, SessionId)>,
    wakes: BTreeSet<(Timestamp, SessionId)>,
}

impl Sessions {
    pub(super) fn find(&self, id: &SessionId) -> Option<&Session> {
        self.open.get(id)
    }

    pub(super) fn find_mut(&mut self, id: &SessionId) -> Option<&mut Session> {
        self.open.get_mut(id)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &SessionId> {
        self.open.keys()
    }

    pub(super) fn past(&self, id: &SessionId) -> Option<&Past> {
        self.past.get(id)
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn suspended(&self) -> usize {
        self.suspended
    }

    pub(super) fn owned_by(&self, owner: &DelegateId) -> usize {
        self.owned.get(owner).copied().unwrap_or(0)
    }

    /// Whether no session has or had this id, as far as is remembered.
    pub(super) fn is_unused(&self, id: &SessionId) -> bool {
        !self.open.contains_key(id) && !self.past.contains_key(id)
    }

    pub(super) fn open(&mut self, opened: Opened) {
        // A record that is read twice must not count twice.
        self.remove(&opened.session);
        let wakes_at = opened.at.plus_millis(opened.ttl_ms);
        let unused_since = opened.history.is_empty().then_some(opened.at);
        let session = Session {
            claim: opened.claim(),
            owner: opened.owner,
            domain: opened.domain,
            mode: opened.mode,
            negotiated: opened.mode,
            fallback_chain: opened.fallback_chain,
            ttl_ms: opened.ttl_ms,
            keys: opened.keys,
            state: SessionState::Active,
            last_used: opened.at,
            wakes_at,
            running: Vec::new(),
            unused_since,
            history: Arc::new(opened.history.into()),
            spent: opened.spent,
        };
        self.unused.extend(unused_since.map(|since| (since, opened.session.clone())));
        *self.owned.entry(session.owner.clone()).or_default() += 1;
        self.wakes.insert((wakes_at, opened.session.clone()));
        self.open.insert(opened.session, session);
    }

    /// A task of the session is started.
    pub(super) fn begin_task(&mut self, id: &SessionId, task: TaskId) -> Option<&Session> {
        let session = self.open.get_mut(id)?;
        if let Err(at) = session.running.binary_search(&task) {
            session.running.insert(at, task);
        }
        if let Some(since) = session.unused_since.take() {
            self.unused.remove(&(since, id.clone()));
        }
        Some(session)
    }

    /// The session that was opened longest ago, and long enough, and has had no task, of those owners.
    pub(super) fn oldest_unused(
        &self,
        now: Timestamp,
        is_of: impl Fn(&DelegateId) -> bool,
    ) -> Option<SessionId> {
        let old = self.unused.iter().take_while(|(since, _)| since.plus_millis(UNUSED_MS) <= now);
        let mut ids = old.map(|(_, id)| id);
        ids.find(|id| self.open.get(*id).is_some_and(|session| is_of(&session.owner))).cloned()
    }

    pub(super) fn suspend(&mut self, id: &SessionId, now: Timestamp, limits: &DelegateLimits) {
        self.enter(id, SessionState::Suspended, now, limits);
    }

    pub(super) fn resume(&mut self, id: &SessionId, now: Timestamp, limits: &DelegateLimits) {
        self.enter(id, SessionState::Active, now, limits);
    }

    fn enter(
        &mut self,
        id: &SessionId,
        state: SessionState,
        now: Timestamp,
        limits: &DelegateLimits,
    ) {
        let Some(session) = self.open.get_mut(id) else { return };
        session.touch(now);
        match (session.state, state) {
            (SessionState::Active, SessionState::Suspended) => self.suspended += 1,
            (SessionState::Suspended, SessionState::Active) => self.suspended -= 1,
            (SessionState::Active, SessionState::Active)
            | (SessionState::Suspended, SessionState::Suspended) => return,
        }
        session.state = state;
        // The patience changed, so that the old wake-up may come too late.
        let wakes_at = session.ends_at(limits);
        let before = std::mem::replace(&mut session.wakes_at, wakes_at);
        self.wakes.remove(&(before, id.clone()));
        self.wakes.insert((wakes_at, id.clone()));
    }

    /// Ends a session, and remembers how for a while.
    pub(super) fn end(&mut self, id: &SessionId, how: HowEnded, limits: &DelegateLimits) {
        let Some(session) = self.remove(id) else { return };
        let Session { owner, claim, .. } = session;
        self.bury(id.clone(), Past { owner, how, shown: claim.shown }, limits);
    }

    pub(super) fn bury(&mut self, id: SessionId, past: Past, limits: &DelegateLimits) {
        if self.past.insert(id.clone(), past).is_none() {
            self.past_order.push_back(id);
        }
        while self.past_order.len() > limits.ended {
            let Some(oldest) = self.past_order.pop_front() else { return };
            self.past.remove(&oldest);
        }
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.wakes.first().map(|(at, _)| *at)
    }

    /// The next session that has outlived its time; those that were used since are put off.
    pub(super) fn next_over(
        &mut self,
        now: Timestamp,
        limits: &DelegateLimits,
    ) -> Option<SessionId> {
        while let Some((at, _)) = self.wakes.first()
            && *at <= now
        {
            let (_, id) = self.wakes.pop_first()?;
            let Some(session) = self.open.get_mut(&id) else { continue };
            if session.is_over(now, limits) {
                // The wake-up is gone; ending the session does not miss it.
                return Some(id);
            }
            let busy_until =
                if session.running.is_empty() { now } else { now.plus_millis(LOOK_AGAIN_MS) };
            session.wakes_at = session.ends_at(limits).max(busy_until);
            self.wakes.insert((session.wakes_at, id));
        }
        None
    }

    /// By id.
    pub(super) fn all(&self) -> Vec<(&SessionId, &Session)> {
        let mut all: Vec<(&SessionId, &Session)> = self.open.iter().collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// Oldest first.
    pub(super) fn all_past(&self) -> impl Iterator<Item = (&SessionId, &Past)> {
        self.past_order.iter().filter_map(|id| Some((id, self.past.get(id)?)))
    }

    fn remove(&mut self, id: &SessionId) -> Option<Session> {
        let session = self.open.remove(id)?;
        self.wakes.remove(&(session.wakes_at, id.clone()));
        if let Some(since) = session.unused_since {
            self.unused.remove(&(since, id.clone()));
        }
        if session.state == SessionState::Suspended {
            self.suspended -= 1;
        }
        if let Some(count) = self.owned.get_mut(&session.owner) {
            *count -= 1;
            if *count == 0 {
                self.owned.remove(&session.owner);
            }
        }
        Some(session)
    }
}

/// Who opens a session uses it within this time, or lets others have its place.
const UNUSED_MS: u64 = 10_000;

/// A session whose task runs beyond its time is looked at this often.
const LOOK_AGAIN_MS: u64 = 1_000;
