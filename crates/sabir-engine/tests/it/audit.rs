//! What a session tells the audit: a row for each decision, and one for each answer.

use expect_test::expect;

use sabir_engine::{ApprovalState, Output, Record, Session};
use sabir_policy::{ApprovalMark, Outcome};

use crate::script::{configure, explained, explained_under, run_on};

#[test]
fn commands_are_explained() {
    let rows = explained(
        "configure
         input 1 go
         model #1 call c1 ls
         model #1 call c2 rm -rf a
         approve 2 c2 denied",
    );
    expect![[r#"
        shell was allowed (call c1 of s)
          wanted: command=[ls], cwd=/w
          can at worst: reads_private
          the model had read: nothing that is known to be private or a stranger's
          decided by exec.known-safe (known_safe_command): this command is known to only read (it only reads)
          what would change it: nothing: what only reads always runs
        shell was asked for (call c2 of s)
          wanted: command=[rm -rf a], cwd=/w
          can at worst: reads_private, writes_local, destructive
          the model had read: nothing that is known to be private or a stranger's
          decided by exec.dangerous (dangerous_command): this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)
          a person was asked
          what would change it: a person's yes, or a command that does not destroy
        shell was refused (call c2 of s)
          wanted: command=[rm -rf a], cwd=/w
          can at worst: reads_private, writes_local, destructive
          the model had read: nothing that is known to be private or a stranger's
          decided by exec.dangerous (dangerous_command): this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)
          a person said no
          what would change it: a person's yes, or a command that does not destroy"#]].assert_eq(&rows);
}

