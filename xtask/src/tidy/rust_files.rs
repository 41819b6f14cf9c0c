//! What every Rust file owes its reader: a header, a length that can be held in mind, no stubs.

use super::repo::{Repo, is_rust_source};
use super::rust_text;
use crate::finding::Finding;

/// A file over this many lines is cut better, or says in its header why not.
const LONG: usize = 800;

const EXCUSE: &str = "Long because";

const STUBS: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, text) in repo.texts().filter(|(name, _)| is_rust_source(name)) {
        if !text.starts_with("//!") {
            let message = "open with `//!`: what the file is for and what it refuses to know";
            findings.push(Finding::new("header", file, 1, message));
        }

        let lines = text.lines().count();
        let mut header = text.lines().take_while(|line| line.starts_with("//!"));
        if lines > LONG && !header.any(|line| line.contains(EXCUSE)) {
            let message = format!(
                "{lines} lines: cut it by concept, or say \"{EXCUSE} …\" in its `//!` header"
            );
            findings.push(Finding::new("length", file, LONG + 1, message));
        }

        let code = rust_text::code(text);
        for stub in STUBS {
            // The bang ends the word, so only what stands before it can make it another one.
            for offset in rust_text::whole_words(&code, stub.trim_end_matches('!')) {
                if code[offset..].starts_with(stub) {
                    let line = rust_text::line_of(&code, offset);
                    findings.push(Finding::new("stub", file, line, format!("`{stub}` is left")));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;

    #[test]
    fn a_file_without_header_is_found() {
        let repo = Repo::of(&[
            ("a.rs", "fn a() {}\n"),
            ("b.rs", "//! Good.\n"),
            ("crates/x/tests/data/c.rs", "fixture"),
        ]);
        assert_eq!(
            lines(&check(&repo)),
            ["a.rs:1: open with `//!`: what the file is for and what it refuses to know"]
        );
    }

    #[test]
    fn a_long_file_needs_an_excuse() {
        let long = "//! Much.\n".to_owned() + &"\n".repeat(LONG);
        let excused =
            "//! Much.\n//! Long because it is a table.\n".to_owned() + &"\n".repeat(LONG);
        let just = "//! Much.\n".to_owned() + &"\n".repeat(LONG - 1);
        let repo = Repo::of(&[("just.rs", &just), ("long.rs", &long), ("said.rs", &excused)]);
        assert_eq!(
            lines(&check(&repo)),
            ["long.rs:801: 801 lines: cut it by concept, or say \"Long because …\" in its `//!` \
              header"]
        );
    }

    #[test]
    fn stubs_are_found_in_code_only() {
        let text = "//! No todo!() here.\nfn a() {\n    todo!()\n}\nconst B: &str = \"dbg!\";\n\
                    fn c() { my_dbg!(); unimplemented!(\"x\") }\n";
        assert_eq!(
            lines(&check(&Repo::of(&[("a.rs", text)]))),
            ["a.rs:3: `todo!` is left", "a.rs:6: `unimplemented!` is left"]
        );
    }
}
