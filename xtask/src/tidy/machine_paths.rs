//! No file names a folder of the machine it was written on.

use super::repo::Repo;
use crate::finding::Finding;

/// Spelled in pieces, so that this file passes its own rule.
const ROOTS: [&str; 2] = [concat!("/", "root/"), concat!("/", "work/")];

/// A person's name follows.
const HOMES: [&str; 2] = [concat!("/", "home/"), concat!("/", "Users/")];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, text) in repo.texts() {
        for (index, line) in text.lines().enumerate() {
            if let Some(path) = machine_path(line) {
                let message = format!("`{path}` exists on one machine only");
                findings.push(Finding::new("machine-path", file, index + 1, message));
            }
        }
    }
    findings
}

fn machine_path(line: &str) -> Option<&str> {
    let absolute = |start: usize| {
        // After a name, a dot or a variable it is the middle of a longer path, or of an address.
        let before = line[..start].chars().next_back();
        !before.is_some_and(|it| it.is_alphanumeric() || "._-*$}~)]>".contains(it))
    };
    let in_root = ROOTS.iter().flat_map(|root| {
        line.match_indices(root).map(|(start, found)| (start, start + found.len()))
    });
    let in_home = HOMES.iter().flat_map(|home| {
        line.match_indices(home).filter_map(|(start, found)| {
            let name_at = start + found.len();
            let name =
                line[name_at..].find(|it: char| !it.is_alphanumeric() && !"._-".contains(it));
            let end = name_at + name.filter(|&len| len > 0)?;
            line[end..].starts_with('/').then_some((start, end + 1))
        })
    });
    in_root.chain(in_home).find(|&(start, _)| absolute(start)).map(|(start, end)| &line[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;

    #[test]
    fn machine_paths_are_found() {
        let bad = [
            concat!("see /", "root/x"),
            concat!("`/", "work/y`"),
            concat!("dir=/", "home/anna/z"),
            concat!("file:///", "Users/anna/z"),
        ];
        let text = bad.join("\n");
        assert_eq!(
            lines(&check(&Repo::of(&[("a.md", &text)]))),
            [
                concat!("a.md:1: `/", "root/` exists on one machine only"),
                concat!("a.md:2: `/", "work/` exists on one machine only"),
                concat!("a.md:3: `/", "home/anna/` exists on one machine only"),
                concat!("a.md:4: `/", "Users/anna/` exists on one machine only"),
            ]
        );
    }

    #[test]
    fn other_paths_are_left_alone() {
        for line in [
            "https://example.org/work/plan",
            "../work/plan",
            "$HOME/work/plan",
            "a/work/b",
            "/workshop/",
            concat!("/", "home/"),
            concat!("under /", "home/anna"),
        ] {
            assert_eq!(machine_path(line), None, "{line}");
        }
    }
}
