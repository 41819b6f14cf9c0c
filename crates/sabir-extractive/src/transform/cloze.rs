//! A sentence with a hole: the number or the term that was taken out, and others that could have stood
//! there. The hole is the only change.

use std::ops::Range;

use super::definition::definitions;
use crate::draft::Passage;
use crate::number;
use crate::select;
use crate::source::Page;

#[derive(Debug)]
pub(super) struct Cloze {
    pub(super) passage: Passage,
    /// The hole, within the words of the passage.
    pub(super) hole: Range<usize>,
    pub(super) wrong: Vec<String>,
}

impl Cloze {
    pub(super) fn answer<'p>(&self, pages: &'p [Page<'_>]) -> &'p str {
        &self.passage.text(pages)[self.hole.clone()]
    }

    pub(super) fn question(&self, pages: &[Page<'_>]) -> String {
        let text = self.passage.text(pages);
        format!("{}____{}", &text[..self.hole.start], &text[self.hole.end..])
    }
}

/// At most `count` holes in the sentences that say the most.
pub(super) fn clozes(pages: &[Page<'_>], count: usize) -> Vec<Cloze> {
    let all: Vec<usize> = (0..pages.len()).collect();
    let defined = definitions(pages, TERMS);
    let terms: Vec<(&str, usize)> =
        defined.iter().map(|known| (known.term.as_str(), known.passage.page)).collect();
    let mut made: Vec<(Passage, Range<usize>)> = Vec::new();
    for known in &defined {
        let text = known.passage.text(pages);
        // A term that comes again answers its own question.
        if let Some(at) =
            text.find(&known.term).filter(|_| text.matches(&known.term).nth(1).is_none())
        {
            made.push((known.passage.clone(), at..at + known.term.len()));
        }
    }
    let mut candidates = select::candidates(pages, &all);
    candidates.retain(|candidate| {
        let text = candidate.passage.text(pages);
        let known = made.iter().any(|(passage, _)| *passage == candidate.passage);
        !known && !select::leans_back(text) && number::find(text).len() == 1
    });
    let numbers: Vec<(&str, usize)> = candidates
        .iter()
        .filter_map(|candidate| {
            let text = candidate.passage.text(pages);
            let found = number::find(text).into_iter().next()?;
            Some((&text[found.range], candidate.passage.page))
        })
        .collect();
    for at in select::best(pages, &candidates, count) {
        let passage = &candidates[at].passage;
        if let Some(found) = number::find(passage.text(pages)).into_iter().next() {
            made.push((passage.clone(), found.range));
        }
    }
    made.sort_by_key(|(passage, _)| (passage.page, passage.unit, passage.range.start));
    let step = made.len().div_ceil(count).max(1);
    made.into_iter()
        .step_by(step)
        .take(count)
        .map(|(passage, hole)| {
            let answer = &passage.text(pages)[hole.clone()];
            let is_number = answer.contains(|c: char| c.is_ascii_digit());
            let wrong =
                distractors(answer, passage.page, if is_number { &numbers } else { &terms });
            Cloze { passage, hole, wrong }
        })
        .collect()
}

/// Three other values, those of the same form and of other sources first.
fn distractors(answer: &str, page: usize, values: &[(&str, usize)]) -> Vec<String> {
    let mut wrong: Vec<String> = Vec::new();
    let mut values: Vec<&(&str, usize)> = values.iter().collect();
    // Stable: those that look like the answer, of other sources, in their order.
    values.sort_by_key(|(value, from)| (form(value) != form(answer), *from == page));
    for (value, _) in values {
        let is_new =
            !value.eq_ignore_ascii_case(answer) && !wrong.iter().any(|known| known == value);
        if is_new {
            wrong.push((*value).to_owned());
        }
        if wrong.len() == WRONG {
            break;
        }
    }
    wrong
}

/// What can be told from a value without knowing what it is.
fn form(value: &str) -> (Option<number::Kind>, bool) {
    let number = number::find(value).into_iter().next();
    let is_year = value.len() == 4 && value.bytes().all(|byte| byte.is_ascii_digit());
    (number.map(|number| number.kind), is_year)
}

const TERMS: usize = 60;
const WRONG: usize = 3;
