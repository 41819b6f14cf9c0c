//! Finding the JSON object in what a model wrote, and mending what models get wrong. It goes from
//! token to token, so that nothing inside of a string is taken for something else, and says what it
//! did. It knows no packet but that an answer has the key `assistant`.

use std::collections::BTreeSet;

use sabir_base::json::{Json, JsonKind};

use crate::problem::MAX_DEPTH;

/// What was done to a text so that JSON could be read from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mend {
    /// A byte order mark was taken away.
    ByteOrderMark,
    /// Thoughts in `<think>` tags before the answer were taken away.
    Thoughts,
    /// A code fence around the answer was taken away.
    Fence,
    /// Text around the JSON object was taken away.
    TextAround,
    /// Commas before a closing bracket were taken away.
    TrailingComma,
    /// Line breaks and other control characters in strings were escaped.
    RawCharacter,
    /// Backslashes that begin no escape were doubled.
    LoneBackslash,
    /// The text broke off; what was open has been closed, what was half written has been left out.
    BrokenOff,
}

impl Mend {
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Mend::ByteOrderMark => "took a byte order mark away",
            Mend::Thoughts => "took thoughts before the answer away",
            Mend::Fence => "took a code fence around the answer away",
            Mend::TextAround => "took text around the JSON object away",
            Mend::TrailingComma => "took commas before closing brackets away",
            Mend::RawCharacter => "escaped control characters in strings",
            Mend::LoneBackslash => "doubled backslashes that begin no escape",
            Mend::BrokenOff => "closed what was left open where the text broke off",
        }
    }
}

/// A text without what models put around an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bare<'t> {
    pub(crate) text: &'t str,
    pub(crate) mends: BTreeSet<Mend>,
}

/// Takes away a byte order mark, and thoughts at the very beginning.
pub(crate) fn without_thoughts(text: &str) -> Bare<'_> {
    let mut bare = Bare { text, mends: BTreeSet::new() };
    if let Some(rest) = bare.text.strip_prefix('\u{FEFF}') {
        bare.text = rest;
        bare.mends.insert(Mend::ByteOrderMark);
    }
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        let Some(thoughts) = bare.text.trim_start().strip_prefix(open) else { continue };
        bare.mends.insert(Mend::Thoughts);
        // Thoughts without an end leave no answer.
        bare.text = thoughts.split_once(close).map_or("", |(_, rest)| rest);
    }
    bare
}

/// Takes away a fence around the whole text, if its language is one of `languages` or none.
pub(crate) fn without_fence<'t>(mut bare: Bare<'t>, languages: &[&str]) -> Bare<'t> {
    let text = bare.text.trim();
    let Some(mark) = text.chars().next().filter(|mark| matches!(mark, '`' | '~')) else {
        return bare;
    };
    let width = text.chars().take_while(|c| *c == mark).count();
    let Some((info, body)) = text[width..].split_once('\n') else { return bare };
    let language = info.trim();
    if width < 3 || !(language.is_empty() || languages.contains(&language)) {
        return bare;
    }
    let fence = &text[..width];
    let closes = |line: &str| {
        line.trim_end().strip_prefix(fence).is_some_and(|rest| rest.chars().all(|c| c == mark))
    };
    let before_last = body.rfind('\n').map_or(0, |at| at + 1);
    let closed = closes(&body[before_last..]);
    let inner = if closed { &body[..before_last] } else { body };
    // A fence that ends in the middle is one of several, and not around the whole.
    if inner.lines().any(closes) {
        return bare;
    }
    bare.text = inner;
    bare.mends.insert(Mend::Fence);
    bare
}

/// A JSON object that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repaired {
    pub(crate) json: String,
    pub(crate) mends: BTreeSet<Mend>,
}

