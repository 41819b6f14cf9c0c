//! A request that a mount answers. The times and places of the listener hold for it; what it says is
//! its own affair, and its streams may stay open.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper::Request;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use sabir_ldp::Origin;
use sabir_telemetry::{Running, metrics, within};
use tokio::time::sleep;

use super::Guest;
use super::body::{Room, Share};
use super::connection::Connected;
use super::door::Proof;
use super::held::{CHUNK_BYTES, Watch};
use super::mount::{Entry, Mount, Visitor};
use super::refusal::Refused;
use super::watched;

pub(super) async fn pass_on(
    mount: &Mount,
    connected: &Arc<Connected>,
    request: Request<Incoming>,
) -> Result<Response, Refused> {
    let (shared, caller) = (&connected.shared, &connected.caller);
    let proof = match mount.entry {
        Entry::Caller => Proof::Demanded,
        Entry::Own => Proof::Noted,
    };
    let channel = shared.door.channel(caller, proof, request.headers())?;
    let place = shared.take_place(caller)?;
    let span = watched::span("request", request.headers());
    let visitor = Visitor {
        address: caller.address,
        is_near: channel.origin == Origin::Loopback,
        is_tls: shared.is_tls,
        channel,
        trace: span.context(),
    };
    let coming = Coming::default();
    let mut request = request.map(|body| Body::new(Asked::new(body, &coming, connected)));
    request.extensions_mut().insert(visitor);
    let answering = TowerToHyperService::new(mount.router.clone()).call(request);
    let Ok(response) = within(span.context(), answering).await;
    // Whatever the mount made of a body that broke off: here it is known why it did.
    let refused = coming.state().refused.take();
    if let Some(refused) = refused.filter(|_| !response.status().is_success()) {
        return Err(refused);
    }
    let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(is_event_stream);
    let viewer = is_stream.then(|| Running::begin(&metrics().viewers));
    Ok(response.map(|body| Body::new(Said::new(body, (place, viewer), connected))))
}

fn is_event_stream(kind: &HeaderValue) -> bool {
    kind.as_bytes().starts_with(b"text/event-stream")
}

/// What is known of the body of a request until it is answered.
#[derive(Clone, Default)]
struct Coming(Arc<Mutex<ComingState>>);

#[derive(Default)]
struct ComingState {
    bytes: usize,
    /// Held for as long as the mount works on it, and has what came in memory.
    share: Share,
    /// Why it broke off.
    refused: Option<Refused>,
}

impl Coming {
    fn state(&self) -> MutexGuard<'_, ComingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes room for what came. How much may come is for the mount to say; how much all of them have
    /// in memory is said here.
    fn take(&self, bytes: usize, room: &Room) -> Result<(), Refused> {
        let mut state = self.state();
        state.bytes = state.bytes.saturating_add(bytes);
        let length = state.bytes;
        room.make_room(&mut state.share, length)
    }

    fn refuse(&self, refused: Refused) -> axum::BoxError {
        let message = refused.message();
        self.state().refused = Some(refused);
        message.into()
    }
}

/// The body of a request, which has to come within its time, and finds room for what came.
struct Asked {
    body: Incoming,
    late: BoxFuture<'static, ()>,
    coming: Coming,
    connected: Arc<Connected>,
    is_whole: bool,
}

impl Asked {
    fn new(body: Incoming, coming: &Coming, connected: &Arc<Connected>) -> Self {
        let late = sleep(connected.shared.limits.body_time).boxed();
        let is_whole = body.is_end_stream();
        let (coming, connected) = (coming.clone(), Arc::clone(connected));
        Self { body, late, coming, connected, is_whole }
    }
}

impl HttpBody for Asked {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                if let Err(refused) = self.coming.take(bytes, &self.connected.shared.visits) {
                    return Poll::Ready(Some(Err(self.coming.refuse(refused))));
                }
                self.is_whole = self.body.is_end_stream();
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(_))) => {
                Poll::Ready(Some(Err(self.coming.refuse(Refused::BrokenBody))))
            }
            Poll::Ready(None) => {
                self.is_whole = true;
                Poll::Ready(None)
            }
            Poll::Pending => self
                .late
                .poll_unpin(context)
                .map(|()| Some(Err(self.coming.refuse(Refused::SlowBody)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.is_whole {
            self.connected.leave_unread();
        }
    }
}

/// The body of a response: it holds its place, lets the connection see that nobody reads, and ends
/// with the server.
struct Said {
    body: Body,
    rest: Bytes,
    ending: BoxFuture<'static, ()>,
    watch: Watch,
    /// Its place and, of a stream, that somebody reads it.
    _held: (Guest, Option<Running>),
}

impl Said {
    fn new(body: Body, held: (Guest, Option<Running>), connected: &Connected) -> Self {
        let (stop, grace) = (connected.shared.stop.clone(), connected.shared.limits.grace);
        // The rest of the time is for the end itself to be sent.
        let ending = async move {
            stop.cancelled().await;
            sleep(grace * 3 / 4).await;
        };
        let watch = Watch::new(&connected.pending);
        Self { body, rest: Bytes::new(), ending: ending.boxed(), watch, _held: held }
    }
}

impl HttpBody for Said {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            if !self.rest.is_empty() {
                // In small pieces it shows that some of it was taken.
                let length = self.rest.len().min(CHUNK_BYTES);
                let chunk = self.rest.split_to(length);
                self.watch.offer();
                return Poll::Ready(Some(Ok(Frame::data(chunk))));
            }
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Poll::Ready(end) => return Poll::Ready(end),
                Poll::Pending => {
                    self.watch.rest();
                    return self.ending.poll_unpin(context).map(|()| None);
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, hint) = (self.rest.len() as u64, self.body.size_hint());
        match hint.exact() {
            Some(exact) => SizeHint::with_exact(exact.saturating_add(rest)),
            None => SizeHint::default(),
        }
    }
}
