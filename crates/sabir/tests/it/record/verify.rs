//! `sabir audit verify` over every journal and every signature of a home.

use std::path::Path;

use serde_json::Value;

use super::home::Home;

fn verified(home: &Home) -> (i32, Value, String) {
    let json = home.run(&["audit", "verify", "--json"]);
    let shown = home.run(&["audit", "verify"]);
    assert_eq!(json.code, shown.code);
    let report = serde_json::from_str(&json.stdout).unwrap();
    (json.code, report, format!("{}{}", shown.stdout, shown.stderr))
}

fn change(path: &Path, from: &str, to: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.windows(from.len()).position(|it| it == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn every_journal_of_the_home_is_verified() {
    let home = Home::filled();
    let (code, report, shown) = verified(&home);
    assert_eq!(code, 0, "{shown}");
    assert_eq!((&report["entries"], &report["result"]), (&11.into(), &"whole".into()));
    let delegate = &report["journals"][0];
    assert_eq!((&delegate["name"], &delegate["result"]), (&"researcher".into(), &"whole".into()));
    assert_eq!((&delegate["entries"], &report["library"]["decisions"]), (&3.into(), &1.into()));
    assert!(shown.contains("the journal of researcher is whole: 3 entries"), "{shown}");

    change(&home.path().join("delegates/researcher/sabir.db"), "no source", "no sauce!");
    let (code, report, shown) = verified(&home);
    assert_eq!((code, &report["result"]), (1, &"tampered".into()), "{shown}");
    assert_eq!(report["journals"][0]["seq"], 2);
    assert!(shown.contains("the journal of researcher was changed at entry 2"), "{shown}");
    assert!(shown.contains("the journal is whole"), "{shown}");
}

/// Only delegates have written: that is a home, too.
#[test]
fn a_home_without_a_journal_of_its_own_is_verified() {
    let home = Home::new();
    home.write_delegate(true);
    let (code, report, shown) = verified(&home);
    assert_eq!((code, report["journals"].as_array().unwrap().len()), (0, 1), "{shown}");
    assert_eq!(Home::new().run(&["audit", "verify"]).code, 2);
}

#[test]
fn signatures_are_held_against_what_they_sign_and_whose_key_it_is() {
    let home = Home::filled();
    let signatures = |home: &Home| {
        let (code, report, shown) = verified(home);
        let found = &report["signatures"];
        let faults = found["faults"].as_array().unwrap().len();
        (code, found["known"].as_u64(), found["unknown"].as_u64(), faults, shown)
    };
    let (code, known, unknown, faults, shown) = signatures(&home);
    assert_eq!((code, known, unknown, faults), (0, Some(0), Some(2), 0), "{shown}");
    home.pin(7);
    let (code, known, unknown, faults, shown) = signatures(&home);
    assert_eq!((code, known, unknown, faults), (0, Some(2), Some(0), 0), "{shown}");

    let others = Home::filled();
    others.pin(8);
    let (code, _, _, faults, shown) = signatures(&others);
    assert_eq!((code, faults), (1, 2), "{shown}");
    assert!(shown.contains("another key than the one that is pinned"), "{shown}");

    // A chain that is whole says nothing about who said it.
    let forged = Home::new();
    forged.write_order(false);
    forged.write_delegate(false);
    let (code, _, _, faults, shown) = signatures(&forged);
    assert_eq!((code, faults), (1, 2), "{shown}");
    assert!(shown.contains("node/4: the signature of ldp:delegate:peer: "), "{shown}");
    assert!(shown.contains("does not fit the record"), "{shown}");
}
