//! The threads of the fake model: one that accepts, one for each connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::reply::{End, Reply, Step};
use super::{Request, Shared};

pub(super) fn accept(listener: TcpListener, shared: Arc<Shared>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut connections = Vec::new();
        for stream in listener.incoming() {
            if shared.is_over() {
                break;
            }
            let Ok(stream) = stream else { continue };
            let number = shared.connected();
            let shared = Arc::clone(&shared);
            connections.push(thread::spawn(move || Connection::serve(stream, number, &shared)));
        }
        for connection in connections {
            // It panics only with a test that has failed already.
            let _ = connection.join();
        }
    })
}

struct Connection<'s> {
    stream: TcpStream,
    number: usize,
    shared: &'s Shared,
    /// What was read and not yet used.
    buffer: Vec<u8>,
}

/// Why a connection ends.
enum Over {
    ClosedByClient,
    ClosedByUs,
}

impl<'s> Connection<'s> {
    fn serve(stream: TcpStream, number: usize, shared: &'s Shared) {
        // A blocked read must notice the end of the test; a write to a client that never reads too.
        let timeouts = stream
            .set_read_timeout(Some(TICK))
            .and_then(|()| stream.set_write_timeout(Some(TICK)))
            .and_then(|()| stream.set_nodelay(true));
        if timeouts.is_err() {
            return;
        }
        let mut connection = Self { stream, number, shared, buffer: Vec::new() };
        let over = loop {
            let over = connection.exchange();
            if let Err(over) = over {
                break over;
            }
        };
        if matches!(over, Over::ClosedByClient) {
            shared.closed_by_client(number);
        }
        let _ = connection.stream.shutdown(Shutdown::Both);
    }

    /// One request and its reply.
    fn exchange(&mut self) -> Result<(), Over> {
        let request = self.request()?;
        let reply = self.shared.answer(request);
        self.reply(&reply)
    }

    fn request(&mut self) -> Result<Request, Over> {
        let head_end = loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at;
            }
            self.read()?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..head_end]).into_owned();
        self.buffer.drain(..head_end + 4);
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let method = first.next().unwrap_or_default().to_owned();
        let path = first.next().unwrap_or_default().to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let length = headers
            .iter()
            .find(|(name, _)| name == "content-length")
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(0);
        while self.buffer.len() < length {
            self.read()?;
        }
        let body = serde_json::from_slice(&self.buffer[..length]).unwrap_or(Value::Null);
        self.buffer.drain(..length);
        Ok(Request { method, path, headers, body, connection: self.number })
    }

    fn reply(&mut self, reply: &Reply) -> Result<(), Over> {
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("transfer-encoding: chunked\r\n\r\n");
        self.write(head.as_bytes())?;
        for step in &reply.steps {
            match step {
                Step::Bytes(bytes) => {
                    for piece in reply.pieces_of(bytes) {
                        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
                        chunk.extend_from_slice(piece);
                        chunk.extend_from_slice(b"\r\n");
                        self.write(&chunk)?;
                    }
                }
                Step::Wait(gate) => {
                    while !gate.is_open() {
                        self.pause()?;
                    }
                }
                Step::Pause(pause) => {
                    let end = Instant::now() + *pause;
                    while Instant::now() < end {
                        self.pause()?;
                    }
                }
            }
        }
        match reply.end {
            End::Clean => {
                self.write(b"0\r\n\r\n")?;
                self.shared.finished_reply();
                Ok(())
            }
            End::Broken => Err(Over::ClosedByUs),
            End::Open => loop {
                self.pause()?;
            },
        }
    }

    /// Waits a moment, and notices when the client goes away.
    fn pause(&mut self) -> Result<(), Over> {
        self.read_within_a_tick()
    }

    /// Waits for bytes.
    fn read(&mut self) -> Result<(), Over> {
        let before = self.buffer.len();
        while self.buffer.len() == before {
            self.read_within_a_tick()?;
        }
        Ok(())
    }

    fn read_within_a_tick(&mut self) -> Result<(), Over> {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(Over::ClosedByClient),
            Ok(count) => {
                self.buffer.extend_from_slice(&bytes[..count]);
                Ok(())
            }
            Err(error) => self.go_on_after(error.kind()),
        }
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<(), Over> {
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(0) => return Err(Over::ClosedByClient),
                Ok(count) => {
                    self.shared.written(count);
                    bytes = &bytes[count..];
                }
                Err(error) => self.go_on_after(error.kind())?,
            }
        }
        Ok(())
    }

    fn go_on_after(&self, error: ErrorKind) -> Result<(), Over> {
        match error {
            _ if self.shared.is_over() => Err(Over::ClosedByUs),
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Ok(()),
            _ => Err(Over::ClosedByClient),
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// How long a blocked read may overlook that the test is over, or that a gate has opened.
const TICK: Duration = Duration::from_millis(10);
