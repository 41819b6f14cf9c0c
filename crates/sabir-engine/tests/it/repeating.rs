//! Transcripts of things that come twice: calls, names, questions and answers.

use expect_test::expect;

use crate::script::check;

/// QP-S20: a model that is asked again and says the same does not make its calls run again.
#[test]
fn a_call_that_is_repeated_after_a_broken_stream_runs_once() {
    check(
        "configure
         input 1 one
         model #1 call c1 make
         model #1 failed disconnected gone
         tool #2 exit 0 made
         +1000 tick
         model #3 call c1 make
         model #3 done r1
         model #4 call c1 make
         model #4 done r2",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 make
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["make"]
              start #2 make in the sandbox
            > model #1 failed disconnected gone
              1 stream_error message="gone; what was begun is finished first"
            > tool #2 exit 0 made
              1 exec_command_end call_id="c1" exit_code=0 stdout="made"
              record output c1: made
              1 stream_error message="gone; trying again in 0.2 s (1 of 5)"
              wake at 201
            > +1000 tick
              ask #3 [user: one | call c1 shell | output c1: made]
            > model #3 call c1 make
            > model #3 done r1
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #4 [user: one | call c1 shell | output c1: made]
            > model #4 call c1 make
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["make"]
              start #5 make in the sandbox
            > model #4 done r2
        "#]],
    );
}

