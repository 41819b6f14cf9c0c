//! What is written down, as messages that people and agents read: who said what to whom, in JSON, AXON,
//! LLMX and English. `docs/protocol/record.md` has the rules.
//!
//! It reads journals and changes none. How a message is said in a language is known elsewhere.

mod engine;
mod journals;
mod json;
mod peers;
#[cfg(test)]
mod tests;

use sabir_lingua::tokens::Tokenizer;
use sabir_lingua::{Act, Content, Message, Refused, Utterance};
use sabir_store::Line;

pub use engine::ORDERS;
pub use journals::{AUDIT, DECISION, Journal, NODE, RecordError, journal_names};

/// The messages that a row of a journal is: one, or those of a delegate that were written at once.
pub fn messages(journal: &str, line: &Line) -> Vec<Message> {
    let mut told = match line.kind.as_str() {
        "peer" => peers::messages(journal, line),
        DECISION => vec![decision(line)],
        _ => vec![engine::message(line)],
    };
    let place = format!("{journal}/{}", line.seq);
    let is_one = told.len() == 1;
    for (number, message) in (1..).zip(&mut told) {
        message.id = if is_one { place.clone() } else { format!("{place}/{number}") };
        message.at_ms = line.at_ms;
    }
    told
}

/// A row in every language, with what it costs in each.
///
/// # Errors
///
/// When it is larger than a notation holds.
pub fn utterance(journal: &str, line: &Line, vocabulary: Tokenizer) -> Result<Utterance, Refused> {
    Utterance::of(&messages(journal, line), vocabulary)
}

/// A row in short, for a list.
pub fn summary(journal: &str, line: &Line) -> String {
    let told = messages(journal, line);
    // What lets a message in is less telling than what it led to.
    let telling = told.iter().find(|message| message.what != "seen").or(told.first());
    let gist = telling.map(|message| message.gist(SUMMARY)).unwrap_or_default();
    match told.len() {
        0 | 1 => gist,
        many => format!("{gist} (and {} more)", many - 1),
    }
}

/// What the gate said to who wanted something.
fn decision(line: &Line) -> Message {
    let act = match line.tag.as_str() {
        "allow" => Act::Accept,
        "ask" => Act::Question,
        _ => Act::Refuse,
    };
    Message {
        ctx: line.session_id.as_str().to_owned(),
        of: line.key.clone(),
        what: DECISION.to_owned(),
        content: Content::read(&line.body),
        ..between(act, GATE, line.session_id.as_str())
    }
}

/// A message of which only who speaks to whom is known.
fn between(act: Act, from: &str, to: &str) -> Message {
    Message {
        id: String::new(),
        at_ms: 0,
        ctx: String::new(),
        of: String::new(),
        act,
        from: from.to_owned(),
        to: to.to_owned(),
        what: String::new(),
        content: Content::nothing(),
    }
}

const GATE: &str = "gate";
/// More than a line of a list has room for.
const SUMMARY: usize = 160;
