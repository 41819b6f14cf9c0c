//! Texts to measure on: sentences that read like English, the same in every run.

use std::fmt::Write as _;

/// A stream of numbers that only depends on where it begins.
pub(crate) struct Prose {
    state: u64,
}

impl Prose {
    pub(crate) fn new(number: usize) -> Self {
        Self { state: 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number as u64 + 1) }
    }

    /// A page about `subject` of at least so many bytes of Markdown.
    pub(crate) fn page(&mut self, subject: &str, bytes: usize) -> String {
        let mut text = format!("# {subject}\n");
        while text.len() < bytes {
            let _ = write!(text, "\n## The {} {}\n", self.pick(ADJECTIVES), self.pick(NOUNS));
            for _ in 0..3 {
                text.push('\n');
                for _ in 0..5 {
                    text.push_str(&self.sentence(subject));
                    text.push(' ');
                }
                text.truncate(text.trim_end().len());
                text.push('\n');
            }
        }
        text
    }

    fn sentence(&mut self, subject: &str) -> String {
        let (noun, other) = (self.pick(NOUNS), self.pick(NOUNS));
        let (adjective, verb) = (self.pick(ADJECTIVES), self.pick(VERBS));
        let (count, year) = (self.draw(900) + 2, self.draw(400) + 1500);
        match self.draw(5) {
            0 => format!("The {adjective} {noun} of {subject} {verb} {count} {other}s in {year}."),
            1 => format!("In {year} a {noun} {verb} the {adjective} {other} near {}.", self.name()),
            2 => format!("Nobody in {subject} {verb} the {noun}, although {count} {other}s did."),
            3 => format!("Every {adjective} {noun} {verb} a {other}, as {} wrote.", self.name()),
            _ => format!("{} {verb} **{count}** {noun}s and one {adjective} {other}.", self.name()),
        }
    }

    /// Of a place or a person: one of some thousands.
    pub(crate) fn name(&mut self) -> String {
        let mut name = String::new();
        for _ in 0..3 {
            name.push_str(self.pick(SYLLABLES));
        }
        name[..1].to_ascii_uppercase() + &name[1..]
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.draw(from.len())]
    }

    fn draw(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let high = self.state >> 33;
        (high % below as u64) as usize
    }
}

const NOUNS: &[&str] = &[
    "harbour",
    "lantern",
    "merchant",
    "bridge",
    "ledger",
    "orchard",
    "river",
    "captain",
    "market",
    "tower",
    "cistern",
    "letter",
    "caravan",
    "weaver",
    "garden",
    "mountain",
    "archive",
    "sailor",
    "mill",
    "pilot",
    "quarry",
    "vineyard",
    "painter",
    "canal",
    "compass",
    "treaty",
    "village",
    "observatory",
    "tariff",
    "printer",
];

const ADJECTIVES: &[&str] = &[
    "old",
    "northern",
    "silent",
    "crowded",
    "narrow",
    "celebrated",
    "ruined",
    "early",
    "wooden",
    "distant",
    "municipal",
    "quarrelsome",
    "prosperous",
    "forgotten",
    "brilliant",
];

const VERBS: &[&str] = &[
    "built",
    "counted",
    "described",
    "repaired",
    "inherited",
    "surveyed",
    "abandoned",
    "painted",
    "measured",
    "defended",
    "remembered",
    "exported",
    "translated",
    "admired",
    "rebuilt",
];

const SYLLABLES: &[&str] = &[
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va",
    "we", "xi", "yo", "zu",
];
