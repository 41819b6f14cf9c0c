//! What to learn from the sources: terms with what they are, the main points, and questions whose
//! answers can be looked up.

use sabir_document::Inline;

use super::definition::definitions;
use crate::draft::{Composer, Passage, one_line, strong};
use crate::select::key_passages;
use crate::source::Page;

pub(super) fn compose(pages: &[Page<'_>], count: usize, draft: &mut Composer<'_, '_>) {
    let defined = definitions(pages, count);
    if !defined.is_empty() {
        draft.heading(2, "Key terms");
        let items = defined
            .iter()
            .map(|known| {
                let mut line = vec![strong(known.term.clone()), Inline::text(": ")];
                line.extend(draft.say(&known.passage));
                line
            })
            .collect();
        draft.bullets(items);
    }
    let all: Vec<usize> = (0..pages.len()).collect();
    let points = key_passages(pages, &all, count);
    draft.heading(2, "Key points");
    if points.is_empty() {
        draft.sentence("Whole sentences are not in your sources.");
    }
    let items = points.iter().map(|passage| draft.say(passage)).collect();
    draft.bullets(items);

    let mut questions: Vec<Vec<Inline>> = Vec::new();
    for known in &defined {
        let mut line =
            vec![Inline::text(format!("What does the source say about “{}”?", known.term))];
        line.extend(draft.cite(&known.passage));
        questions.push(line);
    }
    for (heading, passage) in sections(pages).take(count.saturating_sub(questions.len())) {
        let mut line =
            vec![Inline::text(format!("What is said under “{}”?", one_line(&heading, 120)))];
        line.extend(draft.cite(&passage));
        questions.push(line);
    }
    if !questions.is_empty() {
        draft.heading(2, "Questions");
        draft.numbered(questions);
    }
}

/// The headings that text follows, with the first sentence of it.
fn sections<'p>(pages: &'p [Page<'_>]) -> impl Iterator<Item = (String, Passage)> + 'p {
    pages.iter().enumerate().flat_map(|(page, read)| {
        let pairs = read.text.units.windows(2).enumerate();
        pairs.filter_map(move |(number, pair)| {
            let level = pair[0].level().filter(|level| *level > 1)?;
            let range =
                pair[1].sentences.first().filter(|_| level <= 6 && pair[1].level().is_none())?;
            let passage = Passage { page, unit: number + 1, range: range.clone() };
            Some((pair[0].text.clone(), passage))
        })
    })
}
