//! What a document means, checked: metadata, types, scope, conversations, profiles, advice.
//!
//! Validation is a pass of its own over a finished tree. It trusts nothing but the tree: what could
//! not be read (`Error` nodes) is passed over, because the parser has spoken about it already. It
//! refuses to know what lies outside the document: a reply to a message that is not here is fine.

mod conversation;
mod damage;
mod lint;
mod meta;
mod record;
mod scope;
mod transaction;
mod types;
mod vote;
mod walk;

use sabir_base::{Diagnostic, Findings, Span};

use crate::codes;
use crate::parser::{Parsed, parse};
use crate::tier::Tier;
use crate::tree::Tree;
use crate::view::Node;

use conversation::Conversation;
use damage::Damage;
use meta::Header;
use transaction::Transactions;
use vote::Votes;
use walk::Walker;

/// What is asked of a document beyond the rules that always hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The compliance tier that every message must reach. Without one no metadata is demanded, but
    /// what is there must still be well-formed.
    pub tier: Option<Tier>,
}

/// Findings about meaning, in the order of the text. The tree may come from a text with syntax
/// errors: what was read is checked, what was not is left alone.
pub fn validate(tree: &Tree<'_>, rules: Rules) -> Vec<Diagnostic> {
    run(tree, rules, &Damage::of(tree, &[]))
}

/// Parses and validates: everything that is wrong with a text, in the order of the text.
pub fn check(text: &str, rules: Rules) -> Parsed<'_> {
    let mut parsed = parse(text);
    let damage = match parsed.has_errors() {
        true => Damage::of(&parsed.tree, &parsed.diagnostics),
        false => Damage::default(),
    };
    let found = run(&parsed.tree, rules, &damage);
    parsed.diagnostics.extend(found);
    sort(&mut parsed.diagnostics);
    parsed
}

fn run(tree: &Tree<'_>, rules: Rules, damage: &Damage) -> Vec<Diagnostic> {
    let mut findings = Findings::new(codes::TOO_MANY_ERRORS);
    let mut walker = Walker::new(damage);
    let mut conversation = Conversation::open(tree, rules, &mut findings);
    let mut transactions = Transactions::default();
    let mut votes = Votes::default();
    let mut before = Span::at(0);
    for message in tree.messages().filter_map(Node::as_message) {
        let span = message.node.span();
        let header = Header::read(message, rules.tier, damage, &mut findings);
        let opening = conversation.opens(&header);
        if let Some(tier) = rules.tier {
            // Metadata may have been swallowed by what stands in front of the message.
            if header.whole && !(message.meta_node().is_none() && damage.touches(before)) {
                header.check_presence(tier, opening, &mut findings);
            }
        }
        walker.message(message, &mut findings);
        conversation.check(&header, opening, &mut findings);
        if !damage.touches(span) {
            conversation::check_nak(message, &mut findings);
            // The start of a transaction may stand in what could not be read.
            if damage.is_none() || header.txn_id.is_none() {
                transactions.check(&header, &conversation, &mut findings);
            }
            votes.check(message, &mut findings);
        }
        before = span;
    }
    let mut list = findings.into_list();
    sort(&mut list);
    list
}

/// By place; what is at the same place keeps its order.
fn sort(list: &mut [Diagnostic]) {
    list.sort_by_key(|found| (found.span.start, found.span.end));
}
