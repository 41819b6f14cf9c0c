//! Who is signed in. It is kept in memory: whoever restarts the node signs everybody out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use subtle::ConstantTimeEq as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Digest, fresh_secret};
use crate::refused::Refused;

#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<BTreeMap<Digest, Session>>);

#[derive(Debug)]
struct Session {
    person: SignedIn,
    began: Instant,
    used: Instant,
}

/// Somebody who is signed in. It is in the extensions of every request that the guard let through.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn {
    key: Digest,
    /// What a page of ours sends along with everything that changes something.
    csrf: Arc<str>,
    /// They left, or were signed out.
    pub(crate) over: CancellationToken,
}

impl SignedIn {
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Whether a page of ours sent this.
    pub(super) fn knows(&self, csrf: &[u8]) -> bool {
        bool::from(csrf.ct_eq(self.csrf.as_bytes()))
    }
}

impl Sessions {
    /// Signs somebody in; what comes back is for their cookie.
    pub(super) fn begin(&self, now: Instant) -> Result<(String, SignedIn), Refused> {
        let secret = fresh_secret()?;
        let person = SignedIn {
            key: Digest::of(&secret),
            csrf: fresh_secret()?.into(),
            over: CancellationToken::new(),
        };
        let mut sessions = self.living(now);
        if sessions.len() >= MOST {
            let idle = sessions.iter().min_by_key(|(_, it)| it.used).map(|(key, _)| *key);
            end(&mut sessions, idle);
        }
        sessions.insert(person.key, Session { person: person.clone(), began: now, used: now });
        Ok((secret, person))
    }

    /// Whose this is.
    pub(super) fn find(&self, secret: &str, now: Instant) -> Option<SignedIn> {
        let mut sessions = self.living(now);
        let session = sessions.get_mut(&Digest::of(secret))?;
        session.used = now;
        Some(session.person.clone())
    }

    pub(super) fn holds(&self, person: &SignedIn) -> bool {
        let now = Instant::now();
        match self.living(now).get_mut(&person.key) {
            Some(session) => {
                session.used = now;
                true
            }
            None => false,
        }
    }

    pub(super) fn end(&self, person: &SignedIn, now: Instant) {
        end(&mut self.living(now), Some(person.key));
    }

    /// Those whose time is not over; the others are gone.
    fn living(&self, now: Instant) -> MutexGuard<'_, BTreeMap<Digest, Session>> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, it| {
            let lives = now < it.used + IDLE && now < it.began + LONGEST;
            if !lives {
                it.person.over.cancel();
            }
            lives
        });
        sessions
    }
}

fn end(sessions: &mut BTreeMap<Digest, Session>, key: Option<Digest>) {
    if let Some(session) = key.and_then(|key| sessions.remove(&key)) {
        session.person.over.cancel();
    }
}

/// Without a request and without a page that is open.
const IDLE: Duration = Duration::from_secs(12 * 3600);
/// Whatever is done in it.
pub(super) const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
/// More than the browsers of one person.
const MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// CO-6: a session ends when nobody uses it, and after a week whatever happens.
    #[test]
    fn sessions_end() {
        let sessions = Sessions::default();
        let start = Instant::now();
        let (idle, unused) = sessions.begin(start).unwrap();
        let (used, person) = sessions.begin(start).unwrap();
        let mut now = start;
        while now + IDLE / 2 < start + LONGEST {
            now += IDLE / 2;
            assert!(sessions.find(&used, now).is_some());
        }
        assert!(unused.over.is_cancelled() && sessions.find(&idle, start).is_none());
        assert!(!person.over.is_cancelled());
        assert!(sessions.find(&used, start + LONGEST).is_none());
        assert!(person.over.is_cancelled());
    }

    /// CO-6: there are at most 64; one more takes the place of the one that was not used longest.
    #[test]
    fn sessions_are_bounded() {
        let sessions = Sessions::default();
        let start = Instant::now();
        let mut all = Vec::new();
        for count in 0..MOST as u64 {
            all.push(sessions.begin(start + Duration::from_secs(count)).unwrap());
        }
        let now = start + Duration::from_secs(MOST as u64);
        assert!(sessions.find(&all[0].0, now).is_some());
        sessions.begin(now).unwrap();
        assert!(sessions.find(&all[0].0, now).is_some());
        assert!(sessions.find(&all[1].0, now).is_none() && all[1].1.over.is_cancelled());
        sessions.end(&all[2].1, now);
        assert!(sessions.find(&all[2].0, now).is_none() && all[2].1.over.is_cancelled());
    }

    /// CO-4: each session has its own word, which no other opens.
    #[test]
    fn each_session_has_its_own_word() {
        let sessions = Sessions::default();
        let (one, other) =
            (sessions.begin(Instant::now()).unwrap().1, sessions.begin(Instant::now()).unwrap().1);
        assert!(one.knows(one.csrf().as_bytes()) && !one.knows(other.csrf().as_bytes()));
        assert!(!one.knows(b""));
    }
}
