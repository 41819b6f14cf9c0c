//! What is written where others read it: without secrets, without the queries of addresses, on one
//! line, and with nothing that a terminal obeys.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use sabir_base::text::{clip, with_hidden_shown};
use sabir_llmcp::redact_text;

/// Secrets that are known by their value, because they look like nothing.
#[derive(Clone, Default)]
pub struct Withheld(Arc<RwLock<Vec<String>>>);

impl Withheld {
    /// Never shows `secret` from now on. What is too short to be one is part of too many words.
    pub fn add(&self, secret: &str) {
        let secret = secret.trim();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if secret.len() >= SHORTEST && known.len() < MOST && !known.iter().any(|it| it == secret) {
            known.push(secret.to_owned());
            // A secret that holds another is taken out whole.
            known.sort_by_key(|it| std::cmp::Reverse(it.len()));
        }
    }

    fn without<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut text = Cow::Borrowed(text);
        for secret in known.iter() {
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, REMOVED));
            }
        }
        text
    }
}

/// How many there are, and never which.
impl fmt::Debug for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_tuple("Withheld").field(&known.len()).finish()
    }
}

/// A text of whatever origin, fit to be shown.
pub fn clean(text: &str, withheld: &Withheld) -> String {
    // Far more than is shown, so that no secret is cut before it is recognised.
    let text = &text[..text.floor_char_boundary(LOOKED_AT)];
    let text = withheld.without(text);
    let text = redact_text(&text);
    let text = without_queries(&text);
    let text = clip(&text, SHOWN);
    let mut line = String::with_capacity(text.len());
    for c in with_hidden_shown(&text).chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\t' => line.push(' '),
            c => line.push(c),
        }
    }
    line
}

/// Cuts every address before its query: what people look for is theirs.
fn without_queries(text: &str) -> Cow<'_, str> {
    if !text.contains("://") || !text.contains(['?', '#']) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| c.is_whitespace() || "\"'<>`)]}|,".contains(c)) {
        let address = word.find("://");
        match address.and_then(|at| Some(at + word[at..].find(['?', '#'])?)) {
            Some(cut) => {
                shown.push_str(&word[..cut]);
                let end = word.chars().next_back().filter(|c| !c.is_alphanumeric());
                shown.extend(end.filter(|c| c.is_whitespace() || "\"'<>`)]}|,".contains(*c)));
            }
            None => shown.push_str(word),
        }
    }
    Cow::Owned(shown)
}

const REMOVED: &str = "[redacted]";
const SHORTEST: usize = 8;
const MOST: usize = 256;
const LOOKED_AT: usize = 16 * 1024;
/// Of one value, in bytes.
const SHOWN: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_and_nothing_that_a_terminal_obeys_is_left() {
        let withheld = Withheld::default();
        withheld.add("correct-horse-battery");
        withheld.add("correct-horse");
        withheld.add("ab");
        let shown = |text: &str| clean(text, &withheld);
        assert_eq!(shown("plain ab words"), "plain ab words");
        assert_eq!(shown("it is correct-horse-battery!"), "it is [redacted]!");
        assert_eq!(shown("a\u{1b}[31mred\r\nline\u{202e}x"), "a\\u{1b}[31mred\\r\\nline\\u{202e}x");
        assert!(!shown("authorization: Bearer abcdefgh12345678").contains("abcdefgh12345678"));
        assert!(!shown("https://ann:hunter2@shop.example/x").contains("hunter2"));
        assert_eq!(
            shown("get https://a.example/p?q=mine&r=1#top, then \"http://b.example/?x\" again"),
            "get https://a.example/p, then \"http://b.example/\" again"
        );
        assert_eq!(shown("what? https://a.example/p"), "what? https://a.example/p");
        assert!(shown(&"é".repeat(100_000)).len() <= SHOWN);
        assert!(!format!("{withheld:?}").contains("horse"));
    }

    /// A secret that stands across the place where a text is cut is not shown in part.
    #[test]
    fn a_cut_shows_no_part_of_a_secret() {
        let withheld = Withheld::default();
        withheld.add("correct-horse-battery");
        let text = format!("{}correct-horse-battery", "x".repeat(SHOWN - 6));
        assert!(!clean(&text, &withheld).contains("corr"));
    }
}
