//! Open texts, and which notation each of them is in.

use crate::notation::Notation;

use super::position::{Encoding, Lines};
use super::types::ContentChange;

/// The editor's word for it counts first, then the name of the file. `None` for a language that we do
/// not speak: such a text is left alone.
pub(super) fn notation_of(language_id: &str, uri: &str) -> Option<Notation> {
    let named = |word: &str| {
        Notation::ALL.into_iter().find(|notation| notation.word().eq_ignore_ascii_case(word))
    };
    named(language_id).or_else(|| {
        let path = uri.split(['?', '#']).next().unwrap_or_default();
        let (_, extension) = path.rsplit_once('.')?;
        named(extension)
    })
}

/// A text as the editor has it.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) notation: Notation,
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
    fn the_notation_is_told_by_id_or_by_name() {
        let axon = Some(Notation::Axon);
        let llmx = Some(Notation::Llmx);
        assert_eq!(notation_of("axon", "untitled:Untitled-1"), axon);
        assert_eq!(notation_of("plaintext", "file:///a.b/c.AXON"), axon);
        assert_eq!(notation_of("LLMX", "untitled:Untitled-1"), llmx);
        assert_eq!(notation_of("plaintext", "file:///a.axon/c.llmx?x#y.axon"), llmx);
        assert_eq!(notation_of("llmx", "file:///a.axon"), llmx);
        assert_eq!(notation_of("plaintext", "file:///a.axon/c"), None);
        assert_eq!(notation_of("rust", "file:///main.rs"), None);
    }
}
