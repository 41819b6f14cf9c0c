//! The language server, spoken to as an editor speaks to it: the protocol, and AXON.

use serde_json::{Value, json};

use crate::editor::{AXON, Editor, at, range};

#[test]
fn it_starts_and_ends_as_the_protocol_says() {
    let (mut editor, capabilities) = Editor::start(json!({}));
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    assert_eq!(capabilities["hoverProvider"], true);
    assert_eq!(capabilities["semanticTokensProvider"]["full"], true);
    assert_eq!(editor.ask("shutdown", Value::Null), Value::Null);
    let refused = editor.request("textDocument/hover", at(AXON, 0, 0));
    assert_eq!(refused["error"]["code"], -32600);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), 0);
}

#[test]
fn leaving_without_a_shutdown_is_exit_code_one() {
    let (mut editor, _) = Editor::start(json!({}));
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), 1);
    let (editor, _) = Editor::start(json!({}));
    assert_eq!(editor.exit_code(), 1, "the stream just ended");
    assert_eq!(Editor::connect().exit_code(), 1);
}

#[test]
fn nonsense_is_answered_or_passed_over() {
    let mut editor = Editor::connect();
    let early = editor.request("textDocument/hover", at(AXON, 0, 0));
    assert_eq!(early["error"]["code"], -32002);
    editor.notify("textDocument/didOpen", json!({}));
    editor.ask("initialize", json!({ "capabilities": "all of them" }));
    assert_eq!(editor.request("initialize", json!({}))["error"]["code"], -32600);
    assert_eq!(editor.request("sabir/nonsense", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request("textDocument/hover", json!({}))["error"]["code"], -32602);
    for (body, code) in [("{,}", -32700), ("", -32700), ("[]", -32600), ("{\"id\":1.5}", -32600)] {
        editor.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let answer = editor.receive();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["id"], Value::Null);
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    editor.send_bytes(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes());
    assert!(editor.receive()["error"]["code"].is_number());
    editor.notify("sabir/nonsense", json!({}));
    editor.notify("textDocument/didChange", json!({ "textDocument": 5 }));
    editor.notify(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": "file:///other.axon", "version": 2 },
            "contentChanges": [{ "text": "" }],
        }),
    );
    assert_eq!(editor.ask_at("textDocument/hover", 0, 0), Value::Null, "no such text");
    editor.ask("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), 0);
}

#[test]
fn a_broken_frame_ends_the_session_without_a_panic() {
    for bytes in [
        &b"Content-Length: 99999999999999999\r\n\r\n{}"[..],
        b"Content-Length: -1\r\n\r\n{}",
        b"\xff\xff\xff\xff\n",
    ] {
        let (mut editor, _) = Editor::start(json!({}));
        editor.send_bytes(bytes);
        assert_eq!(editor.exit_code(), 1);
    }
}

#[test]
fn findings_come_and_go_with_the_text() {
    let (mut editor, found) = Editor::open(AXON, "INF(@a->@b): x\n");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["code"], "AX105");
    assert_eq!(found[0]["severity"], 1);
    assert_eq!(found[0]["source"], "sabir");
    assert_eq!(found[0]["range"], range((0, 6), (0, 8)));
    // One part of the text.
    let part = json!([{ "range": range((0, 6), (0, 8)), "text": ">" }]);
    assert_eq!(editor.change(2, part), [] as [Value; 0]);
    // The whole text.
    assert_eq!(editor.change(3, json!([{ "text": "INF(@a>@b) x" }]))[0]["code"], "AX107");
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": AXON.uri } }));
    assert_eq!(editor.diagnostics(), [] as [Value; 0]);
}

#[test]
fn a_text_in_another_language_is_left_alone() {
    let (mut editor, _) = Editor::start(json!({}));
    let item =
        json!({ "uri": "file:///main.rs", "languageId": "rust", "version": 1, "text": "fn" });
    editor.notify("textDocument/didOpen", json!({ "textDocument": item }));
    // The next thing to arrive is the answer, not a diagnostic.
    assert_eq!(editor.ask_at("textDocument/hover", 0, 0), Value::Null);
}

#[test]
fn positions_are_counted_as_agreed() {
    let text = "INF(@a>@b): [\"é𝄞\", x{a:1}]\n";
    let (_, found) = Editor::open(AXON, text);
    assert_eq!(found[0]["range"]["start"], json!({ "line": 0, "character": 21 }));

    let encodings = json!({ "general": { "positionEncodings": ["utf-16", "utf-8"] } });
    let (mut editor, capabilities) = Editor::start(encodings);
    assert_eq!(capabilities["positionEncoding"], "utf-8");
    let found = editor.open_text(AXON, text);
    assert_eq!(found[0]["range"]["start"]["character"], text.find('{').unwrap());
    // A change behind the same characters lands where it was meant.
    let at = text.find("{a").unwrap() as u32;
    let x = json!([{ "range": range((0, at - 1), (0, at)), "text": "#x" }]);
    assert_eq!(editor.change(2, x), [] as [Value; 0]);
}

#[test]
fn hover_explains_words() {
    let text = "[id:\"m1\", ts:1] QRY(@a>@b): wait(5min) <- 3%\n[id:\"m2\",re:\"m1\"] X.t.BID(@b>*): {ts:1}\n";
    let (mut editor, _) = Editor::open(AXON, text);
    let mut hover = |line, character| editor.hover(line, character);
    assert!(hover(0, 17).contains("query"), "a performative");
    assert!(hover(0, 19).contains("query"), "the cursor behind a word");
    assert!(hover(0, 10).contains("tier 2: required"), "a metadata key");
    assert!(hover(0, 35).contains("a unit of time"), "a unit");
    assert!(hover(0, 40).contains("because of"), "an operator");
    assert!(hover(1, 14).contains("QRY(@a>@b)"), "the message that is answered");
    assert!(hover(1, 20).contains("extension"), "an extension");
    assert_eq!(hover(1, 34), "", "a key of a record is no metadata");
}

