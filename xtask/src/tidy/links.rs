//! Links between Markdown files of the repository lead somewhere, headings included.
//!
//! Addresses on the network are not followed: that would make the rule fail for other people's
//! reasons.

use super::repo::Repo;
use crate::finding::Finding;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let pages = repo.texts_ending(".md").filter(|(name, _)| !name.contains("/tests/data/"));
    for (file, text) in pages {
        for (line, target) in links(text) {
            if let Some(message) = broken(repo, file, &target) {
                findings.push(Finding::new("link", file, line, message));
            }
        }
    }
    findings
}

fn broken(repo: &Repo, file: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let page = if path.is_empty() { file.to_owned() } else { resolve(file, path) };
    if !repo.exists(&page) {
        return Some(format!("`{target}` leads nowhere"));
    }
    let text = repo.text(&page).filter(|_| !heading.is_empty() && page.ends_with(".md"))?;
    let found = anchors(text).iter().any(|anchor| anchor == heading);
    (!found).then(|| format!("`{target}` names no heading of {page}"))
}

/// `path` as seen from `file`, without `.` and `..`. What leaves the repository is left as it is
/// and exists nowhere.
fn resolve(file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = match path.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => file.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect(),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Targets of `[text](target)`, `![text](target)` and `[name]: target`, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, prose) in prose_lines(text) {
        let definition = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((_, target)) = definition {
            found.push((line, clean(target)));
            continue;
        }
        for (at, _) in prose.match_indices("](") {
            let target = &prose[at + 2..];
            if let Some(end) = closing(target) {
                found.push((line, clean(&target[..end])));
            }
        }
    }
    found
}

/// The parenthesis that closes the target; a target may hold pairs of its own.
fn closing(target: &str) -> Option<usize> {
    let mut depth = 0usize;
    target.char_indices().find_map(|(at, it)| {
        match it {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
        None
    })
}

/// Without angle brackets and title.
fn clean(target: &str) -> String {
    let target = target.trim();
    match target.strip_prefix('<') {
        Some(rest) => rest.split('>').next().unwrap_or_default().to_owned(),
        None => target.split_whitespace().next().unwrap_or_default().to_owned(),
    }
}

/// The anchors that GitHub gives to the headings.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    // Headings keep the words of code spans, so the raw line counts.
    let raw: Vec<&str> = text.lines().collect();
    for (line, prose) in prose_lines(text) {
        let level = prose.bytes().take_while(|&byte| byte == b'#').count();
        if !(1..=6).contains(&level) || !prose[level..].starts_with(' ') {
            continue;
        }
        let slug = slug(&raw[line - 1][level..]);
        let same = anchors
            .iter()
            .filter(|it| {
                it.strip_prefix(slug.as_str()).is_some_and(|rest| {
                    rest.is_empty()
                        || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok())
                })
            })
            .count();
        anchors.push(if same == 0 { slug } else { format!("{slug}-{same}") });
    }
    anchors
}

fn slug(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|it| match it {
            ' ' => Some('-'),
            '-' | '_' => Some(it),
            it => it.is_alphanumeric().then_some(it),
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Lines outside code blocks, numbered from one, with their code spans cut out.
fn prose_lines(text: &str) -> Vec<(usize, String)> {
    let mut fence: Option<&str> = None;
    let mut prose = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                let outside: Vec<&str> = line.split('`').step_by(2).collect();
                // An odd backtick at the end opens nothing; what follows it is rare enough to lose.
                prose.push((index + 1, outside.join("`")));
            }
        }
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let page = "[a](b.md) [c](missing.md)\n[d](../src) ![e](<../no such.png>)\n\n[f]: gone.md\n\
                    [g](https://example.org/x) [h](/docs/b.md \"title\")\n";
        let repo = Repo::of(&[("docs/a.md", page), ("docs/b.md", ""), ("src/x.rs", "")]);
        assert_eq!(
            lines(&check(&repo)),
            [
                "docs/a.md:1: `missing.md` leads nowhere",
                "docs/a.md:2: `../no such.png` leads nowhere",
                "docs/a.md:4: `gone.md` leads nowhere",
            ]
        );
    }

    #[test]
    fn headings_are_checked() {
        let page = "# The `map`, drawn\n## Twice\n## Twice\n[a](#the-map-drawn) [b](#twice-1)\n\
                    [c](#nowhere) [d](b.md#there) [e](b.md#not-there)\n";
        let repo = Repo::of(&[("a.md", page), ("b.md", "## There\n")]);
        assert_eq!(
            lines(&check(&repo)),
            [
                "a.md:5: `#nowhere` names no heading of a.md",
                "a.md:5: `b.md#not-there` names no heading of b.md",
            ]
        );
    }

    #[test]
    fn code_is_not_read_for_links() {
        let page = "`[a](gone.md)`\n```text\n[b](gone.md)\n```\n[c](also(gone).md)\n";
        assert_eq!(
            lines(&check(&Repo::of(&[("a.md", page)]))),
            ["a.md:5: `also(gone).md` leads nowhere"]
        );
    }

    #[test]
    fn a_link_out_of_the_repository_leads_nowhere() {
        assert_eq!(resolve("docs/a.md", "../../x"), "../x");
        assert_eq!(
            lines(&check(&Repo::of(&[("docs/a.md", "[a](../../docs/a.md)")]))),
            ["docs/a.md:1: `../../docs/a.md` leads nowhere"]
        );
    }
}
