//! What every wire of the queue pair must do, and the one place where wires meet engines.

use std::future::Future;
use std::io;
use std::pin::pin;

use sabir_engine::{Refusal, decode, too_long};
use sabir_host::{Connection, Incoming};
use tokio_util::sync::CancellationToken;

/// What a wire delivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// One message, without its framing.
    Message(Vec<u8>),
    /// A message that was too long to read, and has been passed over.
    TooLong,
    /// Something that is no message of this wire, and why.
    Unfit(&'static str),
    /// The wire broke: the other side is gone, and nobody reads what is sent.
    Broken,
}

/// The side of a wire that submissions come from.
pub trait Source: Send {
    /// The next message, or nothing when there will be no more.
    fn next(&mut self) -> impl Future<Output = Option<Frame>> + Send;

    /// Takes in what still comes after the last event, for a moment: a wire that is closed with
    /// something unread may lose what was sent on it.
    fn drain(&mut self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// The side of a wire that events go to.
pub trait Sink: Send {
    /// Sends one message, at the latest when it is flushed. Returns when there is room for the next,
    /// so that a slow reader is felt.
    fn send(&mut self, message: &str) -> impl Future<Output = io::Result<()>> + Send;

    /// Called when there is no further message for the moment.
    fn flush(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        async { Ok(()) }
    }

    /// Says that there is no more.
    fn close(&mut self) -> impl Future<Output = ()> + Send;

    /// Ends when nobody can read any more, on wires where that can be known without sending. It is
    /// asked once the other side has said all it had to say.
    fn gone(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
}

/// Carries a session over a wire until both are done. When the wire ends first, the session finishes
/// what it can without being answered; when the reader goes away, everything is stopped.
pub async fn carry(source: impl Source, sink: impl Sink, connection: Connection) {
    carry_until(source, sink, connection, &CancellationToken::new()).await;
}

/// The same; when `stop` is cancelled, everything is stopped.
pub(crate) async fn carry_until(
    mut source: impl Source,
    mut sink: impl Sink,
    connection: Connection,
    stop: &CancellationToken,
) {
    let Connection { submissions, mut events, done } = connection;
    let is_over = {
        let heard_all = CancellationToken::new();
        let reading = async {
            // Dropped at the end of the block, so that the engine knows that nobody will submit.
            let submissions = submissions;
            while let Some(frame) = source.next().await {
                let Some(incoming) = incoming(frame) else { return Heard::Broken };
                if submissions.send(incoming).await.is_err() {
                    break;
                }
            }
            heard_all.cancel();
            Heard::All
        };
        let writing = async {
            loop {
                let shown = tokio::select! {
                    shown = events.recv() => shown,
                    () = left(&heard_all, &mut sink) => return Told::Gone,
                };
                let Some(mut shown) = shown else { break };
                // What is there already goes together; nothing waits for what is not.
                loop {
                    if sink.send(&shown.line).await.is_err() {
                        return Told::Gone;
                    }
                    match events.try_recv() {
                        Ok(next) => shown = next,
                        Err(_) => break,
                    }
                }
                if sink.flush().await.is_err() {
                    return Told::Gone;
                }
            }
            sink.close().await;
            Told::All
        };
        let mut reading = pin!(reading);
        let mut writing = pin!(writing);
        tokio::select! {
            () = stop.cancelled() => Told::Gone,
            told = &mut writing => told,
            heard = &mut reading => match heard {
                Heard::Broken => Told::Gone,
                Heard::All => tokio::select! {
                    () = stop.cancelled() => Told::Gone,
                    told = &mut writing => told,
                },
            },
        }
    };
    // The engine sees that its reader is gone, and stops what runs.
    drop(events);
    if is_over == Told::All {
        source.drain().await;
    }
    drop((source, sink));
    let _ = done.await;
}

/// How the reading ended.
enum Heard {
    All,
    Broken,
}

/// How the writing ended.
#[derive(PartialEq)]
enum Told {
    All,
    Gone,
}

async fn left(heard_all: &CancellationToken, sink: &mut impl Sink) {
    heard_all.cancelled().await;
    sink.gone().await;
}

fn incoming(frame: Frame) -> Option<Incoming> {
    let refused = |message| Incoming::Refused(Refusal { id: String::new(), message });
    match frame {
        Frame::Message(bytes) => Some(match decode(&bytes) {
            Ok(decoded) => Incoming::Submission(decoded),
            Err(refusal) => Incoming::Refused(refusal),
        }),
        Frame::TooLong => Some(refused(too_long())),
        Frame::Unfit(why) => Some(refused(why.to_owned())),
        Frame::Broken => None,
    }
}
