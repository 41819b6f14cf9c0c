//! Newline-delimited JSON over any byte stream.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sabir_engine::MAX_LINE_BYTES;
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, BufWriter,
};

use crate::transport::{Frame, Sink, Source};

/// Lines that come.
#[derive(Debug)]
pub struct LineSource<R> {
    bytes: BufReader<R>,
    limit: usize,
    /// No line has come yet.
    is_first: bool,
    /// A line that somebody looked at and gave back.
    held: Option<Frame>,
    drains: bool,
}

/// Lines that go.
#[derive(Debug)]
pub struct LineSink<W: AsyncWrite> {
    bytes: BufWriter<W>,
    /// Where it can be seen that nobody reads.
    watched: Option<OwnedFd>,
}

/// Both sides of a wire made of lines.
pub fn lines<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    read: R,
    write: W,
) -> (LineSource<R>, LineSink<W>) {
    let source = LineSource {
        bytes: BufReader::new(read),
        limit: MAX_LINE_BYTES,
        is_first: true,
        held: None,
        drains: false,
    };
    (source, LineSink { bytes: BufWriter::new(write), watched: None })
}

/// A line, or what can be said of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Whole(Vec<u8>),
    /// Only how it began.
    TooLong {
        start: Vec<u8>,
    },
    Broken,
}

impl Line {
    /// Takes off what some systems write in front of UTF-8.
    fn remove_mark(&mut self) {
        let (Self::Whole(bytes) | Self::TooLong { start: bytes }) = self else { return };
        if bytes.starts_with(MARK) {
            bytes.drain(..MARK.len());
        }
    }
}

const MARK: &[u8] = "\u{FEFF}".as_bytes();

/// How much of a line that is too long is kept, to see what somebody may have meant.
const START_BYTES: usize = 16;

/// A line that is longer has room for as much as it may become: room that is not used costs nothing, and
/// to grow step by step leaves a copy of the line behind at each step.
const LONG_BYTES: usize = 256 * 1024;

/// How long, and how much, is taken in from someone who still sends after the end.
const DRAIN_TIME: Duration = Duration::from_secs(1);
const DRAIN_BYTES: u64 = 1024 * 1024;

/// How often it is looked whether anyone still reads.
const GLANCE: Duration = Duration::from_millis(250);

impl<R: AsyncRead + Unpin + Send> Source for LineSource<R> {
    async fn next(&mut self) -> Option<Frame> {
        if let Some(frame) = self.held.take() {
            return Some(frame);
        }
        Some(match self.line().await? {
            Line::Whole(line) => Frame::Message(line),
            Line::TooLong { .. } => Frame::TooLong,
            Line::Broken => Frame::Broken,
        })
    }

    async fn drain(&mut self) {
        if self.drains {
            let mut rest = (&mut self.bytes).take(DRAIN_BYTES);
            let mut nowhere = tokio::io::sink();
            let _ =
                tokio::time::timeout(DRAIN_TIME, tokio::io::copy(&mut rest, &mut nowhere)).await;
        }
    }
}

impl<R: AsyncRead + Unpin + Send> LineSource<R> {
    /// Takes in what comes after the end, as sockets need it.
    pub(crate) fn draining(mut self) -> Self {
        self.drains = true;
        self
    }

    pub(crate) fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// Makes this the next line.
    pub(crate) fn give_back(&mut self, line: Vec<u8>) {
        self.held = Some(Frame::Message(line));
    }

    pub(crate) fn give_back_too_long(&mut self) {
        self.held = Some(Frame::TooLong);
    }

    /// The next line that says something. An empty one is how some people see whether anyone is
    /// there.
    pub(crate) async fn line(&mut self) -> Option<Line> {
        loop {
            let mut line = self.any_line().await?;
            if std::mem::replace(&mut self.is_first, false) {
                line.remove_mark();
            }
            let is_blank = matches!(&line, Line::Whole(line) if line.trim_ascii().is_empty());
            if !is_blank {
                return Some(line);
            }
        }
    }

    async fn any_line(&mut self) -> Option<Line> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        let finished = |line: Vec<u8>, is_too_long| match is_too_long {
            true => Line::TooLong { start: line },
            false => Line::Whole(line),
        };
        loop {
            let Ok(bytes) = self.bytes.fill_buf().await else { return Some(Line::Broken) };
            if bytes.is_empty() {
                let is_end = line.is_empty() && !is_too_long;
                return (!is_end).then(|| finished(line, is_too_long));
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if !is_too_long && line.len() + part.len() > self.limit {
                is_too_long = true;
                line.extend_from_slice(&part[..part.len().min(START_BYTES)]);
                line.truncate(START_BYTES);
                line.shrink_to_fit();
            } else if !is_too_long {
                if line.len() < LONG_BYTES && line.len() + part.len() >= LONG_BYTES {
                    line.reserve_exact(self.limit - line.len());
                }
                line.extend_from_slice(part);
            }
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.bytes.consume(used);
            if end.is_some() {
                return Some(finished(line, is_too_long));
            }
        }
    }
}

impl<W: AsyncWrite + Unpin> LineSink<W> {
    /// Looks at this descriptor, which is the one it writes to, to see whether anyone reads.
    /// Without one, the next write tells.
    pub(crate) fn watching(mut self, descriptor: Option<OwnedFd>) -> Self {
        self.watched = descriptor;
        self
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

    async fn gone(&mut self) {
        let Some(watched) = &self.watched else { return std::future::pending().await };
        while !is_gone(watched) {
            tokio::time::sleep(GLANCE).await;
        }
    }
}

/// A socket that was reset or closed on both sides, or a pipe without a reader.
fn is_gone(descriptor: &OwnedFd) -> bool {
    let mut looked_at = [PollFd::new(descriptor, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let seen = poll(&mut looked_at, Some(&at_once));
    seen.is_ok() && looked_at[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
