//! Repair makes valid AXON of any text, keeps every letter and digit, leaves valid text alone,
//! explains what it changes, and comes to rest.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_axon::{Performative, parse, repair};

fuzz_target!(|text: &str| {
    let repaired = repair(text);
    assert!(!parse(&repaired.text).has_errors(), "still invalid: {:?}", repaired.text);
    assert!(keeps_content(text, &repaired.text), "lost something: {:?}", repaired.text);
    assert_eq!(
        repaired.changes.is_empty(),
        repaired.text == text,
        "a change without an explanation, or an explanation without a change"
    );
    let again = repair(&repaired.text);
    assert_eq!(again.text, repaired.text, "repaired text was repaired again");
});

/// Every letter and digit, in order. The words that repair replaces by AXON's own, such as
/// `inform` by `INF`, and the languages of code fences are not content.
fn keeps_content(before: &str, after: &str) -> bool {
    let lower = before.to_ascii_lowercase();
    let names = Performative::ALL.map(|performative| performative.info().name);
    let others =
        ["```", "response", "answer", "resp", "ask", "question", "tell", "info", "nack", "notify"];
    if names.iter().chain(&others).any(|word| lower.contains(word)) {
        return true;
    }
    let mut rest = after.chars().filter(|c| c.is_alphanumeric());
    let mut wanted = before.chars().filter(|c| c.is_alphanumeric());
    wanted.all(|c| rest.any(|kept| kept.eq_ignore_ascii_case(&c)))
}
