//! A section for each theme. A theme is a heading, together with the headings of other sources that
//! have the same words.

use std::collections::HashMap;

use super::list_sources;
use crate::draft::Composer;
use crate::select::{self, Candidate, key_passages};
use crate::source::Page;
use crate::word;

pub(super) fn compose(pages: &[Page<'_>], count: usize, draft: &mut Composer<'_, '_>) {
    let all: Vec<usize> = (0..pages.len()).collect();
    let summary = key_passages(pages, &all, SUMMARY);
    draft.heading(2, "Summary");
    if summary.is_empty() {
        draft.sentence("Whole sentences are not in your sources.");
    }
    let items = summary.iter().map(|passage| draft.say(passage)).collect();
    draft.bullets(items);

    for theme in themes(pages, count) {
        let mut chosen = select::best(pages, &theme.candidates, PASSAGES);
        chosen.sort_unstable();
        draft.heading(2, &theme.name);
        for at in chosen {
            let said = draft.say(&theme.candidates[at].passage);
            draft.paragraph(said);
        }
    }
    list_sources(pages, draft);
}

struct Theme {
    name: String,
    pages: Vec<usize>,
    candidates: Vec<Candidate>,
}

/// The themes that the most sources have, in the order in which they first occur. A page without
/// headings is a theme of its own.
fn themes(pages: &[Page<'_>], count: usize) -> Vec<Theme> {
    let all: Vec<usize> = (0..pages.len()).collect();
    let mut themes: Vec<Theme> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for candidate in select::candidates(pages, &all) {
        let page = candidate.passage.page;
        let text = &pages[page].text;
        let unit = &text.units[candidate.passage.unit];
        let name = match text.headings_above(unit).next() {
            Some(heading) => heading.text.as_str(),
            None => pages[page].name(),
        };
        let mut terms = word::terms(name);
        terms.sort_unstable();
        let number = *known.entry(terms.join(" ")).or_insert_with(|| {
            themes.push(Theme { name: name.to_owned(), pages: Vec::new(), candidates: Vec::new() });
            themes.len() - 1
        });
        let theme = &mut themes[number];
        if theme.pages.last() != Some(&page) {
            theme.pages.push(page);
        }
        theme.candidates.push(candidate);
    }
    let mut order: Vec<usize> = (0..themes.len()).collect();
    order.sort_by_key(|&at| {
        let theme = &themes[at];
        std::cmp::Reverse((theme.pages.len(), theme.candidates.len().min(PASSAGES)))
    });
    order.truncate(count);
    let mut at = 0;
    themes.retain(|_| {
        at += 1;
        order.contains(&(at - 1))
    });
    themes
}

/// What a summary of a report has.
const SUMMARY: usize = 4;

/// A section says its theme in these.
const PASSAGES: usize = 4;
