//! Any text parses: no panic, no hang, no byte lost.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = sabir_axon::parse(text);

    // The tokens lie side by side and cover the text, whatever is wrong with it.
    let mut end = 0;
    for token in parsed.tree.tokens() {
        assert_eq!(token.span().start, end, "a gap or an overlap before {token:?}");
        end = token.span().end;
    }
    assert_eq!(end as usize, text.len(), "the end of the text is in no token");

    for diagnostic in &parsed.diagnostics {
        let range = diagnostic.span.range();
        assert!(text.get(range).is_some(), "{diagnostic:?} points outside of the text");
    }
});
