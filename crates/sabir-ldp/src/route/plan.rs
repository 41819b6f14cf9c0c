//! Who is tried, and who next when that fails: a value machine for one task over a ranked list.
//!
//! It knows no router and sends nothing. Whoever drives it starts what it says, reports what became of
//! it, and wakes it when it asked for that.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::error::LdpError;
use crate::id::DelegateId;
use crate::time::Timestamp;

/// How far a plan goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanSettings {
    /// How many delegates are tried at most.
    pub attempts: usize,
    /// With hedging, a second delegate gets the same task when the first has not finished after this
    /// time. Off by default: the work is paid for twice, and done twice if it has effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hedge_after_ms: Option<u64>,
    /// Nobody is tried from here on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl Default for PlanSettings {
    fn default() -> Self {
        // Where three have failed, the task is the more likely reason.
        Self { attempts: 3, hedge_after_ms: None, deadline: None }
    }
}

/// What happens to a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum PlanInput {
    Begin,
    /// The delegate took the task on.
    Started {
        delegate: DelegateId,
    },
    Failed {
        delegate: DelegateId,
        failure: FailureKind,
    },
    Finished {
        delegate: DelegateId,
    },
    Tick,
}

/// Whether somebody else might succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    Retryable,
    Final,
}

impl FailureKind {
    #[must_use]
    pub fn of(error: &LdpError) -> Self {
        if error.retryable { Self::Retryable } else { Self::Final }
    }
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "output", rename_all = "snake_case")]
pub enum PlanOutput {
    Start {
        delegate: DelegateId,
    },
    /// Somebody else finished first.
    Stop {
        delegate: DelegateId,
    },
    WakeAt {
        at: Timestamp,
    },
    /// The task is done, by this delegate. Nothing follows.
    Done {
        delegate: DelegateId,
    },
    /// The task is not going to be done. Nothing follows.
    GiveUp {
        why: GivenUp,
    },
}

/// Why nobody else is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GivenUp {
    /// A failure that would be the same elsewhere.
    Final,
    /// Everybody on the list failed.
    NobodyLeft,
    AttemptsUsedUp,
    DeadlinePassed,
}

/// One delegate's turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub delegate: DelegateId,
    pub started_at: Timestamp,
    pub state: AttemptState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptState {
    /// It was given the task and has not answered.
    Offered,
    Working,
    Finished,
    Failed,
    /// It was not needed any more.
    Stopped,
}

/// The machine.
#[derive(Debug, Clone)]
pub struct Plan {
    settings: PlanSettings,
    waiting: VecDeque<DelegateId>,
    attempts: Vec<Attempt>,
    phase: Phase,
    hedge_at: Option<Timestamp>,
    outputs: VecDeque<PlanOutput>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    /// Something failed for good, and only those at work may still save the task.
    LastHope,
    Over,
}

impl Plan {
    /// `ranked` has the best first. Who is on it twice gets one turn.
    #[must_use]
    pub fn new(ranked: impl IntoIterator<Item = DelegateId>, settings: PlanSettings) -> Self {
        let mut waiting = VecDeque::new();
        for delegate in ranked {
            if waiting.len() == MOST_CANDIDATES {
                break;
            }
            if !waiting.contains(&delegate) {
                waiting.push_back(delegate);
            }
        }
        let (attempts, outputs) = (Vec::new(), VecDeque::new());
        Self { settings, waiting, attempts, phase: Phase::New, hedge_at: None, outputs }
    }

