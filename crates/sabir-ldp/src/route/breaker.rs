//! A circuit breaker for one delegate: after several failures in a row it is left alone for a while,
//! then tried once, and left alone for twice as long when that fails too.
//!
//! It knows neither what the delegate does nor the reasons of its failures.

use serde::{Deserialize, Serialize};

use crate::id::DelegateId;
use crate::time::Timestamp;

/// When a delegate is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BreakerSettings {
    /// Failures in a row that open it.
    pub failures: u32,
    pub first_cool_down_ms: u64,
    pub most_cool_down_ms: u64,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            // One failure is bad luck, two happen together when a node restarts.
            failures: 3,
            // About as long as a restart with a model to load takes.
            first_cool_down_ms: 30_000,
            // A delegate that comes back after a night should be found within the hour.
            most_cool_down_ms: 3_600_000,
        }
    }
}

/// The state of one delegate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Breaker {
    /// Work goes to it.
    #[default]
    Closed,
    /// Work goes to it, and the latest attempts failed.
    Failing { failures: u32 },
    /// No work goes to it before `until`; after that, one attempt.
    Open { until: Timestamp, cool_down_ms: u64 },
    /// The one attempt is under way. If nothing is heard of it by `until`, another may be made.
    Probing { until: Timestamp, cool_down_ms: u64 },
}

/// A breaker as it is stored: whose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerRecord {
    pub delegate: DelegateId,
    pub breaker: Breaker,
}

/// What a breaker says about giving work to its delegate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerGate {
    Admitted,
    /// Its time of rest is over, and one attempt will show whether it recovered.
    Probe,
    Resting,
}

impl Breaker {
    #[must_use]
    pub fn admission(self, now: Timestamp) -> BreakerGate {
        match self {
            Self::Closed | Self::Failing { .. } => BreakerGate::Admitted,
            Self::Open { until, .. } | Self::Probing { until, .. } if until <= now => {
                BreakerGate::Probe
            }
            Self::Open { .. } | Self::Probing { .. } => BreakerGate::Resting,
        }
    }

    /// When no more work was to go to it, if it is so.
    #[must_use]
    pub fn opened_at(self) -> Option<Timestamp> {
        match self {
            Self::Closed | Self::Failing { .. } | Self::Probing { .. } => None,
            Self::Open { until, cool_down_ms } => {
                Some(Timestamp::from_millis(until.millis().saturating_sub(cool_down_ms)))
            }
        }
    }

    /// When it may have work again; the beginning of time if it may.
    pub(super) fn rests_until(self) -> Timestamp {
        match self {
            Self::Closed | Self::Failing { .. } => Timestamp::default(),
            Self::Open { until, .. } | Self::Probing { until, .. } => until,
        }
    }

    /// The same, with no rest longer than the settings give.
    pub(super) fn within(self, now: Timestamp, settings: &BreakerSettings) -> Self {
        let most = settings.most_cool_down_ms.max(settings.first_cool_down_ms).max(1);
        let end = |until: Timestamp| until.min(now.plus_millis(most));
        match self {
            Self::Closed | Self::Failing { .. } => self,
            Self::Open { until, cool_down_ms } => {
                Self::Open { until: end(until), cool_down_ms: cool_down_ms.clamp(1, most) }
            }
            Self::Probing { until, cool_down_ms } => {
                Self::Probing { until: end(until), cool_down_ms: cool_down_ms.clamp(1, most) }
            }
        }
    }

    /// Work was given to the delegate.
    pub fn started(&mut self, now: Timestamp) {
        match *self {
            Self::Open { until, cool_down_ms } | Self::Probing { until, cool_down_ms }
                if until <= now =>
            {
                *self = Self::Probing { until: now.plus_millis(cool_down_ms), cool_down_ms };
            }
            // Somebody insisted, or nothing is wrong.
            Self::Closed | Self::Failing { .. } | Self::Open { .. } | Self::Probing { .. } => {}
        }
    }

    /// It succeeded, or at least answered.
    pub fn succeeded(&mut self) {
        *self = Self::Closed;
    }

    pub fn failed(&mut self, now: Timestamp, settings: &BreakerSettings) {
        let first = settings.first_cool_down_ms.max(1);
        let open = |cool_down_ms| Self::Open { until: now.plus_millis(cool_down_ms), cool_down_ms };
        *self = match *self {
            Self::Closed if settings.failures <= 1 => open(first),
            Self::Closed => Self::Failing { failures: 1 },
            Self::Failing { failures } if failures.saturating_add(1) >= settings.failures => {
                open(first)
            }
            Self::Failing { failures } => Self::Failing { failures: failures.saturating_add(1) },
            // It was given this work before it opened: the rest has begun already.
            state @ Self::Open { until, .. } if now < until => state,
            Self::Open { cool_down_ms, .. } | Self::Probing { cool_down_ms, .. } => {
                open(cool_down_ms.saturating_mul(2).min(settings.most_cool_down_ms).max(first))
            }
        };
    }
}
