//! The queue pair over gRPC: one call is one session, and its messages carry the JSON text.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use futures_util::{Stream, StreamExt as _};
use sabir_engine::MAX_LINE_BYTES;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::channel::channel;
use crate::guard::Turned;
use crate::server::Shared;
use crate::transport::{Frame, Source};
use v1::queue_pair_server::{QueuePair, QueuePairServer};
use v1::{Event, Submission};

#[expect(clippy::allow_attributes, unused_qualifications, reason = "the code is generated")]
pub mod v1 {
    //! The messages of `sabir.queue_pair.v1`, its client and its server.
    tonic::include_proto!("sabir.queue_pair.v1");
}

/// Below it, a message that is too long is passed over; above it, nothing more can be read.
const MAX_MESSAGE_BYTES: usize = 2 * MAX_LINE_BYTES;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let server =
        QueuePairServer::new(Sessions { shared }).max_decoding_message_size(MAX_MESSAGE_BYTES);
    Router::new().route_service("/sabir.queue_pair.v1.QueuePair/{call}", server)
}

struct Sessions {
    shared: Arc<Shared>,
}

#[tonic::async_trait]
impl QueuePair for Sessions {
    type SessionStream = Pin<Box<dyn Stream<Item = Result<Event, Status>> + Send>>;

    async fn session(
        &self,
        request: Request<Streaming<Submission>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let shared = Arc::clone(&self.shared);
        let place = shared.take_place().ok_or_else(|| Turned::Busy.status())?;
        let source = MessageSource { messages: request.into_inner(), is_over: false };
        let (sink, events) = channel(|json| Event { json: json.to_owned() });
        let tracker = shared.tracker.clone();
        tracker.spawn(async move { shared.run(source, sink, place).await });
        Ok(Response::new(Box::pin(events.map(Ok))))
    }
}

struct MessageSource {
    messages: Streaming<Submission>,
    is_over: bool,
}

impl Source for MessageSource {
    async fn next(&mut self) -> Option<Frame> {
        if self.is_over {
            return None;
        }
        loop {
            return Some(match self.messages.message().await {
                Ok(Some(Submission { json })) if json.trim_ascii().is_empty() => continue,
                Ok(Some(Submission { json })) if json.len() > MAX_LINE_BYTES => Frame::TooLong,
                Ok(Some(Submission { json })) => Frame::Message(json.into_bytes()),
                Ok(None) => return None,
                Err(status) if status.code() == Code::OutOfRange => {
                    self.is_over = true;
                    Frame::TooLong
                }
                Err(_) => Frame::Broken,
            });
        }
    }
}
