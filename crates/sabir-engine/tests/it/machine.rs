//! The machine, by transcripts. Each test names the rules of docs/protocol/queue-pair.md it shows.
//!
//! Long because each transcript shows all that comes out, so that a reviewer reads behaviour.

use std::path::Path;

use expect_test::expect;
use sabir_engine::{MAX_LINE_BYTES, Session, decode, too_long};
use sabir_testkit::assert_rules_are_named;

use crate::script::{self, check};

/// QP-S1: nothing works before the session is configured, and nothing is lost by trying.
#[test]
fn a_session_begins_with_configure() {
    check(
        "input 1 hello
         op 2 {\"type\":\"interrupt\"}
         configure c",
        expect![[r#"
            > input 1 hello
              1 error message="no session yet: send configure_session first"
            > op 2 {"type":"interrupt"}
              2 error message="no session yet: send configure_session first"
            > configure c
              c session_configured approval_policy="on-request" history_items=0
        "#]],
    );
}

/// QP-S6, QP-S8, QP-S16: a task is done when a turn leaves nothing to feed back.
#[test]
fn a_task_of_one_turn() {
    check(
        "configure
         input 1 hello
         model #1 text Hel
         model #1 text lo
         model #1 message Hello
         model #1 done r1 10",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 hello
              1 task_started
              record user: hello
              ask #1 [user: hello]
            > model #1 text Hel
              1 agent_message_delta delta="Hel"
            > model #1 text lo
              1 agent_message_delta delta="lo"
            > model #1 message Hello
              1 agent_message message="Hello"
            > model #1 done r1 10
              record tokens total={"input":10,"cached":0,"output":0,"reasoning":0}
              1 token_count input=10 cached=0 output=0 reasoning=0 total={"input":10,"cached":0,"output":0,"reasoning":0}
              record agent: Hello
              record turn response_id="r1" usage={"input":10,"cached":0,"output":0,"reasoning":0}
              1 turn_complete response_id="r1"
              1 task_complete last_agent_message="Hello"
        "#]],
    );
}

/// QP-S14, QP-S15: the output of a turn is the input of the next.
#[test]
fn a_task_of_two_turns() {
    check(
        "configure
         input 1 list
         model #1 call c1 ls -l
         model #1 done r1
         tool #2 out a.txt
         tool #2 exit 0 a.txt
         model #3 message There is a.txt.
         model #3 done r2",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 list
              1 task_started
              record user: list
              ask #1 [user: list]
            > model #1 call c1 ls -l
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["ls","-l"]
              start #2 ls -l in the sandbox
            > model #1 done r1
            > tool #2 out a.txt
              1 exec_command_output_delta call_id="c1" stream="stdout" chunk="a.txt"
            > tool #2 exit 0 a.txt
              1 exec_command_end call_id="c1" exit_code=0 stdout="a.txt"
              record output c1: a.txt
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: list | call c1 shell | output c1: a.txt]
            > model #3 message There is a.txt.
              1 agent_message message="There is a.txt."
            > model #3 done r2
              record agent: There is a.txt.
              record turn response_id="r2"
              1 turn_complete response_id="r2"
              1 task_complete last_agent_message="There is a.txt."
        "#]],
    );
}

/// QP-S12: a turn waits for an answer.
#[test]
fn a_dangerous_command_is_asked_for() {
    check(
        "configure
         input 1 clean
         model #1 call c1 rm -rf target
         model #1 done r1
         approve 2 c1 approved
         tool #2 exit 0",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 clean
              1 task_started
              record user: clean
              ask #1 [user: clean]
            > model #1 call c1 rm -rf target
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf target"
              1 exec_approval_request call_id="c1" command=["rm","-rf","target"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > model #1 done r1
            > approve 2 c1 approved
              record approval call_id="c1" state="approved" what="rm -rf target"
              1 exec_command_begin call_id="c1" command=["rm","-rf","target"]
              start #2 rm -rf target in the sandbox
            > tool #2 exit 0
              1 exec_command_end call_id="c1" exit_code=0
              record output c1: 
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: clean | call c1 shell | output c1: ]
        "#]],
    );
}

/// QP-S18.
#[test]
fn a_denied_command_is_an_output_and_the_task_goes_on() {
    check(
        "configure
         input 1 clean
         model #1 call c1 rm -rf target
         model #1 done r1
         approve 2 c1 denied
         approve 3 c1 approved
         model #3 message Then not.
         model #3 done r2",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 clean
              1 task_started
              record user: clean
              ask #1 [user: clean]
            > model #1 call c1 rm -rf target
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf target"
              1 exec_approval_request call_id="c1" command=["rm","-rf","target"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > model #1 done r1
            > approve 2 c1 denied
              record approval call_id="c1" state="denied" what="rm -rf target"
              record output c1: rejected by the user
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: clean | call c1 shell | output c1: rejected by the user]
            > approve 3 c1 approved
              3 error message="no approval is waited for under the call \"c1\""
            > model #3 message Then not.
              1 agent_message message="Then not."
            > model #3 done r2
              record agent: Then not.
              record turn response_id="r2"
              1 turn_complete response_id="r2"
              1 task_complete last_agent_message="Then not."
        "#]],
    );
}

/// QP-S17: two requests wait at once, and are answered in any order.
#[test]
fn two_approvals_are_answered_in_reverse_order() {
    check(
        "configure
         input 1 clean
         model #1 call c1 rm -rf a
         model #1 call c2 rm -rf b
         model #1 done r1
         approve 2 c2 approved
         tool #3 exit 0 b is gone
         approve 3 c1 approved
         tool #2 exit 0 a is gone",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 clean
              1 task_started
              record user: clean
              ask #1 [user: clean]
            > model #1 call c1 rm -rf a
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c1" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > model #1 call c2 rm -rf b
              record call c2 shell
              record approval call_id="c2" state="requested" what="rm -rf b"
              1 exec_approval_request call_id="c2" command=["rm","-rf","b"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > model #1 done r1
            > approve 2 c2 approved
              record approval call_id="c2" state="approved" what="rm -rf b"
              1 exec_command_begin call_id="c2" command=["rm","-rf","b"]
              start #3 rm -rf b in the sandbox
            > tool #3 exit 0 b is gone
              1 exec_command_end call_id="c2" exit_code=0 stdout="b is gone"
              record output c2: b is gone
            > approve 3 c1 approved
              record approval call_id="c1" state="approved" what="rm -rf a"
              1 exec_command_begin call_id="c1" command=["rm","-rf","a"]
              start #2 rm -rf a in the sandbox
            > tool #2 exit 0 a is gone
              1 exec_command_end call_id="c1" exit_code=0 stdout="a is gone"
              record output c1: a is gone
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #4 [user: clean | call c1 shell | call c2 shell | output c2: b is gone | output c1: a is gone]
        "#]],
    );
}

/// QP-S17, QP-S18.
#[test]
fn an_answer_of_the_wrong_kind_is_an_error() {
    check(
        "configure
         input 1 clean
         model #1 call c1 rm -rf a
         patch 2 c1 approved
         approve 3 c9 approved
         approve 4 c1 denied a b
         approve 5 c1 abort",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 clean
              1 task_started
              record user: clean
              ask #1 [user: clean]
            > model #1 call c1 rm -rf a
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c1" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > patch 2 c1 approved
              2 error message="the call \"c1\" waits for exec_approval"
            > approve 3 c9 approved
              3 error message="no approval is waited for under the call \"c9\""
            > approve 4 c1 denied a b
              4 error message="a prefix goes with approved_for_session only"
            > approve 5 c1 abort
              hang up #1
              record approval call_id="c1" state="aborted" what="rm -rf a"
              record output c1: aborted
              1 turn_aborted reason="interrupted"
              1 error message="interrupted"
        "#]],
    );
}

/// QP-S19.
#[test]
fn what_is_approved_for_the_session_is_listed_and_revoked() {
    check(
        "configure
         input 1 clean
         model #1 call c1 rm -rf a
         model #1 done r1
         approve 2 c1 approved_for_session
         tool #2 exit 0
         op 3 {\"type\":\"list_approvals\"}
         model #3 call c2 rm -rf a
         model #3 done r2
         tool #4 exit 0
         op 4 {\"type\":\"revoke_approval\",\"approval_id\":\"a1\"}
         model #5 call c3 rm -rf a
         op 5 {\"type\":\"revoke_approval\",\"approval_id\":\"a1\"}",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 clean
              1 task_started
              record user: clean
              ask #1 [user: clean]
            > model #1 call c1 rm -rf a
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c1" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > model #1 done r1
            > approve 2 c1 approved_for_session
              record approval call_id="c1" state="approved_for_session" what="rm -rf a"
              record granted grant={"approval_id":"a1","grant":{"type":"command","argv":["rm","-rf","a"],"cwd":"/w","confinement":"confined"}}
              1 exec_command_begin call_id="c1" command=["rm","-rf","a"]
              start #2 rm -rf a in the sandbox
            > tool #2 exit 0
              1 exec_command_end call_id="c1" exit_code=0
              record output c1: 
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: clean | call c1 shell | output c1: ]
            > op 3 {"type":"list_approvals"}
              3 approvals approvals=[{"approval_id":"a1","covers":"exactly `rm -rf a` in /w"}]
            > model #3 call c2 rm -rf a
              record call c2 shell
              1 exec_command_begin call_id="c2" command=["rm","-rf","a"]
              start #4 rm -rf a in the sandbox
            > model #3 done r2
            > tool #4 exit 0
              1 exec_command_end call_id="c2" exit_code=0
              record output c2: 
              record turn response_id="r2"
              1 turn_complete response_id="r2"
              ask #5 [user: clean | call c1 shell | output c1:  | call c2 shell | output c2: ]
            > op 4 {"type":"revoke_approval","approval_id":"a1"}
              record revoked approval_id="a1"
              4 approvals approvals=[]
            > model #5 call c3 rm -rf a
              record call c3 shell
              record approval call_id="c3" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c3" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > op 5 {"type":"revoke_approval","approval_id":"a1"}
              5 error message="nothing was approved under \"a1\": list_approvals shows what was"
        "#]],
    );
}

/// QP-S12.
#[test]
fn an_approval_that_nobody_answers_is_denied_with_a_reason() {
    check(
        "configure approval_timeout_ms=5000
         input 1 clean
         model #1 call c1 rm -rf a
         model #1 done r1
         +4999 tick
         +1 tick
         model #3 message Nobody was there.
         model #3 done r2",
        expect![[r#"
            > configure approval_timeout_ms=5000
              c session_configured approval_policy="on-request" history_items=0
            > input 1 clean
              1 task_started
              record user: clean
              ask #1 [user: clean]
            > model #1 call c1 rm -rf a
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c1" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
              wake at 5000
            > model #1 done r1
            > +4999 tick
            > +1 tick
              record approval call_id="c1" state="expired" what="rm -rf a"
              1 approval_expired call_id="c1"
              1 warning message="rm -rf a: denied: nobody answered the request for approval within 5 s"
              record output c1: denied: nobody answered the request for approval within 5 s
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: clean | call c1 shell | output c1: denied: nobody answered the request for approval within 5 s]
            > model #3 message Nobody was there.
              1 agent_message message="Nobody was there."
            > model #3 done r2
              record agent: Nobody was there.
              record turn response_id="r2"
              1 turn_complete response_id="r2"
              1 task_complete last_agent_message="Nobody was there."
        "#]],
    );
}

/// QP-S12.
#[test]
fn when_nobody_is_there_nothing_waits() {
    check(
        "configure
         input 1 clean
         model #1 call c1 rm -rf a
         unattended
         model #1 call c2 rm -rf b
         model #1 done r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 clean
              1 task_started
              record user: clean
              ask #1 [user: clean]
            > model #1 call c1 rm -rf a
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c1" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > unattended
              record approval call_id="c1" state="expired" what="rm -rf a"
              1 approval_expired call_id="c1"
              1 warning message="rm -rf a: denied: nobody is there to answer the request for approval"
              record output c1: denied: nobody is there to answer the request for approval
            > model #1 call c2 rm -rf b
              record call c2 shell
              1 warning message="rm -rf b: denied: this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking), and nobody is there to be asked"
              record output c2: denied: this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking), and nobody is there to be asked
            > model #1 done r1
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #4 [user: clean | call c1 shell | output c1: denied: nobody is there to answer the request for approval | call c2 shell | output c2: denied: this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking), and nobody is there to be asked]
        "#]],
    );
}

/// QP-S7, QP-S9: further input aborts the running task and starts a new one.
#[test]
fn input_replaces_the_running_task() {
    check(
        "configure
         input 1 first
         model #1 call c1 sleep 9
         input 2 second
         tool #2 exit 130",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 first
              1 task_started
              record user: first
              ask #1 [user: first]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > input 2 second
              hang up #1
              stop #2
              wake at 5000
            > tool #2 exit 130
              1 exec_command_end call_id="c1" exit_code=130
              record output c1: aborted
              1 turn_aborted reason="replaced"
              2 task_started
              record user: second
              ask #3 [user: first | call c1 shell | output c1: aborted | user: second]
        "#]],
    );
}

/// QP-S10: who replaces a task and interrupts before the new one has begun means both.
#[test]
fn an_interrupt_reaches_what_waits_to_replace_a_task() {
    check(
        "configure
         input 1 first
         model #1 call c1 sleep 9
         input 2 second
         op i {\"type\":\"interrupt\"}
         tool #2 exit 130 -",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 first
              1 task_started
              record user: first
              ask #1 [user: first]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > input 2 second
              hang up #1
              stop #2
              wake at 5000
            > op i {"type":"interrupt"}
              2 turn_aborted reason="interrupted"
              2 error message="interrupted"
            > tool #2 exit 130 -
              1 exec_command_end call_id="c1" exit_code=130 stdout="-"
              record output c1: aborted by the user
            -
              1 turn_aborted reason="replaced"
        "#]],
    );
}

/// QP-S23: the end of the last whole turn is a point like any other.
#[test]
fn naming_the_last_response_leaves_out_what_was_interrupted_after_it() {
    check(
        "configure
         input 1 first
         model #1 message one
         model #1 done r1
         input 2 second
         model #2 call c1 sleep 9
         op i {\"type\":\"interrupt\"}
         tool #3 exit 130 -
         input 3 third after=r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 first
              1 task_started
              record user: first
              ask #1 [user: first]
            > model #1 message one
              1 agent_message message="one"
            > model #1 done r1
              record agent: one
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              1 task_complete last_agent_message="one"
            > input 2 second
              2 task_started
              record user: second
              ask #2 [user: first | agent: one | user: second]
            > model #2 call c1 sleep 9
              record call c1 shell
              2 exec_command_begin call_id="c1" command=["sleep","9"]
              start #3 sleep 9 in the sandbox
            > op i {"type":"interrupt"}
              hang up #2
              stop #3
              wake at 5000
            > tool #3 exit 130 -
              2 exec_command_end call_id="c1" exit_code=130 stdout="-"
              record output c1: aborted by the user
            -
              2 turn_aborted reason="interrupted"
              2 error message="interrupted"
            > input 3 third after=r1
              3 task_started
              record branch after="r1"
              record user: third
              ask #4 [user: first | agent: one | user: third]
        "#]],
    );
}

/// QP-S10: an interrupt ends the task with the error "interrupted".
#[test]
fn an_interrupt_while_the_model_streams() {
    check(
        "configure
         input 1 first
         model #1 text I th
         op 2 {\"type\":\"interrupt\"}
         model #1 text ink
         op 3 {\"type\":\"interrupt\"}",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 first
              1 task_started
              record user: first
              ask #1 [user: first]
            > model #1 text I th
              1 agent_message_delta delta="I th"
            > op 2 {"type":"interrupt"}
              hang up #1
              1 turn_aborted reason="interrupted"
              1 error message="interrupted"
            > model #1 text ink
            > op 3 {"type":"interrupt"}
              3 warning message="no task is running: nothing was interrupted"
        "#]],
    );
}

/// QP-S10.
#[test]
fn an_interrupt_while_an_approval_waits() {
    check(
        "configure
         input 1 first
         model #1 call c1 rm -rf a
         op 2 {\"type\":\"interrupt\"}
         approve 3 c1 approved
         input 4 again",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 first
              1 task_started
              record user: first
              ask #1 [user: first]
            > model #1 call c1 rm -rf a
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c1" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > op 2 {"type":"interrupt"}
              hang up #1
              record approval call_id="c1" state="aborted" what="rm -rf a"
              record output c1: aborted
              1 turn_aborted reason="interrupted"
              1 error message="interrupted"
            > approve 3 c1 approved
              3 error message="no approval is waited for under the call \"c1\""
            > input 4 again
              4 task_started
              record user: again
              ask #3 [user: first | call c1 shell | output c1: aborted | user: again]
        "#]],
    );
}

/// QP-S10.
#[test]
fn an_interrupt_ends_though_a_process_does_not() {
    check(
        "configure
         input 1 first
         model #1 call c1 sleep 9
         op 2 {\"type\":\"interrupt\"}
         +5000 tick
         tool #2 exit 130",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 first
              1 task_started
              record user: first
              ask #1 [user: first]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > op 2 {"type":"interrupt"}
              hang up #1
              stop #2
              wake at 5000
            > +5000 tick
              record output c1: aborted
              1 turn_aborted reason="interrupted"
              1 error message="interrupted"
            > tool #2 exit 130
        "#]],
    );
}

/// QP-S2, QP-S3: what runs is aborted when the session is configured again.
#[test]
fn reconfiguring_aborts_the_running_task() {
    check(
        "configure
         input 1 first
         model #1 call c1 sleep 9
         configure c2 never
         tool #2 exit 130
         input 3 on",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 first
              1 task_started
              record user: first
              ask #1 [user: first]
            > model #1 call c1 sleep 9
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["sleep","9"]
              start #2 sleep 9 in the sandbox
            > configure c2 never
              hang up #1
              stop #2
              wake at 5000
            > tool #2 exit 130
              1 exec_command_end call_id="c1" exit_code=130
              record output c1: aborted
              1 turn_aborted reason="reconfigured"
              c2 session_configured approval_policy="never" history_items=3
            > input 3 on
              3 task_started
              record user: on
              ask #3 [user: first | call c1 shell | output c1: aborted | user: on]
        "#]],
    );
}

/// QP-S22, QP-S23, QP-S24: a response can be continued from later, and nothing after it comes along.
#[test]
fn a_fork_carries_nothing_later_than_its_point() {
    check(
        "configure
         input 1 one
         model #1 message first
         model #1 done r1
         input 2 two
         model #2 message second
         model #2 done r2
         input 3 three after=r1
         model #3 message third
         model #3 done r3
         input 4 four
         input 5 five after=r9",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 message first
              1 agent_message message="first"
            > model #1 done r1
              record agent: first
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              1 task_complete last_agent_message="first"
            > input 2 two
              2 task_started
              record user: two
              ask #2 [user: one | agent: first | user: two]
            > model #2 message second
              2 agent_message message="second"
            > model #2 done r2
              record agent: second
              record turn response_id="r2"
              2 turn_complete response_id="r2"
              2 task_complete last_agent_message="second"
            > input 3 three after=r1
              3 task_started
              record branch after="r1"
              record user: three
              ask #3 [user: one | agent: first | user: three]
            > model #3 message third
              3 agent_message message="third"
            > model #3 done r3
              record agent: third
              record turn response_id="r3"
              3 turn_complete response_id="r3"
              3 task_complete last_agent_message="third"
            > input 4 four
              4 task_started
              record user: four
              ask #4 [user: one | agent: first | user: three | agent: third | user: four]
            > input 5 five after=r9
              5 error message="no response \"r9\" is known here: turn_complete names those that are"
        "#]],
    );
}

/// QP-S13.
#[test]
fn steer_joins_the_running_task() {
    check(
        "configure
         input 1 one
         input 2 and this mode=steer
         model #1 message first
         model #1 done r1
         model #2 message both
         model #2 done r2",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > input 2 and this mode=steer
            > model #1 message first
              1 agent_message message="first"
            > model #1 done r1
              record agent: first
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              record user: and this
              ask #2 [user: one | agent: first | user: and this]
            > model #2 message both
              1 agent_message message="both"
            > model #2 done r2
              record agent: both
              record turn response_id="r2"
              1 turn_complete response_id="r2"
              1 task_complete last_agent_message="both"
        "#]],
    );
}

/// QP-S13.
#[test]
fn queue_waits_for_the_running_task() {
    check(
        "configure
         input 1 one
         input 2 two mode=queue
         model #1 message first
         model #1 done r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > input 2 two mode=queue
            > model #1 message first
              1 agent_message message="first"
            > model #1 done r1
              record agent: first
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              1 task_complete last_agent_message="first"
              2 task_started
              record user: two
              ask #2 [user: one | agent: first | user: two]
        "#]],
    );
}

/// QP-S10.
#[test]
fn an_interrupt_drops_what_is_queued() {
    check(
        "configure
         input 1 one
         input 2 two mode=queue
         op 3 {\"type\":\"interrupt\"}",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > input 2 two mode=queue
            > op 3 {"type":"interrupt"}
              2 turn_aborted reason="interrupted"
              hang up #1
              1 turn_aborted reason="interrupted"
              1 error message="interrupted"
        "#]],
    );
}

/// QP-S20: a broken stream is asked for again; calls that had begun are not.
#[test]
fn a_broken_stream_repeats_no_call() {
    check(
        "configure
         input 1 one
         model #1 message I look
         model #1 call c1 ls
         model #1 failed disconnected stream closed
         tool #2 exit 0 a.txt
         +1000 tick
         model #3 message There is a.txt
         model #3 done r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 message I look
              1 agent_message message="I look"
            > model #1 call c1 ls
              record agent: I look
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["ls"]
              start #2 ls in the sandbox
            > model #1 failed disconnected stream closed
              1 stream_error message="stream closed; what was begun is finished first"
            > tool #2 exit 0 a.txt
              1 exec_command_end call_id="c1" exit_code=0 stdout="a.txt"
              record output c1: a.txt
              1 stream_error message="stream closed; trying again in 0.2 s (1 of 5)"
              wake at 201
            > +1000 tick
              ask #3 [user: one | agent: I look | call c1 shell | output c1: a.txt]
            > model #3 message There is a.txt
              1 agent_message message="There is a.txt"
            > model #3 done r1
              record agent: There is a.txt
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              1 task_complete last_agent_message="There is a.txt"
        "#]],
    );
}

/// QP-S11, QP-S20.
#[test]
fn a_broken_stream_without_calls_is_asked_for_again_from_the_start() {
    check(
        "configure stream_max_retries=1
         input 1 one
         model #1 message half
         model #1 failed disconnected stream closed
         +1000 tick
         model #2 failed disconnected stream closed
         input 2 two",
        expect![[r#"
            > configure stream_max_retries=1
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 message half
              1 agent_message message="half"
            > model #1 failed disconnected stream closed
              1 stream_error message="stream closed; trying again in 0.2 s (1 of 1)"
              wake at 201
            > +1000 tick
              ask #2 [user: one]
            > model #2 failed disconnected stream closed
              1 error message="stream closed (given up after 1 retries)"
            > input 2 two
              2 task_started
              record user: two
              ask #3 [user: one | user: two]
        "#]],
    );
}

/// QP-S11, QP-S20.
#[test]
fn what_cannot_be_mended_is_not_tried_again() {
    check(
        "configure
         input 1 one
         model #1 failed quota the account is empty",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 failed quota the account is empty
              1 error message="the account is empty"
        "#]],
    );
}

/// QP-S28: and it can be taken back.
#[test]
fn a_patch_inside_the_workspace_is_applied() {
    check(
        "configure
         input 1 one
         model #1 call c1 apply_patch {\"input\":\"*** Begin Patch\"}
         prepared #2 a.txt
         model #1 done r1
         tool #2 changed Success
         model #3 message Done
         model #3 done r2
         op 2 {\"type\":\"undo\"}
         tool #4 ok a.txt is as it was
         op 3 {\"type\":\"undo\"}",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 apply_patch {"input":"*** Begin Patch"}
              record call c1 apply_patch
              prepare #2
            > prepared #2 a.txt
              1 patch_apply_begin call_id="c1" changes={"a.txt":{"add":{"content":"new\n"}}} auto_approved=true
              start #2 patch
            > model #1 done r1
            > tool #2 changed Success
              1 patch_apply_end call_id="c1" success=true message="Success"
              record changed task=1 undo="Success"
              record output c1: Success
              record turn response_id="r1"
              1 turn_diff unified_diff="+++ b/a.txt\n"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 apply_patch | output c1: Success]
            > model #3 message Done
              1 agent_message message="Done"
            > model #3 done r2
              record agent: Done
              record turn response_id="r2"
              1 turn_complete response_id="r2"
              1 task_complete last_agent_message="Done"
            > op 2 {"type":"undo"}
              2 task_started
              start #4 undo ["Success"]
            > tool #4 ok a.txt is as it was
              record undone
              record user: I took back your last changes to files:
              2 background_event message="a.txt is as it was"
              2 task_complete
            > op 3 {"type":"undo"}
              3 error message="no task of this session has changed files by a patch"
        "#]],
    );
}

#[test]
fn a_patch_is_asked_for_where_it_must_be() {
    check(
        "configure untrusted
         input 1 one
         model #1 call c1 apply_patch {\"input\":\"*** Begin Patch\"}
         prepared #2 a.txt
         patch 2 c1 approved
         tool #2 ok Success
         model #1 done r1",
        expect![[r#"
            > configure untrusted
              c session_configured approval_policy="untrusted" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 apply_patch {"input":"*** Begin Patch"}
              record call c1 apply_patch
              prepare #2
            > prepared #2 a.txt
              record approval call_id="c1" state="requested" what="patch a.txt"
              1 apply_patch_approval_request call_id="c1" changes={"a.txt":{"add":{"content":"new\n"}}} reason="the approval policy is untrusted, and a patch writes files"
            > patch 2 c1 approved
              record approval call_id="c1" state="approved" what="patch a.txt"
              1 patch_apply_begin call_id="c1" changes={"a.txt":{"add":{"content":"new\n"}}}
              start #2 patch
            > tool #2 ok Success
              1 patch_apply_end call_id="c1" success=true message="Success"
              record output c1: Success
            > model #1 done r1
              record turn response_id="r1"
              1 turn_diff unified_diff="+++ b/a.txt\n"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 apply_patch | output c1: Success]
        "#]],
    );
}

#[test]
fn a_patch_that_does_not_apply_is_an_output() {
    check(
        "configure
         input 1 one
         model #1 call c1 apply_patch {\"input\":\"*** Begin Patch\"}
         prepared #2 error Failed to find expected lines in a.txt
         model #1 done r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 apply_patch {"input":"*** Begin Patch"}
              record call c1 apply_patch
              prepare #2
            > prepared #2 error Failed to find expected lines in a.txt
              1 patch_apply_end call_id="c1" message="Failed to find expected lines in a.txt"
              discard #2
              record output c1: Failed to find expected lines in a.txt
            > model #1 done r1
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 apply_patch | output c1: Failed to find expected lines in a.txt]
        "#]],
    );
}

#[test]
fn a_command_that_the_sandbox_refused_may_run_without_it() {
    check(
        "configure on-failure
         input 1 one
         model #1 call c1 make
         model #1 done r1
         tool #2 denied Read-only file system
         approve 2 c1 approved
         tool #2 exit 0 made",
        expect![[r#"
            > configure on-failure
              c session_configured approval_policy="on-failure" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 make
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["make"]
              start #2 make in the sandbox
            > model #1 done r1
            > tool #2 denied Read-only file system
              1 exec_command_end call_id="c1" exit_code=1 stdout="Read-only file system"
              record approval call_id="c1" state="requested" what="make"
              1 exec_approval_request call_id="c1" command=["make"] reason="the sandbox refused something; it can be run again without"
            > approve 2 c1 approved
              record approval call_id="c1" state="approved" what="make"
              1 exec_command_begin call_id="c1" command=["make"]
              start #2 make without a sandbox
            > tool #2 exit 0 made
              1 exec_command_end call_id="c1" exit_code=0 stdout="made"
              record output c1: made
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 shell | output c1: made]
        "#]],
    );
}

/// QP-S15.
#[test]
fn reading_goes_beside_reading_and_writing_alone() {
    check(
        "configure
         input 1 one
         model #1 call c1 read_file {\"path\":\"a\"}
         model #1 call c2 read_file {\"path\":\"b\"}
         model #1 call c3 make
         model #1 call c4 read_file {\"path\":\"made\"}
         tool #2 ok a
         tool #3 ok b
         tool #4 exit 0
         tool #5 ok made",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 read_file {"path":"a"}
              record call c1 read_file
              1 tool_call_begin call_id="c1" tool="read_file" arguments={"path":"a","offset":null,"limit":null}
              start #2 ReadFile(ReadFile { path: "a", offset: None, limit: None })
            > model #1 call c2 read_file {"path":"b"}
              record call c2 read_file
              1 tool_call_begin call_id="c2" tool="read_file" arguments={"path":"b","offset":null,"limit":null}
              start #3 ReadFile(ReadFile { path: "b", offset: None, limit: None })
            > model #1 call c3 make
              record call c3 shell
            > model #1 call c4 read_file {"path":"made"}
              record call c4 read_file
            > tool #2 ok a
              1 tool_call_end call_id="c1" tool="read_file" success=true output="a"
              record output c1: a
            > tool #3 ok b
              1 tool_call_end call_id="c2" tool="read_file" success=true output="b"
              record output c2: b
              1 exec_command_begin call_id="c3" command=["make"]
              start #4 make in the sandbox
            > tool #4 exit 0
              1 exec_command_end call_id="c3" exit_code=0
              record output c3: 
              1 tool_call_begin call_id="c4" tool="read_file" arguments={"path":"made","offset":null,"limit":null}
              start #5 ReadFile(ReadFile { path: "made", offset: None, limit: None })
            > tool #5 ok made
              1 tool_call_end call_id="c4" tool="read_file" success=true output="made"
              record output c4: made
        "#]],
    );
}

/// QP-S21.
#[test]
fn calls_that_cannot_be_understood_are_answered() {
    check(
        "configure
         input 1 one
         model #1 call c1 fly {}
         model #1 call c1 shell {
         model #1 done r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 fly {}
              record call c1 fly
              1 tool_call_begin call_id="c1" tool="fly" arguments="{}"
              1 tool_call_end call_id="c1" tool="fly" output="there is no tool named \"fly\"; use one of those that are offered"
              record output c1: there is no tool named "fly"; use one of those that are offered
            > model #1 call c1 shell {
              record call c1-2 shell
              1 tool_call_begin call_id="c1-2" tool="shell" arguments="{"
              1 tool_call_end call_id="c1-2" tool="shell" output="the arguments of shell are not JSON: EOF while parsing an object at line 1 column 1"
              record output c1-2: the arguments of shell are not JSON: EOF while parsing an object at line 1 column 1
            > model #1 done r1
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #4 [user: one | call c1 fly | output c1: there is no tool named "fly"; use one of those that are offered | call c1-2 shell | output c1-2: the arguments of shell are not JSON: EOF while parsing an object at line 1 column 1]
        "#]],
    );
}

#[test]
fn a_plan_is_shown() {
    check(
        "configure
         input 1 one
         model #1 call c1 update_plan {\"plan\":[{\"step\":\"look\",\"status\":\"in_progress\"}]}
         model #1 done r1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 update_plan {"plan":[{"step":"look","status":"in_progress"}]}
              record call c1 update_plan
              record plan plan=[{"step":"look","status":"in_progress"}]
              1 plan_update plan=[{"step":"look","status":"in_progress"}]
              record output c1: the plan is shown
            > model #1 done r1
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 update_plan | output c1: the plan is shown]
        "#]],
    );
}

/// QP-S25.
#[test]
fn a_full_thread_is_compacted_once() {
    check(
        "configure context_window=1000
         input 1 one
         model #1 call c1 update_plan {\"plan\":[{\"step\":\"look\",\"status\":\"pending\"}]}
         model #1 done r1 900
         model #3 message a summary
         model #3 done r2 900
         model #4 call c2 ls
         model #4 done r3 900
         tool #5 exit 0",
        expect![[r#"
            > configure context_window=1000
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started context_window=1000
              record user: one
              ask #1 [user: one]
            > model #1 call c1 update_plan {"plan":[{"step":"look","status":"pending"}]}
              record call c1 update_plan
              record plan plan=[{"step":"look","status":"pending"}]
              1 plan_update plan=[{"step":"look","status":"pending"}]
              record output c1: the plan is shown
            > model #1 done r1 900
              record tokens total={"input":900,"cached":0,"output":0,"reasoning":0}
              1 token_count input=900 cached=0 output=0 reasoning=0 total={"input":900,"cached":0,"output":0,"reasoning":0} context_window=1000
              record turn response_id="r1" usage={"input":900,"cached":0,"output":0,"reasoning":0}
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 update_plan | output c1: the plan is shown | user: The thread is about to be replaced by what you write now, so]
            > model #3 message a summary
            > model #3 done r2 900
              record tokens total={"input":1800,"cached":0,"output":0,"reasoning":0}
              1 token_count input=900 cached=0 output=0 reasoning=0 total={"input":1800,"cached":0,"output":0,"reasoning":0} context_window=1000
              record compacted [user: one | user: [Summary of the thread so far]]
              1 background_event message="the thread was replaced by a summary; turn_complete's earlier responses can still be continued from"
              ask #4 [user: one | user: [Summary of the thread so far]]
            > model #4 call c2 ls
              record call c2 shell
              1 exec_command_begin call_id="c2" command=["ls"]
              start #5 ls in the sandbox
            > model #4 done r3 900
              record tokens total={"input":2700,"cached":0,"output":0,"reasoning":0}
              1 token_count input=900 cached=0 output=0 reasoning=0 total={"input":2700,"cached":0,"output":0,"reasoning":0} context_window=1000
            > tool #5 exit 0
              1 exec_command_end call_id="c2" exit_code=0
              record output c2: 
              record turn response_id="r3" usage={"input":900,"cached":0,"output":0,"reasoning":0}
              1 turn_complete response_id="r3"
              1 error message="the thread does not fit into the model's context, even after it was compacted"
        "#]],
    );
}

/// QP-S27.
#[test]
fn a_person_runs_a_command_of_their_own() {
    check(
        "configure
         op 1 {\"type\":\"run_user_shell_command\",\"command\":\"make\"}
         tool #1 out made
         tool #1 exit 0 made
         input 2 what did I do?",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > op 1 {"type":"run_user_shell_command","command":"make"}
              1 task_started
              1 exec_command_begin call_id="1" command=["bash","-lc","make"]
              start #1 bash -lc make without a sandbox
            > tool #1 out made
              1 exec_command_output_delta call_id="1" stream="stdout" chunk="made"
            > tool #1 exit 0 made
              1 exec_command_end call_id="1" exit_code=0 stdout="made"
              record user: I ran this command myself:
              1 task_complete
            > input 2 what did I do?
              2 task_started
              record user: what did I do?
              ask #2 [user: I ran this command myself: | user: what did I do?]
        "#]],
    );
}

/// QP-S26.
#[test]
fn a_review_stands_beside_the_thread() {
    check(
        "configure
         input 1 one
         model #1 message first
         model #1 done r1
         op 2 {\"type\":\"review\"}
         model #2 message all good
         model #2 done r2
         input 3 on",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 message first
              1 agent_message message="first"
            > model #1 done r1
              record agent: first
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              1 task_complete last_agent_message="first"
            > op 2 {"type":"review"}
              2 task_started
              record aside_begin
              record user: Look over the changes in this workspace (the uncommitted one
              ask #2 [user: one | agent: first | user: Look over the changes in this workspace (the uncommitted one]
            > model #2 message all good
              2 agent_message message="all good"
            > model #2 done r2
              record agent: all good
              record turn response_id="r2"
              2 turn_complete response_id="r2"
              record aside_end
              record user: A review of the changes was asked for. Its result follows.
              record agent: all good
              2 task_complete last_agent_message="all good"
            > input 3 on
              3 task_started
              record user: on
              ask #3 [user: one | agent: first | user: A review of the changes was asked for. Its result follows. | agent: all good | user: on]
        "#]],
    );
}

/// QP-S5.
#[test]
fn shutdown_stops_everything_first() {
    check(
        "configure
         input 1 one
         model #1 call c1 sleep 9
         op 2 {\"type\":\"shutdown\"}
         tool #2 exit 130
         input 3 on",
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
            > op 2 {"type":"shutdown"}
              hang up #1
              stop #2
              wake at 5000
            > tool #2 exit 130
              1 exec_command_end call_id="c1" exit_code=130
              record output c1: aborted
              1 turn_aborted reason="shutdown"
              2 shutdown_complete
              close
            > input 3 on
              3 error message="the engine is shut down"
        "#]],
    );
}

/// QP-S4: a session that was killed is the sum of its records; each open call was aborted.
#[test]
fn a_killed_session_resumes_with_aborted_calls() {
    let mut machine = Session::default();
    let mut now = 0;
    let script = "configure
        input 1 one
        model #1 call c1 ls
        model #1 done r1
        tool #2 exit 0 a.txt
        model #3 call c2 rm -rf a.txt
        model #3 call c3 make";
    let (_, records) = script::run_on(&mut machine, &mut now, script);
    let mut resumed = Session::default();
    resumed.handle(script::configure("again", Some(records)), 0);
    let (transcript, _) = script::run_on(&mut resumed, &mut now, "input 9 go on");
    expect![[r#"
        > input 9 go on
          record output c2: aborted
          record output c3: aborted
          record approval call_id="c2" state="aborted" what="rm -rf a.txt"
          again session_configured approval_policy="on-request" history_items=7
          again warning message="2 call(s) were open when the session ended; they were not run again, and the model is told that they were aborted"
          9 task_started
          record user: go on
          ask #1 [user: one | call c1 shell | output c1: a.txt | call c2 shell | call c3 shell | output c2: aborted | output c3: aborted | user: go on]
    "#]].assert_eq(&transcript);
    assert!(resumed.knows_response("r1"));
}

/// QP-S29, QP-S30: what cannot be read is refused under the id it has, and what nobody reads is told.
#[test]
fn lines_are_read_or_refused() {
    let refusal = decode(br#"{"id":"7","op":{"type":"dance"}}"#).unwrap_err();
    assert_eq!(refusal.id, "7");
    let decoded = decode(br#"{"id":"7","op":{"type":"interrupt","now":true}}"#).unwrap();
    assert_eq!(decoded.unknown, ["op.now"]);
    let line = vec![b' '; MAX_LINE_BYTES + 1];
    assert_eq!(decode(&line).unwrap_err().message, too_long());
}

#[test]
fn every_rule_is_named() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/protocol/queue-pair.md");
    assert_rules_are_named(&page, &here.join("tests/it"), "QP-S", 30);
}
