//! What the model may read: a captured page or note, and what the capture noticed about it. It knows
//! nothing of packets.

use sabir_document::{Document, PlainText};

use crate::text::Text;

/// One document of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    pub doc_id: String,
    pub source_id: Option<String>,
    pub url: Option<String>,
    pub title: String,
    pub markdown: String,
    /// What the capture saw that makes the page less than complete: `paywall_or_login` and the like.
    pub signals: Vec<String>,
    /// Only a part of the page stands here.
    pub partial: bool,
}

/// A source that has been read.
#[derive(Debug)]
pub(crate) struct Page<'s> {
    pub(crate) source: &'s Source,
    pub(crate) text: Text,
}

impl Page<'_> {
    /// What a person calls this page.
    pub(crate) fn name(&self) -> &str {
        let title = self.source.title.trim();
        if !title.is_empty() {
            return title;
        }
        let heading = self.text.units.iter().find(|unit| unit.level().is_some());
        match (heading, &self.source.url) {
            (Some(heading), _) => &heading.text,
            (None, Some(url)) => url,
            (None, None) => &self.source.doc_id,
        }
    }
}

/// Reads the sources in their order, each up to [`SOURCE_BYTES`] and all up to `budget`. Whatever stands
/// in a unit can be quoted.
pub(crate) fn read(sources: &[Source], budget: usize) -> Reading<'_> {
    let mut left = budget;
    let mut cut = false;
    let mut pages = Vec::with_capacity(sources.len());
    for source in sources {
        let markdown = prefix(&source.markdown, left.min(SOURCE_BYTES));
        cut |= markdown.len() < source.markdown.len();
        left -= markdown.len();
        let mut text = Text::of_document(&Document::from_markdown(markdown));
        text.keep_quotable(PlainText::of_markdown(markdown).text());
        pages.push(Page { source, text });
    }
    Reading { pages, cut }
}

#[derive(Debug)]
pub(crate) struct Reading<'s> {
    /// One for each source, in the order of the sources.
    pub(crate) pages: Vec<Page<'s>>,
    /// Something was too long to be read to its end.
    pub(crate) cut: bool,
}

/// At most `bytes` of `text`, cut between lines where there is one, so that no construct of Markdown
/// is cut in two.
fn prefix(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let head = &text[..text.floor_char_boundary(bytes)];
    match head.rfind('\n') {
        Some(end) => &head[..end],
        None => head,
    }
}

/// A book of five hundred pages. What comes after is not read, and the answer says so.
pub(crate) const SOURCE_BYTES: usize = 2 << 20;

/// Answers look at each word once, so they may read a large collection.
pub(crate) const ANSWER_BYTES: usize = 64 << 20;

/// Summaries and transforms compare sentences with each other, so they read less.
pub(crate) const TRANSFORM_BYTES: usize = 16 << 20;

/// Extraction looks up every field in every page, so it reads the least.
pub(crate) const EXTRACT_BYTES: usize = 4 << 20;
