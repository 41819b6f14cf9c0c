//! Replacements of spans by text, and how to apply several at once.

use crate::Span;

/// Replace the bytes of `span` with `text`. An empty span inserts; an empty text deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

impl Edit {
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    pub fn insert(offset: u32, text: impl Into<String>) -> Self {
        Self::replace(Span::at(offset), text)
    }

    pub fn delete(span: Span) -> Self {
        Self::replace(span, "")
    }
}

/// Applies edits that do not overlap; several insertions at one offset keep their given order.
/// An edit that overlaps an earlier one (by position) is left out: two fixes for the same bytes
/// would otherwise corrupt each other, and the next pass offers the second one again.
/// Edits whose span does not lie on character boundaries of `text` are left out too.
pub fn apply_edits(text: &str, edits: &[Edit]) -> String {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut out = String::with_capacity(text.len() + 16);
    let mut at = 0usize;
    for edit in sorted {
        let range = edit.span.range();
        if range.start < at || text.get(range.clone()).is_none() {
            continue;
        }
        out.push_str(&text[at..range.start]);
        out.push_str(&edit.text);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_in_order_and_overlaps_are_left_out() {
        let edits = [
            Edit::insert(0, "<"),
            Edit::replace(Span::new(0, 2), "AB"),
            Edit::delete(Span::new(1, 3)),
            Edit::insert(4, "!"),
            Edit::insert(4, "?"),
        ];
        assert_eq!(apply_edits("abcd", &edits), "<ABcd!?");
    }

    #[test]
    fn a_span_inside_a_character_changes_nothing() {
        assert_eq!(apply_edits("é", &[Edit::insert(1, "x")]), "é");
    }
}
