//! Where the specification says two things, or nothing: what we read, and what we write.
//!
//! One test for each row of our list of its inconsistencies, which has 26. The last one is about
//! the dates in its history, and changes nothing on the wire.

use sabir_llmx::{Response, check_messages, print, replies, validate};

const HEADER: &str = "HEADER:{f:a,t:b,s:1}\n";

/// What is found in a block: `E` or `W`, and the code.
fn found(block: &str) -> Vec<String> {
    found_in(&format!("{HEADER}{block}"))
}

fn found_in(text: &str) -> Vec<String> {
    let letter = |error| if error { 'E' } else { 'W' };
    let found = check_messages(text).diagnostics;
    found.iter().map(|found| format!("{} {}", letter(found.is_error()), found.code)).collect()
}

/// The strict form of a block.
fn strict(block: &str) -> String {
    let text = format!("{HEADER}{block}");
    let printed = print(&check_messages(&text).tree);
    printed.strip_prefix(HEADER).unwrap().trim_end().to_owned()
}

fn nothing() -> Vec<String> {
    Vec::new()
}

/// LX-R11, LX-R39.
#[test]
fn row_01_bare_words() {
    let message = "HEADER:{f:Claude,t:ALL,s:1,b:B-1}\nCTX:{p:myapp}\nACT:{i:A1,op:edit,tgt:x}\n";
    assert_eq!(found_in(message), nothing());
    assert_eq!(
        print(&check_messages(message).tree),
        "HEADER:{f:Claude,t:ALL,s:1,b:B-1}\nCTX:{p:myapp}\nACT:{i:A1,op:edit,tgt:\"x\"}\n"
    );
    let quoted =
        "HEADER:{f:\"Claude\",t:\"two words\",s:1,b:\"true\"}\nOBS:{ai:\"1\",s:\"OK\",c:{a:b}}\n";
    assert_eq!(
        print(&check_messages(quoted).tree),
        "HEADER:{f:Claude,t:\"two words\",s:1,b:\"true\"}\nOBS:{ai:\"1\",s:OK,c:{a:\"b\"}}\n"
    );
}

/// LX-R17, LX-R40.
#[test]
fn row_02_plan_tuples() {
    let tuples = "PLAN:[(i:1,t:\"x\",s:P)]";
    let braces = "PLAN:[{i:1,t:\"x\",s:P}]";
    assert_eq!(found(tuples), nothing());
    assert_eq!(found(braces), nothing());
    assert_eq!(strict(braces), tuples);
    assert_eq!(found("CTX:{p:x,st:(a:1)}"), ["W LX116"]);
    assert_eq!(strict("CTX:{p:x,st:(a:1)}"), "CTX:{p:x,st:{a:1}}");
}

/// LX-R12.
#[test]
fn row_03_bare_paths() {
    let bare = "CTX:{p:x,f:[src/api.ts,^/b.rs]}";
    assert_eq!(&found(bare)[..2], ["W LX007", "W LX007"]);
    assert_eq!(strict(bare), "CTX:{p:x,f:[\"src/api.ts\",\"^/b.rs\"]}");
    assert_eq!(found("REQ:{o:fix the bug,pr:1}"), ["E LX007"]);
}

/// LX-R24, LX-R35, LX-R41.
#[test]
fn row_04_content_of_failures() {
    assert_eq!(found("OBS:{s:ERR,e:\"x\"}"), nothing());
    assert_eq!(found("OBS:{s:OK}"), ["E LX201"]);
    assert_eq!(found("OBS:{s:OK,c:{}}"), nothing());
    assert_eq!(strict("OBS:{s:OK,c:{}}"), "OBS:{s:OK,c:{}}");
    assert_eq!(strict("OBS:{s:ERR,c:{},e:\"x\"}"), "OBS:{s:ERR,e:\"x\"}");
    assert_eq!(found("OBS:{s:ERR,c:{a:1},e:\"x\"}"), ["W LX214"]);
    assert_eq!(strict("OBS:{s:ERR,c:{a:1},e:\"x\"}"), "OBS:{s:ERR,x_c:{a:1},e:\"x\"}");
    assert_eq!(found("OBS:{s:ERR}"), ["W LX212"]);
    assert_eq!(found("OBS:{s:OK,c:{},e:\"x\"}"), ["W LX213"]);
}