#[test]
fn patches_are_explained() {
    let rows = explained(
        "configure
         input 1 go
         model #1 call c1 apply_patch {\"input\":\"*** Begin Patch\"}
         prepared #2 /elsewhere/a.txt
         patch 2 c1 approved_for_session",
    );
    expect![[r#"
        apply_patch was asked for (call c1 of s)
          wanted: paths=[/elsewhere/a.txt], patch=*** Begin Patch
          can at worst: writes_local
          the model had read: nothing that is known to be private or a stranger's
          decided by patch.outside (patch_outside): this patch writes outside of the writable folders
          a person was asked
          what would change it: a person's yes, or the folder among the writable ones
        apply_patch was allowed (call c1 of s)
          wanted: paths=[/elsewhere/a.txt], patch=*** Begin Patch
          can at worst: writes_local
          the model had read: nothing that is known to be private or a stranger's
          decided by patch.outside (patch_outside): this patch writes outside of the writable folders
          a person said yes, and for the session
          what would change it: a person's no"#]].assert_eq(&rows);
}

#[test]
fn questions_without_an_answer_are_explained() {
    let rows = explained(
        "configure
         input 1 go
         model #1 call c1 rm -rf a
         op 2 {\"type\":\"interrupt\"}",
    );
    expect![[r#"
        shell was asked for (call c1 of s)
          wanted: command=[rm -rf a], cwd=/w
          can at worst: reads_private, writes_local, destructive
          the model had read: nothing that is known to be private or a stranger's
          decided by exec.dangerous (dangerous_command): this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)
          a person was asked
          what would change it: a person's yes, or a command that does not destroy
        shell was refused (call c1 of s)
          wanted: command=[rm -rf a], cwd=/w
          can at worst: reads_private, writes_local, destructive
          the model had read: nothing that is known to be private or a stranger's
          decided by exec.dangerous (dangerous_command): this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)
          the work was stopped before anybody answered
          what would change it: a person's yes, or a command that does not destroy"#]].assert_eq(&rows);
    let rows = explained(
        "configure
         unattended
         input 1 go
         model #1 call c1 rm -rf a",
    );
    expect![[r#"
        shell was refused (call c1 of s)
          wanted: command=[rm -rf a], cwd=/w
          can at worst: reads_private, writes_local, destructive
          the model had read: nothing that is known to be private or a stranger's
          decided by exec.dangerous (dangerous_command): this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)
          nobody was there to be asked
          what would change it: a person's yes, or a command that does not destroy"#]].assert_eq(&rows);
}

/// The first and the deciding line of each row.
fn in_short(rows: &str) -> String {
    let is_short = |line: &&str| !line.starts_with(' ') || line.contains("decided by");
    rows.lines().filter(is_short).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_policy_file_binds_whatever_an_agent_does() {
    let policy = r#"
        [[deny]]
        tool = "shell"
        reason = "nothing is run here"
        [[deny]]
        tool = "mcp__s__*"
        [[ask]]
        tool = "read"
        [[ask]]
        tool = "spawn"
        reason = "agents cost money"
        [[ask]]
        tool = "apply_patch"
    "#;
    let rows = explained_under(
        policy,
        "configure
         external mcp__s__look=read-only
         input 1 go
         model #1 call c1 ls
         model #1 call c2 mcp__s__look {}
         model #1 call c3 read_file {\"path\":\"a\"}
         model #1 call c4 spawn_agent {\"task\":\"x\"}
         model #1 call c5 apply_patch {\"input\":\"*** Begin Patch\"}
         prepared #6 /w/a.txt",
    );
    expect![[r#"
        shell was refused (call c1 of s)
          decided by policy.denied (policy_denied): the policy file forbids this: nothing is run here (it only reads)
        mcp__s__look was refused (call c2 of s)
          decided by policy.denied (policy_denied): the policy file forbids this
        read was asked for (call c3 of s)
          decided by policy.asks (policy_asks): the policy file wants a person to be asked
        spawn was asked for (call c4 of s)
          decided by policy.asks (policy_asks): the policy file wants a person to be asked: agents cost money
        apply_patch was asked for (call c5 of s)
          decided by policy.asks (policy_asks): the policy file wants a person to be asked"#]].assert_eq(&in_short(&rows));
}

#[test]
fn a_host_that_is_forbidden_is_forbidden_to_commands_and_tools() {
    let policy = "[[deny]]\nhost = \"*.evil.example\"\nreason = \"known for it\"";
    let rows = explained_under(
        policy,
        "configure
         external mcp__s__look=read-only
         input 1 go
         model #1 call c1 curl https://a.evil.example/x
         model #1 call c2 curl https://a.good.example/x
         model #1 call c3 mcp__s__look {\"page\":{\"address\":\"https://b.evil.example\"}}
         model #1 call c4 mcp__s__look {\"page\":{\"address\":\"https://b.good.example\"}}",
    );
    expect![[r#"
        shell was refused (call c1 of s)
          decided by policy.denied (policy_denied): the policy file forbids this: known for it (`curl` is not known to only read)
        shell was allowed (call c2 of s)
          decided by exec.confined (command_confined): the sandbox bounds what this command can do (`curl` is not known to only read)
        mcp__s__look was refused (call c3 of s)
          decided by policy.denied (policy_denied): the policy file forbids this: known for it
        mcp__s__look was allowed (call c4 of s)
          decided by tool.read-only (tool_reads_only): a trusted server says that this tool only reads"#]].assert_eq(&in_short(&rows));
}

/// What was asked when the process died has an end in the audit, too.
#[test]
fn a_question_that_was_open_when_the_session_ended_is_closed_when_it_is_resumed() {
    let mut before = Session::default();
    let script = "configure
                  input 1 go
                  model #1 call c1 rm -rf a";
    let (_, records) = run_on(&mut before, &mut 0, script);
    // Through its stored form, as in another process.
    let stored = serde_json::to_string(&records).unwrap();
    let stored: Vec<Record> = serde_json::from_str(&stored).unwrap();
    let mut machine = Session::default();
    machine.handle(configure("", Some(stored.clone())), 0);
    let mut rows = Vec::new();
    while let Some(output) = machine.poll_output() {
        if let Output::Audit(row) = output {
            rows.push(*row);
        }
    }
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.call_id.as_str(), row.subject.as_str()), ("c1", "shell"));
    assert_eq!((row.outcome, row.approval), (Outcome::Deny, ApprovalMark::Aborted));
    // A journal from before says nothing of what the gate said, and is read all the same.
    let old: Vec<Record> = stored
        .into_iter()
        .map(|record| match record {
            Record::Approval { call_id, what, .. } => {
                let text = serde_json::json!({
                    "type": "approval", "call_id": call_id, "state": "requested", "what": what,
                });
                serde_json::from_value(text).unwrap()
            }
            record => record,
        })
        .collect();
    let mut machine = Session::default();
    machine.handle(configure("", Some(old)), 0);
    let outputs: Vec<Output> = std::iter::from_fn(|| machine.poll_output()).collect();
    assert!(!outputs.iter().any(|output| matches!(output, Output::Audit(_))));
    assert!(outputs.iter().any(|output| matches!(
        output,
        Output::Record(Record::Approval { state: ApprovalState::Aborted, .. })
    )));
}

/// A model cannot name a call so that its row could not be kept.
#[test]
fn what_a_model_makes_too_long_is_cut() {
    let (name, why) = ("n".repeat(100_000), "w".repeat(3_000_000));
    let call = format!(
        r#"model #1 call {name} shell {{"command":["touch","a"],"with_escalated_permissions":true,"justification":"{why}"}}"#
    );
    let rows = explained(&format!("configure\ninput 1 go\n{call}"));
    assert!(rows.len() < 10_000, "{}", rows.len());
}
