//! Any text parses: no panic, no hang, every node and every finding inside of the text, and fixes
//! that can be made.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_base::apply_edits;
use sabir_llmx::{Node, check};

fuzz_target!(|text: &str| {
    let checked = check(text);
    inside(text, checked.tree.root());

    for diagnostic in &checked.diagnostics {
        let places = std::iter::once(diagnostic.span)
            .chain(diagnostic.labels.iter().map(|label| label.span))
            .chain(diagnostic.fixes.iter().map(|edit| edit.span));
        for span in places {
            assert!(text.get(span.range()).is_some(), "{diagnostic:?} points outside of the text");
        }
        let mut fixes: Vec<_> = diagnostic.fixes.iter().map(|edit| edit.span).collect();
        fixes.sort_by_key(|span| (span.start, span.end));
        let overlap = fixes.windows(2).any(|pair| pair[1].start < pair[0].end);
        assert!(!overlap, "{diagnostic:?} has edits that overlap");
        if !fixes.is_empty() {
            let mended = apply_edits(text, &diagnostic.fixes);
            assert_ne!(mended, text, "{diagnostic:?} has edits that change nothing");
        }
    }
});

/// Children lie in their parent, one behind the other.
fn inside(text: &str, node: Node<'_>) {
    let span = node.span();
    assert!(text.get(span.range()).is_some(), "{node:?} is outside of the text");
    let mut end = span.start;
    for child in node.children() {
        assert!(child.span().start >= end, "{child:?} overlaps what stands before it");
        assert!(child.span().end <= span.end, "{child:?} is larger than {node:?}");
        end = child.span().end;
        inside(text, child);
    }
}
