//! For somebody with a minute: the main points, the numbers, what the sources leave open, and what to
//! verify.

use sabir_document::Inline;

use super::list_sources;
use crate::date;
use crate::draft::{Composer, Passage};
use crate::number::{self, Kind};
use crate::select::{self, key_passages, sentences};
use crate::source::Page;
use crate::summarize::warnings;
use crate::word;

pub(super) fn compose(pages: &[Page<'_>], count: usize, cut: bool, draft: &mut Composer<'_, '_>) {
    let all: Vec<usize> = (0..pages.len()).collect();
    let points = key_passages(pages, &all, count);
    draft.heading(2, "Key points");
    if points.is_empty() {
        draft.sentence("Whole sentences are not in your sources.");
    }
    say_all(draft, &points);

    let numbers = figures(pages, &points, count);
    if !numbers.is_empty() {
        draft.heading(2, "Numbers");
        say_all(draft, &numbers);
    }
    let open = open_questions(pages, count);
    let warnings = warnings(pages, cut);
    if !open.is_empty() {
        draft.heading(2, "Open questions");
        say_all(draft, &open);
    }
    if !warnings.is_empty() {
        draft.heading(2, "What to verify");
        draft.bullets(warnings.into_iter().map(|warning| vec![Inline::text(warning)]).collect());
    }
    list_sources(pages, draft);
}

fn say_all(draft: &mut Composer<'_, '_>, passages: &[Passage]) {
    let items = passages.iter().map(|passage| draft.say(passage)).collect();
    draft.bullets(items);
}

/// The most telling sentences with numbers that are not among the points.
fn figures(pages: &[Page<'_>], points: &[Passage], count: usize) -> Vec<Passage> {
    let all: Vec<usize> = (0..pages.len()).collect();
    let mut candidates = select::candidates(pages, &all);
    candidates.retain(|candidate| {
        !points.iter().any(|point| point.overlaps(&candidate.passage))
            && weighs(candidate.passage.text(pages))
    });
    let mut chosen = select::best(pages, &candidates, count);
    chosen.sort_unstable();
    chosen.into_iter().map(|at| select::with_lead(pages, candidates[at].passage.clone())).collect()
}

/// Whether a sentence has a number that measures something.
fn weighs(sentence: &str) -> bool {
    let dates = date::find(sentence);
    number::find(sentence).iter().any(|found| match found.kind {
        Kind::Money | Kind::Percent => true,
        Kind::Plain => {
            found.value() >= 10.0
                && !dates.iter().any(|date| date.range.contains(&found.range.start))
                && !(1500.0..2100.0).contains(&found.value())
        }
    })
}

fn open_questions(pages: &[Page<'_>], count: usize) -> Vec<Passage> {
    sentences(pages)
        .filter(|(_, _, sentence)| {
            let words = word::count(sentence);
            (5..=60).contains(&words) && {
                let lower = format!(" {} ", word::folded_text(sentence));
                sentence.ends_with('?') || OPEN.iter().any(|phrase| lower.contains(phrase))
            }
        })
        .map(|(passage, _, _)| passage)
        .take(count)
        .collect()
}

const OPEN: &[&str] = &[
    " unclear ",
    " not yet known ",
    " unknown ",
    " remains to be seen ",
    " not yet decided ",
    " undecided ",
    " open question ",
    " it is not known ",
    " no one knows ",
    " has not been decided ",
    " unklar ",
    " unbekannt ",
    " noch offen ",
    " inconnu ",
    " se desconoce ",
    " no esta claro ",
    " still debated ",
    " disputed ",
];
