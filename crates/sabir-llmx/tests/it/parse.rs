//! What is read, what is said about it, and how it is written again.

use expect_test::{Expect, expect};
use sabir_llmx::{parse, print, same};

/// The strict form of `text`, then what was said about `text`.
fn check(text: &str, expected: Expect) {
    let parsed = parse(text);
    let printed = print(&parsed.tree);
    let mut out = printed.clone();
    for found in &parsed.diagnostics {
        let severity = found.severity.as_str();
        let place = text.get(found.span.range()).unwrap();
        out.push_str(&format!("{severity}[{}] {place:?}: {}\n", found.code, found.message));
    }
    expected.assert_eq(&out);
    if !parsed.has_errors() {
        let again = parse(&printed);
        assert!(!again.has_errors(), "{:?}", again.diagnostics);
        assert!(same(&parsed.tree, &again.tree), "{printed}");
        assert_eq!(print(&again.tree), printed);
    }
}

#[test]
fn a_message_of_every_block() {
    check(
        r#"
HEADER:{f:Claude,t:Gemini,s:1}
CTX:{p:myapp,f:["src/api.ts","src/db.ts"],st:{phase:"P1",env:"dev"},issue:"PROJ-123"}
REQ:{o:"implement user authentication",pr:2,d:["PROJ-100"],exp:["SECURITY-EXPERT"]}
PLAN:[(i:1,t:"analyze",s:C),(i:2,t:"core",s:I)]
ACT:{i:A1,op:edit,tgt:"p:src/auth.ts#L42",args:{action:"add validation"}}
OBS:{ai:A1,s:OK,c:{lines:45,modified:true}}
OBS:{ai:A2,s:ERR,e:"file not found"}
BLK:{w:"no key",a:["use mock","wait"],esc:true}
ASK:{q:"which?",o:["JWT","session"],def:"JWT"}
END:{n:"review",t:["npm test"],r:["load"],del:["src/auth.ts"]}
RES:{o:"ACK",msg:"go"}
X_METRICS:{ Cpu : 0.50, words:[a, "b"] }
"#,
        expect![[r#"
            HEADER:{f:Claude,t:Gemini,s:1}
            CTX:{p:myapp,f:["src/api.ts","src/db.ts"],st:{phase:"P1",env:"dev"},issue:"PROJ-123"}
            REQ:{o:"implement user authentication",pr:2,d:["PROJ-100"],exp:["SECURITY-EXPERT"]}
            PLAN:[(i:1,t:"analyze",s:C),(i:2,t:"core",s:I)]
            ACT:{i:A1,op:edit,tgt:"p:src/auth.ts#L42",args:{action:"add validation"}}
            OBS:{ai:A1,s:OK,c:{lines:45,modified:true}}
            OBS:{ai:A2,s:ERR,e:"file not found"}
            BLK:{w:"no key",a:["use mock","wait"],esc:true}
            ASK:{q:"which?",o:["JWT","session"],def:"JWT"}
            END:{n:"review",t:["npm test"],r:["load"],del:["src/auth.ts"]}
            RES:{o:"ACK",msg:"go"}
            X_METRICS:{ Cpu : 0.50, words:[a, "b"] }
        "#]],
    );
}

/// LX-R4, LX-R18.
#[test]
fn lenient_in_strict_out() {
    check(
        "HEADER: { \"f\" : \"Claude\", T: [a,\"b c\"], s: 1, b: null } req:{o:fix, pr:1}\n\
         CTX:{p:\"my app\",f:[src/api.ts,^/x]}\nOBS:{s:ERR,c:{},e:\"x\ny\"}\nOBS:{s:ERR,c:{a:b},e:x}\n\
         PLAN:[{i:1,t:go,s:\"P\"}] CTX:{p:x,st:(a:1,B:[null,2])}",
        expect![[r#"
            HEADER:{f:Claude,t:[a,"b c"],s:1}
            REQ:{o:"fix",pr:1}
            CTX:{p:"my app",f:["src/api.ts","^/x"]}
            OBS:{s:ERR,e:"x\ny"}
            OBS:{s:ERR,x_c:{a:"b"},e:"x"}
            PLAN:[(i:1,t:"go",s:P)]
            CTX:{p:x,st:{a:1,b:[2]}}
            warning[LX113] "\"f\"": a key needs no quotes
            warning[LX114] "T": keys are written in lower case
            warning[LX117] "null": the notation has no null
            error[LX104] "req": the type of a block is written in capitals: `REQ`
            warning[LX007] "src/api.ts": this text needs quotes
            warning[LX007] "^/x": this text needs quotes
            warning[LX003] "\n": a raw control character in a string
            warning[LX116] "(": only the steps of a PLAN are written in parentheses
            warning[LX114] "B": keys are written in lower case
            warning[LX117] "null": the notation has no null
        "#]],
    );
}

/// LX-R5, LX-R9.
#[test]
fn errors_leave_the_rest_readable() {
    check(
        "Here you go:\n```\nHEADER:{f:a,t:b,s:1,s:2}\nREQ:{o:fix the bug,pr:1 d:[\"x\" \"y\"],}\n\
         ACT:{op:read|write,tgt:'x'\nOBS:{s:OK,c:{a:[1,2}\nRES:{o}\nRES:{o:\"ACK}\nRES:\"x\"\nEND:{n:,b?:2,a-b:1,007:08}\n}\n```\n",
        expect![[r#"
            Here you go:
            ```
            HEADER:{f:a,t:b,s:1,s:2}
            REQ:{o:"fix the bug",pr:1,d:["x","y"]}
            ACT:{op:"read|write",tgt:'x'}
            OBS:{s:OK,c:{a:[1,2]}}
            RES:{}
            RES:{o:"ACK}\nRES:"}
            END:{n:,b:2,a-b:1,007:08}
            }
            ```
            error[LX101] "Here you go:\n```": this is not part of a block
            error[LX115] "s": the key `s` stands twice
            error[LX007] "fix the bug": this text needs quotes
            error[LX107] "d": a comma is missing before this
            error[LX107] "\"": a comma is missing before this
            error[LX108] ",": a comma with nothing after it
            error[LX008] "read|write": `|` belongs to descriptions of the notation, not to messages
            error[LX009] "'x'": strings are written in double quotes
            error[LX105] "{": this `{` is never closed
            error[LX105] "[": this `[` is never closed
            error[LX105] "{": this `{` is never closed
            error[LX111] "o": a value without a key
            warning[LX003] "\n": a raw control character in a string
            error[LX122] "x": expected `,` or `}`
            error[LX001] "\"": this string is never closed
            error[LX122] "\"": expected `,` or `}`
            error[LX110] ",": a value is missing before this
            error[LX008] "?": `?` marks an optional field in a description; a message does not write it
            error[LX112] "a-b": a key holds letters, digits and `_` only
            warning[LX114] "007": a key starts with a letter
            error[LX006] "08": numbers are written as in JSON: 0, -1.5, 1e3
            error[LX106] "}": this bracket closes nothing
            error[LX101] "```": this is not part of a block
        "#]],
    );
}

#[test]
fn a_message_starts_with_its_header_in_any_case() {
    check(
        "header:{f:a,t:b,s:1}\nRES:{o:\"x\"}\nHeader:{f:a,t:b,s:2}\nRES:{o:\"x\"}\n",
        expect![[r#"
            HEADER:{f:a,t:b,s:1}
            RES:{o:"x"}
            HEADER:{f:a,t:b,s:2}
            RES:{o:"x"}
            error[LX104] "header": the type of a block is written in capitals: `HEADER`
            error[LX104] "Header": the type of a block is written in capitals: `HEADER`
        "#]],
    );
}

#[test]
fn extensions_keep_what_others_lose() {
    check(
        "HEADER:{f:a,t:b,s:1,\"x_a\":{A:1,a:null}}\nPLAN:[{i:1,t:\"x\",s:P,x_b:f)o}]\n",
        expect![[r#"
            HEADER:{f:a,t:b,s:1,x_a:{A:1,a:null}}
            PLAN:[(i:1,t:"x",s:P,x_b:"f)o")]
            warning[LX113] "\"x_a\"": a key needs no quotes
            warning[LX007] "f)o": this text needs quotes
        "#]],
    );
}

/// LX-R5.
#[test]
fn a_type_without_a_body_takes_nothing_with_it() {
    check(
        "HEADER:{f:a,t:b,s:1}\nREQ:\nHEADER:{f:a,t:b,s:2}\nPLAN: soon\nRES:\n",
        expect![[r#"
            HEADER:{f:a,t:b,s:1}
            REQ:
            HEADER:{f:a,t:b,s:2}
            PLAN:soon
            RES:
            error[LX103] "REQ": REQ needs braces after its colon
            error[LX103] "soon": PLAN needs brackets after its colon
            error[LX103] "RES": RES needs braces after its colon
        "#]],
    );
}

/// A node covers its children, so that whoever looks for a place finds what stands there.
#[test]
fn text_behind_a_message_lies_in_it() {
    let text = "HEADER:{f:a,t:b,s:1}\nRES:{o:\"x\"}\n```\n";
    let parsed = parse(text);
    let message = parsed.tree.messages().next().unwrap();
    assert_eq!(message.node.text(), text.trim_end());
    assert_eq!(parsed.tree.node_at(34).text(), "```");
}

#[test]
fn a_quote_of_another_kind_that_nothing_closes_is_an_error() {
    check(
        "HEADER:{f:a,t:b,s:1,x_a:'b\n,x_c:\"it's\"}\nRES:{o:\"x\"}",
        expect![[r#"
        HEADER:{f:a,t:b,s:1,x_a:'b,x_c:"it's"}
        RES:{o:"x"}
        error[LX007] "'b": this text needs quotes
    "#]],
    );
}
