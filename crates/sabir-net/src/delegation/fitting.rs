//! Which skill a task in words asks for, where nobody said. It weighs what the cards say about skills
//! against the words, asks no model, and says why; where nothing speaks for one, it chooses none.

use std::collections::BTreeSet;

use sabir_ldp::{Capability, SkillName};
use sabir_lingua::Tongue;
use serde_json::Value;

/// A skill, and what spoke for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fitting {
    pub(super) skill: SkillName,
    pub(super) why: String,
}

/// Whose words about skills are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    ThisNode,
    /// Whoever wrote a card that is known here: it says what it likes.
    Others,
}

/// The skill that fits best, if any does.
pub(super) fn fitting(task: &str, offered: &[Capability], by: Author) -> Option<Fitting> {
    let task: String = task.chars().take(MOST_LETTERS).collect();
    // Each card for itself: what one says about a skill is not to the credit of another.
    let skills: Vec<(&SkillName, Words)> =
        offered.iter().map(|it| (&it.name, Words::of(it, by))).collect();
    let asked = words(&task);
    let kind = Kind::of(&task);
    let scored = skills.iter().map(|(name, offer)| {
        let shared: BTreeSet<&str> = offer.said.intersection(&asked).map(String::as_str).collect();
        // A word that every skill has says nothing about any.
        let weight = |word: &&str| {
            let count = skills.iter().filter(|(_, it)| it.said.contains(*word)).count();
            let named = if offer.named.contains(*word) { 3 } else { 1 };
            named * (100 * (skills.len() - count + 1) / skills.len())
        };
        // Who writes down every word that there is gains nothing by most of them.
        let mut weights: Vec<usize> = shared.iter().map(weight).collect();
        weights.sort_unstable_by(|one, other| other.cmp(one));
        let by_words: usize = weights.iter().take(MOST_COUNTED).sum();
        let by_kind = if offer.takes(kind) { OF_ITS_KIND } else { 0 };
        (by_words + by_kind, *name, offer, shared)
    });
    // Of equals the one with the shortest name, which is the most general.
    let best = scored.max_by_key(|(score, name, ..)| {
        (*score, std::cmp::Reverse((name.as_str().len(), name.as_str())))
    });
    let (score, skill, offer, shared) = best?;
    if score < LEAST {
        return None;
    }
    let mut reasons: Vec<String> = Vec::new();
    if offer.takes(kind) {
        reasons.push(format!("the task is {}", kind.in_words()));
    }
    if !shared.is_empty() {
        let shared: Vec<&str> = shared.into_iter().collect();
        reasons.push(format!("its description shares {}", shared.join(", ")));
    }
    let why = format!("skill {skill} was chosen because {}", reasons.join(" and "));
    Some(Fitting { skill: skill.clone(), why })
}

/// What a text is, whatever it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Question,
    /// A message in a tongue of ours.
    Message,
    Instruction,
}

impl Kind {
    fn of(task: &str) -> Self {
        if matches!(sabir_lingua::guess(task), Some(Tongue::Axon | Tongue::Llmx | Tongue::Frame)) {
            return Self::Message;
        }
        let first = task.split_whitespace().next().unwrap_or_default().to_lowercase();
        let is_question = task.trim_end().ends_with('?') || ASKING.contains(&first.as_str());
        if is_question { Self::Question } else { Self::Instruction }
    }

    /// The field of an input that holds it.
    fn field(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Message => "text",
            Self::Instruction => "instruction",
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Question => "a question",
            Self::Message => "a message",
            Self::Instruction => "an instruction",
        }
    }
}

/// What a card says about a skill.
#[derive(Debug)]
struct Words {
    /// In its name or its domains.
    named: BTreeSet<String>,
    said: BTreeSet<String>,
    /// What its input has.
    fields: BTreeSet<String>,
}

impl Words {
    fn of(capability: &Capability, by: Author) -> Self {
        let mut named = words(capability.name.as_str());
        named.extend(capability.domains.iter().take(MOST_DOMAINS).flat_map(|it| words(it)));
        let description = capability.description.as_deref().unwrap_or_default();
        let description: String = description.chars().take(MOST_DESCRIBED).collect();
        let mut said = words(&description);
        said.extend(named.iter().cloned());
        // What kind of text it takes is believed of our own only: every task is of some kind.
        let schema = capability.input_schema.as_ref().filter(|_| by == Author::ThisNode);
        let fields = match schema.and_then(|it| it.get("properties")) {
            Some(Value::Object(fields)) => fields.keys().cloned().collect(),
            _ => BTreeSet::new(),
        };
        Self { named, said, fields }
    }

