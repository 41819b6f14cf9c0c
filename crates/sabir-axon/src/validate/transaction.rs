//! The transaction profile (appendix B.1): `txn_id`, `txn_state`, and the order of states.
//!
//! A transaction may have several participants. Each of them gets its own proposal, gives its own
//! answer and hears the outcome, so a state may be said again; it may never go back.

use std::borrow::Cow;
use std::collections::HashMap;

use sabir_base::{Diagnostic, Edit, Findings, Severity, is_near};

use super::conversation::Conversation;
use super::meta::{Header, is_reply};
use super::record::{text, word};
use crate::codes;
use crate::performative::Performative;
use crate::tree::NodeId;
use crate::view::{Expr, Message, Node};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Proposed,
    Accepted,
    Committed,
    Aborted,
}

impl State {
    const ALL: [State; 4] = [Self::Proposed, Self::Accepted, Self::Committed, Self::Aborted];

    fn word(self) -> &'static str {
        match self {
            State::Proposed => "proposed",
            State::Accepted => "accepted",
            State::Committed => "committed",
            State::Aborted => "aborted",
        }
    }

    fn is_final(self) -> bool {
        matches!(self, State::Committed | State::Aborted)
    }

    /// Whether `next` may be said of a transaction in this state, by anyone.
    fn may_become(self, next: State) -> bool {
        match (self, next) {
            (State::Proposed, State::Proposed | State::Accepted | State::Aborted)
            | (State::Accepted, State::Accepted | State::Committed | State::Aborted) => true,
            (State::Proposed, State::Committed)
            | (State::Accepted, State::Proposed)
            | (State::Committed | State::Aborted, _) => false,
        }
    }

    /// The performatives that bring a transaction into this state.
    fn said_by(self) -> &'static [Performative] {
        use Performative as P;
        match self {
            State::Proposed => &[P::Pro, P::Ctr],
            State::Accepted => &[P::Acc],
            State::Committed => &[P::Cmd],
            State::Aborted => &[P::Can, P::Rej, P::Err],
        }
    }
}

/// How much of another message is repeated in a finding. Many findings may be about one message, so
/// without a bound they could be far larger than the document.
const SHORT: usize = 200;

/// The transactions of a document.
#[derive(Default)]
pub(super) struct Transactions<'a> {
    /// The last message about each, and the state it told.
    last: HashMap<Cow<'a, str>, (State, Message<'a>)>,
    /// The `txn_id` of each message that has one, and its text. The text is read once: it may be long,
    /// and there may be many answers.
    members: HashMap<NodeId, (Node<'a>, Option<Cow<'a, str>>)>,
}

impl<'a> Transactions<'a> {
    pub(super) fn check(
        &mut self,
        header: &Header<'a>,
        conversation: &Conversation<'a>,
        findings: &mut Findings,
    ) {
        if !self.shares_id(header, conversation, findings) {
            return;
        }
        if let Some(id) = header.txn_id {
            self.members.insert(header.message.node.id(), (id, text(id)));
        }
        match (header.txn_id, header.txn_state) {
            (None, None) => {}
            (Some(id), Some(state)) => self.check_state(header, conversation, id, state, findings),
            (Some(one), None) => incomplete(one, "txn_id", "txn_state", findings),
            (None, Some(one)) => incomplete(one, "txn_state", "txn_id", findings),
        }
    }

    /// Whether an answer within a transaction names the transaction, reported if it does not.
    fn shares_id(
        &self,
        header: &Header<'a>,
        conversation: &Conversation<'a>,
        findings: &mut Findings,
    ) -> bool {
        let Some(re) = header.re.filter(|_| !self.members.is_empty()) else { return true };
        let Some(answered) = conversation.answered(header) else { return true };
        let Some((theirs, Some(shared))) = self.members.get(&answered.node.id()) else {
            return true;
        };
        let reply = header.message.performative().is_some_and(is_reply);
        let (at, severity) = match header.txn_id {
            // A malformed id is reported as such.
            Some(own) if text(own).is_none_or(|own| own == *shared) => return true,
            Some(own) => (own, Severity::Error),
            None if reply => (re, Severity::Warning),
            None => return true,
        };
        findings.add(severity, || {
            let message = "this answer leaves the transaction of the message it answers";
            Diagnostic::error(codes::TRANSACTION_LEFT, at.span(), message)
                .label(theirs.span(), "that message belongs to this transaction")
                .help(match theirs.text() {
                    short if short.len() <= SHORT => format!("write `txn_id:{short}`"),
                    _ => "write the `txn_id` of that message".to_owned(),
                })
        });
        false
    }

