//! What messages of programs take in memory once they are read. Made of small parts, that is far more
//! than as text. Those that are being answered share one room. It knows no protocol.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sabir_base::json::string_end;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A room for messages. Cheap to clone; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Hold {
    room: Arc<Semaphore>,
    steps: u32,
    patience: Duration,
}

/// A part of a room, until it is let go of or the last clone is dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stowed(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Hold {
    /// Whoever finds no room waits for so long.
    pub(crate) fn new(bytes: usize, patience: Duration) -> Self {
        let steps = u32::try_from(bytes / STEP_BYTES).unwrap_or(u32::MAX).max(1);
        Self { room: Arc::new(Semaphore::new(steps as usize)), steps, patience }
    }

    /// Room for a text that is about to be read. Where there is none, it waits a moment for others to
    /// be answered; nothing if that does not help. Small messages pass whatever there is, and the
    /// largest one passes alone.
    pub(crate) async fn take(&self, text: &[u8]) -> Option<Stowed> {
        let steps = u32::try_from(heft(text) / STEP_BYTES).unwrap_or(u32::MAX).min(self.steps);
        if steps == 0 {
            return Some(Stowed::default());
        }
        let taking = Arc::clone(&self.room).acquire_many_owned(steps);
        // It is never closed.
        let taken = timeout(self.patience, taking).await.ok()?.ok()?;
        Some(Stowed(Arc::new(Mutex::new(Some(taken)))))
    }
}

impl Stowed {
    /// What was read is gone, or kept by others who count it.
    pub(crate) fn let_go(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// About what a text of JSON takes when it is read and passed on.
fn heft(text: &[u8]) -> usize {
    let parts = parts(text).saturating_mul(size_of::<Value>());
    COPIES.saturating_mul(parts.saturating_add(text.len()))
}

/// Of how many values and names a text of JSON is made, at most. Of one that is no JSON, up to the place
/// where it ceases to be.
pub(crate) fn parts(text: &[u8]) -> usize {
    let (mut count, mut at) = (1, 0);
    while let Some(byte) = text.get(at) {
        count += usize::from(matches!(byte, b',' | b'[' | b'{' | b':'));
        at = if *byte == b'"' { string_end(text, at) } else { at + 1 };
    }
    count
}

/// More than anybody means, and as many as fit into the longest message of A2A.
pub(crate) const MOST_PARTS: usize = 512 * 1024;

/// As read, as a message of its protocol, as what the gate sees and as an order.
const COPIES: usize = 4;
/// Less than this is not counted.
const STEP_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn zeros(count: usize) -> Vec<u8> {
        format!("[{}0]", "0,".repeat(count)).into_bytes()
    }

    #[test]
    fn what_stands_in_a_string_is_no_part() {
        for (text, count) in [
            ("", 1),
            ("1", 1),
            ("[]", 2),
            ("[1,2]", 3),
            (r#"{"a":1,"b":[2]}"#, 6),
            (r#""a,b:[{""#, 1),
            (r#"["\\",1]"#, 3),
            (r#"["\",",1]"#, 3),
            (r#"["a\"#, 2),
            (r#"["a"#, 2),
        ] {
            assert_eq!(parts(text.as_bytes()), count, "{text}");
        }
    }

    #[tokio::test]
    async fn messages_of_many_small_parts_are_read_one_after_the_other() {
        let moment = Duration::from_millis(20);
        let hold = Hold::new(64 << 20, moment);
        let text = format!("\"{}\"", ",".repeat(1 << 20)).into_bytes();
        let many: Vec<_> = futures_util::future::join_all((0..8).map(|_| hold.take(&text))).await;
        assert!(many.iter().all(Option::is_some), "texts are what they seem");
        drop(many);
        // As long as the text, and fifty times as large.
        let first = hold.take(&zeros(200_000)).await.unwrap();
        assert!(hold.take(&zeros(200_000)).await.is_none());
        assert!(hold.take(b"{\"small\":[1,2,3]}").await.is_some());
        // One that waits a moment has the room of one that is gone.
        let patient = Hold { patience: Duration::from_secs(60), ..hold.clone() };
        let next = zeros(10_000_000);
        let (next, ()) = tokio::join!(patient.take(&next), async { first.clone().let_go() });
        assert!(next.is_some(), "the largest one passes alone");
        assert!(hold.take(&zeros(200_000)).await.is_none());
        drop((first, next));
        assert!(hold.take(&zeros(200_000)).await.is_some());
    }
}
