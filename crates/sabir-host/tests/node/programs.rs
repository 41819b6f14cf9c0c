//! Programs as skills, the hostile ones too.

use std::path::Path;
use std::sync::Arc;

use sabir_host::process::Runner;
use sabir_host::sandbox::{Confinement, LayerChoice};
use sabir_host::{Program, Skill};
use sabir_policy::{SandboxMode, SandboxPolicy};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::world::{
    CALLER, SESSION, World, all, code, echo, message, program, shell, submission, until,
};

async fn run(script: &str, input: Value) -> Value {
    let world = World::new(&[shell(script)]).await;
    world.open().await;
    world.submit("t-1", script, input).await
}

/// LD-N15.
#[tokio::test(flavor = "multi_thread")]
async fn the_input_is_json_on_stdin_and_stdout_is_the_output() {
    assert_eq!(run("cat", json!({ "a": [1, "ü"] })).await["output"], json!({ "a": [1, "ü"] }));
    assert_eq!(run("echo plain words", json!(1)).await["output"], "plain words\n");
    assert_eq!(run("true", json!(1)).await["output"], "");
    let deep = format!("printf '{}'", "[".repeat(100));
    assert_eq!(run(&deep, json!(1)).await["output"], "[".repeat(100));
}

/// LD-N15: a number that would be another one elsewhere is told as it was written, and the work is
/// told as done.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_cannot_be_signed_as_json_is_told_as_text() {
    for output in [
        "1234567890123456789",
        "{\"id\": [-9007199254740993]}",
        "18446744073709551615",
        "[12345678901234567890123456]",
    ] {
        let told = run(&format!("echo '{output}'"), json!(1)).await;
        assert_eq!(told["type"], "TASK_RESULT", "{told}");
        assert_eq!(told["output"], format!("{output}\n"), "{told}");
        assert!(told["provenance"]["signature"].is_object(), "{told}");
    }
    // As large as numbers may be is still a number.
    assert_eq!(run("echo 9007199254740991", json!(1)).await["output"], 9_007_199_254_740_991_u64);
    let world = World::new(&[echo()]).await;
    world.open().await;
    let input = json!({ "id": 1_234_567_890_123_456_789_u64 });
    let echoed = world.submit("t-1", "echo", input).await;
    assert_eq!(echoed["output"], "{\"id\":1234567890123456789}", "{echoed}");
}

