//! Tool calls: every decision in one committed table, and what holds for all facts there can be.

use std::collections::BTreeSet;
use std::fmt::Write;

use expect_test::expect_file;
use proptest::prelude::*;
use sabir_policy::{
    Action, AddressKind, ApprovalPolicy, Budget, CallFacts, Decision, Facts, FieldKind, Labels,
    Offer, OriginKind, Outcome, Reading, RuleId, Ruling, SandboxPolicy, Scope, Stance, ToolEffects,
    Verdict, Waivable, decide, tool_names,
};
use serde_json::{Value, json};

fn ask_gate(facts: CallFacts, approval: ApprovalPolicy, ruling: Ruling, granted: bool) -> Decision {
    let (sandbox, action) = (&SandboxPolicy::default(), Action::Call(facts));
    decide(&Facts { approval, sandbox, action, granted, ruling })
}

fn plain(facts: CallFacts) -> Decision {
    ask_gate(facts, ApprovalPolicy::OnRequest, Ruling::default(), false)
}

/// Each tool, and each that its arguments make another of.
fn tools() -> Vec<(String, Labels)> {
    let mut tools = Vec::new();
    for name in tool_names() {
        tools.push((name.to_owned(), Labels::of_name(name).unwrap()));
        let variant = match name {
            "artifact.share" => Some(("to other programs", json!({ "target": "share_sheet" }))),
            "artifact.open" => Some(("in a browser", json!({ "target": "browser" }))),
            "collection.add_sources" => {
                Some(("with addresses", json!({ "sources": [{ "type": "url", "url": "x" }] })))
            }
            _ => None,
        };
        if let Some((words, arguments)) = variant {
            let labels = Labels::of_tool(name, arguments.as_object().unwrap());
            tools.push((format!("{name} {words}"), labels));
        }
    }
    tools.push(("a tool that nobody described".to_owned(), Labels::ALL));
    tools
}

/// What can be special about a call of this tool.
fn variants(tool: &str, labels: Labels) -> Vec<(String, CallFacts)> {
    let base = CallFacts::plain(labels);
    let mut variants = Vec::new();
    let takes_address = ["navigate", "open_tab", "capture", "addresses"];
    if takes_address.iter().any(|it| tool.ends_with(it)) {
        for (word, address) in [
            ("typed", AddressKind::Typed),
            ("linked", AddressKind::Linked),
            ("found", AddressKind::Found),
            ("invented", AddressKind::Invented),
            ("unusable", AddressKind::Unusable),
        ] {
            let facts = CallFacts { address: Some(address), ..base };
            variants.push((format!("url {word}"), facts));
        }
        let facts = CallFacts { address: Some(AddressKind::Linked), ..base };
        let elsewhere = CallFacts { origin: OriginKind::Other, ..facts };
        variants.push(("url linked, other origin".to_owned(), elsewhere));
    } else if ["browser.type", "browser.select"].contains(&tool) {
        for (word, kind) in [
            ("ordinary", FieldKind::Ordinary),
            ("unknown", FieldKind::Unknown),
            ("credential", FieldKind::Credential),
            ("payment", FieldKind::Payment),
            ("personal id", FieldKind::PersonalId),
        ] {
            variants.push((format!("field {word}"), CallFacts { field: Some(kind), ..base }));
        }
        let field = Some(FieldKind::Ordinary);
        let sensitive = CallFacts { field, sensitive: true, ..base };
        variants.push(("sensitive text".to_owned(), sensitive));
        let elsewhere = CallFacts { field, origin: OriginKind::Other, ..base };
        variants.push(("other origin".to_owned(), elsewhere));
    } else {
        variants.push(("as it is".to_owned(), base));
        if ["search", "integration.invoke"].contains(&tool) {
            let sensitive = CallFacts { sensitive: true, ..base };
            variants.push(("sensitive text".to_owned(), sensitive));
        }
        if tool.starts_with("browser.") {
            let elsewhere = CallFacts { origin: OriginKind::Other, ..base };
            variants.push(("other origin".to_owned(), elsewhere));
        }
    }
    let (_, usual) = variants[0].clone();
    let takes_name = ["collection.", "source.", "artifact.share", "artifact.open", "transform.run"];
    let is_new = tool.starts_with("collection.create");
    if takes_name.iter().any(|it| tool.starts_with(it)) && !is_new {
        let other = CallFacts { scope: Scope::Other, ..usual };
        variants.push(("of another collection".to_owned(), other));
    }
    let unasked = CallFacts { offer: Offer::NotMade, ..usual };
    variants.push(("not offered".to_owned(), unasked));
    let loose = CallFacts { reading: Reading::Loose, ..usual };
    variants.push(("answer not strict".to_owned(), loose));
    let no_asks = CallFacts { budget: Budget::NoAsks, ..usual };
    variants.push(("no asks left".to_owned(), no_asks));
    let no_calls = CallFacts { budget: Budget::NoCalls, ..usual };
    variants.push(("no calls left".to_owned(), no_calls));
    variants
}

