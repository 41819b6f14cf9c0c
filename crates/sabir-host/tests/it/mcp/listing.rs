//! Lists of tools: pages, names, descriptions of strangers, changes.

use std::fmt::Write as _;

use expect_test::expect;

use super::{call_text, notices, section, start, tool_names};

#[tokio::test]
async fn all_pages_are_read_and_filters_hold() {
    let filters =
        "enabled_tools = [\"echo\", \"ask\", \"seen\", \"absent\"]\ndisabled_tools = [\"seen\"]";
    let mcp = start(&section("srv", "normal", filters)).await;
    assert_eq!(tool_names(&mcp), ["mcp__srv__echo", "mcp__srv__ask"]);
    assert_eq!(
        notices(&mcp),
        "MCP server `srv`: has no tool `absent`, which `enabled_tools` names"
    );
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_list_without_an_end_has_one() {
    let mcp = start(&section("srv", "endless", "")).await;
    assert_eq!(tool_names(&mcp).len(), 64);
    mcp.shutdown().await;
}

#[tokio::test]
async fn what_strangers_write_is_bounded_and_cleaned() {
    let mcp = start(&section("srv", "messy", "trusted = true")).await;
    let mut shown = String::new();
    for tool in mcp.tools() {
        let (info, effects) = (&tool.info, tool.effects);
        assert!(info.name.len() <= 64);
        assert!(!info.description.contains(['\u{1b}', '\u{e0041}']));
        let length = info.description.len();
        writeln!(shown, "{} {effects:?} {length} {}", info.name, info.parameters).unwrap();
    }
    expect![[r#"
        mcp__srv__a_b_df0974cd ReadOnly 0 {"type":"object"}
        mcp__srv__a_b_0b5c8e07 Destructive 0 {"type":"object"}
        mcp__srv__lllllllllllllllllllllllllllllllllllllllllllll_1968c837 Unknown 4096 {"type":"object"}
        mcp__srv__words Unknown 0 {"properties":{"a":{"description":"bc"}},"type":"object"}
    "#]]
    .assert_eq(&shown);
    expect![[r#"
        MCP server `srv`: lists `a.b` twice; the first counts
        MCP server `srv`: tool `array` is left out: its arguments are not an object
        MCP server `srv`: tool `big` is left out: its schema is longer than 32 KiB
        MCP server `srv`: tool `deep` is left out: its schema is nested deeper than 32
        MCP server `srv`: tool `bell` is left out: its schema has a key with control characters
        MCP server `srv`: lists 2 tools that cannot be read"#]]
    .assert_eq(&notices(&mcp));
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_changed_list_is_read_again() {
    let mcp = start(&section("srv", "normal", "")).await;
    let mut changes = mcp.changes();
    changes.mark_unchanged();
    assert!(!tool_names(&mcp).contains(&"mcp__srv__grown".to_owned()));
    assert_eq!(call_text(&mcp, "mcp__srv__grow").await, "grown");
    changes.changed().await.unwrap();
    assert!(tool_names(&mcp).contains(&"mcp__srv__grown".to_owned()));
    mcp.shutdown().await;
}
