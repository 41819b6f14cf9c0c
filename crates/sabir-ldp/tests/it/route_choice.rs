//! Who is chosen, passed over and why: one script for each point, in `tests/data/route`.

use expect_test::expect_file;
use sabir_ldp::{Choice, ClaimType, Request, Strategy};
use sabir_testkit::cases;

use crate::route_world::{Offer, START, names, request, router, run};

/// LD-R1, LD-R2, LD-R3, LD-R4, LD-R5, LD-R7, LD-R8, LD-R9, LD-R12, LD-R13, LD-R18: each script says in
/// its first lines what it is about.
#[test]
fn scripts_choose_as_written() {
    for case in cases("tests/data/route") {
        let path = std::path::absolute(case.out_path()).unwrap();
        expect_file![path].assert_eq(&run(&case.text));
    }
}

/// LD-R5: what explains itself in words is data as well.
#[test]
fn a_choice_is_data() {
    let router = router(&[Offer::new("a", "s").claiming(0.9, ClaimType::IssuerAttested)]);
    let choice = router.choose(&request("s", Strategy::Quality), START);
    let json = serde_json::to_string_pretty(&choice).unwrap();
    expect_test::expect![[r#"
        {
          "skill": "s",
          "strategy": "quality",
          "cards": 1,
          "ranked": [
            {
              "delegate": "ldp:delegate:a",
              "score": 0.5080524537785502,
              "why": {
                "claims": {
                  "quality": 0.9,
                  "basis": "issuer_attested"
                },
                "estimate": {
                  "quality": 0.7333333333333334,
                  "quality_bound": 0.6350655672231877,
                  "reliability": 0.8,
                  "latency_ms": 30000.000000000007,
                  "cost_usd": 0.3,
                  "outcomes": 0.0
                },
                "probe": false
              }
            }
          ],
          "eligible": 1,
          "passed_over": []
        }"#]]
    .assert_eq(&json);
    assert_eq!(serde_json::from_str::<Choice>(&json).unwrap(), choice);
}

/// LD-R6: equals come in the same order, whoever arrived first, and not in that of the alphabet.
#[test]
fn ties_are_decided_by_the_id_alone() {
    let claim = |name| Offer::new(name, "s").claiming(0.5, ClaimType::SelfClaimed);
    let mut offers = ["a", "b", "c", "d", "e", "f", "g"].map(claim);
    let request = Request { limit: 7, ..request("s", Strategy::Balanced) };
    let forwards = names(&router(&offers), &request, START);
    // By the first bytes of their digests: 2c, 3d, 52, 61, 81, bb, f9.
    assert_eq!(forwards, ["a", "b", "f", "g", "c", "d", "e"]);
    offers.reverse();
    assert_eq!(names(&router(&offers), &request, START), forwards);
}

/// LD-R4: no other filter and no strategy lets one through that is not available, and a text that is
/// not "false" does not count as a no.
#[test]
fn who_is_not_available_is_never_chosen() {
    let with = |name: &str, available: &str| Offer {
        available: Some(available.to_owned()),
        ..Offer::new(name, "s").claiming(1.0, ClaimType::ExternallyBenchmarked)
    };
    let router = router(&[with("no", "false"), with("yes", "true"), Offer::new("silent", "s")]);
    for strategy in Strategy::ALL {
        let mut names = names(&router, &request("s", strategy), START);
        names.sort();
        assert_eq!(names, ["silent", "yes"], "{strategy:?}");
    }
}

/// LD-R13: the words of the strategies are those of the page.
#[test]
fn strategies_have_words() {
    assert_eq!(Strategy::ALL.map(Strategy::word), ["quality", "cost", "latency", "balanced"]);
    for strategy in Strategy::ALL {
        assert_eq!(Strategy::from_word(strategy.word()), Some(strategy));
    }
    assert_eq!(Strategy::from_word("Quality"), None);
}
