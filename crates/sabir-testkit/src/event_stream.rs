//! A stream of events over HTTP/1.1, as it comes from a socket, in whatever pieces. Whoever reads the
//! socket decides how fast, and when to stop; a client of HTTP would read ahead.

use std::io::{Error, ErrorKind, Result};

/// An event that has a number. What only keeps a stream open has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedEvent {
    pub id: u64,
    pub event: String,
    /// Its lines, joined.
    pub data: String,
}

/// What came so far, from the first byte of the response.
#[derive(Debug, Default)]
pub struct EventStream {
    head: Head,
    chunks: Chunks,
    /// What is no whole event yet, behind what was handed out.
    text: Vec<u8>,
    at: usize,
}

impl EventStream {
    /// Takes in what was read.
    ///
    /// # Errors
    ///
    /// When it is no such stream, or one that ends.
    pub fn take(&mut self, raw: &[u8]) -> Result<()> {
        let body = self.head.take(raw)?;
        self.chunks.take(&body, &mut self.text)
    }

    /// The next event that is whole.
    ///
    /// # Errors
    ///
    /// When it is not written like one.
    pub fn next_event(&mut self) -> Result<Option<NumberedEvent>> {
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.windows(2).position(|it| it == b"\n\n") else {
                self.text.drain(..self.at);
                self.at = 0;
                return Ok(None);
            };
            let event = read(&rest[..end])?;
            self.at += end + 2;
            if event.is_some() {
                return Ok(event);
            }
        }
    }
}

fn read(block: &[u8]) -> Result<Option<NumberedEvent>> {
    let block = std::str::from_utf8(block).map_err(|_| wrong("an event that is no text"))?;
    let (mut id, mut event, mut data) = (None, String::new(), Vec::new());
    for line in block.lines().filter(|line| !line.starts_with(':')) {
        match line.split_once(": ") {
            Some(("id", value)) => {
                id = Some(value.parse().map_err(|_| wrong(format!("no number: {line}")))?);
            }
            Some(("event", value)) => value.clone_into(&mut event),
            Some(("data", value)) => data.push(value),
            Some(("retry", _)) => {}
            _ => return Err(wrong(format!("a line that nobody knows: {line}"))),
        }
    }
    Ok(id.map(|id| NumberedEvent { id, event, data: data.join("\n") }))
}

/// The status and the headers.
#[derive(Debug)]
enum Head {
    Coming(Vec<u8>),
    Read,
}

impl Default for Head {
    fn default() -> Self {
        Self::Coming(Vec::new())
    }
}

impl Head {
    /// What is of the body.
    fn take(&mut self, raw: &[u8]) -> Result<Vec<u8>> {
        let Self::Coming(head) = self else { return Ok(raw.to_vec()) };
        head.extend_from_slice(raw);
        let Some(end) = head.windows(4).position(|it| it == b"\r\n\r\n") else {
            return Ok(Vec::new());
        };
        let body = head.split_off(end + 4);
        let said = String::from_utf8_lossy(head).to_ascii_lowercase();
        let is_stream = said.contains("\r\ncontent-type: text/event-stream\r\n")
            && said.contains("\r\ntransfer-encoding: chunked\r\n");
        if !said.starts_with("http/1.1 200 ") || !is_stream {
            return Err(wrong(format!("{said}{}", String::from_utf8_lossy(&body))));
        }
        *self = Self::Read;
        Ok(body)
    }
}

/// Undoes the chunks of HTTP/1.1.
#[derive(Debug, Default)]
struct Chunks {
    size: String,
    /// Of the chunk, and the line break behind it.
    left: usize,
}

impl Chunks {
    fn take(&mut self, mut raw: &[u8], into: &mut Vec<u8>) -> Result<()> {
        while let Some((&byte, rest)) = raw.split_first() {
            if self.left > LINE_BREAK {
                let count = raw.len().min(self.left - LINE_BREAK);
                into.extend_from_slice(&raw[..count]);
                (raw, self.left) = (&raw[count..], self.left - count);
                continue;
            }
            raw = rest;
            if self.left > 0 {
                self.left -= 1;
            } else if byte != b'\n' {
                self.size.push(byte.into());
            } else {
                let size = usize::from_str_radix(self.size.trim(), 16);
                match size.map_err(|_| wrong(format!("no size of a chunk: {}", self.size)))? {
                    0 => return Err(Error::new(ErrorKind::UnexpectedEof, "the stream ended")),
                    size => self.left = size + LINE_BREAK,
                }
                self.size.clear();
            }
        }
        Ok(())
    }
}

fn wrong(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, why.into())
}

const LINE_BREAK: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
        transfer-encoding: chunked\r\n\r\nd\r\nretry: 1000\n\n\r\n5\r\nid: 7\r\n\
        1d\r\n\nevent: e\ndata: a\ndata: b\n\n: \r\n7\r\nalive\n\n\r\n";

    #[test]
    fn events_are_the_same_wherever_they_are_cut() {
        for size in 1..RAW.len() {
            let (mut stream, mut events) = (EventStream::default(), Vec::new());
            for piece in RAW.chunks(size) {
                stream.take(piece).unwrap();
                events.extend(stream.next_event().unwrap());
            }
            let event = NumberedEvent { id: 7, event: "e".to_owned(), data: "a\nb".to_owned() };
            assert_eq!(events, [event], "{size}");
            assert!(stream.next_event().unwrap().is_none());
        }
    }

    #[test]
    fn what_is_no_stream_is_said() {
        let refused = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno";
        let error = EventStream::default().take(refused).unwrap_err();
        assert!(error.to_string().contains("401") && error.to_string().ends_with("no"), "{error}");
        let mut ended = EventStream::default();
        ended.take(RAW).unwrap();
        assert_eq!(ended.take(b"0\r\n\r\n").unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert!(read(b"nonsense").is_err() && read(b"id: x").is_err());
    }
}
