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
    let title = if title.is_empty() { source_id } else { title };
    write!(output, "[{number}] {}: {}", status.as_str(), one_line(title, 100))?;
    if let Some(url) = url {
        write!(output, " <{}>", one_line(url, 300))?;
    }
    writeln!(output, "\n    \"{}\"", one_line(quote, 300))
}

/// What `--json` prints.
pub(super) fn to_json(answered: &Answered) -> Value {
    let mut object = json!({
        "answer": answered.document.to_markdown(),
        "title": answered.title,
        "citations": answered.citations,
        "model": answered.model,
        "notes": answered.notes,
    });
    if let Some(object) = object.as_object_mut() {
        if let Some(data) = &answered.data {
            object.insert("data".to_owned(), data.clone());
        }
        if !answered.calls.is_empty() {
            object.insert("calls".to_owned(), json!(answered.calls));
        }
    }
    object
}
