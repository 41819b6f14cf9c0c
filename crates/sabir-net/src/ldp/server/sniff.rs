//! Which version of HTTP a connection speaks, told by its first bytes, which are then read once more.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// A connection whose first bytes were looked at.
#[derive(Debug)]
pub(super) struct Sniffed<I> {
    first: [u8; LOOK],
    /// How many of the first bytes there are, and how many were read again.
    seen: usize,
    read: usize,
    inner: I,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spoken {
    Http1,
    Http2,
}

/// `PRI` begins HTTP/2 and no request.
const PREFACE: &[u8; LOOK] = b"PRI";
const LOOK: usize = 3;

impl<I: AsyncRead + AsyncWrite + Unpin> Sniffed<I> {
    pub(super) fn new(inner: I) -> Self {
        Self { first: [0; LOOK], seen: 0, read: 0, inner }
    }

    /// Looks at as few bytes as tell it; nothing if the connection ends before that.
    pub(super) async fn look(&mut self) -> Option<Spoken> {
        while self.seen < LOOK {
            let count = self.inner.read(&mut self.first[self.seen..]).await.ok()?;
            if count == 0 {
                return None;
            }
            self.seen += count;
            if self.first[..self.seen] != PREFACE[..self.seen] {
                return Some(Spoken::Http1);
            }
        }
        Some(Spoken::Http2)
    }

    pub(super) fn has_seen_any(&self) -> bool {
        self.seen > 0
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Sniffed<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read < self.seen {
            let count = (self.seen - self.read).min(buffer.remaining());
            buffer.put_slice(&self.first[self.read..self.read + count]);
            self.read += count;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Sniffed<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt as _;

    async fn look(pieces: &[&str]) -> (Option<Spoken>, String) {
        let (mut theirs, ours) = tokio::io::duplex(64);
        let mut sniffed = Sniffed::new(ours);
        let sending = async {
            for piece in pieces {
                theirs.write_all(piece.as_bytes()).await.unwrap();
                tokio::task::yield_now().await;
            }
            drop(theirs);
        };
        let (spoken, ()) = tokio::join!(sniffed.look(), sending);
        let mut rest = String::new();
        sniffed.read_to_string(&mut rest).await.unwrap();
        (spoken, rest)
    }

    #[tokio::test]
    async fn the_first_bytes_tell_and_are_read_again() {
        for (pieces, spoken) in [
            (vec!["GET / HTTP/1.1"], Some(Spoken::Http1)),
            (vec!["P", "O", "ST / HTTP/1.1"], Some(Spoken::Http1)),
            (vec!["P", "R", "OPFIND /"], Some(Spoken::Http1)),
            (vec!["PR", "I * HTTP/2.0\r\n"], Some(Spoken::Http2)),
            (vec!["P", "R"], None),
            (vec![], None),
        ] {
            assert_eq!(look(&pieces).await, (spoken, pieces.concat()), "{pieces:?}");
        }
    }
}
