//! Unified diffs of a plan, for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use similar::{Algorithm, TextDiff};

use super::path::PatchPath;
use super::plan::FilePlan;
use crate::protocol::FileChange;

/// What becomes of each file, seen from before the patch.
pub(super) fn changes(files: &[FilePlan]) -> BTreeMap<String, FileChange> {
    let pairs = pairs(files);
    let change = |pair: Pair<'_>| {
        let change = match pair {
            Pair { before: None, after: Some((_, after)), .. } => {
                FileChange::Add { content: after.to_owned() }
            }
            Pair { before: Some((_, before)), after: None, .. } => {
                FileChange::Delete { content: before.to_owned() }
            }
            Pair { before: Some((from, before)), after: Some((to, after)), .. } => {
                let move_path = (from != to).then(|| to.to_string());
                FileChange::Update { unified_diff: hunks(before, after), move_path }
            }
            Pair { before: None, after: None, .. } => return None,
        };
        Some((pair.path.to_string(), change))
    };
    pairs.into_iter().filter_map(change).collect()
}

/// All changes in one text, as `diff` and `git` write and read it.
pub(super) fn unified(files: &[FilePlan]) -> String {
    let mut text = String::new();
    for Pair { before, after, .. } in pairs(files) {
        let name = |side: &str, it: Option<(&PatchPath, &str)>| match it {
            Some((path, _)) => format!("{side}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (name("a", before), name("b", after));
        let _ = write!(text, "--- {old}\n+++ {new}\n");
        text.push_str(&hunks(
            before.map_or("", |(_, text)| text),
            after.map_or("", |(_, text)| text),
        ));
    }
    text
}

/// A file before and after, which may be under another name.
struct Pair<'p> {
    path: &'p PatchPath,
    before: Option<(&'p PatchPath, &'p str)>,
    after: Option<(&'p PatchPath, &'p str)>,
}

/// A move onto nothing is one change of two names; a move onto a file is the end of one file and a
/// change of the other, since otherwise what is lost would not be seen.
fn pairs(files: &[FilePlan]) -> Vec<Pair<'_>> {
    let gone: BTreeMap<&PatchPath, &str> = files
        .iter()
        .filter(|file| file.after.is_none())
        .filter_map(|file| Some((&file.path, file.before.as_deref()?)))
        .collect();
    let mut moved = BTreeMap::new();
    for file in files {
        let is_new = file.before.is_none() && file.after.is_some();
        if is_new && gone.contains_key(&file.origin) {
            moved.entry(&file.origin).or_insert(file);
        }
    }
    let targets: BTreeSet<&PatchPath> = moved.values().map(|file| &file.path).collect();
    files
        .iter()
        .filter(|file| file.before != file.after && !targets.contains(&file.path))
        .map(|file| {
            let before = file.before.as_deref().map(|text| (&file.path, text));
            let target = moved.get(&file.path).copied().unwrap_or(file);
            let after = target.after.as_deref().map(|text| (&target.path, text));
            Pair { path: &file.path, before, after }
        })
        .collect()
}

fn hunks(before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    if old.len() + new.len() > MAX_COMPARED {
        return one_hunk(&old, &new);
    }
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .newline_terminated(true)
        .diff_slices(&old, &new)
        .unified_diff()
        .context_radius(CONTEXT)
        .to_string()
}

/// Everything between the first and the last difference, removed and inserted.
fn one_hunk(old: &[&str], new: &[&str]) -> String {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let removed = &old_rest[..old_rest.len() - tail];
    let inserted = &new_rest[..new_rest.len() - tail];
    if removed.is_empty() && inserted.is_empty() {
        return String::new();
    }
    // Where nothing is removed, the line before is named.
    let start = |count: usize| if count == 0 { head } else { head + 1 };
    let mut text = format!(
        "@@ -{},{} +{},{} @@\n",
        start(removed.len()),
        removed.len(),
        start(inserted.len()),
        inserted.len()
    );
    for (sign, lines) in [('-', removed), ('+', inserted)] {
        for line in lines {
            text.push(sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// As many lines around a change as everybody else shows.
const CONTEXT: usize = 3;

/// Beyond this the search for the smallest difference is not worth its time: nobody reads it.
const MAX_COMPARED: usize = 400_000;
