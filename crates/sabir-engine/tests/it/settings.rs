//! Transcripts of settings that change while a task runs, and of threads that do not fit.

use expect_test::expect;

use crate::script::check;

/// QP-S14: a turn goes on under the settings that it was begun with.
#[test]
fn settings_hold_from_the_next_turn_on() {
    check(
        "configure
         input 1 one
         op 2 {\"type\":\"override_turn_context\",\"approval_policy\":\"never\",\"sandbox_policy\":{\"mode\":\"danger-full-access\"}}
         model #1 call c1 rm -rf a
         approve 3 c1 denied
         model #1 done r1
         model #3 call c2 rm -rf a",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > op 2 {"type":"override_turn_context","approval_policy":"never","sandbox_policy":{"mode":"danger-full-access"}}
              2 background_event message="the settings hold from the next turn on"
            > model #1 call c1 rm -rf a
              record call c1 shell
              record approval call_id="c1" state="requested" what="rm -rf a"
              1 exec_approval_request call_id="c1" command=["rm","-rf","a"] reason="this command destroys what cannot be brought back (`rm` with force or recursive removes files for good, without asking)"
            > approve 3 c1 denied
              record approval call_id="c1" state="denied" what="rm -rf a"
              record output c1: rejected by the user
            > model #1 done r1
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 shell | output c1: rejected by the user]
            > model #3 call c2 rm -rf a
              record call c2 shell
              1 exec_command_begin call_id="c2" command=["rm","-rf","a"]
              start #4 rm -rf a without a sandbox
        "#]],
    );
}

