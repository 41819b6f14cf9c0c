//! How many lines a topic may write: whoever is turned away again and again must not fill the disk.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Bucket {
    per_second: f64,
    most: f64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    left: f64,
    at: Option<Instant>,
    /// Lines that were left out since the last one that was written.
    missing: u64,
}

impl Bucket {
    pub(super) fn new(per_second: f64, most: f64) -> Self {
        let state = State { left: most, at: None, missing: 0 };
        Self { per_second, most, state: Mutex::new(state) }
    }

    /// Whether one more line may be written, and how many were not since the last one.
    pub(super) fn take(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let since = state.at.map_or(0.0, |at| now.duration_since(at).as_secs_f64());
        state.at = Some(now);
        state.left = (state.left + since * self.per_second).min(self.most);
        if state.left < 1.0 {
            state.missing += 1;
            return None;
        }
        state.left -= 1.0;
        Some(std::mem::take(&mut state.missing))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn too_many_lines_are_counted_instead() {
        let (bucket, now) = (Bucket::new(2.0, 3.0), Instant::now());
        let took: Vec<_> = (0..5).map(|_| bucket.take(now)).collect();
        assert_eq!(took, [Some(0), Some(0), Some(0), None, None]);
        let later = now + Duration::from_secs(1);
        assert_eq!(
            [bucket.take(later), bucket.take(later), bucket.take(later)],
            [Some(2), Some(0), None]
        );
    }
}
