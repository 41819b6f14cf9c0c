//! What is taken out of addresses, texts and packets, and what stays.

use std::borrow::Cow;

use expect_test::expect_file;
use proptest::prelude::*;
use sabir_llmcp::{
    ToolName, normalise_url, redact_packet, redact_packet_within, redact_text, redact_url,
};
use sabir_testkit::cases;
use serde_json::{Value, json};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/redact");

/// LC-K30, LC-K31: the table says of each key what becomes of it, both ways.
#[test]
fn keys_are_matched_as_whole_words() {
    let table = cases(DATA).into_iter().find(|case| case.name == "keys").unwrap();
    let (mut gone, mut kept) = (0, 0);
    for line in table.text.lines().filter(|line| !line.starts_with('#')) {
        let (fate, key) = line.split_once(' ').unwrap();
        let url = format!("https://example.com/p?a=1&{key}=7&z=2");
        let redacted = redact_url(&url).unwrap();
        match fate {
            "gone" => {
                assert_eq!(redacted.url, "https://example.com/p?a=1&z=2", "{key}");
                assert!(redacted.changed, "{key}");
                gone += 1;
            }
            "kept" => {
                assert_eq!(redacted.url, url, "{key}");
                assert!(!redacted.changed, "{key}");
                kept += 1;
            }
            other => panic!("neither gone nor kept: {other}"),
        }
    }
    assert!(gone >= 50 && kept >= 30);
}

/// LC-K30, LC-K31, LC-K32, LC-K33
#[test]
fn addresses() {
    let case = cases(DATA).into_iter().find(|case| case.name == "urls").unwrap();
    let mut shown = String::new();
    for line in case.text.lines().filter(|line| !line.starts_with('#')) {
        shown.push_str(line);
        match redact_url(line) {
            Some(redacted) => {
                let mark = if redacted.changed { "changed" } else { "same" };
                let normal = normalise_url(line).unwrap();
                shown.push_str(&format!("\n    {mark}: {}\n    normal: {normal}\n", redacted.url));
            }
            None => {
                assert_eq!(normalise_url(line), None);
                shown.push_str("\n    refused\n");
            }
        }
    }
    expect_file![case.out_path()].assert_eq(&shown);
}

/// LC-K34
#[test]
fn texts() {
    let case = cases(DATA).into_iter().find(|case| case.name == "texts").unwrap();
    let mut shown = String::new();
    for line in case.text.lines().filter(|line| !line.starts_with('#')) {
        let text = line.replace("\\n", "\n");
        let outcome = match redact_text(&text) {
            Cow::Borrowed(_) => "same".to_owned(),
            Cow::Owned(redacted) => format!("gives {}", redacted.replace('\n', "\\n")),
        };
        shown.push_str(&format!("{line}\n    {outcome}\n"));
    }
    expect_file![case.out_path()].assert_eq(&shown);
}

/// LC-K35, LC-K36
#[test]
fn stored_packets_hold_digests_instead_of_bodies() {
    let body = format!("# Harbour\n\nThe token=abc123 opens it. {}", "More text. ".repeat(50));
    let packet = json!({
        "type": "request",
        "input": {
            "user_message": { "id": "u-1", "text": "what does password=hunter2 open?" },
            "task": { "name": "web.answer", "args": { "api_key": "k" } }
        },
        "context": { "documents": [
            { "doc_id": "src_1", "kind": "collection.source.v1", "trust": "untrusted",
              "source": { "browser": "chromium" },
              "content": { "doc_type": "collection.source.v1", "source_id": "src_1",
                "url": "https://u:p@example.com/a?sid=1&b=2", "title": "Harbour", "markdown": body,
                "extracted_links": [{ "url": "https://example.com/?sid=1", "text": "t" }],
                "unheard_of": "new body" } },
            { "doc_id": "t1", "kind": "tool.result.v1", "trust": "trusted",
              "content": { "doc_type": "tool.result.v1", "tool": "app.calculate", "payload": { "result": "3" } } }
        ] },
        "tool_calls": [{ "name": "browser.type", "arguments": { "handleId": "h1", "text": "Bearer abcdef0123456789" } }]
    });
    let stored = redact_packet(&packet);
    let text = serde_json::to_string_pretty(&stored).unwrap();
    expect_file![format!("{DATA}/packet.json.out")].assert_eq(&text);
    for secret in ["hunter2", "abc123", "u:p", "sid=1", "abcdef0123456789"] {
        assert!(!text.contains(secret), "{secret} was stored");
    }
}

