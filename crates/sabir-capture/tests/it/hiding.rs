//! Ways to hide words from whoever looks at a page, and what only looks like one.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]
#![expect(clippy::disallowed_methods, reason = "the ways are files")]

use std::fs;
use std::path::Path;

use sabir_capture::{Mode, Page, ReadOptions, read_page};
use url::Url;

fn read(html: &str) -> Page {
    let options = ReadOptions { mode: Mode::List, ..ReadOptions::default() };
    read_page(html, &Url::parse("https://example.org/page.html").unwrap(), &options)
}

fn lines(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hidden").join(name);
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// Reads each line of a file as `hidden` or `seen` and a style, and collects those that are wrong.
fn assert_ways(name: &str, page: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    let lines = lines(name);
    for line in &lines {
        let (wanted, style) = line.split_once(' ').unwrap();
        assert!(matches!(wanted, "hidden" | "seen"), "{line}");
        let page = read(&page(style));
        assert!(page.markdown.contains("besides"), "{line}: {}", page.markdown);
        if page.markdown.contains("WORDS") != (wanted == "seen") {
            wrong.push(line.as_str());
        }
    }
    assert!(lines.len() > 20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// LC-C8: styles of an element that hide it, and others like them that do not.
#[test]
fn styles_hide_as_in_a_browser() {
    assert_ways("styles.txt", |style| {
        format!("<p>besides</p><p style='{}'>WORDS</p>", style.replace('\'', "&#39;"))
    });
}

/// LC-C8: sheets that hide an element, and others like them that do not.
#[test]
fn sheets_hide_as_in_a_browser() {
    assert_ways("sheets.txt", |sheet| {
        format!(
            "<style>{sheet}</style><div><h1>besides</h1><p>besides</p>\
             <p class=x data-x=none><i>WORDS</i></p></div>"
        )
    });
}

/// LC-C8: the same far below, where elements become flat: what is hidden alone is left out.
#[test]
fn sheets_hide_in_the_deep() {
    for sheet in [
        "@keyframes a{to{opacity:0}}.x{animation:a 1s forwards}",
        ".x{rotate:x 90deg}",
        ".x{contain:strict}",
        ":root{--a:none}.x{display:var(--a)}",
    ] {
        let deep = "<div>".repeat(300);
        let html = format!("<style>{sheet}</style>{deep}<p class=x>SECRET</p><p>seen</p>");
        let page = read(&html);
        assert!(!page.markdown.contains("SECRET"), "{sheet}: {}", page.markdown);
        assert!(page.markdown.contains("seen"), "{sheet}: {}", page.markdown);
    }
}

/// LC-C8: pages where it takes more than one element to hide something.
#[test]
fn pages_hide_as_in_a_browser() {
    let mut wrong = Vec::new();
    for html in lines("pages.txt") {
        let page = read(&html);
        let shows = page.markdown.contains("SECRET")
            || page.links.iter().any(|link| link.url.contains("SECRET"));
        if shows || !page.markdown.contains("seen") {
            wrong.push(format!("{html}\n    {:?}", page.markdown));
        }
        if html.contains("seen too") && !page.markdown.contains("seen too") {
            wrong.push(html);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// LC-C8: conditions may stand in each other as deep as they like. Rules in too many rules hide those
/// whom they may be for, and a signal says so.
#[test]
fn deep_sheets_do_not_show_what_they_hide() {
    let told = |page: &Page| page.signals.iter().any(|signal| signal.as_str() == "styles_unread");
    for depth in [1, 33, 40, 5_000] {
        for (head, is_told) in
            [("@media screen", false), ("@supports (a:b)", false), ("div", depth > 32)]
        {
            let (open, close) = (format!("{head}{{").repeat(depth), "}".repeat(depth));
            let divs = "<div>".repeat(depth.min(60));
            let html = format!(
                "<style>{open}.x{{display:none}}{close}</style>{divs}<p class=x>SECRET</p><p>seen</p>"
            );
            let page = read(&html);
            let is_hidden = !page.markdown.contains("SECRET");
            assert!(is_hidden, "{depth} {head}: {}", page.markdown);
            assert!(page.markdown.contains("seen"), "{depth} {head}: {}", page.markdown);
            assert_eq!(told(&page), is_told, "{depth} {head}");
        }
    }
}
