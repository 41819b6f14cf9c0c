//! Words that change what a sentence says: negations, conditions, numbers, units, and the small words
//! between them. Which they are is said in `words.txt`; what is done about them, elsewhere.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tokens::Token;

/// What a word does to a sentence, as the table names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Negation,
    NegativePronoun,
    NegativeDeterminer,
    Scarce,
    Harmless,
    Deny,
    Falsehood,
    Rejected,
    Fail,
    Condition,
    ConditionFirst,
    Inversion,
    EvenIf,
    Exception,
    Zero,
    Modal,
    Weaken,
    Share,
    Truth,
    Belief,
    BackReference,
    But,
    And,
    So,
    Clause,
    ClauseAfterComma,
    Link,
    ClauseLink,
    Saying,
    Do,
    Relative,
    Carrier,
    Copula,
    Article,
    Abbreviation,
    Number,
    NumberOrOther,
    One,
    Unit,
    BeforeNumber,
    Tie,
    Between,
    Bound,
    AfterNumber,
    Rate,
    Era,
    Month,
    BeforeYear,
    Range,
    Turn,
    Restriction,
    /// A phrase of the table begins with the word.
    BeginsPhrase,
}

/// The groups that a word or a phrase is in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Groups(u64);

impl Groups {
    pub(super) fn has(self, group: Group) -> bool {
        self.0 & (1 << group as u32) != 0
    }

    pub(super) fn has_any(self, groups: &[Group]) -> bool {
        groups.iter().any(|group| self.has(*group))
    }

    fn add(&mut self, group: Group) {
        self.0 |= 1 << group as u32;
    }
}

/// The groups of one word.
pub(super) fn groups(word: &str) -> Groups {
    let mut groups = TABLE.get(word).copied().unwrap_or_default();
    if word.ends_with("n't") || (word.starts_with("n'") && word.len() > 2) {
        groups.add(Group::Negation);
    }
    groups
}

/// The groups of each token, with those of the phrases that begin there. Where a phrase says that
/// nothing is changed, none of its words does.
pub(super) fn marks(tokens: &[Token]) -> Vec<Groups> {
    let mut marks: Vec<Groups> = tokens.iter().map(|token| groups(&token.word)).collect();
    let mut harmless_to = 0;
    for at in 0..tokens.len() {
        if marks[at].has(Group::BeginsPhrase) {
            for length in 2..=MAX_PHRASE.min(tokens.len() - at) {
                let words = tokens[at..at + length].iter().map(|it| it.word.as_str());
                let phrase = words.collect::<Vec<_>>().join("_");
                let found = TABLE.get(phrase.as_str()).copied().unwrap_or_default();
                match found.has(Group::Harmless) {
                    true => harmless_to = harmless_to.max(at + length),
                    false => marks[at].0 |= found.0,
                }
            }
        }
        if at < harmless_to {
            marks[at] = Groups::default();
        }
    }
    marks
}

/// Whether the word denies something.
pub(super) fn is_negation(word: &str) -> bool {
    groups(word).has(Group::Negation)
}

/// Whether the word is a number or a magnitude. Words that are articles, too ("one", "ein", "un"),
/// are none.
pub(super) fn is_number_word(word: &str) -> bool {
    groups(word).has(Group::Number)
}

/// Whether the word says what is counted or measured, when it stands behind a number.
pub(super) fn is_unit(word: &str) -> bool {
    groups(word).has_any(&[Group::Unit, Group::Number])
}

/// Whether a quote says the same with the word and without.
pub(super) fn is_article(word: &str) -> bool {
    groups(word).has(Group::Article)
}

/// Whether a negation before the word reaches over it to what follows. Adverbs are carried; "not only"
/// denies nothing.
pub(super) fn carries_negation(word: &str) -> bool {
    let groups = groups(word);
    let is_adverb = word.ends_with("ly") && !groups.has(Group::Restriction);
    is_adverb || groups.has_any(&[Group::Article, Group::Carrier])
}

/// Whether numbers on both sides of the word belong together: "3 to 5", "two and a half".
pub(super) fn joins_numbers(word: &str) -> bool {
    groups(word).has(Group::Range)
}

pub(super) fn is_and(word: &str) -> bool {
    groups(word).has(Group::And)
}

/// Whether leaving the word out turns or conditions what is said.
pub(super) fn is_turn(word: &str) -> bool {
    use Group::{Condition, Deny, Exception, Falsehood, Turn};
    groups(word).has_any(&[Turn, Falsehood, Deny, Condition, Exception])
}