/// LC-K38: whatever kind of value it is, and in a preview, too.
#[test]
fn nothing_under_the_name_of_a_secret_is_stored() {
    for secret in [
        json!("hunter2hunter2"),
        json!(72_615_243),
        json!(72_615_243.5),
        json!({ "value": "hunter2" }),
        json!({ "parts": [{ "text": "hunter2" }] }),
        json!(["hunter2", 72_615_243]),
        json!(true),
    ] {
        let fields = json!({ "password": secret, "deep": { "access_token": [secret] }, "of": 3 });
        let stored = redact_packet(&json!({
            "input": { "task": { "args": fields } },
            "context": {
                "documents": [
                    { "kind": "tool.result.v1", "content": { "tool": "app.calculate", "payload": fields } },
                    { "kind": "tool.result.v1", "content": { "tool": "browser.observe_dom", "payload": [fields] } },
                    { "kind": "web.observation.summary.v1", "content": { "elements": [fields] } },
                ],
                "more": fields,
            },
        }));
        let text = stored.to_string();
        assert_eq!(text.matches("[redacted]").count(), 10, "{text}");
        assert!(!text.contains("hunter2") && !text.contains("72615243"), "{text}");
        assert!(!text.contains("true"), "{text}");
    }
    for key in [
        "authorization",
        "Set-Cookie",
        "private_key",
        "pass",
        "otp",
        "bearer",
        "jwt",
        "auth",
        "signature",
        "csrf",
        "cvv",
        "ssn",
        "mnemonic",
        "pw",
        "pin",
        "session-id",
        "credentials",
    ] {
        let stored = redact_packet(&json!({ "payload": { key: "abc 123" } })).to_string();
        assert!(!stored.contains("abc 123"), "{key}: {stored}");
    }
    let nothing = json!({
        "password": null, "tokens": 5, "max_tokens": 7, "key": "a", "opinion": 1, "passage": "b",
        "author": "c", "session": "d", "pinned": true,
    });
    assert_eq!(redact_packet(&nothing), nothing);
}

/// LC-K39
#[test]
fn what_a_tool_brought_from_a_page_is_stored_as_a_digest() {
    let page = "Words of a page. ".repeat(500);
    let result = |tool: &str, status: &str, payload: Value| {
        let content = json!({
            "doc_type": "tool.result.v1", "tool": tool, "call_id": "call_1", "status": status, "payload": payload,
        });
        let document = json!({ "doc_id": "t", "kind": "tool.result.v1", "content": content });
        let stored = redact_packet(&json!({ "context": { "documents": [document] } }));
        stored["context"]["documents"][0]["content"].clone()
    };
    for tool in ToolName::ALL {
        let payload = json!({
            "url": "https://example.com/?sid=1", "title": "Harbour", "status": 200, "tab": "t1",
            "artifactId": "art_1", "text": page, "markdown": page, "outline": [{ "text": page }],
            "elements": [{ "handle_id": "h1", "text": page }],
        });
        let stored = result(tool.as_str(), "ok", payload);
        assert_eq!(stored["tool"], tool.as_str());
        assert_eq!(stored["call_id"], "call_1");
        assert_eq!(stored["payload"]["artifactId"], "art_1");
        assert_eq!(stored["payload"]["url"], "https://example.com/");
        let is_whole = stored["payload"]["text"].is_string();
        let brings_pages = tool.as_str().starts_with("browser.")
            || ["search", "artifact.open", "integration.invoke", "transform.run"]
                .contains(&tool.as_str());
        assert_eq!(is_whole, !brings_pages, "{tool}");
        if brings_pages {
            assert!(stored.to_string().len() < 2_500, "{stored}");
            assert_eq!(stored["payload"]["text"]["chars"], page.len());
        }
    }
    let links = result("browser.get_selection_links", "ok", json!([{ "text": page }]));
    assert!(links["payload"]["sha256"].is_string(), "{links}");
    let failed = json!({ "message": "the element is gone" });
    assert_eq!(result("browser.click", "error", failed.clone())["payload"], failed);
}

/// LC-K36: nothing is stored that nests without end, and a page within a result is a body.
#[test]
fn deep_and_long_values_become_digests() {
    let mut deep = json!("end");
    for _ in 0..1000 {
        deep = json!([deep]);
    }
    let stored = redact_packet(&json!({ "deep": deep, "long": "word ".repeat(10_000) }));
    assert!(stored.pointer("/long/sha256").is_some());
    assert!(stored.to_string().len() < 2000);
}

/// LC-K37: however many documents there are, what is stored has room.
#[test]
fn large_packets_are_stored_in_little() {
    let sources = |count: usize| -> Value {
        let source = |number| {
            let id = format!("src_{number}");
            let content = json!({ "source_id": id, "title": "Harbour", "markdown": "body" });
            json!({ "doc_id": id, "kind": "collection.source.v1", "content": content })
        };
        let documents: Vec<Value> = (0..count).map(source).collect();
        json!({ "id": "req-1", "context": { "documents": documents } })
    };
    let few = sources(3);
    assert_eq!(redact_packet_within(&few, 4_000), redact_packet(&few));
    let names = redact_packet_within(&few, 200);
    assert_eq!(
        names,
        json!({ "id": "req-1", "context": { "documents": ["src_0", "src_1", "src_2"] } })
    );
    let many = redact_packet_within(&sources(1_000), 4_000);
    assert!(many.get("sha256").is_some(), "{many}");
    assert!(many.to_string().len() <= 4_000);
}

