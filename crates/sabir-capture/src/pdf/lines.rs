//! From the lines of a page to paragraphs. PDF files know neither; where lines end is all there is.

use sabir_document::{Block, Inline};

use crate::html::invisible::visible_text;

/// The paragraphs of all pages, with a mark where a page begins.
pub(super) fn blocks(pages: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (at, page) in pages.iter().enumerate() {
        let paragraphs = paragraphs(&visible_text(page));
        if paragraphs.is_empty() {
            continue;
        }
        if at > 0 {
            let mark = Inline::text(format!("Page {}", at + 1));
            blocks.push(Block::Paragraph { children: vec![Inline::Em { children: vec![mark] }] });
        }
        blocks.extend(paragraphs.into_iter().map(|text| {
            let children = vec![Inline::Text { text }];
            Block::Paragraph { children }
        }));
    }
    blocks
}

/// Lines are joined until an empty one; a word that was divided at the end of a line is one again.
fn paragraphs(page: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut current = String::new();
    for line in page.lines().chain([""]) {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            if !current.is_empty() {
                paragraphs.push(std::mem::take(&mut current));
            }
        } else if is_divided(&current, &line) {
            current.pop();
            current.push_str(&line);
        } else {
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(&line);
        }
    }
    paragraphs
}

/// `exam-` before `ple`; not `-` before `1`, and not `East-` before `West`.
fn is_divided(before: &str, after: &str) -> bool {
    let Some(word) = before.strip_suffix(['-', '\u{2010}']) else { return false };
    word.ends_with(char::is_lowercase) && after.starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_paragraphs_and_divided_words_are_joined() {
        let page = "An exam-\nple of East-\nWest and 3-\n4 lines.\n\n  \nNext one.\n";
        assert_eq!(paragraphs(page), ["An example of East- West and 3- 4 lines.", "Next one."]);
    }
}
