//! What an answer rests on, as the model claims it. It does not know whether the claim holds: see the
//! verifier.

use crate::value::{Confidence, DocId, SourceId, Text};
use crate::wire::{choice, record};

record! {
    /// A claim that the words of a source support the answer. Only `source_id` or `doc_id` and
    /// `quote` are used to check it; the model's `url` and `confidence` are never believed.
    pub struct Citation {
        "source_id" optional source_id: Option<SourceId>,
        "doc_id" optional doc_id: Option<DocId>,
        "url" optional url: Option<Text<8_192>>,
        "quote" optional quote: Option<Text<10_000>>,
        "locator" optional locator: Option<Locator>,
        "confidence" optional confidence: Option<Confidence>,
    }
}

record! {
    /// A hint at the place in the source.
    pub struct Locator {
        "type" needed kind: LocatorKind,
        "value" needed value: Text<2_000>,
    }
}

choice! {
    /// What a locator names.
    pub enum LocatorKind {
        /// Words that stand there.
        TextFragment "text_fragment",
        /// The heading that they stand under.
        SectionHeading "section_heading",
    }
}

impl Citation {
    /// What stands in place of a citation that could not be read, so that the others keep their
    /// numbers: it names nothing and proves nothing.
    pub(crate) fn unreadable() -> Self {
        Self {
            source_id: None,
            doc_id: None,
            url: None,
            quote: None,
            locator: None,
            confidence: None,
        }
    }

    /// Whether it names a source and words of it, without which nothing can be checked.
    pub fn is_checkable(&self) -> bool {
        (self.source_id.is_some() || self.doc_id.is_some()) && self.quote.is_some()
    }
}
