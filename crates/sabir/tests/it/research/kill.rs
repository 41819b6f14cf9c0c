//! Kill -9 in the middle of a capture of a hundred pages: no captured page is lost, none is
//! fetched again, none is there twice.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};

use sabir_store::library::SourceStatus;
use sabir_testkit::fake_model::Reply;

use super::study::Study;

#[test]
fn a_killed_capture_goes_on_where_it_was() {
    let study = Study::with_site(|request| {
        let page = format!(
            "<title>Page {0}</title><article><h1>Page {0}</h1><p>This page is about the number {0} \
             and nothing else, which is enough for a page of a test.</p></article>",
            request.path.trim_start_matches('/')
        );
        Some(Reply::body(200, "text/html", page))
    });
    let urls: Vec<String> = (0..100).map(|number| study.url(&format!("/{number}"))).collect();
    let egress = study.site.address().to_string();
    let mut args = vec!["capture", "-c", "c", "--json", "--allow-egress", &egress];
    args.extend(urls.iter().map(String::as_str));

    // Each time a few more lines are waited for; then it dies, wherever it is.
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for lines in [1, 3, 7, 12, 20] {
        let mut child = study.place.command(&args).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let kept =
            output.lines().map_while(Result::ok).filter(|line| !line.contains("\"present\""));
        for line in kept.take(lines) {
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(line["status"], "captured", "{line}");
            *told.entry(line["url"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // What was told is there, and was told once.
    let library = study.library();
    let collection = library.find_collection("c").unwrap();
    for (url, times) in &told {
        assert_eq!(*times, 1, "{url} was captured twice");
        let source = library.source_by_address(&collection.id, url).unwrap().unwrap();
        assert_eq!(source.status, SourceStatus::Captured, "{url}");
    }
    let before = captured_at(&study);

    let outcome = study.place.run(&args);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let after = captured_at(&study);
    assert_eq!(after.len(), 100);
    for (url, version) in &before {
        assert_eq!(after.get(url), Some(version), "{url} was captured again");
    }
    study.library().verify().unwrap();
}

/// The version of each captured source.
fn captured_at(study: &Study) -> BTreeMap<String, String> {
    let library = study.library();
    let collection = library.find_collection("c").unwrap();
    let sources = library.sources(&collection.id, 0, 1000).unwrap();
    let captured = sources.into_iter().filter(|it| it.status == SourceStatus::Captured);
    captured
        .map(|it| (it.origin.address.unwrap(), it.current_version.unwrap().to_string()))
        .collect()
}
