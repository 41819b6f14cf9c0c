//! Saved pages, what becomes of them, and pages that are made to hurt.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]
#![expect(clippy::disallowed_methods, reason = "saved pages are files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{expect, expect_file};
use sabir_capture::{
    Media, Mode, Page, PdfLimits, PdfReader, ReadOptions, decode, read_bytes, read_page,
};
use serde_json::json;
use url::Url;

/// LC-C1, LC-C4, LC-C5, LC-C6, LC-C7, LC-C8, LC-C9, LC-C10, LC-C13: every saved page has become this
/// Markdown, with these links and signals; `UPDATE_EXPECT=1` writes them anew.
#[test]
fn saved_pages_become_the_markdown_beside_them() {
    let pages = saved_pages();
    assert!(pages.len() >= 30, "only {} pages", pages.len());
    for path in pages {
        let page = read(&path);
        let name = path.file_stem().unwrap().to_str().unwrap();
        let out = path.parent().unwrap().parent().unwrap().join("out").join(name);
        expect_file![out.with_extension("md")].assert_eq(&page.markdown);
        let rest = json!({
            "title": page.title,
            "byline": page.byline,
            "language": page.language,
            "signals": page.signals,
            "links": page.links,
            "chars": page.chars,
            "truncated": page.truncated,
        });
        let rest = serde_json::to_string_pretty(&rest).unwrap() + "\n";
        expect_file![out.with_extension("json")].assert_eq(&rest);
    }
}

fn saved_pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pages/in");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Page {
    let bytes = fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let url = Url::parse("https://example.org/dir/").unwrap().join(name).unwrap();
    // None of the saved pages is a PDF file, so that this program is never started.
    let pdf = PdfReader::new("/nonexistent", [""; 0], PdfLimits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(read_bytes(&bytes, None, &url, &ReadOptions::default(), &pdf)).unwrap()
}

/// LC-C8, LC-C9: none of the saved pages gives away what it hides.
#[test]
fn secrets_stay_hidden() {
    let mut hidden = 0;
    for path in saved_pages() {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        hidden += text.matches("SECRET").count();
        let page = read(&path);
        assert!(!page.markdown.contains("SECRET"), "{}: {}", path.display(), page.markdown);
    }
    assert!(hidden >= 50, "only {hidden} hidden texts in the saved pages");
}

/// LC-C11: the signals that the saved pages show.
#[test]
fn signals_are_seen() {
    let seen: BTreeSet<&str> = saved_pages()
        .iter()
        .flat_map(|path| read(path).signals)
        .map(sabir_capture::Signal::as_str)
        .collect();
    expect!["age_gate captcha_or_robot_check consent_modal cross_origin_iframe geo_block paywall_or_login pdf_viewer script_required sparse_text"].assert_eq(&seen.into_iter().collect::<Vec<_>>().join(" "));
}

/// LC-C11: signs that need few words to be shown.
#[test]
fn signals_of_boxes_frames_and_lists() {
    let prose =
        "<p>Words that are long enough, so that nobody takes this for an empty page.</p>".repeat(5);
    for (html, signal) in [
        ("<div role=dialog aria-modal=true>Buy now</div>", "overlay_blocking"),
        ("<div class=virtual-scroll>x</div>", "virtualized_list"),
        ("<div data-infinite-scroll=x>x</div>", "infinite_scroll"),
        ("<div><template shadowrootmode=closed>x</template></div>", "closed_shadow_root"),
        ("<iframe src=https://other.example/></iframe>", "cross_origin_iframe"),
        ("<object data=/a.pdf></object>", "pdf_viewer"),
        ("<div class=g-recaptcha></div>", "captcha_or_robot_check"),
    ] {
        let page = read_page(&format!("{prose}{html}"), &base(), &ReadOptions::default());
        let names: Vec<_> = page.signals.iter().map(|signal| signal.as_str()).collect();
        assert_eq!(names, [signal], "{html}");
    }
    let video = read_page("<video src=x></video>", &base(), &ReadOptions::default());
    assert!(video.signals.iter().any(|signal| signal.as_str() == "non_text_content"));
}

