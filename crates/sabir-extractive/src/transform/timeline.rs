//! Every date that the sources name, in order, with the sentence that names it.

use std::collections::BTreeSet;

use sabir_document::Inline;

use crate::date::{self, Found};
use crate::draft::{Composer, Passage, strong};
use crate::select::{sentences, with_lead};
use crate::source::Page;
use crate::word;

pub(super) fn compose(pages: &[Page<'_>], count: usize, draft: &mut Composer<'_, '_>) {
    let mut entries: Vec<(Found, Passage)> = Vec::new();
    let mut seen = BTreeSet::new();
    for (passage, _, sentence) in sentences(pages) {
        // A sentence stands once, under its first date: the others are told in it.
        let Some(found) = date::find(sentence).into_iter().next() else { continue };
        if seen.insert((found.date, word::folded_text(sentence))) {
            entries.push((found, passage));
        }
        if entries.len() >= DATES {
            break;
        }
    }
    // Stable: of the same day, the source that was given first is told first.
    entries.sort_by_key(|(found, _)| found.date);
    if entries.is_empty() {
        draft.sentence("Dates are not in your sources.");
        return;
    }
    let left_out = entries.len().saturating_sub(count);
    let mut rows = Vec::new();
    for (found, passage) in spread(&entries, count) {
        let when = match found.until {
            Some(until) => format!("{} to {until}", found.date),
            None => found.date.to_string(),
        };
        rows.push(vec![vec![strong(when)], draft.say(&with_lead(pages, passage.clone()))]);
    }
    draft.table(vec![vec![Inline::text("Date")], vec![Inline::text("What the source says")]], rows);
    if left_out > 0 {
        draft.sentence(format!("Dates of the sources that are not shown: {left_out}."));
    }
}

/// `count` of the entries, evenly over the whole time.
fn spread<T>(entries: &[T], count: usize) -> impl Iterator<Item = &T> {
    let total = entries.len();
    let shown = count.min(total);
    (0..shown).map(move |at| &entries[at * total / shown])
}

/// More dates than anybody wants in order.
const DATES: usize = 20_000;