/// LC-K34: texts on which a careless reader would look at the whole rest from every word. Each
/// takes milliseconds, and minutes when time grows with the square.
#[test]
fn hostile_texts_take_linear_time() {
    for unit in [
        "authorization:",
        "authorization: ",
        "cookie:",
        "cookie: a",
        "token:",
        "token=",
        "password: \"",
        "password:'",
        "secret",
        "bearer ",
        "sk-",
        "eyJ-",
        "eyJaaaaaaaaaa-",
        "eyJ-eyJaaaaaaaaaa.",
        "eyJ.",
        "eyJaaaaaaaaaa.",
        "eyJaaaaaaaaaa.eyJaaaaaaaaaa.",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nabc\n",
        "-",
        "a-",
        "http://",
        "http://a?b=http%3A%2F%2F",
        "https://a/;b;",
        "é",
    ] {
        let text = unit.repeat(500_000 / unit.len());
        assert!(redact_text(&text).len() <= text.len() * 4, "{unit}");
        let url = format!("https://example.com/{text}?{text}&{text}#{text}");
        let _ = redact_url(&url);
    }
}

const PIECES: &[&str] = &[
    "token",
    "password",
    "Authorization",
    "Cookie",
    "Bearer",
    ":",
    "=",
    " ",
    "\"",
    "'",
    "\n",
    "-",
    "_",
    "a",
    "B",
    "7",
    "sk-",
    "eyJ",
    "ghp_",
    "AKIA",
    "abcdefghij0123456789",
    "ABCDEFGHIJ012345",
    "https://",
    "user:pw@",
    "example.com",
    "?",
    "&",
    "#",
    "/",
    "é",
    "漢",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "-----END ",
    "[redacted]",
    ";",
    "%",
];

fn hostile() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..30).prop_map(|pieces| pieces.concat())
}

/// LC-K34: a scheme whose name tells of secrets is no setting.
#[test]
fn what_was_taken_out_of_an_address_is_not_taken_out_again() {
    let once = redact_text("-https://tokenhttps://user:pw@host").into_owned();
    assert_eq!(once, "-https://tokenhttps://[redacted]@host");
    assert_eq!(redact_text(&once), once);
}

/// LC-K33: only the slash at the end of a path is left out.
#[test]
fn a_slash_at_the_end_of_a_query_stays() {
    for (written, normal) in [
        ("https://example.com/?a=/", "https://example.com/?a=/"),
        ("https://example.com/?/& token", "https://example.com/?%20token&/"),
        ("https://example.com/b/?a=/", "https://example.com/b?a=/"),
        ("https://example.com/", "https://example.com"),
    ] {
        assert_eq!(normalise_url(written).unwrap(), normal);
        assert_eq!(normalise_url(normal).unwrap(), normal);
    }
}

proptest! {
    /// LC-K34: a secret stays out wherever it stands, and the words around it stay in.
    #[test]
    fn secrets_go_and_words_stay(before in "[a-z ]{0,20}", after in "[a-z ]{0,20}") {
        for secret in [
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "AKIAIOSFODNN7EXAMPLE",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        ] {
            let text = format!("{before} {secret} {after}");
            prop_assert_eq!(redact_text(&text).into_owned(), format!("{before} [redacted] {after}"));
        }
    }

    /// LC-K34
    #[test]
    fn texts_are_redacted_once_and_for_all(text in hostile()) {
        let once = redact_text(&text).into_owned();
        let twice = redact_text(&once).into_owned();
        prop_assert_eq!(&redact_text(&twice).into_owned(), &twice);
    }

    /// LC-K30, LC-K32
    #[test]
    fn addresses_are_redacted_once_and_for_all(tail in hostile()) {
        if let Some(redacted) = redact_url(&format!("https://example.com/{tail}")) {
            let again = redact_url(&redacted.url).unwrap();
            prop_assert_eq!(&again.url, &redacted.url);
            prop_assert!(!redacted.url.contains('#') && !redacted.url.contains('@') || tail.contains('@'));
            let normal = normalise_url(&redacted.url).unwrap();
            prop_assert_eq!(normalise_url(&normal).unwrap(), normal);
        }
    }

    #[test]
    fn any_text_at_all(text in any::<String>()) {
        let _ = redact_text(&text);
        let _ = redact_url(&text);
        let _ = redact_packet(&Value::from(text));
    }
}
