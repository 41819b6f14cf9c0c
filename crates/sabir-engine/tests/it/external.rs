//! Tools of other servers in the machine: what is said about their effects decides, and what is
//! offered changes between requests.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_tool_that_reads_runs_and_another_is_asked_for() {
    check(
        "configure
         external mcp__s__look=read-only mcp__s__do=unknown mcp__s__wipe=destructive
         input 1 go
         model #1 call c1 mcp__s__look {}
         model #1 call c2 mcp__s__do {}
         model #1 call c3 mcp__s__wipe {}",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > external mcp__s__look=read-only mcp__s__do=unknown mcp__s__wipe=destructive
            > input 1 go
              1 task_started
              record user: go
              ask #1 [user: go]
            > model #1 call c1 mcp__s__look {}
              record call c1 mcp__s__look
              1 tool_call_begin call_id="c1" tool="mcp__s__look" arguments={}
              start #2 External { name: "mcp__s__look", arguments: Object {} }
            > model #1 call c2 mcp__s__do {}
              record call c2 mcp__s__do
              record approval call_id="c2" state="requested" what="mcp__s__do"
              1 exec_approval_request call_id="c2" command=["mcp__s__do","{}"] reason="nobody knows what this tool does, and it runs outside of the sandbox"
            > model #1 call c3 mcp__s__wipe {}
              record call c3 mcp__s__wipe
              record approval call_id="c3" state="requested" what="mcp__s__wipe"
              1 exec_approval_request call_id="c3" command=["mcp__s__wipe","{}"] reason="this tool's own server calls it destructive, and it runs outside of the sandbox"
        "#]],
    );
}

#[test]
fn under_never_what_would_be_asked_for_is_refused() {
    check(
        "configure never
         external mcp__s__look=read-only mcp__s__do=unknown
         input 1 go
         model #1 call c1 mcp__s__look {}
         model #1 call c2 mcp__s__do {}",
        expect![[r#"
            > configure never
              c session_configured approval_policy="never" history_items=0
            > external mcp__s__look=read-only mcp__s__do=unknown
            > input 1 go
              1 task_started
              record user: go
              ask #1 [user: go]
            > model #1 call c1 mcp__s__look {}
              record call c1 mcp__s__look
              1 tool_call_begin call_id="c1" tool="mcp__s__look" arguments={}
              start #2 External { name: "mcp__s__look", arguments: Object {} }
            > model #1 call c2 mcp__s__do {}
              record call c2 mcp__s__do
              1 warning message="refused: mcp__s__do: nobody knows what this tool does, and it runs outside of the sandbox; the approval policy is never, so nobody is asked"
              record output c2: nobody knows what this tool does, and it runs outside of the sandbox; the approval policy is never, so nobody is asked
        "#]],
    );
}

#[test]
fn a_tool_that_went_away_is_not_called() {
    check(
        "configure
         external mcp__s__look=read-only
         external
         input 1 go
         model #1 call c1 mcp__s__look {}",
        expect![[r#"
            > configure
              c session_configured approval_policy="on-request" history_items=0
            > external mcp__s__look=read-only
            > external
            > input 1 go
              1 task_started
              record user: go
              ask #1 [user: go]
            > model #1 call c1 mcp__s__look {}
              record call c1 mcp__s__look
              1 tool_call_begin call_id="c1" tool="mcp__s__look" arguments="{}"
              1 tool_call_end call_id="c1" tool="mcp__s__look" output="there is no tool named \"mcp__s__look\"; use one of those that are offered"
              record output c1: there is no tool named "mcp__s__look"; use one of those that are offered
        "#]],
    );
}
