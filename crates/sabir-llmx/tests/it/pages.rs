//! The pages about paths, batches and conversations show what they say.

#![expect(clippy::disallowed_methods, reason = "the pages are files")]

use sabir_base::Diagnostic;
use sabir_llmx::{check_conversation, check_paths, codes, parse};

/// The examples of a page, in order.
fn examples(page: &str) -> Vec<&str> {
    let fenced = page.split("```llmx\n").skip(1);
    fenced.map(|rest| rest.split("```").next().unwrap()).collect()
}

fn found(text: &str) -> Vec<Diagnostic> {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let mut found = check_paths(&parsed.tree);
    found.extend(check_conversation(&parsed.tree));
    found
}

#[test]
fn examples_are_true() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnostics");
    let about = |code: &str| code.starts_with("LX3") || code.starts_with("LX4");
    let mut count = 0;
    for info in codes::ALL.iter().filter(|info| about(info.code.as_str())) {
        let page = std::fs::read_to_string(format!("{folder}/{}.md", info.code)).unwrap();
        assert!(page.starts_with(&format!("# {}: {}\n\n{}\n", info.code, info.name, info.summary)));
        let examples = examples(&page);
        let [wrong, right] = examples.as_slice() else { panic!("{}: two examples", info.code) };
        // A text does not show its links.
        let in_text = info.code != codes::LINK_OUT_OF_ROOT;
        assert_eq!(found(wrong).iter().any(|it| it.code == info.code), in_text, "{wrong}");
        assert_eq!(found(right), [], "{right}");
        count += 1;
    }
    assert!(count > 10);
}
