//! Words of a server, made fit to be shown: bounded, without control characters, without the
//! secrets that it was given. It knows nothing of what the words are about.

/// Removes what could drive a terminal or hide words from a reader, and cuts after `limit` bytes.
pub(super) fn clean(text: &str, limit: usize) -> String {
    let mut cleaned = String::with_capacity(text.len().min(limit));
    for character in text.chars().filter(|character| !is_hidden(*character)) {
        if cleaned.len() + character.len_utf8() > limit {
            cleaned.truncate(floor_boundary(&cleaned, limit.saturating_sub(CUT_MARK.len())));
            cleaned.push_str(CUT_MARK);
            break;
        }
        cleaned.push(character);
    }
    cleaned
}

/// The same on one line, for messages.
pub(super) fn clean_line(text: &str, limit: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clean(&words.join(" "), limit)
}

/// Control characters but line ends and tabs, marks that turn the direction of writing, and the
/// invisible tag characters, which models read and people do not see.
pub(super) fn is_hidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(
            character,
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}'
        )
}

/// The largest boundary of a character at or below `index`.
pub(super) fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// The secrets of one server, which never stand in an error, whoever wrote it.
#[derive(Clone, Default)]
pub(super) struct Redaction {
    secrets: Vec<String>,
}

impl Redaction {
    pub(super) fn add(&mut self, secret: &str) {
        // Shorter values are words like `1` or `on`: hiding them would garble every message.
        if secret.len() >= 6 {
            self.secrets.push(secret.to_owned());
            // A secret within another must not save the rest of it.
            self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    pub(super) fn apply(&self, text: &str) -> String {
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), "[hidden]");
        self.secrets.iter().fold(text.to_owned(), hide)
    }
}

impl std::fmt::Debug for Redaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redaction({})", self.secrets.len())
    }
}

const CUT_MARK: &str = "…";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terminals_and_readers_are_not_fooled() {
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\u{e0041}\td\ne", 100), "a[31mbc\td\ne");
        assert_eq!(clean_line(" a\r\n b\tc ", 100), "a b c");
    }

    #[test]
    fn the_longer_secret_goes_first() {
        let mut redaction = Redaction::default();
        redaction.add("sesame");
        redaction.add("sesame-street");
        redaction.add("1");
        assert_eq!(redaction.apply("sesame-street 1 sesame"), "[hidden] 1 [hidden]");
    }

    proptest! {
        #[test]
        fn cleaned_text_is_short_and_has_nothing_hidden(text in any::<String>(), limit in 3..40usize) {
            let cleaned = clean(&text, limit);
            prop_assert!(cleaned.len() <= limit);
            prop_assert!(!cleaned.contains(is_hidden));
        }
    }
}
