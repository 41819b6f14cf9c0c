//! How well a sentence matches a question: BM25 over the sentences, with headings, titles, table
//! headers and neighbours as weaker fields. Each word of the collection is looked at once.

use crate::boilerplate::is_boilerplate;
use crate::draft::Passage;
use crate::question::{Question, TERMS};
use crate::rank::to_f64;
use crate::select::leans_back;
use crate::source::Page;
use crate::text::{Kind, Text, Unit};
use crate::word;

/// A sentence that holds at least one word of the question. The masks have a bit for each term.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) page: usize,
    pub(super) unit: usize,
    pub(super) sentence: usize,
    pub(super) mask: u64,
    /// What the sentences beside it hold.
    pub(super) near: u64,
    /// For an item of a list: what the heading or the line that introduces the list holds.
    pub(super) led: u64,
    /// What the headings, the title and the header of the table hold.
    pub(super) above: u64,
    length: usize,
}

impl Hit {
    pub(super) fn passage(&self, pages: &[Page<'_>]) -> Passage {
        let unit = &pages[self.page].text.units[self.unit];
        let range = unit.sentences[self.sentence].clone();
        Passage { page: self.page, unit: self.unit, range }
    }
}

#[derive(Debug)]
pub(super) struct Scan {
    pub(super) hits: Vec<Hit>,
    /// How much each term tells a sentence from the others.
    weights: [f64; TERMS],
    mean_length: f64,
    /// The terms that occur anywhere, titles included.
    seen: u64,
}

impl Scan {
    pub(super) fn new(pages: &[Page<'_>], asked: &Question) -> Self {
        let mut scan = Self { hits: Vec::new(), weights: [0.0; TERMS], mean_length: 1.0, seen: 0 };
        let mut counts = [0_usize; TERMS];
        let mut sentences = 0;
        let mut length = 0;
        for (number, page) in pages.iter().enumerate() {
            let title = mask(asked, &page.source.title).0;
            scan.seen |= title;
            scan.read_page(number, &page.text, title, asked, &mut |mask, words| {
                sentences += 1;
                length += words;
                for (term, count) in counts.iter_mut().enumerate() {
                    *count += usize::from(mask >> term & 1 == 1);
                }
            });
        }
        for (weight, count) in scan.weights.iter_mut().zip(counts) {
            let (all, holding) = (to_f64(sentences), to_f64(count));
            *weight = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
        }
        scan.mean_length = to_f64(length) / to_f64(sentences).max(1.0);
        scan
    }

    pub(super) fn score(&self, asked: &Question, hit: &Hit) -> f64 {
        let length = to_f64(hit.length) / self.mean_length.max(1.0);
        let own = (SATURATION + 1.0) / (1.0 + SATURATION * (1.0 - LENGTH + LENGTH * length));
        let near = hit.near & !hit.mask;
        let above = hit.above & !hit.mask & !hit.near;
        let early = 1.0 + 0.1 / (1.0 + to_f64(hit.unit));
        early
            * (own * self.sum(asked, hit.mask, EARLIER)
                + NEAR * self.sum(asked, near, EARLIER)
                + ABOVE * self.sum(asked, above, EARLIER))
    }

    /// Whether the passage holds enough of the question to be an answer, by the weight of the words:
    /// a share of all of them, and something in the sentence itself.
    pub(super) fn supports(&self, asked: &Question, hit: &Hit) -> bool {
        let all = self.sum(asked, u64::MAX, 0.0);
        let held = hit.mask | hit.near | hit.above;
        let exact_missing = asked
            .terms
            .iter()
            .enumerate()
            .any(|(at, term)| term.is_exact && !term.is_earlier && held >> at & 1 == 0);
        let wanted = if exact_missing { ENOUGH_WITHOUT_NAME } else { ENOUGH };
        all > 0.0
            && self.sum(asked, held, 0.0) >= wanted * all
            && self.sum(asked, hit.mask | hit.led, EARLIER) >= OWN * all
    }

    /// The words of the question that no source has.
    pub(super) fn unknown_words<'q>(&self, asked: &'q Question) -> Vec<&'q str> {
        let unknown = asked.terms.iter().enumerate();
        unknown
            .filter(|(at, term)| self.seen >> at & 1 == 0 && !term.is_earlier)
            .map(|(_, term)| term.word.as_str())
            .take(UNKNOWN)
            .collect()
    }

