//! Rows, and the messages that they are. The rules are those of `docs/protocol/record.md`.

use std::path::Path;

use expect_test::{Expect, expect};
use sabir_lingua::tokens::Tokenizer;
use sabir_lingua::{Form, hear, utter};
use sabir_store::library::{AuditOutcome, NewAudit};
use sabir_store::{Batch, Entry, Hash, Line, LineFilter, SessionFacts, SessionId, Store};
use sabir_testkit::assert_rules_are_named;

use super::*;

fn row(kind: &str, tag: &str, key: &str, body: &str) -> Line {
    let hash = Hash::from_bytes([0; 32]);
    let (kind, tag, key, body) = (kind.into(), tag.into(), key.into(), body.to_owned());
    Line { seq: 5, session_id: SessionId::new("s1"), at_ms: 61_001, kind, tag, key, body, hash }
}

fn of_session(session: &str, line: Line) -> Line {
    Line { session_id: SessionId::new(session), ..line }
}

/// Every row is taken through every form, and the JSON of it is shown.
fn check(lines: &[Line], expected: Expect) {
    let mut shown = String::new();
    for line in lines {
        let told = messages("node", line);
        let all = utterance("node", line, Tokenizer::O200k).unwrap();
        for form in [Form::Json, Form::Axon, Form::Llmx] {
            assert_eq!(hear(all.form(form), form).as_ref(), Some(&told), "{}", all.form(form));
            assert!(all.tokens.of(form) > 0);
        }
        assert_eq!(utter(&told, Form::Json).unwrap(), all.json);
        let place = r#""id":"node/5","at_ms":61001,"#;
        shown.push_str(&format!("{}\n  {}\n", all.json.replace(place, ""), summary("node", line)));
    }
    expected.assert_eq(&shown);
}

