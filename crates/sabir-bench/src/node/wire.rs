//! A stream of events on a socket of its own, read as little at a time as somebody likes.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use sabir_testkit::{EventStream, NumberedEvent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// Which stream, of whom, and from where on.
#[derive(Debug, Clone)]
pub(super) struct Wanted<'a> {
    pub(super) address: SocketAddr,
    pub(super) path: &'a str,
    pub(super) cookie: &'a str,
    /// The last event that was seen.
    pub(super) after: Option<u64>,
    /// How much the kernel takes in before it is read; as much as it likes if nothing is said.
    pub(super) room: Option<u32>,
}

pub(super) struct Events {
    socket: TcpStream,
    stream: EventStream,
    /// Everything that was read.
    pub(super) bytes: u64,
}

impl Events {
    pub(super) async fn open(wanted: &Wanted<'_>) -> anyhow::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        if let Some(room) = wanted.room {
            socket.set_recv_buffer_size(room)?;
        }
        let mut socket = socket.connect(wanted.address).await.context("cannot connect")?;
        let after = wanted.after.map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
        let request = format!(
            "GET {} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\naccept: text/event-stream\r\n{after}\r\n",
            wanted.path, wanted.address, wanted.cookie
        );
        socket.write_all(request.as_bytes()).await?;
        Ok(Self { socket, stream: EventStream::default(), bytes: 0 })
    }

    /// The next row. Whoever stops waiting loses nothing.
    pub(super) async fn next(&mut self) -> anyhow::Result<NumberedEvent> {
        loop {
            if let Some(row) = self.stream.next_event()? {
                return Ok(row);
            }
            let mut raw = [0; 16 * 1024];
            let count = self.socket.read(&mut raw).await.context("the stream broke")?;
            ensure!(count > 0, "the node closed a stream");
            self.bytes += count as u64;
            self.stream.take(&raw[..count])?;
        }
    }
}
