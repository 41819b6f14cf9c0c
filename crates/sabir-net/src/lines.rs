//! Newline-delimited JSON over any byte stream.

use std::io;

use sabir_engine::MAX_LINE_BYTES;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};

use crate::transport::{Frame, Sink, Source};

/// Lines that come.
#[derive(Debug)]
pub struct LineSource<R> {
    bytes: BufReader<R>,
}

/// Lines that go.
#[derive(Debug)]
pub struct LineSink<W: AsyncWrite> {
    bytes: BufWriter<W>,
}

/// Both sides of a wire made of lines.
pub fn lines<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    read: R,
    write: W,
) -> (LineSource<R>, LineSink<W>) {
    (LineSource { bytes: BufReader::new(read) }, LineSink { bytes: BufWriter::new(write) })
}

impl<R: AsyncRead + Unpin + Send> Source for LineSource<R> {
    async fn next(&mut self) -> Option<Frame> {
        loop {
            let frame = self.line().await?;
            // An empty line says nothing, and is how some people see whether anyone is there.
            let is_blank = matches!(&frame, Frame::Message(line) if line.trim_ascii().is_empty());
            if !is_blank {
                return Some(frame);
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send> LineSource<R> {
    async fn line(&mut self) -> Option<Frame> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            // A broken wire is one that has ended.
            let Ok(bytes) = self.bytes.fill_buf().await else { return None };
            if bytes.is_empty() {
                return match (is_too_long, line.is_empty()) {
                    (true, _) => Some(Frame::TooLong),
                    (false, true) => None,
                    (false, false) => Some(Frame::Message(line)),
                };
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if !is_too_long && line.len() + part.len() <= MAX_LINE_BYTES {
                line.extend_from_slice(part);
            } else {
                is_too_long = true;
                line = Vec::new();
            }
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.bytes.consume(used);
            if end.is_some() {
                return Some(if is_too_long { Frame::TooLong } else { Frame::Message(line) });
            }
        }
    }
}

impl<W: AsyncWrite + Unpin + Send> Sink for LineSink<W> {
    async fn send(&mut self, message: &str) -> io::Result<()> {
        self.bytes.write_all(message.as_bytes()).await?;
        self.bytes.write_all(b"\n").await
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.bytes.flush().await
    }

    async fn close(&mut self) {
        let _ = self.bytes.shutdown().await;
    }
}
