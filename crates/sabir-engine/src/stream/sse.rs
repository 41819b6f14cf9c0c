//! Server-sent events from raw bytes, however they were cut on their way.
//!
//! It knows lines and fields, and nothing of what is in them. A whole event in one piece of bytes is
//! handed out without being copied.

use memchr::memchr2;

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// What the `event:` line said; empty without one.
    pub name: &'a [u8],
    /// What the latest `id:` line said, of this event or an earlier one; empty without one.
    pub id: &'a [u8],
    /// The `data:` lines, joined by line feeds.
    pub data: &'a [u8],
}

/// An event or a line is larger than [`SseDecoder::LARGEST_EVENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseTooLarge;

impl std::fmt::Display for SseTooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an event of the stream is larger than {} bytes", SseDecoder::LARGEST_EVENT)
    }
}

impl std::error::Error for SseTooLarge {}

/// Takes bytes in any pieces and hands out events: the same ones for every way of cutting.
#[derive(Debug, Default)]
pub struct SseDecoder {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    name: Vec<u8>,
    id: Vec<u8>,
    data: Vec<u8>,
    /// Whether a `data:` line was seen: an event without one is none, an empty one is.
    has_data: bool,
    /// The last byte was a CR, so that an LF now is its second half.
    after_cr: bool,
    /// How much of a byte order mark was seen; [`BOM_OVER`] once the stream has begun.
    bom: u8,
    /// An event was too large: what follows cannot be told apart.
    broken: bool,
}

impl SseDecoder {
    /// Far above any real event, and far below what would hurt: images come as base64 of a few MiB.
    pub const LARGEST_EVENT: usize = 16 * 1024 * 1024;

    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes what came. After an error nothing more is handed out.
    pub fn push(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<(), SseTooLarge> {
        if self.broken {
            return Err(SseTooLarge);
        }
        let mut rest = self.skip_bom(bytes);
        // The only `data:` line so far, as long as it lies in this piece of bytes.
        let mut borrowed: Option<&[u8]> = None;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                self.carry(rest)?;
                break;
            };
            self.after_cr = rest[end] == b'\r';
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            if self.line.is_empty() {
                self.line(line, &mut borrowed, sink)?;
            } else {
                self.carry(line)?;
                let line = std::mem::take(&mut self.line);
                let mut owned = None;
                let done = self.line(&line, &mut owned, sink);
                if let Some(data) = owned {
                    self.keep(data);
                }
                self.line = line;
                self.line.clear();
                done?;
            }
        }
        if let Some(data) = borrowed {
            self.keep(data);
        }
        Ok(())
    }

    /// The stream ended. An event whose blank line did not come is handed out all the same: whoever
    /// reads its data sees whether it is whole.
    pub fn finish(&mut self, sink: &mut impl FnMut(SseEvent<'_>)) {
        let _ = self.push(b"\n\n", sink);
        self.broken = true;
    }

    /// One line without its end.
    fn line<'b>(
        &mut self,
        line: &'b [u8],
        borrowed: &mut Option<&'b [u8]>,
        sink: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<(), SseTooLarge> {
        if line.is_empty() {
            if let Some(data) = borrowed.take() {
                sink(SseEvent { name: &self.name, id: &self.id, data });
            } else if self.has_data {
                sink(SseEvent { name: &self.name, id: &self.id, data: &self.data });
                self.data.clear();
            }
            self.has_data = false;
            self.name.clear();
            return Ok(());
        }
        if line.len() > Self::LARGEST_EVENT {
            return self.too_large();
        }
        if let Some(data) = value(line, b"data") {
            let first = borrowed.take();
            if first.is_none() && !self.has_data {
                *borrowed = Some(data);
                return Ok(());
            }
            if let Some(first) = first {
                self.keep(first);
            }
            if self.data.len() + 1 + data.len() > Self::LARGEST_EVENT {
                return self.too_large();
            }
            self.data.push(b'\n');
            self.data.extend_from_slice(data);
        } else if let Some(name) = value(line, b"event") {
            self.name.clear();
            self.name.extend_from_slice(name);
        } else if let Some(id) = value(line, b"id").filter(|id| !id.contains(&0)) {
            self.id.clear();
            self.id.extend_from_slice(id);
        }
        // Comments are life, not content; when to reconnect is the reader's business; other fields
        // are to be ignored.
        Ok(())
    }

    /// Keeps the first `data:` line for a later piece of bytes.
    fn keep(&mut self, data: &[u8]) {
        self.data.clear();
        self.data.extend_from_slice(data);
        self.has_data = true;
    }

    fn carry(&mut self, part: &[u8]) -> Result<(), SseTooLarge> {
        if self.line.len() + part.len() > Self::LARGEST_EVENT {
            return self.too_large();
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn too_large(&mut self) -> Result<(), SseTooLarge> {
        self.broken = true;
        Err(SseTooLarge)
    }

    /// A byte order mark may stand before the first line, and may itself be cut.
    fn skip_bom<'b>(&mut self, mut bytes: &'b [u8]) -> &'b [u8] {
        while self.bom != BOM_OVER {
            let Some((&first, after)) = bytes.split_first() else { return bytes };
            let seen = usize::from(self.bom);
            if first == BOM[seen] {
                bytes = after;
                self.bom = if seen + 1 == BOM.len() { BOM_OVER } else { self.bom + 1 };
            } else {
                // It was the beginning of a line after all.
                self.line.extend_from_slice(&BOM[..seen]);
                self.bom = BOM_OVER;
            }
        }
        bytes
    }
}

