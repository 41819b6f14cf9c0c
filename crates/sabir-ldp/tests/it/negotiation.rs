//! Which mode two peers use, for every offer.

use expect_test::expect_file;
use sabir_ldp::{Negotiated, PayloadMode, negotiate};

use PayloadMode::{
    CacheSlices, EmbeddingHints, LatentCapsules, SemanticFrame, SemanticGraph, Text,
};

/// Every list of these modes in which none stands twice, the empty one first.
pub(crate) fn offers(modes: &[PayloadMode]) -> Vec<Vec<PayloadMode>> {
    let mut offers: Vec<Vec<PayloadMode>> = vec![Vec::new()];
    let mut from = 0;
    while let Some(offer) = offers.get(from).cloned() {
        for mode in modes.iter().filter(|mode| !offer.contains(mode)) {
            let mut longer = offer.clone();
            longer.push(*mode);
            offers.push(longer);
        }
        from += 1;
    }
    offers
}

/// What a node can offer: text, and any of the others.
pub(crate) fn lists_of_ours() -> Vec<Vec<PayloadMode>> {
    let others = [SemanticFrame, EmbeddingHints, SemanticGraph];
    (0..8)
        .map(|bits| {
            let chosen = others.iter().enumerate().filter(|(index, _)| bits & (1 << index) != 0);
            let mut ours: Vec<_> = chosen.map(|(_, mode)| *mode).collect();
            ours.sort_by_key(|mode| std::cmp::Reverse(mode.number()));
            ours.push(Text);
            ours
        })
        .collect()
}

fn names(modes: &[PayloadMode]) -> String {
    let names: Vec<&str> = modes.iter().map(|mode| mode.wire_name()).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(",") }
}

/// LD-W29, LD-W30: the whole table, for every order of the modes that can be negotiated.
#[test]
fn the_table_of_negotiation() {
    let mut table = String::from("# offer | ours | mode | fallback chain\n");
    for ours in lists_of_ours() {
        for offer in offers(&[SemanticGraph, EmbeddingHints, SemanticFrame, Text]) {
            let Negotiated { mode, fallback_chain } = negotiate(&offer, &ours);
            // What must hold in each row, said another way than the code says it.
            let common = |it: PayloadMode| offer.contains(&it) && ours.contains(&it);
            match offer.iter().find(|it| common(**it)) {
                Some(first) => assert_eq!(mode, *first),
                None => assert_eq!(mode, Text),
            }
            let place = |mode: &PayloadMode| offer.iter().position(|it| it == mode);
            assert!(fallback_chain.is_sorted_by_key(place), "{offer:?} {ours:?}");
            for other in PayloadMode::ALL {
                let belongs = common(other) && other.number() < mode.number();
                assert_eq!(fallback_chain.contains(&other), belongs, "{offer:?} {ours:?}");
            }
            let (offer, ours) = (names(&offer), names(&ours));
            table.push_str(&format!("{offer} | {ours} | {mode} | {}\n", names(&fallback_chain)));
        }
    }
    expect_file!["../data/negotiation.txt"].assert_eq(&table);
}

/// LD-W29: the flow of the specification's diagram.
#[test]
fn the_diagram() {
    let negotiated = negotiate(&[SemanticGraph, SemanticFrame, Text], &[SemanticFrame, Text]);
    assert_eq!(negotiated, Negotiated { mode: SemanticFrame, fallback_chain: vec![Text] });
}

/// LD-W28: two modes are recognised and never negotiated, even if both peers list them.
#[test]
fn future_modes_are_never_chosen() {
    let both = [CacheSlices, LatentCapsules, SemanticFrame, Text];
    let negotiated = negotiate(&both, &both);
    assert_eq!(negotiated, Negotiated { mode: SemanticFrame, fallback_chain: vec![Text] });
    let text = Negotiated { mode: Text, fallback_chain: vec![] };
    assert_eq!(negotiate(&[LatentCapsules], &both), text);
    assert_eq!(negotiate(&[], &both), text);
    // Text is chosen even by a node that forgot to list it.
    assert_eq!(negotiate(&[SemanticGraph], &[]), text);
}

/// LD-W30: a mode that an offer names twice is in the chain once.
#[test]
fn repetitions_do_not_count() {
    let negotiated = negotiate(&[SemanticGraph, Text, Text, SemanticGraph], &[SemanticGraph, Text]);
    assert_eq!(negotiated, Negotiated { mode: SemanticGraph, fallback_chain: vec![Text] });
}

/// LD-W27: names and numbers are those of the specification's table.
#[test]
fn modes_have_names_and_numbers() {
    let table: Vec<_> = PayloadMode::ALL
        .iter()
        .map(|mode| (mode.number(), mode.wire_name(), mode.is_implemented()))
        .collect();
    let expected = [
        (0, "text", true),
        (1, "semantic_frame", true),
        (2, "embedding_hints", true),
        (3, "semantic_graph", true),
        (4, "latent_capsules", false),
        (5, "cache_slices", false),
    ];
    assert_eq!(table, expected);
    for mode in PayloadMode::ALL {
        assert_eq!(PayloadMode::from_wire(mode.wire_name()), Some(mode));
        assert_eq!(serde_json::to_value(mode).ok(), Some(mode.wire_name().into()));
        assert_eq!(PayloadMode::IMPLEMENTED.contains(&mode), mode.is_implemented());
    }
    assert_eq!(PayloadMode::from_wire("Text"), None);
}