/// LC-C12: long pages are cut where a block, an item, a row or a word ends, and say so.
#[test]
fn long_pages_are_cut_visibly() {
    let paragraphs = "<p>A paragraph of some words, and more of them.</p>".repeat(200);
    let rows = "<tr><td>one</td><td>two</td></tr>".repeat(500);
    let table = format!("<table><tr><th>a</th><th>b</th></tr>{rows}</table>");
    let list = format!("<ul>{}</ul>", "<li>an item of a list</li>".repeat(500));
    let code = format!("<pre>{}</pre>", "let x = 1;\n".repeat(500));
    let line = format!("<p>{}</p>", "word * ".repeat(3_000));
    for html in [paragraphs, table, list, code, line] {
        for max_chars in [100, 500, 2_000, 2_001, 2_017] {
            let options = ReadOptions { max_chars, mode: Mode::List, ..ReadOptions::default() };
            let page = read_page(&html, &base(), &options);
            assert!(page.truncated);
            assert!(page.chars > max_chars);
            let length = page.markdown.chars().count();
            assert!(length <= max_chars, "{length} of {max_chars}: {}", page.markdown);
            assert!(
                page.markdown.ends_with("_Cut here: the page goes on._\n"),
                "{}",
                page.markdown
            );
            let whole = read_page(&html, &base(), &ReadOptions { max_chars: 200_000, ..options });
            assert!(!whole.truncated);
            assert_eq!(whole.chars, page.chars);
        }
    }
}

/// LC-C12: of one long paragraph as much is kept as there is room for.
#[test]
fn a_long_paragraph_fills_the_limit() {
    for (words, least) in [("word ", 1_940), ("a*b_c ", 1_940)] {
        let options = ReadOptions { max_chars: 2_000, ..ReadOptions::default() };
        let page = read_page(&format!("<p>{}</p>", words.repeat(3_000)), &base(), &options);
        let length = page.markdown.chars().count();
        assert!((least..=2_000).contains(&length), "{length}: {words}");
    }
}

/// LC-C13: what says how bytes are to be read, from the strongest to the weakest.
#[test]
fn encodings_are_found() {
    let latin = b"caf\xe9";
    assert_eq!(
        decode(b"\xef\xbb\xbfcaf\xc3\xa9", Some("text/html; charset=latin1"), Media::Html),
        "café"
    );
    assert_eq!(decode(latin, Some("text/html; charset=\"ISO-8859-1\""), Media::Html), "café");
    assert_eq!(decode(latin, Some("text/html;charset=utf-8"), Media::Html), "caf\u{FFFD}");
    assert_eq!(
        decode(b"<meta charset=windows-1252>caf\xe9", None, Media::Html),
        "<meta charset=windows-1252>café"
    );
    assert_eq!(
        decode(b"<?xml version='1.0' encoding='koi8-r'?>\xc1", None, Media::Html),
        "<?xml version='1.0' encoding='koi8-r'?>а"
    );
    assert_eq!(decode("café".as_bytes(), None, Media::Html), "café");
    assert_eq!(decode(latin, None, Media::Html), "café");
    assert_eq!(
        decode(b"<meta charset=utf-16>caf\xc3\xa9", None, Media::Html),
        "<meta charset=utf-16>café"
    );
    assert_eq!(decode(b"\xff\xfea\0", None, Media::Html), "a");
    assert_eq!(
        decode(b"<meta charset=iso-2022-jp>\x1b$B4A\x1b(B", None, Media::Html),
        "<meta charset=iso-2022-jp>漢"
    );
    for media in [Media::Markdown, Media::Text, Media::Json] {
        let text = "Write <meta charset=windows-1252> like this: café";
        assert_eq!(decode(text.as_bytes(), None, media), text);
    }
}