/// LX-R25.
#[test]
fn row_05_empty_lists() {
    for (empty, absent) in [
        ("END:{n:\"x\",del:[]}", "END:{n:\"x\"}"),
        ("BLK:{w:\"x\",a:[]}", "BLK:{w:\"x\"}"),
        ("ASK:{q:\"x\",o:[]}", "ASK:{q:\"x\"}"),
    ] {
        assert_eq!(found(empty), ["W LX208"], "{empty}");
        assert_eq!(found(absent), ["E LX201"], "{absent}");
        assert_eq!(strict(empty), empty);
    }
}

/// LX-R18, LX-R40.
#[test]
fn row_06_key_case() {
    assert_eq!(found("REQ:{O:\"x\",Pr:1}"), ["W LX114", "W LX114"]);
    assert_eq!(strict("REQ:{O:\"x\",Pr:1}"), "REQ:{o:\"x\",pr:1}");
    assert_eq!(strict("CTX:{p:x,st:{Env:1}}"), "CTX:{p:x,st:{env:1}}");
    assert_eq!(found("CTX:{p:x,st:{_a:1,9b:1}}"), ["W LX114", "W LX114"]);
    assert_eq!(found("RES:{\"o\":\"x\"}"), ["W LX113"]);
    assert_eq!(strict("RES:{\"o\":\"x\"}"), "RES:{o:\"x\"}");
    assert_eq!(found("RES:{o:\"x\",x_a-b:1}"), ["E LX112"]);
}

/// LX-R2, LX-R20.
#[test]
fn row_07_type_case_and_second_header() {
    assert_eq!(found("res:{o:\"x\"}"), ["E LX104"]);
    assert_eq!(strict("res:{o:\"x\"}"), "RES:{o:\"x\"}");
    let log = format!("{HEADER}RES:{{o:\"x\"}}\nHEADER:{{f:b,t:a,s:1}}\nRES:{{o:\"y\"}}\n");
    assert_eq!(found_in(&log), nothing());
    assert_eq!(check_messages(&log).tree.messages().count(), 2);
    assert_eq!(found_in("RES:{o:\"x\"}"), ["E LX102"]);
    assert_eq!(check_messages("").tree.messages().count(), 0);
    assert_eq!(found_in(""), nothing());
}

/// LX-R3.
#[test]
fn row_08_header_alone() {
    assert_eq!(found_in(HEADER), ["W LX121"]);
    assert_eq!(found_in(&HEADER.repeat(2)), ["W LX121", "W LX121"]);
}

