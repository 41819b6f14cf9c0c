//! The sentences of a collection that say the most. It is shared by summaries and transforms and
//! writes nothing.

use crate::boilerplate::{is_boilerplate, stands_alone};
use crate::draft::Passage;
use crate::language::Language;
use crate::rank::{self, Node, to_f64};
use crate::source::Page;
use crate::text::{Kind, Unit};
use crate::word::Vocabulary;

/// At most `count` passages of the given pages, in the order of the sources.
pub(crate) fn key_passages(pages: &[Page<'_>], within: &[usize], count: usize) -> Vec<Passage> {
    let candidates = candidates(pages, within);
    let mut chosen = best(pages, &candidates, count);
    chosen.sort_unstable();
    chosen.into_iter().map(|at| with_lead(pages, candidates[at].passage.clone())).collect()
}

/// The first lines, items and rows of the pages: what there is of a page without sentences.
pub(crate) fn first_lines(pages: &[Page<'_>], count: usize) -> Vec<Passage> {
    let lines = sentences(pages).filter(|(_, _, line)| line.chars().any(char::is_alphanumeric));
    lines.map(|(passage, ..)| passage).take(count).collect()
}

/// The best of the candidates, as indices, the best first.
pub(crate) fn best(pages: &[Page<'_>], candidates: &[Candidate], count: usize) -> Vec<usize> {
    let mut vocabulary = Vocabulary::default();
    let mut language = Language::English;
    let mut page = None;
    let nodes: Vec<Node> = candidates
        .iter()
        .map(|candidate| {
            if page != Some(candidate.passage.page) {
                page = Some(candidate.passage.page);
                language = Language::of(candidate.passage.text(pages));
            }
            let terms =
                vocabulary.number(candidate.passage.text(pages), |word| language.is_stop(word));
            Node { terms, prior: candidate.prior }
        })
        .collect();
    rank::choose(&nodes, &rank::rank(&nodes), count)
}

/// A sentence that may be chosen.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) passage: Passage,
    prior: f64,
}

/// The sentences of the pages that can stand alone, at most [`CANDIDATES`]: of each page as many, and
/// of a long page those that are spread evenly over it.
pub(crate) fn candidates(pages: &[Page<'_>], within: &[usize]) -> Vec<Candidate> {
    let share = (CANDIDATES / within.len().max(1)).max(1);
    let mut candidates = Vec::new();
    for &page in within {
        let all = of_page(pages, page);
        let step = all.len().div_ceil(share).max(1);
        candidates.extend(all.into_iter().step_by(step));
        if candidates.len() >= CANDIDATES {
            candidates.truncate(CANDIDATES);
            break;
        }
    }
    candidates
}

fn of_page(pages: &[Page<'_>], page: usize) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (index, unit) in pages[page].text.units.iter().enumerate() {
        let weight = match unit.kind {
            Kind::Prose => 1.0,
            Kind::Item => 0.8,
            Kind::Heading { .. } | Kind::Row { .. } => continue,
        };
        if is_boilerplate(unit) {
            continue;
        }
        for (number, range) in unit.sentences.iter().enumerate() {
            let sentence = unit.sentence(number);
            if !stands_alone(sentence) {
                continue;
            }
            // The first sentence of a paragraph says what it is about; a sentence that begins with a
            // pronoun says it about something else.
            let lead = if number == 0 { 1.15 } else { 1.0 };
            let leaning = if leans_back(sentence) { 0.5 } else { 1.0 };
            let passage = Passage { page, unit: index, range: range.clone() };
            found.push(Candidate { passage, prior: weight * lead * leaning });
        }
    }
    // What stands early is more often the point.
    let total = to_f64(found.len()).max(1.0);
    for (at, candidate) in found.iter_mut().enumerate() {
        candidate.prior *= 1.6 - 0.8 * (to_f64(at) / total);
    }
    found
}

/// The sentences that may be cited, in the order of the sources.
pub(crate) fn sentences<'p>(
    pages: &'p [Page<'_>],
) -> impl Iterator<Item = (Passage, &'p Unit, &'p str)> {
    pages.iter().enumerate().flat_map(|(page, read)| {
        let units = read.text.units.iter().enumerate();
        let told = units.filter(|(_, unit)| unit.level().is_none() && !is_boilerplate(unit));
        told.flat_map(move |(number, unit)| {
            unit.sentences.iter().map(move |range| {
                let passage = Passage { page, unit: number, range: range.clone() };
                (passage, unit, &unit.text[range.clone()])
            })
        })
    })
}

/// The sentence, with the one before it when it begins with a pronoun. The two stand next to each
/// other, so that they are one quote.
pub(crate) fn with_lead(pages: &[Page<'_>], passage: Passage) -> Passage {
    let unit = &pages[passage.page].text.units[passage.unit];
    if !leans_back(passage.text(pages)) {
        return passage;
    }
    // Sentences stand in order, so that the one before is found without looking at all of them.
    let number = unit.sentences.partition_point(|range| range.start < passage.range.start);
    match number.checked_sub(1).and_then(|before| unit.sentences.get(before)) {
        Some(before) if passage.range.end - before.start <= LEAD_BYTES => {
            Passage { range: before.start..passage.range.end, ..passage }
        }
        _ => passage,
    }
}

/// Whether a sentence needs the one before it to be understood.
pub(crate) fn leans_back(sentence: &str) -> bool {
    let first = sentence
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    first.len() <= LONGEST_PRONOUN && LEANING.contains(&&*first.to_lowercase())
}

/// Two sentences that still are a quote.
const LEAD_BYTES: usize = 600;

const LONGEST_PRONOUN: usize = 12;

const LEANING: &[&str] = &[
    "it",
    "its",
    "they",
    "their",
    "them",
    "he",
    "his",
    "she",
    "her",
    "this",
    "these",
    "those",
    "that",
    "such",
    "however",
    "but",
    "also",
    "therefore",
    "thus",
    "er",
    "sie",
    "es",
    "dieser",
    "diese",
    "dieses",
    "dies",
    "das",
    "ihr",
    "ihre",
    "sein",
    "seine",
    "jedoch",
    "il",
    "elle",
    "ils",
    "elles",
    "cela",
    "cette",
    "ces",
    "celui",
    "ello",
    "ella",
    "ellos",
    "ellas",
    "esto",
    "esta",
    "este",
    "estos",
];

/// Comparing each with each stays in the milliseconds.
const CANDIDATES: usize = 400;
