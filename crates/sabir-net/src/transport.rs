//! What every wire of the queue pair must do, and the one place where wires meet engines.

use std::future::Future;
use std::io;

use sabir_engine::{Refusal, decode, too_long};
use sabir_host::{Connection, Incoming};

/// What a wire delivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// One message, without its framing.
    Message(Vec<u8>),
    /// A message that was too long to read, and has been passed over.
    TooLong,
}

/// The side of a wire that submissions come from.
pub trait Source: Send {
    /// The next message, or nothing when there will be no more.
    fn next(&mut self) -> impl Future<Output = Option<Frame>> + Send;
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
}

/// Carries a session over a wire until both are done. When the wire ends first, the session finishes
/// what it can without being answered; when the reader goes away, everything is stopped.
pub async fn carry(mut source: impl Source, mut sink: impl Sink, connection: Connection) {
    let Connection { submissions, mut events, done } = connection;
    let reading = async move {
        while let Some(frame) = source.next().await {
            let incoming = match frame {
                Frame::Message(bytes) => match decode(&bytes) {
                    Ok(decoded) => Incoming::Submission(decoded),
                    Err(refusal) => Incoming::Refused(refusal),
                },
                Frame::TooLong => {
                    Incoming::Refused(Refusal { id: String::new(), message: too_long() })
                }
            };
            if submissions.send(incoming).await.is_err() {
                return;
            }
        }
    };
    let writing = async move {
        while let Some(mut shown) = events.recv().await {
            // What is there already goes together; nothing waits for what is not.
            loop {
                if sink.send(&shown.line).await.is_err() {
                    return;
                }
                match events.try_recv() {
                    Ok(next) => shown = next,
                    Err(_) => break,
                }
            }
            if sink.flush().await.is_err() {
                return;
            }
        }
        sink.close().await;
    };
    // The engine ends the writing; reading may have to be left in the middle of a line.
    let mut reading = std::pin::pin!(reading);
    let mut writing = std::pin::pin!(writing);
    tokio::select! {
        () = &mut writing => {}
        () = &mut reading => writing.await,
    }
    let _ = done.await;
}
