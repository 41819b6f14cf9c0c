//! Open texts, and which language each of them is in.

use super::position::{Encoding, Lines};
use super::types::ContentChange;

/// The languages that the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Axon,
}

impl Language {
    /// The editor's word for it counts first, then the name of the file. `None` for a language
    /// that we do not speak: such a text is left alone.
    pub(super) fn of(language_id: &str, uri: &str) -> Option<Self> {
        if language_id.eq_ignore_ascii_case("axon") {
            return Some(Self::Axon);
        }
        let path = uri.split(['?', '#']).next().unwrap_or_default();
        let (_, extension) = path.rsplit_once('.')?;
        extension.eq_ignore_ascii_case("axon").then_some(Self::Axon)
    }
}

/// A text as the editor has it.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) language: Language,
    pub(super) version: i32,
    pub(super) text: String,
}

impl Document {
    pub(super) fn apply(&mut self, change: ContentChange, encoding: Encoding) {
        match change.range {
            Some(range) => {
                let span = Lines::new(&self.text, encoding).span(range);
                // A text beyond the reach of a span cannot be worked on; better an old text than
                // wrong offsets.
                if u32::try_from(self.text.len() + change.text.len()).is_ok() {
                    self.text.replace_range(span.range(), &change.text);
                }
            }
            None => self.text = change.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_told_by_id_or_by_name() {
        let is_axon = |id, uri| Language::of(id, uri) == Some(Language::Axon);
        assert!(is_axon("axon", "untitled:Untitled-1"));
        assert!(is_axon("plaintext", "file:///a.b/c.AXON"));
        assert!(!is_axon("plaintext", "file:///a.axon/c"));
        assert!(!is_axon("rust", "file:///main.rs"));
    }
}
