//! Any Markdown gives HTML with nothing in it that is not allowed.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|markdown: &str| {
    let html = sabir_capture::markdown_to_safe_html(markdown);

    // Every `<` that comes out begins a tag, and text has none: so what stands behind them is all
    // that can be a tag.
    for tag in html.split('<').skip(1) {
        let (name, rest) = tag.split_at(tag.find([' ', '>']).unwrap_or(tag.len()));
        let closed = name.strip_prefix('/');
        assert!(TAGS.contains(&closed.unwrap_or(name)), "<{name}> in {html}");
        let attributes = attributes(rest).unwrap_or_else(|| panic!("<{tag} in {html}"));
        let is_allowed = match (name, attributes.as_slice()) {
            (_, []) => true,
            ("a", [("rel", rel)]) => *rel == REL,
            ("a", [("href", to), ("rel", rel)]) => *rel == REL && is_allowed_address(to),
            ("code", [("class", class)]) => class.starts_with("language-"),
            _ => false,
        };
        assert!(is_allowed, "<{name} {attributes:?}> in {html}");
    }
});

/// Up to the end of the tag. `None` when they are not written as we write them.
fn attributes(mut rest: &str) -> Option<Vec<(&str, &str)>> {
    let mut found = Vec::new();
    while let Some(attribute) = rest.strip_prefix(' ') {
        let (name, behind) = attribute.split_once("=\"")?;
        let (value, behind) = behind.split_once('"')?;
        found.push((name, value));
        rest = behind;
    }
    rest.starts_with('>').then_some(found)
}

fn is_allowed_address(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    ["http:", "https:", "mailto:", "#s-cite-"].iter().any(|start| address.starts_with(start))
}

const REL: &str = "noopener noreferrer nofollow";

const TAGS: &[&str] = &[
    "p",
    "br",
    "strong",
    "em",
    "code",
    "pre",
    "blockquote",
    "hr",
    "ul",
    "ol",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
    "sup",
];
