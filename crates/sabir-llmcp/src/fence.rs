//! Marks around the documents of a prompt that no document can write itself.
//!
//! A page may hold anything: headings like ours, the end of a document, another document, a list of
//! citations. None of it counts outside of the marks, and the marks are made of a number that the
//! page did not know when it was written. It knows texts, no packet and no chance: the number comes
//! in.

use std::fmt;

use sabir_base::text::{is_hidden, one_line};
use sha2::{Digest as _, Sha256};

use crate::context::Trust;

/// A mark that occurs in none of the texts that it is to stand around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    mark: String,
}

impl Fence {
    /// From a number that nobody could foresee, in at least 16 hexadecimal digits of lower case.
    pub fn around<'a>(
        nonce: &str,
        texts: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Self, WeakNonce> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if nonce.len() < MIN_NONCE || nonce.len() > MAX_NONCE || !nonce.bytes().all(is_digit) {
            return Err(WeakNonce);
        }
        let mut mark = nonce.to_owned();
        let mut counter: u64 = 0;
        while texts.clone().any(|text| holds(text, &mark)) {
            mark = derive(nonce, texts.clone(), counter);
            counter += 1;
        }
        Ok(Self { mark })
    }

    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// A document between its marks. How far it is trusted stands in the line that opens it; the
    /// fields follow, one a line, then an empty line and the body.
    pub fn enclose(
        &self,
        trust: Trust,
        kind: &str,
        fields: &[(&str, String)],
        body: &str,
    ) -> String {
        let mark = &self.mark;
        let mut text = format!("<<<{mark} {trust} {kind}\n");
        for (name, value) in fields {
            text.push_str(&format!("{name}: {}\n", header_text(value)));
        }
        text.push_str(&format!("\n{body}\n{mark}>>>\n"));
        text
    }
}

/// The number for the marks is too short, too long, or not in hexadecimal digits of lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeakNonce;

impl fmt::Display for WeakNonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the nonce is not {MIN_NONCE} to {MAX_NONCE} lower-case hexadecimal digits")
    }
}

impl std::error::Error for WeakNonce {}

/// A title, an address or an id on one line, without characters that nobody sees.
pub fn header_text(text: &str) -> String {
    let visible: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    one_line(&visible, MAX_FIELD)
}

/// A line end is seen. Joiners and variation selectors matter in prose and not in a title.
fn is_invisible(c: char) -> bool {
    (is_hidden(c) && !matches!(c, '\r' | '\u{2028}' | '\u{2029}'))
        || matches!(
            c,
            '\u{AD}'
                | '\u{34F}'
                | '\u{61C}'
                | '\u{115F}'..='\u{1160}'
                | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2060}'..='\u{206F}'
                | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FFA0}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// In capitals, too: a reader might take them for the same.
fn holds(text: &str, mark: &str) -> bool {
    text.contains(mark) || text.to_ascii_lowercase().contains(mark)
}

/// Depends on the texts themselves, so that a text cannot hold all the marks that would follow.
fn derive<'a>(nonce: &str, texts: impl Iterator<Item = &'a str>, counter: u64) -> String {
    let mut hash = Sha256::new();
    hash.update(DOMAIN);
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    };
    add(nonce);
    texts.for_each(&mut add);
    hash.update(counter.to_be_bytes());
    hash.finalize().iter().take(DERIVED_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

const DOMAIN: &str = "sabir llmcp fence v1";

/// 64 bits: a page has one guess each time it is read.
const MIN_NONCE: usize = 16;

const MAX_NONCE: usize = 64;

const DERIVED_BYTES: usize = 16;

/// A header says what a document is, and is not a place for another.
const MAX_FIELD: usize = 300;
