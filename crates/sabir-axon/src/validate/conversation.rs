//! Conversations: who answers what (sections 3.4 and 7.1), and why a message was refused.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use sabir_base::{Diagnostic, Edit, Findings, Severity, Span, is_near};

use super::Rules;
use super::meta::{Header, Opening, is_reply};
use super::record::{claim, field, record_of, text, word};
use crate::codes;
use crate::performative::Performative;
use crate::tier::Tier;
use crate::tree::{Kind, NodeId, Tree};
use crate::view::{Expr, Message, Node, endpoint_agents};

/// What the messages of a document know of each other.
pub(super) struct Conversation<'a> {
    tree: &'a Tree<'a>,
    /// The first message with each id. Left empty for a single message, which can only name itself.
    ids: HashMap<Cow<'a, str>, NodeId>,
    /// The conversations that have been opened; kept only for a tier that asks.
    opened: HashSet<Cow<'a, str>>,
    tier: Option<Tier>,
}

impl<'a> Conversation<'a> {
    pub(super) fn open(tree: &'a Tree<'a>, rules: Rules, findings: &mut Findings) -> Self {
        let mut this = Self { tree, ids: HashMap::new(), opened: HashSet::new(), tier: rules.tier };
        let count = tree.messages().count();
        if count < 2 {
            return this;
        }
        for message in tree.messages().filter_map(Node::as_message) {
            let Some(id) = message.meta_value("id") else { continue };
            let Some(key) = text(id).filter(|key| !key.is_empty()) else { continue };
            if this.ids.is_empty() {
                this.ids.reserve(count);
            }
            match this.ids.entry(key) {
                std::collections::hash_map::Entry::Vacant(slot) => {
                    slot.insert(message.node.id());
                }
                std::collections::hash_map::Entry::Occupied(first) => {
                    let first = Node { tree, id: *first.get() };
                    duplicate_id(id, first, findings);
                }
            }
        }
        this
    }

    /// Whether the message starts its conversation, as far as the document shows. Asked once for
    /// each message, in order.
    pub(super) fn opens(&mut self, header: &Header<'a>) -> Opening {
        if self.tier.is_none_or(|tier| tier < Tier::Two) {
            return Opening::Unknown;
        }
        let Some(ctx) = header.ctx.and_then(text) else { return Opening::Unknown };
        if self.opened.insert(ctx) { Opening::Opens } else { Opening::Continues }
    }

    /// The message of this document that `re` names.
    pub(super) fn answered(&self, header: &Header<'a>) -> Option<Message<'a>> {
        let id = self.ids.get(&text(header.re?)?)?;
        Node { tree: self.tree, id: *id }.as_message()
    }

    pub(super) fn check(&self, header: &Header<'a>, opening: Opening, findings: &mut Findings) {
        let message = header.message;
        let Some(re) = header.re else {
            return self.check_reply_without_re(header, opening, findings);
        };
        let own = header.id.and_then(text).filter(|own| !own.is_empty());
        if own.is_some() && own == text(re) {
            return findings.error(|| {
                let message = "this message answers itself";
                Diagnostic::error(codes::REPLY_TO_ITSELF, re.span(), message)
                    .help("name the message that it answers, or leave `re` out")
            });
        }
        let Some(answered) = self.answered(header) else { return };
        if answered.node.id() > message.node.id() {
            return findings.error(|| {
                let text = "this message answers one that comes after it";
                Diagnostic::error(codes::REPLY_TO_LATER, re.span(), text)
                    .label(answered.performative_node().span(), "this is the message it names")
                    .help("put an answer behind the message that it answers")
            });
        }
        check_transition(message, answered, findings);
        check_parties(message, answered, findings);
    }

    fn check_reply_without_re(
        &self,
        header: &Header<'a>,
        opening: Opening,
        findings: &mut Findings,
    ) {
        let Some(performative) = header.message.performative() else { return };
        // Without an id the conversation is told by its order, as in section 9.
        let silent = header.id.is_none() || !header.whole || opening == Opening::Continues;
        if silent || !is_reply(performative) {
            return;
        }
        findings.info(|| {
            let word = performative.word();
            let message = format!("`{word}` is an answer, and does not say to what");
            let span = header.message.performative_node().span();
            Diagnostic::info(codes::REPLY_WITHOUT_RE, span, message)
                .help("name the message that it answers: `re:\"...\"`")
        });
    }
}

#[cold]
fn duplicate_id(id: Node<'_>, first: Node<'_>, findings: &mut Findings) {
    findings.error(|| {
        let first = first.as_message().and_then(|message| message.meta_value("id"));
        let message = format!("the id {} is taken", id.text());
        let found = Diagnostic::error(codes::DUPLICATE_ID, id.span(), message)
            .help("give every message an id of its own");
        match first {
            Some(first) => found.label(first.span(), "it is given here first"),
            None => found,
        }
    });
}

/// What a performative may answer. Nothing is said about those that may answer anything.
fn answerable(performative: Performative) -> &'static [Performative] {
    use Performative as P;
    match performative {
        P::Cfm | P::Dny => &[P::Inf, P::Rpl],
        P::Acc | P::Ctr => &[P::Pro, P::Ctr],
        // Section 3.2: a command is obeyed or refused with REJ.
        P::Rej => &[P::Pro, P::Ctr, P::Cmd],
        // Appendix B.2 answers REQ with RPL.
        P::Rpl => &[P::Qry, P::Req],
        P::Inf
        | P::Qry
        | P::Err
        | P::Req
        | P::Cmd
        | P::Pro
        | P::Del
        | P::Can
        | P::Sub
        | P::Uns
        | P::Pub
        | P::Ack
        | P::Nak
        | P::Syn => &[],
    }
}