    fn check_state(
        &mut self,
        header: &Header<'a>,
        conversation: &Conversation<'a>,
        id: Node<'a>,
        value: Node<'a>,
        findings: &mut Findings,
    ) {
        let Some(state) = read_state(value, findings) else { return };
        let message = header.message;
        check_performative(message, state, value, findings);
        let Some(id) = text(id).filter(|id| !id.is_empty()) else { return };
        let before = self.last.insert(id, (state, message));
        let Some((last, told)) = before else {
            // An answer to a message that is not here goes on with what started elsewhere.
            let elsewhere = header.re.is_some() && conversation.answered(header).is_none();
            if state != State::Proposed && !elsewhere {
                findings.error(|| {
                    let message =
                        format!("a transaction starts with #proposed, not with #{}", state.word());
                    Diagnostic::error(codes::TRANSACTION_ORDER, value.span(), message)
                        .help("propose it first: `PRO` with `txn_state:#proposed`")
                });
            }
            return;
        };
        // The outcome is told to every participant.
        let told_again = state == last
            && message.from.text() == told.from.text()
            && message.to.text() != told.to.text();
        if last.may_become(state) || last.is_final() && told_again {
            return;
        }
        findings.error(|| {
            let (last_word, word) = (last.word(), state.word());
            let text = format!("a transaction that is {last_word} cannot become {word}");
            let help = match last {
                State::Proposed => "a proposed transaction is accepted or aborted first",
                State::Accepted => "an accepted transaction is committed or aborted",
                State::Committed | State::Aborted => "it is over; start another with a new txn_id",
            };
            Diagnostic::error(codes::TRANSACTION_ORDER, value.span(), text)
                .label(told.performative_node().span(), format!("it is {last_word} here"))
                .help(help)
        });
        // One step in the wrong direction is one finding: the state before still holds.
        if let Some(id) = header.txn_id.and_then(text) {
            self.last.insert(id, (last, told));
        }
    }
}

/// The state that a value names, reported if it names none.
fn read_state(value: Node<'_>, findings: &mut Findings) -> Option<State> {
    let expr = value.expr();
    if matches!(expr, Expr::Error) {
        return None;
    }
    let word = word(value);
    let word = word.as_deref().unwrap_or_default();
    let known = State::ALL.into_iter().find(|state| state.word() == word);
    if known.is_some() && matches!(expr, Expr::Tag { record: None, .. }) {
        return known;
    }
    let near = known.or_else(|| State::ALL.into_iter().find(|state| is_near(word, state.word())));
    findings.error(|| {
        let message = "`txn_state` is #proposed, #accepted, #committed or #aborted";
        let found = Diagnostic::error(codes::UNKNOWN_TRANSACTION_STATE, value.span(), message);
        match near {
            Some(near) => found
                .help(format!("write `txn_state:#{}`", near.word()))
                .fix(Edit::replace(value.span(), format!("#{}", near.word()))),
            None => found.help("write one of the four states"),
        }
    });
    known
}

fn check_performative(
    message: Message<'_>,
    state: State,
    value: Node<'_>,
    findings: &mut Findings,
) {
    let Some(performative) = message.performative() else { return };
    if state.said_by().contains(&performative) {
        return;
    }
    findings.warning(|| {
        let words: Vec<_> =
            state.said_by().iter().map(|performative| performative.word()).collect();
        let (word, state) = (performative.word(), state.word());
        let text = format!("`{word}` does not make a transaction {state}");
        Diagnostic::warning(
            codes::TRANSACTION_PERFORMATIVE,
            message.performative_node().span(),
            text,
        )
        .label(value.span(), "this is the state it tells")
        .help(format!("#{state} is said with {}", words.join(" or ")))
    });
}

#[cold]
fn incomplete(at: Node<'_>, here: &str, missing: &str, findings: &mut Findings) {
    findings.error(|| {
        let message = format!("`{here}` stands without `{missing}`");
        Diagnostic::error(codes::TRANSACTION_INCOMPLETE, at.span(), message)
            .help(format!("add `{missing}`, or leave `{here}` out"))
    });
}
