//! What a word of an AXON text means.

use sabir_axon::{
    Expr, Kind, MetaField, MetaValue, Performative, Presence, Tier, Token, TokenKind, Tree, Unit,
};
use sabir_base::Span;

use crate::lsp::hover::quote;
use crate::notation::Notation;

use super::navigation;

/// What stands at `offset`, and what it means.
pub(in crate::lsp) fn explain(tree: &Tree<'_>, offset: u32) -> Option<(Span, String)> {
    let node = navigation::node_touching(tree, offset);
    let here = |text: String| Some((node.span(), text));
    match node.kind() {
        Kind::Performative => match Performative::from_word(node.text()) {
            Some(performative) => here(describe_performative(performative)),
            None => here(format!(
                "**{}**: an extension performative\n\nIts meaning is agreed between the agents.",
                node.text()
            )),
        },
        Kind::Number => match node.expr() {
            Expr::Number(number) => here(describe_unit(number.unit?)),
            _ => None,
        },
        Kind::String => {
            let answered = navigation::linked(tree, offset)?.target()?;
            let message = &tree.text()[answered.range()];
            here(format!("answers\n\n{}", quote(Notation::Axon, message)))
        }
        Kind::Field => {
            let field = node.as_field()?;
            let in_meta = navigation::meta_fields(tree).any(|other| other.node.id() == node.id());
            let on_key = offset <= field.key_span().end;
            let known = MetaField::from_key(&field.key()).filter(|_| in_meta && on_key)?;
            Some((field.key_span(), describe_field(known)))
        }
        _ => {
            let token = token_touching(tree, offset)?;
            Some((token.span(), describe_operator(token.kind)?.to_owned()))
        }
    }
}

pub(super) fn describe_performative(performative: Performative) -> String {
    let info = performative.info();
    let mut text = format!(
        "**{}**: {}\n\n- before: {}\n- after: {}",
        info.word, info.name, info.precondition, info.effect
    );
    if !info.answers.is_empty() {
        text.push_str("\n- answers: ");
        text.push_str(info.answers);
    }
    text
}

pub(super) fn describe_unit(unit: Unit) -> String {
    let category = unit.category();
    let kin: Vec<String> = Unit::ALL
        .into_iter()
        .filter(|other| other.category() == category)
        .map(|unit| format!("`{}`", unit.text()))
        .collect();
    format!(
        "`{}`: {}, a unit of {}\n\nCan be compared with {}.",
        unit.text(),
        unit_name(unit),
        category.name(),
        kin.join(", ")
    )
}

pub(super) fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Percent => "percent",
        Unit::Milliseconds => "milliseconds",
        Unit::Seconds => "seconds",
        Unit::Minutes => "minutes",
        Unit::Hours => "hours",
        Unit::Days => "days",
        Unit::Bytes => "bytes",
        Unit::Kilobytes => "kilobytes",
        Unit::Megabytes => "megabytes",
        Unit::Gigabytes => "gigabytes",
        Unit::Tokens => "tokens of a language model",
        Unit::Dollars => "US dollars",
        Unit::Euros => "euros",
    }
}

pub(super) fn describe_field(field: &MetaField) -> String {
    let value = match field.value {
        MetaValue::Text => "a string that is not empty",
        MetaValue::PositiveInteger => "a whole number above zero, without a unit",
        MetaValue::Priority => "a whole number from 0 (low) to 5 (critical)",
    };
    let tiers: Vec<String> = Tier::ALL
        .into_iter()
        .map(|tier| {
            let presence = match field.presence(tier) {
                Presence::Required => "required",
                Presence::RequiredInReply => "required, except where a conversation opens",
                Presence::Optional => "optional",
                Presence::Unlisted => "not listed",
            };
            format!("- tier {}: {presence}", tier.number())
        })
        .collect();
    let meaning = field_meaning(field.key);
    format!("**{}**: {meaning}\n\nTakes {value}.\n\n{}", field.key, tiers.join("\n"))
}

pub(super) fn field_meaning(key: &str) -> &'static str {
    match key {
        "id" => "names this message, so that others can refer to it",
        "%%" => "the version of the protocol",
        "re" => "the id of the message that this one answers",
        "ts" => "when it was sent, in seconds since 1970",
        "ctx" => "the conversation that it belongs to",
        "ttl" => "for how many seconds it is worth reading",
        "^" => "how urgent it is",
        "sig" => "a cryptographic signature of the message",
        "authz" => "on what authority the sender speaks",
        "tenant" => "for which customer of a shared system",
        "err_ns" => "whose list of error names is used",
        _ => "a field of the application's own",
    }
}

fn describe_operator(kind: TokenKind) -> Option<&'static str> {
    Some(match kind {
        TokenKind::Then => "`a -> b`: a, and then b. Binds looser than `&`, tighter than `<-`.",
        TokenKind::Cause => "`a <- b`: a, because of b. Binds loosest of all, and to the right.",
        TokenKind::Amp => "`a & b`: both. Binds looser than `|`: `a & b | c` is `a & (b | c)`.",
        TokenKind::Pipe => "`a | b`: one of them. Binds tighter than `&`.",
        TokenKind::Tilde => "`~a`: about a, not certain.",
        TokenKind::Range => "`a..b`: from a to b.",
        TokenKind::Star => "`*`: anybody.",
        TokenKind::Underscore => "`_`: nothing, null.",
        _ => return None,
    })
}

fn token_touching(tree: &Tree<'_>, offset: u32) -> Option<Token> {
    tree.tokens().find(|token| token.span().contains(offset))
}
