//! `web.extract`: the values that a JSON Schema asks for, where the sources label them. What is found
//! conforms to the schema; what would not is left out and named.

use sabir_document::Inline;
use serde_json::Value;

use crate::draft::{Composer, Draft, strong};
use crate::source::{self, Source};

mod fill;
mod shape;
mod value;

use fill::{Filled, Filler};
use shape::{Field, Shape};

/// Fills `schema` from the sources. `data` of the draft conforms to it, or is absent.
pub fn extract(sources: &[Source], schema: &Value) -> Draft {
    let reading = source::read(sources, source::EXTRACT_BYTES);
    let pages = &reading.pages;
    let shape = Shape::of_schema(schema);
    let filler = Filler::new(pages, &shape);
    let mut draft = Composer::new(pages);
    let data = match shape {
        Shape::Object(fields) => {
            let (data, filled) = filler.object(&fields, "");
            show_object(&mut draft, &filled);
            show_missing(&mut draft, &filled.missing, &fields);
            if data.is_none() {
                draft.sentence("Something that the schema requires is not in your sources, so there is no data.");
            }
            data
        }
        list @ Shape::List { .. } => match filler.list(&list, None) {
            Some(filled) => {
                show_list(&mut draft, &filled);
                Some(filled.value)
            }
            None => {
                draft.sentence("Rows that fit the schema are not in your sources.");
                None
            }
        },
        Shape::Text { .. } | Shape::Number { .. } | Shape::Boolean | Shape::Choice(_) => {
            draft.sentence("The schema asks for a single value without a name; ask for an object.");
            None
        }
        Shape::Unknown => {
            draft.sentence(
                "The schema is missing or demands what cannot be promised here, so there is no data.",
            );
            None
        }
    };
    let mut draft = draft.finish("Extracted data");
    draft.data = data;
    draft
}

fn show_object(draft: &mut Composer<'_, '_>, filled: &Filled) {
    let mut rows = Vec::new();
    let mut lists = Vec::new();
    // Depth is bounded by the shape's own.
    let mut stack: Vec<(String, &Filled)> =
        filled.parts.iter().rev().map(|(name, part)| (name.clone(), part)).collect();
    while let Some((name, part)) = stack.pop() {
        if !part.parts.is_empty() {
            let inner = part.parts.iter().rev();
            stack.extend(inner.map(|(field, part)| (format!("{name}.{field}"), part)));
        } else if part.value.is_array() {
            lists.push((name, part));
        } else {
            let mut cell = vec![Inline::text(plain(&part.value))];
            for passage in &part.passages {
                cell.extend(draft.cite(passage));
            }
            rows.push(vec![vec![Inline::text(name)], cell]);
        }
    }
    draft.table(vec![vec![Inline::text("Field")], vec![Inline::text("Value")]], rows);
    for (name, part) in lists {
        draft.paragraph(vec![strong(name)]);
        show_list(draft, part);
    }
}

fn show_list(draft: &mut Composer<'_, '_>, filled: &Filled) {
    let Some(items) = filled.value.as_array() else { return };
    let mut columns: Vec<&String> = Vec::new();
    for name in items.iter().filter_map(Value::as_object).flat_map(|object| object.keys()) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    if columns.is_empty() {
        let lines = items.iter().zip(&filled.passages).map(|(item, passage)| {
            let mut line = vec![Inline::text(plain(item))];
            line.extend(draft.cite(passage));
            line
        });
        let lines = lines.collect();
        draft.bullets(lines);
        return;
    }
    let mut rows = Vec::new();
    for (item, passage) in items.iter().zip(&filled.passages) {
        let mut row: Vec<Vec<Inline>> = columns
            .iter()
            .map(|name| item.get(name.as_str()).map(plain).unwrap_or_default())
            .map(|text| vec![Inline::text(text)])
            .collect();
        if let Some(last) = row.last_mut() {
            last.extend(draft.cite(passage));
        }
        rows.push(row);
    }
    let header = columns.into_iter().map(|name| vec![Inline::text(name.clone())]).collect();
    draft.table(header, rows);
}

/// What was looked for in vain is one thing, what could not be looked for another.
fn show_missing(draft: &mut Composer<'_, '_>, missing: &[String], fields: &[Field]) {
    let is_unknown = |name: &&String| shape_of(name, fields) == Some(&Shape::Unknown);
    let (unknown, absent): (Vec<&String>, Vec<&String>) = missing.iter().partition(is_unknown);
    let mut say = |start: &str, names: &[&String]| {
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            draft.sentence(format!("{start}: {}.", names.join(", ")));
        }
    };
    say("Not in your sources", &absent);
    say("Not looked for, because the schema demands what cannot be promised here", &unknown);
}

/// The shape of the field at `path`, whose parts are divided by dots.
fn shape_of<'f>(path: &str, mut fields: &'f [Field]) -> Option<&'f Shape> {
    let mut rest = path;
    // A name may have dots of its own, so the longest that fits is taken.
    loop {
        let starts = |field: &&Field| {
            rest.strip_prefix(field.name.as_str())
                .is_some_and(|it| it.is_empty() || it.starts_with('.'))
        };
        let field = fields.iter().filter(starts).max_by_key(|field| field.name.len())?;
        if rest.len() == field.name.len() {
            return Some(&field.shape);
        }
        let Shape::Object(inner) = &field.shape else { return None };
        (rest, fields) = (&rest[field.name.len() + 1..], inner);
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