/// QP-S25: the session stays usable, and a branch is as full as it was.
#[test]
fn a_thread_that_did_not_fit_does_not_spoil_the_session() {
    check(
        "configure context_window=1000
         input 1 one
         model #1 message A
         model #1 done r1 10
         input 2 two
         model #2 call c1 true
         tool #3 exit 0
         model #2 done r2 900
         model #4 message summary
         model #4 done s1
         model #5 call c2 true
         tool #6 exit 0
         model #5 done r3 900
         input 3 three after=r1
         model #7 message B
         model #7 done r4 20
         input 4 four after=r3
         model #8 message again",
        expect![[r#"
            > configure context_window=1000
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started context_window=1000
              record user: one
              ask #1 [user: one]
            > model #1 message A
              1 agent_message message="A"
            > model #1 done r1 10
              record tokens total={"input":10,"cached":0,"output":0,"reasoning":0}
              1 token_count input=10 cached=0 output=0 reasoning=0 total={"input":10,"cached":0,"output":0,"reasoning":0} context_window=1000
              record agent: A
              record turn response_id="r1" usage={"input":10,"cached":0,"output":0,"reasoning":0}
              1 turn_complete response_id="r1"
              1 task_complete last_agent_message="A"
            > input 2 two
              2 task_started context_window=1000
              record user: two
              ask #2 [user: one | agent: A | user: two]
            > model #2 call c1 true
              record call c1 shell
              2 exec_command_begin call_id="c1" command=["true"]
              start #3 true in the sandbox
            > tool #3 exit 0
              2 exec_command_end call_id="c1" exit_code=0
              record output c1: 
            > model #2 done r2 900
              record tokens total={"input":910,"cached":0,"output":0,"reasoning":0}
              2 token_count input=900 cached=0 output=0 reasoning=0 total={"input":910,"cached":0,"output":0,"reasoning":0} context_window=1000
              record turn response_id="r2" usage={"input":900,"cached":0,"output":0,"reasoning":0}
              2 turn_complete response_id="r2"
              ask #4 [user: one | agent: A | user: two | call c1 shell | output c1:  | user: The thread is about to be replaced by what you write now, so]
            > model #4 message summary
            > model #4 done s1
              record compacted [user: one | user: two | user: [Summary of the thread so far]]
              2 background_event message="the thread was replaced by a summary; turn_complete's earlier responses can still be continued from"
              ask #5 [user: one | user: two | user: [Summary of the thread so far]]
            > model #5 call c2 true
              record call c2 shell
              2 exec_command_begin call_id="c2" command=["true"]
              start #6 true in the sandbox
            > tool #6 exit 0
              2 exec_command_end call_id="c2" exit_code=0
              record output c2: 
            > model #5 done r3 900
              record tokens total={"input":1810,"cached":0,"output":0,"reasoning":0}
              2 token_count input=900 cached=0 output=0 reasoning=0 total={"input":1810,"cached":0,"output":0,"reasoning":0} context_window=1000
              record turn response_id="r3" usage={"input":900,"cached":0,"output":0,"reasoning":0}
              2 turn_complete response_id="r3"
              2 error message="the thread does not fit into the model's context, even after it was compacted"
            > input 3 three after=r1
              3 task_started context_window=1000
              record branch after="r1"
              record user: three
              ask #7 [user: one | agent: A | user: three]
            > model #7 message B
              3 agent_message message="B"
            > model #7 done r4 20
              record tokens total={"input":1830,"cached":0,"output":0,"reasoning":0}
              3 token_count input=20 cached=0 output=0 reasoning=0 total={"input":1830,"cached":0,"output":0,"reasoning":0} context_window=1000
              record agent: B
              record turn response_id="r4" usage={"input":20,"cached":0,"output":0,"reasoning":0}
              3 turn_complete response_id="r4"
              3 task_complete last_agent_message="B"
            > input 4 four after=r3
              4 task_started context_window=1000
              record branch after="r3"
              record user: four
              ask #8 [user: one | user: two | user: [Summary of the thread so far] | call c2 shell | output c2:  | user: four | user: The thread is about to be replaced by what you write now, so]
            > model #8 message again
        "#]],
    );
}

/// QP-S25: what cannot be summed up whole is summed up without its oldest part.
#[test]
fn a_summary_leaves_out_what_the_model_cannot_hold() {
    check(
        "configure
         input 1 one
         model #1 call c1 true
         tool #2 exit 0
         model #1 done r1
         model #3 message A
         model #3 done r2
         op 2 {\"type\":\"compact\"}
         model #4 failed too-long it does not fit
         model #5 failed too-long it does not fit
         model #6 message summary
         model #6 done s1",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > input 1 one
              1 task_started
              record user: one
              ask #1 [user: one]
            > model #1 call c1 true
              record call c1 shell
              1 exec_command_begin call_id="c1" command=["true"]
              start #2 true in the sandbox
            > tool #2 exit 0
              1 exec_command_end call_id="c1" exit_code=0
              record output c1: 
            > model #1 done r1
              record turn response_id="r1"
              1 turn_complete response_id="r1"
              ask #3 [user: one | call c1 shell | output c1: ]
            > model #3 message A
              1 agent_message message="A"
            > model #3 done r2
              record agent: A
              record turn response_id="r2"
              1 turn_complete response_id="r2"
              1 task_complete last_agent_message="A"
            > op 2 {"type":"compact"}
              2 task_started
              ask #4 [user: one | call c1 shell | output c1:  | agent: A | user: The thread is about to be replaced by what you write now, so]
            > model #4 failed too-long it does not fit
              2 stream_error message="the thread is too long to be summed up: without its oldest 2 items"
              ask #5 [agent: A | user: The thread is about to be replaced by what you write now, so]
            > model #5 failed too-long it does not fit
              2 stream_error message="the thread is too long to be summed up: without its oldest 3 items"
              ask #6 [agent: A | user: The thread is about to be replaced by what you write now, so]
            > model #6 message summary
            > model #6 done s1
              record compacted [user: one | user: [Summary of the thread so far]]
              2 background_event message="the thread was replaced by a summary; turn_complete's earlier responses can still be continued from"
              2 task_complete
        "#]],
    );
}
