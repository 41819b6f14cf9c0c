//! The queue pair over WebSocket: one message in each text frame.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use sabir_engine::MAX_LINE_BYTES;
use tokio_tungstenite::tungstenite;

use crate::guard::Turned;
use crate::server::Shared;
use crate::transport::{Frame, Sink, Source};

/// Below it, a message that is too long is passed over; above it, nothing more can be read.
const MAX_FRAME_BYTES: usize = 2 * MAX_LINE_BYTES;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new().route("/", get(upgrade)).with_state(shared)
}

async fn upgrade(State(shared): State<Arc<Shared>>, upgrade: WebSocketUpgrade) -> Response {
    let Some(place) = shared.take_place() else { return Turned::Busy.response() };
    upgrade.max_message_size(MAX_FRAME_BYTES).max_frame_size(MAX_FRAME_BYTES).on_upgrade(
        move |socket| async move {
            let (sink, source) = socket.split();
            let source = FrameSource { frames: source, is_over: false };
            shared.run(source, FrameSink { frames: sink }, place).await;
        },
    )
}

struct FrameSource {
    frames: SplitStream<WebSocket>,
    is_over: bool,
}

struct FrameSink {
    frames: SplitSink<WebSocket, Message>,
}

impl Source for FrameSource {
    async fn next(&mut self) -> Option<Frame> {
        if self.is_over {
            return None;
        }
        loop {
            return Some(match self.frames.next().await {
                Some(Ok(Message::Text(text))) if text.trim_ascii().is_empty() => continue,
                Some(Ok(Message::Text(text))) if text.len() > MAX_LINE_BYTES => Frame::TooLong,
                Some(Ok(Message::Text(text))) => Frame::Message(text.as_bytes().to_vec()),
                Some(Ok(Message::Binary(_))) => {
                    Frame::Unfit("messages go in text frames, not in binary ones")
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Err(error)) if is_too_long(&error) => {
                    // The rest of it cannot be told from what follows.
                    self.is_over = true;
                    Frame::TooLong
                }
                // A WebSocket cannot be closed by half.
                Some(Ok(Message::Close(_)) | Err(_)) | None => Frame::Broken,
            });
        }
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    let cause = std::error::Error::source(error);
    let cause = cause.and_then(|cause| cause.downcast_ref::<tungstenite::Error>());
    matches!(cause, Some(tungstenite::Error::Capacity(_)))
}

impl Sink for FrameSink {
    async fn send(&mut self, message: &str) -> io::Result<()> {
        self.frames.send(Message::Text(message.into())).await.map_err(io::Error::other)
    }

    async fn close(&mut self) {
        let _ = self.frames.close().await;
    }
}