/// Clean, private, untrusted, both.
const TAINTS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

/// LC-G43, LC-G44, LC-G1, LC-G2, LC-G11, LC-G12, LC-G15, LC-G16, LC-G17, LC-G18, LC-G19, LC-G20, LC-G21, LC-G22: the
/// whole table, for reading.
#[test]
fn the_table_is_as_committed() {
    let mut table = String::from(
        "Every tool with what can be special about its call: what the gate says and why, by what the\n\
         model has read. The last lines of a tool are for the first special thing again, under other\n\
         approval policies and policy files. With `never`, what would be asked for is refused.\n",
    );
    for (tool, labels) in tools() {
        let names = labels.names().join(" ");
        let names = if names.is_empty() { "no label" } else { &names };
        write!(table, "\n{tool}: {names}\n").unwrap();
        let head = ["", "nothing", "private", "untrusted", "private and untrusted"];
        write_line(&mut table, head.map(str::to_owned));
        let variants = variants(&tool, labels);
        let usual = variants[0].clone();
        for (name, facts) in variants {
            let cells = TAINTS
                .map(|taint| cell(facts, taint, ApprovalPolicy::OnRequest, ruling(Stance::Silent)));
            write_row(&mut table, &name, cells);
        }
        for (name, approval, stance) in [
            ("policy untrusted", ApprovalPolicy::Untrusted, Stance::Silent),
            ("file asks", ApprovalPolicy::OnRequest, Stance::Ask),
            ("file denies", ApprovalPolicy::OnRequest, Stance::Deny),
        ] {
            let cells = TAINTS.map(|taint| cell(usual.1, taint, approval, ruling(stance)));
            write_row(&mut table, name, cells);
        }
    }
    expect_file!["../data/calls.txt"].assert_eq(&table);
}

fn ruling(stance: Stance) -> Ruling {
    Ruling { stance, ..Ruling::default() }
}

fn cell(
    facts: CallFacts,
    (untrusted, private): (bool, bool),
    approval: ApprovalPolicy,
    ruling: Ruling,
) -> String {
    let facts = CallFacts { untrusted, private, ..facts };
    let decision = ask_gate(facts, approval, ruling, false);
    format!("{:<5} {}", word(&decision.outcome), decision.rule.reason_code())
}

fn write_row(table: &mut String, name: &str, cells: [String; 4]) {
    let [a, b, c, d] = cells;
    write_line(table, [name.to_owned(), a, b, c, d]);
}

fn write_line(table: &mut String, [name, a, b, c, d]: [String; 5]) {
    let line = format!("  {name:<25} {a:<26} {b:<26} {c:<26} {d}");
    writeln!(table, "{}", line.trim_end()).unwrap();
}

