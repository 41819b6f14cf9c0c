//! Citations, as a page can open them. Places count the bytes of the captured text in UTF-8, as
//! everywhere.

use std::collections::BTreeMap;

use sabir_capture::to_safe_html;
use sabir_document::{Cites, Document};
use sabir_host::Cited;
use sabir_store::library::{Citation, Library, SourceId};
use serde_json::{Value, json};

/// One that was just checked.
pub(super) fn fresh(cited: &Cited) -> Value {
    json!({
        "n": cited.number, "status": cited.status, "quote": cited.quote,
        "source_id": cited.source_id, "version_id": cited.version, "title": cited.title,
        "url": cited.url, "start": cited.start, "end": cited.end, "how": cited.how,
        "link": cited.link,
    })
}

/// Titles of sources, each looked up once.
pub(super) struct Titles<'a> {
    library: &'a Library,
    known: BTreeMap<String, String>,
}

impl<'a> Titles<'a> {
    pub(super) fn new(library: &'a Library) -> Self {
        Self { library, known: BTreeMap::new() }
    }

    /// Citations that are kept.
    pub(super) fn kept(&mut self, citations: &[Citation]) -> Vec<Value> {
        let one = |citation: &Citation| {
            let (start, end) = citation.place.as_ref().map(|it| (it.start, it.end)).unzip();
            // A file of this machine is no address to follow.
            let url = citation.address.as_ref().filter(|it| it.starts_with("http"));
            json!({
                "n": citation.position, "status": citation.status, "quote": citation.quote,
                "source_id": citation.source_id, "version_id": citation.version,
                "title": self.title(&citation.source_id), "url": url,
                "start": start, "end": end, "how": citation.how, "link": citation.text_fragment,
            })
        };
        citations.iter().map(one).collect()
    }

    /// One that was removed since has none any more.
    fn title(&mut self, source: &str) -> String {
        if let Some(title) = self.known.get(source) {
            return title.clone();
        }
        let found = SourceId::parse(source).and_then(|id| self.library.source(&id).ok());
        let title = found.map(|source| source.title).unwrap_or_default();
        self.known.insert(source.to_owned(), title.clone());
        title
    }
}

/// What is kept as Markdown with marks of citations, as HTML that can be shown.
pub(super) fn cited_html(markdown: &str, citations: usize) -> String {
    let cites = Cites::Upto(u32::try_from(citations).unwrap_or(u32::MAX));
    to_safe_html(&Document::from_cited_markdown(markdown, cites))
}