/// LD-N16.
#[tokio::test(flavor = "multi_thread")]
async fn each_line_on_stderr_is_an_update() {
    let script = "echo one >&2; printf 'two\\n\\nthree' >&2; echo '{}'";
    let world = World::new(&[shell(script)]).await;
    world.open().await;
    let told = all(world.follow(&submission("t-1", script, json!(1)), None).await).await;
    let words: Vec<&Value> = told.iter().map(|(_, body)| &body["message"]).collect();
    assert_eq!(words[..3], ["one", "two", "three"]);
    assert_eq!(told[3].1["output"], json!({}));
    assert_eq!(told.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

/// LD-N16.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_flood_on_stderr_some_is_told_and_how_much_is_not() {
    let script =
        "i=0; while [ $i -lt 1000 ]; do printf '%016000d\\n' $i >&2; i=$((i+1)); done; echo 7";
    let world = World::new(&[shell(script)]).await;
    world.open().await;
    let told = all(world.follow(&submission("t-1", script, json!(1)), None).await).await;
    assert!((100..900).contains(&told.len()), "{}", told.len());
    assert_eq!(told[told.len() - 1].1["output"], 7);
    let is_gap = |body: &Value| body["message"].as_str().is_some_and(|it| it.contains("left out"));
    assert!(told.iter().any(|(_, body)| is_gap(body)));
}

/// LD-N17.
#[tokio::test(flavor = "multi_thread")]
async fn an_exit_code_and_a_signal_are_failures_with_the_last_words() {
    let failed = run("echo half; echo broken >&2; exit 3", json!(1)).await;
    assert_eq!(code(&failed), "TASK_FAILED");
    let text = failed["error"]["message"].as_str().unwrap();
    assert!(text.contains("status 3") && text.contains("broken"), "{text}");
    assert_eq!(failed["error"]["partial_output"], "half\n");
    let script = "i=0; while [ $i -lt 2000 ]; do echo \"line $i of it ü\" >&2; i=$((i+1)); done; \
                  echo the reason >&2; exit 4";
    let long = run(script, json!(1)).await;
    let text = long["error"]["message"].as_str().unwrap();
    assert!(text.ends_with("line 1999 of it ü\nthe reason"), "{text}");
    assert!(text.contains("bytes before") && !text.contains("line 0 of"), "{text}");
    assert!(text.len() < 5000, "{}", text.len());
    let killed = run("kill -SEGV $$", json!(1)).await;
    let text = killed["error"]["message"].as_str().unwrap();
    assert!(text.contains("signal 11"), "{text}");
    let world = World::new(&[("gone", program(&["/nonexistent/program"]))]).await;
    world.open().await;
    let missing = world.submit("t-1", "gone", json!(1)).await;
    assert_eq!(code(&missing), "TASK_FAILED");
}

/// What the configuration names as a secret is not inherited, unless it is handed on by name.
#[tokio::test(flavor = "multi_thread")]
async fn a_withheld_variable_does_not_reach_a_program() {
    // Every test process has one of these.
    let name = ["CARGO_PKG_NAME", "USER", "HOME"];
    let name = name.into_iter().find(|it| std::env::var_os(it).is_some()).unwrap();
    let script = format!("echo \"is ${name}.\"");
    let with = |env: Vec<(String, String)>| -> Arc<dyn Skill> {
        let runner = Runner::new(crate::helper::path(), LayerChoice::None);
        Arc::new(Program {
            argv: ["/bin/sh", "-c", &script].map(str::to_owned).to_vec(),
            cwd: "/tmp".into(),
            env,
            confinement: Confinement::FullAccess,
            sandbox: SandboxPolicy::of(SandboxMode::DangerFullAccess),
            runner: Arc::new(runner.withholding([name.to_owned()])),
            turns: Arc::new(Semaphore::new(1)),
            repeatable: false,
        })
    };
    let given = with(vec![(name.to_owned(), "given".to_owned())]);
    let world = World::new(&[("none", with(Vec::new())), ("given", given)]).await;
    world.open().await;
    assert_eq!(world.submit("t-1", "none", json!(1)).await["output"], "is .\n");
    assert_eq!(world.submit("t-2", "given", json!(1)).await["output"], "is given.\n");
}

/// LD-N19.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_ended_and_the_node_goes_on() {
    let flooded = run("yes 0123456789abcdef", json!(1)).await;
    assert_eq!(code(&flooded), "TASK_FAILED");
    let text = flooded["error"]["message"].as_str().unwrap();
    assert!(text.contains("8 MiB"), "{text}");
}

/// LD-N19.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_reads_nothing_and_bytes_that_are_no_text_do_no_harm() {
    let large = "x".repeat(1 << 20);
    assert_eq!(run("echo 7", json!(large)).await["output"], 7);
    assert_eq!(run("exec 0<&-; echo 8", json!(large)).await["output"], 8);
    let answer = run("printf '\\377\\376ok'; printf '\\377\\n' >&2", json!(1)).await;
    assert_eq!(answer["output"], "\u{fffd}\u{fffd}ok");
}

/// LD-N18: the end.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_keeps_the_pipes_holds_up_nothing_and_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let pid = home.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; echo 1", pid.display());
    assert_eq!(run(&script, json!(1)).await["output"], 1);
    assert!(!is_alive(&pid));
}

/// LD-N18: cancel.
#[tokio::test(flavor = "multi_thread")]
async fn cancel_ends_the_whole_group_also_one_that_ignores_signals() {
    let home = tempfile::tempdir().unwrap();
    let (own, child) = (home.path().join("own"), home.path().join("child"));
    let script = format!(
        "trap '' TERM INT HUP; (trap '' TERM; setsid sleep 600 & echo $! > {}; wait) & \
         echo $$ > {}; echo up >&2; while :; do sleep 1; done",
        child.display(),
        own.display()
    );
    let world = World::new(&[shell(&script)]).await;
    world.open().await;
    let order = submission("t-1", &script, json!(1));
    let cancel = async {
        until("both run", || is_alive(&own) && is_alive(&child)).await;
        let body = json!({ "type": "TASK_CANCEL", "task_id": "t-1" });
        world.ask(&message(CALLER, SESSION, body)).await
    };
    let (answer, cancelled) = tokio::join!(world.ask(&order), cancel);
    assert_eq!(code(&answer), "CANCELLED");
    assert_eq!(cancelled["state"], "cancelled");
    until("both are gone", || !is_alive(&own) && !is_alive(&child)).await;
}

/// Whether the process whose number stands in a file runs. A dead one that nobody has buried yet
/// does not.
pub(crate) fn is_alive(file: &Path) -> bool {
    let Ok(pid) = std::fs::read_to_string(file) else { return false };
    let Ok(status) = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())) else {
        return false;
    };
    !status.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}
