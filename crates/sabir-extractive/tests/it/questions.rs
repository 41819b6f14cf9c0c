//! How good the answers are: questions over the island's pages, with the source that answers and the
//! words that its passage must hold, or `-` where no source does.

#![expect(clippy::disallowed_methods, reason = "the data of tests are files")]

use serde_json::json;

use crate::collection::{pages, request, respond};

/// LC-X20, LC-X23: most questions are answered from the right source, and nothing is answered that no
/// source answers.
#[test]
fn questions_find_their_source() {
    let pages = pages("island");
    let table = std::fs::read_to_string("tests/data/questions.tsv").unwrap();
    let (mut right, mut asked, mut silent, mut unanswerable) = (0, 0, 0, 0);
    for line in table.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [question, source, words] = columns.as_slice() else { panic!("{line:?}") };
        let response = respond(&request(&pages, &json!({ "name": "web.answer" }), question, &[]));
        let text = response.assistant.render.plain_text();
        let citations = &response.assistant.citations;
        if *source == "-" {
            unanswerable += 1;
            let is_silent = text.contains("not in your sources") && citations.is_empty();
            silent += usize::from(is_silent);
            if !is_silent {
                println!("answered, though nothing could: {question}\n    {text}");
            }
            continue;
        }
        asked += 1;
        let first = citations.first();
        let found = first.is_some_and(|citation| {
            citation.doc_id.as_ref().is_some_and(|id| id.as_str() == *source)
                && citation.quote.as_ref().is_some_and(|quote| quote.as_str().contains(words))
        });
        right += usize::from(found);
        if !found {
            println!("missed: {question} ({source}: {words})\n    {}", text.trim_end());
        }
    }
    println!("answered from the right passage first: {right} of {asked}");
    println!("silent where no source answers: {silent} of {unanswerable}");
    assert!(right * 100 >= asked * 90, "{right} of {asked}");
    assert!(silent == unanswerable, "{silent} of {unanswerable}");
}