    fn sum(&self, asked: &Question, mask: u64, earlier: f64) -> f64 {
        let terms = asked.terms.iter().zip(self.weights).enumerate();
        terms
            .filter(|(at, _)| mask >> at & 1 == 1)
            .map(|(_, (term, weight))| if term.is_earlier { earlier * weight } else { weight })
            .sum()
    }

    fn read_page(
        &mut self,
        page: usize,
        text: &Text,
        title: u64,
        asked: &Question,
        count: &mut dyn FnMut(u64, usize),
    ) {
        // The masks of headings, so that each is read once however much stands under it.
        let mut headings: Vec<u64> = vec![0; text.units.len()];
        let headers: Vec<u64> =
            text.tables.iter().map(|grid| mask(asked, &grid.header.join(" ")).0).collect();
        let mut own_headings: Vec<u64> = vec![0; text.units.len()];
        let mut announced = 0;
        for (number, unit) in text.units.iter().enumerate() {
            let over = unit.heading.map_or(0, |heading| headings[heading]);
            if unit.level().is_some() {
                let own = mask(asked, &unit.text).0;
                headings[number] = over | own;
                // The name of the page introduces all of it, and no list in particular.
                own_headings[number] = if unit.level() == Some(1) { 0 } else { own };
                self.seen |= headings[number];
                announced = 0;
                continue;
            }
            if is_boilerplate(unit) {
                continue;
            }
            let masks: Vec<(u64, usize)> =
                (0..unit.sentences.len()).map(|at| mask(asked, unit.sentence(at))).collect();
            let header = match unit.kind {
                Kind::Row { table, .. } => headers[table],
                Kind::Heading { .. } | Kind::Prose | Kind::Item => 0,
            };
            let led = match (unit.kind, unit.heading) {
                (Kind::Item, Some(heading)) => announced | own_headings[heading],
                (Kind::Item, None) => announced,
                (Kind::Heading { .. } | Kind::Prose | Kind::Row { .. }, _) => 0,
            };
            for (at, &(own, own_length)) in masks.iter().enumerate() {
                count(own, own_length);
                // A sentence with a pronoun is told together with the one before it.
                let (mask, length) = match at.checked_sub(1).map(|before| masks[before]) {
                    Some((before, words)) if own != 0 && leans_back(unit.sentence(at)) => {
                        (own | before, own_length + words / 2)
                    }
                    _ => (own, own_length),
                };
                self.seen |= mask | header;
                if mask == 0 && led == 0 {
                    continue;
                }
                let previous = at.checked_sub(1).map_or(led, |at| masks[at].0);
                let next = masks.get(at + 1).map_or(0, |next| next.0);
                let (near, above) = (previous | next, title | over | header);
                self.hits.push(Hit {
                    page,
                    unit: number,
                    sentence: at,
                    mask,
                    near,
                    led,
                    above,
                    length,
                });
            }
            if unit.kind == Kind::Prose {
                announced = match masks.last() {
                    Some(&(last, _)) if announces(unit) => last,
                    _ => 0,
                };
            }
        }
    }
}

/// Whether a paragraph only introduces the list behind it.
fn announces(unit: &Unit) -> bool {
    unit.text.trim_end().ends_with(':')
}

/// Which terms of the question `text` holds, and how many words it has.
fn mask(asked: &Question, text: &str) -> (u64, usize) {
    let mut mask = 0;
    let mut words = 0;
    word::for_each_term(text, |term, _| {
        words += 1;
        if let Some(number) = asked.term(term) {
            mask |= 1 << number;
        }
    });
    (mask, words)
}

/// How quickly a long sentence loses, and how much its length counts: the usual values of BM25.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;

/// What a word counts in the sentence beside, and in a heading or title.
const NEAR: f64 = 0.5;
const ABOVE: f64 = 0.4;

/// What a word of an earlier question counts.
const EARLIER: f64 = 0.5;

/// The share of the question's words, by weight, that a passage must hold.
const ENOUGH: f64 = 0.55;

/// A name or a number that is missing must be outweighed by nearly everything else.
const ENOUGH_WITHOUT_NAME: f64 = 0.8;

/// The share that must stand in the sentence itself, not only beside or above it.
const OWN: f64 = 0.2;

/// What fits on a line.
const UNKNOWN: usize = 8;
