//! The JSON encoding: its laws over random documents, its forms, its errors, its schema.

use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;
use sabir_llmx::json::{decode, encode, encoding, schema};
use sabir_llmx::{check_messages, parse, print, same};
use serde_json::{Value, json};

use crate::generate::{config, document, token_soup};

fn encoded(text: &str) -> String {
    let parsed = parse(text);
    assert!(!parsed.has_errors(), "{text}\n{:?}", parsed.diagnostics);
    encode(&parsed.tree).unwrap()
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema()).unwrap()
}

fn assert_laws(text: &str) {
    let json = encoded(text);
    let back = decode(&json).unwrap_or_else(|error| panic!("{error}\n{text}\n{json}"));
    let before = parse(text);
    assert!(same(&parse(&back).tree, &before.tree), "{text}\n{json}\n{back}");
    assert_eq!(encoded(&back), json);
    // The decoder writes what the printer writes.
    assert_eq!(print(&parse(&back).tree), back);
    let encoding = encoding(&before.tree).unwrap();
    assert_eq!(encoding.to_string(), json);
    let indented = format!("{encoding:#}");
    assert_eq!(decode(&indented).unwrap(), back);
    if let Ok(value) = serde_json::from_str::<Value>(&json) {
        let compact = |text: &str| text.replace(|c: char| c.is_ascii_whitespace(), "");
        assert_eq!(serde_json::from_str::<Value>(&indented).unwrap(), value);
        assert_eq!(compact(&indented), compact(&json));
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn llmx_survives_json(text in document()) {
        assert_laws(&text);
    }

    #[test]
    fn llmx_that_nobody_looked_at_survives_json(text in token_soup()) {
        let parsed = parse(&text);
        if parsed.has_errors() {
            // What is encoded all the same comes back.
            if let Ok(json) = encode(&parsed.tree) {
                let back = decode(&json).unwrap_or_else(|error| panic!("{error}\n{text}\n{json}"));
                assert!(same(&parse(&back).tree, &parsed.tree), "{text}\n{json}\n{back}");
            }
        } else {
            assert_laws(&text);
        }
    }

    #[test]
    fn decoding_is_total(text in "[\\[\\]{}:,\"a-d0-9 \\\\$]{0,40}") {
        let _ = decode(&text);
    }

    /// The reader must take what `serde_json` takes.
    #[test]
    fn decoding_reads_all_strings(value in ".*") {
        let json = json!({"header": {"f": value, "x_v": value}});
        let text = decode(&json.to_string()).unwrap();
        let again: Value = serde_json::from_str(&encoded(&text)).unwrap();
        let header = &again["messages"][0]["header"];
        assert_eq!(header["f"].as_str(), Some(value.as_str()));
        assert_eq!(header["x_v"].as_str(), Some(value.as_str()));
    }

    #[test]
    fn every_encoding_of_a_valid_document_fits_the_schema(text in document()) {
        assert_fits(&text);
    }
}

/// Whether `check` finds no error, and so the document fits the schema.
fn assert_fits(text: &str) -> bool {
    let checked = check_messages(text);
    if checked.has_errors() {
        return false;
    }
    let json = encode(&checked.tree).unwrap();
    // A number past what the reader of this test holds is none of the schema's business.
    let Ok(value) = serde_json::from_str(&json) else { return true };
    if let Err(error) = validator().validate(&value) {
        panic!("{error} at {}\n{text}\n{json}", error.instance_path());
    }
    true
}

#[test]
fn the_committed_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/schema/llmx.schema.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    expect_file![path].assert_eq(&text);
}

