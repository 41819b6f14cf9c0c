//! A task's events as an event stream. Losing the connection ends the stream and not the task.

use std::future::{Future, ready};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::Response;
use futures_util::{Stream, StreamExt as _, stream};
use sabir_host::{Follow, Told};
use sabir_telemetry::{Running, metrics};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Guest;
use super::connection::Connected;
use super::held::{Piece, flowing};

/// Events that go to the network together, if they are there already. Further ones wait in the
/// node, so that a reader who stalls holds no more than these.
const TOGETHER: usize = 16;

/// Says nothing, and keeps what is between from giving up.
const SIGN_OF_LIFE: &[u8] = b": alive\n\n";

pub(super) fn response(follow: Follow, connected: &Connected, place: Guest) -> Response {
    let shared = &connected.shared;
    let quiet = Quiet {
        time: shared.limits.quiet_time,
        stop: shared.stop.clone(),
        // The rest is for the end itself to be sent.
        grace: shared.limits.grace * 3 / 4,
        last: None,
    };
    let room = shared.answers.clone();
    let viewer = Running::begin(&metrics().viewers);
    // Who finds no room for an event comes again for it.
    let pieces = events(follow, quiet).map(move |bytes| {
        let _viewer = &viewer;
        let share = room.share(bytes.len()).ok()?;
        Some(Piece { bytes, _share: share })
    });
    let pieces = pieces.take_while(|piece| ready(piece.is_some())).filter_map(ready);
    let mut response = Response::new(flowing(pieces, place, &connected.pending));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// What happens while nothing is told.
struct Quiet {
    time: Duration,
    stop: CancellationToken,
    /// How long the last event is waited for when the server stops.
    grace: Duration,
    /// Set when it stops: nothing is waited for any longer than this.
    last: Option<Instant>,
}

impl Quiet {
    /// What comes next; nothing when the time is over.
    async fn wait<T>(
        &mut self,
        mut next: impl Future<Output = T> + Unpin,
    ) -> Option<Result<T, ()>> {
        if self.last.is_none() {
            let waiting = timeout(self.time, &mut next);
            match self.stop.run_until_cancelled(waiting).await {
                Some(heard) => return Some(heard.map_err(drop)),
                None => self.last = Some(Instant::now() + self.grace),
            }
        }
        timeout_at(self.last?, next).await.ok().map(Ok)
    }
}

fn events(
    told: impl Stream<Item = Told> + Send + Unpin + 'static,
    quiet: Quiet,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let told = told.ready_chunks(TOGETHER);
    stream::unfold((told, quiet), |(mut told, mut quiet)| async move {
        let next = match quiet.wait(told.next()).await? {
            Err(()) => Bytes::from_static(SIGN_OF_LIFE),
            Ok(events) => written(&events?),
        };
        Some((next, (told, quiet)))
    })
}

fn written(events: &[Told]) -> Bytes {
    let mut text = String::with_capacity(events.iter().map(|told| told.text.len() + 40).sum());
    for told in events {
        text.push_str("id: ");
        text.push_str(&told.id.to_string());
        // A line break would end the field; JSON has them between values only.
        for line in told.text.split(['\n', '\r']) {
            text.push_str("\ndata: ");
            text.push_str(line);
        }
        text.push_str("\n\n");
    }
    Bytes::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn told(id: u64, text: &str) -> Told {
        Told { id, text: text.to_owned(), last: false }
    }

    fn quiet() -> Quiet {
        Quiet {
            time: Duration::from_secs(15),
            stop: CancellationToken::new(),
            grace: Duration::from_millis(1),
            last: None,
        }
    }

    #[test]
    fn an_event_has_an_id_and_lines_of_data() {
        let written = written(&[told(7, "{\"a\":1}"), told(8, "{\n}")]);
        assert_eq!(written, "id: 7\ndata: {\"a\":1}\n\nid: 8\ndata: {\ndata: }\n\n");
    }

    #[tokio::test]
    async fn a_stream_with_nothing_to_tell_shows_that_it_lives() {
        let quiet = Quiet { time: Duration::from_millis(1), ..quiet() };
        let mut events = Box::pin(events(stream::pending(), quiet));
        for _ in 1..=3 {
            assert_eq!(events.next().await.unwrap(), SIGN_OF_LIFE);
        }
    }

    #[tokio::test]
    async fn nothing_is_taken_from_the_node_that_nobody_reads() {
        let taken = Arc::new(AtomicU64::new(0));
        let counting = Arc::clone(&taken);
        let endless = stream::iter(0..).map(move |id| {
            counting.fetch_add(1, Ordering::Relaxed);
            told(id, "{}")
        });
        let mut events = Box::pin(events(endless, quiet()));
        for read in 1..=3 {
            events.next().await.unwrap();
            assert_eq!(taken.load(Ordering::Relaxed), read * TOGETHER as u64);
        }
    }

    #[tokio::test]
    async fn what_is_told_at_the_end_is_still_sent() {
        let quiet = Quiet { grace: Duration::from_secs(60), ..quiet() };
        quiet.stop.cancel();
        let late = stream::once(async {
            tokio::task::yield_now().await;
            told(1, "{}")
        });
        let mut events = Box::pin(events(Box::pin(late), quiet));
        assert_eq!(events.next().await.unwrap(), "id: 1\ndata: {}\n\n");
        assert_eq!(events.next().await, None);
    }

    #[tokio::test]
    async fn the_end_of_the_server_is_the_end_of_the_stream() {
        let quiet = quiet();
        let stop = quiet.stop.clone();
        let mut events = Box::pin(events(stream::pending(), quiet));
        let (next, ()) = tokio::join!(events.next(), async { stop.cancel() });
        assert_eq!(next, None);
    }
}
