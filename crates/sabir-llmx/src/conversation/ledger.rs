//! Who waits for whom, in order: lists of items, and how far each reader has come in them.
//!
//! Lists only grow and readers only go forward, so that all of it takes time in proportion to the
//! conversation, however many answer what was said to all.

use std::collections::{HashMap, HashSet};

use super::envelope::AgentId;

/// A list of items, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum List {
    /// What one asks another. `ANY` may ask, and `ALL` may be asked.
    Between(Class, AgentId, AgentId),
    /// What one message asks.
    Of(Class, usize),
    /// Open blockers that go from one to another, or to `ANY`.
    Blockers(AgentId, AgentId),
    /// Blockers that somebody wants a person to decide.
    EscalatedBy(AgentId),
    /// Blockers that somebody has to bring before a person.
    EscalatedTo(AgentId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Class {
    /// A question or a blocker, until it is answered.
    Question,
    /// A request, until it is answered.
    Request,
    /// A request, until its work has ended.
    Work,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    lists: HashMap<List, Vec<usize>>,
    cursors: HashMap<(List, AgentId), usize>,
    /// The items that an agent has answered, and those that it has finished.
    settled: HashSet<(Settled, usize, AgentId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Settled {
    Answered,
    Finished,
}

impl Ledger {
    pub(super) fn push(&mut self, list: List, item: usize) {
        self.lists.entry(list).or_default().push(item);
    }

    pub(super) fn answer(&mut self, item: usize, by: AgentId) {
        self.settled.insert((Settled::Answered, item, by));
    }

    /// Finished is answered as well.
    pub(super) fn finish(&mut self, item: usize, by: AgentId) {
        self.answer(item, by);
        self.settled.insert((Settled::Finished, item, by));
    }

    /// The oldest item of `class` that `asker` has put to `answerer` and that is not settled.
    pub(super) fn oldest(
        &mut self,
        class: Class,
        asker: AgentId,
        answerer: AgentId,
        is_own: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let own = self.next(List::Between(class, asker, answerer), answerer, &is_own);
        let shared = self.next(List::Between(class, asker, AgentId::ALL), answerer, &is_own);
        match (own, shared) {
            (Some(own), Some(shared)) => Some(own.min(shared)),
            (own, shared) => own.or(shared),
        }
    }

    /// The first item of a list that `answerer` has not settled. What `is_own` names is passed by
    /// for good.
    pub(super) fn next(
        &mut self,
        list: List,
        answerer: AgentId,
        is_own: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let settled = match list {
            List::Between(Class::Work, ..) => Settled::Finished,
            _ => Settled::Answered,
        };
        let items = self.lists.get(&list)?;
        let cursor = self.cursors.entry((list, answerer)).or_default();
        while let Some(&item) = items.get(*cursor) {
            if !is_own(item) && !self.settled.contains(&(settled, item, answerer)) {
                return Some(item);
            }
            *cursor += 1;
        }
        None
    }

    /// The first item of a list that is still open for everybody.
    pub(super) fn first_open(
        &mut self,
        list: List,
        is_open: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let items = self.lists.get(&list)?;
        let cursor = self.cursors.entry((list, AgentId::ANY)).or_default();
        while let Some(&item) = items.get(*cursor) {
            if is_open(item) {
                return Some(item);
            }
            *cursor += 1;
        }
        None
    }
}
