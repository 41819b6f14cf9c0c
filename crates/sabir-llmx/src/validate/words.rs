//! Words that people and models write instead of those of the notation.

use std::borrow::Cow;

use sabir_base::is_near;

use crate::block::{BlockInfo, BlockKind, FieldInfo};

/// What was probably meant by a type that is not known.
pub(super) fn near_type(word: &str) -> Option<&'static str> {
    let rows = || BlockKind::STANDARD.into_iter().filter_map(BlockKind::info);
    rows()
        .find(|row| row.name.eq_ignore_ascii_case(word))
        .or_else(|| rows().find(|row| word.len() >= 3 && is_near(word, row.word)))
        .map(|row| row.word)
}

/// What was probably meant by a field that is not known, and its place in the table: its name in
/// full, or its key misspelt.
pub(super) fn near_field(info: &BlockInfo, key: &str) -> Option<(usize, &'static FieldInfo)> {
    let fields: &'static [FieldInfo] = info.fields;
    let is_start = |name: &str| {
        key.len() >= 3 && name.get(..key.len()).is_some_and(|it| it.eq_ignore_ascii_case(key))
    };
    let find = |is_meant: &dyn Fn(&FieldInfo) -> bool| {
        fields.iter().enumerate().find(|(_, field)| is_meant(field))
    };
    find(&|field| field.name.eq_ignore_ascii_case(key))
        .or_else(|| find(&|field| is_start(field.name)))
        .or_else(|| find(&|field| field.key.len() >= 3 && is_near(key, field.key)))
}

/// What was probably meant by a status that there is not.
pub(super) fn near_status(kind: BlockKind, word: &str) -> Option<&'static str> {
    let table: &[(&str, &[&str])] = match kind {
        BlockKind::Plan => &PLAN_STATUS,
        BlockKind::Obs => &OBS_STATUS,
        _ => return None,
    };
    let same = |other: &&str| {
        let letters = |text: &str| -> String {
            text.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase()
        };
        word.len() <= LONGEST_WORD && letters(other) == letters(word)
    };
    table
        .iter()
        .find(|(status, others)| same(status) || others.iter().any(&same))
        .map(|(status, _)| *status)
}

/// What was probably meant by an operation that is not known, and whether it is only misspelt.
pub(super) fn near_operation(all: &[&'static str], word: &str) -> Option<(&'static str, bool)> {
    let misspelt = all.iter().find(|known| word.len() >= 3 && is_near(word, known));
    if let Some(known) = misspelt {
        return Some((known, true));
    }
    let meant = OPERATIONS
        .iter()
        .find(|(_, others)| others.iter().any(|other| other.eq_ignore_ascii_case(word)));
    meant.map(|(known, _)| (*known, false))
}

/// Text of the document in a message: its start, if it is long.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_WORD) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Longer than any word that is meant.
const LONGEST_WORD: usize = 40;

const PLAN_STATUS: [(&str, &[&str]); 4] = [
    ("P", &["pending", "todo", "planned", "open", "new", "queued", "waiting", "not started"]),
    ("I", &["in progress", "progress", "doing", "active", "running", "started", "wip", "current"]),
    ("C", &["completed", "complete", "done", "finished", "ok", "success", "succeeded"]),
    ("X", &["cancelled", "canceled", "failed", "fail", "error", "err", "aborted", "skipped"]),
];

const OBS_STATUS: [(&str, &[&str]); 2] = [
    ("OK", &["okay", "success", "successful", "succeeded", "done", "completed", "passed", "pass"]),
    ("ERR", &["error", "fail", "failed", "failure", "exception", "timeout", "denied"]),
];

const OPERATIONS: [(&str, &[&str]); 6] = [
    ("read", &["get", "open", "cat", "view", "load", "fetch"]),
    ("write", &["create", "save", "new", "put", "add"]),
    ("edit", &["modify", "update", "change", "patch", "replace"]),
    ("shell", &["run", "exec", "execute", "bash", "sh", "command", "cmd", "test"]),
    ("search", &["find", "grep", "query", "lookup", "glob"]),
    ("spawn", &["delegate", "agent", "subagent", "fork", "start"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_guessed() {
        assert_eq!(near_type("REQUEST"), Some("REQ"));
        assert_eq!(near_type("OBSERVATION"), Some("OBS"));
        assert_eq!(near_type("CUSTOM"), None);
        assert_eq!(near_status(BlockKind::Plan, "In_Progress"), Some("I"));
        assert_eq!(near_status(BlockKind::Plan, "done"), Some("C"));
        assert_eq!(near_status(BlockKind::Plan, "x"), Some("X"));
        assert_eq!(near_status(BlockKind::Obs, "error"), Some("ERR"));
        assert_eq!(near_status(BlockKind::Obs, ""), None);
        assert_eq!(near_status(BlockKind::Obs, "OKAYISH"), None);
        let operations = ["read", "shell"];
        assert_eq!(near_operation(&operations, "Read"), Some(("read", true)));
        assert_eq!(near_operation(&operations, "run"), Some(("shell", false)));
        assert_eq!(near_operation(&operations, "deploy"), None);
        assert_eq!(shown(&"é".repeat(99)), format!("{}...", "é".repeat(40)));
    }
}