/// RE-M1, RE-M2 and RE-M3.
#[test]
fn what_users_submit() {
    let submission = |op: &str| row("submission", "", "1", &format!(r#"{{"id":"1","op":{op}}}"#));
    check(
        &[
            submission(
                r#"{"type":"user_input","items":[{"type":"text","text":"fix it"}],"last_response_id":null,"mode":"replace"}"#,
            ),
            submission(
                r#"{"type":"user_input","items":[{"type":"text","text":"and"}],"mode":"steer"}"#,
            ),
            submission(r#"{"type":"run_user_shell_command","command":"ls -l"}"#),
            submission(r#"{"type":"interrupt"}"#),
            submission(
                r#"{"type":"exec_approval","call_id":"c","decision":"approved","prefix":null}"#,
            ),
            submission(r#"{"type":"patch_approval","call_id":"c","decision":"denied"}"#),
            submission(r#"{"type":"get_history"}"#),
        ],
        expect![[r#"
            {"ctx":"s1","of":"1","act":"REQ","from":"user","to":"agent","what":"user_input","content":"fix it"}
              user asks agent for user input (1): fix it
            {"ctx":"s1","of":"1","act":"REQ","from":"user","to":"agent","what":"user_input","content":{"items":[{"type":"text","text":"and"}],"mode":"steer"}}
              user asks agent for user input (1): items: (type: text, text: and); mode: steer
            {"ctx":"s1","of":"1","act":"REQ","from":"user","to":"agent","what":"run_user_shell_command","content":"ls -l"}
              user asks agent for run user shell command (1): ls -l
            {"ctx":"s1","of":"1","act":"CAN","from":"user","to":"agent","what":"interrupt","content":null}
              user calls off with agent interrupt (1).
            {"ctx":"s1","of":"1","act":"ACC","from":"user","to":"agent","what":"exec_approval","content":{"call_id":"c","decision":"approved","prefix":null}}
              user agrees with agent on exec approval (1): call id: c; decision: approved; prefix: nothing
            {"ctx":"s1","of":"1","act":"REJ","from":"user","to":"agent","what":"patch_approval","content":{"call_id":"c","decision":"denied"}}
              user refuses agent patch approval (1): call id: c; decision: denied
            {"ctx":"s1","of":"1","act":"QRY","from":"user","to":"agent","what":"get_history","content":null}
              user asks agent about get history (1).
        "#]],
    );
}

/// RE-M4.
#[test]
fn what_agents_tell() {
    let event = |tag: &str, msg: &str| {
        row("event", tag, "1", &format!(r#"{{"id":"1","msg":{{"type":"{tag}"{msg}}}}}"#))
    };
    check(
        &[
            event("agent_message", r#","message":"Done.\nAll of it.""#),
            event("task_complete", r#","last_agent_message":"Done.""#),
            event("error", r#","message":"no model""#),
            event(
                "exec_approval_request",
                r#","call_id":"c","command":["rm","x"],"cwd":"/w","session_scope":"rm x""#,
            ),
            event("token_count", r#","input":12,"total":{"input":12.50,"output":1e2}"#),
            event("shutdown_complete", ""),
        ],
        expect![[r#"
            {"ctx":"s1","of":"1","act":"INF","from":"agent","to":"user","what":"agent_message","content":"Done.\nAll of it."}
              agent tells user of agent message (1): Done. All of it.
            {"ctx":"s1","of":"1","act":"RPL","from":"agent","to":"user","what":"task_complete","content":{"last_agent_message":"Done."}}
              agent answers user with task complete (1): last agent message: Done.
            {"ctx":"s1","of":"1","act":"ERR","from":"agent","to":"user","what":"error","content":"no model"}
              agent reports to user a failure, error (1): no model
            {"ctx":"s1","of":"1","act":"QRY","from":"agent","to":"user","what":"exec_approval_request","content":{"call_id":"c","command":["rm","x"],"cwd":"/w","session_scope":"rm x"}}
              agent asks user about exec approval request (1): call id: c; command: rm and x; cwd: /w; session scope: “rm x”
            {"ctx":"s1","of":"1","act":"INF","from":"agent","to":"user","what":"token_count","content":{"input":12,"total":{"input":12.50,"output":1e2}}}
              agent tells user of token count (1): input: 12; total: (input: 12.50, output: 1e2)
            {"ctx":"s1","of":"1","act":"INF","from":"agent","to":"user","what":"shutdown_complete","content":null}
              agent tells user of shutdown complete (1).
        "#]],
    );
}

/// RE-M5 and RE-M6, and what else a session remembers.
#[test]
fn what_models_read_and_people_are_asked() {
    let item = |item: &str| row("item", "", "", &format!(r#"{{"type":"item","item":{item}}}"#));
    let approval = |state: &str| {
        let body =
            format!(r#"{{"type":"approval","call_id":"c","state":"{state}","what":"rm x"}}"#);
        row("approval", state, "c", &body)
    };
    check(
        &[
            item(
                r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#,
            ),
            item(
                r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}"#,
            ),
            item(r#"{"type":"message","role":"developer","content":[]}"#),
            item(r#"{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"}"#),
            item(r#"{"type":"function_call_output","call_id":"c","output":"ok"}"#),
            approval("requested"),
            approval("approved"),
            approval("denied"),
            approval("expired"),
            row("turn", "", "resp_1", r#"{"type":"turn","response_id":"resp_1","usage":null}"#),
            row("note", "plan", "", r#"{"type":"plan","plan":[]}"#),
            row("session", "", "", r#"{"cwd":"/w","model":"m","title":null,"parent":null}"#),
        ],
        expect![[r#"
            {"ctx":"s1","act":"REQ","from":"user","to":"model","what":"message","content":"hi"}
              user asks model for message: hi
            {"ctx":"s1","act":"RPL","from":"model","to":"agent","what":"message","content":"yes"}
              model answers agent with message: yes
            {"ctx":"s1","act":"INF","from":"agent","to":"model","what":"message","content":{"role":"developer","content":[]}}
              agent tells model of message: role: developer; content: none
            {"ctx":"s1","of":"c","act":"REQ","from":"model","to":"agent","what":"function_call","content":{"name":"shell","arguments":"{}"}}
              model asks agent for function call (c): name: shell; arguments: “{}”
            {"ctx":"s1","of":"c","act":"RPL","from":"agent","to":"model","what":"function_call_output","content":{"output":"ok"}}
              agent answers model with function call output (c): output: ok
            {"ctx":"s1","of":"c","act":"QRY","from":"agent","to":"user","what":"approval_requested","content":"rm x"}
              agent asks user about approval requested (c): rm x
            {"ctx":"s1","of":"c","act":"ACC","from":"user","to":"agent","what":"approval_approved","content":"rm x"}
              user agrees with agent on approval approved (c): rm x
            {"ctx":"s1","of":"c","act":"REJ","from":"user","to":"agent","what":"approval_denied","content":"rm x"}
              user refuses agent approval denied (c): rm x
            {"ctx":"s1","of":"c","act":"INF","from":"agent","to":"user","what":"approval_expired","content":"rm x"}
              agent tells user of approval expired (c): rm x
            {"ctx":"s1","of":"resp_1","act":"INF","from":"model","to":"agent","what":"turn","content":{"usage":null}}
              model tells agent of turn (resp_1): usage: nothing
            {"ctx":"s1","act":"INF","from":"agent","to":"*","what":"plan","content":{"plan":[]}}
              agent tells everyone of plan: plan: none
            {"ctx":"s1","act":"INF","from":"agent","to":"*","what":"session","content":{"cwd":"/w","model":"m","title":null,"parent":null}}
              agent tells everyone of session: cwd: /w; model: m; title: nothing; parent: nothing
        "#]],
    );
}

/// RE-M7.
#[test]
fn what_other_agents_ask_and_are_told() {
    let key = r#""key":{"owner":"ldp:delegate:me","id":"t1"}"#;
    let records = [
        r#"{"record":"seen","replay":{"sender":"ldp:delegate:me","digest":"00"},"session":"x","at":1}"#.to_owned(),
        format!(r#"{{"record":"started",{key},"session":"x","skill":"echo","at":1}}"#),
        format!(r#"{{"record":"updated",{key},"seq":1,"state":"working","progress":0.5}}"#),
        format!(r#"{{"record":"ended",{key},"session":"x","ending":{{"result":{{"output":"hi"}}}}}}"#),
        format!(r#"{{"record":"ended",{key},"session":"x","ending":{{"failed":{{"code":"NO"}}}}}}"#),
        r#"{"record":"opened","session":"x","owner":"ldp:delegate:me","mode":"text"}"#.to_owned(),
        r#"{"record":"suspended","session":"x","at":1}"#.to_owned(),
        r#"{"record":"attested","from":"ldp:delegate:me","session":null,"claim":1,"evidence":{}}"#.to_owned(),
        r#"{"record":"refused","from":"ldp:delegate:me","task":"t2","code":"NO","why":"because"}"#.to_owned(),
    ];
    let one = records
        .each_ref()
        .map(|record| of_session("", row("peer", "", "", &format!("[{record}]"))));
    check(
        &one,
        expect![[r#"
            {"ctx":"x","act":"INF","from":"ldp:delegate:me","to":"node","what":"seen","content":{"replay":{"sender":"ldp:delegate:me","digest":"00"},"at":1}}
              ldp:delegate:me tells node of seen: replay: (sender: ldp:delegate:me, digest: 00); at: 1
            {"ctx":"x","of":"t1","act":"REQ","from":"ldp:delegate:me","to":"node","what":"task_submit","content":{"skill":"echo","at":1}}
              ldp:delegate:me asks node for task submit (t1): skill: echo; at: 1
            {"of":"t1","act":"INF","from":"node","to":"ldp:delegate:me","what":"task_update","content":{"seq":1,"state":"working","progress":0.5}}
              node tells ldp:delegate:me of task update (t1): seq: 1; state: working; progress: 0.5
            {"ctx":"x","of":"t1","act":"RPL","from":"node","to":"ldp:delegate:me","what":"task_result","content":{"ending":{"result":{"output":"hi"}}}}
              node answers ldp:delegate:me with task result (t1): ending: (result: (output: hi))
            {"ctx":"x","of":"t1","act":"ERR","from":"node","to":"ldp:delegate:me","what":"task_failed","content":{"ending":{"failed":{"code":"NO"}}}}
              node reports to ldp:delegate:me a failure, task failed (t1): ending: (failed: (code: NO))
            {"ctx":"x","act":"ACC","from":"node","to":"ldp:delegate:me","what":"session_accept","content":{"mode":"text"}}
              node agrees with ldp:delegate:me on session accept: mode: text
            {"ctx":"x","act":"INF","from":"node","to":"*","what":"suspended","content":{"at":1}}
              node tells everyone of suspended: at: 1
            {"act":"INF","from":"ldp:delegate:me","to":"node","what":"attestation","content":{"claim":1,"evidence":{}}}
              ldp:delegate:me tells node of attestation: claim: 1; evidence: nothing
            {"of":"t2","act":"REJ","from":"node","to":"ldp:delegate:me","what":"refusal","content":{"code":"NO","why":"because"}}
              node refuses ldp:delegate:me refusal (t2): code: NO; why: because
        "#]],
    );
    let both = of_session("", row("peer", "", "", &format!("[{}]", records[..2].join(","))));
    check(
        std::slice::from_ref(&both),
        expect![[r#"
            [{"id":"node/5/1","at_ms":61001,"ctx":"x","act":"INF","from":"ldp:delegate:me","to":"node","what":"seen","content":{"replay":{"sender":"ldp:delegate:me","digest":"00"},"at":1}},{"id":"node/5/2","at_ms":61001,"ctx":"x","of":"t1","act":"REQ","from":"ldp:delegate:me","to":"node","what":"task_submit","content":{"skill":"echo","at":1}}]
              ldp:delegate:me asks node for task submit (t1): skill: echo; at: 1 (and 1 more)
        "#]],
    );
}

/// QP-J20: what is written as one record is told as three messages.
#[test]
fn a_task_that_was_done_at_once_is_told_in_full() {
    let done = concat!(
        r#"[{"record":"done","seen":"abababababababababababababababab","forget_at":1300500,"#,
        r#""key":{"owner":"ldp:delegate:me","id":"t1"},"session":"x","skill":"echo","#,
        r#""digest":"0707070707070707070707070707070707070707070707070707070707070707","#,
        r#""mode":"text","deadline":1000509,"authentication":"signed","output":"hi","#,
        r#""produced_by":"ldp:delegate:harbor","model_version":"m-1","#,
        r#""usage":{"tokens":0,"cost_usd":0.0},"at":1000500}]"#,
    );
    check(
        &[of_session("", row("peer", "", "", done))],
        expect![[r#"
        [{"id":"node/5/1","at_ms":61001,"ctx":"x","act":"INF","from":"ldp:delegate:me","to":"node","what":"seen","content":{"replay":{"sender":"ldp:delegate:me","digest":"abababababababababababababababab","forget_at":1300500},"at":1000500}},{"id":"node/5/2","at_ms":61001,"ctx":"x","of":"t1","act":"REQ","from":"ldp:delegate:me","to":"node","what":"task_submit","content":{"skill":"echo","digest":"0707070707070707070707070707070707070707070707070707070707070707","mode":"text","contract":null,"delegation_path":["ldp:delegate:me"],"deadline":1000509,"authentication":"signed","at":1000500}},{"id":"node/5/3","at_ms":61001,"ctx":"x","of":"t1","act":"RPL","from":"node","to":"ldp:delegate:me","what":"task_result","content":{"digest":"0707070707070707070707070707070707070707070707070707070707070707","mode":"text","ending":{"result":{"output":"hi","provenance":{"produced_by":"ldp:delegate:harbor","model_version":"m-1","payload_mode_used":"text","confidence":null,"verified":false,"session_id":"x","timestamp":"1970-01-01T00:16:40.500Z","tokens_used":0,"cost_usd":0.0,"contract_id":null,"contract_satisfied":null,"contract_violations":[],"verification_status":"unverified","evidence":[],"lineage":[{"delegate_id":"ldp:delegate:harbor","model_version":"m-1","step":"echo","timestamp":"1970-01-01T00:16:40.500Z","verification_status":"unverified"}],"latency_ms":0}}},"usage":{"tokens":0,"cost_usd":0.0},"authentication":"signed","at":1000500}}]
          ldp:delegate:me asks node for task submit (t1): skill: echo; digest: 0707070707070707070707070707070707070707070707070707070707070707; mode: text; contract: not… (and 2 more)
    "#]],
    );
}

/// RE-M8 and RE-M9.
#[test]
fn what_the_gate_and_the_router_say() {
    let order = |line| of_session("order-7", line);
    check(
        &[
            row(DECISION, "allow", "c", r#"{"subject":"shell"}"#),
            row(DECISION, "ask", "c", r#"{"subject":"shell"}"#),
            row(DECISION, "deny", "c", r#"{"subject":"shell"}"#),
            order(row("submission", "", "k", r#"{"task":"sum up","skill":"research"}"#)),
            order(row("event", "chosen", "k", r#"{"event":"chosen","why":"the best"}"#)),
            order(row(
                "event",
                "failed",
                "k",
                r#"{"event":"failed","delegate_id":"a","error":{}}"#,
            )),
            order(row("submission", "", "", r#"{"task":"part of it","by":"agent","depth":1}"#)),
            order(row(
                "event",
                "report",
                "",
                r#"{"event":"report","state":"done","report":{"output":1},"error":null}"#,
            )),
            order(row(
                "event",
                "report",
                "",
                r#"{"event":"report","state":"failed","report":null,"error":{"code":"NO"}}"#,
            )),
            order(row(
                "event",
                "report",
                "",
                r#"{"event":"report","state":"cancelled","report":null,"error":null}"#,
            )),
        ],
        expect![[r#"
            {"ctx":"s1","of":"c","act":"ACC","from":"gate","to":"s1","what":"decision","content":{"subject":"shell"}}
              gate agrees with s1 on decision (c): subject: shell
            {"ctx":"s1","of":"c","act":"QRY","from":"gate","to":"s1","what":"decision","content":{"subject":"shell"}}
              gate asks s1 about decision (c): subject: shell
            {"ctx":"s1","of":"c","act":"REJ","from":"gate","to":"s1","what":"decision","content":{"subject":"shell"}}
              gate refuses s1 decision (c): subject: shell
            {"ctx":"order-7","of":"k","act":"REQ","from":"user","to":"router","what":"order","content":{"task":"sum up","skill":"research"}}
              user asks router for order (k): task: “sum up”; skill: research
            {"ctx":"order-7","of":"k","act":"INF","from":"router","to":"user","what":"chosen","content":"the best"}
              router tells user of chosen (k): the best
            {"ctx":"order-7","of":"k","act":"ERR","from":"router","to":"user","what":"failed","content":{"delegate_id":"a","error":{}}}
              router reports to user a failure, failed (k): delegate id: a; error: nothing
            {"ctx":"order-7","act":"REQ","from":"agent","to":"router","what":"order","content":{"task":"part of it","depth":1}}
              agent asks router for order: task: “part of it”; depth: 1
            {"ctx":"order-7","act":"RPL","from":"router","to":"user","what":"report","content":{"state":"done","report":{"output":1},"error":null}}
              router answers user with report: state: done; report: (output: 1); error: nothing
            {"ctx":"order-7","act":"ERR","from":"router","to":"user","what":"report","content":{"state":"failed","report":null,"error":{"code":"NO"}}}
              router reports to user a failure, report: state: failed; report: nothing; error: (code: NO)
            {"ctx":"order-7","act":"CAN","from":"router","to":"user","what":"report","content":{"state":"cancelled","report":null,"error":null}}
              router calls off with user report: state: cancelled; report: nothing; error: nothing
        "#]],
    );
}

/// RE-M10.
#[test]
fn what_cannot_be_read_is_shown_as_it_stands() {
    check(
        &[
            row("item", "", "", "a piece of the thread"),
            row("item", "", "", "{}"),
            row("event", "x", "1", "[1,"),
            row("peer", "", "", "{}"),
        ],
        expect![[r#"
            {"ctx":"s1","act":"INF","from":"agent","to":"*","what":"item","content":"a piece of the thread"}
              agent tells everyone of item: a piece of the thread
            {"ctx":"s1","act":"INF","from":"agent","to":"*","what":"item","content":{}}
              agent tells everyone of item.
            {"ctx":"s1","of":"1","act":"INF","from":"agent","to":"*","what":"event","content":"[1,"}
              agent tells everyone of event (1): [1,
            {"act":"INF","from":"node","to":"*","what":"peer","content":{}}
              node tells everyone of peer.
        "#]],
    );
}

#[test]
fn the_journals_of_a_home_are_found_and_searched() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(journal_names(home.path()).unwrap(), [] as [String; 0]);
    let facts = SessionFacts { cwd: "/w".into(), model: "m".into(), title: None, parent: None };
    let batch = Batch {
        session_id: SessionId::new("s"),
        at_ms: 1,
        entries: vec![Entry::Session(facts), Entry::Item { body: "\"words\"".into() }],
    };
    for folder in ["", "delegates/researcher", "delegates/node"] {
        Store::open(&home.path().join(folder)).unwrap().append_and_wait(batch.clone()).unwrap();
    }
    std::fs::create_dir_all(home.path().join("delegates/empty")).unwrap();
    let library = crate::open_library(home.path()).unwrap();
    let decision = |outcome, call: &str| NewAudit {
        actor: "s".into(),
        call_id: call.into(),
        subject: "shell".into(),
        outcome,
        reason: "policy_denied".into(),
        body: format!(r#"{{"reason":"because of {call}"}}"#),
    };
    let rows = [decision(AuditOutcome::Deny, "c1"), decision(AuditOutcome::Allow, "c2")];
    library.append_audit(&rows, 9).unwrap();
    assert_eq!(journal_names(home.path()).unwrap(), ["node", "researcher", "audit"]);

    let unknown = Journal::open(home.path(), "coder").unwrap_err().to_string();
    assert_eq!(unknown, "there is no journal `coder`; there are node, researcher, audit");
    for journal in Journal::open_all(home.path()).unwrap() {
        assert_eq!(journal.last_seq().unwrap(), 2, "{}", journal.name());
        assert_eq!(journal.line(2).unwrap().unwrap().seq, 2);
        assert_eq!(journal.line(3).unwrap(), None);
        assert_eq!(journal.line(0).unwrap(), None);
        let every = LineFilter::default();
        assert_eq!(journal.first_lines(&every, 1).unwrap()[0].seq, 1);
        assert_eq!(journal.last_lines(&every, 1).unwrap()[0].seq, 2);
        let before = LineFilter { before: Some(2), ..every.clone() };
        assert_eq!(journal.last_lines(&before, 9).unwrap().len(), 1);
        let text = if journal.name() == AUDIT { "OF C1" } else { "Words" };
        let holds = LineFilter { contains: Some(text.to_owned()), ..every };
        assert_eq!(journal.first_lines(&holds, 9).unwrap().len(), 1, "{}", journal.name());
    }
    let audit = Journal::open(home.path(), AUDIT).unwrap();
    let denied = LineFilter { tags: vec!["deny".into()], ..LineFilter::default() };
    assert_eq!(audit.last_lines(&denied, 9).unwrap()[0].key, "c1");
}

/// A page of the end is read from the end, also where one read does not hold all rows.
#[test]
fn the_end_of_the_audit_is_read_from_the_end() {
    let home = tempfile::tempdir().unwrap();
    let library = crate::open_library(home.path()).unwrap();
    let decision = |number: usize| NewAudit {
        actor: if number.is_multiple_of(100) { "rare" } else { "often" }.into(),
        call_id: format!("c{number}"),
        subject: "shell".into(),
        outcome: AuditOutcome::Allow,
        reason: "allowed".into(),
        body: "{}".into(),
    };
    let rows: Vec<NewAudit> = (1..=2500).map(decision).collect();
    for rows in rows.chunks(500) {
        library.append_audit(rows, 9).unwrap();
    }
    let audit = Journal::open(home.path(), AUDIT).unwrap();
    let seqs = |filter: &LineFilter, limit| {
        let lines = audit.last_lines(filter, limit).unwrap();
        lines.iter().map(|it| it.seq).collect::<Vec<_>>()
    };
    let every = LineFilter::default();
    assert_eq!(seqs(&every, 3), [2498, 2499, 2500]);
    assert_eq!(seqs(&LineFilter { before: Some(2499), ..every.clone() }, 2), [2497, 2498]);
    let between = LineFilter { after: Some(2), before: Some(6), ..every.clone() };
    assert_eq!(seqs(&between, 9), [3, 4, 5]);
    let rare = LineFilter { session: Some(SessionId::new("rare")), ..every.clone() };
    assert_eq!(seqs(&rare, 2), [2400, 2500]);
    assert_eq!(seqs(&rare, 99).len(), 25);
    assert_eq!(seqs(&LineFilter { before: Some(100), ..rare }, 9), Vec::<u64>::new());
    assert_eq!(library.audit_count("rare").unwrap(), 25);
    assert_eq!(library.audit_before(u64::MAX, 2).unwrap()[0].seq, 2500);
    assert_eq!(library.audit_before(1, 2).unwrap(), []);
}

#[test]
fn every_rule_of_a_row_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/protocol/record.md");
    assert_rules_are_named(&page, &here.join("src/record"), "RE-M", 10);
}
