//! Names of tools as models see them: `mcp__server__tool`, of at most 64 plain characters. It
//! knows names only.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// One name for each tool of a server, in the order of `tools`. A name gets a hash of the real one
/// at its end when it is too long, or when another tool of the server would look the same. Which
/// name a tool gets does not depend on the order, so that a server that lists its tools in another
/// order does not swap them behind the back of whoever remembers a name.
pub(super) fn name_tools(server: &str, tools: &[&str]) -> Vec<String> {
    let plain: Vec<String> = tools.iter().map(|tool| plain_name(server, tool)).collect();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &plain {
        *uses.entry(name).or_default() += 1;
    }
    let name = |(name, tool): (&String, &&str)| {
        if name.len() <= MAX_LENGTH && uses.get(name.as_str()) == Some(&1) {
            return name.clone();
        }
        hashed_name(name, server, tool)
    };
    plain.iter().zip(tools).map(name).collect()
}

/// The names that the tool may have: which of them, depends on the other tools of the server.
pub(crate) fn possible_names(server: &str, tool: &str) -> Vec<String> {
    let alone = name_tools(server, &[tool]);
    let hashed = hashed_name(&plain_name(server, tool), server, tool);
    alone.into_iter().chain([hashed]).collect()
}

fn hashed_name(plain: &str, server: &str, tool: &str) -> String {
    let kept = &plain[..plain.floor_char_boundary(MAX_LENGTH - HASH_LENGTH - 1)];
    format!("{kept}_{}", short_hash(server, tool))
}

fn plain_name(server: &str, tool: &str) -> String {
    let plain = |character: char| match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    };
    let tool: String = tool.chars().map(plain).collect();
    format!("mcp__{server}__{tool}")
}

fn short_hash(server: &str, tool: &str) -> String {
    // A server's name has no zero byte, so that no two pairs share an input.
    let digest = Sha256::digest(format!("{server}\0{tool}"));
    digest.iter().take(HASH_LENGTH / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// What the model interfaces in use accept.
const MAX_LENGTH: usize = 64;
const HASH_LENGTH: usize = 8;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_stay_plain() {
        let names = name_tools("files", &["read", "a.b", "a/b", &"x".repeat(80)]);
        expect![[r#"
            mcp__files__read
            mcp__files__a_b_386a2e7d
            mcp__files__a_b_93553ba0
            mcp__files__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_5179a044"#]]
        .assert_eq(&names.join("\n"));
        for (tool, name) in ["read", "a.b", "a/b", &"x".repeat(80)].iter().zip(&names) {
            assert!(possible_names("files", tool).contains(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn names_are_short_plain_and_apart(tools in prop::collection::btree_set("[a-c./ é]{0,3}|.{60,70}", 0..12)) {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let names = name_tools("srv", &tools);
            for name in &names {
                prop_assert!(name.len() <= 64);
                prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
            }
            prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), tools.len());
        }
    }
}
