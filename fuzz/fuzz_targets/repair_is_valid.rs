//! Repair leaves valid text alone, explains what it changes, and comes to rest.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_axon::{parse, repair};

fuzz_target!(|text: &str| {
    let repaired = repair(text);
    if !parse(text).has_errors() {
        assert_eq!(repaired.text, text, "valid text was changed");
    }
    assert_eq!(
        repaired.changes.is_empty(),
        repaired.text == text,
        "a change without an explanation, or an explanation without a change"
    );
    // Not every text can be repaired. What was must stay as it is.
    if !parse(&repaired.text).has_errors() {
        let again = repair(&repaired.text);
        assert_eq!(again.text, repaired.text, "repaired text was repaired again");
    }
});
