//! The base protocol: a header with a length, then JSON.
//!
//! The reader of `lsp-server` trusts the length it is told and gives up on the first text that is
//! not JSON. An editor with a bug should neither exhaust memory nor end the session, so frames are
//! read here.

use std::io::{self, BufRead, Read, Write};

use lsp_server::{ErrorCode, Message};

/// No message is larger than this: it is sixteen times the text at which an editor gives up.
const MAX_BODY: u64 = 256 << 20;

/// Headers are a few dozen bytes.
const MAX_HEADER_LINE: u64 = 8 << 10;

#[derive(Debug)]
pub(super) enum Incoming {
    Message(Message),
    /// The frame was right and its content was not.
    Malformed(serde_json::Error),
    End,
}

/// Reads one frame. An error means that the next frame cannot be found.
pub(super) fn read(reader: &mut impl BufRead) -> io::Result<Incoming> {
    let Some(length) = read_header(reader)? else { return Ok(Incoming::End) };
    let mut body = Vec::new();
    // Memory grows with what arrives, not with what was announced.
    reader.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(match serde_json::from_slice(&body) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Malformed(error),
    })
}

/// The length of the body; `None` at the end of the stream.
fn read_header(reader: &mut impl BufRead) -> io::Result<Option<u64>> {
    let invalid = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message.to_owned());
    let mut length = None;
    let mut started = false;
    loop {
        let mut line = Vec::new();
        reader.by_ref().take(MAX_HEADER_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() && !started {
            return Ok(None);
        }
        started = true;
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(invalid("a header line is cut off or too long"));
        };
        let line = line.trim_ascii();
        if line.is_empty() {
            break;
        }
        let line = String::from_utf8_lossy(line);
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid("a header line has no colon"));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.ok_or_else(|| invalid("the header has no readable Content-Length"))?;
    if length > MAX_BODY {
        return Err(invalid("a message is larger than 256 MiB"));
    }
    Ok(Some(length))
}

/// Answers a message that could not be read, and whose id is therefore unknown.
pub(super) fn refuse(writer: &mut impl Write, error: &serde_json::Error) -> io::Result<()> {
    let code = match error.classify() {
        serde_json::error::Category::Data => ErrorCode::InvalidRequest,
        _ => ErrorCode::ParseError,
    };
    let body = serde_json::json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": { "code": code as i32, "message": format!("not a message: {error}") },
    });
    let body = body.to_string();
    write!(writer, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(mut text: &[u8]) -> io::Result<Incoming> {
        read(&mut text)
    }

    #[test]
    fn frames_are_read_and_broken_ones_are_told_apart() {
        let exit = b"content-length: 33\r\nX: y\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        assert!(matches!(read_text(exit), Ok(Incoming::Message(Message::Notification(_)))));
        assert!(matches!(read_text(b""), Ok(Incoming::End)));
        assert!(matches!(read_text(b"Content-Length: 3\r\n\r\n{,}"), Ok(Incoming::Malformed(_))));
        let broken: [&[u8]; 6] = [
            b"Content-Length: 99999999999999\r\n\r\n{}",
            b"Content-Length: 10\r\n\r\n{}",
            b"Content-Length: x\r\n\r\n{}",
            b"\r\n\r\n",
            b"what",
            b"what\r\n",
        ];
        for text in broken {
            assert!(read_text(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
        assert!(read_text(&vec![b'x'; 100_000]).is_err());
    }
}
