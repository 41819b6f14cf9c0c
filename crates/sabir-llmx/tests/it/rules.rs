//! The numbered rules of `docs/protocol/llmx*.md`: each is named by a test.

use std::path::Path;

use sabir_testkit::assert_rules_are_named;

#[test]
fn every_rule_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, prefix, at_least) in [
        ("llmx.md", "LX-R", 50),
        ("llmx-paths.md", "LX-P", 20),
        ("llmx-paths.md", "LX-S", 4),
        ("llmx-conversations.md", "LX-B", 10),
        ("llmx-conversations.md", "LX-C", 15),
    ] {
        let page = here.join("../../docs/protocol").join(page);
        assert_rules_are_named(&page, &here.join("tests/it"), prefix, at_least);
    }
}
