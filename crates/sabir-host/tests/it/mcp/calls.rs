//! Calls of tools, and all the ways in which they do not answer.

use expect_test::expect;
use sabir_host::McpError;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{call, call_text, notices, section, start};

#[tokio::test]
async fn a_tool_answers() {
    let mcp = start(&section("srv", "normal", "")).await;
    let output = call(&mcp, "mcp__srv__echo", json!({ "text": "hello\u{1b}[2J" })).await.unwrap();
    assert_eq!(output.text, "hello[2J");
    assert!(!output.is_error);
    assert_eq!(output.structured, Some(json!({ "text": "hello\u{1b}[2J" })));
    let output = call(&mcp, "mcp__srv__fail", Value::Null).await.unwrap();
    assert!(output.is_error);
    assert_eq!(output.text, "it is raining");
    assert_eq!(notices(&mcp), "");
    mcp.shutdown().await;
}

#[tokio::test]
async fn answers_that_are_none_are_errors_with_words() {
    let mcp = start(&section("srv", "normal", "")).await;
    let mut words = Vec::new();
    for (name, arguments) in [
        ("mcp__srv__refuse", json!({})),
        ("mcp__srv__strange", json!({})),
        ("mcp__srv__echo", json!([])),
        ("mcp__srv__ecco", json!({})),
        ("mcp__srv__ech", json!({})),
    ] {
        let error = call(&mcp, name, arguments).await.unwrap_err();
        words.push(format!("{error} ({})", error.help().unwrap_or_default()));
    }
    expect![[r#"
        MCP server `srv` refused `refuse` (error -32602): no, and [hidden] is no reason ()
        MCP server `srv` answered `strange` with something that is no tool result ()
        the arguments of `mcp__srv__echo` are not a JSON object (write the arguments as a JSON object)
        no MCP server offers a tool `mcp__srv__ecco` (call `mcp__srv__echo`)
        no MCP server offers a tool `mcp__srv__ech` (call `mcp__srv__echo`)"#]]
    .assert_eq(&words.join("\n"));
    assert_eq!(
        call_text(&mcp, "mcp__srv__smell").await,
        "[content of the unknown kind `smell`, 16 bytes]"
    );
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_slow_tool_is_given_up_and_told_so() {
    let mcp = start(&section("srv", "normal", "call_timeout_ms = 500")).await;
    let error = call(&mcp, "mcp__srv__slow", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "`slow` of MCP server `srv` gave no answer within 500 ms");
    assert!(error.is_retryable());
    let seen = call_text(&mcp, "mcp__srv__seen").await;
    assert_eq!(seen, r#"slow, withdrawn: "no answer in time""#);
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_cancelled_call_returns_and_the_server_hears_of_it() {
    let mcp = start(&section("srv", "normal", "")).await;
    let cancel = CancellationToken::new();
    let slow = mcp.call("mcp__srv__slow", json!({}), cancel.clone());
    let cancelling = async {
        while call_text(&mcp, "mcp__srv__seen").await != "slow" {}
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(slow, cancelling);
    assert!(matches!(result, Err(McpError::Cancelled { .. })), "{result:?}");
    let seen = call_text(&mcp, "mcp__srv__seen").await;
    assert_eq!(seen, r#"slow, withdrawn: "cancelled by the user""#);
    // A token that is cancelled before the call lets nothing out at all.
    let result = mcp.call("mcp__srv__slow", json!({}), cancel).await;
    assert!(matches!(result, Err(McpError::Cancelled { .. })), "{result:?}");
    mcp.shutdown().await;
}

#[tokio::test]
async fn calls_to_one_server_run_beside_each_other() {
    let mcp = start(&section("srv", "normal", "")).await;
    let cancel = CancellationToken::new();
    let slow = mcp.call("mcp__srv__slow", json!({}), cancel.clone());
    let quick = async {
        for number in 0..20 {
            let text = number.to_string();
            let output = call(&mcp, "mcp__srv__echo", json!({ "text": text })).await.unwrap();
            assert_eq!(output.text, text);
        }
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(slow, quick);
    assert!(matches!(result, Err(McpError::Cancelled { .. })), "{result:?}");
    mcp.shutdown().await;
}

#[tokio::test]
async fn garbage_between_messages_is_passed_over() {
    let mcp = start(&section("srv", "normal", "")).await;
    assert_eq!(call_text(&mcp, "mcp__srv__garbage").await, "after the garbage");
    assert_eq!(call_text(&mcp, "mcp__srv__echo").await, "nothing");
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_huge_answer_is_cut_and_an_endless_one_ends_the_server() {
    let mcp = start(&section("srv", "normal", "")).await;
    let text = call_text(&mcp, "mcp__srv__huge").await;
    assert!(text.len() <= 256 * 1024);
    assert!(text.ends_with("x\n[cut: this answer had 1048576 bytes]"));
    let error = call(&mcp, "mcp__srv__flood", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `srv` went away during `flood`: it sent a message longer than 8 MiB"
    );
    assert_eq!(call_text(&mcp, "mcp__srv__echo").await, "nothing");
    mcp.shutdown().await;
}

#[tokio::test]
async fn a_server_may_ask_for_its_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = format!("cwd = {:?}", folder.path().to_str().unwrap());
    let text = section("rooted", "normal", &cwd) + &section("rootless", "normal", "");
    let mcp = start(&text).await;
    let rooted = call_text(&mcp, "mcp__rooted__ask").await;
    let rooted = rooted.replace(folder.path().to_str().unwrap(), "FOLDER");
    expect![[r#"
        {"code":-32601,"message":"this client lends its model to no server"}
        {"action":"decline"}
        {"roots":[{"uri":"file://FOLDER/"}]}"#]]
    .assert_eq(&rooted);
    expect![[r#"
        {"code":-32601,"message":"this client lends its model to no server"}
        {"action":"decline"}
        {"code":-32601,"message":"no folder is configured for this server"}"#]]
    .assert_eq(&call_text(&mcp, "mcp__rootless__ask").await);
    mcp.shutdown().await;
}