/// What to answer a message with.
fn fitting(answered: Performative) -> &'static str {
    use Performative as P;
    match answered {
        P::Inf | P::Rpl => "CFM or DNY",
        P::Qry => "RPL",
        P::Req => "RPL or ERR",
        P::Cmd => "ACK, REJ or ERR",
        P::Pro | P::Ctr => "ACC, REJ or CTR",
        P::Cfm
        | P::Dny
        | P::Err
        | P::Acc
        | P::Rej
        | P::Del
        | P::Can
        | P::Sub
        | P::Uns
        | P::Pub
        | P::Ack
        | P::Nak
        | P::Syn => "INF or ACK",
    }
}

fn check_transition(reply: Message<'_>, answered: Message<'_>, findings: &mut Findings) {
    let (Some(performative), Some(to)) = (reply.performative(), answered.performative()) else {
        return;
    };
    let allowed = answerable(performative);
    if allowed.is_empty() || allowed.contains(&to) {
        return;
    }
    // Section 3.4 says "only" of the others; of RPL it says nothing, and the specification itself
    // stretches it.
    let severity =
        if performative == Performative::Rpl { Severity::Warning } else { Severity::Error };
    findings.add(severity, || {
        let (word, to_word) = (performative.word(), to.word());
        let message = format!("`{word}` cannot answer `{to_word}`");
        let help = format!(
            "`{word}` answers {}; answer `{to_word}` with {}",
            performative.info().answers,
            fitting(to)
        );
        Diagnostic::error(codes::WRONG_ANSWER, reply.performative_node().span(), message)
            .label(answered.performative_node().span(), "this is the message it answers")
            .help(help)
    });
}

/// A list longer than this is a broadcast, where everybody is involved.
const FEW: usize = 32;

fn check_parties(reply: Message<'_>, answered: Message<'_>, findings: &mut Findings) {
    use Performative as P;
    let addressed = reply.performative().is_some_and(|performative| {
        is_reply(performative) || matches!(performative, P::Ack | P::Nak)
    });
    let named = |message: Message<'_>| {
        let few = |end: Node<'_>| match end.kind() {
            Kind::Agent => true,
            Kind::Agents => end.children().take(FEW + 1).count() <= FEW,
            // Anyone may be meant, or nobody can tell.
            _ => false,
        };
        few(message.from) && few(message.to)
    };
    if !addressed || !named(reply) || !named(answered) {
        return;
    }
    if parties(reply).any(|agent| parties(answered).any(|other| other == agent)) {
        return;
    }
    findings.warning(|| {
        let span = reply.from.span().to(reply.to.span());
        let message = "neither side of this answer took part in what it answers";
        Diagnostic::warning(codes::STRANGERS_REPLY, span, message)
            .label(answered.from.span().to(answered.to.span()), "these did")
            .help("check `re`, or the sender and the receiver")
    });
}

fn parties(message: Message<'_>) -> impl Iterator<Item = &str> {
    endpoint_agents(message.from).chain(endpoint_agents(message.to))
}

/// Section 10: why a message was not processed.
const REASONS: [&str; 4] = ["invalid", "unauthorized", "busy", "unsupported"];

/// Checks the reason of a NAK, nested or not. Other messages need none.
pub(super) fn check_nak(message: Message<'_>, findings: &mut Findings) {
    if message.performative() != Some(Performative::Nak) {
        return;
    }
    let content = claim(message.content);
    if content.kind() == Kind::Error {
        return;
    }
    // `{reason:#busy}` or, shorter, `#busy`.
    let given = record_of(content).and_then(|record| field(record, "reason"));
    let reason = given.or_else(|| {
        matches!(content.kind(), Kind::Tag | Kind::Name | Kind::String).then_some(content)
    });
    let Some(reason) = reason else {
        return findings.info(|| {
            let span = message.performative_node().span();
            Diagnostic::info(codes::MISSING_NAK_REASON, span, "a NAK says why")
                .help("give `reason:` as #invalid, #unauthorized, #busy or #unsupported")
        });
    };
    let Some(word) = word(reason) else {
        // A variable or a call may stand for any of them.
        if !matches!(reason.expr(), Expr::Var(_) | Expr::Call { .. } | Expr::Error) {
            unknown_reason(reason, None, findings);
        }
        return;
    };
    if !REASONS.contains(&&*word) {
        unknown_reason(reason, REASONS.into_iter().find(|known| is_near(&word, known)), findings);
    }
}

#[cold]
fn unknown_reason(reason: Node<'_>, near: Option<&str>, findings: &mut Findings) {
    findings.warning(|| {
        let reason = reason.peeled();
        // A tag may carry a record; only its name is wrong.
        let length = match reason.expr() {
            Expr::Tag { name, .. } => name.len() as u32 + 1,
            _ => reason.span().len(),
        };
        let span = Span::new(reason.span().start, reason.span().start + length);
        let message = "a NAK knows four reasons, and this is none of them";
        let found = Diagnostic::warning(codes::UNKNOWN_NAK_REASON, span, message).help(
            "write #invalid, #unauthorized, #busy or #unsupported; application failures are ERR",
        );
        match near {
            Some(near) => found.fix(Edit::replace(span, format!("#{near}"))),
            None => found,
        }
    });
}
