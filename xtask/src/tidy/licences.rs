//! Every dependency's licence is on the list in `deny.toml`, and comes from crates.io.
//!
//! The part of cargo-deny that nobody should have to install first.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::repo::Repo;
use crate::finding::Finding;

pub(super) fn check(repo: &Repo, metadata: &Value) -> Result<Vec<Finding>> {
    let list = repo.text(LIST).with_context(|| format!("no {LIST}"))?;
    let allowed = allowed_licences(list)?;
    let packages = metadata["packages"].as_array().context("metadata has no packages")?;
    let mut findings = Vec::new();
    for package in packages {
        // What has no source is ours.
        let Some(source) = package["source"].as_str() else { continue };
        let name = format!(
            "`{} {}`",
            package["name"].as_str().unwrap_or_default(),
            package["version"].as_str().unwrap_or_default()
        );
        if !CRATES_IO.iter().any(|index| source.starts_with(index)) {
            let message = format!("{name} does not come from crates.io but from {source}");
            findings.push(Finding::new("source", "Cargo.lock", 1, message));
        }
        let message = match package["license"].as_str() {
            None => format!("{name} names no licence"),
            Some(licence) if is_allowed(licence, &allowed) => continue,
            Some(licence) => format!("{name} is under {licence}, which {LIST} does not allow"),
        };
        findings.push(Finding::new("licence", "Cargo.lock", 1, message));
    }
    Ok(findings)
}

/// The strings of `allow = [ … ]` under `[licenses]`.
fn allowed_licences(deny: &str) -> Result<BTreeSet<String>> {
    let without_comments: String = deny
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let section =
        without_comments.split("[licenses]").nth(1).context("deny.toml: no [licenses]")?;
    let section = section.split("\n[").next().unwrap_or_default();
    let list = section
        .split_once("allow = [")
        .and_then(|(_, rest)| rest.split_once(']'))
        .map(|(list, _)| list)
        .context("deny.toml: no allow list under [licenses]")?;
    let names: BTreeSet<String> = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    if names.is_empty() {
        bail!("deny.toml: the allow list is empty");
    }
    Ok(names)
}

/// An SPDX expression: `AND` binds tighter than `OR`, the old `/` is an `OR`, and an exception
/// (`X WITH Y`) must be on the list as a whole. What cannot be read is not allowed.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    reader.any() == Some(true) && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a BTreeSet<String>,
}

impl<'a> Reader<'a> {
    fn any(&mut self) -> Option<bool> {
        let mut value = self.all()?;
        while self.eat("OR") {
            value |= self.all()?;
        }
        Some(value)
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.eat("AND") {
            value &= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        if self.eat("(") {
            let value = self.any()?;
            return self.eat(")").then_some(value);
        }
        let name = self.take()?;
        if self.eat("WITH") {
            let exception = self.take()?;
            return Some(self.allowed.contains(&format!("{name} WITH {exception}")));
        }
        Some(self.allowed.contains(name))
    }

    fn take(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }
}

const LIST: &str = "deny.toml";
const CRATES_IO: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;
    use serde_json::json;

    const DENY: &str = "[bans]\nallow = [\"X\"]\n[licenses]\nallow = [\n  \"MIT\", # ours\n  \
                        # \"GPL-3.0-only\",\n  \"NCSA\",\n  \"Apache-2.0 WITH LLVM-exception\",\n]\n\
                        [sources]\n";

    #[test]
    fn the_list_is_read_without_comments() {
        let names = allowed_licences(DENY).unwrap();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["Apache-2.0 WITH LLVM-exception", "MIT", "NCSA"]);
        assert!(allowed_licences("[bans]\nallow = [\"X\"]\n").is_err());
        assert!(allowed_licences("[licenses]\nallow = []\n").is_err());
    }

    #[test]
    fn expressions_are_weighed() {
        let allowed = allowed_licences(DENY).unwrap();
        for good in [
            "MIT",
            "GPL-3.0-only OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND NCSA",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-3.0-only AND X OR MIT",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MIT WITH LLVM-exception",
            "(MIT OR NCSA) AND X",
            "(MIT",
            "MIT MIT",
            "MIT OR",
            "",
        ] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn foreign_licences_and_sources_are_found() {
        let package = |name: &str, licence: Value, source: Value| json!({ "name": name, "version": "1.0.0", "license": licence, "source": source });
        let metadata = json!({ "packages": [
            package("ours", json!("X"), json!(null)),
            package("good", json!("MIT"), json!(CRATES_IO[0])),
            package("copyleft", json!("GPL-3.0-only"), json!(CRATES_IO[0])),
            package("silent", json!(null), json!(CRATES_IO[1])),
            package("cloned", json!("MIT"), json!("git+https://example.org/cloned")),
        ]});
        assert_eq!(
            lines(&check(&Repo::of(&[("deny.toml", DENY)]), &metadata).unwrap()),
            [
                "Cargo.lock:1: `copyleft 1.0.0` is under GPL-3.0-only, which deny.toml does not \
                 allow",
                "Cargo.lock:1: `silent 1.0.0` names no licence",
                "Cargo.lock:1: `cloned 1.0.0` does not come from crates.io but from \
                 git+https://example.org/cloned",
            ]
        );
    }
}
