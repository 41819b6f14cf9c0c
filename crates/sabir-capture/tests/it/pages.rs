//! Saved pages, what becomes of them, and pages that are made to hurt.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]
#![expect(clippy::disallowed_methods, reason = "saved pages are files")]

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use sabir_capture::{Page, PdfLimits, PdfReader, ReadOptions, read_bytes};
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