/// LC-C14: metadata stands at the very top of a Markdown file, and nowhere else.
#[test]
fn only_the_top_of_markdown_is_metadata() {
    let pdf = PdfReader::new("/nonexistent", [""; 0], PdfLimits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let url = base().join("a.md").unwrap();
    let options = ReadOptions::default();
    for (markdown, is_seen) in [
        ("---\ntitle: INNER\n---\nrest", false),
        ("---\r\ntitle: INNER\r\n...\r\nrest", false),
        ("first\n\n---\nINNER: words\n---\n\nrest", true),
        ("---\n\nINNER words\n\n---\n\nrest", true),
        ("---\nINNER: never closed\n\nrest", true),
        ("---\nINNER words without a key\n---\n\nrest", true),
        ("---\n- INNER\n- items\n---\n\nrest", true),
        ("---\nsee https://INNER.example/\n---\n\nrest", true),
        ("---\n# a remark\ntitle: INNER\n---\nrest", false),
        ("---\ntags:\n  - INNER\n---\nrest", false),
    ] {
        let read = read_bytes(markdown.as_bytes(), None, &url, &options, &pdf);
        let page = runtime.block_on(read).unwrap();
        assert_eq!(page.markdown.contains("INNER"), is_seen, "{markdown:?}: {}", page.markdown);
        assert!(page.markdown.contains("rest"), "{markdown:?}: {}", page.markdown);
    }
}

/// LC-C14: what a file is, by its type, its name and its first bytes.
#[test]
fn kinds_of_files_are_found() {
    let of = |bytes: &[u8], kind: Option<&str>, name: &str| {
        Media::of(bytes, kind, &base().join(name).unwrap()).ok()
    };
    for (bytes, kind, name, media) in [
        (&b"x"[..], Some("text/html; charset=utf-8"), "x", Some(Media::Html)),
        (b"x", Some("application/xhtml+xml"), "x", Some(Media::Html)),
        (b"x", Some("text/markdown"), "x", Some(Media::Markdown)),
        (b"x", Some("text/plain"), "x", Some(Media::Text)),
        (b"x", Some("text/plain"), "README.md", Some(Media::Markdown)),
        (b"<html>", Some("text/plain"), "x", Some(Media::Text)),
        (b"{}", Some("application/ld+json"), "x", Some(Media::Json)),
        (b"x", Some("application/pdf"), "x", Some(Media::Pdf)),
        (b"%PDF-1.7", None, "x.html", Some(Media::Pdf)),
        (b"  <!DOCTYPE HTML>", None, "x", Some(Media::Html)),
        (b"x", None, "a.HTM", Some(Media::Html)),
        (b"words", None, "x", Some(Media::Text)),
        (b"\0\0", None, "x", None),
        (b"x", Some("image/png"), "x.html", None),
    ] {
        assert_eq!(of(bytes, kind, name), media, "{kind:?} {name}");
    }
}

/// LC-C7: what is asked for is done, whatever the page looks like.
#[test]
fn modes_are_obeyed() {
    let prose = "<p>Here is the text of the story, which is long enough to be taken for one, and \
        has commas, too, and even a second half that goes on for some time.</p>";
    let html = format!(
        "<nav>Menu</nav><div><div><article><h2>Story</h2>{}</article></div></div>\
         <div><ul><li><a href=/1>First of the links</a></li><li>Something else</li></ul></div>",
        prose.repeat(4)
    );
    let read = |mode| {
        let options = ReadOptions { mode, ..ReadOptions::default() };
        read_page(&html, &base(), &options).markdown
    };
    let list = read(Mode::List);
    assert!(list.contains("First of the links") && list.contains("Something else"), "{list}");
    assert!(!list.contains("Menu"), "{list}");
    assert_eq!(list.matches("Story").count(), 1, "{list}");
    let article = read(Mode::Article);
    assert!(article.contains("the text of the story"), "{article}");
    assert!(!article.contains("Something else"), "{article}");
}

fn base() -> Url {
    Url::parse("https://example.org/dir/page.html").unwrap()
}

/// LC-C8: ways to hide words that are easily overlooked; each page hides SECRET, and shows the rest.
#[test]
fn what_is_hidden_in_odd_ways_stays_hidden() {
    let styles = [
        "opacity:0;opacity:foo",
        "display:none;display:bogus",
        "color:white;color:nonsense",
        "height:calc(0px);overflow:hidden",
        "position:absolute;left:-1e5px",
        "opacity:1e-9",
        "d\\69splay:none",
        "display:n\\00006fne",
        "translate:-9999px",
        "position:absolute;inset-block-start:-9999px",
        "block-size:0;overflow:hidden",
        "inline-size:0;overflow:clip",
        "margin-inline-start:-9999px",
        "transform:matrix(0,0,0,0,0,0)",
        "transform:scale(.001)",
        "transform:rotateY(90deg)",
        "overflow:auto;height:0",
        "clip-path:inset(0 0 9999px 0)",
        "clip-path:inset(50%)",
        "clip-path:polygon(0 0,0 0,0 0)",
        "color:hsl(0,0%,100%)",
        "color:hsl(0 0% 100% / 1)",
        "color:oklch(1 0 0)",
        "color:rgb(0 0 0 / 0%)",
        "--a:none;display:var(--a)",
        "display:var(--never,none)",
        "filter:opacity(0)",
    ];
    let sheets = [
        ".x{color:red}".repeat(500) + ".x{display:none}",
        format!("/*{}*/.x{{display:none}}", "c".repeat(600 * 1024)),
        "@media (min-width:1px){.x{display:none}}".to_owned(),
        "div{.x{display:none}}".to_owned(),
        "div{& .x{display:none}}".to_owned(),
        ".x{@media screen{display:none}}".to_owned(),
        ":is(.x,.y){display:none}".to_owned(),
        "<!-- .x{display:none} -->".to_owned(),
        ".a{content:\"}\"}.x{display:none}".to_owned(),
        ".a{content:'/*'}.x{display:none}".to_owned(),
        ".a{background:url(a}b)}.x{display:none}".to_owned(),
        "p:not(.y).x{display:none}".to_owned(),
        "p:nth-child(n+2){display:none}".to_owned(),
        "[class~=x]{display:none}".to_owned(),
        "p + .x{display:none}".to_owned(),
        "h1 ~ .x{display:none}".to_owned(),
        ":root{--a:none}.x{display:var(--a)}".to_owned(),
    ];
    let inline = styles.map(|style| format!("<p>seen</p><p style='{style}'>SECRET</p>"));
    let by_sheet = sheets.map(|sheet| {
        format!("<style>{sheet}</style><div><h1>seen</h1><p>seen</p><p class=x>SECRET</p></div>")
    });
    let others = [
        "seen<div popover>SECRET</div>",
        "seen<div><template shadowrootmode=open><b></b></template>SECRET</div>",
        "seen<div style='opacity:.15'><p style='opacity:.15'>SECRET</p></div>",
    ]
    .map(str::to_owned);
    for html in inline.iter().chain(&by_sheet).chain(&others) {
        let options = ReadOptions { mode: Mode::List, ..ReadOptions::default() };
        let page = read_page(html, &base(), &options);
        let start: String =
            html.chars().rev().take(200).collect::<Vec<_>>().into_iter().rev().collect();
        assert!(!page.markdown.contains("SECRET"), "{start}");
        assert!(page.markdown.contains("seen"), "{start}: {}", page.markdown);
    }
}

/// LC-C8: what looks like hiding and is not.
#[test]
fn what_is_seen_stays() {
    for style in [
        "display:none;display:block",
        "opacity:0;opacity:1",
        "color:white;color:rebeccapurple",
        "width:calc(100% - 20px);overflow:hidden",
        "transform:translateX(-100%)",
        "clip-path:inset(0 0 10% 0)",
        "margin:0 auto",
        "left:50%;position:relative",
        "overflow:auto;height:300px",
        "color:hsl(0 0% 20%)",
        "color:var(--ink)",
    ] {
        let page = read_page(&format!("<p style='{style}'>seen"), &base(), &ReadOptions::default());
        assert!(page.markdown.contains("seen"), "{style}");
    }
}

/// LC-C11: where the sheets are more than can be read, what may be hidden is, and a signal says so.
#[test]
fn sheets_without_end_hide_and_are_told() {
    let rules: String = (0..30_000).map(|n| format!(".r{n}{{color:red}}")).collect();
    let html = format!("<style>{rules}.x{{display:none}}</style><p>seen<p class=x>SECRET");
    let page = read_page(&html, &base(), &ReadOptions::default());
    assert!(!page.markdown.contains("SECRET") && page.markdown.contains("seen"));
    assert!(page.signals.iter().any(|signal| signal.as_str() == "styles_unread"));
}
