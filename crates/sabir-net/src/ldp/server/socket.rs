//! Messages over a WebSocket: each text frame is an envelope, in both directions. Closing it ends no
//! task.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, SelectAll, SplitSink, SplitStream};
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use sabir_host::{Follow, Told};
use sabir_ldp::Channel;
use sabir_telemetry::{TraceContext, within};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_tungstenite::tungstenite;

use super::Place;
use super::body::Share;
use super::connection::Connected;
use super::mount::Seat;
use super::refusal::Refused;
use super::watched;

/// Frames on their way to the network. Further ones wait in the node.
const FRAMES_ON_THE_WAY: usize = 16;

/// What is read from the network at once.
const READ_BYTES: usize = 16 * 1024;

/// How long a goodbye is waited for.
const GOODBYE_TIME: Duration = Duration::from_secs(2);

pub(super) fn open(upgrade: WebSocketUpgrade, talk: Talk, place: Place) -> Response {
    let shared = &talk.connected.shared;
    let limit = shared.limits.frame_bytes;
    // An upgraded connection is no longer among those that the server waits for.
    let counted = shared.tracker.token();
    upgrade
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(limit)
        .max_frame_size(limit)
        .on_upgrade(async move |socket| {
            talk.run(socket).await;
            drop((place, counted));
        })
}

/// Who talks to whom.
pub(super) struct Talk {
    pub(super) connected: Arc<Connected>,
    pub(super) seat: Arc<Seat>,
    pub(super) channel: Channel,
    /// What the request that opened the socket is part of: all that is said over it is, too. Frames
    /// have no headers.
    pub(super) trace: Option<TraceContext>,
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
    async fn converse(&self, mut source: SplitStream<WebSocket>, outbox: mpsc::Sender<Letter>) {
        let shared = &self.connected.shared;
        let limits = &shared.limits;
        // Messages that the node is being told. They go on whatever else waits: one that stood still
        // could hold what others wait for.
        let mut arriving: FuturesUnordered<BoxFuture<'static, Follow>> = FuturesUnordered::new();
        let mut answers: SelectAll<Follow> = SelectAll::new();
        // Not their number in there, which changes only when they are looked at.
        let mut unanswered = 0;
        let mut held: Option<Letter> = None;
        // A message that finds no room yet.
        let mut entering: Option<BoxFuture<'static, Option<(String, Share)>>> = None;
        let mut stopped_at: Option<Instant> = None;
        let mut pause_until = Instant::now();
        // Pings since something was heard. Time does not tell: we may not have been running ourselves.
        let mut silent = 0;
        let mut pings = interval(limits.quiet_time);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_paused = pause_until > Instant::now();
            // Who does not read what it is told is not listened to.
            let is_open = held.is_none() && entering.is_none() && stopped_at.is_none();
            let may_read = is_open && !is_paused && unanswered < limits.unanswered;
            if stopped_at.is_some() && held.is_none() && unanswered == 0 {
                return say_goodbye(&outbox, close_code::AWAY, "the node stops").await;
            }
            tokio::select! {
                frame = source.next(), if may_read => {
                    silent = 0;
                    match heard(frame) {
                        Heard::Message(text) => {
                            if let Err(Refused::TooOften { wait }) =
                                shared.door.take_turn(&self.connected.caller)
                            {
                                pause_until = Instant::now() + wait;
                            }
                            match shared.room.share(text.len()) {
                                Ok(share) => {
                                    unanswered += 1;
                                    arriving.push(self.tell(text, share));
                                }
                                Err(_) => entering = Some(self.enter(text)),
                            }
                        }
                        Heard::Nothing => {}
                        Heard::End => return,
                        Heard::Fault(code, reason) => {
                            return say_goodbye(&outbox, code, reason).await;
                        }
                    }
                }
                () = sleep_until(pause_until), if is_paused => {}
                entered = wait_for(&mut entering), if entering.is_some() => {
                    entering = None;
                    match entered {
                        Some((text, share)) => {
                            unanswered += 1;
                            arriving.push(self.tell(text, share));
                        }
                        None => return say_goodbye(&outbox, close_code::AGAIN, NO_ROOM).await,
                    }
                }
                Some(follow) = arriving.next() => answers.push(follow),
                Some(Told { text, last, .. }) = answers.next(), if held.is_none() => {
                    unanswered -= usize::from(last);
                    let Ok(share) = shared.answers.share(text.len()) else {
                        return say_goodbye(&outbox, close_code::AGAIN, NO_ROOM).await;
                    };
                    held = Some(Letter { message: Message::Text(text.into()), _share: share });
                }
                Ok(permit) = outbox.reserve(), if held.is_some() => {
                    if let Some(letter) = held.take() {
                        permit.send(letter);
                    }
                }
                _ = pings.tick() => {
                    // Who is not listened to cannot be heard.
                    if !may_read {
                        silent = 0;
                    }
                    if silent == SILENT_PINGS {
                        return;
                    }
                    if outbox.try_send(Message::Ping(Default::default()).into()).is_ok() {
                        silent += 1;
                    }
                }
                // What a node says of its tasks when it stops is still told.
                () = shared.stop.cancelled(), if stopped_at.is_none() => {
                    stopped_at = Some(Instant::now());
                }
                () = sleep_until(stopped_at.unwrap_or(pause_until) + limits.grace),
                    if stopped_at.is_some() =>
                {
                    return say_goodbye(&outbox, close_code::AWAY, "the node stops").await;
                }
            }
        }
    }

    /// Tells the node a message. It answers with one event, or with those of a task.
    fn tell(&self, text: String, share: Share) -> BoxFuture<'static, Follow> {
        let (node, channel) = (self.seat.node.clone(), self.channel);
        let span = watched::span_within("ldp message", self.trace);
        async move {
            let follow = node.follow(&text, channel, None);
            let follow = within(span.context(), follow).await;
            // A task may run for long; its message is the node's now.
            drop((text, share));
            follow
        }
        .boxed()
    }

    /// Waits for room for a message, and not for longer than a body is waited for.
    fn enter(&self, text: String) -> BoxFuture<'static, Option<(String, Share)>> {
        let shared = &self.connected.shared;
        let (room, time) = (shared.room.clone(), shared.limits.body_time);
        async move {
            let share = timeout(time, room.wait_for_share(text.len())).await.ok()?;
            Some((text, share))
        }
        .boxed()
    }
}

/// A frame on its way, and the room that it takes.
struct Letter {
    message: Message,
    _share: Share,
}

impl From<Message> for Letter {
    fn from(message: Message) -> Self {
        Self { message, _share: None }
    }
}

const NO_ROOM: &str = "there is no room for more: come again later";

async fn wait_for<T>(coming: &mut Option<BoxFuture<'static, Option<T>>>) -> Option<T> {
    coming.as_mut()?.await
}

/// Closes, as far as the other side still reads.
async fn say_goodbye(outbox: &mpsc::Sender<Letter>, code: u16, reason: &'static str) {
    let close = CloseFrame { code, reason: reason.into() };
    let _ = timeout(GOODBYE_TIME, outbox.send(Message::Close(Some(close)).into())).await;
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
    mut letters: mpsc::Receiver<Letter>,
    stall_time: Duration,
) {
    while let Some(letter) = letters.recv().await {
        let Letter { message, _share } = letter;
        let is_last = matches!(message, Message::Close(_));
        let sent = timeout(stall_time, sink.send(message)).await;
        if is_last || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
    let _ = sink.close().await;
}
