//! `web.answer`: the sentences of the sources that hold the words of the question. It says so when
//! there are none, and never says yes or no: that would be a claim of its own.

use sabir_document::Inline;

use crate::draft::{Composer, Draft, Passage};
use crate::language::Language;
use crate::question::{Kind, Question};
use crate::source::{self, Page, Source};
use crate::word::Vocabulary;
use crate::{evidence, number, rank, select};

mod score;

use score::{Hit, Scan};

/// Answers `question` from the sources. `earlier` are the questions of the same conversation, the
/// latest last.
pub fn answer(sources: &[Source], question: &str, earlier: &[&str]) -> Draft {
    let reading = source::read(sources, source::ANSWER_BYTES);
    let pages = &reading.pages;
    let asked = Question::parse(question, earlier);
    if asked.kind == Kind::Overview {
        return overview(pages);
    }
    let scan = Scan::new(pages, &asked);
    let found = best_findings(pages, &asked, &scan);
    if found.is_empty() {
        return not_found(pages, &asked, &scan, reading.cut);
    }
    let mut draft = Composer::new(pages);
    let mut said: Vec<Vec<Inline>> = Vec::new();
    for finding in &found {
        let mut inlines = draft.say(&finding.passage);
        for same in &finding.repeated {
            inlines.extend(draft.cite(same));
        }
        said.push(inlines);
    }
    let mut said = said.into_iter();
    if let Some(first) = said.next() {
        draft.paragraph(first);
    }
    let rest: Vec<_> = said.collect();
    if !rest.is_empty() {
        draft.sentence("Your sources also say:");
        draft.bullets(rest);
    }
    if let Some(differing) = disagreement(pages, &asked, &found, &mut draft) {
        draft.paragraph(differing);
    }
    let missing = scan.unknown_words(&asked);
    if !missing.is_empty() {
        draft.sentence(format!("No source mentions {}.", quoted(&missing)));
    }
    draft.finish("Answer")
}

/// A passage that answers, and the places where other sources say the same.
#[derive(Debug)]
struct Finding {
    passage: Passage,
    mask: u64,
    score: f64,
    terms: Vec<u32>,
    values: Vec<String>,
    repeated: Vec<Passage>,
}

