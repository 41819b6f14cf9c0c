//! The sources beside each other. An aspect is a label or a heading that at least two of them have;
//! when there are few, a word that many of them use.

use std::collections::{BTreeMap, HashMap};

use sabir_document::Inline;

use crate::draft::{Composer, Passage, one_line, strong};
use crate::labels::pairs;
use crate::language::Language;
use crate::number;
use crate::select::sentences;
use crate::source::Page;
use crate::word;

pub(super) fn compose(pages: &[Page<'_>], count: usize, draft: &mut Composer<'_, '_>) {
    let count = count.min(COLUMNS);
    let mut aspects = shared(pages, labelled(pages), count);
    if aspects.len() < count {
        let more = shared(pages, headed(pages), count - aspects.len());
        let known: Vec<String> = aspects.iter().map(|aspect| aspect.name.to_lowercase()).collect();
        aspects.extend(more.into_iter().filter(|more| !known.contains(&more.name.to_lowercase())));
    }
    if aspects.len() < FEW {
        let more = words(pages, FEW.min(count) - aspects.len().min(count));
        aspects.extend(more);
    }
    if aspects.is_empty() {
        draft.sentence("Aspects that two sources share are not in your sources.");
        return;
    }
    let mut header = vec![vec![Inline::text("Source")]];
    header.extend(aspects.iter().map(|aspect| vec![Inline::text(one_line(&aspect.name, 60))]));
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (page, read) in pages.iter().enumerate() {
        let empty = !aspects.iter().any(|aspect| aspect.cells.contains_key(&page));
        if empty || rows.len() == ROWS || !draft.has_room() {
            left_out += 1;
            continue;
        }
        let mut row = vec![vec![strong(one_line(read.name(), 80))]];
        for aspect in &aspects {
            row.push(match aspect.cells.get(&page) {
                Some(Cell { shown: Some(value), passage }) => {
                    let mut cell = vec![Inline::text(one_line(value, 200))];
                    cell.extend(draft.cite(passage));
                    cell
                }
                Some(Cell { shown: None, passage }) => draft.say(passage),
                None => vec![Inline::text("—")],
            });
        }
        rows.push(row);
    }
    draft.table(header, rows);
    if left_out > 0 {
        draft.sentence(format!(
            "Sources left out, because they say nothing about these aspects or did not fit: {left_out}."
        ));
    }
}

struct Aspect {
    name: String,
    /// By page, so that a page has one.
    cells: BTreeMap<usize, Cell>,
}

#[derive(Debug)]
struct Cell {
    /// The value alone, where the passage also holds its label.
    shown: Option<String>,
    passage: Passage,
}

/// What each source says under which name, in the order of the sources.
type Entries = Vec<(String, Cell)>;

fn labelled(pages: &[Page<'_>]) -> Entries {
    let pairs = pairs(pages).into_iter();
    pairs.map(|pair| (pair.name, Cell { shown: Some(pair.value), passage: pair.passage })).collect()
}

fn headed(pages: &[Page<'_>]) -> Entries {
    let mut entries = Vec::new();
    for (passage, unit, _) in sentences(pages) {
        let text = &pages[passage.page].text;
        let Some(heading) = unit.heading.and_then(|heading| text.units.get(heading)) else {
            continue;
        };
        // The first sentence under the heading, which only its own unit can hold.
        let is_first = unit.heading == passage.unit.checked_sub(1)
            && unit.sentences.first().is_some_and(|first| *first == passage.range);
        if is_first && heading.level() > Some(1) {
            entries.push((heading.text.clone(), Cell { shown: None, passage }));
        }
    }
    entries
}

/// The names that at least two sources have, those of the most sources first.
fn shared(pages: &[Page<'_>], entries: Entries, count: usize) -> Vec<Aspect> {
    let mut aspects: Vec<Aspect> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (name, cell) in entries {
        let key = word::terms(&name).join(" ");
        if key.is_empty() {
            continue;
        }
        let number = *known.entry(key).or_insert_with(|| {
            aspects.push(Aspect { name, cells: BTreeMap::new() });
            aspects.len() - 1
        });
        aspects[number].cells.entry(cell.passage.page).or_insert(cell);
    }
    let least = pages.len().min(2);
    aspects.retain(|aspect| aspect.cells.len() >= least);
    // Stable: of equals, the one that occurs first.
    aspects.sort_by_key(|aspect| std::cmp::Reverse(aspect.cells.len()));
    aspects.truncate(count);
    aspects
}

/// A word, and for each page whether its sentence has a number, and the sentence.
struct Used {
    word: String,
    by_page: BTreeMap<usize, (bool, Passage)>,
}

/// Words that several sources use, each with the sentence that says it, preferably with a number.
fn words(pages: &[Page<'_>], count: usize) -> Vec<Aspect> {
    let mut found: Vec<Used> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut read = 0;
    for (passage, _, sentence) in sentences(pages) {
        read += sentence.len();
        if read > WORD_BYTES {
            break;
        }
        let language = Language::of(sentence);
        let measured = !number::find(sentence).is_empty();
        word::for_each_term(sentence, |term, range| {
            let written = &sentence[range];
            if language.is_stop(&word::folded(written)) || written.chars().count() < 4 {
                return;
            }
            let number = *known.entry(term.to_owned()).or_insert_with(|| {
                found.push(Used { word: written.to_lowercase(), by_page: BTreeMap::new() });
                found.len() - 1
            });
            let cell =
                found[number].by_page.entry(passage.page).or_insert((measured, passage.clone()));
            if measured && !cell.0 {
                *cell = (measured, passage.clone());
            }
        });
    }
    found.retain(|used| used.by_page.len() >= 2);
    found.sort_by_key(|used| {
        let measured = used.by_page.values().filter(|(measured, _)| *measured).count();
        std::cmp::Reverse((used.by_page.len(), measured))
    });
    let mut told: Vec<Used> = Vec::new();
    for used in found {
        if told.len() == count {
            break;
        }
        // A word that only ever stands beside another one says nothing new.
        let is_new = |known: &Used| {
            used.by_page.iter().any(|(page, (_, passage))| {
                known.by_page.get(page).is_none_or(|(_, other)| other != passage)
            })
        };
        if told.iter().all(is_new) {
            told.push(used);
        }
    }
    told.into_iter()
        .map(|used| {
            let cells = used.by_page.into_iter();
            let cells = cells.map(|(page, (_, passage))| (page, Cell { shown: None, passage }));
            Aspect { name: used.word, cells: cells.collect() }
        })
        .collect()
}

/// With fewer aspects than this, words are compared, too.
const FEW: usize = 3;

/// A longer table is not a comparison.
const ROWS: usize = 30;

/// Enough to find what the sources share.
const WORD_BYTES: usize = 2 << 20;

/// A wider table fits on no page.
const COLUMNS: usize = 8;