    fn takes(&self, kind: Kind) -> bool {
        self.fields.contains(kind.field())
    }
}

/// The words of a text that carry meaning, without the endings that English puts behind them.
fn words(text: &str) -> BTreeSet<String> {
    let pieces = text.split(|letter: char| !letter.is_alphanumeric());
    let lower = pieces.map(str::to_lowercase).filter(|it| it.len() > 2);
    let own = lower.filter(|it| !COMMON.contains(&it.as_str()));
    own.map(|word| stem(&word).to_owned()).collect()
}

fn stem(word: &str) -> &str {
    for ending in ["ing", "ed", "es", "s", "e"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() > 2
        {
            return stem;
        }
    }
    word
}

/// How much of a task is looked at.
const MOST_LETTERS: usize = 4096;
/// What a skill has ahead that takes this kind of text: as much as one word that it alone has.
const OF_ITS_KIND: usize = 100;
const LEAST: usize = 100;
/// Words that a skill shares with a task, the rarest first.
const MOST_COUNTED: usize = 8;
const MOST_DOMAINS: usize = 8;
/// Letters of a description. One of ours has less than a hundred.
const MOST_DESCRIBED: usize = 600;
const ASKING: [&str; 18] = [
    "who", "what", "when", "where", "why", "how", "which", "whose", "is", "are", "was", "were",
    "do", "does", "did", "can", "could", "should",
];
const COMMON: [&str; 30] = [
    "the", "and", "for", "with", "that", "this", "from", "are", "was", "were", "has", "have",
    "had", "not", "but", "its", "what", "when", "where", "who", "why", "how", "which", "does",
    "did", "can", "could", "should", "will", "into",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn skill(name: &str, description: &str, field: &str) -> Capability {
        Capability {
            description: Some(description.to_owned()),
            input_schema: Some(json!({ "properties": { field: {} } })),
            ..Capability::named(SkillName::new(name).unwrap())
        }
    }

    #[test]
    fn words_and_kinds_choose_a_skill_or_none() {
        let crew = [
            skill("research", "Captures pages and answers a question with citations.", "question"),
            skill("research.brief", "Makes a brief of a collection.", "collection"),
            skill("code", "Does a task in a folder of code: reads, runs, tests.", "instruction"),
            skill("language.check", "Checks a message in AXON or LLMX.", "text"),
            skill("language.repair", "Repairs a message that a model wrote.", "text"),
        ];
        for (task, expected) in [
            ("How long is it from one high water to the next?", Some("research")),
            ("make a brief of the collection", Some("research.brief")),
            ("run the tests of this folder", Some("code")),
            ("INF(@a>@b): ok", Some("language.check")),
            ("repair this message: INF(@a->@b) ok", Some("language.repair")),
            ("rename the variable", Some("code")),
        ] {
            let found = fitting(task, &crew, Author::ThisNode);
            assert_eq!(found.as_ref().map(|it| it.skill.as_str()), expected, "{task}: {found:?}");
        }
        let why = fitting("Who opened the lock?", &crew, Author::ThisNode).unwrap().why;
        assert_eq!(why, "skill research was chosen because the task is a question");
        // Without a coder nothing speaks for anybody.
        let rest: Vec<Capability> =
            crew.iter().filter(|it| it.name.as_str() != "code").cloned().collect();
        assert_eq!(fitting("rename the variable", &rest, Author::ThisNode), None);
        assert_eq!(fitting("", &rest, Author::ThisNode), None);
    }

    /// A card that has a few hundred usual words on it, and says that it takes everything.
    #[test]
    fn a_card_full_of_words_draws_no_tasks() {
        let many: Vec<String> = (0..300).map(|number| format!("word{number}")).collect();
        let mut greedy = skill("helper", &many.join(" "), "instruction");
        greedy.domains = many.clone();
        let exact = skill("translate.legal", "Translates contracts.", "text");
        let offered = [greedy, exact];
        let others = |task: &str| {
            let found = fitting(task, &offered, Author::Others);
            found.map(|it| it.skill.as_str().to_owned())
        };
        // It takes every kind of text, by its own word only.
        assert_eq!(others("rename the variable"), None);
        // Twenty of its words, and three that one skill has in its name.
        let task = format!("translate legal contracts: {}", many[100..120].join(" "));
        assert_eq!(others(&task).as_deref(), Some("translate.legal"));
    }
}
