//! Work that an agent hands on: for whom the agent works itself, what it may still give away, and who
//! takes it. How it gets there is for others.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use sabir_engine::ConfigureSession;
use sabir_ldp::{DelegateId, TaskId, TaskKey, TaskOrder, Timestamp};
use sabir_policy::Bounds;
use sabir_telemetry::{TraceContext, current};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::configure::real_folder;
use crate::clock::now_ms;

/// For whom a session works. Nobody, for a conversation with a person.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The task of another agent that it does.
    pub task: Option<TaskKey>,
    /// Who handed that task on, the oldest first.
    pub path: Vec<DelegateId>,
    pub deadline: Option<Timestamp>,
    pub max_tokens: Option<u64>,
    /// What that task is part of.
    pub trace: Option<TraceContext>,
    /// What a new session is called, where it has to be found again after a restart.
    pub session: Option<String>,
}

impl Origin {
    pub fn of_task(order: &TaskOrder) -> Self {
        let budget = order.contract.as_ref().map(|contract| contract.policy.budget);
        Self {
            task: Some(order.key.clone()),
            path: order.delegation_path.to_vec(),
            deadline: Some(order.deadline),
            max_tokens: budget.and_then(|budget| budget.max_tokens),
            trace: current(),
            session: None,
        }
    }
}

impl Engine {
    /// What a session may do that begins with this.
    pub(crate) fn bounds_of(&self, configure: &ConfigureSession) -> Bounds {
        let defaults = &self.shared.defaults;
        let approval = configure.approval_policy.or(defaults.approval_policy).unwrap_or_default();
        let sandbox = configure.sandbox_policy.clone().or_else(|| defaults.sandbox_policy.clone());
        let cwd = configure.cwd.clone();
        let cwd = cwd.unwrap_or_else(|| defaults.cwd.to_string_lossy().into_owned());
        // One that is not there is refused by the session.
        let cwd = real_folder(&cwd).unwrap_or(cwd);
        let mut bounds = Bounds::new(approval, sandbox.unwrap_or_default(), cwd);
        bounds.is_attended &= configure.approval_timeout_ms != Some(0);
        bounds
    }
}

/// A task that is handed on.
#[derive(Debug, Clone)]
pub struct SpawnRequest {
    pub task: String,
    /// What whoever takes it has to know how to do.
    pub skill: Option<String>,
    /// Who is meant, by name, id or address.
    pub to: Option<String>,
    pub budget_tokens: Option<u64>,
    pub deadline_secs: Option<u64>,
    /// What the agent may do itself, and in which folder. Whoever does the work for it may do no more.
    pub within: Bounds,
    pub origin: Origin,
    /// The session of the agent, or another name of whoever asks.
    pub parent: String,
    /// How many agents of its session stand above it.
    pub depth: u32,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Spawned {
    pub answer: Result<String, String>,
    /// What it used up. None if nobody says: then it may have been all that it was given.
    pub tokens: Option<u64>,
}

/// Takes work that agents hand on.
pub trait Spawner: Send + Sync + fmt::Debug {
    /// Whether it knows an agent by this name, id or address.
    fn knows<'a>(&'a self, name: &'a str) -> BoxFuture<'a, bool>;

    /// Whether it takes this. What it does not take, an agent beside the one that asks does.
    fn takes(&self, request: &SpawnRequest) -> bool;

    /// The task whose agent handed this one on, while it runs.
    fn handed_on_by(&self, task: &TaskId) -> Option<TaskId>;

    /// Has it done. What a person should see of it is told as it happens. When `stop` is cancelled, or
    /// the future is dropped, so is the work.
    fn spawn(
        &self,
        request: SpawnRequest,
        news: mpsc::Sender<String>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, Spawned>;
}

/// What an agent may use up, what it has used up, and what it has given away and not heard of yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Purse(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    limit: Option<u64>,
    spent: u64,
    given: u64,
    /// Given away, and nobody said what became of it.
    lost: u64,
}

/// A part of the budget that was given away. Dropping it takes it back.
#[derive(Debug)]
pub(super) struct Share {
    purse: Purse,
    pub(super) tokens: Option<u64>,
}

impl Purse {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self(Arc::new(Mutex::new(Held { limit, ..Held::default() })))
    }

