//! Messages over a WebSocket: each text frame is an envelope, in both directions. Closing it ends no
//! task.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::stream::{BoxStream, SelectAll, SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _, stream};
use sabir_ldp::Channel;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_tungstenite::tungstenite;

use super::Place;
use super::connection::Connected;
use super::refusal::Refused;

/// Frames on their way to the network. Further ones wait in the node.
const FRAMES_ON_THE_WAY: usize = 16;

/// What is read from the network at once.
const READ_BYTES: usize = 16 * 1024;

/// How long a goodbye is waited for.
const GOODBYE_TIME: Duration = Duration::from_secs(2);

pub(super) fn open(
    upgrade: WebSocketUpgrade,
    connected: Arc<Connected>,
    channel: Channel,
    place: Place,
) -> Response {
    let limit = connected.shared.limits.frame_bytes;
    // An upgraded connection is no longer among those that the server waits for.
    let counted = connected.shared.tracker.token();
    upgrade
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(limit)
        .max_frame_size(limit)
        .on_upgrade(async move |socket| {
            let talk = Talk { connected, channel };
            talk.run(socket).await;
            drop((place, counted));
        })
}

struct Talk {
    connected: Arc<Connected>,
    channel: Channel,
}

impl Talk {
    async fn run(&self, socket: WebSocket) {
        let (sink, source) = socket.split();
        let (outbox, letters) = mpsc::channel(FRAMES_ON_THE_WAY);
        let stall_time = self.connected.shared.limits.stall_time;
        let mut sending = pin!(send(sink, letters, stall_time));
        tokio::select! {
            () = self.converse(source, outbox) => {
                let _ = timeout(GOODBYE_TIME, sending).await;
            }
            () = &mut sending => {}
        }
    }

    /// Takes messages in and passes answers on until the other side is gone. Both go on while either
    /// waits, so that who writes much before reading is served as well.
    async fn converse(&self, mut source: SplitStream<WebSocket>, outbox: mpsc::Sender<Message>) {
        let shared = &self.connected.shared;
        let limits = &shared.limits;
        let mut answers: SelectAll<BoxStream<'static, String>> = SelectAll::new();
        let mut held: Option<Message> = None;
        let mut pause_until = Instant::now();
        let mut heard_at = Instant::now();
        let mut pings = interval(limits.quiet_time);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_paused = pause_until > Instant::now();
            let may_read = !is_paused && answers.len() < limits.unanswered;
            tokio::select! {
                frame = source.next(), if may_read => {
                    heard_at = Instant::now();
                    match heard(frame) {
                        Heard::Message(text) => {
                            if let Err(Refused::TooOften { wait }) =
                                shared.door.take_turn(&self.connected.caller)
                            {
                                pause_until = Instant::now() + wait;
                            }
                            answers.push(self.answers(text));
                        }
                        Heard::Nothing => {}
                        Heard::End => return,
                        Heard::Fault(code, reason) => {
                            let close = CloseFrame { code, reason: reason.into() };
                            let _ = outbox.send(Message::Close(Some(close))).await;
                            return;
                        }
                    }
                }
                () = sleep_until(pause_until), if is_paused => {}
                Some(text) = answers.next(), if held.is_none() => {
                    held = Some(Message::Text(text.into()));
                }
                Ok(permit) = outbox.reserve(), if held.is_some() => {
                    if let Some(message) = held.take() {
                        permit.send(message);
                    }
                }
                _ = pings.tick() => {
                    // Who is not listened to cannot be heard.
                    if may_read && heard_at.elapsed() > limits.quiet_time * SILENT_PINGS {
                        return;
                    }
                    if !may_read {
                        heard_at = Instant::now();
                    }
                    let _ = outbox.try_send(Message::Ping(Default::default()));
                }
                () = shared.stop.cancelled() => {
                    let reason = "the node stops".into();
                    let close = CloseFrame { code: close_code::AWAY, reason };
                    let _ = outbox.send(Message::Close(Some(close))).await;
                    return;
                }
            }
        }
    }

    /// What the node says to a message: one answer, or the events of a task.
    fn answers(&self, text: String) -> BoxStream<'static, String> {
        let (node, channel) = (self.connected.shared.node.clone(), self.channel);
        let following = async move { node.follow(&text, channel, None).await };
        stream::once(following).flatten().map(|told| told.text).boxed()
    }
}

/// Silence for this many pings is an end.
const SILENT_PINGS: u32 = 3;

/// What a frame says.
enum Heard {
    Message(String),
    Nothing,
    End,
    /// It cannot go on, and why.
    Fault(u16, &'static str),
}

fn heard(frame: Option<Result<Message, axum::Error>>) -> Heard {
    match frame {
        Some(Ok(Message::Text(text))) => Heard::Message(text.as_str().to_owned()),
        Some(Ok(Message::Ping(_) | Message::Pong(_))) => Heard::Nothing,
        Some(Ok(Message::Binary(_))) => {
            Heard::Fault(close_code::UNSUPPORTED, "messages go in text frames, not in binary ones")
        }
        Some(Err(error)) => fault(&error),
        Some(Ok(Message::Close(_))) | None => Heard::End,
    }
}

fn fault(error: &axum::Error) -> Heard {
    let cause = std::error::Error::source(error);
    match cause.and_then(|cause| cause.downcast_ref::<tungstenite::Error>()) {
        Some(tungstenite::Error::Capacity(_)) => {
            Heard::Fault(close_code::SIZE, "the message is too long")
        }
        Some(tungstenite::Error::Utf8(_)) => {
            Heard::Fault(close_code::INVALID, "a text frame is UTF-8")
        }
        _ => Heard::End,
    }
}

/// Sends until there is no more, or until somebody does not read.
async fn send(
    mut sink: SplitSink<WebSocket, Message>,
    mut letters: mpsc::Receiver<Message>,
    stall_time: Duration,
) {
    while let Some(letter) = letters.recv().await {
        let is_last = matches!(letter, Message::Close(_));
        let sent = timeout(stall_time, sink.send(letter)).await;
        if is_last || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
    let _ = sink.close().await;
}