/// LC-G1: the table has the tools of LLMCP, and arguments can only add labels.
#[test]
fn every_tool_is_labelled() {
    assert_eq!(tool_names().collect::<BTreeSet<_>>().len(), 24);
    for name in tool_names() {
        for arguments in [
            json!({}),
            json!({ "target": "share_sheet" }),
            json!({ "target": "browser" }),
            json!({ "sources": [{ "type": "note", "text": "x" }] }),
            json!({ "sources": [{ "type": "note" }, { "type": "url", "url": "x" }] }),
            json!({ "sources": 1 }),
        ] {
            let of_name = Labels::of_name(name).unwrap().names();
            let found = Labels::of_tool(name, arguments.as_object().unwrap()).names();
            assert!(of_name.iter().all(|label| found.contains(label)), "{name} {arguments}");
        }
    }
    let sources = |value: Value| {
        Labels::of_tool("collection.add_sources", json!({ "sources": value }).as_object().unwrap())
    };
    assert!(!sources(json!([{ "type": "note" }])).egress);
    assert!(sources(json!([{ "type": "note" }, { "type": "URL" }])).egress);
    assert!(sources(Value::Null).egress);
}

/// LC-G2, LC-G3: everything that the gate decides about has labels.
#[test]
fn every_action_is_labelled() {
    assert_eq!(Labels::of_tool("browser.eval", &serde_json::Map::new()), Labels::ALL);
    let command = |assessment, escalated| Action::Command { assessment, escalated };
    for (action, expected) in [
        (command(Verdict::Safe, false), "reads_private"),
        (command(Verdict::Ordinary, false), "reads_private writes_local"),
        (command(Verdict::Dangerous, false), "reads_private writes_local destructive"),
        (Action::Spawn, ""),
        (Action::Tool { effects: ToolEffects::ReadOnly }, "reads_private open_world"),
    ] {
        assert_eq!(Labels::of_action(&action).names().join(" "), expected, "{action:?}");
    }
    let unknown = Action::Tool { effects: ToolEffects::Unknown };
    assert_eq!(Labels::of_action(&unknown), Labels::ALL);
    assert_eq!(Labels::of_action(&command(Verdict::Ordinary, true)), Labels::ALL);
}

/// LC-G13: how often a turn may call and ask.
#[test]
fn a_turn_has_limits() {
    let limits = sabir_policy::Limits::default();
    assert_eq!((limits.calls_per_turn, limits.asks_per_turn), (32, 8));
    for (calls, asks, expected) in [
        (0, 0, Budget::Left),
        (31, 7, Budget::Left),
        (31, 8, Budget::NoAsks),
        (32, 0, Budget::NoCalls),
        (u32::MAX, u32::MAX, Budget::NoCalls),
    ] {
        assert_eq!(Budget::after(calls, asks, &limits), expected, "{calls} {asks}");
    }
    let asked = CallFacts { budget: Budget::NoAsks, ..CallFacts::plain(Labels::ALL) };
    assert_eq!(plain(asked).rule, RuleId::CallTooManyAsks);
    // What a person could lift is a question, too: nobody is asked for it a ninth time.
    let worst = CallFacts { untrusted: true, private: true, ..asked };
    let decision = plain(worst);
    assert_eq!(decision.rule, RuleId::CallTooManyAsks);
    assert!(!decision.yields_to_approval());
    assert!(plain(CallFacts { budget: Budget::Left, ..worst }).yields_to_approval());
}

