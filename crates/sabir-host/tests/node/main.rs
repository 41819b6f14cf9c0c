//! A node without a network: messages go in as texts and come out as texts, the store is in a
//! temporary home, and the programs are real. A binary of its own, because it is small and builds
//! quickly.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests read files and run themselves")]

mod agents;
mod config;
mod crew;
mod desk;
#[path = "../it/mcp/helper.rs"]
mod helper;
mod holders;
mod programs;
mod restarts;
mod signed;
mod streams;
mod tasks;
mod world;

#[test]
fn every_rule_is_named_by_a_test() {
    let crate_folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = crate_folder.join("../../docs/protocol/ldp-node.md");
    let tests = crate_folder.join("tests/node");
    sabir_testkit::assert_rules_are_named(&page, &tests, "LD-N", 20);
}
