//! Documents and Markdown as safe HTML: what is allowed comes through, and nothing else does.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]
#![expect(clippy::disallowed_methods, reason = "hostile inputs are a file")]

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sabir_capture::{markdown_to_safe_html, to_safe_html};
use sabir_document::{Block, Document, Inline};
use url::Url;

/// LC-C20, LC-C21: what Markdown can say comes through.
#[test]
fn markdown_becomes_html() {
    check(
        "# Title\n\nA *b* **c** `d` [e](https://x.example/?a=1&b=2).\\\nNext line.\n\n- one\n- two\n  1. deep\n\n> quote\n\n---\n",
        expect![[r#"
            <h1>Title</h1>
            <p>A <em>b</em> <strong>c</strong> <code>d</code> <a href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow">e</a>.<br>
            Next line.</p>
            <ul>
            <li>one</li>
            <li>two
            <ol>
            <li>deep</li>
            </ol>
            </li>
            </ul>
            <blockquote>
            <p>quote</p>
            </blockquote>
            <hr>
        "#]],
    );
    check(
        "| a | b |\n|---|--:|\n| 1 | `x\\|y` |\n\n```rust\nfn main() {}\n```\n",
        expect![[r#"
            <table>
            <thead>
            <tr><th>a</th><th>b</th></tr>
            </thead>
            <tbody>
            <tr><td>1</td><td><code>x|y</code></td></tr>
            </tbody>
            </table>
            <pre><code class="language-rust">fn main() {}
            </code></pre>
        "#]],
    );
}

/// LC-C20: HTML in Markdown is text.
#[test]
fn html_is_shown_as_it_was_written() {
    check(
        "a <b onclick=x>b</b> &amp; <script>alert(1)</script>\n\n<div id=\"x\">\n<img src=y>\n</div>\n",
        expect![[r#"
            <p>a &lt;b onclick=x&gt;b&lt;/b&gt; &amp; &lt;script&gt;alert(1)&lt;/script&gt;</p>
            <p>&lt;div id="x"&gt; &lt;img src=y&gt; &lt;/div&gt;</p>
        "#]],
    );
}

/// LC-C22: there are no pictures, and no addresses that a browser would do more with than follow.
#[test]
fn pictures_and_unsafe_links_are_their_words() {
    check(
        "![alt *words*](https://x.example/p.png) [a](javascript:alert(1)) [b](/relative) [c](mailto:a@b.example)\n",
        expect![[r#"
            <p>alt <em>words</em> a b <a href="mailto:a@b.example" rel="noopener noreferrer nofollow">c</a></p>
        "#]],
    );
}

/// LC-C22: an address is written so that it cannot end the tag that it stands in.
#[test]
fn addresses_are_escaped() {
    check(
        r#"[a](https://x.example/\<b\>?q=\"'&lt;)"#,
        expect![[r#"
            <p><a href="https://x.example/&lt;b&gt;?q=&quot;'&lt;" rel="noopener noreferrer nofollow">a</a></p>
        "#]],
    );
}

/// LC-C23: marks of citations are links to places of the page that shows them.
#[test]
fn citations_are_links() {
    let document = Document {
        children: vec![Block::Paragraph {
            children: vec![Inline::text("True."), Inline::Cite { reference: 2 }],
        }],
    };
    let html = to_safe_html(&document);
    expect![[r##"
        <p>True.<sup><a href="#s-cite-2" rel="noopener noreferrer nofollow">2</a></sup></p>
    "##]]
    .assert_eq(&html);
    assert_safe(&html);
}

/// LC-C21, LC-C22: a tree may hold anything, because a model or a peer made it.
#[test]
fn trees_are_not_trusted() {
    let document = Document {
        children: vec![
            Block::Paragraph {
                children: vec![Inline::Link {
                    href: "javascript:alert(1)".to_owned(),
                    children: vec![Inline::text("<img src=x onerror=alert(1)>")],
                }],
            },
            Block::CodeBlock {
                language: Some("x\" onclick=\"alert(1)".to_owned()),
                text: "</code></pre><script>".to_owned(),
            },
            Block::Heading { level: 9, children: vec![Inline::text("deep")] },
        ],
    };
    let html = to_safe_html(&document);
    assert_safe(&html);
    assert!(!html.contains("<img") && !html.contains("<script"), "{html}");
}

/// LC-C21: whatever a hostile writer tries, only what is on the list comes out.
#[test]
fn hostile_inputs_give_only_what_is_allowed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/render/hostile.txt");
    let text = fs::read_to_string(path).unwrap();
    let inputs: Vec<String> =
        text.lines().filter(|line| !line.starts_with("%%")).map(unescape).collect();
    assert!(inputs.len() >= 500, "only {} inputs", inputs.len());
    for input in inputs {
        assert_safe(&markdown_to_safe_html(&input));
        // The same words as a tree, which no reader of Markdown has looked at.
        let inlines = vec![
            Inline::text(input.as_str()),
            Inline::Code { text: input.clone() },
            Inline::Link { href: input.clone(), children: vec![Inline::text("x")] },
        ];
        let document = Document {
            children: vec![
                Block::Paragraph { children: inlines },
                Block::CodeBlock { language: Some(input.clone()), text: input },
            ],
        };
        assert_safe(&to_safe_html(&document));
    }
}

/// LC-C21: deep and long Markdown gives bounded HTML in bounded time.
#[test]
fn heavy_markdown_is_no_trouble() {
    for heavy in [">", "- ", "*", "[", "`", "<b>", "![", "| a ", "1. ", "_a ", "<!--", "&", "\\"] {
        assert_safe(&markdown_to_safe_html(&heavy.repeat(20_000)));
    }
}

proptest! {
    /// LC-C21: the property, for any mixture of what Markdown and HTML are made of.
    #[test]
    fn any_soup_gives_only_what_is_allowed(soup in soup()) {
        assert_safe(&markdown_to_safe_html(&soup));
    }

    /// LC-C21: and for any text at all.
    #[test]
    fn any_text_gives_only_what_is_allowed(text in ".{0,200}") {
        assert_safe(&markdown_to_safe_html(&text));
    }
}

fn check(markdown: &str, expect: Expect) {
    let html = markdown_to_safe_html(markdown);
    expect.assert_eq(&html);
    assert_safe(&html);
}

/// Parses the HTML again, as part of a page and as a page, and looks at everything in it.
fn assert_safe(html: &str) {
    let trees = [
        dom_query::Document::fragment(html),
        dom_query::Document::from(html),
        dom_query::Document::from(format!("<table><tr><td>{html}</td></tr></table>")),
    ];
    for (at, dom) in trees.iter().enumerate() {
        for node in dom.root().descendants_it() {
            assert!(!node.is_comment(), "a comment in {html}");
            let Some(element) = node.element_ref() else { continue };
            let name = &*element.name.local;
            let is_wrapper = matches!(name, "html" | "head" | "body");
            assert!(is_wrapper || TAGS.contains(&name), "<{name}> in {html}");
            assert_eq!(&*element.name.ns, "http://www.w3.org/1999/xhtml", "<{name}> in {html}");
            for attribute in &element.attrs {
                let value = &*attribute.value;
                let is_allowed = match (name, &*attribute.name.local) {
                    ("a", "href") => is_allowed_address(value),
                    ("a", "rel") => value == "noopener noreferrer nofollow",
                    ("code", "class") => is_language(value),
                    _ => false,
                };
                assert!(
                    is_allowed,
                    "{name} {} = {value:?} in tree {at} of {html}",
                    &attribute.name.local
                );
            }
        }
    }
}

fn is_allowed_address(address: &str) -> bool {
    if let Some(number) = address.strip_prefix("#s-cite-") {
        return !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    let scheme = Url::parse(address).map(|url| url.scheme().to_owned());
    scheme.is_ok_and(|scheme| matches!(scheme.as_str(), "http" | "https" | "mailto"))
}

fn is_language(class: &str) -> bool {
    class.strip_prefix("language-").is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-#_.".contains(c))
    })
}

fn unescape(line: &str) -> String {
    let mut out = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('u') => {
                let code: String =
                    letters.by_ref().skip(1).take_while(|letter| *letter != '}').collect();
                out.push(char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap());
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

fn soup() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "<",
        ">",
        "</",
        "/>",
        "a",
        " href=",
        "javascript:",
        "data:",
        "https://x.example",
        "\"",
        "'",
        "`",
        "```",
        "[",
        "](",
        ")",
        "![",
        "]: ",
        "\n",
        "\n\n",
        "    ",
        "- ",
        "> ",
        "# ",
        "| ",
        "|---|",
        "*",
        "**",
        "_",
        "~~",
        "&lt;",
        "&#x6a;",
        "&colon;",
        "script",
        "svg",
        "math",
        "style",
        "img",
        " onerror=alert(1)",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "\\",
        "\0",
        "\u{202E}",
        "\t",
        "(",
        "mailto:a@b",
        "<a",
        "<b>",
        "</p>",
        "<table>",
        "title",
        "noscript",
        "=",
        ";",
        "1. ",
        "ü",
    ]);
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

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
