//! Pages that are made to hurt: deep, wide, huge or endless. Each of them has to be read in the time
//! that a test has, without a crash, into a text of bounded length.

#![expect(clippy::unwrap_used, reason = "the address of the tests is one")]

use proptest::prelude::*;
use sabir_capture::{DEFAULT_CHARS, Mode, Page, ReadOptions, read_page};
use url::Url;

fn read(html: &str) -> Page {
    let url = Url::parse("https://example.org/dir/page.html").unwrap();
    read_page(html, &url, &ReadOptions::default())
}

/// LC-C3: thirty thousand nested elements of any kind, and the text in the innermost is there.
#[test]
fn deep_pages_become_flat() {
    assert_flat("");
}

/// LC-C3: the same with attributes, which say how the elements look and where they lead.
#[test]
fn deep_pages_with_attributes_become_flat() {
    assert_flat(" class=x href=/y style='color:red'");
}

fn assert_flat(attributes: &str) {
    let shown = ["div", "span", "b", "p", "font", "section", "blockquote", "x-y"];
    let others = ["a", "ul", "li", "table", "details", "svg", "math", "select", "button", "object"];
    for name in shown.iter().chain(&others) {
        let html = format!(
            "<p>Before it.</p>{}<i>inmost</i>{}<p>After it.</p>",
            format!("<{name}{attributes}>").repeat(30_000),
            format!("</{name}>").repeat(30_000),
        );
        let page = read(&html);
        assert!(page.markdown.contains("Before it."), "{name}");
        if shown.contains(name) {
            assert!(page.markdown.contains("inmost"), "{name}: {}", page.markdown);
            assert!(page.markdown.contains("After it."), "{name}: {}", page.markdown);
        }
    }
}

/// LC-C3: what is hidden far below is not seen either.
#[test]
fn hidden_text_stays_hidden_in_the_deep() {
    for (hidden, end) in [
        ("<div hidden>", "</div>"),
        ("<div style='display:none'>", "</div>"),
        ("<dialog>", "</dialog>"),
        ("<details>", "</details>"),
        ("<template>", "</template>"),
        ("<svg>", "</svg>"),
        ("<div popover>", "</div>"),
        ("<div class=sr-only>", "</div>"),
        ("<div class=x>", "</div>"),
        ("<div hidden><script>'</div>SECRET'</script>", "</div>"),
        // Nobody has to close a paragraph.
        ("<p hidden>SECRET<div></div>", ""),
    ] {
        let secret = if end.is_empty() { "" } else { "<p>SECRET</p>" };
        let html = format!(
            "{}{hidden}{secret}{end}<p>seen<style>.x{{display:none}}</style>",
            "<div>".repeat(5_000)
        );
        let page = read(&html);
        assert!(!page.markdown.contains("SECRET"), "{}", page.markdown);
        assert!(page.markdown.contains("seen"), "{}", page.markdown);
    }
}

/// LC-C3: what a script holds is no tag, however it looks; a tag with too many attributes is cut, and
/// the page says so.
#[test]
fn scripts_are_not_taken_for_tags() {
    let pairs: String = (0..1_200).map(|n| format!("\"key{n}\":\"value {n}\",")).collect();
    let many: String = (0..3_000).map(|n| format!("a{n} ")).collect();
    for (html, is_cut) in [
        (format!("<script>if(a<b){{window.DATA={{{pairs}}}}}</script><p>the article"), false),
        (format!("<style>a<b{{{many}}}</style><p>the article"), false),
        (format!("<!-- <b {many} --><p>the article"), false),
        (format!("<textarea><b {many}></textarea><p>the article"), false),
        (
            format!("<script><!--<script></script a=\"></script><p {many}>\"></p><p>the article"),
            true,
        ),
        (format!("<p {many}>the article"), true),
        (format!("<p x\" {many}\">the article"), true),
        (format!("<p>x</p {many}><p>the article"), false),
    ] {
        let page = read(&html);
        assert!(page.markdown.contains("the article"), "{html:.60}: {}", page.markdown);
        assert_eq!(page.truncated, is_cut, "{html:.60}");
    }
}

/// LC-C3: pages that ask for much more than they are: unclosed marks that are repeated, attributes
/// that are compared with each other, spans, long titles, sheets, lines without end.
#[test]
fn costly_pages_cost_little() {
    assert_cheap(Mode::Auto);
}

/// LC-C3: the same without a look for the main text.
#[test]
fn costly_lists_cost_little() {
    assert_cheap(Mode::List);
}

