//! What a document means, checked: metadata, types, scope, conversations, profiles, advice.
//!
//! Validation is a pass of its own over a finished tree. It trusts nothing but the tree: what could
//! not be read (`Error` nodes) is passed over, because the parser has spoken about it already. It
//! refuses to know what lies outside the document: a reply to a message that is not here is fine.

mod conversation;
mod findings;
mod lint;
mod meta;
mod near;
mod record;
mod scope;
mod transaction;
mod types;
mod vote;
mod walk;

use sabir_base::Diagnostic;

use crate::parser::{Parsed, parse};
use crate::tier::Tier;
use crate::tree::{Kind, Tree};
use crate::view::Node;

use conversation::Conversation;
use findings::Findings;
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
    let mut findings = Findings::default();
    let mut walker = Walker::default();
    let mut conversation = Conversation::open(tree, rules, &mut findings);
    let mut transactions = Transactions::open(is_whole(tree));
    let mut votes = Votes::default();
    for message in tree.messages().filter_map(Node::as_message) {
        let header = Header::read(message, rules.tier, &mut findings);
        let opening = conversation.opens(&header);
        if let Some(tier) = rules.tier {
            header.check_presence(tier, opening, &mut findings);
        }
        walker.message(message, &mut findings);
        conversation.check(&header, opening, &mut findings);
        transactions.check(&header, &conversation, &mut findings);
        votes.check(message, &mut findings);
    }
    findings.sorted()
}

/// Parses and validates: everything that is wrong with a text, in the order of the text.
pub fn check(text: &str, rules: Rules) -> Parsed<'_> {
    let mut parsed = parse(text);
    let found = validate(&parsed.tree, rules);
    if !found.is_empty() {
        parsed.diagnostics.extend(found);
        findings::sort(&mut parsed.diagnostics);
    }
    parsed
}

/// Whether everything in the document was read as a message. What was not may have been the start
/// of something that seems to have none.
fn is_whole(tree: &Tree<'_>) -> bool {
    tree.root().children().all(|node| node.kind() != Kind::Error)
}