#[test]
fn a_message_of_every_block() {
    let text = r#"HEADER:{f:Claude,t:Gemini,s:1,b:B1}
CTX:{p:myapp,f:["src/api.ts"],st:{phase:"P1",left:[1.50,true]},issue:"PROJ-123"}
REQ:{o:"fix it",pr:2,d:["PROJ-100"],exp:["SECURITY-EXPERT"],x_team:frontend}
PLAN:[(i:1,t:"go",s:C),(i:b,t:"on",s:I)]
ACT:{i:A1,op:edit,tgt:"p:src/auth.ts#L42",args:{action:"add"}}
OBS:{ai:A1,s:OK,c:{lines:45}}
OBS:{ai:A2,s:ERR,c:{tried:3},e:"file not found"}
BLK:{w:"no key",a:["use mock"],esc:true}
ASK:{q:"which?",o:["JWT","session"],def:"JWT"}
END:{n:"review",t:["npm test"],r:["load"],del:["src/auth.ts"]}
RES:{o:"ACK",msg:"go"}
X_FOO:{Cpu:0.50,words:[a,"b",src/a.ts,(i:1),null]}
ODD:[]
"#;
    assert_laws(text);
    assert!(assert_fits(text));
    let json = format!("{:#}", encoding(&parse(text).tree).unwrap());
    expect![[r#"
        {
          "llmx": 1,
          "messages": [
            {
              "header": {
                "f": "Claude",
                "t": "Gemini",
                "s": 1,
                "b": "B1"
              },
              "blocks": [
                {
                  "CTX": {
                    "p": "myapp",
                    "f": [
                      "src/api.ts"
                    ],
                    "st": {
                      "phase": "P1",
                      "left": [
                        1.50,
                        true
                      ]
                    },
                    "issue": "PROJ-123"
                  }
                },
                {
                  "REQ": {
                    "o": "fix it",
                    "pr": 2,
                    "d": [
                      "PROJ-100"
                    ],
                    "exp": [
                      "SECURITY-EXPERT"
                    ],
                    "x_team": {
                      "$word": "frontend"
                    }
                  }
                },
                {
                  "PLAN": [
                    {
                      "i": 1,
                      "t": "go",
                      "s": "C"
                    },
                    {
                      "i": "b",
                      "t": "on",
                      "s": "I"
                    }
                  ]
                },
                {
                  "ACT": {
                    "i": "A1",
                    "op": "edit",
                    "tgt": "p:src/auth.ts#L42",
                    "args": {
                      "action": "add"
                    }
                  }
                },
                {
                  "OBS": {
                    "ai": "A1",
                    "s": "OK",
                    "c": {
                      "lines": 45
                    }
                  }
                },
                {
                  "OBS": {
                    "ai": "A2",
                    "s": "ERR",
                    "x_c": {
                      "tried": 3
                    },
                    "e": "file not found"
                  }
                },
                {
                  "BLK": {
                    "w": "no key",
                    "a": [
                      "use mock"
                    ],
                    "esc": true
                  }
                },
                {
                  "ASK": {
                    "q": "which?",
                    "o": [
                      "JWT",
                      "session"
                    ],
                    "def": "JWT"
                  }
                },
                {
                  "END": {
                    "n": "review",
                    "t": [
                      "npm test"
                    ],
                    "r": [
                      "load"
                    ],
                    "del": [
                      "src/auth.ts"
                    ]
                  }
                },
                {
                  "RES": {
                    "o": "ACK",
                    "msg": "go"
                  }
                },
                {
                  "X_FOO": {
                    "Cpu": 0.50,
                    "words": [
                      {
                        "$word": "a"
                      },
                      "b",
                      {
                        "$run": "src/a.ts"
                      },
                      {
                        "$tuple": {
                          "i": 1
                        }
                      },
                      null
                    ]
                  }
                },
                {
                  "ODD": []
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&json);
}

#[test]
fn forms() {
    let body = |text: &str| {
        let text = format!("HEADER:{{f:a,t:b,s:1}}\n{text}");
        assert_laws(&text);
        let json = encoded(&text);
        let start = json.find("\"blocks\":[").unwrap() + "\"blocks\":[".len();
        json[start..json.len() - "]}]}".len()].to_owned()
    };
    for (text, json) in [
        ("RES:{o:ACK}", r#"{"RES":{"o":"ACK"}}"#),
        (r#"RES:{"o":"\u0041CK", MSG: null}"#, r#"{"RES":{"o":"ACK"}}"#),
        ("CTX:{p:a,st:(N:1,m:[null,2])}", r#"{"CTX":{"p":"a","st":{"n":1,"m":[2]}}}"#),
        ("CTX:{p:a,f:[src/a.ts]}", r#"{"CTX":{"p":"a","f":["src/a.ts"]}}"#),
        ("PLAN:[{i:1,t:go,s:C}]", r#"{"PLAN":[{"i":1,"t":"go","s":"C"}]}"#),
        ("OBS:{s:ERR,c:{},e:no}", r#"{"OBS":{"s":"ERR","e":"no"}}"#),
        ("OBS:{s:ERR,c:{a:b},e:no}", r#"{"OBS":{"s":"ERR","x_c":{"a":"b"},"e":"no"}}"#),
        (
            "REQ:{n:[1.50,1e3,-0,123456789012345678901]}",
            r#"{"REQ":{"n":[1.50,1e3,-0,123456789012345678901]}}"#,
        ),
        (
            "REQ:{x_A:[a,\"a\",a/b,(b:c),null,{K:1}]}",
            r#"{"REQ":{"x_A":[{"$word":"a"},"a",{"$run":"a/b"},{"$tuple":{"b":{"$word":"c"}}},null,{"K":1}]}}"#,
        ),
        ("X_A:{ Key : word }", r#"{"X_A":{"Key":{"$word":"word"}}}"#),
        ("ODD:[1,x]", r#"{"ODD":[1,{"$word":"x"}]}"#),
        ("REQ:[1]", r#"{"REQ":[1]}"#),
    ] {
        assert_eq!(body(text), json, "{text}");
    }
    assert_eq!(encoded(""), r#"{"llmx":1,"messages":[]}"#);
}

#[test]
fn decoding_takes_what_models_write() {
    let message = r#"{"header":{"f":"Claude","t":"ALL","s":1},"blocks":[{"RES":{"o":"ACK"}}]}"#;
    let strict = "HEADER:{f:Claude,t:ALL,s:1}\nRES:{o:\"ACK\"}\n";
    assert_eq!(decode(message).unwrap(), strict);
    assert_eq!(decode(&format!(" [ {message} ] ")).unwrap(), strict);
    let tagged = r#"{"header":{"f":"Claude","t":"ALL","s":1,"b":null},
        "blocks":[{"o":"ACK","type":"RES","MSG":null}]}"#;
    assert_eq!(decode(tagged).unwrap(), strict);
    let tagged = r#"{"header":{"s":1},"blocks":[{"type":"X_A","k":{"$word":"w"},"n":null}]}"#;
    assert_eq!(decode(tagged).unwrap(), "HEADER:{s:1}\nX_A:{k:w,n:null}\n");
    let bare = r#"{"header":{"F":"\ud83d\ude00\u007f","T":["a","b c"]}}"#;
    assert_eq!(decode(bare).unwrap(), "HEADER:{f:\"\u{1f600}\\u007f\",t:[a,\"b c\"]}\n");
}

/// Decodes a message with this block and shows what is wrong with it.
fn check_error(block: &str, expected: &Expect) {
    show_error(&format!(r#"{{"header":{{"s":1}},"blocks":[{block}]}}"#), expected);
}

fn show_error(json: &str, expected: &Expect) {
    let error = decode(json).unwrap_err();
    let help = error.help.as_deref().map(|help| format!("\nhelp: {help}"));
    expected.assert_eq(&format!("{error}{}", help.unwrap_or_default()));
}

#[test]
fn errors_name_the_place_and_the_way_out() {
    check_error("1", &expect!["at /blocks/0: expected an object, found a number"]);
    check_error(
        "{}",
        &expect![[r#"
        at /blocks/0: a block has no type
        help: write {"REQ":{...}}, with one type for each block"#]],
    );
    check_error(
        r#"{"REQ":{},"RES":{}}"#,
        &expect![[r#"
        at /blocks/0/RES: "RES" is a second type of one block
        help: write {"REQ":{...}}, with one type for each block"#]],
    );
    check_error(
        r#"{"REQ":"fix"}"#,
        &expect![[r#"
        at /blocks/0/REQ: expected the fields of REQ, found a string
        help: a block holds an object, and a PLAN an array of objects"#]],
    );
    check_error(
        r#"{"req":{}}"#,
        &expect![[r#"
        at /blocks/0/req: "req" is not a type of block
        help: write "REQ": types are written in capitals"#]],
    );
    check_error(
        r#"{"type":"re q"}"#,
        &expect![[r#"
        at /blocks/0/type: "re q" is not a type of block
        help: a type is capital letters, digits and `_`: REQ, OBS, X_MINE"#]],
    );
    check_error(
        r#"{"type":"PLAN","steps":[]}"#,
        &expect![[r#"
        at /blocks/0/type: the steps of a PLAN are a list, which has no keys
        help: write {"PLAN":[{"i":1,"t":TASK,"s":"P"}]}"#]],
    );
    check_error(
        r#"{"HEADER":{}}"#,
        &expect![[r#"
        at /blocks/0/HEADER: a HEADER starts a message, and is none of its blocks
        help: write it under "header"; the next HEADER starts the next message"#]],
    );
    check_error(
        r#"{"REQ":{"a b":1}}"#,
        &expect![[r#"
        at /blocks/0/REQ/a b: "a b" is not a key
        help: a key is letters, digits and `_`"#]],
    );
    check_error(
        r#"{"REQ":{"":1}}"#,
        &expect![[r#"
        at /blocks/0/REQ/: "" is not a key
        help: a key is letters, digits and `_`"#]],
    );
    check_error(
        r#"{"REQ":{"o":1,"O":2}}"#,
        &expect![[r#"
        at /blocks/0/REQ/O: the key "o" stands twice, in capitals and not
        help: give every key once"#]],
    );
    check_error(
        r#"{"REQ":{"o":1,"\u006f":2}}"#,
        &expect![[r#"
        at /blocks/0/REQ/o: the key "o" stands twice
        help: give every key once"#]],
    );
    check_error(
        r#"{"REQ":{"o":{"$word":"a"}}}"#,
        &expect![[r#"
        at /blocks/0/REQ/o/$word: "$word" is not a key
        help: forms with `$` belong to extensions; write the text itself as a string"#]],
    );
    check_error(
        r#"{"X_A":{"$tuple":{}}}"#,
        &expect![[r#"
        at /blocks/0/X_A/$tuple: "$tuple" is not a key
        help: an object with one of $word, $run or $tuple has no other key"#]],
    );
    check_error(
        r#"{"X_A":[{"$word":"a","b":1}]}"#,
        &expect![[r#"
        at /blocks/0/X_A/0/$word: "$word" is not a key
        help: an object with one of $word, $run or $tuple has no other key"#]],
    );
    check_error(
        r#"{"X_A":[{"$word":"true"}]}"#,
        &expect![[r#"
        at /blocks/0/X_A/0/$word: "true" is not a word
        help: write the text itself as a string"#]],
    );
    check_error(
        r#"{"X_A":[{"$word":1}]}"#,
        &expect!["at /blocks/0/X_A/0/$word: expected a string, found a number"],
    );
    check_error(
        r#"{"X_A":[{"$run":"a b"}]}"#,
        &expect![[r#"
        at /blocks/0/X_A/0/$run: "a b" cannot stand without quotes here
        help: write the text itself as a string"#]],
    );
    check_error(
        r#"{"X_A":[{"$tuple":{"a":{"$run":"a)/"}}}]}"#,
        &expect![[r#"
        at /blocks/0/X_A/0/$tuple/a/$run: "a)/" cannot stand without quotes here
        help: write the text itself as a string"#]],
    );
    check_error(
        r#"{"X_A":[{"$tuple":[]}]}"#,
        &expect!["at /blocks/0/X_A/0/$tuple: expected an object, found an array"],
    );
    check_error(
        r#"{"REQ":{"o":"\ud800"}}"#,
        &expect![[r#"at /blocks/0/REQ/o: "\ud800" holds an escape that names no character"#]],
    );
    show_error("", &expect!["not JSON: EOF while parsing a value at line 1 column 0"]);
    show_error(
        "3",
        &expect![[r#"
        expected a document, found a number
        help: write {"llmx":1,"messages":[...]}, a list of messages or one message"#]],
    );
    show_error(
        r#"{"llmx":2,"messages":[]}"#,
        &expect![[r#"
        at /llmx: this version of the encoding is 1
        help: write "llmx":1"#]],
    );
    show_error(r#"{"messages":[]}"#, &expect![[r#"a document needs the key "llmx""#]]);
    show_error(
        r#"{"llmx":1,"messages":{}}"#,
        &expect!["at /messages: expected an array, found an object"],
    );
    show_error(
        r#"{"blocks":[]}"#,
        &expect![[r#"
        a message needs the key "header"
        help: write "header":{"f":SENDER,"t":RECEIVER,"s":1}"#]],
    );
    show_error(
        r#"[{"header":{},"block":[]}]"#,
        &expect![[r#"
        at /0/block: the key "block" does not belong here
        help: keys here: header, blocks"#]],
    );
    show_error(
        r#"[{"header":7}]"#,
        &expect![[r#"
        at /0/header: expected the fields of HEADER, found a number
        help: a block holds an object, and a PLAN an array of objects"#]],
    );
    show_error(
        r#"[{"header":{},"blocks":{}}]"#,
        &expect!["at /0/blocks: expected an array, found an object"],
    );
}

/// The pointer leads to the first bracket that is too many.
#[test]
fn depth_is_bounded() {
    for (levels, steps, message) in [
        (128, 131, "brackets go deeper than 128 levels"),
        (5_000, 264, "deeper than 264 levels of JSON"),
    ] {
        let value = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let json = format!(r#"{{"header":{{}},"blocks":[{{"REQ":{{"o":{value}}}}}]}}"#);
        let error = decode(&json).unwrap_err();
        assert_eq!(error.message, message);
        assert_eq!(error.pointer.matches('/').count(), steps);
    }
}

#[test]
fn the_deepest_document_survives() {
    for (open, close) in [("[", "]"), ("{k:", "}"), ("(k:", ")")] {
        for around in ["CTX:{st:", "X_A:{a:", "CTX:{x_a:"] {
            let nested = format!("{}z{}", open.repeat(127), close.repeat(127));
            assert_laws(&format!("HEADER:{{f:a,t:b,s:1}}\n{around}{nested}}}"));
        }
    }
}

#[test]
fn what_the_schema_refuses() {
    let validator = validator();
    let fits = |header: Value, block: Value| {
        let document = json!({"llmx": 1, "messages": [{"header": header, "blocks": [block]}]});
        validator.is_valid(&document)
    };
    let header = || json!({"f": "a", "t": "b", "s": 1});
    assert!(fits(header(), json!({"RES": {"o": "ACK"}})));
    for block in [
        json!({}),
        json!({"REQ": {"o": "x"}}),
        json!({"REQ": {"o": "x", "pr": 6}}),
        json!({"REQ": {"o": "x", "pr": "1"}}),
        json!({"REQ": {"o": 1, "pr": 1}}),
        json!({"REQ": {"o": "x", "pr": 1, "d": "a"}}),
        json!({"REQ": {"o": "x", "pr": 1, "more": null}}),
        json!({"REQ": {"o": "x", "pr": 1, "a b": 1}}),
        json!({"REQ": {"o": "x", "pr": 1, "more": {"$word": "a"}}}),
        json!({"REQ": [1]}),
        json!({"REQ": {"o": "x", "pr": 1}, "RES": {"o": "ACK"}}),
        json!({"PLAN": {}}),
        json!({"PLAN": [1]}),
        json!({"PLAN": [{"i": 1, "t": "x", "s": "Z"}]}),
        json!({"OBS": {"s": "OK"}}),
        json!({"OBS": {"s": "OKAY", "c": {}}}),
        json!({"END": {"n": "x"}}),
        json!({"req": {}}),
        json!({"HEADER": header()}),
        json!({"X_A": "text"}),
        json!({"X_A": {"a b": 1}}),
        json!({"X_A": [{"$word": "a b"}]}),
        json!({"X_A": [{"$word": "true"}]}),
        json!({"X_A": [{"$word": "a", "b": 1}]}),
    ] {
        assert!(!fits(header(), block.clone()), "{block}");
    }
    for header in [
        json!({}),
        json!({"f": "", "t": "b", "s": 1}),
        json!({"f": "a", "t": [], "s": 1}),
        json!({"f": "a", "t": "b", "s": -1}),
        json!({"f": "a", "t": "b", "s": 1.5}),
    ] {
        assert!(!fits(header.clone(), json!({"RES": {"o": "ACK"}})), "{header}");
    }
    for document in
        [json!({}), json!([]), json!({"llmx": 2, "messages": []}), json!({"messages": []})]
    {
        assert!(!validator.is_valid(&document), "{document}");
    }
}

/// The error names the first part that cannot be encoded.
#[test]
fn documents_with_errors_have_no_encoding() {
    let long = |last: &str| {
        let fields: String = (0..40).map(|at| format!("k{at}:1,")).collect();
        format!("HEADER:{{{fields}{last}}}")
    };
    for (text, part) in [
        ("HEADER:{a:1,a:2}", "a:2"),
        ("HEADER:{a:1,A:2}", "A:2"),
        ("HEADER:{a:{b:1,b:2},a:3}", "b:2"),
        ("HEADER:{x_a:{b:1,\"b\":2}}", "\"b\":2"),
        (&long("k7:1"), "k7:1"),
        (&long("K39:1"), "K39:1"),
        ("HEADER:{1}", "1"),
        ("HEADER:{a-b:1}", "a-b:1"),
        ("HEADER:{a:01}", "01"),
        ("HEADER:{x_a:a|b}", "a|b"),
        ("HEADER:{x_a:'b}", "'b"),
        ("HEADER:{a:}", ""),
        ("HEADER:", "HEADER:"),
        ("REQ:{}", "REQ:{}"),
        ("HEADER:{}\nhello", "hello"),
        ("hello", "hello"),
    ] {
        let parsed = parse(text);
        assert!(parsed.has_errors(), "{text}");
        let error = encode(&parsed.tree).unwrap_err();
        assert_eq!(&text[error.span.range()], part, "{text}");
        assert_eq!(encoding(&parsed.tree).unwrap_err(), error, "{text}");
    }
}
