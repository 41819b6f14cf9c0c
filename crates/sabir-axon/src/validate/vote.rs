//! The coordination profile (appendix B.2): a vote is asked for, given and counted.
//!
//! Votes are told apart by `vote_id`. What this document does not show is not held against anyone:
//! a vote without its question is fine, and so is a result whose votes were given elsewhere.

use std::borrow::Cow;
use std::collections::HashMap;

use sabir_base::{Diagnostic, Findings, Span};

use super::record::{count, field, record_of, text, word};
use crate::codes;
use crate::performative::Performative;
use crate::tree::Kind;
use crate::view::{Expr, Message, Node, endpoint_agents};

/// The votes of a document.
#[derive(Default)]
pub(super) struct Votes<'a> {
    ballots: HashMap<Cow<'a, str>, Ballot<'a>>,
}

#[derive(Default)]
struct Ballot<'a> {
    /// Who was asked, and where each of them voted.
    voters: HashMap<&'a str, Option<Span>>,
    /// Anyone was asked, so that nobody knows how many there are.
    open: bool,
    threshold: Option<u64>,
    counts: HashMap<Cow<'a, str>, u64>,
    /// How many votes were counted, whatever they said.
    counted: u64,
}

impl Ballot<'_> {
    /// Everyone who was asked has voted.
    fn is_complete(&self) -> bool {
        !self.open && self.counted == self.voters.len() as u64
    }
}

impl<'a> Votes<'a> {
    #[inline]
    pub(super) fn check(&mut self, message: Message<'a>, findings: &mut Findings) {
        use Performative as P;
        let Some(performative @ (P::Req | P::Rpl | P::Inf)) = message.performative() else {
            return;
        };
        let Some(record) = record_of(message.content) else { return };
        let Some(id) = field(record, "vote_id").and_then(text) else { return };
        match performative {
            P::Req => self.ask(message, record, id, findings),
            P::Rpl => self.vote(message, record, &id, findings),
            _ => self.tell(record, &id, findings),
        }
    }

    fn ask(
        &mut self,
        message: Message<'a>,
        record: Node<'a>,
        id: Cow<'a, str>,
        findings: &mut Findings,
    ) {
        // Without a threshold it only speaks about a vote.
        let Some(threshold) = field(record, "threshold") else { return };
        let ballot = self.ballots.entry(id).or_default();
        ballot.open |= !matches!(message.to.kind(), Kind::Agent | Kind::Agents);
        for voter in endpoint_agents(message.to) {
            ballot.voters.entry(voter).or_default();
        }
        ballot.threshold = count(threshold).filter(|&threshold| threshold > 0);
        check_threshold(threshold, ballot, findings);
    }

    fn vote(&mut self, message: Message<'a>, record: Node<'a>, id: &str, findings: &mut Findings) {
        let Some(vote) = field(record, "vote") else { return };
        let Some(ballot) = self.ballots.get_mut(id) else { return };
        let mut senders = endpoint_agents(message.from);
        let (Some(voter), None) = (senders.next(), senders.next()) else { return };
        let span = message.from.span();
        if ballot.open {
            ballot.voters.entry(voter).or_default();
        }
        match ballot.voters.get_mut(voter) {
            None => {
                return findings.error(|| {
                    let message = format!("`@{voter}` was not asked to vote");
                    Diagnostic::error(codes::UNASKED_VOTER, span, message)
                        .help("ask every voter in the REQ that opens the vote")
                });
            }
            Some(Some(first)) => {
                let first = *first;
                return findings.error(|| {
                    Diagnostic::error(codes::SECOND_VOTE, span, format!("`@{voter}` votes again"))
                        .label(first, "it voted here")
                        .help("one vote for each voter; open another vote to change it")
                });
            }
            Some(unused) => *unused = Some(span),
        }
        ballot.counted += 1;
        if let Some(option) = word(vote) {
            *ballot.counts.entry(option).or_default() += 1;
        }
    }

    fn tell(&mut self, record: Node<'a>, id: &str, findings: &mut Findings) {
        let ballot = self.ballots.get(id);
        let tally = field(record, "tally");
        let counted = tally.map(Node::peeled).filter(|tally| tally.kind() == Kind::Record);
        if let (Some(tally), Some(ballot)) = (counted, ballot) {
            check_tally(tally, ballot, findings);
        }
        check_outcome(record, counted, ballot, findings);
    }
}