/// The first JSON object in the text that has the key `assistant`.
pub(crate) fn repair(text: &str) -> Option<Repaired> {
    let bare = without_fence(without_thoughts(text), &["json", "JSON"]);
    let opens = bare.text.match_indices('{').map(|(at, _)| at);
    let opens = opens.filter(|at| bare.text[at + 1..].trim_start().starts_with('"'));
    for start in opens.take(MOST_CANDIDATES) {
        let Some(mended) = Mending::new(&bare.text[start..]).object() else { continue };
        if !is_answer(&mended.out) {
            continue;
        }
        let mut mends: BTreeSet<Mend> = bare.mends.union(&mended.mends).copied().collect();
        let after = &bare.text[start + mended.at..];
        if !bare.text[..start].trim().is_empty() || !after.trim().is_empty() {
            mends.insert(Mend::TextAround);
        }
        return Some(Repaired { json: mended.out, mends });
    }
    None
}

fn is_answer(json: &str) -> bool {
    Json::read(json, MAX_DEPTH).is_ok_and(|json| {
        json.top().get("assistant").is_some_and(|value| value.kind() == JsonKind::Object)
    })
}

/// One pass over an object, from its first brace to its last or to the end of the text.
struct Mending<'t> {
    text: &'t str,
    at: usize,
    out: String,
    /// How much of `out` can stand if the text breaks off now.
    sound: usize,
    open: Vec<Bracket>,
    mends: BTreeSet<Mend>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Brace,
    Square,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Behind an opening bracket.
    FirstItem,
    /// Behind a comma.
    Item,
    Colon,
    /// Behind a colon.
    Value,
    CommaOrEnd,
}

/// Whether a token was read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Whole,
    BrokenOff,
}

