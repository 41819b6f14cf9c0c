//! Printing keeps what a document says, and printing what was printed changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_llmx::{parse, print, same};

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    let once = print(&parsed.tree);
    if parsed.has_errors() {
        return;
    }
    let again = parse(&once);
    assert!(!again.has_errors(), "printed what does not parse: {once}");
    assert!(same(&parsed.tree, &again.tree), "printing changed the tree: {once}");
    assert_eq!(print(&again.tree), once, "printing is not idempotent");
});