    /// All that the session has used up so far, with those whom it gave work to.
    pub(super) fn counted(&self, tokens: u64) {
        self.held(|held| held.spent = tokens);
    }

    /// As much as is wanted, if that is there; else what is there.
    pub(super) fn share(&self, wanted: Option<u64>) -> Result<Share, String> {
        let tokens = self.held(|held| {
            let Some(limit) = held.limit else { return Ok(wanted) };
            let gone = held.spent.saturating_add(held.given).saturating_add(held.lost);
            let left = limit.saturating_sub(gone);
            if left == 0 {
                let words = format!("the budget of {limit} tokens is used up: nothing is left");
                return Err(words);
            }
            let tokens = wanted.map_or(left, |wanted| wanted.min(left));
            held.given += tokens;
            Ok(Some(tokens))
        })?;
        Ok(Share { purse: self.clone(), tokens })
    }

    fn held<T>(&self, with: impl FnOnce(&mut Held) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Share {
    /// It came back, and this was used up. Who does not say how much counts as having used up all of
    /// it: otherwise the same share could be given away for ever.
    pub(super) fn used(self, tokens: Option<u64>) {
        self.purse.held(|held| match tokens {
            Some(used) => held.spent = held.spent.saturating_add(used),
            None => held.lost = held.lost.saturating_add(self.tokens.unwrap_or(0)),
        });
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let tokens = self.tokens.unwrap_or(0);
        self.purse.held(|held| {
            if held.limit.is_some() {
                held.given = held.given.saturating_sub(tokens);
            }
        });
    }
}

/// The seconds that are left of a deadline, if there is one; none are an error.
pub(super) fn time_left(
    deadline: Option<Timestamp>,
    wanted: Option<u64>,
) -> Result<Option<u64>, String> {
    let Some(deadline) = deadline else { return Ok(wanted) };
    let left = deadline.millis().saturating_sub(now_ms()) / 1000;
    if left == 0 {
        return Err("the time for this task is over: nothing can be handed on".to_owned());
    }
    Ok(Some(wanted.map_or(left, |wanted| wanted.min(left))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_given_away_once() {
        let purse = Purse::new(Some(100));
        purse.counted(10);
        let first = purse.share(Some(50)).unwrap();
        assert_eq!(first.tokens, Some(50));
        let second = purse.share(Some(90)).unwrap();
        assert_eq!(second.tokens, Some(40));
        assert!(purse.share(None).unwrap_err().contains("used up"));
        first.used(Some(20));
        // 100 less 10 and 20 that are spent and 40 that are on their way.
        assert_eq!(purse.share(None).unwrap().tokens, Some(30));
        drop(second);
        assert_eq!(purse.share(None).unwrap().tokens, Some(70));
        // Nobody says what was used up, and what the session counts does not bring it back.
        purse.share(Some(30)).unwrap().used(None);
        assert_eq!(purse.share(None).unwrap().tokens, Some(40));
        purse.counted(30);
        assert_eq!(purse.share(None).unwrap().tokens, Some(40));
        purse.counted(100);
        assert!(purse.share(Some(1)).is_err());
        assert_eq!(Purse::default().share(Some(7)).unwrap().tokens, Some(7));
        assert_eq!(Purse::default().share(None).unwrap().tokens, None);
    }

    #[test]
    fn time_is_not_lent() {
        let at = |secs: i64| {
            let now = i64::try_from(now_ms()).unwrap();
            Some(Timestamp::from_millis(u64::try_from(now + secs * 1000 + 500).unwrap()))
        };
        assert_eq!(time_left(None, Some(9)), Ok(Some(9)));
        assert_eq!(time_left(at(1000), Some(9)), Ok(Some(9)));
        assert_eq!(time_left(at(5), Some(900)).map(|left| left.unwrap() <= 5), Ok(true));
        assert!(time_left(at(-10), None).is_err());
    }
}