/// LC-G36: every rule has its own reason code, and a remedy in words.
#[test]
fn reason_codes_are_stable_words() {
    let mut codes = BTreeSet::new();
    for rule in all_rules() {
        let code = rule.reason_code();
        assert!(code.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{code}");
        assert!(codes.insert(code), "{code} stands twice");
        assert!(!rule.remedy().is_empty() && !rule.remedy().ends_with('.'), "{code}");
        assert_eq!(word(&rule), rule.code());
    }
}

/// Those of the two tables and of policy files.
fn all_rules() -> BTreeSet<RuleId> {
    let waived = Waivable::ALL.map(Waivable::rule);
    let mut rules: BTreeSet<RuleId> = waived.into_iter().chain([RuleId::CallWaived]).collect();
    let words: BTreeSet<&str> = include_str!("../data/gate.txt").split_whitespace().collect();
    rules.extend(words.iter().filter_map(|word| {
        serde_json::from_value::<RuleId>(Value::String((*word).to_owned())).ok()
    }));
    for (tool, labels) in tools() {
        for (_, facts) in variants(&tool, labels) {
            for (untrusted, private) in TAINTS {
                rules.insert(plain(CallFacts { untrusted, private, ..facts }).rule);
            }
        }
    }
    rules.extend([RuleId::PolicyAsks, RuleId::PolicyDenied, RuleId::CallUntrusted]);
    assert!(rules.len() >= 40, "only {}", rules.len());
    rules
}

fn any_labels() -> impl Strategy<Value = Labels> {
    any::<[bool; 5]>().prop_map(|[reads_private, writes_local, egress, destructive, open_world]| {
        Labels { reads_private, writes_local, egress, destructive, open_world }
    })
}

prop_compose! {
    fn any_facts()(
        labels in any_labels(),
        reading in prop::sample::select(vec![Reading::Strict, Reading::Strict, Reading::Loose]),
        [untrusted, private, sensitive] in any::<[bool; 3]>(),
        offer in prop::sample::select(vec![Offer::Made, Offer::Made, Offer::NotMade]),
        scope in prop::sample::select(vec![Scope::Own, Scope::Own, Scope::Other]),
        address in prop::option::of(prop::sample::select(vec![
            AddressKind::Typed, AddressKind::Linked, AddressKind::Found, AddressKind::Invented,
            AddressKind::Unusable,
        ])),
        origin in prop::sample::select(vec![OriginKind::NoPage, OriginKind::Own, OriginKind::Other]),
        field in prop::option::of(prop::sample::select(vec![
            FieldKind::Ordinary, FieldKind::Unknown, FieldKind::Credential, FieldKind::Payment,
            FieldKind::PersonalId,
        ])),
        budget in prop::sample::select(vec![Budget::Left, Budget::NoAsks, Budget::NoCalls]),
    ) -> CallFacts {
        CallFacts {
            labels, reading, untrusted, private, address, origin, field, sensitive, offer, scope,
            budget,
        }
    }
}

prop_compose! {
    fn any_ruling()(
        stance in prop::sample::select(vec![Stance::Silent, Stance::Ask, Stance::Deny]),
        waived in prop::collection::vec(prop::sample::select(Waivable::ALL.to_vec()), 0..8),
    ) -> Ruling {
        Ruling { stance, waived: waived.into_iter().collect() }
    }
}

fn any_approval() -> impl Strategy<Value = ApprovalPolicy> {
    prop::sample::select(vec![
        ApprovalPolicy::Never,
        ApprovalPolicy::OnFailure,
        ApprovalPolicy::OnRequest,
        ApprovalPolicy::Untrusted,
    ])
}

/// From mild to strict.
fn strictness(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Allow => 0,
        Outcome::Ask => 1,
        Outcome::Deny => 2,
    }
}

/// The same facts with one more against the call.
fn worse(facts: CallFacts, which: usize) -> CallFacts {
    let mut worse = facts;
    match which {
        0 => worse.untrusted = true,
        1 => worse.private = true,
        2 => worse.sensitive = true,
        3 => worse.origin = OriginKind::Other,
        4 => worse.reading = Reading::Loose,
        5 => worse.labels.egress = true,
        6 => worse.labels.writes_local = true,
        7 => worse.labels.destructive = true,
        8 => worse.address = worse.address.map(|it| it.max(AddressKind::Invented)),
        9 => worse.field = Some(FieldKind::Credential),
        10 => worse.offer = Offer::NotMade,
        11 => worse.scope = Scope::Other,
        _ => {
            worse.budget = match facts.budget {
                Budget::Left => Budget::NoAsks,
                Budget::NoAsks | Budget::NoCalls => Budget::NoCalls,
            }
        }
    }
    worse
}

/// LC-G28, LC-G23: who lets made-up addresses pass lets found ones pass, and not the other way round.
#[test]
fn waiving_the_question_about_made_up_addresses_waives_that_about_found_ones() {
    let outcome = |address, waived| {
        let facts = CallFacts { address: Some(address), ..CallFacts::plain(Labels::default()) };
        let ruling = Ruling { waived: [waived].into_iter().collect(), ..Ruling::default() };
        ask_gate(facts, ApprovalPolicy::OnRequest, ruling, false).outcome
    };
    assert_eq!(outcome(AddressKind::Invented, Waivable::InventedUrl), Outcome::Allow);
    assert_eq!(outcome(AddressKind::Found, Waivable::InventedUrl), Outcome::Allow);
    assert_eq!(outcome(AddressKind::Found, Waivable::UnlinkedUrl), Outcome::Allow);
    assert_eq!(outcome(AddressKind::Invented, Waivable::UnlinkedUrl), Outcome::Ask);
}

