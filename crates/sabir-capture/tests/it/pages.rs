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
    assert_eq!(decode(b"\xef\xbb\xbfcaf\xc3\xa9", Some("text/html; charset=latin1")), "café");
    assert_eq!(decode(latin, Some("text/html; charset=\"ISO-8859-1\"")), "café");
    assert_eq!(decode(latin, Some("text/html;charset=utf-8")), "caf\u{FFFD}");
    assert_eq!(
        decode(b"<meta charset=windows-1252>caf\xe9", None),
        "<meta charset=windows-1252>café"
    );
    assert_eq!(
        decode(b"<?xml version='1.0' encoding='koi8-r'?>\xc1", None),
        "<?xml version='1.0' encoding='koi8-r'?>а"
    );
    assert_eq!(decode("café".as_bytes(), None), "café");
    assert_eq!(decode(latin, None), "café");
    assert_eq!(decode(b"<meta charset=utf-16>caf\xc3\xa9", None), "<meta charset=utf-16>café");
    assert_eq!(decode(b"\xff\xfea\0", None), "a");
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
