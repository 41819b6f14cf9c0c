//! An answer with its citations, for a terminal and for programs.

use std::io::Write;

use sabir_base::text::{one_line, with_hidden_shown};
use sabir_host::{Answered, Cited};
use serde_json::{Value, json};

/// The answer, then a numbered list of what it stands on.
pub(super) fn print(output: &mut impl Write, answered: &Answered) -> std::io::Result<()> {
    let text = answered.document.to_markdown();
    writeln!(output, "{}", with_hidden_shown(text.trim_end()))?;
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
