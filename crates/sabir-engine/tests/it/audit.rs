//! What a session tells the audit: a row for each decision, and one for each answer.

use expect_test::expect;

use crate::script::explained;

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
