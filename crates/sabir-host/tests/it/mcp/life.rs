//! Birth and death of servers: failures at the start, crashes, restarts, and that nobody is left.

use std::time::Duration;

use expect_test::expect;
use sabir_host::{McpConfig, McpError};
use serde_json::json;

use super::{call, call_text, notices, section, start, start_in, start_with, tool_names};

#[tokio::test]
async fn servers_that_fail_leave_the_others_alone() {
    let text = section("good", "normal", "enabled_tools = [\"echo\"]")
        + &section("broken", "broken", "")
        + &section("mute", "mute", "startup_timeout_ms = 2000")
        + "[mcp.missing]\ncommand = [\"sabir-no-such-program\", \"--key=hunter2hunter2\"]\n"
        + "[mcp.nowhere]\ncommand = [\"cat\"]\ncwd = \"no/such/folder\"\n";
    let folder = tempfile::tempdir().unwrap();
    let mcp = start_in(folder.path(), &text).await;
    assert_eq!(tool_names(&mcp), ["mcp__good__echo"]);
    let mut notices: Vec<String> = mcp.notices_since(0).0.iter().map(ToString::to_string).collect();
    notices.sort();
    expect![[r#"
        MCP server `broken`: did not start, its tools are missing: it closed the connection before it answered; it exited with status 2; its last words: "cannot find my[31m configuration, and my key is [hidden]"
        MCP server `missing`: did not start, its tools are missing: there is no program `sabir-no-such-program`
        MCP server `mute`: did not start, its tools are missing: it was not ready within 2000 ms; it exited with status 0; its last words: "I am thinking"
        MCP server `nowhere`: did not start, its tools are missing: there is no folder `FOLDER/no/such/folder`"#]]
    .assert_eq(&notices.join("\n").replace(folder.path().to_str().unwrap(), "FOLDER"));
    assert_eq!(call_text(&mcp, "mcp__good__echo").await, "nothing");
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_server_that_crashed_is_started_again_for_the_next_call() {
    let mcp = start(&section("srv", "normal", "")).await;
    let before = call_text(&mcp, "mcp__srv__process").await;
    let error = call(&mcp, "mcp__srv__crash", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `srv` went away during `crash`: it exited with status 3; its last words: \"my last words\""
    );
    let after = call_text(&mcp, "mcp__srv__process").await;
    assert_ne!(before, after);
    assert!(!is_alive(&before));
    assert_eq!(
        notices(&mcp),
        "MCP server `srv`: went away: it exited with status 3; its last words: \"my last words\"\n\
         MCP server `srv`: was started again"
    );
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_server_that_does_not_come_back_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mcp = start_in(folder.path(), &section("srv", "once", "")).await;
    let error = call(&mcp, "mcp__srv__crash", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::Ended { .. }), "{error}");
    let error = call(&mcp, "mcp__srv__echo", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `srv` did not start: it closed the connection before it answered; \
         it exited with status 4; its last words: \"I start only once\""
    );
    assert_eq!(error.help().unwrap(), "check `[mcp.srv]` in the configuration");
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_left_to_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mcp = start_in(folder.path(), &section("srv", "once", "")).await;
    let mut error = call(&mcp, "mcp__srv__crash", json!({})).await.unwrap_err();
    let mut attempts = 0;
    while !matches!(error, McpError::Resting { .. }) {
        error = call(&mcp, "mcp__srv__echo", json!({})).await.unwrap_err();
        attempts += 1;
        assert!(attempts < 10);
    }
    assert!(error.to_string().contains("I start only once"), "{error}");
    mcp.shutdown().await;
}

#[tokio::test]
async fn secrets_reach_a_server_only_if_they_are_given() {
    let text = section("plain", "normal", "")
        + &section("passed", "normal", "pass_env = [\"SABIR_TEST_API_KEY\"]");
    let mcp = start(&text).await;
    assert_eq!(
        call_text(&mcp, "mcp__plain__environment").await,
        r#"SABIR_TEST_API_KEY=None SABIR_TEST_PLAIN=Some("inherited-word") GIVEN_SECRET=Some("given-by-env")"#
    );
    assert_eq!(
        call_text(&mcp, "mcp__passed__environment").await,
        r#"SABIR_TEST_API_KEY=Some("inherited-secret") SABIR_TEST_PLAIN=Some("inherited-word") GIVEN_SECRET=Some("given-by-env")"#
    );
    assert!(!format!("{mcp:?}").contains("secret"), "{mcp:?}");
    mcp.shutdown().await;
}

/// A name that does not sound secret is no reason to hand on what is one.
#[tokio::test]
async fn what_is_withheld_reaches_a_server_only_by_name() {
    let text = section("plain", "normal", "")
        + &section("passed", "normal", "pass_env = [\"SABIR_TEST_PLAIN\"]");
    let config = McpConfig::parse(&text).unwrap().withholding(["SABIR_TEST_PLAIN".to_owned()]);
    let mcp = start_with(&std::env::temp_dir(), config).await;
    let plain = call_text(&mcp, "mcp__plain__environment").await;
    assert!(plain.contains("SABIR_TEST_PLAIN=None"), "{plain}");
    let passed = call_text(&mcp, "mcp__passed__environment").await;
    assert!(passed.contains(r#"SABIR_TEST_PLAIN=Some("inherited-word")"#), "{passed}");
    mcp.shutdown().await;
}

#[tokio::test]
async fn nobody_is_left_after_shutdown() {
    // A stubborn server does not care that its input is closed.
    for mode in ["normal", "stubborn"] {
        let mcp = start(&section("srv", mode, "")).await;
        let server = call_text(&mcp, "mcp__srv__process").await;
        let grandchild = call_text(&mcp, "mcp__srv__breed").await;
        assert!(is_alive(&server) && is_alive(&grandchild));
        mcp.shutdown().await;
        assert!(!is_alive(&server), "{mode}");
        await_death(&grandchild).await;
    }
}

#[tokio::test]
async fn nobody_is_left_after_a_crash_or_a_drop() {
    let mcp = start(&section("srv", "normal", "")).await;
    let grandchild = call_text(&mcp, "mcp__srv__breed").await;
    call(&mcp, "mcp__srv__crash", json!({})).await.unwrap_err();
    await_death(&grandchild).await;
    let server = call_text(&mcp, "mcp__srv__process").await;
    let grandchild = call_text(&mcp, "mcp__srv__breed").await;
    drop(mcp);
    await_death(&server).await;
    await_death(&grandchild).await;
}

#[test]
fn nobody_is_left_when_the_runtime_goes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mcp = runtime.block_on(start(&section("srv", "stubborn", "")));
    let server = runtime.block_on(call_text(&mcp, "mcp__srv__process"));
    let grandchild = runtime.block_on(call_text(&mcp, "mcp__srv__breed"));
    drop(runtime);
    drop(mcp);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(await_death(&server));
    runtime.block_on(await_death(&grandchild));
}

#[tokio::test]
async fn nobody_is_left_when_the_start_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_owned();
    let text = section("srv", "thinking", "startup_timeout_ms = 600000");
    let starting = tokio::spawn(async move { start_in(&directory, &text).await });
    let server = loop {
        match std::fs::read_to_string(folder.path().join("process")) {
            Ok(process) if !process.is_empty() => break process,
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    assert!(is_alive(&server));
    starting.abort();
    await_death(&server).await;
}

/// A process that is dead but not yet buried by its new parent counts as dead.
fn is_alive(process: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    let state = stat.rsplit(") ").next().unwrap();
    !state.starts_with(['Z', 'X'])
}

/// The kill is sent when this is called; no event tells of the death of a grandchild.
async fn await_death(process: &str) {
    let dying = async {
        while is_alive(process) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), dying).await.unwrap();
}
