//! Pure crates compute: they reach no runtime, no database and no random source, and ask neither
//! the clock nor the files nor the environment.

use std::collections::BTreeSet;

use super::repo::Repo;
use super::rust_text;
use crate::finding::Finding;

/// The crates below the line in ARCHITECTURE.md, whether they exist yet or not.
pub(super) const PURE: [&str; 12] = [
    "sabir-base",
    "sabir-grammar",
    "sabir-axon",
    "sabir-llmx",
    "sabir-lingua",
    "sabir-policy",
    "sabir-document",
    "sabir-llmcp",
    "sabir-extractive",
    "sabir-export",
    "sabir-engine",
    "sabir-ldp",
];

/// What a pure crate may not link, not even through others.
const BANNED_CRATES: [&str; 10] = [
    "axum",
    "fastrand",
    "getrandom",
    "hyper",
    "mio",
    "rand",
    "reqwest",
    "rusqlite",
    "socket2",
    "tokio",
];

/// What a pure crate may not import or name with its whole path.
const BANNED_PATHS: [&str; 11] = [
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::process",
    "std::thread::sleep",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::time::UNIX_EPOCH",
];

/// The same, reached through a module that was imported (`use std::time;`).
const BANNED_TAILS: [&str; 6] =
    ["Instant::now", "SystemTime", "io::stderr", "io::stdin", "io::stdout", "thread::sleep"];

/// `tree` is what `cargo tree --edges normal --prefix none` prints for `package`.
pub(super) fn check_tree(package: &str, tree: &str) -> Vec<Finding> {
    let reached: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    BANNED_CRATES
        .iter()
        .filter(|banned| reached.contains(**banned))
        .map(|banned| {
            let message = format!(
                "`{package}` is pure but reaches `{banned}`; \
                 `cargo tree -p {package} -e normal -i {banned}` shows how"
            );
            Finding::new("pure-tree", format!("crates/{package}/Cargo.toml"), 1, message)
        })
        .collect()
}

pub(super) fn check_sources(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, text) in repo.texts_ending(".rs") {
        let is_pure = PURE.iter().any(|name| {
            file.strip_prefix("crates/")
                .and_then(|it| it.strip_prefix(name))
                .is_some_and(|it| it.starts_with("/src/"))
        });
        if !is_pure || rust_text::is_test_file(file) {
            continue;
        }
        for (line, path) in banned_paths(text) {
            let message = format!("`{path}`: a pure crate takes time, files and settings as input");
            findings.push(Finding::new("pure-source", file, line, message));
        }
    }
    findings
}

fn banned_paths(text: &str) -> BTreeSet<(usize, String)> {
    let code = rust_text::shipped_code(text);
    let mut found = BTreeSet::new();
    for banned in BANNED_PATHS {
        for offset in rust_text::whole_words(&code, banned) {
            found.insert((rust_text::line_of(&code, offset), banned.to_owned()));
        }
    }
    for offset in rust_text::whole_words(&code, "use") {
        let Some(end) = code[offset..].find(';') else { continue };
        for path in imported_paths(&code[offset + "use".len()..offset + end]) {
            if let Some(banned) = banned_import(&path) {
                found.insert((rust_text::line_of(&code, offset), banned));
            }
        }
    }
    for banned in BANNED_TAILS {
        for offset in rust_text::whole_words(&code, banned) {
            let line = rust_text::line_of(&code, offset);
            // The whole path was named on this line already.
            if !found.iter().any(|(other, path)| *other == line && path.contains(banned)) {
                found.insert((line, banned.to_owned()));
            }
        }
    }
    found
}

