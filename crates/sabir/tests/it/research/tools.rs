//! Tools that the user's own words allow, carried out for real: the browser among them.

use sabir_store::library::{NewSource, SourceKind};
use sabir_testkit::fake_model::{FakeModel, Reply};
use serde_json::{Value, json};

use super::study::{HARBOUR, Study, TIDES, asked, fill};

/// The user names the page, the collection is empty, so nothing of strangers was read: the model may
/// go there, look, and answer.
#[test]
fn a_page_that_the_user_names_is_opened_and_looked_at_in_a_real_browser() {
    let study = Study::with_site(|request| {
        Some(match request.path.as_str() {
            "/live" => Reply::body(
                200,
                "text/html",
                "<!doctype html><title>Live</title><main><h1>Live</h1>\
                <p id=p>loading</p></main><script>document.getElementById('p').textContent = \
                'The water stands at ' + (2 + 1) + ' metres right now.'</script>",
            ),
            "/tides" => Reply::body(200, "text/html", TIDES),
            _ => Reply::body(404, "text/html", "no"),
        })
    });
    assert_eq!(study.place.run(&["collection", "new", "c"]).code, 0);
    let url = study.url("/live");
    let go = url.clone();
    let model = FakeModel::answering(move |request, number| {
        Some(match number {
            0 => fill(
                request,
                "I look.",
                &json!([]),
                &json!([
                    { "name": "browser.navigate", "arguments": { "url": go } },
                    { "name": "browser.observe_dom", "arguments": {} },
                ]),
            ),
            _ => {
                let seen = asked(request).user.contains("The water stands at 3 metres right now.");
                fill(
                    request,
                    if seen { "Three metres." } else { "I saw nothing." },
                    &json!([]),
                    &json!([]),
                )
            }
        })
    });
    let question = format!("How high does the water stand, says {url} ?");
    let outcome = study.ask_model(&model, &["--tools", "browser"], &question);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(answer["calls"][0]["result"], "ok", "{answer}");
    assert_eq!(answer["calls"][1]["result"], "ok", "{answer}");
    assert!(answer["answer"].as_str().unwrap().contains("Three metres"), "{answer}");
    assert!(study.visits("/live") >= 1);
}

/// Every one of the tools of the library, in one go, asked for by a user who has read nothing of
/// strangers.
#[test]
fn the_tools_of_the_library_do_what_they_say() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    assert_eq!(study.place.run(&["collection", "new", "c"]).code, 0);
    let collection = study.library().find_collection("c").unwrap().id;
    let calls = json!([
        { "name": "collection.create", "arguments": { "title": "Another" } },
        { "name": "artifact.save", "arguments": { "title": "List", "markdown": "- rope" } },
        { "name": "collection.add_sources", "arguments": { "collectionId": collection,
            "sources": [{ "type": "note", "title": "Mine", "text": "Buy rope." }] } },
        { "name": "transform.list_types", "arguments": {} },
        { "name": "collection.list_sources", "arguments": { "collectionId": collection } },
    ]);
    let model = super::study::obeys(calls);
    let outcome = study.ask_model(&model, &[], "Set things up for me.");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let results: Vec<&Value> =
        answer["calls"].as_array().unwrap().iter().map(|call| &call["result"]).collect();
    assert_eq!(results, ["ok"; 5].map(|ok| json!(ok)).iter().collect::<Vec<_>>(), "{answer}");
    let library = study.library();
    assert!(library.find_collection("Another").is_ok());
    assert_eq!(library.artifacts(None, None, 10).unwrap()[0].title, "List");
    assert_eq!(library.sources(&collection, 0, 10).unwrap().len(), 1);
}

/// Something else waits in the collection and is left; the model is told of what it asked for. A title that it gives is the title of the source.
#[test]
fn a_capture_reports_its_own_source() {
    for tool in ["source.capture", "collection.add_sources"] {
        let study = Study::with_pages(&[("/tides", TIDES), ("/harbour", HARBOUR)]);
        assert_eq!(study.place.run(&["collection", "new", "c"]).code, 0);
        let library = study.library();
        let collection = library.find_collection("c").unwrap().id;
        let waiting = NewSource {
            kind: SourceKind::Url,
            address: study.url("/harbour"),
            fetch_address: None,
            normalized: study.url("/harbour"),
            title: None,
        };
        library.enqueue(&collection, &[waiting], "{}", 1).unwrap();
        let url = study.url("/tides");
        let arguments = match tool {
            "source.capture" => json!({ "collectionId": collection, "url": url }),
            _ => json!({ "collectionId": collection, "sources": [
                { "type": "url", "url": url, "title": "My tides" }] }),
        };
        let model = super::study::obeys(json!([{ "name": tool, "arguments": arguments }]));
        let outcome = study.ask_model(&model, &[], &format!("Take {url} in, please."));
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(answer["calls"][0]["result"], "ok", "{tool}: {answer}");
        let told = asked(&model.requests()[1]).user;
        let result = told.split("captured").nth(1).unwrap();
        assert!(told.contains("/tides") && !result.contains("/harbour"), "{tool}: {told}");
        let sources = library.sources(&collection, 0, 10).unwrap();
        assert_eq!(sources.len(), 2, "{tool}");
        let title = if tool == "source.capture" { "Tides" } else { "My tides" };
        assert!(sources.iter().any(|source| source.title == title), "{tool}: {sources:?}");
    }
}
