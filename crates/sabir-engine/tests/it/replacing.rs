//! Transcripts of what happens to input that comes while a task is on its way out.

use expect_test::expect;

use crate::script::check;

/// QP-S9: of two that would replace a task, the later one does.
#[test]
fn the_later_of_two_replacements_wins() {
    check(
        "configure
         input 1 one
         model #1 call c1 sleep 9
         input 2 two
         input 3 three
         tool #2 exit 137",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > input 2 two
              hang up #1
              stop #2
              wake at 5000
            > input 3 three
              2 turn_aborted reason="replaced"
            > tool #2 exit 137
              1 exec_command_end call_id="c1" exit_code=137
              record output c1: aborted
              1 turn_aborted reason="replaced"
              3 task_started
              record user: three
              ask #3 [user: one | call c1 shell | output c1: aborted | user: three]
        "#]],
    );
}

/// QP-S5: what waits does not delay the end, and nothing is accepted behind it.
#[test]
fn shutdown_does_not_wait_for_what_would_replace_the_task() {
    check(
        "configure
         input 1 one
         model #1 call c1 sleep 9
         input 2 two
         op 3 {\"type\":\"shutdown\"}
         input 4 four
         configure 5
         tool #2 exit 137",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > input 2 two
              hang up #1
              stop #2
              wake at 5000
            > op 3 {"type":"shutdown"}
              2 turn_aborted reason="shutdown"
            > input 4 four
              4 error message="the engine is shutting down"
            > configure 5
              5 error message="the engine is shutting down"
            > tool #2 exit 137
              1 exec_command_end call_id="c1" exit_code=137
              record output c1: aborted
              1 turn_aborted reason="replaced"
              3 shutdown_complete
              close
        "#]],
    );
}

/// QP-S3: also what waits to replace the task is aborted.
#[test]
fn configuring_aborts_what_waits() {
    check(
        "configure
         input 1 one
         model #1 call c1 sleep 9
         input 2 two
         configure d never
         tool #2 exit 137",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > input 2 two
              hang up #1
              stop #2
              wake at 5000
            > configure d never
              2 turn_aborted reason="reconfigured"
            > tool #2 exit 137
              1 exec_command_end call_id="c1" exit_code=137
              record output c1: aborted
              1 turn_aborted reason="replaced"
              d session_configured approval_policy="never" history_items=3
        "#]],
    );
}

/// QP-S13: input that was sent behind a configure_session belongs to its session.
#[test]
fn input_waits_for_the_session_that_it_was_sent_to() {
    check(
        "configure
         input 1 one
         model #1 call c1 sleep 9
         configure d session_id=\"t\"
         input 2 two mode=queue
         input 3 three mode=steer
         tool #2 exit 137
         model #3 message Done
         model #3 done r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > configure d session_id="t"
              hang up #1
              stop #2
              wake at 5000
            > input 2 two mode=queue
            > input 3 three mode=steer
            > tool #2 exit 137
              1 exec_command_end call_id="c1" exit_code=137
              record output c1: aborted
              1 turn_aborted reason="reconfigured"
              d session_configured approval_policy="on-request" history_items=0
              2 task_started
              record user: two
              ask #3 [user: two]
            > model #3 message Done
              2 agent_message message="Done"
            > model #3 done r1
              record agent: Done
              record turn response_id="r1"
              2 turn_complete response_id="r1"
              record user: three
              ask #4 [user: two | agent: Done | user: three]
        "#]],
    );
}

/// QP-S13: what was to join a task that ends is not lost without a word.
#[test]
fn steered_input_is_told_of_the_end() {
    check(
        "configure
         input 1 one
         input 2 more mode=steer
         op 3 {\"type\":\"interrupt\"}
         input 4 four
         input 5 more mode=steer
         model #2 failed refused no",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > input 2 more mode=steer
            > op 3 {"type":"interrupt"}
              hang up #1
              2 turn_aborted reason="interrupted"
              1 turn_aborted reason="interrupted"
              1 error message="interrupted"
            > input 4 four
              4 task_started
              record user: four
              ask #2 [user: one | user: four]
            > input 5 more mode=steer
            > model #2 failed refused no
              5 error message="the task that this was to join failed: no"
              4 error message="no"
        "#]],
    );
}

/// QP-S12: that nobody can answer holds in the next session too.
#[test]
fn nobody_is_there_in_the_next_session_either() {
    check(
        "configure
         input 1 one
         model #1 call c1 sleep 9
         configure d session_id=\"t\"
         input 2 two
         unattended
         tool #2 exit 137
         model #3 call c1 rm -rf a",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > configure d session_id="t"
              hang up #1
              stop #2
              wake at 5000
            > input 2 two
            > unattended
            > tool #2 exit 137
              1 exec_command_end call_id="c1" exit_code=137
              record output c1: aborted
              1 turn_aborted reason="reconfigured"
              d session_configured approval_policy="on-request" history_items=0
              2 task_started
              record user: two
              ask #3 [user: two]
            > model #3 call c1 rm -rf a
              record call c1 shell
              2 warning message="rm -rf a: denied: this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking), and nobody is there to be asked"
              record output c1: denied: this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking), and nobody is there to be asked
        "#]],
    );
}
