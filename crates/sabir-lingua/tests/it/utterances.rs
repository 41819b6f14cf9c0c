//! Messages of a record: every form says the same, and each but English is taken back.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sabir_axon::{Rules, Tier};
use sabir_base::Severity;
use sabir_lingua::tokens::Tokenizer;
use sabir_lingua::{Act, Content, Form, Message, Utterance, hear, utter};

use crate::axon_documents;

fn message(act: Act, content: &str) -> Message {
    Message {
        id: "node/12".to_owned(),
        at_ms: 1_794_865_623_120,
        ctx: "s1".to_owned(),
        of: "1".to_owned(),
        act,
        from: "user".to_owned(),
        to: "agent".to_owned(),
        what: "user_input".to_owned(),
        content: Content::read(content),
    }
}

/// RE-F2, RE-F3 and RE-F4: what is written is valid, and says what was said.
fn comes_back(messages: &[Message]) {
    let axon = utter(messages, Form::Axon).unwrap();
    let found = sabir_axon::check(&axon, Rules { tier: Some(Tier::One) }).diagnostics;
    let bad: Vec<_> = found.iter().filter(|it| it.severity != Severity::Info).collect();
    assert!(bad.is_empty(), "{axon}\n{bad:?}");
    let llmx = utter(messages, Form::Llmx).unwrap();
    let found = sabir_llmx::check(&llmx).diagnostics;
    let bad: Vec<_> = found.iter().filter(|it| it.is_error()).collect();
    assert!(bad.is_empty(), "{llmx}\n{bad:?}");
    for form in [Form::Json, Form::Axon, Form::Llmx] {
        let text = utter(messages, form).unwrap();
        assert_eq!(hear(&text, form).as_deref(), Some(messages), "{text}");
    }
    let json = utter(messages, Form::Json).unwrap();
    for form in [Form::Axon, Form::Llmx] {
        let heard = hear(&utter(messages, form).unwrap(), form).unwrap();
        assert_eq!(utter(&heard, Form::Json).unwrap(), json);
    }
}

fn check(messages: &[Message], expected: Expect) {
    comes_back(messages);
    let all = Utterance::of(messages, Tokenizer::O200k).unwrap();
    let shown = Form::ALL.map(|form| {
        let text = all.form(form).trim_end();
        assert_eq!(all.tokens.of(form), Tokenizer::O200k.count(text));
        format!("{} ({} tokens)\n{text}\n", form.name(), all.tokens.of(form))
    });
    expected.assert_eq(&shown.concat());
}

