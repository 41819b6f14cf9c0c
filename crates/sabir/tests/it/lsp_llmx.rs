//! The language server on LLMX texts; the protocol itself is tested with AXON.

use serde_json::{Value, json};

use crate::editor::{Editor, LLMX, at, range};

const BATCHES: &str = "\
HEADER:{f:Lead,t:ALL,s:1,b:B1}
ACT:{i:A1,op:read,tgt:\"p:a.rs\"}
ACT:{i:A2,op:read,tgt:\"p:b.rs\"}
HEADER:{f:Scout,t:Lead,s:1,b:B1}
OBS:{ai:A2,s:OK,c:{}}
OBS:{ai:A1,s:ERR,e:\"é𝄞\"}
HEADER:{f:Lead,t:ALL,s:2,b:B2}
ACT:{i:A1,op:shell,tgt:\"make\"}
HEADER:{f:Scout,t:Lead,s:2,b:B2}
OBS:{ai:A1,s:OK,c:{}}
OBS:{ai:A9,s:OK,c:{}}
";

#[test]
fn findings_follow_every_edit_in_utf16() {
    let text = "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"é𝄞\" pr:1}\n";
    let (mut editor, found) = Editor::open(LLMX, text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "LX107");
    assert_eq!(found[0]["source"], "sabir");
    // Seven, a quote, one unit, two units, a quote, a blank.
    assert_eq!(found[0]["range"], range((1, 13), (1, 14)));
    // Two edits in one notice, the second in the text that the first one left.
    let edits = json!([
        { "range": range((1, 12), (1, 13)), "text": "," },
        { "range": range((1, 16), (1, 17)), "text": "3,x_due:\"𝄞" },
    ]);
    let found = editor.change(2, edits);
    assert!(found.iter().any(|found| found["code"] == "LX001"), "{found:?}");
    let end = json!([{ "range": range((1, 27), (1, 27)), "text": "\"" }]);
    assert_eq!(editor.change(3, end), [] as [Value; 0]);
    let all = json!([{ "text": "RES:{o:\"ACK\"}" }]);
    assert_eq!(editor.change(4, all)[0]["code"], "LX102");
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": LLMX.uri } }));
    assert_eq!(editor.diagnostics(), [] as [Value; 0]);
}

#[test]
fn both_notations_are_open_at_once() {
    let (mut editor, _) = Editor::open(LLMX, "HEADER:{f:a,t:b,s:1}\nRES:{o:\"ACK\"}\n");
    let found = editor.open_text(crate::editor::AXON, "HEADER:{f:a,t:b,s:1}\n");
    assert!(found[0]["code"].as_str().unwrap().starts_with("AX"), "{found:?}");
    assert!(editor.hover(0, 2).is_empty());
    let symbols = editor.ask("textDocument/documentSymbol", at(LLMX, 0, 0));
    assert_eq!(symbols[0]["name"], "a > b");
}

#[test]
fn formatting_is_one_edit_or_none() {
    let (mut editor, _) = Editor::open(LLMX, "HEADER: {f:a, t:b, s:1}\r\nRES:{o:\"é𝄞\"}");
    let new_text = "HEADER:{f:a,t:b,s:1}\nRES:{o:\"é𝄞\"}\n";
    let whole = json!([{ "range": range((0, 0), (1, 13)), "newText": new_text }]);
    assert_eq!(editor.format(), whole);
    editor.change(2, json!([{ "text": new_text }]));
    assert_eq!(editor.format(), json!([]));
    editor.change(3, json!([{ "text": "HEADER:{f:a" }]));
    assert_eq!(editor.format(), Value::Null, "it has errors");
}

#[test]
fn fixes_are_offered_one_by_one() {
    let text = "HEADER:{f:a,t:b,s:1}\nREQ:{o:fix it,pr:1 d:[]}\n";
    let (mut editor, _) = Editor::open(LLMX, text);
    let quick = editor.actions(range((1, 9), (1, 9)), json!(["quickfix"]));
    assert_eq!(quick.len(), 1);
    assert_eq!(quick[0]["diagnostics"][0]["code"], "LX007");
    let edits = &quick[0]["edit"]["changes"][LLMX.uri];
    assert_eq!(*edits, json!([{ "range": range((1, 7), (1, 13)), "newText": "\"fix it\"" }]));
    assert_eq!(editor.actions(range((0, 0), (1, 99)), json!(["quickfix"])).len(), 2);
    let everything = editor.actions(range((0, 0), (1, 99)), json!(["source"]));
    assert!(everything.is_empty(), "a fix may delete text, so none happens on saving");
}

#[test]
fn hover_reads_the_table_aloud() {
    let text = "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"pr\",pr:1,x_team:\"t\"}\nPLAN:[(i:1,t:\"x\",s:P)]\nACT:{op:read,tgt:\"a\",args:{op:1}}\nX_LOG:{pr:1}\n";
    let (mut editor, _) = Editor::open(LLMX, text);
    let mut hover = |line, character| editor.hover(line, character);
    assert!(hover(1, 0).contains("**REQ**: request"), "a type");
    assert!(hover(1, 3).contains("`pr`: priority, required"), "its fields");
    let priority = hover(1, 13);
    assert!(priority.contains("**pr**: priority"), "{priority}");
    assert!(priority.contains("a whole number from 1 to 5. Required."), "{priority}");
    assert!(hover(1, 18).contains("an extension field"), "an extension field");
    assert!(hover(2, 18).contains("P pending"), "a key of a step");
    assert!(hover(2, 20).contains("P pending"), "a word that is one of a few");
    assert!(hover(3, 9).contains("`search`"), "an operation");
    assert!(hover(4, 2).contains("an extension"), "an extension");
    assert_eq!(hover(1, 9), "", "text is text");
    assert_eq!(hover(3, 28), "", "a key of the arguments is the sender's");
    assert_eq!(hover(4, 8), "", "a key of an extension is the sender's");
    let (mut editor, _) = Editor::open(LLMX, BATCHES);
    assert!(editor.hover(9, 9).contains("make"), "the action that is answered");
}

#[test]
fn completion_knows_what_fits() {
    let text = "HEADER:{f:Lead,t:Scout,s:1,b:B1}\nACT:{i:A1,op:read,tgt:\"x\"}\nHEADER:{f:Lead,t:,}\n\nREQ:{pr:1,}\nPLAN:[(i:1,s:)]\nOBS:{ai:,s:}\nACT:{op:}\n";
    let (mut editor, _) = Editor::open(LLMX, text);
    let mut complete = |line, character| editor.complete(line, character);
    assert_eq!(complete(3, 0)[..3], ["HEADER", "CTX", "REQ"]);
    assert_eq!(complete(3, 0).len(), 10);
    assert_eq!(complete(2, 17), ["ALL", "Lead", "Scout"]);
    assert_eq!(complete(2, 18), ["s", "b"]);
    assert_eq!(complete(4, 10), ["o", "d", "exp"]);
    assert_eq!(complete(5, 13), ["P", "I", "C", "X"]);
    assert_eq!(complete(5, 11), ["t"], "before a key, another one");
    assert_eq!(complete(5, 12), ["t", "s"], "the key at the cursor counts as missing");
    assert_eq!(complete(6, 8), ["A1"]);
    assert_eq!(complete(6, 11), ["OK", "ERR"]);
    assert!(complete(7, 8).contains(&"spawn".to_owned()));
    assert_eq!(complete(1, 25), [] as [&str; 0], "inside a string");
}

#[test]
fn a_block_comes_with_the_fields_that_it_needs() {
    let snippets = json!({
        "textDocument": { "completion": { "completionItem": { "snippetSupport": true } } },
    });
    let (mut editor, capabilities) = Editor::start(snippets);
    let triggers = capabilities["completionProvider"]["triggerCharacters"].as_array().unwrap();
    assert!(triggers.contains(&json!("{")));
    editor.open_text(LLMX, "R\n");
    let items = editor.ask_at("textDocument/completion", 0, 1);
    let new_text = |label: &str| {
        let item = items.as_array().unwrap().iter().find(|item| item["label"] == label).unwrap();
        assert_eq!(item["insertTextFormat"], 2);
        assert_eq!(item["textEdit"]["range"], range((0, 0), (0, 1)));
        item["textEdit"]["newText"].as_str().unwrap().to_owned()
    };
    assert_eq!(new_text("REQ"), "REQ:{o:\"${1:objective}\",pr:${2:1}}$0");
    assert_eq!(new_text("PLAN"), "PLAN:[(i:${1:1},t:\"${2:task}\",s:${3|P,I,C,X|})]$0");
    assert_eq!(new_text("OBS"), "OBS:{s:${1|OK,ERR|},c:{$2}}$0");
    assert_eq!(new_text("BLK"), "BLK:{w:\"${1:why}\",a:[\"${2:alternatives}\"]}$0");
    // A character that means nothing in this notation asks for nothing.
    let mut params = at(LLMX, 0, 1);
    params["context"] = json!({ "triggerKind": 2, "triggerCharacter": "@" });
    assert_eq!(editor.ask("textDocument/completion", params), json!([]));
}

#[test]
fn an_observation_leads_to_its_action_and_back() {
    let (mut editor, _) = Editor::open(LLMX, BATCHES);
    let place = |start, end| json!({ "uri": LLMX.uri, "range": range(start, end) });
    let define = |editor: &mut Editor, line| editor.ask_at("textDocument/definition", line, 9);
    assert_eq!(define(&mut editor, 4), place((2, 0), (2, 31)));
    assert_eq!(define(&mut editor, 5), place((1, 0), (1, 31)), "the one of its batch");
    assert_eq!(define(&mut editor, 9), place((7, 0), (7, 30)), "the one of its batch");
    assert_eq!(define(&mut editor, 10), Value::Null, "nobody has this id");
    assert_eq!(define(&mut editor, 1), Value::Null, "it is the action");
    let mut refer = |line, character| {
        let mut params = at(LLMX, line, character);
        params["context"] = json!({ "includeDeclaration": true });
        editor.ask("textDocument/references", params)
    };
    let first = json!([place((1, 7), (1, 9)), place((5, 8), (5, 10))]);
    assert_eq!(refer(1, 8), first);
    assert_eq!(refer(5, 8), first, "from the observation as well");
    assert_eq!(refer(7, 8), json!([place((7, 7), (7, 9)), place((9, 8), (9, 10))]));
    assert_eq!(refer(10, 9), json!([place((10, 8), (10, 10))]));
    assert_eq!(refer(0, 9), Value::Null);
}

#[test]
fn the_outline_has_messages_and_their_blocks() {
    let (mut editor, _) = Editor::open(LLMX, BATCHES);
    let outline = editor.ask("textDocument/documentSymbol", at(LLMX, 0, 0));
    let mut lines = Vec::new();
    for message in outline.as_array().unwrap() {
        let show = |symbol: &Value| format!("{} {}", symbol["name"], symbol["detail"]);
        lines.push(show(message));
        let blocks = message["children"].as_array().unwrap();
        lines.extend(blocks.iter().map(|block| format!("- {}", show(block))));
    }
    let expected = [
        r#""Lead > ALL" "1""#,
        r#"- "ACT" "A1 read""#,
        r#"- "ACT" "A2 read""#,
        r#""Scout > Lead" "1""#,
        r#"- "OBS" "A2 OK""#,
        r#"- "OBS" "A1 ERR""#,
        r#""Lead > ALL" "2""#,
        r#"- "ACT" "A1 shell""#,
        r#""Scout > Lead" "2""#,
        r#"- "OBS" "A1 OK""#,
        r#"- "OBS" "A9 OK""#,
    ];
    assert_eq!(lines, expected);
    assert_eq!(outline[1]["range"], range((3, 0), (5, 25)));
    assert_eq!(outline[1]["selectionRange"], range((3, 0), (3, 6)));
}

#[test]
fn words_have_their_colours() {
    let text = "HEADER:{f:a,t:[b,c],s:1}\nACT:{i:A1,op:read,tgt:\"é\n𝄞\",args:{op:go,n:null}}\nPLAN:[(i:S,t:x,s:P)]\nX_LOG:{k:true}\n";
    let (mut editor, _) = Editor::open(LLMX, text);
    let expected = [
        "HEADER keyword",
        "f property",
        "a class",
        "t property",
        "b class",
        "c class",
        "s property",
        "1 number",
        "ACT keyword",
        "i property",
        "A1 variable",
        "op property",
        "read enumMember",
        "tgt property",
        "\"é string",
        "𝄞\" string",
        "args property",
        "op property",
        "go string",
        "n property",
        "null enumMember",
        "PLAN keyword",
        "i property",
        "S variable",
        "t property",
        "x string",
        "s property",
        "P enumMember",
        "X_LOG decorator",
        "k property",
        "true enumMember",
    ];
    assert_eq!(editor.colours(text), expected);
}
