//! Any Markdown is a document, which prints to Markdown that means the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_base::json::Json;
use sabir_document::{Cites, Document, MAX_JSON_DEPTH, PlainText};

fuzz_target!(|markdown: &str| {
    for cited in [Document::from_markdown, with_cites] {
        let document = cited(markdown);
        let printed = document.to_markdown();
        let again = cited(&printed);
        assert_eq!(again.to_markdown(), printed, "the Markdown of {markdown:?} is not stable");
        assert_eq!(again, document, "{printed:?} does not mean what {markdown:?} does");

        let text = document.to_json().to_string();
        let mut problems = Vec::new();
        match Json::read(&text, MAX_JSON_DEPTH) {
            Ok(json) => assert_eq!(Document::read(json.top(), &mut problems), Some(document)),
            Err(error) => panic!("{} in {text}", error.message),
        }
        assert_eq!(problems, [], "{text}");
    }

    let plain = PlainText::of_markdown(markdown);
    for (at, c) in plain.text().char_indices() {
        let range = plain.source_range(at..at + c.len_utf8());
        assert!(markdown.get(range).is_some(), "{c:?} comes from nowhere in {markdown:?}");
    }
});

fn with_cites(markdown: &str) -> Document {
    Document::from_cited_markdown(markdown, Cites::Upto(9))
}
