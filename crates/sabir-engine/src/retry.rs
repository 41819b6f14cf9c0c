//! When to ask a model again, and how long to wait. Time and chance are inputs.

use crate::stream::FailureKind;

/// What a failure counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempts {
    /// The request was not answered.
    Request,
    /// The answer broke off.
    Stream,
}

impl Attempts {
    /// Nothing where another attempt would end in the same way.
    pub fn of(kind: FailureKind) -> Option<Self> {
        match kind {
            FailureKind::Connect | FailureKind::RateLimited | FailureKind::Server => {
                Some(Self::Request)
            }
            FailureKind::Disconnected | FailureKind::Idle | FailureKind::Incomplete => {
                Some(Self::Stream)
            }
            FailureKind::ContextLength
            | FailureKind::Quota
            | FailureKind::Refused
            | FailureKind::Configuration => None,
        }
    }

    /// How many more there are after a failure, where nobody said otherwise.
    pub const fn usual(self) -> u32 {
        match self {
            Self::Request => 4,
            Self::Stream => 5,
        }
    }
}

/// How long to wait before the attempt after the `attempt`th failure, counted from one.
///
/// `jitter_seed` is any number that differs between clients: many that failed together must not
/// come back together. What the provider asked for is never undercut by the jitter, only by the
/// bound: a person would rather see the failure than wait for an hour.
pub fn delay_ms(attempt: u32, retry_after_ms: Option<u64>, jitter_seed: u64) -> u64 {
    if let Some(asked) = retry_after_ms {
        return asked.min(LONGEST_ASKED_MS);
    }
    let doublings = attempt.saturating_sub(1).min(16);
    let plain = (FIRST_MS << doublings).min(LONGEST_MS);
    // From 90 % to 110 %, in steps of a thousandth.
    plain * (900 + mix(jitter_seed ^ u64::from(attempt)) % 201) / 1000
}

/// Spreads neighbouring seeds over all numbers (the finaliser of SplitMix64).
fn mix(seed: u64) -> u64 {
    let mut it = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    it ^ (it >> 31)
}

const FIRST_MS: u64 = 200;

/// Longer waits help no server that is up again.
const LONGEST_MS: u64 = 30_000;

/// Rate limits are counted by the minute; what asks for more is better shown to the person.
const LONGEST_ASKED_MS: u64 = 120_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_within_a_tenth() {
        for seed in 0..500 {
            for attempt in 1..=7 {
                let plain = 200 << (attempt - 1);
                let delay = delay_ms(attempt, None, seed);
                assert!((plain * 9 / 10..=plain * 11 / 10).contains(&delay), "{attempt} {delay}");
            }
        }
        let mut seen: Vec<u64> = (0..100).map(|seed| delay_ms(1, None, seed)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 20, "jitter must spread");
    }

    #[test]
    fn waits_are_bounded_and_repeatable() {
        assert!(delay_ms(u32::MAX, None, u64::MAX) <= 33_000);
        assert!((180..=220).contains(&delay_ms(0, None, 1)));
        assert_eq!(delay_ms(3, None, 42), delay_ms(3, None, 42));
    }

    #[test]
    fn the_provider_decides_within_bounds() {
        assert_eq!(delay_ms(5, Some(1500), 1), 1500);
        assert_eq!(delay_ms(1, Some(0), 1), 0);
        assert_eq!(delay_ms(1, Some(u64::MAX), 1), 120_000);
    }
}
