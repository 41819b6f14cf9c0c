//! What a question asks for: its words that carry meaning, and the kind of answer that it expects. It
//! has not seen the sources.

use std::collections::HashMap;

use crate::language::Language;
use crate::word;

#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) terms: Vec<Term>,
    pub(crate) kind: Kind,
    /// From each spelling that counts to the number of its term.
    lookup: HashMap<String, usize>,
}

#[derive(Debug)]
pub(crate) struct Term {
    /// As it was asked.
    pub(crate) word: String,
    /// A name or a number: what cannot be missing from an answer.
    pub(crate) is_exact: bool,
    /// From an earlier question: it helps to find a passage, and is not required.
    pub(crate) is_earlier: bool,
}

/// What the answer should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Who,
    When,
    Where,
    Amount,
    Definition,
    /// The question is about everything: the sources are summed up.
    Overview,
    Other,
}

impl Question {
    /// `earlier` are the questions before this one, the latest last.
    pub(crate) fn parse(text: &str, earlier: &[&str]) -> Self {
        let text = &text[..text.floor_char_boundary(QUESTION_BYTES)];
        let language = Language::of(text);
        let lower = word::folded_text(text);
        let mut question = Self { terms: Vec::new(), kind: kind(&lower), lookup: HashMap::new() };
        question.add(text, language, false);
        let subjects = question.terms.iter().filter(|term| !is_general(&term.word)).count();
        let has = |words: &[&str]| lower.split_whitespace().any(|word| words.contains(&word));
        // With no word of its own left, a question is about the sources, if it names them and points
        // at nothing that was said before.
        let asks_for_all = match question.terms.is_empty() {
            true => has(WHOLE) && (earlier.is_empty() || !has(SAID_BEFORE)),
            false => subjects == 0,
        };
        if asks_for_all && question.kind != Kind::Amount {
            question.kind = Kind::Overview;
        }
        let points_back = has(POINTERS);
        if let Some(last) = earlier.last().filter(|_| points_back || subjects < 2) {
            let last = &last[..last.floor_char_boundary(QUESTION_BYTES)];
            question.add(last, Language::of(last), true);
        }
        question
    }

    /// The term that `spelling` counts as.
    pub(crate) fn term(&self, spelling: &str) -> Option<usize> {
        self.lookup.get(spelling).copied()
    }

    fn add(&mut self, text: &str, language: Language, is_earlier: bool) {
        let mut first = true;
        word::for_each_term(text, |term, range| {
            let word = &text[range];
            let is_first = std::mem::replace(&mut first, false);
            if self.terms.len() >= TERMS
                || self.lookup.contains_key(term)
                || language.is_stop(&word::folded(word))
                || ASKING.contains(&&*word::folded(word))
            {
                return;
            }
            let number = self.terms.len();
            let is_exact = word.starts_with(|c: char| c.is_ascii_digit())
                || !is_first
                    && language != Language::German
                    && word.starts_with(char::is_uppercase);
            self.lookup.insert(term.to_owned(), number);
            for group in SYNONYMS.iter().filter(|group| group.contains(&term)) {
                for same in *group {
                    self.lookup.entry((*same).to_owned()).or_insert(number);
                }
            }
            self.terms.push(Term { word: word.to_owned(), is_exact, is_earlier });
        });
    }
}

fn kind(lower: &str) -> Kind {
    let starts = |starts: &[&str]| starts.iter().any(|start| lower.starts_with(start));
    let holds = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    if starts(&["how many", "how much", "how long", "how tall", "how old", "how far", "how high"])
        || starts(&["how big", "how large", "how fast", "how expensive", "how deep", "how heavy"])
        || starts(&[
            "wie viel",
            "wieviel",
            "wie lang",
            "wie hoch",
            "wie alt",
            "wie gross",
            "combien",
        ])
        || starts(&["cuant", "how often", "how wide", "how hot", "how cold"])
        || holds(&["what percentage", "what share", "how many", "how much", "what is the price"])
    {
        Kind::Amount
    } else if starts(&["when", "wann", "quand", "cuando"])
        || holds(&[
            "what year",
            "which year",
            "what date",
            "in welchem jahr",
            "quelle annee",
            "que ano",
        ])
    {
        Kind::When
    } else if starts(&["who", "wer ", "wen ", "wem ", "qui ", "quien"]) || holds(&["by whom"]) {
        Kind::Who
    } else if starts(&["where", "wo ", "woher", "wohin", "ou ", "donde"]) {
        Kind::Where
    } else if starts(&[
        "what is", "what are", "what was", "what s ", "define", "was ist", "was sind",
    ]) || starts(&["qu est ce", "c est quoi", "que es", "que son", "what does"])
    {
        Kind::Definition
    } else {
        Kind::Other
    }
}

