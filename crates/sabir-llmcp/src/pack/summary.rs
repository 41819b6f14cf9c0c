//! A source in a few lines: how it begins, and what its headings are.

use sabir_base::text::one_line;

/// The first paragraph and the headings of a Markdown text, both cut to a few lines.
pub(super) fn summary(markdown: &str) -> String {
    let mut paragraph = String::new();
    let mut headings: Vec<&str> = Vec::new();
    let mut headings_length = 0;
    let mut fenced = false;
    for line in markdown.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if fenced {
            continue;
        } else if line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim();
            if headings_length < MAX_HEADINGS && !heading.is_empty() {
                headings_length += heading.len();
                headings.push(heading);
            }
        } else if !line.is_empty() && paragraph.len() < MAX_PARAGRAPH {
            paragraph.push_str(line);
            paragraph.push(' ');
        } else if line.is_empty() && paragraph.len() < ENOUGH {
            // A date or a byline is no beginning.
            continue;
        } else if headings_length >= MAX_HEADINGS {
            break;
        }
    }
    let paragraph = one_line(&paragraph, MAX_PARAGRAPH);
    match headings.is_empty() {
        true => paragraph,
        false => {
            format!("{paragraph}\n\nHeadings: {}", one_line(&headings.join(" · "), MAX_HEADINGS))
        }
    }
}

/// A paragraph of ordinary length.
const MAX_PARAGRAPH: usize = 400;
const ENOUGH: usize = 80;
const MAX_HEADINGS: usize = 240;
