//! The wire examples of the specification, each as it stands there, and what we make of it.

use sabir_llmx::{check_messages, print};

const HEADER: &str = "HEADER:{f:Claude,t:Gemini,s:1}";

/// The codes of what is found in a text.
fn found(text: &str) -> Vec<&'static str> {
    check_messages(text).diagnostics.iter().map(|found| found.code.as_str()).collect()
}

/// Everything but the two HEADERs that stand alone is silent, in the strict form already, and has
/// its Rust types.
#[test]
fn blocks_are_valid_and_strict() {
    for block in [
        r#"CTX:{p:myapp,f:["src/api.ts","src/db.ts"],st:{phase:"P1",env:"dev"},issue:"PROJ-123"}"#,
        r#"REQ:{o:"implement user authentication",pr:2,d:["PROJ-100"],exp:["SECURITY-EXPERT"]}"#,
        r#"PLAN:[(i:1,t:"analyze requirements",s:C),(i:2,t:"implement core",s:I),(i:3,t:"write tests",s:P)]"#,
        r#"ACT:{i:A1,op:edit,tgt:"p:src/auth.ts#L42",args:{action:"add validation"}}"#,
        r#"ACT:{op:shell,tgt:"npm test"}"#,
        r#"OBS:{ai:A1,s:OK,c:{lines:45,modified:true}}"#,
        r#"OBS:{ai:A2,s:ERR,e:"file not found: src/missing.ts"}"#,
        r#"BLK:{w:"missing API credentials",a:["use mock","wait for config","skip feature"],esc:true}"#,
        r#"ASK:{q:"which auth method?",o:["JWT","session","OAuth2"],def:"JWT"}"#,
        r#"END:{n:"security review",t:["npm test","npm run lint"],r:["needs load testing"],del:["src/auth.ts","src/auth.test.ts"]}"#,
        r#"RES:{o:"ACK",msg:"proceeding with implementation"}"#,
        r#"RES:{o:"JWT",msg:"will use RS256 signing"}"#,
        r#"OBS:{ai:A1,s:ERR,e:"permission denied"}"#,
        r#"RES:{o:"NACK",msg:"parse error: missing required field 'o' in REQ"}"#,
        r#"RES:{o:"WARN",msg:"unknown message type: CUSTOM ignored"}"#,
        r#"REQ:{o:"task",pr:2,x_team:"frontend",x_deadline:"2024-01-15"}"#,
    ] {
        let text = format!("{HEADER}\n{block}\n");
        let parsed = check_messages(&text);
        assert_eq!(parsed.diagnostics, [], "{block}");
        assert_eq!(print(&parsed.tree), text);
        assert!(parsed.tree.messages().all(|message| message.typed().is_some()), "{block}");
    }
}

#[test]
fn headers_alone_are_messages_with_a_warning() {
    for header in [HEADER, "HEADER:{f:Orchestrator,t:ALL,s:42,b:B1}"] {
        assert_eq!(found(header), ["LX121"], "{header}");
        assert_eq!(print(&check_messages(header).tree), format!("{header}\n"));
    }
}

#[test]
fn batches_are_messages_of_several_blocks() {
    for batch in [
        "HEADER:{f:Claude,t:ALL,s:1,b:B1}\nACT:{i:A1,op:read,tgt:\"p:file1.ts\"}\nACT:{i:A2,op:read,tgt:\"p:file2.ts\"}\nACT:{i:A3,op:search,tgt:\"p:src/\",args:{q:\"TODO\"}}\n",
        "HEADER:{f:Gemini,t:Claude,s:2,b:B1}\nOBS:{ai:A1,s:OK,c:{lines:100}}\nOBS:{ai:A3,s:OK,c:{matches:5}}\nOBS:{ai:A2,s:OK,c:{lines:50}}\n",
    ] {
        let parsed = check_messages(batch);
        assert_eq!(parsed.diagnostics, [], "{batch}");
        assert_eq!(print(&parsed.tree), batch);
        assert_eq!(parsed.tree.messages().count(), 1);
        assert_eq!(parsed.tree.messages().flat_map(|message| message.blocks()).count(), 3);
    }
}

/// What describes a message is none.
#[test]
fn descriptions_are_refused() {
    assert_eq!(
        found("HEADER:{f:SENDER,t:TARGET,s:SEQUENCE,b?:BATCH_ID}\nRES:{o:\"x\"}"),
        ["LX202", "LX008"]
    );
    for (description, expected) in [
        ("CTX:{p:PROJECT,f?:[FILES],st?:{STATE},issue?:ISSUE_ID}", "LX008"),
        ("REQ:{o:OBJECTIVE,pr:PRIORITY,d?:[DEPENDENCIES],exp?:[EXPERTS]}", "LX202"),
        ("PLAN:[(i:ID,t:TASK,s:STATUS),...]", "LX204"),
        ("ACT:{i?:ID,op:OPERATION,tgt:TARGET,args?:{ARGUMENTS}}", "LX008"),
        ("OBS:{ai?:ACT_ID,s:STATUS,c:{CONTENT},e?:ERROR_MSG}", "LX008"),
        ("BLK:{w:WHY,a:[ALTERNATIVES],esc?:ESCALATE}", "LX008"),
        ("ASK:{q:QUESTION,o:[OPTIONS],def?:DEFAULT}", "LX008"),
        ("END:{n:NEXT_ACTION,t?:[TESTS],r?:[RISKS],del:[DELIVERABLES]}", "LX008"),
        ("RES:{o:OPTION,msg?:MESSAGE}", "LX008"),
        ("X_TYPENAME:{field:value,...}", "LX111"),
    ] {
        let text = format!("{HEADER}\n{description}");
        assert!(check_messages(&text).has_errors(), "{description}");
        assert!(found(&text).contains(&expected), "{description}: {:?}", found(&text));
    }
}

/// Shortcuts stand inside strings, and stay what they are.
#[test]
fn shortcuts_are_text() {
    for shortcut in ["p:src/api.ts", "p:file.ts#L42", "p:file.ts#L10-25", "+x", "-x", "~x", "@x"] {
        let text = format!("{HEADER}\nACT:{{op:spawn,tgt:\"{shortcut}\"}}\n");
        assert!(!check_messages(&text).has_errors(), "{shortcut}");
        assert_eq!(print(&check_messages(&text).tree), text);
    }
}