fn is_general(word: &str) -> bool {
    GENERAL.contains(&&*word::folded(word))
}

/// A longer question is a document; its beginning says what is asked.
const QUESTION_BYTES: usize = 4_000;

/// One bit each.
pub(crate) const TERMS: usize = 48;

/// Words that point at something said before.
const POINTERS: &[&str] = &[
    "it", "its", "they", "them", "their", "he", "his", "him", "she", "her", "that", "this", "these",
];

/// Of these, what can only be a thing that an earlier question named.
const SAID_BEFORE: &[&str] = &["it", "its", "they", "them", "their", "he", "him", "she", "her"];

/// Words that mean the sources.
const WHOLE: &[&str] = &[
    "about", "article", "articles", "page", "pages", "quelle", "quellen", "seite", "seiten",
    "source", "sources",
];

/// Words of the asking, not of the answer.
const ASKING: &[&str] = &[
    "anything",
    "bitte",
    "describe",
    "explain",
    "find",
    "know",
    "list",
    "mean",
    "means",
    "mention",
    "mentioned",
    "name",
    "page",
    "pages",
    "question",
    "something",
    "source",
    "sources",
    "quelle",
    "quellen",
    "show",
    "tell",
    "according",
    "article",
    "actually",
    "exactly",
    "articles",
    "define",
    "erklare",
    "nenne",
    "seite",
    "seiten",
    "expliquer",
];

/// What is left of a question about everything.
const GENERAL: &[&str] = &[
    "about",
    "all",
    "alles",
    "collection",
    "content",
    "contents",
    "important",
    "idea",
    "ideas",
    "key",
    "main",
    "overview",
    "point",
    "points",
    "subject",
    "summarise",
    "summarize",
    "summary",
    "theme",
    "themes",
    "topic",
    "topics",
    "zusammenfassung",
    "uberblick",
    "resume",
    "resumen",
    "cover",
    "covers",
    "discuss",
    "discussed",
    "document",
    "documents",
    "everything",
    "say",
    "says",
    "said",
    "text",
    "todo",
    "tout",
    "brief",
    "short",
];

/// Stems that answer each other, one group a line.
const SYNONYMS: &[&[&str]] = &[
    &["found", "founder", "establish", "creat", "start", "launch"],
    &["cost", "pric", "fee", "charg", "expens", "expensiv", "pay", "paid"],
    &["buy", "bought", "purchas", "acquir", "sold", "sell"],
    &["build", "built", "construct", "erect"],
    &["invent", "inventor", "develop"],
    &["writ", "wrote", "written", "author"],
    &["die", "died", "death", "dead", "dying"],
    &["born", "birth"],
    &["big", "larg", "siz", "area", "cover"],
    &["tall", "height", "high"],
    &["long", "length", "last", "durat"],
    &["deep", "depth"],
    &["heavi", "weight", "weigh"],
    &["fast", "speed", "quick"],
    &["old", "age", "aged"],
    &["peopl", "inhabitant", "popul", "resid"],
    &["begin", "began", "start", "open"],
    &["end", "clos", "finish"],
    &["work", "job", "employ"],
    &["employe", "staff", "worker"],
    &["leader", "head", "chief", "director", "led", "lead"],
    &["hot", "warm", "temperatur", "cold"],
    &["happen", "occur", "took"],
    &["locat", "lie", "situat", "stand"],
    &["use", "used", "using", "usag"],
    &["win", "won", "winner"],
    &["discover", "discoveri"],
    &["car", "vehicl", "automobil"],
    &["doctor", "physician"],
    &["danger", "risk", "hazard", "harm"],
    &["reason", "caus"],
    &["grow", "grew", "growth", "grown"],
    &["manufactur", "produc", "product", "maker"],
    &["kill", "died", "death"],
    &["teach", "taught", "teacher"],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// LC-X24.
    #[test]
    fn questions_about_everything_ask_for_an_overview() {
        for (question, earlier, is_overview) in [
            ("Tell me everything", &[][..], true),
            ("Summarize everything", &[], true),
            ("What is this about?", &[], true),
            ("What are these sources about?", &[], true),
            ("What do my sources say?", &[], true),
            ("What do the articles say?", &["Who built the lighthouse?"], true),
            ("What are the main points?", &[], true),
            ("What is this page about?", &["Who built the lighthouse?"], true),
            ("What is it about?", &["Who built the lighthouse?"], false),
            ("What do my sources say about seals?", &[], false),
            ("Tell me everything about the ferry", &[], false),
            ("How many sources are there?", &[], false),
            ("Why?", &[], false),
            ("", &[], false),
        ] {
            let kind = Question::parse(question, earlier).kind;
            assert_eq!(kind == Kind::Overview, is_overview, "{question} {earlier:?}");
        }
    }
}
