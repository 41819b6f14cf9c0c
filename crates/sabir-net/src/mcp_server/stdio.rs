//! The tools over two streams of lines. What cannot be read is answered and ends nothing, and who does
//! not read answers is not listened to meanwhile.

use std::io;
use std::sync::Arc;

use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::MAX_MESSAGE_BYTES;
use super::unread::{Heard, Unread};
use crate::lines::{Line, lines};

/// Both streams.
pub(super) struct Streams<W> {
    /// Read by a task of its own: whoever asks for the next may stop asking in the middle of it.
    came: mpsc::Receiver<Line>,
    output: Output<W>,
    _reading: DropGuard,
}

/// Where answers go.
struct Output<W> {
    /// None when it is closed.
    stream: Arc<Mutex<Option<W>>>,
    /// A place for each answer that is not written yet.
    unwritten: Arc<Semaphore>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Streams<W> {
    pub(super) fn new<R: AsyncRead + Send + Unpin + 'static>(input: R, output: W) -> Self {
        let (mut source, _) = lines(input, tokio::io::sink());
        source.set_limit(MAX_MESSAGE_BYTES);
        let (sender, came) = mpsc::channel(1);
        let stop = CancellationToken::new();
        let reading = stop.clone();
        tokio::spawn(reading.run_until_cancelled_owned(async move {
            while let Some(line) = source.line().await {
                if sender.send(line).await.is_err() {
                    return;
                }
            }
        }));
        let stream = Arc::new(Mutex::new(Some(output)));
        let output = Output { stream, unwritten: Arc::new(Semaphore::new(MOST_UNWRITTEN)) };
        Self { came, output, _reading: stop.drop_guard() }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Output<W> {
    /// Whole lines only, in whatever order.
    fn write(
        &self,
        line: io::Result<String>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<W> {
        let (stream, unwritten) = (Arc::clone(&self.stream), Arc::clone(&self.unwritten));
        // There may be none left: what was asked is answered all the same.
        let place = unwritten.try_acquire_owned().ok();
        async move {
            let mut line = line?;
            line.push('\n');
            let mut held = stream.lock().await;
            let Some(stream) = held.as_mut() else {
                return Err(io::Error::from(io::ErrorKind::NotConnected));
            };
            stream.write_all(line.as_bytes()).await?;
            stream.flush().await?;
            drop(place);
            Ok(())
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Streams<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let item: ServerJsonRpcMessage = item;
        self.output.write(serde_json::to_string(&item).map_err(io::Error::from))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // It is never closed.
            drop(self.output.unwritten.acquire().await.ok()?);
            let unread = match self.came.recv().await? {
                Line::Broken => return None,
                Line::TooLong { .. } => Unread::too_long(MAX_MESSAGE_BYTES),
                Line::Whole(line) => match Heard::read(&line) {
                    Heard::Message(message) => return Some(*message),
                    Heard::Nothing => continue,
                    Heard::Unread(unread) => unread,
                },
            };
            // In a task of its own, so that a line that was begun is ended.
            tokio::spawn(self.output.write(Ok(unread.answer().to_string())));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.stream.lock().await.take();
        Ok(())
    }
}

/// More than a client has calls at the same time, so that only one that does not read gets there.
const MOST_UNWRITTEN: usize = 128;
