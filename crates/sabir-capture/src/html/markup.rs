//! Hands a page to the tokenizer piece by piece, each tag with no more attributes than it may have:
//! the tokenizer compares each name with all before it. It knows where tags end, not what they mean.

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{TokenSink, Tokenizer};
use html5ever::{LocalName, TokenizerResult};

/// How the text that comes next is to be read, which depends on where in the page it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Reading {
    #[default]
    Markup,
    /// Nothing is a tag but the end of this.
    Raw(LocalName),
    /// Nothing is a tag any more.
    Plain,
}

/// Whoever takes the tokens.
pub(super) trait Reader: TokenSink {
    fn reading(&self) -> Reading;
}

/// Whether something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fed {
    Whole,
    Cut,
}

/// Tokenizes a whole page.
pub(super) fn feed<S: Reader>(tokenizer: &Tokenizer<S>, html: &str) -> Fed {
    let mut feeder = Feeder { tokenizer, input: BufferQueue::default(), fed: Fed::Whole };
    let bytes = html.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at = match tokenizer.sink.reading() {
            Reading::Plain => {
                feeder.push(&html[at..]);
                bytes.len()
            }
            Reading::Raw(name) => feeder.raw(html, at, &name),
            Reading::Markup => feeder.markup(html, at),
        };
    }
    feeder.fed
}

struct Feeder<'a, S: Reader> {
    tokenizer: &'a Tokenizer<S>,
    input: BufferQueue,
    fed: Fed,
}

impl<S: Reader> Feeder<'_, S> {
    fn push(&self, text: &str) {
        self.input.push_back(StrTendril::from(text));
        // It stops at the end of each script, and at each name of an encoding.
        while !matches!(self.tokenizer.feed(&self.input), TokenizerResult::Done) {}
    }

    /// Text up to the end of the element that it is in.
    fn raw(&self, html: &str, from: usize, name: &str) -> usize {
        let bytes = html.as_bytes();
        let mut at = from;
        while let Some(start) = find(b'<', bytes, at) {
            let end = start + 2 + name.len();
            let is_end = bytes.get(start + 1) == Some(&b'/')
                && bytes
                    .get(start + 2..end)
                    .is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
                && bytes
                    .get(end)
                    .is_some_and(|byte| is_blank(*byte) || matches!(byte, b'/' | b'>'));
            if !is_end {
                at = start + 1;
                continue;
            }
            self.push(&html[from..end]);
            self.push(">");
            // In a script that has a comment with a script in it, this may not be the end.
            return match self.tokenizer.sink.reading() {
                Reading::Raw(_) => end,
                _ => Tag::scan(bytes, start + 2).end,
            };
        }
        self.push(&html[from..]);
        bytes.len()
    }

    /// Text up to a tag, and the tag.
    fn markup(&mut self, html: &str, from: usize) -> usize {
        let bytes = html.as_bytes();
        let Some(start) = find(b'<', bytes, from) else {
            self.push(&html[from..]);
            return bytes.len();
        };
        let rest = &bytes[start + 1..];
        match rest {
            [letter, ..] if letter.is_ascii_alphabetic() => {
                let tag = Tag::scan(bytes, start + 1);
                match tag.too_many {
                    None => self.push(&html[from..tag.end]),
                    Some(cut) => {
                        self.push(&html[from..cut]);
                        self.push(">");
                        self.fed = Fed::Cut;
                    }
                }
                tag.end
            }
            // The attributes of an end mean nothing.
            [b'/', letter, ..] if letter.is_ascii_alphabetic() => {
                let tag = Tag::scan(bytes, start + 2);
                self.push(&html[from..tag.name_end]);
                if tag.is_closed {
                    self.push(">");
                }
                tag.end
            }
            [b'!' | b'?' | b'/', ..] => {
                let end = self.end_of_note(html, start);
                self.push(&html[from..end]);
                end
            }
            _ => {
                self.push(&html[from..=start]);
                start + 1
            }
        }
    }

    /// Behind a comment, or whatever else is no tag.
    fn end_of_note(&self, html: &str, start: usize) -> usize {
        let behind = |mark: &str, from: usize| {
            html.get(from..).and_then(|rest| rest.find(mark)).map(|at| from + at + mark.len())
        };
        let rest = &html.as_bytes()[start..];
        let sink = &self.tokenizer.sink;
        let end = if rest.starts_with(b"<!--") {
            let inside = start + 4;
            match &rest[4..] {
                [b'>', ..] => Some(inside + 1),
                [b'-', b'>', ..] => Some(inside + 2),
                _ => end_of_comment(html.as_bytes(), inside),
            }
        } else if rest.starts_with(b"<![CDATA[")
            && sink.adjusted_current_node_present_but_not_in_html_namespace()
        {
            behind("]]>", start)
        } else {
            behind(">", start)
        };
        end.unwrap_or(html.len())
    }
}

/// Behind the first `-->` or `--!>`.
fn end_of_comment(bytes: &[u8], mut from: usize) -> Option<usize> {
    while let Some(end) = find(b'>', bytes, from) {
        let before = &bytes[from.min(end)..end];
        // Marks that were looked at already are looked at again, two of them at most.
        let before = if before.len() < 3 { &bytes[end.saturating_sub(3)..end] } else { before };
        if before.ends_with(b"--") || before.ends_with(b"--!") {
            return Some(end + 1);
        }
        from = end + 1;
    }
    None
}

/// A tag as it stands in the page.
struct Tag {
    name_end: usize,
    /// Behind the tag.
    end: usize,
    is_closed: bool,
    /// Where the first attribute begins that is too many.
    too_many: Option<usize>,
}

impl Tag {
    /// Reads the tag whose name begins `at`, as a browser does.
    fn scan(bytes: &[u8], mut at: usize) -> Self {
        let skip = |mut at: usize, is_part: fn(u8) -> bool| {
            while bytes.get(at).is_some_and(|byte| is_part(*byte)) {
                at += 1;
            }
            at
        };
        at = skip(at, |byte| !is_blank(byte) && !matches!(byte, b'/' | b'>'));
        let name_end = at;
        let mut count = 0;
        let mut too_many = None;
        let closed =
            |at: usize, too_many| Self { name_end, end: at + 1, is_closed: true, too_many };
        loop {
            at = skip(at, |byte| is_blank(byte) || byte == b'/');
            match bytes.get(at) {
                None => break,
                Some(b'>') => return closed(at, too_many),
                Some(_) => {}
            }
            count += 1;
            if count > MOST_ATTRIBUTES {
                too_many.get_or_insert(at);
            }
            // The first letter of a name may be anything.
            at = skip(at + 1, |byte| !is_blank(byte) && !matches!(byte, b'/' | b'>' | b'='));
            let sign = skip(at, is_blank);
            if bytes.get(sign) != Some(&b'=') {
                continue;
            }
            at = skip(sign + 1, is_blank);
            match bytes.get(at) {
                Some(quote @ (b'"' | b'\'')) => match find(*quote, bytes, at + 1) {
                    Some(end) => at = end + 1,
                    None => break,
                },
                _ => at = skip(at, |byte| !is_blank(byte) && byte != b'>'),
            }
        }
        Self { name_end, end: bytes.len(), is_closed: false, too_many }
    }
}

fn find(byte: u8, bytes: &[u8], from: usize) -> Option<usize> {
    Some(from + memchr::memchr(byte, bytes.get(from..)?)?)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

/// Nobody writes a tag with more.
pub(super) const MOST_ATTRIBUTES: usize = 500;
