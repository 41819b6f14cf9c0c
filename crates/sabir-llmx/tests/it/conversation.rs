//! Conversations as transcripts: what each message did, what was said about it, and what is open
//! at the end.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sabir_base::Diagnostic;
use sabir_llmx::{Conversation, check_conversation, codes, parse};

fn line_of(text: &str, offset: u32) -> usize {
    1 + text[..offset as usize].matches('\n').count()
}

fn shown(text: &str, found: &Diagnostic) -> String {
    let mut out = format!(
        "{}[{}] line {}: {}",
        found.severity.as_str(),
        found.code,
        line_of(text, found.span.start),
        found.message
    );
    for label in &found.labels {
        out.push_str(&format!("; line {}: {}", line_of(text, label.span.start), label.message));
    }
    out
}

/// The events of every message, then the state, then what was found.
fn check(text: &str, expected: Expect) {
    let parsed = parse(text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let mut conversation = Conversation::new();
    let mut out = String::new();
    for message in parsed.tree.messages() {
        let words: Vec<&str> = message.blocks().map(|block| block.word()).collect();
        let header = message.header().map(|header| header.body.text()).unwrap_or_default();
        out.push_str(&format!("> {header} {}\n", words.join(" ")));
        for event in conversation.feed(message) {
            out.push_str(&format!("  {}\n", conversation.describe(&event)));
        }
    }
    out.push_str(&conversation.state().to_string());
    for found in conversation.finish() {
        assert!(!found.is_error());
        out.push_str(&format!("{}\n", shown(text, &found)));
    }
    expected.assert_eq(&out);
}

/// LX-C1, LX-C2.
#[test]
fn a_request_and_its_response() {
    check(
        r#"HEADER:{f:A,t:B,s:1}
REQ:{o:"fix login",pr:2}
HEADER:{f:B,t:A,s:1}
RES:{o:"ACK",msg:"on it"}
"#,
        expect![[r#"
            > {f:A,t:B,s:1} REQ
              opens request #1 A -> B "fix login"
            > {f:B,t:A,s:1} RES
              B answers "ACK" to request #1 A -> B "fix login"
        "#]],
    );
    check(
        "HEADER:{f:A,t:B,s:1}\nREQ:{o:\"fix login\",pr:2}\n",
        expect![[r#"
            > {f:A,t:B,s:1} REQ
              opens request #1 A -> B "fix login"
            owed: request #1 A -> B "fix login"
            info[LX413] line 2: this request waits for an answer
        "#]],
    );
}

/// LX-C3, LX-C4.
#[test]
fn a_delegation_with_plans() {
    check(
        r#"HEADER:{f:Orch,t:Worker,s:1}
CTX:{p:app}
REQ:{o:"add auth",pr:1}
PLAN:[(i:1,t:"design",s:P),(i:2,t:"build",s:P)]
HEADER:{f:Worker,t:Orch,s:1}
RES:{o:"ACK"}
HEADER:{f:Worker,t:Orch,s:2}
PLAN:[(i:1,t:"design",s:C),(i:2,t:"build",s:I)]
HEADER:{f:Worker,t:Orch,s:3}
PLAN:[(i:1,t:"design",s:P),(i:2,t:"build",s:C),(i:3,t:"test",s:P)]
HEADER:{f:Worker,t:Orch,s:4}
END:{n:"review",del:["src/auth.ts"]}
HEADER:{f:Orch,t:Worker,s:2}
RES:{o:"ACK",msg:"thank you"}
HEADER:{f:Orch,t:Worker,s:3}
REQ:{o:"again",pr:1}
PLAN:[(i:1,t:"design",s:P)]
HEADER:{f:Worker,t:Orch,s:5}
PLAN:[(i:1,t:"design",s:I)]
"#,
        expect![[r#"
            > {f:Orch,t:Worker,s:1} CTX REQ PLAN
              opens request #1 Orch -> Worker "add auth"
            > {f:Worker,t:Orch,s:1} RES
              Worker answers "ACK" to request #1 Orch -> Worker "add auth"
            > {f:Worker,t:Orch,s:2} PLAN
              Worker works on request #1 Orch -> Worker "add auth"
            > {f:Worker,t:Orch,s:3} PLAN
              Worker works on request #1 Orch -> Worker "add auth"
            > {f:Worker,t:Orch,s:4} END
              ends Worker -> Orch next "review" after request #1 Orch -> Worker "add auth"
            > {f:Orch,t:Worker,s:2} RES
            > {f:Orch,t:Worker,s:3} REQ PLAN
              opens request #3 Orch -> Worker "again"
            > {f:Worker,t:Orch,s:5} PLAN
              Worker works on request #3 Orch -> Worker "again"
            working: request #3 Orch -> Worker "again"
            done: Worker -> Orch next "review"
            warning[LX412] line 10: step `1` goes back from completed to pending; line 8: it was completed here
            info[LX413] line 16: the work on this request has no END yet
        "#]],
    );
}

/// LX-C4: a step with another task is another step.
#[test]
fn only_a_step_of_the_same_plan_goes_back() {
    check(
        r#"HEADER:{f:W,t:O,s:1}
PLAN:[(i:1,t:"a",s:C),(i:2,t:"b",s:X),(i:3,t:"c",s:I)]
HEADER:{f:W,t:O,s:2}
PLAN:[(i:1,t:"another",s:P),(i:2,t:"b",s:I),(i:"3",t:"c",s:P)]
HEADER:{f:W,t:Q,s:3}
PLAN:[(i:3,t:"c",s:P)]
"#,
        expect![[r#"
            > {f:W,t:O,s:1} PLAN
            > {f:W,t:O,s:2} PLAN
            > {f:W,t:Q,s:3} PLAN
            warning[LX412] line 4: step `2` goes back from cancelled to in progress; line 2: it was cancelled here
            warning[LX412] line 4: step `3` goes back from in progress to pending; line 2: it was in progress here
        "#]],
    );
}

/// LX-C5, LX-C6.
#[test]
fn a_blocker_and_its_answer() {
    check(
        r#"HEADER:{f:O,t:W,s:1}
REQ:{o:"deploy",pr:1}
HEADER:{f:W,t:O,s:1}
BLK:{w:"no key",a:["use mock","wait"]}
HEADER:{f:W,t:O,s:2}
END:{n:"x",del:[]}
HEADER:{f:O,t:W,s:2}
RES:{o:"use mock"}
HEADER:{f:W,t:O,s:3}
BLK:{w:"still no key",a:["wait"]}
"#,
        expect![[r#"
            > {f:O,t:W,s:1} REQ
              opens request #1 O -> W "deploy"
            > {f:W,t:O,s:1} BLK
              opens blocker #1 W -> O "no key" [use mock | wait]
            > {f:W,t:O,s:2} END
              ends W -> O next "x" after request #1 O -> W "deploy"
            > {f:O,t:W,s:2} RES
              O answers "use mock" to blocker #1 W -> O "no key" [use mock | wait]
            > {f:W,t:O,s:3} BLK
              opens blocker #3 W -> O "still no key" [wait]
            blocked: blocker #3 W -> O "still no key" [wait]
            done: W -> O next "x"
            warning[LX411] line 6: this ends work that is blocked; line 4: this blocker is still open
            info[LX413] line 10: this blocker is still open
        "#]],
    );
}

/// LX-C6, LX-C7.
#[test]
fn a_blocker_that_goes_to_a_person() {
    check(
        r#"HEADER:{f:W,t:O,s:1}
BLK:{w:"no key",a:["use mock","wait"],esc:true}
ASK:{q:"which way?",o:["use mock","wait"],def:"wait"}
HEADER:{f:O,t:Anna,s:1}
ASK:{q:"mock?",o:["yes","no"]}
HEADER:{f:Anna,t:O,s:1}
RES:{o:"yes"}
HEADER:{f:O,t:W,s:2}
RES:{o:"use mock"}
"#,
        expect![[r#"
            > {f:W,t:O,s:1} BLK ASK
              opens question #1 W -> O "which way?" [use mock | wait]
              opens blocker #1 W -> O "no key" [use mock | wait] escalated
            > {f:O,t:Anna,s:1} ASK
              opens question #1 O -> Anna "mock?" [yes | no]
            > {f:Anna,t:O,s:1} RES
              Anna answers "yes" to question #1 O -> Anna "mock?" [yes | no]
            > {f:O,t:W,s:2} RES
              O answers "use mock" to question #1 W -> O "which way?" [use mock | wait]
              unblocks blocker #1 W -> O "no key" [use mock | wait] escalated
        "#]],
    );
    check(
        r#"HEADER:{f:W,t:O,s:1}
BLK:{w:"no key",a:["use mock"],esc:true}
HEADER:{f:Anna,t:O,s:1}
RES:{o:"use mock"}
"#,
        expect![[r#"
            > {f:W,t:O,s:1} BLK
              opens blocker #1 W -> O "no key" [use mock] escalated
            > {f:Anna,t:O,s:1} RES
              Anna decides "use mock" on blocker #1 W -> O "no key" [use mock] escalated decided by Anna
            blocked: blocker #1 W -> O "no key" [use mock] escalated decided by Anna
            info[LX413] line 2: this blocker was decided on, and who is blocked was not told
        "#]],
    );
    check(
        r#"HEADER:{f:W,t:O,s:1}
BLK:{w:"no key",a:["use mock"],esc:true}
HEADER:{f:Anna,t:W,s:1}
RES:{o:"use mock"}
HEADER:{f:O,t:W,s:1}
RES:{o:"ACK"}
"#,
        expect![[r#"
            > {f:W,t:O,s:1} BLK
              opens blocker #1 W -> O "no key" [use mock] escalated
            > {f:Anna,t:W,s:1} RES
              Anna answers "use mock" to blocker #1 W -> O "no key" [use mock] escalated
            > {f:O,t:W,s:1} RES
              O answers "ACK" to blocker #1 W -> O "no key" [use mock] escalated
        "#]],
    );
    check(
        "HEADER:{f:W,t:O,s:1}\nBLK:{w:\"no key\",a:[\"use mock\"],esc:true}\n",
        expect![[r#"
        > {f:W,t:O,s:1} BLK
          opens blocker #1 W -> O "no key" [use mock] escalated
        blocked: blocker #1 W -> O "no key" [use mock] escalated
        waits for a person: blocker #1 W -> O "no key" [use mock] escalated
        info[LX413] line 2: this blocker waits for a person
    "#]],
    );
}

/// LX-C8, LX-C9, LX-C10.
#[test]
fn responses_find_their_questions() {
    check(
        r#"HEADER:{f:A,t:B,s:1}
REQ:{o:"first",pr:1}
HEADER:{f:A,t:B,s:2}
ASK:{q:"one?",o:["x","y"]}
ASK:{q:"two?",o:["x","y"]}
HEADER:{f:A,t:B,s:3}
ASK:{q:"three?",o:["x","y"]}
HEADER:{f:B,t:A,s:1}
RES:{o:"y",x_re:3}
HEADER:{f:B,t:A,s:2}
RES:{o:"x"}
RES:{o:"z"}
HEADER:{f:B,t:A,s:3}
RES:{o:"ACK"}
HEADER:{f:B,t:A,s:4}
RES:{o:"x"}
HEADER:{f:B,t:A,s:5,x_re:2}
RES:{o:"x"}
HEADER:{f:B,t:A,s:6}
RES:{o:"x",x_re:99}
HEADER:{f:B,t:A,s:7}
RES:{o:"NACK"}
HEADER:{f:B,t:C,s:8}
RES:{o:"ACK"}
"#,
        expect![[r#"
            > {f:A,t:B,s:1} REQ
              opens request #1 A -> B "first"
            > {f:A,t:B,s:2} ASK ASK
              opens question #2 A -> B "one?" [x | y]
              opens question #2 A -> B "two?" [x | y]
            > {f:A,t:B,s:3} ASK
              opens question #3 A -> B "three?" [x | y]
            > {f:B,t:A,s:1} RES
              B answers "y" to question #3 A -> B "three?" [x | y]
            > {f:B,t:A,s:2} RES RES
              B answers "x" to question #2 A -> B "one?" [x | y]
              B answers "z" to question #2 A -> B "two?" [x | y]
            > {f:B,t:A,s:3} RES
              B answers "ACK" to request #1 A -> B "first"
            > {f:B,t:A,s:4} RES
            > {f:B,t:A,s:5,x_re:2} RES
            > {f:B,t:A,s:6} RES
            > {f:B,t:A,s:7} RES
            > {f:B,t:C,s:8} RES
            warning[LX410] line 12: `z` is none of the options; line 5: this is the question
            warning[LX409] line 16: nothing is open that this could answer
            warning[LX409] line 18: nothing is open that this could answer
            info[LX409] line 20: what this answers is not in the document
            info[LX409] line 24: what this answers is not in the document
        "#]],
    );
}

/// LX-C11.
#[test]
fn what_is_said_to_all_may_be_answered_by_each() {
    check(
        r#"HEADER:{f:O,t:ALL,s:1}
REQ:{o:"who is free?",pr:3}
ASK:{q:"lunch?",o:["yes","no"]}
HEADER:{f:A,t:O,s:1}
RES:{o:"yes"}
RES:{o:"ACK"}
HEADER:{f:B,t:O,s:1}
RES:{o:"no"}
HEADER:{f:B,t:O,s:2}
RES:{o:"ACK"}
HEADER:{f:B,t:O,s:3}
RES:{o:"yes"}
HEADER:{f:A,t:O,s:2}
END:{n:"y",del:[]}
HEADER:{f:O,t:ALL,s:2}
RES:{o:"yes"}
HEADER:{f:O,t:[A,B],s:3}
ASK:{q:"tea?",o:["yes","no"]}
HEADER:{f:A,t:ALL,s:3}
RES:{o:"no"}
"#,
        expect![[r#"
            > {f:O,t:ALL,s:1} REQ ASK
              opens question #1 O -> ALL "lunch?" [yes | no]
              opens request #1 O -> ALL "who is free?"
            > {f:A,t:O,s:1} RES RES
              A answers "yes" to question #1 O -> ALL "lunch?" [yes | no]
              A answers "ACK" to request #1 O -> ALL "who is free?"
            > {f:B,t:O,s:1} RES
              B answers "no" to question #1 O -> ALL "lunch?" [yes | no]
            > {f:B,t:O,s:2} RES
              B answers "ACK" to request #1 O -> ALL "who is free?"
            > {f:B,t:O,s:3} RES
            > {f:A,t:O,s:2} END
              ends A -> O next "y" after request #1 O -> ALL "who is free?"
            > {f:O,t:ALL,s:2} RES
            > {f:O,t:[A,B],s:3} ASK
              opens question #3 O -> A, B "tea?" [yes | no]
            > {f:A,t:ALL,s:3} RES
              A answers "no" to question #3 O -> A, B "tea?" [yes | no]
            owed: question #3 O -> A, B "tea?" [yes | no]
            done: A -> O next "y"
            warning[LX409] line 12: nothing is open that this could answer
            warning[LX409] line 16: nothing is open that this could answer
            info[LX413] line 18: this question waits for an answer
        "#]],
    );
}

/// LX-C12.
#[test]
fn several_conversations_at_once() {
    check(
        r#"HEADER:{f:O,t:A,s:1}
REQ:{o:"front end",pr:1}
HEADER:{f:O,t:B,s:2}
REQ:{o:"back end",pr:1}
HEADER:{f:B,t:A,s:1}
ASK:{q:"which port?",o:["80","8080"]}
HEADER:{f:A,t:O,s:1}
PLAN:[(i:1,t:"css",s:I)]
HEADER:{f:A,t:B,s:2}
RES:{o:"8080"}
HEADER:{f:B,t:O,s:2}
END:{n:"join",del:["b.rs"]}
HEADER:{f:A,t:O,s:3}
BLK:{w:"no font",a:[]}
"#,
        expect![[r#"
            > {f:O,t:A,s:1} REQ
              opens request #1 O -> A "front end"
            > {f:O,t:B,s:2} REQ
              opens request #2 O -> B "back end"
            > {f:B,t:A,s:1} ASK
              opens question #1 B -> A "which port?" [80 | 8080]
            > {f:A,t:O,s:1} PLAN
              A works on request #1 O -> A "front end"
            > {f:A,t:B,s:2} RES
              A answers "8080" to question #1 B -> A "which port?" [80 | 8080]
            > {f:B,t:O,s:2} END
              ends B -> O next "join" after request #2 O -> B "back end"
            > {f:A,t:O,s:3} BLK
              opens blocker #3 A -> O "no font"
            working: request #1 O -> A "front end"
            blocked: blocker #3 A -> O "no font"
            done: B -> O next "join"
            info[LX413] line 2: the work on this request has no END yet
            info[LX413] line 14: this blocker is still open
        "#]],
    );
}

/// LX-C13, LX-C14.
#[test]
fn numbers_go_up_and_messages_may_come_twice() {
    check(
        "HEADER:{f:A,t:B,s:5}\nREQ:{o:\"x\",pr:1}\n\
         HEADER:{f:B,t:A,s:1}\nRES:{o:\"ACK\"}\n\
         HEADER:{f:A,t:B,s:5}\nREQ:{o:\"x\",pr:1}\n\n\
         HEADER:{f:A,t:B,s:5}\nREQ:{o:\"y\",pr:1}\n\
         HEADER:{f:A,t:B,s:3}\nREQ:{o:\"z\",pr:1}\n\
         HEADER:{f:A,t:C,s:6}\nCTX:{p:x}\n",
        expect![[r#"
            > {f:A,t:B,s:5} REQ
              opens request #5 A -> B "x"
            > {f:B,t:A,s:1} RES
              B answers "ACK" to request #5 A -> B "x"
            > {f:A,t:B,s:5} REQ
              repeats an earlier message
            > {f:A,t:B,s:5} REQ
              opens request #5 A -> B "y"
            > {f:A,t:B,s:3} REQ
              opens request #3 A -> B "z"
            > {f:A,t:C,s:6} CTX
            owed: request #5 A -> B "y"
            owed: request #3 A -> B "z"
            info[LX402] line 5: this message was sent before, word for word; line 1: it stands here first
            warning[LX401] line 8: the sequence numbers of `A` do not go up here; line 1: it had come this far
            warning[LX401] line 10: the sequence numbers of `A` do not go up here; line 1: it had come this far
            info[LX413] line 9: this request waits for an answer
            info[LX413] line 11: this request waits for an answer
        "#]],
    );
}

/// LX-C16.
#[test]
fn one_message_is_no_conversation() {
    for text in [
        "HEADER:{f:A,t:B,s:1}\nREQ:{o:x,pr:1}\nASK:{q:x,o:[a]}\nBLK:{w:x,a:[a],esc:true}\n",
        "HEADER:{f:A,t:B,s:1}\nRES:{o:\"NACK\"}\n",
        "HEADER:{f:A,t:B,s:1}\nRES:{o:\"yes\"}\nOBS:{ai:A1,s:ERR}\n",
        "HEADER:{f:A,t:ALL,s:1,b:B1}\nACT:{i:A1,op:read,tgt:x}\nACT:{i:A2,op:read,tgt:y}\n",
        "",
    ] {
        assert_eq!(check_conversation(&parse(text).tree), [], "{text}");
    }
    let text = "HEADER:{f:A,t:ALL,s:1,b:B1}\nACT:{i:A1,op:read,tgt:x}\nACT:{op:read,tgt:y}\n";
    assert_eq!(check_conversation(&parse(text).tree).len(), 1);
}

/// LX-C15: what has no sender takes no part, and nothing is said twice.
#[test]
fn broken_headers_are_passed_by() {
    let text = "HEADER:{t:B,s:1}\nREQ:{o:x,pr:1}\nHEADER:{f:A,s:1}\nREQ:{o:x,pr:1}\n\
                REQ:{o:x,pr:1}\nHEADER:{f:A,t:B}\nREQ:{pr:1}\nRES:{}\nBLK:{}\nASK:{}\nEND:{}\n\
                PLAN:[1,(i:1),(s:P)]\nOBS:{}\nACT:{}\n";
    let found = check_conversation(&parse(text).tree);
    let mut out = String::new();
    for found in found {
        out.push_str(&format!("{}\n", shown(text, &found)));
    }
    expect![[r#"
        info[LX413] line 7: this request waits for an answer
        info[LX409] line 8: what this answers is not in the document
        info[LX413] line 9: this blocker is still open
        info[LX413] line 10: this question waits for an answer
        warning[LX411] line 11: this ends work that is blocked; line 9: this blocker is still open
    "#]]
    .assert_eq(&out);
}

/// Sequence, batch and conversation together, in the order of the text.
#[test]
fn everything_is_found_at_once() {
    let text = r#"HEADER:{f:A,t:B,s:2,b:B1}
ACT:{i:A1,op:read,tgt:"x"}
ACT:{i:A1,op:read,tgt:"y"}
ASK:{q:"go?",o:["yes"]}
HEADER:{f:B,t:A,s:1,b:B1}
OBS:{ai:A2,s:ERR}
RES:{o:"no"}
HEADER:{f:A,t:B,s:1}
REQ:{o:"more",pr:1}
"#;
    let mut out = String::new();
    for found in check_conversation(&parse(text).tree) {
        out.push_str(&format!("{}\n", shown(text, &found)));
    }
    expect![[r#"
        info[LX408] line 2: no action of batch `B1` has an observation yet
        error[LX403] line 3: batch `B1` has an action `A1` already; line 2: this is it
        error[LX405] line 6: batch `B1` has no action `A2`
        warning[LX410] line 7: `no` is none of the options; line 4: this is the question
        warning[LX401] line 8: the sequence numbers of `A` do not go up here; line 1: it had come this far
        info[LX413] line 9: this request waits for an answer
    "#]].assert_eq(&out);
}

proptest! {
    /// LX-C15: whatever is said, only what the rules call an error is one, and every finding lies
    /// in the text.
    #[test]
    fn any_conversation_can_be_followed(
        messages in prop::collection::vec(
            (
                prop::sample::select(vec!["A", "B", "C", "\"\\u0044\""]),
                prop::sample::select(vec!["A", "B", "C", "ALL", "[A,B]", "[]", "1"]),
                0u8..6,
                prop::sample::select(vec!["", ",b:B1", ",b:B2", ",x_re:1"]),
                prop::collection::vec(
                    prop::sample::select(vec![
                        "REQ:{o:\"r\",pr:1}",
                        "ASK:{q:\"q\",o:[\"x\",\"y\"]}",
                        "BLK:{w:\"w\",a:[\"x\"],esc:true}",
                        "BLK:{w:\"w\",a:[]}",
                        "RES:{o:\"x\"}",
                        "RES:{o:\"ACK\"}",
                        "RES:{o:\"z\",x_re:2}",
                        "PLAN:[(i:1,t:\"t\",s:P)]",
                        "PLAN:[(i:1,t:\"t\",s:C)]",
                        "END:{n:\"n\",del:[]}",
                        "ACT:{i:A1,op:read,tgt:\"x\"}",
                        "ACT:{op:read,tgt:\"x\"}",
                        "OBS:{ai:A1,s:ERR}",
                        "OBS:{ai:A2,s:ERR}",
                        "OBS:{s:ERR}",
                    ]),
                    1..5,
                ),
            ),
            0..12,
        ),
    ) {
        let mut text = String::new();
        for (from, to, sequence, more, blocks) in messages {
            text.push_str(&format!("HEADER:{{f:{from},t:{to},s:{sequence}{more}}}\n"));
            text.push_str(&blocks.join("\n"));
            text.push('\n');
        }
        let parsed = parse(&text);
        let found = check_conversation(&parsed.tree);
        for found in &found {
            prop_assert!(text.get(found.span.range()).is_some());
            prop_assert!(found.help.is_some());
            let may_be_wrong =
                [codes::DUPLICATE_ACTION, codes::UNKNOWN_ACTION, codes::DUPLICATE_OBSERVATION];
            prop_assert!(!found.is_error() || may_be_wrong.contains(&found.code));
        }
        prop_assert!(found.is_sorted_by_key(|found| found.span.start));

        let mut conversation = Conversation::new();
        for message in parsed.tree.messages() {
            for event in conversation.feed(message) {
                prop_assert!(!conversation.describe(&event).is_empty());
            }
        }
        let state = conversation.state();
        prop_assert!(state.escalated.iter().all(|item| state.blocked.contains(item)));
        let open = state.owed.len() + state.working.len() + state.blocked.len();
        let found = conversation.finish();
        prop_assert_eq!(found.iter().filter(|it| it.code == codes::STILL_OPEN).count(), open);
    }
}
