//! How well texts match a question: BM25, where a word in a title counts more than one in a heading,
//! and that more than one in the body. It knows words, no meanings.

use std::collections::BTreeMap;

/// What is compared with the question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) title: &'a str,
    pub(super) markdown: &'a str,
}

/// One score for each candidate; zero where no word of the question occurs.
pub(super) fn scores(question: &str, candidates: &[Candidate<'_>]) -> Vec<f64> {
    let terms = terms(question);
    let counted: Vec<Counted> =
        candidates.iter().map(|candidate| count(candidate, &terms)).collect();
    let total = candidates.len() as f64;
    let length: f64 = counted.iter().map(|counted| counted.length).sum();
    let average = (length / total.max(1.0)).max(1.0);
    let rarity: Vec<f64> = (0..terms.len())
        .map(|term| {
            let holding =
                counted.iter().filter(|counted| counted.weights[term] > 0.0).count() as f64;
            ((total - holding + 0.5) / (holding + 0.5)).ln_1p()
        })
        .collect();
    counted
        .iter()
        .map(|counted| {
            let long = K * (1.0 - B + B * counted.length / average);
            counted.weights.iter().zip(&rarity).map(|(w, r)| r * w * (K + 1.0) / (w + long)).sum()
        })
        .collect()
}

/// The candidates from the best to the worst; equal ones stay in their order.
pub(super) fn best_first(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order
}

struct Counted {
    /// By term.
    weights: Vec<f64>,
    length: f64,
}

/// The words of the question, each with its number.
fn terms(question: &str) -> BTreeMap<String, usize> {
    let mut terms = BTreeMap::new();
    each_word(question, |word| {
        let next = terms.len();
        if next < MAX_TERMS && !terms.contains_key(word) {
            terms.insert(word.to_owned(), next);
        }
    });
    terms
}

fn count(candidate: &Candidate<'_>, terms: &BTreeMap<String, usize>) -> Counted {
    let mut counted = Counted { weights: vec![0.0; terms.len()], length: 0.0 };
    let mut add = |text: &str, weight: f64| {
        each_word(text, |word| {
            counted.length += 1.0;
            if let Some(term) = terms.get(word) {
                counted.weights[*term] += weight;
            }
        });
    };
    add(candidate.title, TITLE);
    for line in candidate.markdown.lines() {
        add(line, if line.starts_with('#') { HEADING } else { 1.0 });
    }
    counted
}

/// In lower case and without a plural's s. Scripts without spaces give one word a character.
fn each_word(text: &str, mut see: impl FnMut(&str)) {
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        let ideograph = matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}');
        if c.is_alphanumeric() && !ideograph {
            // A word of a megabyte is none.
            if word.len() < MAX_WORD {
                word.extend(c.to_lowercase());
            }
            continue;
        }
        if !word.is_empty() {
            see(stem(&word));
            word.clear();
        }
        if ideograph {
            word.push(c);
            see(&word);
            word.clear();
        }
    }
}

fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with('s') => stem,
        _ => word,
    }
}

/// How soon a word that comes again stops counting, and how much length is held against a text:
/// the values that everybody uses.
const K: f64 = 1.2;
const B: f64 = 0.75;

const TITLE: f64 = 4.0;
const HEADING: f64 = 2.0;

/// More than a question has; a page that was pasted in place of one is cut here.
const MAX_TERMS: usize = 256;
const MAX_WORD: usize = 64;
