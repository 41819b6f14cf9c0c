//! A source made ready for many quotes: its plain text, its words, and where each word stands.

use std::collections::HashMap;

use sabir_document::PlainText;

use super::tokens::{Token, tokens};

/// The stored Markdown of a source, made ready. It costs time in proportion to the text, once.
#[derive(Debug)]
pub struct SourceText {
    pub(super) markdown: String,
    pub(super) plain: PlainText,
    pub(super) tokens: Vec<Token>,
    /// The number of every token's word.
    ids: Vec<u32>,
    words: HashMap<String, u32>,
    /// By number, where the word stands.
    places: Vec<Vec<u32>>,
}

impl SourceText {
    pub fn new(markdown: &str) -> Self {
        let plain = PlainText::of_markdown(markdown);
        let tokens = tokens(plain.text());
        let mut words: HashMap<String, u32> = HashMap::new();
        let mut places: Vec<Vec<u32>> = Vec::new();
        let mut ids = Vec::with_capacity(tokens.len());
        for (at, token) in (0..).zip(&tokens) {
            let id = match words.get(&token.word) {
                Some(id) => *id,
                None => {
                    let id = u32::try_from(places.len()).unwrap_or(u32::MAX);
                    words.insert(token.word.clone(), id);
                    places.push(Vec::new());
                    id
                }
            };
            if let Some(places) = places.get_mut(id as usize) {
                places.push(at);
            }
            ids.push(id);
        }
        Self { markdown: markdown.to_owned(), plain, tokens, ids, words, places }
    }

    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    pub fn plain(&self) -> &PlainText {
        &self.plain
    }

    /// Where the words of `quote` stand one behind the other: the first token of each place, at most
    /// [`MAX_PLACES`].
    pub(super) fn find(&self, quote: &[Token]) -> Vec<usize> {
        let needle: Option<Vec<u32>> =
            quote.iter().map(|token| self.words.get(&token.word).copied()).collect();
        let Some(needle) = needle.filter(|needle| !needle.is_empty()) else { return Vec::new() };
        // Knuth, Morris and Pratt: linear, whatever repeats.
        let mut fallback = vec![0; needle.len()];
        let mut matched = 0;
        for at in 1..needle.len() {
            while matched > 0 && needle[at] != needle[matched] {
                matched = fallback[matched - 1];
            }
            matched += usize::from(needle[at] == needle[matched]);
            fallback[at] = matched;
        }
        let mut found = Vec::new();
        matched = 0;
        for (at, id) in self.ids.iter().enumerate() {
            while matched > 0 && *id != needle[matched] {
                matched = fallback[matched - 1];
            }
            matched += usize::from(*id == needle[matched]);
            if matched == needle.len() {
                found.push(at + 1 - matched);
                matched = fallback[matched - 1];
                if found.len() == MAX_PLACES {
                    break;
                }
            }
        }
        found
    }

    /// Where one word stands.
    pub(super) fn places_of(&self, word: &str) -> &[u32] {
        let id = self.words.get(word).copied();
        id.and_then(|id| self.places.get(id as usize)).map_or(&[], Vec::as_slice)
    }
}

/// A quote that stands in more places than this stands everywhere.
pub(super) const MAX_PLACES: usize = 64;
