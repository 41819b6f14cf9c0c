//! What a receiver answers to a document, by the notation's own rules for errors (section 7).
//!
//! This says what the answer is. Whether, when and where it is sent is the caller's to decide: who
//! acknowledges acknowledgements never stops.

use std::fmt;

use sabir_base::Diagnostic;

use crate::block::{BlockKind, MAX_SEQUENCE};
use crate::codes;
use crate::parser::Parsed;
use crate::strings::{is_word, quote};
use crate::validate::check_messages;
use crate::view::{Message, Node};

/// The answer to one message.
#[derive(Clone, Debug)]
pub struct Reply<'a> {
    /// `None` where there is no message at all.
    pub answers: Option<Message<'a>>,
    /// Never empty. `Display` writes one a line.
    pub responses: Vec<Response>,
}

/// One `RES` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The message is understood.
    Ack,
    /// The message is refused: the first of its errors.
    Nack { error: String },
    /// The message is understood but for the blocks of this type.
    Warn { unknown_type: String },
}

/// The answer to each message of a document, which `check` has read; one answer, a refusal, where
/// the document has no message.
///
/// Text outside messages counts to the one before it, and in front of the first to that one.
pub fn replies<'a>(parsed: &'a Parsed<'_>) -> Vec<Reply<'a>> {
    let messages: Vec<Message<'a>> = parsed.tree.messages().collect();
    if messages.is_empty() {
        let error = bounded("missing HEADER");
        return vec![Reply { answers: None, responses: vec![Response::Nack { error }] }];
    }
    let errors = first_errors(&messages, &parsed.diagnostics);
    let reply = |(&message, error): (&Message<'a>, &Option<FirstError<'_>>)| {
        let responses = match error {
            Some(FirstError::Listed(error)) => vec![refused(error, message)],
            Some(FirstError::Unlisted) => alone(message),
            None => accepted(message),
        };
        Reply { answers: Some(message), responses }
    };
    messages.iter().zip(&errors).map(reply).collect()
}

/// What is known about the first error of a message.
#[derive(Clone, Copy)]
enum FirstError<'d> {
    Listed(&'d Diagnostic),
    /// There were too many errors before, so it is not known whether there is one.
    Unlisted,
}

/// The answer to a message that is looked at again, by itself.
fn alone(message: Message<'_>) -> Vec<Response> {
    let parsed = check_messages(message.node.text());
    let error = parsed.diagnostics.iter().find(|found| found.is_error());
    match (error, parsed.tree.messages().next()) {
        (Some(error), Some(message)) => vec![refused(error, message)],
        (None, Some(message)) => accepted(message),
        (_, None) => vec![Response::Nack { error: bounded("missing HEADER") }],
    }
}

/// The refusal of a message, which the sender reads without a caret that would show the place: so
/// it says in which block, and what stands there, unless the finding does.
fn refused(error: &Diagnostic, message: Message<'_>) -> Response {
    let is_syntax = error.code < codes::MISSING_FIELD && error.code != codes::MISSING_HEADER;
    if !is_syntax {
        return Response::Nack { error: bounded(&error.message) };
    }
    let document = message.node.tree_text();
    let place = document.get(error.span.range()).unwrap_or_default();
    let mut text = bounded(&error.message);
    let shown = place.lines().next().unwrap_or_default().trim();
    if shown.chars().count() > 1 && !text.contains(shown) {
        text.push_str(&format!(": {}", clipped(shown)));
    }
    let block = message.all_blocks().find(|block| block.node.span().contains(error.span.start));
    if let Some(block) = block.filter(|block| !error.message.contains(block.word())) {
        text.push_str(&format!(" in {}", cut(block.word(), LONGEST_QUOTE)));
    }
    Response::Nack { error: text }
}

