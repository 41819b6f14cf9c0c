//! Every diagnostic code has a page, every page has a code, and codes live in one table per crate.

use std::collections::{BTreeMap, BTreeSet};

use super::repo::{Repo, is_rust_source};
use super::rust_text;
use crate::finding::Finding;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut codes: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    for (file, text) in repo.texts().filter(|(name, _)| is_rust_source(name)) {
        let code = rust_text::shipped_code_and_literals(text);
        let is_table = file.starts_with("crates/") && file.ends_with("/src/codes.rs");
        for (offset, name) in code_literals(&code) {
            let line = rust_text::line_of(&code, offset);
            if is_table {
                codes.entry(name.to_owned()).or_insert((file, line));
            } else if code[..offset].trim_end().ends_with("Code::new(") {
                let message = format!("`{name}` belongs into the crate's src/codes.rs");
                findings.push(Finding::new(RULE, file, line, message));
            }
        }
    }

    for (code, (file, line)) in &codes {
        if !repo.exists(&format!("{FOLDER}{code}.md")) {
            let message = format!("`{code}` has no page: write {FOLDER}{code}.md");
            findings.push(Finding::new(RULE, *file, *line, message));
        }
    }
    let names: BTreeSet<&str> = codes.keys().map(String::as_str).collect();
    for (file, _) in repo.texts_ending(".md") {
        let Some(page) = file.strip_prefix(FOLDER) else { continue };
        if page != "README.md" && !names.contains(page.trim_end_matches(".md")) {
            let message = "this page describes no code of any src/codes.rs";
            findings.push(Finding::new(RULE, file, 1, message));
        }
    }
    findings
}

/// Literals of the form `"AX101"`: where the quote stands, and the code itself.
fn code_literals(code: &str) -> Vec<(usize, &str)> {
    let is_code = |it: &[u8]| {
        it[..2].iter().all(u8::is_ascii_uppercase) && it[2..].iter().all(u8::is_ascii_digit)
    };
    code.as_bytes()
        .windows(7)
        .enumerate()
        .filter(|(_, it)| it[0] == b'"' && it[6] == b'"' && is_code(&it[1..6]))
        .map(|(at, _)| (at, &code[at + 1..at + 6]))
        .collect()
}

const FOLDER: &str = "docs/diagnostics/";
const RULE: &str = "diagnostics";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;

    #[test]
    fn codes_and_pages_belong_together() {
        let table = "//! Codes. Not \"AX999\".\npub const A: Code = Code::new(\"AX101\");\n\
                     pub const B: Code = Code::new(\"AX102\");\n";
        let repo = Repo::of(&[
            ("crates/sabir-axon/src/codes.rs", table),
            ("docs/diagnostics/AX101.md", ""),
            ("docs/diagnostics/AX103.md", ""),
            ("docs/diagnostics/README.md", ""),
        ]);
        assert_eq!(
            lines(&check(&repo)),
            [
                "crates/sabir-axon/src/codes.rs:3: `AX102` has no page: write \
                 docs/diagnostics/AX102.md",
                "docs/diagnostics/AX103.md:1: this page describes no code of any src/codes.rs",
            ]
        );
    }

    #[test]
    fn codes_outside_the_table_are_found_and_tests_may_name_them() {
        let text = "const A: Code = Code::new(\n    \"AX101\",\n);\nconst B: &str = \"AX102\";\n\
                    #[cfg(test)]\nmod tests { const C: Code = Code::new(\"AX103\"); }\n";
        let repo = Repo::of(&[("crates/sabir-axon/src/lexer.rs", text)]);
        assert_eq!(
            lines(&check(&repo)),
            ["crates/sabir-axon/src/lexer.rs:2: `AX101` belongs into the crate's src/codes.rs"]
        );
    }
}
