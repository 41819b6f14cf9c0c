//! Answers that are Markdown, with or without a block of citations at their end. It knows no JSON
//! packet.

use sabir_base::json::Json;
use sabir_document::{Cites, Document};

use crate::citation::Citation;
use crate::problem::Problems;
use crate::wire::Wire;

/// The document that Markdown means. Marks like `[1]` are read where such a citation exists.
pub(crate) fn document(markdown: &str, citations: &[Citation]) -> Document {
    let count = u32::try_from(citations.len()).unwrap_or(u32::MAX);
    Document::from_cited_markdown(markdown, Cites::Upto(count))
}

/// Markdown, and what stood in its block of citations.
#[derive(Debug)]
pub(crate) struct Cited<'t> {
    pub(crate) markdown: &'t str,
    /// An unreadable one stands where a line looks like a citation and is none, so that the marks
    /// of the others do not move.
    pub(crate) citations: Vec<Citation>,
    /// How many lines of the block were no citation.
    pub(crate) skipped: usize,
}

/// Splits the block of citations off. Only the last block counts, and only at the end: markers in the
/// middle of an answer are words, which a page may have put there.
pub(crate) fn split_citations(text: &str) -> Cited<'_> {
    let nothing = Cited { markdown: text, citations: Vec::new(), skipped: 0 };
    let Some(body) = text.trim_end().strip_suffix(END) else { return nothing };
    if !(body.is_empty() || body.ends_with('\n')) {
        return nothing;
    }
    let Some((markdown, block)) = split_at_last_line(body, START) else { return nothing };
    let mut found = Cited { markdown, ..nothing };
    for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match read_citation(line) {
            Some(citation) => found.citations.push(citation),
            None => {
                found.skipped += 1;
                if line.starts_with('{') {
                    found.citations.push(Citation::unreadable());
                }
            }
        }
    }
    found
}

/// What stands before and behind the last line that is `marker`.
fn split_at_last_line<'t>(text: &'t str, marker: &str) -> Option<(&'t str, &'t str)> {
    text.rmatch_indices(marker).find_map(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + marker.len()..]);
        // First, so that only lines that begin with the marker are looked through.
        if !(before.is_empty() || before.ends_with('\n')) {
            return None;
        }
        let (rest_of_line, block) = behind.split_once('\n')?;
        rest_of_line.trim().is_empty().then_some((before, block))
    })
}

fn read_citation(line: &str) -> Option<Citation> {
    let json = Json::read(line, MAX_CITATION_DEPTH).ok()?;
    let mut problems = Problems::default();
    let citation = Citation::read(json.top(), &mut problems);
    citation.filter(|_| problems.is_empty())
}

pub(crate) const START: &str = "---CITATIONS---";
pub(crate) const END: &str = "---END CITATIONS---";

/// A citation with a locator.
const MAX_CITATION_DEPTH: usize = 2;
