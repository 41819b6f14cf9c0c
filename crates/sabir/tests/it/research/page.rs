//! One page without a collection: `sabir summarize`, `sabir extract`, `sabir render`.

use serde_json::{Value, json};

use super::study::{Study, TIDES};
use crate::process::{finish, run};

#[test]
fn a_page_is_summed_up_with_citations() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    let outcome = study.run(&["summarize", &study.url("/tides"), "--json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let summary: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let citations = summary["citations"].as_array().unwrap();
    assert!(!citations.is_empty());
    assert!(citations.iter().all(|it| it["status"] == "verified"), "{summary}");
    study.place.write("tides.html", TIDES);
    let outcome = study.run(&["summarize", "tides.html"]);
    assert!(outcome.stdout.contains("[1] verified"), "{} {}", outcome.stdout, outcome.stderr);
}

#[test]
fn data_is_extracted_by_a_schema() {
    let study = Study::with_pages(&[]);
    study.place.write("lamp.html", "<title>Lamp</title><article><h1>Desk lamp</h1>
        <p>A lamp for desks and shelves, made of brass, with a switch in the cable.</p>
        <table><tr><th>Price</th><td>49.90 EUR</td></tr><tr><th>In stock</th><td>yes</td></tr></table>
        </article>");
    let schema = json!({ "type": "object", "properties": {
        "price": { "type": "number" }, "in_stock": { "type": "boolean" } }, "required": ["price"] });
    study.place.write("s.json", &schema.to_string());
    let outcome = study.run(&["extract", "--schema", "s.json", "lamp.html"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let data: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(data["price"], 49.9, "{data}");
    // What is not there is not made up.
    study.place.write(
        "s.json",
        &json!({ "type": "object", "properties": {
        "wingspan": { "type": "number" } }, "required": ["wingspan"] })
        .to_string(),
    );
    let outcome = study.run(&["extract", "--schema", "s.json", "lamp.html"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{}", outcome.stderr);
    // A schema that is none is said so.
    study.place.write("s.json", "{\"type\": 7}");
    let outcome = study.run(&["extract", "--schema", "s.json", "lamp.html"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("schema"), "{}", outcome.stderr);
}

#[test]
fn a_schema_is_a_small_file() {
    let study = Study::with_pages(&[]);
    study.place.write("lamp.html", "<title>Lamp</title><p>A lamp for desks and shelves.</p>");
    let pipe = study.place.work.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let large = format!("{{\"title\": \"{}\"}}", "a".repeat(1024 * 1024));
    study.place.write("large.json", &large);
    for (schema, why) in [
        ("pipe", "it is not a file"),
        ("/dev/zero", "it is not a file"),
        ("large.json", "it is larger than 1048576 bytes"),
    ] {
        let outcome = study.run(&["extract", "--schema", schema, "lamp.html"]);
        assert_eq!(outcome.code, 2, "{schema}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(why), "{schema}: {}", outcome.stderr);
    }
    let args = ["extract", "--schema", "-", "lamp.html"];
    let outcome = finish(&mut study.place.command(&args), &args, &large);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("it is larger than"), "{}", outcome.stderr);
}

#[test]
fn numbers_out_of_range_are_wrong_usage() {
    let study = Study::with_pages(&[]);
    for args in [
        &["search", "--limit", "0", "tides"][..],
        &["search", "--limit", "101", "tides"],
        &["ask", "-c", "c", "--budget", "499", "Why?"],
    ] {
        let outcome = study.run(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("is not in"), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn rendered_markdown_is_safe() {
    let markdown = "# Hi\n\n<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](https://x.example/b.png)\n\n[ok](https://x.example/)\n";
    let outcome = run(&["render"], markdown);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let html = outcome.stdout;
    assert!(html.contains("<h1>Hi</h1>"), "{html}");
    assert!(
        !html.contains("<img") && !html.contains("href=\"javascript") && !html.contains(" id="),
        "{html}"
    );
    assert!(html.contains("href=\"https://x.example/\""), "{html}");
    assert!(html.contains("&lt;img"), "{html}");
    // A byte order mark belongs to the file.
    assert_eq!(run(&["render"], "\u{feff}# Hi\n").stdout, "<h1>Hi</h1>\n");
    let unseen = run(&["render"], "[x](https://a.example/\u{200b}b)\n").stdout;
    assert!(!unseen.contains("href"), "{unseen}");
    for nowhere in ["https://xn--a/", "https://a.xn--0/x"] {
        let plain = run(&["render"], format!("[words]({nowhere})\n")).stdout;
        assert_eq!(plain, "<p>words</p>\n", "{nowhere}");
    }
}

#[test]
fn a_pdf_is_read_in_a_process_of_its_own() {
    let study = Study::with_pages(&[]);
    let pdf = sabir_export::export(
        &sabir_export::Artifact {
            id: "art_x".into(),
            title: "Tides in print".into(),
            document: sabir_document::Document::from_markdown(
                "# Tides in print\n\nSpring tides come at new moon and at full moon.\n",
            ),
            references: Vec::new(),
            made_at: "2026-01-01".into(),
        },
        sabir_export::Format::Pdf,
    )
    .unwrap();
    std::fs::write(study.place.work.join("t.pdf"), pdf).unwrap();
    let outcome = study.run(&["capture", "--print", "t.pdf"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("Spring tides come at new moon"), "{}", outcome.stdout);
    let args = ["capture", "--print", "-"];
    let outcome = finish(&mut study.place.command(&args), &args, b"%PDF-1.7\nnonsense");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("PDF"), "{}", outcome.stderr);
}

#[test]
fn nothing_found_is_not_success() {
    let study = Study::with_pages(&[]);
    study.place.write("list.html", "<table><tr><th>Size</th><td>4</td></tr></table><p>Brass</p>");
    study.place.write("empty.html", "");
    let schema = json!({ "type": "object", "properties": { "zodiac": { "type": "string" } } });
    study.place.write("s.json", &schema.to_string());
    // Nothing of the schema is there, although the schema is content with that.
    let outcome = study.run(&["extract", "--schema", "s.json", "list.html"]);
    assert_eq!(outcome.code, 1, "{} {}", outcome.stdout, outcome.stderr);
    // A page of short lines is summed up by them, an empty one is not.
    let outcome = study.run(&["summarize", "list.html"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("Brass"), "{}", outcome.stdout);
    assert_eq!(study.run(&["summarize", "empty.html"]).code, 1);
}