impl Reply<'_> {
    /// The whole message: a HEADER from `name` to the sender of what is answered, and the
    /// responses. `x_re` says which message that was. `None` if `name` is empty or `sequence` is
    /// larger than the notation's numbers.
    pub fn message(&self, name: &str, sequence: u64) -> Option<String> {
        if name.is_empty() || sequence > MAX_SEQUENCE {
            return None;
        }
        let header = self.answers.and_then(Message::header);
        let sender = header.and_then(|header| header.get("f")).and_then(Node::as_text);
        let receiver = sender.filter(|sender| !sender.is_empty());
        let (from, to) = (written(name), written(receiver.as_deref().unwrap_or("ALL")));
        let answered = header.and_then(|header| header.get("s")).map(Node::text);
        let re = match answered.filter(|lexeme| is_sequence(lexeme)) {
            Some(lexeme) => format!(",x_re:{lexeme}"),
            None => String::new(),
        };
        Some(format!("HEADER:{{f:{from},t:{to},s:{sequence}{re}}}\n{self}"))
    }
}

impl fmt::Display for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.responses.iter().try_for_each(|response| writeln!(f, "{response}"))
    }
}

/// The block, without a line feed.
impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ack => f.write_str("RES:{o:\"ACK\"}"),
            Self::Nack { error } => {
                let message = quote(&format!("parse error: {error}"));
                write!(f, "RES:{{o:\"NACK\",msg:{message}}}")
            }
            Self::Warn { unknown_type } => {
                let message = quote(&format!("unknown message type: {unknown_type} ignored"));
                write!(f, "RES:{{o:\"WARN\",msg:{message}}}")
            }
        }
    }
}

/// The first error of each message, in the order of the text.
fn first_errors<'d>(
    messages: &[Message<'_>],
    diagnostics: &'d [Diagnostic],
) -> Vec<Option<FirstError<'d>>> {
    if diagnostics.iter().any(|found| found.is_error() && found.code == codes::TOO_MANY_ERRORS) {
        return vec![Some(FirstError::Unlisted); messages.len()];
    }
    let mut first: Vec<Option<&'d Diagnostic>> = vec![None; messages.len()];
    for found in diagnostics.iter().filter(|found| found.is_error()) {
        let starts_by = |message: &Message<'_>| message.node.span().start <= found.span.start;
        let index = messages.partition_point(starts_by).saturating_sub(1);
        if first[index].is_none_or(|earlier| found.span.start < earlier.span.start) {
            first[index] = Some(found);
        }
    }
    first.into_iter().map(|error| error.map(FirstError::Listed)).collect()
}

/// A warning for each type that is not known, or else the acknowledgement.
fn accepted(message: Message<'_>) -> Vec<Response> {
    let mut unknown: Vec<&str> = Vec::new();
    for block in message.all_blocks().filter(|block| block.kind() == BlockKind::Unknown) {
        if !unknown.contains(&block.word()) {
            unknown.push(block.word());
        }
        if unknown.len() == MOST_WARNINGS {
            break;
        }
    }
    if unknown.is_empty() {
        return vec![Response::Ack];
    }
    unknown.iter().map(|word| Response::Warn { unknown_type: bounded(word) }).collect()
}

fn is_sequence(lexeme: &str) -> bool {
    let digits = lexeme.bytes().all(|byte| byte.is_ascii_digit());
    let number: Option<i64> = digits.then(|| lexeme.parse().ok()).flatten();
    // What is echoed has to be a number in the strict form.
    number.is_some_and(|number| number <= MAX_SEQUENCE as i64 && number.to_string() == lexeme)
}

/// A name as the strict form has it.
fn written(name: &str) -> String {
    if is_word(name) { name.to_owned() } else { quote(name) }
}

/// The start of a text that may quote a hostile one.
fn bounded(text: &str) -> String {
    cut(text, LONGEST_MESSAGE)
}

/// What stands in the sender's text, no longer than is needed to find it again.
fn clipped(text: &str) -> String {
    format!("`{}`", cut(text, LONGEST_QUOTE))
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

const LONGEST_QUOTE: usize = 40;

/// Enough for every message of ours with a long word in it; a reply is read by a model, which pays
/// for each word.
const LONGEST_MESSAGE: usize = 240;

/// A message with more types that nobody knows is noise, and the answer must not be.
const MOST_WARNINGS: usize = 16;