#[test]
fn completion_knows_what_fits() {
    let text = "[id:\"m1\",] INF(@planner>@worker): #done{in:5} & $task\n\nQRY(@";
    let (mut editor, _) = Editor::open(AXON, text);
    let mut complete = |line, character| editor.complete(line, character);
    assert_eq!(complete(1, 0).len(), 20);
    assert!(complete(1, 0).contains(&"REQ".to_owned()));
    assert!(complete(0, 9).contains(&"ctx".to_owned()));
    assert_eq!(complete(2, 5), ["@planner", "@worker"]);
    assert!(complete(0, 44).contains(&"ms".to_owned()));
    assert_eq!(complete(0, 38), [] as [&str; 0], "its own name is no news");
}

#[test]
fn fixes_are_offered_as_actions() {
    let (mut editor, _) = Editor::open(AXON, "INF(@a->@b): x\nINF(@a>@b): y{b:1}\n");
    let mut actions = |range: Value, only: Value| editor.actions(range, only);
    let quick = actions(range((0, 7), (0, 7)), json!(["quickfix"]));
    assert_eq!(quick.len(), 1);
    assert_eq!(quick[0]["diagnostics"][0]["code"], "AX105");
    let edits = &quick[0]["edit"]["changes"][AXON.uri];
    assert_eq!(*edits, json!([{ "range": range((0, 6), (0, 8)), "newText": ">" }]));
    let everything = actions(range((0, 0), (0, 0)), json!(["source"]));
    assert_eq!(everything.len(), 1);
    assert_eq!(everything[0]["kind"], "source.fixAll");
    let repaired = &everything[0]["edit"]["changes"][AXON.uri][0]["newText"];
    assert_eq!(*repaired, "INF(@a>@b): x\nINF(@a>@b): #y{b:1}\n");
    assert_eq!(actions(range((1, 13), (1, 13)), Value::Null).len(), 2);
    assert_eq!(actions(range((0, 0), (1, 99)), json!(["refactor"])).len(), 0);
}

#[test]
fn formatting_is_one_edit_or_none() {
    let (mut editor, _) = Editor::open(AXON, "INF( @a>@b ): \"é𝄞\"");
    let new_text = "INF(@a>@b): \"é𝄞\"\n";
    let whole = json!([{ "range": range((0, 0), (0, 19)), "newText": new_text }]);
    assert_eq!(editor.format(), whole);
    editor.change(2, json!([{ "text": new_text }]));
    assert_eq!(editor.format(), json!([]));
    editor.change(3, json!([{ "text": "INF(@a>@b:" }]));
    assert_eq!(editor.format(), Value::Null, "it has errors");
}

#[test]
fn a_reply_leads_to_what_it_answers() {
    let text = "[id:\"m1\"] QRY(@a>@b): x\n[id:\"m2\",re:\"m1\"] RPL(@b>@a): y\n[id:\"m3\",re:\"m9\"] RPL(@b>@a): z\n";
    let (mut editor, _) = Editor::open(AXON, text);
    let found = editor.ask_at("textDocument/definition", 1, 14);
    assert_eq!(found, json!({ "uri": AXON.uri, "range": range((0, 0), (0, 23)) }));
    assert_eq!(editor.ask_at("textDocument/definition", 2, 14), Value::Null);
    assert_eq!(editor.ask_at("textDocument/definition", 0, 6), Value::Null);
    let mut refer = |declaration: bool| {
        let mut params = at(AXON, 0, 6);
        params["context"] = json!({ "includeDeclaration": declaration });
        editor.ask("textDocument/references", params)
    };
    let given = json!({ "uri": AXON.uri, "range": range((0, 4), (0, 8)) });
    let used = json!({ "uri": AXON.uri, "range": range((1, 12), (1, 16)) });
    assert_eq!(refer(false), json!([used]));
    assert_eq!(refer(true), json!([given, used]));
    let outline = editor.ask("textDocument/documentSymbol", at(AXON, 0, 0));
    let names: Vec<_> = outline.as_array().unwrap().iter().map(|symbol| &symbol["name"]).collect();
    assert_eq!(names, ["QRY @a > @b", "RPL @b > @a", "RPL @b > @a"]);
    assert_eq!(outline[1]["detail"], "m2");
    assert_eq!(outline[1]["selectionRange"], range((1, 18), (1, 21)));
}

#[test]
fn tokens_have_their_colours() {
    let text = "(* é\n𝄞 *)\n[id:\"m1\"] INF(@a>*): f(k:$v) -> #t & ~5s | T\n";
    let (mut editor, _) = Editor::open(AXON, text);
    let expected = [
        "(* é comment",
        "𝄞 *) comment",
        "id property",
        "\"m1\" string",
        "INF keyword",
        "@a class",
        "> operator",
        "* operator",
        "f function",
        "k property",
        "$v variable",
        "-> operator",
        "#t decorator",
        "& operator",
        "~ operator",
        "5s number",
        "| operator",
        "T enumMember",
    ];
    assert_eq!(editor.colours(text), expected);
}
