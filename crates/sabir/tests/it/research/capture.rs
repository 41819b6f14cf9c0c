//! `sabir capture` and `sabir collection`.

use serde_json::Value;

use super::study::{HARBOUR, Study, TIDES};
use crate::process::finish;

#[test]
fn pages_files_and_notes_become_sources() {
    let study = Study::with_pages(&[("/tides", TIDES), ("/harbour", HARBOUR)]);
    study.place.write("notes.md", "# Mine\n\nThe pier is closed on Mondays.\n");
    let (tides, harbour) = (study.url("/tides"), study.url("/harbour"));
    let outcome = study.run(&["capture", "-c", "c", &tides, &harbour, "notes.md"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("c: 3 captured"), "{}", outcome.stderr);
    let outcome = study.run(&["capture", "-c", "c", "--note", "Gulls steal chips.", "--json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);

    let shown = study.place.run(&["collection", "show", "c", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["counts"]["captured"], 4);
    let titles: Vec<&str> = shown["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["title"].as_str().unwrap())
        .collect();
    assert_eq!(&titles[..3], ["Tides", "Harbours", "Mine"]);

    // Again: nothing is fetched that is there.
    let outcome = study.run(&["capture", "-c", "c", &tides]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.stderr.contains("1 already there"), "{}", outcome.stderr);
    assert_eq!(study.visits("/tides"), 1);
    // And the same address in other words is the same source.
    let other = study.url("/tides?utm_source=mail#top");
    let outcome = study.run(&["capture", "-c", "c", &other]);
    assert!(outcome.stderr.contains("1 already there"), "{}", outcome.stderr);
}

#[test]
fn a_changed_page_is_a_new_version_and_a_failed_refresh_hides_nothing() {
    let mut round = 0;
    let study = Study::with_site(move |_| {
        round += 1;
        use sabir_testkit::fake_model::Reply;
        Some(match round {
            1 => Reply::body(200, "text/html", TIDES),
            2 => Reply::body(200, "text/html", TIDES.replace("16 metres", "17 metres")),
            3 => Reply::body(200, "text/html", TIDES.replace("16 metres", "17 metres")),
            _ => Reply::body(404, "text/html", "gone"),
        })
    });
    study.capture(&["/t"]);
    let url = study.url("/t");
    let refresh = || study.run(&["capture", "-c", "c", "--refresh", &url]);
    assert_eq!(refresh().code, 0);
    let outcome = refresh();
    assert!(outcome.stderr.contains("unchanged"), "{}", outcome.stderr);
    assert_eq!(refresh().code, 1);

    let library = study.library();
    let collection = library.find_collection("c").unwrap();
    let source = library.sources(&collection.id, 0, 10).unwrap().remove(0);
    let versions = library.versions(&source.id, 0, 10).unwrap();
    assert_eq!(versions.len(), 2);
    assert!(source.fault.is_some());
    let text = library.current_text(&source.id).unwrap().unwrap();
    assert!(text.markdown.contains("17 metres"));
}

#[test]
fn print_writes_markdown_and_keeps_nothing() {
    let hidden = TIDES.replace(
        "<h2>",
        "<p style='opacity:0'>secret one</p><p style='position:absolute;left:-9999px'>secret two</p>\
         <details><summary>More</summary>secret three</details><dialog>secret four</dialog><h2>",
    );
    let study = Study::with_pages(&[("/tides", &hidden)]);
    let outcome = study.run(&["capture", "--print", &study.url("/tides")]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.starts_with("# Tides\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("| Bay of Fundy | 16"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("secret"), "{}", outcome.stdout);
    assert_eq!(outcome.stderr, "");
    assert!(!study.place.home.exists(), "nothing is kept, and no home is made");

    let args = ["capture", "--print", "-"];
    let outcome = finish(&mut study.place.command(&args), &args, &hidden);
    assert!(outcome.stdout.contains("Spring tides come at new moon"), "{}", outcome.stderr);
}

#[test]
fn deep_pages_are_read() {
    let deep = format!(
        "{}<p>at the bottom of it all</p>{}",
        "<div>".repeat(30_000),
        "</div>".repeat(30_000)
    );
    let study = Study::with_pages(&[]);
    let args = ["capture", "--print", "-"];
    let outcome = finish(&mut study.place.command(&args), &args, &deep);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("at the bottom of it all"));
}

#[test]
fn refused_addresses_say_why_and_proxies_do_not_help() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    let url = study.url("/tides");
    for (url, why) in [
        (url.as_str(), "loopback"),
        ("http://169.254.169.254/latest/meta-data", "metadata"),
        ("http://10.0.0.1/", "private"),
        ("file:///etc/passwd", "http"),
    ] {
        let args = ["capture", "--print", url];
        let mut command = study.place.command(&args);
        let proxy = format!("http://{}", study.site.address());
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(name, &proxy);
        }
        let outcome = finish(&mut command, &args, "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{url}");
        assert!(outcome.stderr.contains(why), "{url}: {}", outcome.stderr);
    }
    assert_eq!(study.site.connections(), 0);
}

#[test]
fn collections_are_made_listed_and_deleted() {
    let study = Study::with_pages(&[]);
    let made = study.place.run(&["collection", "new", "Tides and moons", "--tag", "sea"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let id = made.stdout.trim();
    assert!(id.starts_with("col_"), "{id}");
    // A second time nothing is made, and the id is the same.
    let again = study.place.run(&["collection", "new", "tides  AND moons"]);
    assert_eq!((again.code, again.stdout.trim()), (1, id));
    let listed = study.place.run(&["collection", "list"]);
    assert!(listed.stdout.contains(id) && listed.stdout.contains("0 sources"), "{}", listed.stdout);
    // A name that is nearly right.
    let near = study.place.run(&["ask", "-c", "tides and moon", "what?"]);
    assert_eq!(near.code, 2);
    assert!(near.stderr.contains("did you mean \"Tides and moons\"?"), "{}", near.stderr);
    assert_eq!(study.place.run(&["collection", "delete", id]).code, 2);
    assert_eq!(study.place.run(&["collection", "delete", id, "--yes"]).code, 0);
    assert_eq!(study.place.run(&["collection", "show", id]).code, 2);
}

#[test]
fn words_are_found_in_sources() {
    let study = Study::with_pages(&[("/tides", TIDES), ("/harbour", HARBOUR)]);
    study.capture(&["/tides", "/harbour"]);
    let outcome = study.place.run(&["search", "-c", "c", "floating", "piers", "--json"]);
    let hits: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(hits[0]["title"], "Harbours");
    let snippet = hits[0]["snippet"].as_str().unwrap();
    let mark = &hits[0]["marks"][0];
    let at = mark[0].as_u64().unwrap() as usize..mark[1].as_u64().unwrap() as usize;
    assert_eq!(snippet[at].to_lowercase(), "floating");
    // Nothing that a person types is a query language.
    for words in ["\"", "AND", "title:x", "NEAR(", "*", "^", "' OR 1=1"] {
        let outcome = study.place.run(&["search", "-c", "c", words]);
        assert!(outcome.code < 2, "{words}: {}", outcome.stderr);
    }
}
