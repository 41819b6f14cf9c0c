//! The body of a response, which holds its place and its room until it is sent or given up, and lets
//! the connection see that nobody reads. It knows no message.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream::{BoxStream, Stream, StreamExt as _};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, sleep_until};

use super::Guest;
use super::body::Share;

/// What is handed to the network at once. Copied from larger pieces, so that what is still on its way
/// does not keep all of them.
pub(super) const CHUNK_BYTES: usize = 16 * 1024;

/// Some bytes of a response, and the room that they take.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) bytes: Bytes,
    pub(super) _share: Share,
}

/// A response of one piece.
pub(super) fn whole(piece: Piece, place: Guest, pending: &Arc<Pending>) -> Body {
    let left = Some(piece.bytes.len() as u64);
    let (rest, watch) = (Some(piece), Watch::new(pending));
    Body::new(Held { coming: None, rest, left, _place: place, watch })
}

/// A response whose pieces come when they come.
pub(super) fn flowing(
    pieces: impl Stream<Item = Piece> + Send + 'static,
    place: Guest,
    pending: &Arc<Pending>,
) -> Body {
    let (coming, watch) = (Some(pieces.boxed()), Watch::new(pending));
    Body::new(Held { coming, rest: None, left: None, _place: place, watch })
}

struct Held {
    /// After the rest; none if that is all.
    coming: Option<BoxStream<'static, Piece>>,
    rest: Option<Piece>,
    /// Bytes that are yet to come, if that is known.
    left: Option<u64>,
    _place: Guest,
    watch: Watch,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        loop {
            if let Some(piece) = self.rest.as_mut().filter(|piece| !piece.bytes.is_empty()) {
                let chunk = match piece.bytes.len() <= CHUNK_BYTES {
                    true => std::mem::take(&mut piece.bytes),
                    false => Bytes::copy_from_slice(&piece.bytes.split_to(CHUNK_BYTES)),
                };
                self.left = self.left.map(|left| left.saturating_sub(chunk.len() as u64));
                self.watch.offer();
                return Poll::Ready(Some(Ok(Frame::data(chunk))));
            }
            // Only now: what was offered last is gone, or on its way.
            self.rest = None;
            let Some(coming) = &mut self.coming else { return Poll::Ready(None) };
            match coming.poll_next_unpin(context) {
                Poll::Ready(Some(piece)) => self.rest = Some(piece),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    self.watch.rest();
                    return Poll::Pending;
                }
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// The responses of a connection that have something to send, and since when each has not been asked
/// for more.
#[derive(Debug, Default)]
pub(super) struct Pending {
    since: Mutex<Offers>,
}

#[derive(Debug, Default)]
struct Offers {
    next: u64,
    /// By their numbers, the lowest first. Few: one on a connection that is not shared.
    open: Vec<(u64, Instant)>,
}

impl Offers {
    fn set(&mut self, number: u64, since: Instant) {
        match self.place_of(number) {
            Ok(at) => self.open[at].1 = since,
            Err(at) => self.open.insert(at, (number, since)),
        }
    }

    fn remove(&mut self, number: u64) {
        if let Ok(at) = self.place_of(number) {
            self.open.remove(at);
        }
    }

    /// Where it is, or where it would be.
    fn place_of(&self, number: u64) -> Result<usize, usize> {
        self.open.binary_search_by_key(&number, |(number, _)| *number)
    }
}

impl Pending {
    /// Comes back when a response could not be sent on for that long.
    pub(super) async fn stalled(&self, stall_time: Duration) {
        loop {
            let now = Instant::now();
            let oldest = self.offers().open.iter().map(|(_, since)| *since).min().unwrap_or(now);
            if now.duration_since(oldest) >= stall_time {
                return;
            }
            sleep_until(oldest + stall_time).await;
        }
    }

    fn offers(&self) -> MutexGuard<'_, Offers> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One response among those of its connection.
#[derive(Debug)]
pub(super) struct Watch {
    pending: Arc<Pending>,
    number: u64,
}

impl Watch {
    pub(super) fn new(pending: &Arc<Pending>) -> Self {
        let pending = Arc::clone(pending);
        let mut offers = pending.offers();
        offers.next += 1;
        let number = offers.next;
        offers.set(number, Instant::now());
        drop(offers);
        Self { pending, number }
    }

    /// There is something to send.
    pub(super) fn offer(&self) {
        let now = Instant::now();
        self.pending.offers().set(self.number, now);
    }

    /// There is nothing to send now.
    pub(super) fn rest(&self) {
        self.pending.offers().remove(self.number);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They are kept in the order of their numbers, whichever has something to send again.
    #[tokio::test]
    async fn a_response_is_found_among_those_that_came_after_it() {
        let mut offers = Offers::default();
        let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        for number in 1..=4 {
            offers.set(number, now);
        }
        for number in [2, 9, 1, 2] {
            offers.remove(number);
        }
        for (number, since) in [(5, now), (2, later), (4, later)] {
            offers.set(number, since);
        }
        assert_eq!(offers.open, [(2, later), (3, now), (4, later), (5, now)]);
    }
}
