//! How much of what a program says while it works is told. Each line that is told is on disk for good,
//! so that one that complains without end would fill it.

use std::time::Duration;

use tokio::time::Instant;

/// Room for lines, which comes back with time.
#[derive(Debug)]
pub(super) struct Pace {
    room: u32,
    /// Up to when room was given back.
    counted_at: Instant,
    left_out: u64,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { room: AT_ONCE, counted_at: now, left_out: 0 }
    }

    /// Whether a line is told.
    pub(super) fn admits(&mut self, line: &str, now: Instant) -> bool {
        let back = now.duration_since(self.counted_at).as_millis() / EACH.as_millis();
        let back = u32::try_from(back).unwrap_or(u32::MAX);
        self.room = self.room.saturating_add(back).min(AT_ONCE);
        self.counted_at += EACH.saturating_mul(back);
        // A line is at most some dozens of these.
        let wanted = u32::try_from(line.len() / LONG_LINE).unwrap_or(u32::MAX).saturating_add(1);
        let room = self.room.checked_sub(wanted);
        match room {
            Some(room) => self.room = room,
            None => self.left_out += 1,
        }
        room.is_some()
    }

    /// What is said about lines that were not told, once.
    pub(super) fn gap(&mut self) -> Option<String> {
        match std::mem::take(&mut self.left_out) {
            0 => None,
            1 => Some("[... 1 line left out ...]".to_owned()),
            lines => Some(format!("[... {lines} lines left out ...]")),
        }
    }
}

/// More than a build says, and a few megabytes on disk.
const AT_ONCE: u32 = 10_000;
/// Ten lines a second are more than anybody reads, and less than a gigabyte a day.
const EACH: Duration = Duration::from_millis(100);
/// A longer line counts as several.
const LONG_LINE: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// LD-N16
    #[test]
    fn lines_come_at_once_or_one_after_the_other() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        for _ in 0..AT_ONCE {
            assert!(pace.admits("line", start));
        }
        assert_eq!(pace.gap(), None);
        assert!(!pace.admits("line", start));
        assert_eq!(pace.gap().unwrap(), "[... 1 line left out ...]");
        assert_eq!(pace.gap(), None);
        let mut told = 0;
        for step in 1..=10_000_u64 {
            told += u32::from(pace.admits("line", start + Duration::from_millis(step)));
        }
        assert_eq!(told, 100);
        assert_eq!(pace.gap().unwrap(), "[... 9900 lines left out ...]");
        let later = start + Duration::from_secs(24 * 60 * 60);
        assert!(pace.admits(&"x".repeat(LONG_LINE * 9_999), later));
        assert!(!pace.admits("line", later));
    }
}