fn assert_cheap(mode: Mode) {
    let numbers =
        |count: usize, make: fn(usize) -> String| (0..count).map(make).collect::<String>();
    let families: Vec<(&str, String)> = vec![
        ("marks that stay open", numbers(20_000, |n| format!("<b id={n}><p>x"))),
        ("links that stay open", numbers(20_000, |n| format!("<a href={n}><div>x"))),
        ("attributes", format!("<p {}>x", numbers(100_000, |n| format!("a{n} ")))),
        ("attributes without blanks", format!("<p {}>x", numbers(60_000, |n| format!("a{n}=''")))),
        ("attributes of the body", numbers(20_000, |n| format!("<body a{n}=1>x"))),
        ("spans", "<table>".to_owned() + &"<tr><td colspan=9999 rowspan=9999>x".repeat(5_000)),
        ("cells", "<table><tr>".to_owned() + &"<td>x".repeat(100_000)),
        ("tables in tables", "<table><tr><td>".repeat(10_000)),
        (
            "a title",
            format!("<title>{}</title>{}", "word ".repeat(100_000), "<h2>word</h2>".repeat(5_000)),
        ),
        ("headings", "<h1>a b c</h1>".repeat(30_000)),
        ("paragraphs", "<p>some words, more words, and so on</p>".repeat(40_000)),
        ("breaks", "<br>".repeat(200_000)),
        ("breaks in a div", format!("<div>{}</div>", "x<br>".repeat(100_000))),
        ("a line", "word ".repeat(400_000)),
        ("a word", "x".repeat(2_000_000)),
        ("markup as text", "&lt;b&gt;[a](b)*_`|\\".repeat(50_000)),
        (
            "rules",
            format!(
                "<style>{}</style>{}",
                ".a{display:none}".repeat(20_000),
                "<p class=a>x".repeat(20_000)
            ),
        ),
        (
            "rules with ancestors",
            format!(
                "<style>{}</style>{}{}",
                ".b .b .b .b .a{display:none}".repeat(4_000),
                "<div class=c>".repeat(100),
                "<p class=a>x</p>".repeat(20_000)
            ),
        ),
        ("an open rule", format!("<style>{}", "a{".repeat(200_000))),
        ("an open comment", "<!--".repeat(200_000)),
        ("open quotes", "<a href=\"".repeat(100_000)),
        ("open tags", "<".repeat(500_000)),
        ("entities", "&amp;".repeat(2_000_000)),
        ("marks of one byte more", "\u{A0}\u{BB}".repeat(1_000_000)),
        ("attributes of an end", format!("<p>x</p {}>x", numbers(100_000, |n| format!("a{n} ")))),
        (
            "a long rule",
            format!("<style>i{{{}}}</style>{}", "top:0;".repeat(83_000), "<i>x</i>".repeat(20_000)),
        ),
        ("links", numbers(30_000, |n| format!("<a href=/{n}>link {n}</a> "))),
        (
            "links in one line",
            format!("<p>{}</p>", numbers(30_000, |n| format!("<a href=/{n}>l{n}</a>"))),
        ),
        ("lists", "<ul><li>x".repeat(20_000)),
        ("scripts", "<script>x</script>".repeat(50_000)),
        ("noscripts", "<noscript><p>x</noscript>".repeat(50_000)),
        ("frames", "<iframe src=//x.example></iframe>".repeat(30_000)),
        ("dialogs", "<div role=dialog>x ".repeat(20_000)),
        ("decoration", "<i aria-hidden=true>x".repeat(20_000)),
        ("selects", "<select><option>x".repeat(20_000)),
        ("code", format!("<pre>{}</pre>", "x\n".repeat(300_000))),
        ("ruby", "<ruby>x<rt>y".repeat(20_000)),
        ("forms", "<form><input>".repeat(30_000)),
        ("templates", "<template>".repeat(20_000)),
        ("styles", "<p style='color:red;display:block;left:1px'>x</p>".repeat(30_000)),
        ("noise", "<div class='share related'>x</div>".repeat(30_000)),
        ("sections", "<section><h2>t</h2><p>text, text, text".repeat(10_000)),
    ];
    for (name, html) in families {
        let url = Url::parse("https://example.org/").unwrap();
        let page = read_page(&html, &url, &ReadOptions { mode, ..ReadOptions::default() });
        let length = page.markdown.chars().count();
        assert!(length <= DEFAULT_CHARS, "{name}: {length}");
    }
}

proptest! {
    /// LC-C2, LC-C3: every text is a page, and its Markdown is the same when it is read again.
    #[test]
    fn every_text_is_a_page(html in soup()) {
        let page = read(&html);
        prop_assert!(page.markdown.chars().count() <= DEFAULT_CHARS);
        let again = sabir_document::Document::from_markdown(&page.markdown);
        prop_assert_eq!(again.to_markdown(), page.markdown);
    }
}

/// Tags, attributes, styles and texts in any order.
fn soup() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "div",
        "p",
        "b",
        "i",
        "a",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "thead",
        "pre",
        "code",
        "blockquote",
        "h1",
        "h2",
        "h3",
        "br",
        "hr",
        "img",
        "span",
        "dl",
        "dt",
        "dd",
        "details",
        "summary",
        "svg",
        "math",
        "form",
        "select",
        "figure",
        "figcaption",
        "sup",
        "sub",
        "q",
        "ruby",
        "rt",
        "script",
        "style",
        "title",
        "template",
        "body",
        "html",
        "head",
        "article",
        "main",
        "nav",
        "frameset",
        "noscript",
        "textarea",
    ]);
    let attributes = prop::sample::select(vec![
        "",
        " hidden",
        " class='language-x hidden'",
        " style='display:none'",
        " href='/x?a=(b)'",
        " href='javascript:x'",
        " colspan=3",
        " rowspan=0",
        " open",
        " aria-hidden=true",
        " id=x role=heading",
        " alt='a * b'",
        " \"x",
    ]);
    let text = prop::sample::select(vec![
        "word",
        " ",
        "\n",
        "# x",
        "---",
        "1. x",
        "*a*",
        "a_b_",
        "`",
        "```",
        "|",
        "[x](y)",
        "&lt;b&gt;",
        "&amp;amp;",
        "\u{200B}",
        "\u{E0041}",
        "<",
        "\0",
        "ü",
        "漢",
        "\\",
        "> q",
        "- l",
        "  ",
        "!",
        "~~~",
        "<!-- c -->",
        "https://x.example",
    ]);
    let part =
        (names, attributes, text, 0..4_u8).prop_map(|(name, attributes, text, kind)| match kind {
            0 => format!("<{name}{attributes}>"),
            1 => format!("</{name}>"),
            2 => text.to_owned(),
            _ => format!("<{name}{attributes}>{text}</{name}>"),
        });
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}
