//! Citations of an answer, each held against the text that was captured. What a model says of its own
//! citations, where they are and how sure it is, is not believed.

use sabir_llmcp::{CitableSource, Citation, MatchKind, SourceText, Verdict, verify_citation};
use sabir_store::library::{CitationStatus, NewCitation, VersionId};
use serde::Serialize;

use super::context::Citable;

/// A citation that was checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cited {
    /// As the answer marks it, from 1.
    pub number: usize,
    pub quote: String,
    pub status: CitationStatus,
    pub source_id: String,
    pub title: String,
    /// Of the source, by our own record.
    pub url: Option<String>,
    /// Bytes of the captured Markdown.
    pub start: Option<usize>,
    pub end: Option<usize>,
    /// How the words were found.
    pub how: String,
    /// The address that jumps to the words, if the whole address may be told.
    pub link: Option<String>,
    /// What the words were looked up in.
    #[serde(skip)]
    pub version: Option<VersionId>,
}

impl Cited {
    /// Whether it only keeps a number: nothing of it could be looked up.
    pub fn is_unreadable(&self) -> bool {
        self.how == UNREADABLE
    }

    pub(super) fn to_keep(&self) -> NewCitation {
        let place = self.start.zip(self.end).map(|(start, end)| start as u64..end as u64);
        NewCitation {
            source_id: self.source_id.clone(),
            version: self.version.clone(),
            status: self.status,
            how: Some(self.how.clone()),
            quote: self.quote.clone(),
            place,
            text_fragment: self.link.clone(),
        }
    }
}

/// Holds each citation against the text that it names.
pub(super) fn verify(citations: &[Citation], texts: &[Citable]) -> Vec<Cited> {
    let named: Vec<&str> = citations.iter().map(name_of).collect();
    let is_named = |text: &&Citable| named.contains(&text.id.as_str());
    // Reading a text for quotes costs a pass over it, so only those that are cited are read.
    let read: Vec<(&Citable, SourceText, String)> = texts
        .iter()
        .filter(is_named)
        .map(|text| {
            let hash = sabir_store::Hash::of(text.markdown.as_bytes()).to_string();
            (text, SourceText::new(&text.markdown), hash)
        })
        .collect();
    let sources: Vec<CitableSource<'_>> = read
        .iter()
        .map(|(text, words, hash)| CitableSource {
            id: &text.id,
            hash,
            url: text.url.as_deref(),
            text: words,
        })
        .collect();
    let cited = |(number, citation): (usize, &Citation)| {
        let name = name_of(citation);
        if !citation.is_checkable() {
            return Cited::unreadable(number, name);
        }
        let quote = citation.quote.as_deref().unwrap_or_default();
        let verdict = verify_citation(quote, name, &sources);
        let text = texts.iter().find(|text| text.id == name);
        Cited::new(number, name, verdict, text)
    };
    (1..).zip(citations).map(cited).collect()
}

/// A source where one is named, a document otherwise.
fn name_of(citation: &Citation) -> &str {
    let source = citation.source_id.as_ref().map(|id| id.as_str());
    source.or(citation.doc_id.as_ref().map(|id| id.as_str())).unwrap_or_default()
}

impl Cited {
    /// Of a citation that names no source or has no words: it keeps its number, and proves nothing.
    fn unreadable(number: usize, name: &str) -> Self {
        Self {
            number,
            quote: String::new(),
            status: CitationStatus::Unverified,
            source_id: name.to_owned(),
            title: String::new(),
            url: None,
            start: None,
            end: None,
            how: UNREADABLE.to_owned(),
            link: None,
            version: None,
        }
    }

    fn new(number: usize, name: &str, verdict: Verdict, text: Option<&Citable>) -> Self {
        let is_found = verdict.how.is_some();
        let how = match verdict.reason {
            Some(reason) => reason.code(),
            None => verdict.how.map_or("", MatchKind::word),
        };
        Self {
            number,
            quote: verdict.quote,
            status: match verdict.status {
                sabir_llmcp::CitationStatus::Verified => CitationStatus::Verified,
                sabir_llmcp::CitationStatus::Repaired => CitationStatus::Repaired,
                sabir_llmcp::CitationStatus::Ambiguous => CitationStatus::Ambiguous,
                sabir_llmcp::CitationStatus::Unverified => CitationStatus::Unverified,
                sabir_llmcp::CitationStatus::UnknownSource => CitationStatus::UnknownSource,
            },
            source_id: name.to_owned(),
            title: text.map(|text| text.title.clone()).unwrap_or_default(),
            url: verdict.url,
            start: is_found.then_some(verdict.start),
            end: is_found.then_some(verdict.end),
            how: how.to_owned(),
            // An address that lacks something leads to another page.
            link: verdict.link.filter(|_| text.is_none_or(|text| !text.is_redacted)),
            version: text.and_then(|text| text.version.clone()),
        }
    }
}

/// There is nothing that could be looked up.
const UNREADABLE: &str = "unreadable";
