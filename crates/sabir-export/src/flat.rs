//! Inlines as one text, for forms that know no marks. What becomes of a link is theirs to say.

use std::fmt::Write as _;

use sabir_document::Inline;

/// The words, with `[1]` where a citation is meant. `after_link` says what follows the words of a
/// link that leads to this address; links whose words are the address already are not asked about.
///
/// It recurses: the depth of a document in normal form is bounded.
pub(crate) fn flatten(
    inlines: &[Inline],
    after_link: &mut dyn FnMut(&str) -> Option<String>,
) -> String {
    let mut out = String::new();
    push(&mut out, inlines, after_link);
    out
}

fn push(out: &mut String, inlines: &[Inline], after_link: &mut dyn FnMut(&str) -> Option<String>) {
    for inline in inlines {
        match inline {
            Inline::Text { text } | Inline::Code { text } => out.push_str(text),
            Inline::Strong { children } | Inline::Em { children } => {
                push(out, children, after_link)
            }
            Inline::Cite { reference } => {
                // Writing to a string does not fail.
                let _ = write!(out, "[{reference}]");
            }
            Inline::Link { href, children } => {
                let start = out.len();
                push(out, children, after_link);
                if says(&out[start..], href) {
                    continue;
                }
                if let Some(after) = after_link(href) {
                    out.push(' ');
                    out.push_str(&after);
                }
            }
        }
    }
}

/// Whether the words of a link are the address that it leads to.
fn says(words: &str, href: &str) -> bool {
    words == href || href.strip_prefix("mailto:") == Some(words)
}