/// What nobody lifts.
const HARD: [RuleId; 7] = [
    RuleId::CallNotStrict,
    RuleId::CallNotOffered,
    RuleId::CallCredentialField,
    RuleId::CallPaymentField,
    RuleId::CallPersonalIdField,
    RuleId::CallUnusableUrl,
    RuleId::CallTooMany,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// LC-G23: a fact more against a call never makes the decision milder.
    #[test]
    fn another_fact_never_loosens(
        facts in any_facts(), which in 0..13usize, approval in any_approval(), ruling in any_ruling(),
    ) {
        let before = ask_gate(facts, approval, ruling, false);
        let after = ask_gate(worse(facts, which), approval, ruling, false);
        prop_assert!(
            strictness(after.outcome) >= strictness(before.outcome),
            "{:?} became {:?}", before, after
        );
    }

    /// LC-G27: a stricter policy file never makes it milder; nor does a stricter approval policy.
    #[test]
    fn tightening_never_loosens(facts in any_facts(), approval in any_approval(), ruling in any_ruling()) {
        let silent = ask_gate(facts, approval, Ruling { stance: Stance::Silent, ..ruling }, false);
        let asks = ask_gate(facts, approval, Ruling { stance: Stance::Ask, ..ruling }, false);
        let denies = ask_gate(facts, approval, Ruling { stance: Stance::Deny, ..ruling }, false);
        prop_assert!(strictness(asks.outcome) >= strictness(silent.outcome).max(1));
        prop_assert_eq!(denies.outcome, Outcome::Deny);
        let waived_nothing = Ruling { stance: ruling.stance, ..Ruling::default() };
        let unloosened = ask_gate(facts, approval, waived_nothing, false);
        let loosened = ask_gate(facts, approval, ruling, false);
        prop_assert!(strictness(unloosened.outcome) >= strictness(loosened.outcome));
    }

    /// LC-G14, LC-G15: what is refused stays refused, but for the one refusal that a person can lift.
    #[test]
    fn a_hard_denial_stands(facts in any_facts(), approval in any_approval(), ruling in any_ruling()) {
        let before = ask_gate(facts, approval, Ruling::default(), false);
        let after = ask_gate(facts, approval, ruling, true);
        if HARD.contains(&before.rule) {
            prop_assert_eq!(before.outcome, Outcome::Deny);
            prop_assert_eq!(after.outcome, Outcome::Deny);
        }
        let granted = ask_gate(facts, approval, Ruling::default(), true);
        match before.outcome {
            Outcome::Allow => prop_assert_eq!(&granted, &before),
            Outcome::Ask => prop_assert_eq!(granted.outcome, Outcome::Allow),
            Outcome::Deny => {
                let lifted = before.rule == RuleId::CallExfiltration && approval != ApprovalPolicy::Never;
                prop_assert_eq!(granted.outcome == Outcome::Allow, lifted);
                prop_assert_eq!(granted.is_approved, lifted);
            }
        }
        // A policy file alone does not let private content out.
        if before.rule == RuleId::CallExfiltration {
            prop_assert_eq!(ask_gate(facts, approval, ruling, false).outcome, Outcome::Deny);
        }
    }

    /// LC-G21: with `never` nobody is asked, and everything that is not allowed is refused.
    #[test]
    fn never_refuses_instead(facts in any_facts(), ruling in any_ruling()) {
        let never = ask_gate(facts, ApprovalPolicy::Never, ruling, true);
        prop_assert_ne!(never.outcome, Outcome::Ask);
        let asking = ask_gate(facts, ApprovalPolicy::OnRequest, ruling, false);
        prop_assert_eq!(never.outcome == Outcome::Allow, asking.outcome == Outcome::Allow);
    }
}