/// QP-S17: a late answer to one question is no answer to another that has the name of its call.
#[test]
fn a_late_answer_approves_nothing_else() {
    check(
        "configure approval_timeout_ms=100
         input 1 one
         model #1 call c1 rm -rf a
         +100 tick
         model #1 done r1
         model #3 call c1 rm -rf /
         approve 2 c1 approved",
        expect![[r#"
            > configure approval_timeout_ms=100
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 rm -rf a
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c1" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
              wake at 100
            > +100 tick
              record approval call_id="c1" state="expired" what="rm -rf a"
              1 approval_expired call_id="c1"
              1 warning message="rm -rf a: denied: nobody answered the request for approval within 0.1 s"
              record output c1: denied: nobody answered the request for approval within 0.1 s
            > model #1 done r1
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 shell | output c1: denied: nobody answered the request for approval within 0.1 s]
            > model #3 call c1 rm -rf /
              record call c1 shell
              record approval call_id="c1~4-1" state="requested" what="rm -rf /"
              1 exec_approval_request call_id="c1~4-1" command=["rm","-rf","/"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
              wake at 200
            > approve 2 c1 approved
              2 error message="no approval is waited for under the call \"c1\""
        "#]],
    );
}

/// QP-S17: nor is a repeated one. What was printed in the sandbox is not lost.
#[test]
fn running_it_again_is_another_question() {
    check(
        "configure untrusted
         input 1 one
         model #1 call c1 make
         approve 2 c1 approved
         tool #2 denied read-only
         approve 3 c1 approved
         approve 4 c1~2-1 denied",
        expect![[r#"
            > configure untrusted
              c session_configured approval_policy="untrusted" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 make
              record call c1 shell
              record approval call_id="c1" state="requested" what="make"
              1 exec_approval_request call_id="c1" command=["make"] reason="the approval policy is untrusted, and this command is not known to only read (`make` is not known to only read)"
            > approve 2 c1 approved
              record approval call_id="c1" state="approved" what="make"
              1 exec_command_begin call_id="c1" command=["make"]
              start #2 make in the sandbox
            > tool #2 denied read-only
              1 exec_command_end call_id="c1" exit_code=1 stdout="read-only"
              record approval call_id="c1~2-1" state="requested" what="make"
              1 exec_approval_request call_id="c1~2-1" command=["make"] reason="the sandbox refused something; it can be run again without"
            > approve 3 c1 approved
              3 error message="no approval is waited for under the call \"c1\""
            > approve 4 c1~2-1 denied
              record approval call_id="c1~2-1" state="denied" what="make"
              record output c1: read-only
            running it again without the sandbox: rejected by the user
        "#]],
    );
}

/// QP-S23: a name that a server gives twice names the first.
#[test]
fn responses_with_one_name_are_told_apart() {
    check(
        "configure
         input 1 one
         model #1 message A
         model #1 done r
         input 2 two
         model #2 message B
         model #2 done r
         input 3 three after=r",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 message A
              1 agent_message message="A"
            > model #1 done r
              record agent: A
              record turn response_id="r"
              1 turn_complete response_id="r"
              1 task_complete last_agent_message="A"
            > input 2 two
              2 task_started
              record user: two
              ask #2 [user: one | agent: A | user: two]
            > model #2 message B
              2 agent_message message="B"
            > model #2 done r
              record agent: B
              record turn response_id="r-1"
              2 turn_complete response_id="r-1"
              2 task_complete last_agent_message="B"
            > input 3 three after=r
              3 task_started
              record branch after="r"
              record user: three
              ask #3 [user: one | agent: A | user: three]
        "#]],
    );
}

/// QP-S16: the diff of a patch is told, also when the stream broke behind it.
#[test]
fn a_broken_stream_does_not_lose_the_diff() {
    check(
        "configure
         input 1 one
         model #1 call c1 apply_patch {\"input\":\"p\"}
         prepared #2 a.txt
         model #1 failed disconnected gone
         tool #2 changed Success
         +1000 tick
         model #3 message Done
         model #3 done r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 apply_patch {"input":"p"}
              record call c1 apply_patch
              prepare #2
            > prepared #2 a.txt
              1 patch_apply_begin call_id="c1" changes={"a.txt":{"add":{"content":"new\n"}}} auto_approved=true
              start #2 patch
            > model #1 failed disconnected gone
              1 stream_error message="gone; what was begun is finished first"
            > tool #2 changed Success
              1 patch_apply_end call_id="c1" success=true message="Success"
              record changed task=1 undo="Success"
              record output c1: Success
              1 stream_error message="gone; trying again in 0.2 s (1 of 5)"
              wake at 201
            > +1000 tick
              ask #3 [user: one | call c1 apply_patch | output c1: Success]
            > model #3 message Done
              1 agent_message message="Done"
            > model #3 done r1
              record agent: Done
              record turn response_id="r1"
              1 turn_diff unified_diff="+++ b/a.txt\n"
              1 turn_complete response_id="r1"
              1 task_complete last_agent_message="Done"
        "#]],
    );
}

/// QP-S15: what is not applied is not kept.
#[test]
fn a_denied_patch_is_discarded() {
    check(
        "configure untrusted
         input 1 one
         model #1 call c1 apply_patch {\"input\":\"p\"}
         prepared #2 a.txt
         patch 2 c1 denied
         model #1 call c2 apply_patch {\"input\":\"p\"}
         op 3 {\"type\":\"interrupt\"}
         prepared #3 b.txt",
        expect![[r#"
            > configure untrusted
              c session_configured approval_policy="untrusted" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 apply_patch {"input":"p"}
              record call c1 apply_patch
              prepare #2
            > prepared #2 a.txt
              record approval call_id="c1" state="requested" what="patch a.txt"
              1 apply_patch_approval_request call_id="c1" changes={"a.txt":{"add":{"content":"new\n"}}} reason="the approval policy is untrusted, and a patch writes files"
            > patch 2 c1 denied
              record approval call_id="c1" state="denied" what="patch a.txt"
              discard #2
              record output c1: rejected by the user
            > model #1 call c2 apply_patch {"input":"p"}
              record call c2 apply_patch
              prepare #3
            > op 3 {"type":"interrupt"}
              hang up #1
              discard #3
              record output c2: aborted
              1 turn_aborted reason="interrupted"
              1 error message="interrupted"
            > prepared #3 b.txt
              discard #3
        "#]],
    );
}

/// QP-S28: tasks are told apart also where their ids are the same.
#[test]
fn undo_takes_back_one_task() {
    check(
        "configure
         input 1 one
         model #1 call c1 apply_patch {\"input\":\"p\"}
         prepared #2 a.txt
         tool #2 changed one
         model #1 done r1
         model #3 done r2
         input 1 two
         model #4 call c2 apply_patch {\"input\":\"p\"}
         prepared #5 a.txt
         tool #5 changed two
         model #4 done r3
         model #6 done r4
         op 2 {\"type\":\"undo\"}
         tool #7 ok back
         op 3 {\"type\":\"undo\"}",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 apply_patch {"input":"p"}
              record call c1 apply_patch
              prepare #2
            > prepared #2 a.txt
              1 patch_apply_begin call_id="c1" changes={"a.txt":{"add":{"content":"new\n"}}} auto_approved=true
              start #2 patch
            > tool #2 changed one
              1 patch_apply_end call_id="c1" success=true message="one"
              record changed task=1 undo="one"
              record output c1: one
            > model #1 done r1
              record turn response_id="r1"
              1 turn_diff unified_diff="+++ b/a.txt\n"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 apply_patch | output c1: one]
            > model #3 done r2
              record turn response_id="r2"
              1 turn_complete response_id="r2"
              1 task_complete
            > input 1 two
              1 task_started
              record user: two
              ask #4 [user: one | call c1 apply_patch | output c1: one | user: two]
            > model #4 call c2 apply_patch {"input":"p"}
              record call c2 apply_patch
              prepare #5
            > prepared #5 a.txt
              1 patch_apply_begin call_id="c2" changes={"a.txt":{"add":{"content":"new\n"}}} auto_approved=true
              start #5 patch
            > tool #5 changed two
              1 patch_apply_end call_id="c2" success=true message="two"
              record changed task=2 undo="two"
              record output c2: two
            > model #4 done r3
              record turn response_id="r3"
              1 turn_diff unified_diff="+++ b/a.txt\n"
              1 turn_complete response_id="r3"
              ask #6 [user: one | call c1 apply_patch | output c1: one | user: two | call c2 apply_patch | output c2: two]
            > model #6 done r4
              record turn response_id="r4"
              1 turn_complete response_id="r4"
              1 task_complete
            > op 2 {"type":"undo"}
              2 task_started
              start #7 undo ["two"]
            > tool #7 ok back
              record undone
              record user: I took back your last changes to files:
              2 background_event message="back"
              2 task_complete
            > op 3 {"type":"undo"}
              3 task_started
              start #8 undo ["one"]
        "#]],
    );
}
