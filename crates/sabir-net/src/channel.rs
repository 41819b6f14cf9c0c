//! Events that somebody else takes and sends, such as the body of a response.

use std::io;

use futures_util::Stream;
use futures_util::stream;
use tokio::sync::mpsc;

use crate::transport::Sink;

/// Events that go to a stream.
#[derive(Debug)]
pub(crate) struct ChannelSink<T> {
    pieces: mpsc::Sender<T>,
    wrap: fn(&str) -> T,
}

/// What is on its way to the network. The engine has a queue of its own.
const PIECES_ON_THE_WAY: usize = 4;

/// A sink, and the stream of what is sent to it. Dropping the stream tells the sink that nobody
/// reads.
pub(crate) fn channel<T: Send>(
    wrap: fn(&str) -> T,
) -> (ChannelSink<T>, impl Stream<Item = T> + Send) {
    let (pieces, taken) = mpsc::channel(PIECES_ON_THE_WAY);
    let stream =
        stream::unfold(
            taken,
            |mut taken| async move { taken.recv().await.map(|piece| (piece, taken)) },
        );
    (ChannelSink { pieces, wrap }, stream)
}

impl<T: Send> Sink for ChannelSink<T> {
    async fn send(&mut self, message: &str) -> io::Result<()> {
        let sent = self.pieces.send((self.wrap)(message)).await;
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// The stream ends when the sink is dropped.
    async fn close(&mut self) {}

    async fn gone(&mut self) {
        self.pieces.closed().await;
    }
}