fn check_threshold(threshold: Node<'_>, ballot: &Ballot<'_>, findings: &mut Findings) {
    let message = match (count(threshold), threshold.expr()) {
        (Some(1..), _) => {
            let voters = ballot.voters.len() as u64;
            if ballot.open || ballot.threshold.is_some_and(|threshold| threshold <= voters) {
                return;
            }
            format!("the threshold is higher than the number of voters, which is {voters}")
        }
        // Only the receiver knows what these stand for.
        (None, Expr::Name(_) | Expr::Var(_) | Expr::Call { .. } | Expr::Error) => return,
        _ => "the threshold is a whole number above zero".to_owned(),
    };
    findings.error(|| {
        Diagnostic::error(codes::BAD_THRESHOLD, threshold.span(), message)
            .help("write how many votes are needed, at most as many as voters are asked")
    });
}

fn check_tally(tally: Node<'_>, ballot: &Ballot<'_>, findings: &mut Findings) {
    let complete = ballot.is_complete();
    let mut told = 0u64;
    let mut wrong = None;
    for option in tally.children() {
        // A count that is no number cannot be compared, and neither can the sum.
        let Some(option) = option.as_field() else { return };
        let Some(number) = count(option.value) else { return };
        told = told.saturating_add(number);
        let given = ballot.counts.get(&option.key()).copied().unwrap_or(0);
        if number < given || complete && number != given {
            wrong.get_or_insert((option, given));
        }
    }
    let voters = ballot.voters.len() as u64;
    let (span, message) = match wrong {
        Some((option, given)) => {
            let key = option.key();
            (option.node.span(), format!("{given} of the votes in this document say `{key}`"))
        }
        None if complete && told != ballot.counted => {
            (tally.span(), format!("{} votes were given, and {told} are counted", ballot.counted))
        }
        None if !ballot.open && told > voters => {
            (tally.span(), format!("{told} votes are counted, and {voters} voters were asked"))
        }
        None => return,
    };
    findings.error(|| {
        Diagnostic::error(codes::WRONG_TALLY, span, message)
            .help("count every vote once, under the word that it gave")
    });
}

/// Words for "yes" and for "no", as votes and as keys of a tally.
fn is_yes(option: &str) -> bool {
    matches!(option, "yes" | "approve" | "accept" | "aye" | "for" | "T")
}

fn is_no(option: &str) -> bool {
    matches!(option, "no" | "reject" | "deny" | "nay" | "against" | "F")
}

/// What a result says about the question, if it is one of the words that say so.
fn is_approval(result: &str) -> Option<bool> {
    match result {
        "approved" | "accepted" | "passed" => Some(true),
        "rejected" | "denied" | "declined" | "failed" => Some(false),
        _ => None,
    }
}

fn check_outcome(
    record: Node<'_>,
    tally: Option<Node<'_>>,
    ballot: Option<&Ballot<'_>>,
    findings: &mut Findings,
) {
    let met_field = field(record, "threshold_met");
    let met = met_field.and_then(|value| match value.expr() {
        Expr::Bool(met) => Some(met),
        _ => None,
    });
    let result_field = field(record, "result");
    let result = result_field.and_then(word).and_then(|result| is_approval(&result));
    let threshold = ballot.and_then(|ballot| ballot.threshold);
    let reached = tally.and_then(yes_votes).zip(threshold).map(|(yes, needed)| yes >= needed);
    let (span, message) = match (met_field, result_field, reached) {
        (Some(field), _, Some(reached)) if met.is_some_and(|met| met != reached) => {
            let not = if reached { "" } else { "not " };
            (field.span(), format!("by the tally the threshold is {not}met"))
        }
        (_, Some(field), Some(reached)) if result.is_some_and(|result| result != reached) => {
            let outcome = if reached { "approved" } else { "rejected" };
            (field.span(), format!("by the tally the question is {outcome}"))
        }
        (Some(_), Some(field), None) if met.zip(result).is_some_and(|(a, b)| a != b) => {
            (field.span(), "the result contradicts `threshold_met`".to_owned())
        }
        _ => return,
    };
    findings.error(|| {
        Diagnostic::error(codes::WRONG_OUTCOME, span, message)
            .help("make `tally`, `threshold_met` and `result` say the same")
    });
}

/// How many said yes; nothing when the options are not a yes and a no.
fn yes_votes(tally: Node<'_>) -> Option<u64> {
    let mut yes = 0u64;
    let mut understood = false;
    for option in tally.children() {
        let option = option.as_field()?;
        let number = count(option.value)?;
        let key = option.key();
        understood |= is_yes(&key) || is_no(&key);
        if is_yes(&key) {
            yes = yes.saturating_add(number);
        }
    }
    understood.then_some(yes)
}
