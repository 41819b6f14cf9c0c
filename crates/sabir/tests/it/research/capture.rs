//! `sabir capture` and `sabir collection`.

use sabir_testkit::fake_model::{Gate, Reply};
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
    // Who names one source twice is told so.
    let outcome = study.run(&["capture", "-c", "d", &tides, &other]);
    assert!(outcome.stderr.contains("1 captured, 1 named twice"), "{}", outcome.stderr);
}

#[test]
fn a_file_that_is_not_there_is_named_once() {
    let study = Study::with_pages(&[]);
    let outcome = study.run(&["capture", "-c", "c", "missing.md"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("missing.md").count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_changed_page_is_a_new_version_and_a_failed_refresh_hides_nothing() {
    let mut round = 0;
    let study = Study::with_site(move |_| {
        round += 1;
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
    let outcome = refresh();
    assert_eq!(outcome.code, 0);
    assert!(outcome.stderr.contains("changed ") && outcome.stderr.contains("(+1 −1 lines)"));
    let outcome = refresh();
    assert!(outcome.stderr.contains("0 captured, 1 unchanged"), "{}", outcome.stderr);
    assert_eq!(refresh().code, 1);

    let library = study.library();
    let collection = library.find_collection("c").unwrap();
    let source = library.sources(&collection.id, 0, 10).unwrap().remove(0);
    let versions = library.versions(&source.id, 0, 10).unwrap();
    assert_eq!(versions.len(), 2);
    assert!(source.fault.is_some());
    let text = library.current_text(&source.id).unwrap().unwrap();
    assert!(text.markdown.contains("17 metres"));
    let args = ["collection", "show", "c", "--source", source.id.as_str(), "--diff"];
    let shown = study.place.run(&args).stdout;
    assert!(shown.contains(versions[0].id.as_str()) && shown.contains("+1 −1 lines"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with('+') && line.contains("17 metres")));
    let shown = study.place.run(&[&args[..], &["--json"]].concat()).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["versions"][1]["is_current"], true);
    assert!(shown["diff"].as_str().unwrap().contains("16 metres"));
}

#[test]
fn an_empty_answer_replaces_nothing() {
    let mut round = 0;
    let study = Study::with_site(move |_| {
        round += 1;
        Some(Reply::body(200, "text/html", if round == 1 { TIDES } else { "" }))
    });
    study.capture(&["/t"]);
    let outcome = study.run(&["capture", "-c", "c", "--refresh", &study.url("/t")]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("the page is empty now"), "{}", outcome.stderr);
    let shown = study.place.run(&["search", "-c", "c", "Fundy"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let outcome = study.run(&["capture", "-c", "c", &study.url("/other")]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("the page is empty"), "{}", outcome.stderr);
}

/// Without their addresses: by id, and all of a collection.
#[test]
fn sources_are_fetched_again_by_what_they_are_called() {
    let study = Study::with_pages(&[("/tides", TIDES), ("/harbour", HARBOUR)]);
    study.capture(&["/tides", "/harbour"]);
    assert_eq!(study.place.run(&["capture", "-c", "c", "--note", "Gulls."]).code, 0);
    let outcome = study.run(&["capture", "-c", "c", "--refresh"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("2 unchanged"), "{}", outcome.stderr);
    let library = study.library();
    let collection = library.find_collection("c").unwrap();
    let id = library.sources(&collection.id, 0, 1).unwrap().remove(0).id;
    let outcome = study.run(&["capture", "-c", "c", "--refresh", id.as_str()]);
    assert!(outcome.stderr.contains("1 unchanged"), "{}", outcome.stderr);
    assert_eq!(study.place.run(&["collection", "new", "other"]).code, 0);
    let outcome = study.run(&["capture", "-c", "other", "--refresh", id.as_str()]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("is not in the collection other"), "{}", outcome.stderr);
    assert_eq!(study.run(&["capture", "-c", "nowhere", "--refresh"]).code, 2);
}

#[test]
fn what_was_typed_is_fetched_and_shown_without_secrets() {
    let study = Study::with_site(|request| {
        let page = TIDES.replace("Tides", &format!("Tides {}", request.path.len()));
        Some(Reply::body(200, "text/html", page.replace("16 metres", &request.path)))
    });
    let (one, two) = (study.url("/x?key=sesame1"), study.url("/x?key=sesame2"));
    let outcome = study.run(&["capture", "-c", "c", &one, &two]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("2 captured"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("2 addresses are kept whole"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("sesame"), "{}", outcome.stderr);
    let outcome = study.run(&["capture", "-c", "c", "--refresh", &two, "--json"]);
    assert!(outcome.stdout.contains("unchanged") && !outcome.stdout.contains("?key"));
    let paths: Vec<String> = study.site.requests().into_iter().map(|it| it.path).collect();
    assert_eq!(paths.len(), 3, "{paths:?}");
    assert!(paths.iter().all(|path| path.starts_with("/x?key=sesame")), "{paths:?}");
    let shown = study.place.run(&["collection", "show", "c", "--json"]);
    assert!(!shown.stdout.contains("?key"), "{}", shown.stdout);
}

/// A command works off what it queued itself: another one with other rules does not fail it.
#[test]
fn a_command_leaves_the_jobs_of_others_alone() {
    let gate = Gate::new();
    let held = gate.clone();
    let study = Study::with_site(move |request| {
        Some(match request.path.as_str() {
            // Until the other command has ended.
            "/0" => Reply::body(200, "text/html", "").then_wait(&held).then(TIDES),
            _ => Reply::body(200, "text/html", TIDES),
        })
    });
    study.place.write("mine.html", HARBOUR);
    let urls: Vec<String> = (0..20).map(|number| study.url(&format!("/{number}"))).collect();
    let egress = study.site.address().to_string();
    let mut args =
        vec!["capture", "-c", "c", "--json", "--parallel", "1", "--allow-egress", &egress];
    args.extend(urls.iter().map(String::as_str));
    let first = study.place.command(&args).spawn().unwrap();
    study.site.wait_for_request(0);
    let second = study.place.run(&["capture", "-c", "c", "mine.html"]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(second.stderr.contains("c: 1 captured"), "{}", second.stderr);
    // Who wants the same, and may, waits for the outcome.
    let args_of_third = ["capture", "-c", "c", "--allow-egress", &egress, &urls[3]];
    let third = study.place.command(&args_of_third).spawn().unwrap();
    gate.open();
    let output = first.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("\"captured\"").count(), 20, "{text}");
    let third = third.wait_with_output().unwrap();
    assert_eq!(third.status.code(), Some(0));
}

/// What a killed command left is taken up by who may do it, and named by who may not.
#[test]
fn leftovers_wait_for_those_who_may_fetch_them() {
    let study = Study::with_site(|_| Some(Reply::body(200, "text/html", TIDES)));
    study.place.write("mine.html", HARBOUR);
    let library = study.library();
    let collection = library.create_collection("c", &[], 1).unwrap().id;
    let left = sabir_store::library::NewSource {
        kind: sabir_store::library::SourceKind::Url,
        address: study.url("/left"),
        fetch_address: None,
        normalized: study.url("/left"),
        title: None,
    };
    let egress = study.site.address().to_string();
    let options = format!(r#"{{"mode":"auto","max_chars":24000,"allow":["{egress}"]}}"#);
    library.enqueue(&collection, &[left], &options, 1).unwrap();
    let outcome = study.place.run(&["capture", "-c", "c", "mine.html"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1 of an earlier command"), "{}", outcome.stderr);
    assert_eq!(study.visits("/left"), 0);
    let outcome = study.run(&["capture", "-c", "c", "mine.html"]);
    assert!(outcome.stderr.contains("1 captured, 1 already there"), "{}", outcome.stderr);
    assert_eq!(study.visits("/left"), 1);
}

#[test]
fn many_commands_capture_the_same_into_a_new_collection() {
    let study = Study::with_site(|_| Some(Reply::body(200, "text/html", TIDES)));
    let urls: Vec<String> = (0..10).map(|number| study.url(&format!("/{number}"))).collect();
    let egress = study.site.address().to_string();
    let mut args = vec!["capture", "-c", "new", "--json", "--allow-egress", &egress];
    args.extend(urls.iter().map(String::as_str));
    let children: Vec<_> = (0..5).map(|_| study.place.command(&args).spawn().unwrap()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}{errors}");
        assert_eq!(text.lines().count(), 10, "each input is told of: {text}");
    }
    assert_eq!(study.site.requests().len(), 10, "and fetched once");
}

#[test]
fn a_server_that_wants_time_gets_it() {
    let study = Study::with_site(|request| {
        let wait = if request.path == "/hour" { "3600" } else { "1" };
        Some(match request.path.as_str() {
            "/hour" | "/second" => {
                Reply::body(429, "text/html", "later").header("retry-after", wait)
            }
            _ => Reply::body(200, "text/html", TIDES),
        })
    });
    let url = study.url("/hour");
    let outcome = study.run(&["capture", "-c", "c", &url, &study.url("/t")]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("1 captured, 1 waits until "), "{}", outcome.stderr);
    let shown = study.place.run(&["collection", "show", "c"]);
    assert!(shown.stdout.contains("(waits until "), "{}", shown.stdout);
    let shown = study.place.run(&["collection", "show", "c", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let waits = |at: usize| shown["sources"][at]["waits_until"].is_string();
    assert!(waits(0) && !waits(1), "{shown}");
    // Before its time only who insists asks again.
    let outcome = study.run(&["capture", "-c", "c", &url]);
    assert_eq!((outcome.code, study.visits("/hour")), (1, 1));
    assert!(outcome.stderr.contains("1 waits until "), "{}", outcome.stderr);
    let outcome = study.run(&["capture", "-c", "c", "--refresh", &url]);
    assert_eq!((outcome.code, study.visits("/hour")), (1, 2));
    let outcome = study.run(&["capture", "-c", "c", &study.url("/second")]);
    assert_eq!((outcome.code, study.visits("/second")), (1, 3));
    assert!(outcome.stderr.contains("again in 1 s"), "{}", outcome.stderr);
}

/// What cannot be captured leaves nothing behind; a file has one name, and so has a page.
#[test]
fn names_are_one_or_none() {
    let study = Study::with_site(|_| Some(Reply::body(200, "text/html", TIDES)));
    for refused in ["http://me:sesame@a.example/", "ftp://a.example/x"] {
        let outcome = study.run(&["capture", "-c", "new", refused]);
        assert_eq!(outcome.code, 2, "{refused}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("sesame"), "{}", outcome.stderr);
    }
    assert_eq!(study.place.run(&["collection", "list"]).stdout, "");
    std::fs::create_dir(study.place.work.join("w")).unwrap();
    study.place.write("x.md", "# X\n\nSome words.\n");
    let (plain, clicked) = (study.url("/t"), study.url("/t?fbclid=1&gclid=2"));
    let args = ["capture", "-c", "c", "x.md", "w/../x.md", &plain, &clicked];
    let outcome = study.run(&args);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("2 captured, 2 named twice"), "{}", outcome.stderr);
}

#[test]
fn only_files_with_text_are_read() {
    let study = Study::with_pages(&[]);
    let pipe = study.place.work.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    study.place.write("program.html", "\u{7f}ELF\u{2}\u{1}\0\0");
    for (args, code) in [
        (["capture", "--print", "pipe"], 2),
        (["capture", "--print", "/dev/zero"], 2),
        (["capture", "--print", "program.html"], 2),
        (["capture", "-cc", "pipe"], 1),
    ] {
        let outcome = study.place.run(&args);
        assert_eq!(outcome.code, code, "{args:?} {}", outcome.stderr);
        assert!(outcome.stderr.contains(" is no "), "{args:?} {}", outcome.stderr);
    }
}

#[test]
fn what_cannot_be_meant_keeps_nothing() {
    let study = Study::with_pages(&[]);
    for args in [
        &["capture", "-c", "c", "--note", "Gulls", "-"][..],
        &["capture", "-c", "c", "--parallel", "0", "x.md"],
        &["capture", "--print", "--json", "x.md"],
        &["capture", "--print", "https://ann:hunter2@[bad/"],
        &["capture", "-c", "c", "http://127.0.0.1:99999/?token=hunter2"],
    ] {
        let outcome = study.place.run(args);
        assert_eq!(outcome.code, 2, "{args:?}");
        assert!(!outcome.stderr.contains("hunter2"), "{}", outcome.stderr);
    }
    assert_eq!(study.place.run(&["collection", "list"]).stdout, "");
    let outcome = study.place.run(&["capture", "-c", "c", "--note", "Gulls.", "--title", "Seals"]);
    assert!(outcome.stderr.contains("  Seals"), "{}", outcome.stderr);
}

/// A page that cannot be kept is one failure, and the others are kept.
#[test]
fn one_page_that_cannot_be_kept_stops_no_other() {
    let study = Study::with_site(|request| {
        Some(match request.path.as_str() {
            "/long" => {
                let to = format!("/{}", "a".repeat(17_000));
                Reply::body(302, "text/html", "").header("location", &to)
            }
            _ => Reply::body(200, "text/html", TIDES),
        })
    });
    let outcome =
        study.run(&["capture", "-c", "c", &study.url("/long"), &study.url("/a"), &study.url("/b")]);
    assert!(outcome.stderr.contains("3 captured"), "{}", outcome.stderr);
}

/// Another way of reading is another text, so that what the server said of the first does not count.
#[test]
fn other_options_fetch_the_page_anew() {
    let study = Study::with_site(|request| {
        Some(match request.header("if-none-match") {
            Some(_) => Reply::body(304, "text/html", ""),
            None => Reply::body(200, "text/html", TIDES).header("etag", "\"1\""),
        })
    });
    study.capture(&["/t"]);
    let url = study.url("/t");
    let outcome = study.run(&["capture", "-c", "c", "--refresh", "--json", &url]);
    let line: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (line["status"].as_str(), line["title"].as_str()),
        (Some("unchanged"), Some("Tides"))
    );
    assert!(line["chars"].as_u64().unwrap() > 100);
    let outcome = study.run(&["capture", "-c", "c", "--refresh", "--max-chars", "200", &url]);
    assert!(outcome.stderr.contains("changed "), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("unchanged"), "{}", outcome.stderr);
}

/// Nobody reads what is printed: then it ends.
#[test]
fn a_full_disk_behind_standard_output_ends_the_command() {
    let study = Study::with_site(|_| Some(Reply::body(200, "text/html", TIDES)));
    let urls: Vec<String> = (0..200).map(|number| study.url(&format!("/{number}"))).collect();
    let egress = study.site.address().to_string();
    let mut args = vec!["capture", "-c", "c", "--json", "--allow-egress", &egress];
    args.extend(urls.iter().map(String::as_str));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let status = study.place.command(&args).stdout(full).spawn().unwrap().wait().unwrap();
    assert_eq!(status.code(), Some(2));
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