/// Whether two words begin in ways that contrast: "hypertension" is not a misspelled "hypotension".
pub(super) fn contrast(a: &str, b: &str) -> bool {
    CONTRASTS.iter().any(|group| {
        let starts = |word: &str| group.iter().position(|prefix| word.starts_with(prefix));
        matches!((starts(a), starts(b)), (Some(a), Some(b)) if a != b)
    })
}

static TABLE: LazyLock<HashMap<&'static str, Groups>> =
    LazyLock::new(|| read_table(include_str!("words.txt")));

/// `[group]`, then its words. What follows `#` is for people.
fn read_table(text: &'static str) -> HashMap<&'static str, Groups> {
    let mut table: HashMap<&'static str, Groups> = HashMap::new();
    let mut current = None;
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            current = GROUPS.iter().find(|(known, _)| *known == name).map(|(_, group)| *group);
            continue;
        }
        let Some(group) = current else { continue };
        for word in line.split_whitespace() {
            table.entry(word).or_default().add(group);
            if let Some((first, _)) = word.split_once('_') {
                table.entry(first).or_default().add(Group::BeginsPhrase);
            }
        }
    }
    table
}

const GROUPS: &[(&str, Group)] = &[
    ("negation", Group::Negation),
    ("negative_pronoun", Group::NegativePronoun),
    ("negative_determiner", Group::NegativeDeterminer),
    ("scarce", Group::Scarce),
    ("harmless", Group::Harmless),
    ("deny", Group::Deny),
    ("falsehood", Group::Falsehood),
    ("rejected", Group::Rejected),
    ("fail", Group::Fail),
    ("condition", Group::Condition),
    ("condition_first", Group::ConditionFirst),
    ("inversion", Group::Inversion),
    ("even_if", Group::EvenIf),
    ("exception", Group::Exception),
    ("zero", Group::Zero),
    ("modal", Group::Modal),
    ("weaken", Group::Weaken),
    ("share", Group::Share),
    ("truth", Group::Truth),
    ("belief", Group::Belief),
    ("back_reference", Group::BackReference),
    ("but", Group::But),
    ("and", Group::And),
    ("so", Group::So),
    ("clause", Group::Clause),
    ("clause_after_comma", Group::ClauseAfterComma),
    ("link", Group::Link),
    ("clause_link", Group::ClauseLink),
    ("saying", Group::Saying),
    ("do", Group::Do),
    ("relative", Group::Relative),
    ("carrier", Group::Carrier),
    ("copula", Group::Copula),
    ("article", Group::Article),
    ("abbreviation", Group::Abbreviation),
    ("number", Group::Number),
    ("number_or_other", Group::NumberOrOther),
    ("one", Group::One),
    ("unit", Group::Unit),
    ("before_number", Group::BeforeNumber),
    ("tie", Group::Tie),
    ("between", Group::Between),
    ("bound", Group::Bound),
    ("after_number", Group::AfterNumber),
    ("rate", Group::Rate),
    ("era", Group::Era),
    ("month", Group::Month),
    ("before_year", Group::BeforeYear),
    ("range", Group::Range),
    ("turn", Group::Turn),
    ("restriction", Group::Restriction),
];

/// "毫无疑问", "with the exception of": so many words are looked at together.
const MAX_PHRASE: usize = 4;

const CONTRASTS: &[&[&str]] = &[
    &["hyper", "hypo"],
    &["macro", "micro"],
    &["max", "min"],
    &["pre", "pro", "per", "post"],
    &["inter", "intra", "intro"],
    &["over", "under"],
    &["im", "in", "ex", "em", "il", "ir"],
    &["un", "up"],
    &["de", "dis", "des"],
    &["ante", "anti"],
    &["mono", "multi"],
    &["pater", "mater"],
];

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn the_table_can_be_read_and_holds_what_the_tokens_hold() {
        for line in include_str!("words.txt").lines().filter(|line| !line.starts_with('#')) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.starts_with('[') {
                let name = line.trim_matches(['[', ']']);
                assert!(GROUPS.iter().any(|(known, _)| *known == name), "{name}");
                continue;
            }
            for word in line.split_whitespace() {
                let spaced = word.replace('_', " ");
                let held: Vec<String> = tokens(&spaced).into_iter().map(|it| it.word).collect();
                assert_eq!(held.join("_"), word);
                assert!(held.len() <= MAX_PHRASE, "{word}");
            }
        }
        for (name, group) in GROUPS {
            assert!(TABLE.values().any(|groups| groups.has(*group)), "{name} is empty");
        }
    }
}