    pub fn handle(&mut self, input: PlanInput, now: Timestamp) {
        match (self.phase, input) {
            (Phase::New, PlanInput::Begin) => {
                self.phase = Phase::Running;
                self.next(now);
            }
            (Phase::Running | Phase::LastHope, PlanInput::Started { delegate }) => {
                self.turn(&delegate, AttemptState::Working);
            }
            (Phase::Running | Phase::LastHope, PlanInput::Finished { delegate }) => {
                if self.turn(&delegate, AttemptState::Finished) {
                    self.stop_others();
                    self.finish(PlanOutput::Done { delegate });
                }
            }
            (Phase::Running | Phase::LastHope, PlanInput::Failed { delegate, failure }) => {
                if self.turn(&delegate, AttemptState::Failed) {
                    self.failed(failure, now);
                }
            }
            (Phase::Running, PlanInput::Tick) => {
                if self.hedge_at.is_some_and(|at| at <= now) {
                    self.hedge_at = None;
                    // The first one is at work: that there is no second is no reason to give up.
                    if self.obstacle(now).is_none() {
                        self.next(now);
                    }
                }
            }
            // Nobody new is started after a final failure, so that there is nothing to wake for.
            (Phase::LastHope, PlanInput::Tick)
            // It has begun already.
            | (Phase::Running | Phase::LastHope, PlanInput::Begin)
            // Nobody was given the task yet, so that this is about another one.
            | (
                Phase::New,
                PlanInput::Started { .. }
                | PlanInput::Failed { .. }
                | PlanInput::Finished { .. }
                | PlanInput::Tick,
            )
            // Those who were stopped may still report.
            | (
                Phase::Over,
                PlanInput::Begin
                | PlanInput::Started { .. }
                | PlanInput::Failed { .. }
                | PlanInput::Finished { .. }
                | PlanInput::Tick,
            ) => {}
        }
    }

    pub fn poll_output(&mut self) -> Option<PlanOutput> {
        self.outputs.pop_front()
    }

    /// Everybody who had a turn, in order.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn failed(&mut self, failure: FailureKind, now: Timestamp) {
        if failure == FailureKind::Final {
            self.phase = Phase::LastHope;
        }
        let somebody_works = self.attempts.iter().any(Attempt::is_under_way);
        match self.phase {
            Phase::LastHope if somebody_works => {}
            Phase::LastHope => self.finish(PlanOutput::GiveUp { why: GivenUp::Final }),
            Phase::Running if somebody_works && self.obstacle(now).is_some() => {}
            Phase::Running => self.next(now),
            Phase::New | Phase::Over => {}
        }
    }

    /// The next one's turn, or the end.
    fn next(&mut self, now: Timestamp) {
        if let Some(why) = self.obstacle(now) {
            self.finish(PlanOutput::GiveUp { why });
            return;
        }
        let Some(delegate) = self.waiting.pop_front() else { return };
        self.outputs.push_back(PlanOutput::Start { delegate: delegate.clone() });
        let state = AttemptState::Offered;
        self.attempts.push(Attempt { delegate, started_at: now, state });
        self.hedge_at = None;
        let alone = self.attempts.iter().filter(|it| it.is_under_way()).count() == 1;
        if let Some(ms) = self.settings.hedge_after_ms.filter(|_| alone)
            && self.obstacle(now).is_none()
        {
            let at = now.plus_millis(ms);
            self.hedge_at = Some(at);
            self.outputs.push_back(PlanOutput::WakeAt { at });
        }
    }

    /// Why nobody else can be started.
    fn obstacle(&self, now: Timestamp) -> Option<GivenUp> {
        if self.settings.deadline.is_some_and(|deadline| deadline <= now) {
            Some(GivenUp::DeadlinePassed)
        } else if self.waiting.is_empty() {
            Some(GivenUp::NobodyLeft)
        } else if self.attempts.len() >= self.settings.attempts {
            Some(GivenUp::AttemptsUsedUp)
        } else {
            None
        }
    }

    /// Whether the delegate was under way; if so, it is in `state` now.
    fn turn(&mut self, delegate: &DelegateId, state: AttemptState) -> bool {
        let found = self.attempts.iter_mut().find(|it| it.delegate == *delegate);
        let Some(attempt) = found.filter(|it| it.is_under_way()) else { return false };
        attempt.state = state;
        true
    }

    fn stop_others(&mut self) {
        for attempt in self.attempts.iter_mut().filter(|it| it.is_under_way()) {
            attempt.state = AttemptState::Stopped;
            self.outputs.push_back(PlanOutput::Stop { delegate: attempt.delegate.clone() });
        }
    }

    fn finish(&mut self, output: PlanOutput) {
        self.phase = Phase::Over;
        self.hedge_at = None;
        self.outputs.push_back(output);
    }
}

impl Attempt {
    fn is_under_way(&self) -> bool {
        match self.state {
            AttemptState::Offered | AttemptState::Working => true,
            AttemptState::Finished | AttemptState::Failed | AttemptState::Stopped => false,
        }
    }
}

/// More than anybody will try; it bounds the search for doubles.
const MOST_CANDIDATES: usize = 100;
