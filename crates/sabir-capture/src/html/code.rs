//! Code as it was written, and the name of its language. It does not guess languages.

use dom_query::{NodeData, NodeRef};
use sabir_document::Block;

/// The text of a `pre` or of code that spans lines; `None` when there is nothing in it.
pub(super) fn convert(node: &NodeRef<'_>) -> Option<Block> {
    let text = verbatim(node);
    let text = text.strip_prefix('\n').unwrap_or(&text).trim_end();
    if text.trim().is_empty() {
        return None;
    }
    Some(Block::CodeBlock { language: language(node), text: text.to_owned() })
}

/// Every character of the text nodes, with line breaks where the page has them, and without the
/// numbers that some pages put before lines.
fn verbatim(node: &NodeRef<'_>) -> String {
    let mut text = String::new();
    let mut open = vec![*node];
    while let Some(next) = open.pop() {
        let part = next.query_or(None, |inner| match &inner.data {
            NodeData::Text { contents } => Some(contents.clone()),
            _ => None,
        });
        if let Some(part) = part {
            text.push_str(&part);
            continue;
        }
        if next.has_name("br") {
            text.push('\n');
            continue;
        }
        if is_line_number(&next) || next.has_name("button") {
            continue;
        }
        let is_line = next.has_name("div") || next.has_name("li") || next.has_name("tr");
        if is_line && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        open.extend(next.children_it(true));
    }
    text
}

fn is_line_number(node: &NodeRef<'_>) -> bool {
    node.has_attr("data-line-number")
        || node.class().is_some_and(|classes| {
            classes.split_ascii_whitespace().any(|class| {
                matches!(
                    class,
                    "lineno"
                        | "linenos"
                        | "linenumber"
                        | "line-number"
                        | "line-numbers-rows"
                        | "gutter"
                        | "blob-num"
                        | "hljs-ln-numbers"
                        | "ln"
                        | "linenodiv"
                )
            })
        })
}

/// The language that the element, the code in it or the boxes around it name.
fn language(node: &NodeRef<'_>) -> Option<String> {
    let inner = node.descendants_it().find(|inner| inner.has_name("code"));
    let around = node.ancestors(Some(3));
    std::iter::once(*node).chain(inner).chain(around).find_map(|place| named_language(&place))
}

fn named_language(node: &NodeRef<'_>) -> Option<String> {
    let from_attribute = ["data-lang", "data-language", "data-code-language"]
        .iter()
        .find_map(|name| node.attr(name));
    if let Some(language) = from_attribute {
        return checked(&language);
    }
    let classes = node.class()?;
    let mut words = classes.split_ascii_whitespace();
    words.find_map(|class| {
        let prefixes = ["language-", "lang-", "highlight-source-", "highlight-text-", "brush:"];
        let named = prefixes.iter().find_map(|prefix| class.strip_prefix(prefix));
        named.and_then(checked)
    })
}

/// A name that can stand behind a fence.
fn checked(name: &str) -> Option<String> {
    let name = name.trim().to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '_' | '.');
    let is_language =
        !name.is_empty() && name.len() <= 20 && name.chars().all(is_plain) && name != "none";
    is_language.then_some(name)
}