/// A path at or below a banned one, or a glob that brings a banned one in.
fn banned_import(path: &str) -> Option<String> {
    let below = |path: &str, root: &str| {
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    if let Some(root) = path.strip_suffix("::*")
        && BANNED_PATHS.iter().any(|banned| below(banned, root))
    {
        return Some(path.to_owned());
    }
    BANNED_PATHS.iter().find(|banned| below(path, banned)).map(|&banned| banned.to_owned())
}

/// `std::{fs, time::{Duration, Instant as I}}` names three paths.
fn imported_paths(tree: &str) -> Vec<String> {
    let tree: String = tree
        .split(" as ")
        .enumerate()
        .map(|(index, part)| {
            // Behind the first ` as ` every part starts with the alias.
            let alias = if index == 0 { 0 } else { part.find([',', '}']).unwrap_or(part.len()) };
            &part[alias..]
        })
        .collect();
    let tree: String = tree.split_whitespace().collect();
    let mut paths = Vec::new();
    expand(tree.trim_start_matches("::"), "", &mut paths);
    paths
}

fn expand(tree: &str, prefix: &str, paths: &mut Vec<String>) {
    let Some((head, group)) = tree.split_once('{') else {
        let path = format!("{prefix}{tree}");
        paths.push(path.strip_suffix("::self").map_or(path.clone(), str::to_owned));
        return;
    };
    let group = group.strip_suffix('}').unwrap_or(group);
    let prefix = format!("{prefix}{head}");
    let mut depth = 0usize;
    let mut start = 0;
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                expand(&group[start..at], &prefix, paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < group.len() {
        expand(&group[start..], &prefix, paths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;

    #[test]
    fn a_banned_crate_in_the_tree_is_found() {
        let tree = "sabir-axon v0.1.0 (path)\nmemchr v2.7.0\ntokio v1.0.0\nrand_core v0.9.0\n";
        assert_eq!(
            lines(&check_tree("sabir-axon", tree)),
            ["crates/sabir-axon/Cargo.toml:1: `sabir-axon` is pure but reaches `tokio`; \
              `cargo tree -p sabir-axon -e normal -i tokio` shows how"]
        );
        assert_eq!(check_tree("sabir-axon", "sabir-axon v0.1.0 (path)\nmemchr v2.7.0\n"), []);
    }

    #[track_caller]
    fn check_paths(text: &str, expected: &[(usize, &str)]) {
        let found = banned_paths(text);
        let found: Vec<_> = found.iter().map(|(line, path)| (*line, path.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn whole_paths_are_found() {
        check_paths(
            "fn a() {\n std::fs::read(x); std::env::var(y)\n}",
            &[(2, "std::env"), (2, "std::fs")],
        );
        check_paths("fn a() -> std::time::Duration {}\nmod std_fs {}\nfn std::fsx() {}", &[]);
    }

    #[test]
    fn imports_are_taken_apart() {
        check_paths(
            "use std::{fmt, fs as files, time::{Duration, Instant}};",
            &[(1, "std::fs"), (1, "std::time::Instant")],
        );
        check_paths(
            "use std::fs::{self, File};\nuse std::net::TcpStream;",
            &[(1, "std::fs"), (2, "std::net")],
        );
        check_paths(
            "use std::*;\nuse std::time::*;\nuse std::fmt::*;",
            &[(1, "std::*"), (2, "std::time::*")],
        );
    }

    #[test]
    fn a_module_does_not_hide_the_clock() {
        check_paths(
            "use std::{io, time};\nfn a() { time::Instant::now(); io::stdin() }",
            &[(2, "Instant::now"), (2, "io::stdin")],
        );
    }

    #[test]
    fn comments_strings_and_tests_may_name_anything() {
        check_paths(
            "//! Not std::fs.\nconst A: &str = \"std::fs\";\n\
             #[cfg(test)]\nmod tests { use std::fs; }\n",
            &[],
        );
    }

    #[test]
    fn only_shipped_sources_of_pure_crates_are_read() {
        let bad = "use std::fs;";
        let repo = Repo::of(&[
            ("crates/sabir-axon/src/a.rs", bad),
            ("crates/sabir-axon/src/a/tests.rs", bad),
            ("crates/sabir-axon/tests/it/main.rs", bad),
            ("crates/sabir/src/main.rs", bad),
            ("crates/sabir-axon-tools/src/a.rs", bad),
        ]);
        assert_eq!(
            lines(&check_sources(&repo)),
            ["crates/sabir-axon/src/a.rs:1: `std::fs`: a pure crate takes time, files and \
              settings as input"]
        );
    }
}