impl<'t> Mending<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            out: String::with_capacity(text.len()),
            sound: 0,
            open: Vec::new(),
            mends: BTreeSet::new(),
        }
    }

    /// `None` where no rule says what was meant.
    fn object(mut self) -> Option<Self> {
        let bytes = self.text.as_bytes();
        self.open(Bracket::Brace);
        let mut next = Next::FirstItem;
        while let Some(bracket) = self.open.last().copied() {
            while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            }
            let Some(&byte) = bytes.get(self.at) else { return Some(self.broken_off()) };
            let closing = match byte {
                b'}' => Some(Bracket::Brace),
                b']' => Some(Bracket::Square),
                _ => None,
            };
            next = match (next, byte) {
                (Next::FirstItem | Next::Item | Next::CommaOrEnd, _) if closing.is_some() => {
                    if closing != Some(bracket) {
                        return None;
                    }
                    if next == Next::Item {
                        // Back to before the comma.
                        self.out.truncate(self.sound);
                        self.mends.insert(Mend::TrailingComma);
                    }
                    self.close(byte);
                    Next::CommaOrEnd
                }
                (Next::CommaOrEnd, b',') => {
                    self.push(byte);
                    Next::Item
                }
                (Next::Colon, b':') => {
                    self.push(byte);
                    Next::Value
                }
                (Next::FirstItem | Next::Item, b'"') if bracket == Bracket::Brace => {
                    match self.string() {
                        Token::Whole => Next::Colon,
                        Token::BrokenOff => return Some(self.broken_off()),
                    }
                }
                (Next::FirstItem | Next::Item, _) if bracket == Bracket::Brace => return None,
                (Next::FirstItem | Next::Item | Next::Value, b'{') => {
                    self.open(Bracket::Brace);
                    Next::FirstItem
                }
                (Next::FirstItem | Next::Item | Next::Value, b'[') => {
                    self.open(Bracket::Square);
                    Next::FirstItem
                }
                (Next::FirstItem | Next::Item | Next::Value, b'"') => {
                    let token = self.string();
                    if token == Token::BrokenOff {
                        // Half a text is still worth reading.
                        self.out.push('"');
                    }
                    self.sound = self.out.len();
                    match token {
                        Token::Whole => Next::CommaOrEnd,
                        Token::BrokenOff => return Some(self.broken_off()),
                    }
                }
                (Next::FirstItem | Next::Item | Next::Value, b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                    match self.scalar() {
                        Token::Whole => Next::CommaOrEnd,
                        Token::BrokenOff => return Some(self.broken_off()),
                    }
                }
                _ => return None,
            };
        }
        Some(self)
    }

    fn open(&mut self, bracket: Bracket) {
        self.open.push(bracket);
        self.out.push(if bracket == Bracket::Brace { '{' } else { '[' });
        self.at += 1;
        self.sound = self.out.len();
    }

    fn close(&mut self, byte: u8) {
        self.open.pop();
        self.push(byte);
        self.sound = self.out.len();
    }

    fn push(&mut self, byte: u8) {
        self.out.push(char::from(byte));
        self.at += 1;
    }

    /// Leaves out what is half written, and closes what is open.
    fn broken_off(mut self) -> Self {
        self.mends.insert(Mend::BrokenOff);
        self.at = self.text.len();
        self.out.truncate(self.sound);
        while let Some(bracket) = self.open.pop() {
            self.out.push(if bracket == Bracket::Brace { '}' } else { ']' });
        }
        self
    }

    /// A number or a word. At the end of the text nobody knows whether it is whole.
    fn scalar(&mut self) -> Token {
        let rest = &self.text[self.at..];
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        match rest.bytes().position(|byte| !is_part(byte)) {
            Some(length) => {
                self.out.push_str(&rest[..length]);
                self.at += length;
                self.sound = self.out.len();
                Token::Whole
            }
            None => Token::BrokenOff,
        }
    }

    /// A string, without its closing quote if the text breaks off in it.
    fn string(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        self.out.push('"');
        self.at += 1;
        // Where the last escape for half of a pair began, if nothing stands behind it.
        let mut half_pair: Option<usize> = None;
        loop {
            let start = self.at;
            let is_plain = |byte: &u8| *byte >= b' ' && !matches!(byte, b'"' | b'\\');
            let plain = bytes[start..].iter().take_while(|byte| is_plain(byte)).count();
            self.out.push_str(&self.text[start..start + plain]);
            self.at += plain;
            if plain > 0 {
                half_pair = None;
            }
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.push(b'"');
                    return Token::Whole;
                }
                Some(b'\\') => {
                    let began = self.out.len();
                    match self.escape() {
                        Token::Whole => {
                            half_pair = is_high_half(&self.out[began..]).then_some(began);
                        }
                        Token::BrokenOff => break,
                    }
                }
                Some(control) => {
                    self.out.push_str(&format!("\\u{control:04x}"));
                    self.at += 1;
                    self.mends.insert(Mend::RawCharacter);
                    half_pair = None;
                }
                None => break,
            }
        }
        if let Some(began) = half_pair {
            self.out.truncate(began);
        }
        Token::BrokenOff
    }

    fn escape(&mut self) -> Token {
        let rest = &self.text.as_bytes()[self.at..];
        let length = match rest.get(1) {
            None => return Token::BrokenOff,
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') => {
                let digits = rest[2..].iter().take(4).take_while(|byte| byte.is_ascii_hexdigit());
                match digits.count() {
                    4 => 6,
                    found if rest.len() == 2 + found => return Token::BrokenOff,
                    _ => 0,
                }
            }
            Some(_) => 0,
        };
        if length == 0 {
            self.out.push_str("\\\\");
            self.at += 1;
            self.mends.insert(Mend::LoneBackslash);
        } else {
            self.out.push_str(&self.text[self.at..self.at + length]);
            self.at += length;
        }
        Token::Whole
    }
}

/// Whether an escape stands for the first half of a pair, which means nothing alone.
fn is_high_half(escape: &str) -> bool {
    let code = escape.strip_prefix("\\u").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    code.is_some_and(|code| (0xD800..0xDC00).contains(&code))
}

/// Prose before an answer may hold a few braces; each candidate costs one pass.
const MOST_CANDIDATES: usize = 8;