/// RE-F1: words are words in every form.
#[test]
fn a_request_in_words() {
    check(
        &[message(Act::Request, r#""fix the build""#)],
        expect![[r#"
            json (48 tokens)
            {"id":"node/12","at_ms":1794865623120,"ctx":"s1","of":"1","act":"REQ","from":"user","to":"agent","what":"user_input","content":"fix the build"}
            axon (46 tokens)
            [id:"node/12",%%:1,ts:1794865623,ctx:"s1",ms:120,of:"1",what:"user_input"]REQ(@user>@agent): "fix the build"
            llmx (62 tokens)
            HEADER:{f:user,t:agent,s:1,x_id:"node/12",x_v:1,x_ts:1794865623,x_ctx:"s1",x_ms:120,x_of:"1",x_what:"user_input"}
            REQ:{o:"fix the build",pr:3}
            english (30 tokens)
            16 November 2026, 21:47:03 UTC, in s1, user asks agent for user input (1): fix the build
        "#]],
    );
}

/// RE-F5: a failure, a question, a yes and a record, as AXON and LLMX say them natively.
#[test]
fn records_and_other_acts() {
    let command = r#"{"command":["cargo","test"],"cwd":"/w","limit":1.50,"at":1e3,"deep":{"none":null,"ok":true}}"#;
    check(
        &[
            message(Act::Question, command),
            Message {
                id: "node/12/2".to_owned(),
                from: "ldp:delegate:harbor".to_owned(),
                ..message(Act::Accept, "null")
            },
            Message {
                id: "node/12/3".to_owned(),
                to: "*".to_owned(),
                at_ms: 7,
                ..message(Act::Failure, r#""no\nroom""#)
            },
        ],
        expect![[r#"
            json (180 tokens)
            [{"id":"node/12","at_ms":1794865623120,"ctx":"s1","of":"1","act":"QRY","from":"user","to":"agent","what":"user_input","content":{"command":["cargo","test"],"cwd":"/w","limit":1.50,"at":1e3,"deep":{"none":null,"ok":true}}},{"id":"node/12/2","at_ms":1794865623120,"ctx":"s1","of":"1","act":"ACC","from":"ldp:delegate:harbor","to":"agent","what":"user_input","content":null},{"id":"node/12/3","at_ms":7,"ctx":"s1","of":"1","act":"ERR","from":"user","to":"*","what":"user_input","content":"no\nroom"}]
            axon (174 tokens)
            [id:"node/12",%%:1,ts:1794865623,ctx:"s1",ms:120,of:"1",what:"user_input"]QRY(@user>@agent): {command:["cargo","test"],cwd:"/w",limit:1.50,at:num("1e3"),deep:{none:_,ok:T}}
            [id:"node/12/2",%%:1,ts:1794865623,ctx:"s1",ms:120,of:"1",what:"user_input",from:"ldp:delegate:harbor"]ACC(@ldp_delegate_harbor>@agent): _
            [id:"node/12/3",%%:1,ctx:"s1",ms:7,of:"1",what:"user_input"]ERR(@user>*): "no\nroom"
            llmx (230 tokens)
            HEADER:{f:user,t:agent,s:1,x_id:"node/12",x_v:1,x_ts:1794865623,x_ctx:"s1",x_ms:120,x_of:"1",x_what:"user_input"}
            ASK:{q:"{command:[\"cargo\",\"test\"],cwd:\"/w\",limit:1.50,at:num(\"1e3\"),deep:{none:_,ok:T}}",o:[],x_lang:axon}
            HEADER:{f:ldp_delegate_harbor,t:agent,s:1,x_id:"node/12/2",x_v:1,x_ts:1794865623,x_ctx:"s1",x_ms:120,x_of:"1",x_what:"user_input",x_from:"ldp:delegate:harbor"}
            RES:{o:"ACC"}
            HEADER:{f:user,t:ALL,s:2,x_id:"node/12/3",x_v:1,x_ctx:"s1",x_ms:7,x_of:"1",x_what:"user_input"}
            OBS:{s:ERR,e:"no\nroom"}
            english (132 tokens)
            16 November 2026, 21:47:03 UTC, in s1, user asks agent about user input (1): command: cargo and test; cwd: /w; limit: 1.50; at: 1e3; deep: (none: nothing, ok: yes)
            16 November 2026, 21:47:03 UTC, in s1, ldp:delegate:harbor agrees with agent on user input (1).
            1 January 1970, 00:00:00 UTC, in s1, user reports to everyone a failure, user input (1):
              no
              room
        "#]],
    );
}

/// RE-F6.
#[test]
fn what_is_no_json_is_a_text() {
    for text in ["", "not json", "{\"a\":1,\"a\":2}", "\"\\ud800\"", "{\"a\":", "1 2"] {
        let content = Content::read(text);
        assert_eq!(content.as_text().as_deref(), Some(text));
        comes_back(&[Message { content, ..message(Act::Inform, "null") }]);
    }
    let deep = format!("{}1{}", "[".repeat(97), "]".repeat(97));
    assert_eq!(Content::read(&deep).as_text(), Some(deep));
    let deepest = format!("{}1{}", "[".repeat(96), "]".repeat(96));
    assert_eq!(Content::read(&deepest).as_json(), deepest);
    for act in Act::ALL {
        comes_back(&[message(act, &deepest)]);
    }
}

/// RE-F7: what would be a vote is said to be data.
#[test]
fn data_is_no_vote() {
    let vote = r#"{"vote_id":"v","threshold_met":true,"result":"failed","threshold":0}"#;
    for act in Act::ALL {
        comes_back(&[message(act, vote)]);
    }
    let axon = utter(&[message(Act::Inform, vote)], Form::Axon).unwrap();
    assert!(axon.contains(r#"data({vote_id:"v""#), "{axon}");
}

/// RE-F8: nothing in English is hidden or obeyed.
#[test]
fn english_hides_nothing() {
    let hostile = Message {
        from: "a\u{1b}[31m".to_owned(),
        what: "x\ny".to_owned(),
        ctx: "\u{202e}c".to_owned(),
        ..message(Act::Inform, r#"{"\u001bk":"v\u0007","t":"a\u202eb"}"#)
    };
    let english = utter(std::slice::from_ref(&hostile), Form::English).unwrap();
    assert!(!english.contains(['\u{1b}', '\u{7}', '\u{202e}', '\n']), "{english:?}");
    assert_eq!(hear(&english, Form::English), None);
    assert_eq!(hostile.gist(20).chars().count(), 21);
    comes_back(&[hostile]);
}

fn json() -> impl Strategy<Value = String> {
    let text = prop_oneof!["[a-z_]{1,8}", "\\PC{0,12}", ".{0,6}", Just("vote_id".to_owned())];
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    let leaf = prop_oneof![
        text.clone().prop_map(move |text| quote(&text)),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?",
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("null".to_owned()),
    ];
    leaf.prop_recursive(5, 32, 5, move |inner| {
        let items = prop::collection::vec(inner.clone(), 0..5);
        let fields = prop::collection::btree_map(text.clone(), inner, 0..5);
        prop_oneof![
            items.prop_map(|items| format!("[{}]", items.join(","))),
            fields.prop_map(move |fields| {
                let fields = fields.iter().map(|(key, value)| format!("{}:{value}", quote(key)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    let name = prop_oneof![
        "[a-z][a-z0-9._-]{0,8}",
        "\\PC{0,8}",
        Just("*".to_owned()),
        Just("_".to_owned()),
        Just("ALL".to_owned()),
        Just("ldp:delegate:a".to_owned()),
    ];
    let act = prop::sample::select(Act::ALL.to_vec());
    let texts = ("\\PC{1,8}", ".{0,8}", ".{0,8}", "[a-z_]{0,8}|\\PC{0,6}");
    (act, name.clone(), name, texts, any::<u64>(), json()).prop_map(
        |(act, from, to, (id, ctx, of, what), at_ms, content)| Message {
            id,
            at_ms,
            ctx,
            of,
            act,
            from,
            to,
            what,
            content: Content::read(&content),
        },
    )
}

proptest! {
    #![proptest_config(axon_documents::config())]

    /// RE-F2 and RE-F3: any JSON content, whoever says it.
    #[test]
    fn any_message_comes_back(message in any_message()) {
        comes_back(&[message]);
    }

    /// RE-F4: several at once are told apart by their ids.
    #[test]
    fn any_messages_come_back(messages in prop::collection::vec(any_message(), 0..4)) {
        let numbered: Vec<Message> = (0..)
            .zip(messages)
            .map(|(number, message)| Message { id: format!("node/1/{number}"), ..message })
            .collect();
        comes_back(&numbered);
    }
}
