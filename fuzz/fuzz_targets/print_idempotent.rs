//! Printing keeps the tree, in both styles, and printing what was printed changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_axon::{Style, parse, print, same};

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    if parsed.has_errors() {
        return;
    }
    for style in [Style::Wire, Style::Pretty] {
        let once = print(&parsed.tree, style);
        let again = parse(&once);
        assert!(!again.has_errors(), "{style:?} printed what does not parse: {once}");
        assert!(same(&parsed.tree, &again.tree), "{style:?} changed the tree: {once}");
        assert_eq!(print(&again.tree, style), once, "{style:?} is not idempotent");
    }
});
