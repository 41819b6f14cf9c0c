//! The time and the random numbers that the machines are given.

use std::time::{SystemTime, UNIX_EPOCH};

use sabir_ldp::{Moment, Timestamp};

pub(crate) fn now() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "this is where the machines get their time")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A moment that no other was. None if the system has no random numbers: then nothing that must not
/// be guessed can be made.
pub(crate) fn moment() -> Option<Moment> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).ok()?;
    Some(Moment::new(now(), seed))
}