/// LX-R14, LX-R40.
#[test]
fn row_09_strings() {
    let escaped = r#"RES:{o:"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"}"#;
    assert_eq!(found(escaped), nothing());
    assert_eq!(strict(escaped), "RES:{o:\"\\\"\\\\/\\b\\f\\n\\r\\tA\u{1f600}\"}");
    assert_eq!(found("RES:{o:\"a\nb\"}"), ["W LX003"]);
    assert_eq!(strict("RES:{o:\"a\nb\u{0}\"}"), r#"RES:{o:"a\nb\u0000"}"#);
    assert_eq!(found(r#"RES:{o:"\q"}"#), ["E LX002"]);
    assert_eq!(found(r#"RES:{o:"\ud83d"}"#), ["E LX004"]);
    assert_eq!(found("RES:{o:'x'}"), ["E LX009"]);
    assert_eq!(found("RES:{o:\"x}"), ["E LX001"]);
}

/// LX-R4, LX-R38.
#[test]
fn row_10_white_space() {
    let spaced = "HEADER : { f : a , t\n:b,s:\t1 }  RES\r\n:{\n o : \"x\" , msg:\"a  b\" }";
    assert_eq!(found_in(spaced), nothing());
    assert_eq!(
        print(&check_messages(spaced).tree),
        format!("{HEADER}RES:{{o:\"x\",msg:\"a  b\"}}\n")
    );
    assert_eq!(found_in("HEADER:{f:a,t:b,s:1}RES:{o:\"x\"}"), nothing());
}

/// LX-R15, LX-R26.
#[test]
fn row_11_numbers() {
    let numbers = "OBS:{s:OK,c:{a:[0,-0,1.50,1e3,-1.5E-7,12345678901234567890]}}";
    assert_eq!(found(numbers), nothing());
    assert_eq!(strict(numbers), numbers);
    for malformed in ["01", "1.", "-", "1e", "-x"] {
        let codes = found(&format!("OBS:{{s:OK,c:{{a:{malformed}}}}}"));
        assert!(codes == ["E LX006"] || codes == ["W LX007"], "{malformed}: {codes:?}");
    }
    for priority in ["0", "6", "-1", "1.5", "1.0", "1e0"] {
        assert_eq!(found(&format!("REQ:{{o:\"x\",pr:{priority}}}")), ["E LX203"], "{priority}");
    }
    for sequence in ["-1", "1.5", "1e3", "9007199254740992"] {
        let text = format!("HEADER:{{f:a,t:b,s:{sequence}}}\nRES:{{o:\"x\"}}");
        assert_eq!(found_in(&text), ["E LX203"], "{sequence}");
    }
    assert_eq!(found("REQ:{o:\"x\",pr:\"2\"}"), ["E LX202"]);
}

/// LX-R13.
#[test]
fn row_12_schema_notation() {
    assert_eq!(found("PLAN:[(i:1,t:\"x\",s:P|I|C|X)]"), ["E LX008"]);
    assert_eq!(found("RES:{o:\"x\",msg?:\"y\"}"), ["E LX008"]);
    assert_eq!(found("RES:{o:what?}"), ["E LX008"]);
    assert_eq!(found("RES:{o:\"A|B?\"}"), nothing());
}

/// LX-R16, LX-R40.
#[test]
fn row_13_null() {
    assert_eq!(found("RES:{o:\"x\",msg:null}"), ["W LX117"]);
    assert_eq!(strict("RES:{o:\"x\",msg:null}"), "RES:{o:\"x\"}");
    assert_eq!(strict("CTX:{p:x,st:{a:[1,null],b:null}}"), "CTX:{p:x,st:{a:[1]}}");
    assert_eq!(found("RES:{o:null}"), ["E LX201", "W LX117"]);
    assert_eq!(strict("RES:{o:\"x\",x_a:null}"), "RES:{o:\"x\",x_a:null}");
}

/// A `p:` in a string is the string's; outside it is a key.
#[test]
fn row_14_paths_in_strings() {
    let inside = "ACT:{op:read,tgt:\"p:src/x.ts#L10-25\"}";
    assert_eq!(found(inside), nothing());
    assert_eq!(strict(inside), inside);
    assert_eq!(found("CTX:{p:src}"), nothing());
    assert_eq!(found("ACT:{op:read,tgt:\"x\",p:src}"), ["W LX206"]);
}

/// Reading and writing expand nothing.
#[test]
fn row_15_parent_directory() {
    let parent = "ACT:{op:search,tgt:\"^/src\"}";
    assert_eq!(strict(parent), parent);
}

/// Texts are never rewritten for the signs that they start with.
#[test]
fn row_16_operation_shortcuts() {
    for sign in ["+", "-", "~", "?", "!", "*", "@"] {
        let block = format!("REQ:{{o:\"{sign}endpoint\",pr:1}}");
        assert_eq!(found(&block), nothing(), "{sign}");
        assert_eq!(strict(&block), block);
    }
}

/// LX-R22.
#[test]
fn row_17_same_key_in_other_blocks() {
    assert_eq!(found("PLAN:[(i:1,t:\"x\",s:P),(i:B2,t:\"y\",s:P)]"), nothing());
    assert_eq!(found("ACT:{i:A1,op:read,tgt:\"x\"}"), nothing());
    assert_eq!(found("ACT:{i:1,op:read,tgt:\"x\"}"), ["E LX202"]);
    assert_eq!(found("CTX:{p:x,f:[\"a.rs\"]}"), nothing());
    assert_eq!(found("CTX:{p:x,f:\"a.rs\"}"), ["E LX202"]);
    assert_eq!(found_in("HEADER:{f:[\"a\"],t:b,s:1}\nRES:{o:\"x\"}"), ["E LX202"]);
}

/// LX-R23, LX-R34.
#[test]
fn row_18_priority_required() {
    let text = format!("{HEADER}REQ:{{o:\"x\"}}");
    let missing = check_messages(&text).diagnostics;
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].message, "missing required field 'pr' in REQ");
    assert!(missing[0].is_error() && text[missing[0].span.range()] == *"REQ");
    assert_eq!(found("REQ:{o:\"x\",pr:1,exp:[\"anyone\",\"at all\"]}"), nothing());
    assert_eq!(found("REQ:{o:\"x\",pr:1,exp:[1]}"), ["E LX211"]);
}

/// LX-R27, LX-R28.
#[test]
fn row_19_unknown_operation() {
    assert_eq!(found("ACT:{op:spawn,tgt:\"x\"}"), nothing());
    assert_eq!(found("ACT:{op:deploy,tgt:\"x\"}"), ["W LX205"]);
    assert_eq!(strict("ACT:{op:\"deploy\",tgt:\"x\"}"), "ACT:{op:deploy,tgt:\"x\"}");
    assert_eq!(found("OBS:{s:MAYBE}"), ["E LX204"]);
    assert_eq!(found("PLAN:[(i:1,t:\"x\",s:done)]"), ["E LX204"]);
}

/// LX-R29.
#[test]
fn row_20_response_words() {
    for option in ["ACK", "NACK", "WARN", "JWT", "the second one"] {
        let block = format!("RES:{{o:\"{option}\"}}");
        assert_eq!(found(&block), nothing());
        assert_eq!(strict(&block), block);
    }
}

/// LX-R32, LX-R33, LX-R42.
#[test]
fn row_21_unknown_types() {
    assert_eq!(found("CUSTOM:{a:1}"), ["W LX207"]);
    let text = format!("{HEADER}CUSTOM:{{ A : b }}");
    let parsed = check_messages(&text);
    assert_eq!(parsed.diagnostics[0].message, "unknown message type: CUSTOM ignored");
    let warn = Response::Warn { unknown_type: "CUSTOM".to_owned() };
    assert_eq!(replies(&parsed)[0].responses, [warn]);
    assert_eq!(strict("CUSTOM:{ A : b }"), "CUSTOM:{ A : b }");
    let extension = "X_METRICS:{ Cpu : 0.50, a:null, list:[(b:c)] }";
    assert_eq!(found(extension), nothing());
    assert_eq!(strict(extension), extension);
}

/// LX-R19, LX-R31, LX-R33, LX-R42.
#[test]
fn row_22_unknown_and_duplicate_fields() {
    assert_eq!(found("RES:{o:\"x\",team:web}"), ["W LX206"]);
    assert_eq!(strict("RES:{o:\"x\",team:web}"), "RES:{o:\"x\",team:\"web\"}");
    let extension = "RES:{o:\"x\",x_Team:{ A:web, a:1 }}";
    assert_eq!(found(extension), nothing());
    assert_eq!(strict(extension), extension);
    assert_eq!(found("RES:{o:\"x\",o:\"y\"}"), ["E LX115"]);
    assert_eq!(found("RES:{o:\"x\",O:\"y\"}"), ["W LX114", "E LX115"]);
    assert_eq!(found("OBS:{s:OK,c:{a:1,a:2}}"), ["E LX115"]);
}

/// A batch is named in the request and in its answers; one message says nothing of the order.
#[test]
fn row_23_batches_and_sequence() {
    let batch = "HEADER:{f:a,t:ALL,s:9,b:B1}\nACT:{i:A1,op:read,tgt:\"x\"}\n\
                 HEADER:{f:b,t:a,s:1,b:B1}\nOBS:{ai:A1,s:OK,c:{}}\n";
    let parsed = check_messages(batch);
    assert!(!parsed.has_errors());
    let batches = parsed.tree.messages().map(|message| message.typed().unwrap().header.batch);
    assert!(batches.into_iter().all(|batch| batch.as_deref() == Some("B1")));
    assert_eq!(validate(&parsed.tree).iter().filter(|found| found.is_error()).count(), 0);
}

/// LX-R21.
#[test]
fn row_24_block_shape() {
    for block in ["CTX", "REQ", "ACT", "OBS", "BLK", "ASK", "END", "RES"] {
        assert_eq!(found(&format!("{block}:[]")), ["E LX103"], "{block}");
    }
    assert_eq!(found("PLAN:{i:1,t:\"x\",s:P}"), ["E LX103"]);
    assert_eq!(found("PLAN:[\"x\"]"), ["E LX217"]);
    assert_eq!(found_in("HEADER:[]\nRES:{o:\"x\"}"), ["E LX103"]);
    assert_eq!(found("X_A:[]\nX_A:{}"), nothing());
    assert_eq!(found("REQ:"), ["E LX103"]);
}

/// LX-R30, LX-R33.
#[test]
fn row_25_version_and_reply_to() {
    let versioned = "HEADER:{f:a,t:b,s:2,x_v:\"1.0\",x_re:1}\nRES:{o:\"ACK\"}\n";
    assert_eq!(found_in(versioned), nothing());
    assert_eq!(print(&check_messages(versioned).tree), versioned);
    let several = "HEADER:{f:a,t:[b,\"c d\"],s:1}\nRES:{o:\"x\"}\n";
    assert_eq!(found_in(several), ["W LX210"]);
    assert_eq!(print(&check_messages(several).tree), several);
    assert_eq!(found_in("HEADER:{f:a,t:[],s:1}\nRES:{o:\"x\"}"), ["E LX209"]);
    assert_eq!(found_in("HEADER:{f:\"\",t:\"\",s:1}\nRES:{o:\"x\"}"), ["E LX209", "E LX209"]);
}
