//! The links of a document, with the words around them. It looks at the document, not at the page.

use std::collections::HashSet;

use sabir_document::{Block, Inline};
use serde::Serialize;
use url::Url;

use crate::html::inlines::plain;

/// A link, once for every address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Without the fragment and what only counts visitors.
    pub url: String,
    pub text: String,
    /// The words around it.
    pub context: String,
}

/// Up to `most` links of the blocks in their order. Links to the page itself, and links whose words
/// say nothing, are left out.
pub(crate) fn links(blocks: &[Block], page: &Url, most: usize) -> Vec<Link> {
    let mut found = Vec::new();
    let mut seen: HashSet<String> = HashSet::from([normalised(page)]);
    let mut open = vec![Step::Blocks(blocks.iter())];
    while let Some(step) = open.last_mut() {
        if found.len() >= most {
            break;
        }
        let next = match step {
            Step::Blocks(blocks) => blocks.next(),
            Step::Items(items) => match items.next() {
                Some(item) => {
                    open.push(Step::Blocks(item.children.iter()));
                    continue;
                }
                None => None,
            },
        };
        match next {
            None => {
                open.pop();
            }
            Some(Block::List { items, .. }) => open.push(Step::Items(items.iter())),
            Some(Block::Quote { children }) => open.push(Step::Blocks(children.iter())),
            Some(Block::Heading { children, .. } | Block::Paragraph { children }) => {
                collect(children, most, &mut seen, &mut found);
            }
            Some(Block::Table(table)) => {
                for cell in table.header.iter().chain(table.rows.iter().flatten()) {
                    collect(cell, most, &mut seen, &mut found);
                }
            }
            Some(Block::CodeBlock { .. } | Block::ThematicBreak) => {}
        }
    }
    found
}

enum Step<'a> {
    Blocks(std::slice::Iter<'a, Block>),
    Items(std::slice::Iter<'a, sabir_document::ListItem>),
}

fn collect(line: &[Inline], most: usize, seen: &mut HashSet<String>, found: &mut Vec<Link>) {
    let mut whole = None;
    let mut at = 0;
    let mut open = vec![line.iter()];
    while let Some(inlines) = open.last_mut() {
        match inlines.next() {
            None => {
                open.pop();
            }
            Some(Inline::Text { text } | Inline::Code { text }) => at += text.len(),
            Some(Inline::Strong { children } | Inline::Em { children }) => {
                open.push(children.iter());
            }
            Some(Inline::Cite { .. }) => {}
            Some(Inline::Link { href, children }) => {
                let text = plain(children);
                let start = at;
                at += text.len();
                let Ok(url) = Url::parse(href) else { continue };
                if !matches!(url.scheme(), "http" | "https") || is_noise(&text) {
                    continue;
                }
                let url = normalised(&url);
                if found.len() < most && seen.insert(url.clone()) {
                    let whole = whole.get_or_insert_with(|| plain(line));
                    let text = sabir_base::text::one_line(&text, MOST_TEXT);
                    found.push(Link { url, text, context: context(whole, start, at) });
                }
            }
        }
    }
}

/// The words on both sides of a place.
fn context(line: &str, start: usize, end: usize) -> String {
    let from = line.floor_char_boundary(start.saturating_sub(CONTEXT));
    let to = line.ceil_char_boundary((end + CONTEXT).min(line.len()));
    let from = match from {
        0 => 0,
        from => line[from..start].find(' ').map_or(start, |space| from + space),
    };
    let to = match line.len() {
        length if length == to => to,
        _ => line[end..to].rfind(' ').map_or(end, |space| end + space),
    };
    sabir_base::text::one_line(&line[from..to], 2 * CONTEXT + MOST_TEXT)
}

/// An address as it is compared: without fragment, name, password and what only counts visitors.
pub(crate) fn normalised(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // These fail for addresses without a host only.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.query().is_some() {
        let kept: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| !is_tracking(name))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        let has_all = kept.len() == url.query_pairs().count();
        match kept.is_empty() {
            true => url.set_query(None),
            // Written again only where something goes: servers may care how a query is written.
            false if !has_all => {
                url.query_pairs_mut().clear().extend_pairs(kept);
            }
            false => {}
        }
    }
    url.into()
}

/// What counts visitors, and what says by which link they came on sites that are known for it.
fn is_tracking(name: &str) -> bool {
    sabir_base::is_tracking_name(name) || matches!(name, "ref_src" | "ref_url" | "spm")
}

fn is_noise(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    text.chars().count() < 2
        || matches!(
            text.as_str(),
            "click here"
                | "here"
                | "more"
                | "read more"
                | "learn more"
                | "link"
                | "share"
                | "tweet"
                | "reply"
                | "permalink"
                | "print"
                | "login"
                | "log in"
                | "sign in"
                | "sign up"
                | "register"
                | "subscribe"
                | "next"
                | "previous"
                | "back to top"
                | "top"
                | "edit"
        )
}

/// How many characters on each side.
const CONTEXT: usize = 80;
const MOST_TEXT: usize = 140;
