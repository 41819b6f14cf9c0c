//! What an agent cannot get around by itself: a message in LLMX that blocks and asks for a person
//! (`BLK` with `esc:true`), as it is put to one, and the person's word as it is put to the agent.

use sabir_llmx::{Conversation, ItemKind};

use crate::inbox::Word;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blocker {
    why: String,
    /// What the agent would do instead, the best first.
    alternatives: Vec<String>,
}

impl Blocker {
    /// The first blocker that waits for a person, wherever in the text it stands.
    pub(super) fn of(text: &str) -> Option<Self> {
        let start = text.find("HEADER:")?;
        let parsed = sabir_llmx::parse(&text[start..]);
        let mut conversation = Conversation::new();
        for message in parsed.tree.messages() {
            conversation.feed(message);
        }
        let state = conversation.state();
        let item = state.escalated.iter().find(|item| item.kind == ItemKind::Blocker)?;
        let alternatives = item.choices.iter().take(MOST_ALTERNATIVES);
        Some(Self {
            why: shortened(&item.text),
            alternatives: alternatives.map(|it| shortened(it)).collect(),
        })
    }

    /// Why it does not go on.
    pub(super) fn why(&self) -> &str {
        &self.why
    }

    /// For whoever decides. What the agent wrote stands behind a mark, so that none of it passes for
    /// ours.
    pub(super) fn in_words(&self) -> String {
        let marked = |text: &str| -> String {
            text.split('\n').map(|line| format!("\n  | {line}")).collect()
        };
        let mut words = format!("the agent is blocked:{}", marked(&self.why));
        match self.alternatives.split_first() {
            None => words.push_str("\nTo go on means that it does what seems best to it."),
            Some((first, others)) => {
                words.push_str(&format!("\nTo go on means:{}", marked(first)));
                if !others.is_empty() {
                    words.push_str("\nIt could also, if you tell it so:");
                    others.iter().for_each(|other| words.push_str(&marked(other)));
                }
            }
        }
        words
    }

    /// For the agent that was blocked.
    pub(super) fn lifted(&self, word: &Word) -> String {
        let start = "A person has read what blocks you, and says that you go on.";
        match (&word.words, self.alternatives.first()) {
            (Some(words), _) => format!("{start} In their words:\n{words}"),
            (None, Some(first)) => format!("{start} Do this: {first}"),
            (None, None) => format!("{start} Do what seems best to you."),
        }
    }

    /// For whoever waits for the task.
    pub(super) fn held(&self, word: &Word) -> String {
        let why = &self.why;
        match &word.words {
            Some(words) => format!("it was blocked ({why}), and a person stopped it: {words}"),
            None => format!("it was blocked ({why}), and a person stopped it"),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// More is no choice for a person.
const MOST_ALTERNATIVES: usize = 8;
const MOST_CHARS: usize = 2_000;

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::inbox::Decision;

    fn word(decision: Decision, words: Option<&str>) -> Word {
        Word { decision, words: words.map(str::to_owned) }
    }

    #[test]
    fn a_blocker_that_waits_for_a_person_is_found() {
        let text = "I looked at the tests.\n\
            HEADER:{f:Coder,t:Person,s:1}\n\
            BLK:{w:\"no key\",a:[\"use the recorded tides\",\"wait\"],esc:true}\n";
        let blocker = Blocker::of(text).unwrap();
        expect![[r#"
            the agent is blocked:
              | no key
            To go on means:
              | use the recorded tides
            It could also, if you tell it so:
              | wait"#]]
        .assert_eq(&blocker.in_words());
        assert!(blocker.lifted(&word(Decision::Approve, None)).ends_with("use the recorded tides"));
        let said = word(Decision::Approve, Some("the key is in the drawer"));
        assert!(blocker.lifted(&said).ends_with("\nthe key is in the drawer"));
        let stopped = blocker.held(&word(Decision::Deny, None));
        assert_eq!(stopped, "it was blocked (no key), and a person stopped it");
        let fenced = "```\nHEADER:{f:a,t:b,s:1} BLK:{w:\"x\",a:[],esc:true}\n```";
        assert_eq!(Blocker::of(fenced).unwrap().why(), "x");
    }

    #[test]
    fn nothing_else_is_one() {
        for text in [
            "",
            "all is done",
            "HEADER:{f:a,t:b,s:1} BLK:{w:\"x\",a:[\"y\"]}",
            "HEADER:{f:a,t:b,s:1} BLK:{w:\"x\",a:[\"y\"],esc:false}",
            "HEADER:{f:a,t:b,s:1} RES:{o:\"ok\"}",
            "HEADER:",
        ] {
            assert_eq!(Blocker::of(text), None, "{text}");
        }
    }
}