/// The value of a field, without the one space that may stand before it.
fn value<'b>(line: &'b [u8], field: &[u8]) -> Option<&'b [u8]> {
    let rest = line.strip_prefix(field)?;
    let Some(value) = rest.strip_prefix(b":") else {
        // A line that is only a name is that field with an empty value.
        return rest.is_empty().then_some(rest);
    };
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];
const BOM_OVER: u8 = u8::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut decoder = SseDecoder::new();
        let mut events = Vec::new();
        let mut sink = |event: SseEvent<'_>| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            events.push((text(event.name), text(event.data)));
        };
        for piece in pieces {
            decoder.push(piece, &mut sink).unwrap();
        }
        decoder.finish(&mut sink);
        events
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let bytes = text.as_bytes();
        let seen = decode(&[bytes]);
        let seen: Vec<_> = seen.iter().map(|(name, data)| (name.as_str(), data.as_str())).collect();
        assert_eq!(seen, expected);
        // Every single cut, and every byte alone.
        for at in 0..=bytes.len() {
            assert_eq!(decode(&[&bytes[..at], &bytes[at..]]), decode(&[bytes]), "cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), decode(&[bytes]));
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "event: a|data: 1||data: 2||".replace('|', end);
            check(&text, &[("a", "1"), ("", "2")]);
        }
        check("data: 1\r\n\ndata: 2\n\r\n", &[("", "1"), ("", "2")]);
    }

    #[test]
    fn data_lines_are_joined() {
        check("data: 1\ndata:  2\ndata\ndata:\n\n", &[("", "1\n 2\n\n")]);
        check("data:\n\n", &[("", "")]);
        check("data\n\ndata: x\n\n", &[("", ""), ("", "x")]);
    }

    #[test]
    fn what_is_no_content_is_passed_over() {
        check("\u{FEFF}data: 1\n\n", &[("", "1")]);
        check(": ping\n\n: pong\nid: 7\nretry: 3\nfoo: bar\ndata: 1\n\n", &[("", "1")]);
        check("event: only a name\n\ndata: 1\n\n", &[("", "1")]);
        check("database: 1\ndata:2\n\n", &[("", "2")]);
        check("\n\n\r\r\n", &[]);
    }

    #[test]
    fn an_id_stays_until_another_comes() {
        let text = b"data: 0\n\nid: 7\ndata: 1\n\ndata: 2\n\ndata: 3\nid:8\n\nid: 9\n\nid: a\0\ndata: 4\n\n";
        for cut in 0..=text.len() {
            let mut ids = Vec::new();
            let mut sink = |event: SseEvent<'_>| ids.push(event.id.to_vec());
            let mut decoder = SseDecoder::new();
            decoder.push(&text[..cut], &mut sink).unwrap();
            decoder.push(&text[cut..], &mut sink).unwrap();
            assert_eq!(ids, [&b""[..], b"7", b"7", b"8", b"9"]);
        }
    }

    #[test]
    fn half_a_byte_order_mark_is_content() {
        let mut pieces = vec![&[0xEF, 0xBB][..]];
        pieces.push(b"data: 1\n\ndata: 2\n\n");
        assert_eq!(decode(&pieces), [(String::new(), "2".to_owned())]);
    }

    #[test]
    fn an_unfinished_event_comes_with_the_end() {
        check("data: 1\n\ndata: [DONE]", &[("", "1"), ("", "[DONE]")]);
    }

    #[test]
    fn size_is_bounded_for_lines_and_for_events() {
        let long = vec![b'x'; 1024 * 1024];
        for line_end in [&b""[..], b"\ndata: "] {
            let mut decoder = SseDecoder::new();
            let mut seen = 0;
            decoder.push(b"data: 1\n\ndata: ", &mut |_| seen += 1).unwrap();
            let mut sent = 0;
            while sent < 64 {
                if decoder.push(&long, &mut |_| seen += 1).is_err() {
                    break;
                }
                let _ = decoder.push(line_end, &mut |_| seen += 1);
                sent += 1;
            }
            assert!((15..=17).contains(&sent), "{sent}");
            assert_eq!(decoder.push(b"\n\ndata: 2\n\n", &mut |_| seen += 1), Err(SseTooLarge));
            decoder.finish(&mut |_| seen += 1);
            assert_eq!(seen, 1);
        }
    }

    #[test]
    fn comments_without_end_take_no_memory() {
        let mut decoder = SseDecoder::new();
        for _ in 0..1000 {
            decoder.push(": ping\n".repeat(1000).as_bytes(), &mut |_| {}).unwrap();
        }
        assert!(decoder.line.capacity() + decoder.data.capacity() < 64);
    }
}