fn best_findings(pages: &[Page<'_>], asked: &Question, scan: &Scan) -> Vec<Finding> {
    let mut hits: Vec<(f64, &Hit)> = scan
        .hits
        .iter()
        .filter(|hit| scan.supports(asked, hit))
        .map(|hit| (scan.score(asked, hit), hit))
        .collect();
    // Sorting is stable, so that of equals the one that stands first wins.
    hits.sort_by(|a, b| b.0.total_cmp(&a.0));
    hits.truncate(LOOKED_AT);
    let mut judged: Vec<(f64, &Hit)> = hits
        .into_iter()
        .map(|(score, hit)| {
            let sentence = pages[hit.page].text.units[hit.unit].sentence(hit.sentence);
            (score * evidence::fit(asked.kind, sentence, |term| asked.term(term).is_some()), hit)
        })
        .collect();
    judged.sort_by(|a, b| b.0.total_cmp(&a.0));
    let Some(&(best, _)) = judged.first() else { return Vec::new() };
    let (limit, share) = match asked.kind {
        // The items of a list belong together.
        _ if judged[0].1.led != 0 => (5, 0.6),
        Kind::Who | Kind::When | Kind::Where | Kind::Amount | Kind::Definition => (3, 0.75),
        Kind::Overview | Kind::Other => (5, 0.6),
    };
    let mut vocabulary = Vocabulary::default();
    let mut found: Vec<Finding> = Vec::new();
    for (score, hit) in judged.into_iter().take_while(|(score, _)| *score >= share * best) {
        let passage = select::with_lead(pages, hit.passage(pages));
        let text = passage.text(pages);
        let language = Language::of(text);
        let terms = vocabulary.number(text, |word| language.is_stop(word));
        let values: Vec<String> =
            number::find(text).into_iter().map(|found| found.digits).collect();
        let same = found.iter().position(|known| {
            known.passage.overlaps(&passage)
                || rank::overlap(&known.terms, &terms) >= REPEATED && known.values == values
        });
        match same.map(|at| &mut found[at]) {
            Some(known) if known.passage.page != passage.page => {
                let cited = known.repeated.iter().any(|other| other.page == passage.page);
                if !cited && known.repeated.len() < REPEATS {
                    known.repeated.push(passage);
                }
            }
            Some(_) => {}
            None => {
                let mask = hit.mask | hit.near | hit.above;
                found.push(Finding { passage, mask, score, terms, values, repeated: Vec::new() });
            }
        }
    }
    found.truncate(limit);
    found
}

/// A line that says that sources give different numbers for the same words of the question.
fn disagreement(
    pages: &[Page<'_>],
    asked: &Question,
    found: &[Finding],
    draft: &mut Composer<'_, '_>,
) -> Option<Vec<Inline>> {
    if !matches!(asked.kind, Kind::Amount | Kind::When) {
        return None;
    }
    let first = found.first()?;
    let first_value = only_value(asked, first, pages)?;
    let other = found.iter().skip(1).find(|other| {
        other.passage.page != first.passage.page
            && other.mask & first.mask == first.mask
            && other.score >= 0.75 * first.score
            && only_value(asked, other, pages).is_some_and(|value| {
                value.digits != first_value.digits && value.kind == first_value.kind
            })
    })?;
    let other_value = only_value(asked, other, pages)?;
    let mut line = vec![Inline::text("Your sources differ: ")];
    line.push(Inline::text(first.passage.text(pages)[first_value.range].to_owned()));
    line.extend(draft.cite(&first.passage));
    line.push(Inline::text(" and "));
    line.push(Inline::text(other.passage.text(pages)[other_value.range].to_owned()));
    line.extend(draft.cite(&other.passage));
    line.push(Inline::text("."));
    Some(line)
}

/// The number of a passage that the question did not say, if there is just one. With several, nobody
/// could tell which are to be compared.
fn only_value(asked: &Question, finding: &Finding, pages: &[Page<'_>]) -> Option<number::Found> {
    let mut values = number::find(finding.passage.text(pages))
        .into_iter()
        .filter(|found| asked.term(&found.digits).is_none());
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

fn overview(pages: &[Page<'_>]) -> Draft {
    let all: Vec<usize> = (0..pages.len()).collect();
    let mut passages = select::key_passages(pages, &all, 6);
    if passages.is_empty() {
        passages = select::first_lines(pages, 6);
    }
    let mut draft = Composer::new(pages);
    if passages.is_empty() {
        draft.sentence("The answer is not in your sources: they hold no text.");
    }
    let items = passages.iter().map(|passage| draft.say(passage)).collect();
    draft.bullets(items);
    draft.finish("Overview")
}

fn not_found(pages: &[Page<'_>], asked: &Question, scan: &Scan, cut: bool) -> Draft {
    let mut draft = Composer::new(pages);
    draft.sentence("The answer is not in your sources.");
    let unknown = scan.unknown_words(asked);
    let words: Vec<&str> = asked
        .terms
        .iter()
        .filter(|term| !term.is_earlier)
        .map(|term| term.word.as_str())
        .take(SUGGESTED)
        .collect();
    if pages.is_empty() {
        draft.sentence("There are no sources yet.");
    } else if !unknown.is_empty() {
        draft.sentence(format!("None of them mentions {}.", quoted(&unknown)));
    } else if !words.is_empty() {
        draft.sentence("Its words occur, but no passage holds enough of them together.");
    }
    if words.is_empty() {
        draft.sentence("The question has no words to search for; name what it is about.");
    } else {
        draft.sentence(format!("Collect a page about {}, then ask again.", quoted(&words)));
    }
    if cut {
        draft.sentence("Some sources were too long to be read to their end.");
    }
    draft.finish("Not in your sources")
}

fn quoted(words: &[&str]) -> String {
    let mut list = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            list.push_str(if at + 1 == words.len() { " and " } else { ", " });
        }
        list.push('“');
        list.push_str(crate::draft::cut(word, 60));
        list.push('”');
    }
    list
}

/// Enough that the kind of the answer can still change the order.
const LOOKED_AT: usize = 100;

/// From here on, two sources say the same.
const REPEATED: f64 = 0.75;

/// Nobody needs more than three witnesses.
const REPEATS: usize = 2;

/// What fits on a line.
const SUGGESTED: usize = 8;
