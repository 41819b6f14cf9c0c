//! An answer with its citations, for a terminal and for programs.

use std::io::Write;

use sabir_base::text::{is_hidden, one_line, with_hidden_shown};
use sabir_host::{Answered, CallReport, Cited};
use sabir_policy::{ApprovalMark, Outcome};
use serde_json::{Value, json};

use crate::output::Notes;

/// The answer, then a numbered list of what it stands on.
pub(super) fn print(output: &mut impl Write, answered: &Answered) -> std::io::Result<()> {
    let text = answered.document.to_markdown();
    writeln!(output, "{}", with_hidden_shown(&without_escapes(text.trim_end())))?;
    if !answered.citations.is_empty() {
        writeln!(output)?;
    }
    for cited in &answered.citations {
        print_one(output, cited)?;
    }
    Ok(())
}

fn print_one(output: &mut impl Write, cited: &Cited) -> std::io::Result<()> {
    let Cited { number, quote, status, source_id, title, url, .. } = cited;
    if cited.is_unreadable() {
        return writeln!(output, "[{number}] {}: the citation cannot be read", status.as_str());
    }
    let title = if title.is_empty() { source_id } else { title };
    write!(output, "[{number}] {}: {}", status.as_str(), one_line(title, 100))?;
    if let Some(url) = url {
        write!(output, " <{}>", one_line(url, 300))?;
    }
    writeln!(output, "\n    \"{}\"", one_line(quote, 300))
}

/// What became of each call, a line each; those that say the same are told of once.
pub(super) fn tell_calls(calls: &[CallReport], notes: &mut Notes) {
    let mut told: Vec<(&str, String, usize)> = Vec::new();
    for call in calls {
        let words = format!("{}: {}", call.tool, in_words(call));
        match told.iter_mut().find(|(_, same, _)| *same == words) {
            Some((_, _, count)) => *count += 1,
            None => told.push((&call.call_id, words, 1)),
        }
    }
    for (id, words, count) in told {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        notes.line(with_hidden_shown(&format!("{id} {words}{times}")));
    }
}

fn in_words(call: &CallReport) -> String {
    if let Some(result) = &call.result {
        let made = call.artifact_id.iter();
        return made.fold(result.clone(), |words, id| format!("{words}, {id}"));
    }
    let CallReport { reason, outcome, .. } = call;
    let why = match call.approval {
        ApprovalMark::Denied => return format!("denied by you: {reason}"),
        ApprovalMark::Unattended => "; nobody was there to be asked",
        ApprovalMark::Expired => "; the answer came too late",
        ApprovalMark::Aborted => "; it was stopped",
        _ => "",
    };
    match outcome {
        Outcome::Allow => reason.clone(),
        Outcome::Ask | Outcome::Deny => format!("refused: {reason}{why}"),
    }
}

/// Markdown as people read it: nobody reads it as Markdown again, so that its backslashes only
/// disturb. Code is as it is.
fn without_escapes(markdown: &str) -> String {
    let mut shown = String::with_capacity(markdown.len());
    let mut fence: Option<&str> = None;
    for line in markdown.split_inclusive('\n') {
        let start = line.trim_start_matches([' ', '>', '\t']);
        let ticks = &start[..start.len() - start.trim_start_matches('`').len()];
        match fence {
            Some(open) => {
                if ticks.len() >= open.len() && start[ticks.len()..].trim().is_empty() {
                    fence = None;
                }
                shown.push_str(line);
            }
            None if ticks.len() >= 3 => {
                fence = Some(ticks);
                shown.push_str(line);
            }
            None => push_unescaped(line, &mut shown),
        }
    }
    shown
}

fn push_unescaped(line: &str, shown: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find(['\\', '`']) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\\') {
            // One at the end of a line breaks it.
            let is_escape = after.starts_with(|c: char| c.is_ascii_punctuation() || c == '\n');
            if !is_escape {
                shown.push('\\');
            }
            let length = if is_escape { after.chars().next().map_or(0, char::len_utf8) } else { 0 };
            shown.push_str(&after[..length]);
            rest = &after[length..];
            continue;
        }
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let (mark, after) = rest.split_at(ticks);
        let end = after
            .match_indices(mark)
            .find(|(at, _)| !after[..*at].ends_with('`') && !after[at + ticks..].starts_with('`'));
        let length = end.map_or(ticks, |(at, _)| ticks + at + ticks);
        shown.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    shown.push_str(rest);
}

/// JSON on one line in which nothing is hidden: what nobody sees is spelled out, as JSON can.
pub(super) fn json_line(value: &Value) -> String {
    let text = value.to_string();
    let is_unsafe = |c: char| is_hidden(c) || matches!(c, '\u{200C}' | '\u{200D}');
    if !text.contains(is_unsafe) {
        return text;
    }
    let mut line = String::with_capacity(text.len() + 32);
    for c in text.chars() {
        match is_unsafe(c) {
            // Such characters stand in strings alone.
            true => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    line.push_str(&format!("\\u{unit:04x}"));
                }
            }
            false => line.push(c),
        }
    }
    line
}

/// What `--json` prints.
pub(super) fn to_json(answered: &Answered) -> Value {
    json!({
        "answer": answered.document.to_markdown(),
        "title": answered.title,
        "citations": answered.citations.iter().map(one_to_json).collect::<Vec<_>>(),
        "model": answered.model,
        "notes": answered.notes,
        "calls": answered.calls,
    })
}

/// A page that is in no collection is no source: it has the name of a document.
fn one_to_json(cited: &Cited) -> Value {
    let mut object = json!(cited);
    if cited.source_id.starts_with("doc:") {
        object["doc_id"] = object["source_id"].take();
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_no_backslashes_of_markdown() {
        for (markdown, shown) in [
            ("2 \\* 3 \\_x\\_", "2 * 3 _x_"),
            ("1\\. a\\\nb", "1. a\nb"),
            ("`a\\*b` and \\`c", "`a\\*b` and `c"),
            ("``a`\\*`` \\*", "``a`\\*`` *"),
            ("```\na\\*b\n```\nc\\*d", "```\na\\*b\n```\nc*d"),
            ("C:\\dir \\\\ ü\\ü", "C:\\dir \\ ü\\ü"),
        ] {
            assert_eq!(without_escapes(markdown), shown, "{markdown}");
        }
    }

    #[test]
    fn json_hides_nothing() {
        let value = json!({ "a": "x\u{202e}y\u{1b}\u{e0041}\u{200d}z" });
        let line = json_line(&value);
        assert!(line.is_ascii(), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
