//! The table itself: documents, metadata, routing. Expressions and words have files of their own.

use sabir_grammar::{
    Depth, Expr, Introduction, Table, choice, class, lit, many, one_of, opt, rule, seq,
};

use super::options::{AgentName, Options};
use super::punctuation::{comma, comma_separated, ws};
use super::{expression, lexical};
use crate::performative::Performative;
use crate::tier::{MetaField, MetaValue, Presence, Tier};

/// White space is explicit everywhere: it may stand between tokens, but not inside a name or
/// between a number and its unit, so no dialect's blanket "ignore white space" would do.
pub(super) fn build(options: &Options) -> Table {
    let mut table = Table::new(INTRODUCTION);
    let depth = Depth::new(options.max_depth);
    add_document(&mut table, options, depth);
    match options.tier {
        Some(tier) => add_meta_template(&mut table, tier),
        None => add_meta(&mut table, depth),
    }
    add_performatives(&mut table, options);
    add_routing(&mut table, &options.agents);
    expression::add(&mut table, depth);
    lexical::add(&mut table);
    table.without_unreachable()
}

const INTRODUCTION: Introduction = Introduction {
    ebnf: "AXON, without comments. White space is written out (ws, space): where neither stands, \
           none is allowed.",
    lark: "AXON for llguidance. Comments are not part of it. White space is explicit: do not add \
           %ignore.",
    gbnf: "AXON for llama.cpp. Comments are not part of it.",
};

fn add_document(table: &mut Table, options: &Options, depth: Depth) {
    let more = many(seq([rule("space"), rule("full_message")]));
    table.phrase("document", seq([ws(), opt(seq([rule("full_message"), more, ws()]))]));
    let meta = seq([rule("meta"), ws()]);
    let meta = if options.tier.is_some() { meta } else { opt(meta) };
    table.phrase("full_message", seq([meta, rule(depth.name("message"))]));
}

fn add_meta(table: &mut Table, depth: Depth) {
    table
        .phrase("meta", seq([lit("["), ws(), comma_separated(rule("meta_field")), ws(), lit("]")]));
    let value = rule(depth.name("expression"));
    table.phrase("meta_field", seq([rule("meta_key"), ws(), lit(":"), ws(), value]));
    table.phrase("meta_key", choice([rule("segment"), lit("^"), lit("%%")]));
}

/// The fields of the tier, each at most once and in one order: it leaves the model no way to write
/// a field twice, which a free list of fields would.
fn add_meta_template(table: &mut Table, tier: Tier) {
    let mut parts = vec![lit("["), ws()];
    for (index, field) in MetaField::ALL.iter().enumerate() {
        let value = match field.value {
            MetaValue::Text => rule("text"),
            MetaValue::PositiveInteger => rule("positive"),
            MetaValue::Priority => rule("priority"),
        };
        let pair = seq([lit(field.key), ws(), lit(":"), ws(), value]);
        let whole = if index == 0 { pair } else { seq([comma(), pair]) };
        match field.presence(tier) {
            Presence::Required => parts.push(whole),
            Presence::RequiredInReply | Presence::Optional => parts.push(opt(whole)),
            Presence::Unlisted => {}
        }
    }
    parts.extend([ws(), lit("]")]);
    table.phrase("meta", Expr::Sequence(parts));
    table.token("positive", seq([class(&[('1', '9')]), many(class(&[('0', '9')]))]));
    table.token("priority", class(&[('0', '5')]));
}

fn add_performatives(table: &mut Table, options: &Options) {
    let chosen = |performative: &Performative| {
        options.performatives.is_empty() || options.performatives.contains(performative)
    };
    let words = |keep: &dyn Fn(&Performative) -> bool| {
        one_of(Performative::ALL.iter().filter(|p| keep(p)).map(|p| lit(p.word())).collect())
    };
    if options.extensions {
        table.phrase(
            "performative",
            choice([rule("core_performative"), rule("extension_performative")]),
        );
        table.phrase(
            "extension_performative",
            seq([lit("X"), lit("."), rule("segment"), lit("."), rule("segment")]),
        );
    } else {
        table.phrase("performative", rule("core_performative"));
    }
    table.phrase("core_performative", words(&chosen));
    table.phrase("performative_word", words(&|_| true));
    table.because("All of them: a word that may not open a message here is still not a free name.");
}

fn add_routing(table: &mut Table, agents: &[AgentName]) {
    table.phrase(
        "routing",
        seq([lit("("), ws(), rule("sender"), lit(">"), ws(), rule("receiver"), ws(), lit(")")]),
    );
    table.phrase("receiver", choice([rule("agent"), rule("wildcard"), rule("agent_list")]));
    table.phrase("wildcard", lit("*"));
    table.phrase(
        "agent_list",
        seq([lit("["), ws(), comma_separated(rule("agent")), ws(), lit("]")]),
    );

    let mut senders = Vec::new();
    if agents.is_empty() {
        table.phrase("agent", seq([lit("@"), rule("name")]));
        senders.push(seq([lit("@"), rule("name_solid"), ws()]));
        senders.push(seq([lit("@"), rule("name_dashed"), rule("space")]));
    } else {
        let (dashed, solid): (Vec<_>, Vec<_>) =
            agents.iter().partition(|agent| agent.ends_in_dash());
        let mut either = Vec::new();
        for (name, agents, gap) in
            [("agent_solid", solid, ws()), ("agent_dashed", dashed, rule("space"))]
        {
            if agents.is_empty() {
                continue;
            }
            let literals = agents.iter().map(|agent| lit(&format!("@{agent}"))).collect();
            table.token(name, one_of(literals));
            either.push(rule(name));
            senders.push(seq([rule(name), gap]));
        }
        table.phrase("agent", one_of(either));
    }
    senders.push(seq([rule("wildcard"), ws()]));
    senders.push(seq([rule("agent_list"), ws()]));
    table.phrase("sender", one_of(senders));
}
