//! Identity cards: what is read, what is found, and labels.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::{expect, expect_file};
use sabir_ldp::{CardReading, Endpoint, EndpointError, Gravity, IdentityCard, TrustDomain};
use sabir_testkit::cases;

use crate::made::data;

fn shown(reading: &CardReading) -> String {
    let mut out = String::new();
    for finding in &reading.findings {
        writeln!(out, "{finding}").unwrap();
    }
    if let Some(card) = &reading.card {
        writeln!(out, "{:#}", card.to_value()).unwrap();
    }
    out
}

/// LD-W19, LD-W21, LD-W22, LD-W24: cards of every dialect, and what is noted about them. What we
/// publish is read again to the same card.
#[test]
fn cards_of_every_dialect_are_read() {
    for case in cases(data("cards/ok")) {
        let reading = IdentityCard::check(&case.text);
        expect_file![case.out_path()].assert_eq(&shown(&reading));
        let card = reading.into_card().unwrap();
        assert_eq!(
            IdentityCard::check(&card.to_text()).into_card().unwrap(),
            card,
            "{}",
            case.name
        );
        let stored = serde_json::to_string(&card).unwrap();
        assert_eq!(serde_json::from_str::<IdentityCard>(&stored).unwrap(), card, "{}", case.name);
    }
}

/// LD-W20, LD-W21, LD-W23: every fault of a card is found, not only the first.
#[test]
fn bad_cards_are_refused_with_every_fault() {
    for case in cases(data("cards/err")) {
        let reading = IdentityCard::check(&case.text);
        assert_eq!(reading.card, None, "{}", case.name);
        assert!(reading.findings.iter().any(|it| it.gravity == Gravity::Error), "{}", case.name);
        expect_file![case.out_path()].assert_eq(&shown(&reading));
    }
}

/// LD-W23: sizes are bounded.
#[test]
fn a_card_has_bounds() {
    let huge = format!("{{\"name\":\"{}\"}}", "n".repeat(sabir_ldp::MAX_CARD_BYTES));
    assert_eq!(
        shown(&IdentityCard::check(&huge)),
        "error: the card is longer than 1048576 bytes\n"
    );
    let mut card = native().to_value();
    card["capabilities"] = (0..1025).map(|index| format!("skill-{index}")).collect();
    assert_eq!(
        shown(&IdentityCard::check(&card.to_string())),
        "error: at /capabilities: expected at most 1024 entries, found 1025\n"
    );
}

/// LD-W25: labels say what the table of the specification says, and come back.
#[test]
fn labels_go_there_and_back() {
    let card = native();
    let labels = card.to_labels();
    expect![[r#"
        ldp.context_window = 32768
        ldp.cost_profile = low
        ldp.delegate_id = ldp:delegate:harbor
        ldp.jurisdiction = eu-west
        ldp.latency_profile = p50:2000ms
        ldp.model_family = qwen
        ldp.model_version = qwen3-8b-2026.01
        ldp.payload_modes = semantic_graph,embedding_hints,semantic_frame,text
        ldp.reasoning_profile = deep-analytical
        ldp.trust_domain = research.internal
    "#]]
    .assert_eq(&labels.iter().map(|(key, text)| format!("{key} = {text}\n")).collect::<String>());
    let mut other = card.clone();
    other.model_family = "llama".to_owned();
    other.context_window = 1;
    other.cost_profile = None;
    other.trust_domain = TrustDomain::closed("elsewhere");
    other.supported_payload_modes.truncate(1);
    assert_eq!(other.with_labels(&labels).unwrap(), card);
}

/// LD-W25: a label that cannot be is named; those of others and of newer runtimes are passed over.
#[test]
fn labels_are_checked() {
    let with = |key: &str, text: &str| {
        let labels = BTreeMap::from([(key.to_owned(), text.to_owned())]);
        native().with_labels(&labels).map_err(|error| error.to_string())
    };
    for (key, text) in [
        ("ldp.delegate_id", "harbor"),
        ("ldp.context_window", "-1"),
        ("ldp.cost_profile", "free"),
        ("ldp.trust_domain", " "),
        ("ldp.payload_modes", "semantic_frame"),
    ] {
        let message = format!("the label {key} does not say what it should");
        assert_eq!(with(key, text), Err(message));
    }
    assert_eq!(with("ldp.colour", "blue"), Ok(native()));
    assert_eq!(with("team", "docks"), Ok(native()));
}

/// LD-W20: an endpoint is a URL that can be shown.
#[test]
fn endpoints_are_checked() {
    for good in
        ["http://127.0.0.1:7420", "https://a.example/ldp", "ldp://a.example", "http://[::1]:1"]
    {
        assert_eq!(Endpoint::new(good).unwrap().as_str(), good);
    }
    for (bad, error) in [
        ("", EndpointError::NotUrl),
        ("/ldp", EndpointError::NotUrl),
        ("https://a.example/\n", EndpointError::NotUrl),
        ("a2a://a.example", EndpointError::WrongScheme),
        ("ldp:delegate:a", EndpointError::NoHost),
        ("https://a@b.example", EndpointError::HasCredentials),
        ("ldp://:pw@b.example", EndpointError::HasCredentials),
    ] {
        assert_eq!(Endpoint::new(bad), Err(error), "{bad:?}");
    }
    let long = format!("https://a.example/{}", "x".repeat(2048));
    assert_eq!(Endpoint::new(long), Err(EndpointError::TooLong));
}

/// LD-W26: a domain trusts itself, and others only if it says so twice.
#[test]
fn domains_trust_whom_they_name() {
    let mut domain = TrustDomain::closed("harbor");
    domain.trusted_peers = vec!["quay".to_owned()];
    assert!(domain.trusts("harbor"));
    assert!(!domain.trusts("quay"));
    domain.allow_cross_domain = true;
    assert!(domain.trusts("quay"));
    assert!(!domain.trusts("pier"));
    assert!(!domain.trusts(""));
}

fn native() -> IdentityCard {
    let case = cases(data("cards/ok")).into_iter().find(|case| case.name == "0004_native");
    IdentityCard::check(&case.unwrap().text).into_card().unwrap()
}
