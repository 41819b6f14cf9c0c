//! From the pipes of a command to its reader and to what is kept.

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::CancellationToken;

use super::decode::Decoder;
use super::keep::Kept;
use super::{OutputChunk, OutputStream};

/// How much is read at once.
const PIECE: usize = 4 * 1024;
/// More pieces than anybody looks at: what comes later is kept and not sent.
pub(super) const MOST_CHUNKS: u64 = 10_000;
/// Kept of each stream. Both go into one message, of which there are several copies on its way to
/// the disk and to a reader.
const MOST_OF_EACH: usize = 1 << 20;
/// Kept of both together: twice what a model is ever told.
const MOST_OF_BOTH: usize = 512 << 10;

#[derive(Debug)]
pub(super) struct Pump {
    output: mpsc::Sender<OutputChunk>,
    most_chunks: u64,
    sent: u64,
    dropped: u64,
    stdout: Kept,
    stderr: Kept,
    both: Kept,
}

/// What remains of the output.
#[derive(Debug)]
pub(super) struct Remains {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) aggregated: String,
    pub(super) omitted_bytes: u64,
    pub(super) dropped_chunks: u64,
}

impl Remains {
    /// What a shell would say on standard error.
    pub(super) fn add_message(&mut self, message: &str) {
        for text in [&mut self.stderr, &mut self.aggregated] {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(message);
            text.push('\n');
        }
    }
}

impl Pump {
    pub(super) fn new(output: mpsc::Sender<OutputChunk>, most_chunks: u64) -> Self {
        let (stdout, stderr) = (Kept::new(MOST_OF_EACH), Kept::new(MOST_OF_EACH));
        let both = Kept::new(MOST_OF_BOTH);
        Self { output, most_chunks, sent: 0, dropped: 0, stdout, stderr, both }
    }

    /// Runs until both pipes are closed. After `stop`, nobody is waited for any more.
    pub(super) async fn run(
        &mut self,
        mut stdout: Option<ChildStdout>,
        mut stderr: Option<ChildStderr>,
        stop: &CancellationToken,
    ) {
        let (mut out, mut err) = (Pipe::default(), Pipe::default());
        while stdout.is_some() || stderr.is_some() {
            let (stream, text) = tokio::select! {
                text = out.read(&mut stdout), if stdout.is_some() => (OutputStream::Stdout, text),
                text = err.read(&mut stderr), if stderr.is_some() => (OutputStream::Stderr, text),
            };
            if !text.is_empty() {
                self.take(OutputChunk { stream, text }, stop).await;
            }
        }
    }

    async fn take(&mut self, chunk: OutputChunk, stop: &CancellationToken) {
        match chunk.stream {
            OutputStream::Stdout => self.stdout.push(&chunk.text),
            OutputStream::Stderr => self.stderr.push(&chunk.text),
        }
        self.both.push(&chunk.text);
        if self.sent >= self.most_chunks {
            self.dropped += 1;
            return;
        }
        let sent = match self.output.try_send(chunk) {
            Ok(()) => true,
            Err(TrySendError::Closed(_)) => false,
            Err(TrySendError::Full(chunk)) => tokio::select! {
                biased;
                () = stop.cancelled() => false,
                sent = self.output.send(chunk) => sent.is_ok(),
            },
        };
        if sent {
            self.sent += 1;
        } else {
            self.dropped += 1;
        }
    }

    pub(super) fn finish(self) -> Remains {
        let omitted_bytes = self.both.omitted();
        Remains {
            stdout: self.stdout.finish(),
            stderr: self.stderr.finish(),
            aggregated: self.both.finish(),
            omitted_bytes,
            dropped_chunks: self.dropped,
        }
    }
}

/// One pipe's bytes on their way to text.
#[derive(Debug)]
struct Pipe {
    buffer: Vec<u8>,
    decoder: Decoder,
}

impl Default for Pipe {
    fn default() -> Self {
        Self { buffer: vec![0; PIECE], decoder: Decoder::default() }
    }
}

impl Pipe {
    /// The next text; at the end, `from` becomes none.
    async fn read<R: AsyncRead + Unpin>(&mut self, from: &mut Option<R>) -> String {
        let Some(open) = from else { return String::new() };
        match open.read(&mut self.buffer).await {
            Ok(length) if length > 0 => self.decoder.push(&self.buffer[..length]),
            _ => {
                *from = None;
                self.decoder.finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_last_chunk_output_is_kept_and_counted() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (output, mut chunks) = mpsc::channel(1);
            let mut pump = Pump::new(output, MOST_CHUNKS);
            let stop = CancellationToken::new();
            for _ in 0..MOST_CHUNKS + 5 {
                let chunk = OutputChunk { stream: OutputStream::Stderr, text: "x".to_owned() };
                pump.take(chunk, &stop).await;
                let _ = chunks.try_recv();
            }
            let remains = pump.finish();
            assert_eq!(remains.dropped_chunks, 5);
            assert_eq!(remains.stderr.len() as u64, MOST_CHUNKS + 5);
            assert_eq!(remains.aggregated, remains.stderr);
        });
    }
}
