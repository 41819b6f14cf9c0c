//! Whether a connection of HTTP/2 is used. Pings do not count: only requests, until they are answered.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, sleep_until};

/// How many requests of a connection are being answered, and since when.
#[derive(Debug)]
pub(super) struct Use {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    requests: usize,
    /// When the last one began or ended.
    since: Instant,
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Busy(Arc<Use>);

impl Use {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { requests: 0, since: Instant::now() }) }
    }

    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.change(|requests| requests + 1);
        Busy(Arc::clone(self))
    }

    /// Comes back when there was no request for that long.
    pub(super) async fn idle(&self, time: Duration) {
        loop {
            let now = Instant::now();
            let since = {
                let state = self.state();
                if state.requests == 0 { state.since } else { now }
            };
            if now.duration_since(since) >= time {
                return;
            }
            sleep_until(since + time).await;
        }
    }

    fn change(&self, change: impl FnOnce(usize) -> usize) {
        let mut state = self.state();
        *state = State { requests: change(state.requests), since: Instant::now() };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Busy {
    /// A body until whose end the request is being answered.
    pub(super) fn until_sent(self, body: Body) -> Body {
        Body::new(Counted { body, _busy: self })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.change(|requests| requests.saturating_sub(1));
    }
}

struct Counted {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
