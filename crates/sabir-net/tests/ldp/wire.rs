//! A client that says exactly what it is told to say.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

pub(crate) struct Wire {
    io: Box<dyn Io>,
    read: Vec<u8>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) text: String,
}

/// Longer than anything takes, on a machine that is busy as well.
const PATIENCE: Duration = Duration::from_secs(60);

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of the error object of a refusal.
    pub(crate) fn code(&self) -> String {
        let json = self.json();
        json["error"]["code"].as_str().unwrap_or_else(|| panic!("no code: {json}")).to_owned()
    }
}

impl Wire {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }

    pub(crate) fn over(io: impl Io + 'static) -> Self {
        Self { io: Box::new(io), read: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.io.write_all(bytes.as_ref()).await.unwrap();
        self.io.flush().await.unwrap();
    }

    /// Sends as much as is taken.
    pub(crate) async fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.io.write_all(bytes.as_ref()).await.is_ok() && self.io.flush().await.is_ok()
    }

    pub(crate) async fn get(&mut self, path: &str, headers: &str) -> Reply {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n")).await;
        self.reply().await
    }

    pub(crate) async fn post(&mut self, path: &str, headers: &str, body: &str) -> Reply {
        self.send(posted(path, headers, body)).await;
        self.reply().await
    }

    pub(crate) async fn reply(&mut self) -> Reply {
        let head = self.head().await;
        let text = match head.headers.get("content-length") {
            Some(length) => {
                let length = length.parse().unwrap();
                while self.read.len() < length {
                    assert!(self.more().await, "it ended within a body");
                }
                self.read.drain(..length).collect()
            }
            // It never has a body.
            None if head.status == 304 => Vec::new(),
            None => {
                let mut all = Vec::new();
                while let Some(chunk) = self.chunk().await {
                    all.extend(chunk);
                }
                all
            }
        };
        Reply { text: String::from_utf8(text).unwrap(), ..head }
    }

    /// A reply without its body.
    pub(crate) async fn head(&mut self) -> Reply {
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            assert!(self.more().await, "it ended before it answered: {:?}", self.read);
        };
        let head: Vec<u8> = self.read.drain(..end + 4).collect();
        let head = String::from_utf8(head).unwrap();
        let (first, rest) = head.split_once("\r\n").unwrap();
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let headers = rest.lines().filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Reply { status, headers: headers.collect(), text: String::new() }
    }

    /// The next chunk of a body, if it is not over.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let end = loop {
            if let Some(end) = self.read.windows(2).position(|two| two == b"\r\n") {
                break end;
            }
            if !self.more().await {
                return None;
            }
        };
        let length = std::str::from_utf8(&self.read[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        while self.read.len() < end + 2 + length + 2 {
            if !self.more().await {
                return None;
            }
        }
        let mut chunk: Vec<u8> = self.read.drain(..end + 2 + length + 2).collect();
        chunk.truncate(end + 2 + length);
        chunk.drain(..end + 2);
        (length > 0).then_some(chunk)
    }

    /// Everything that comes until the other side closes.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.read)
    }

    async fn more(&mut self) -> bool {
        let mut bytes = vec![0; 16 * 1024];
        let reading = timeout(PATIENCE, self.io.read(&mut bytes)).await;
        let count = reading.unwrap().unwrap_or(0);
        self.read.extend(&bytes[..count]);
        count > 0
    }
}

pub(crate) fn posted(path: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}
