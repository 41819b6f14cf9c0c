//! Any text is a page, and its Markdown means the same when it is read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_capture::{DEFAULT_CHARS, ReadOptions, read_page};
use sabir_document::Document;

fuzz_target!(|html: &str| {
    let Ok(url) = "https://example.org/dir/page.html".parse() else { return };
    let page = read_page(html, &url, &ReadOptions::default());
    assert!(page.markdown.chars().count() <= DEFAULT_CHARS, "longer than was asked for");
    let again = Document::from_markdown(&page.markdown).to_markdown();
    assert_eq!(again, page.markdown, "the Markdown of {html:?} is not stable");
});
