//! A confined command does not get at the server that runs it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::server::{Place, Serving, user_input};
use super::wires::{Kind, Wire};

const TOKEN: &str = "correct-horse";

fn configure(place: &Place, model: &FakeModel, policy: &Value) -> String {
    json!({ "id": "c", "op": {
        "type": "configure_session",
        "model": "m",
        "cwd": place.work(),
        "approval_policy": "never",
        "sandbox_policy": policy,
        "provider": { "base_url": model.base_url(), "wire_api": "responses" },
    } })
    .to_string()
}

/// A model that runs one script.
fn model_that_runs(script: &str) -> FakeModel {
    let arguments = json!({ "command": ["bash", "-c", script] });
    let call = responses::call("call_1", "shell", &arguments);
    FakeModel::start([
        Reply::sse([call, responses::completed("resp_1")]),
        Reply::sse([responses::message("done"), responses::completed("resp_2")]),
    ])
}

/// Runs a task and returns how its command ended.
async fn end_of_command(wire: &mut Wire, configure: String) -> Value {
    wire.send(configure).await;
    wire.until("c session_configured", &mut Vec::new()).await;
    wire.send(user_input("1", "go")).await;
    let end = wire.until("1 exec_command_end", &mut Vec::new()).await;
    wire.until("1 task_complete", &mut Vec::new()).await;
    serde_json::from_str(&end).unwrap()
}

fn knock(socket: &Path) -> String {
    format!(
        "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) or die \"no socket\"; \
         connect(S, sockaddr_un(\"{}\")) or die \"no door\"'",
        socket.display()
    )
}

/// QP-T18: with network or without, no confined command reaches the Unix socket, wherever it is.
#[tokio::test(flavor = "multi_thread")]
async fn the_socket_is_out_of_reach() {
    for folder in ["work", "."] {
        let place = Place::new();
        let socket = place.path().join(folder).join("socket");
        let serving = Serving::start(&place, &["--unix", socket.to_str().unwrap()], 1).await;
        for (network, why) in [(false, "no socket"), (true, "no door")] {
            let model = model_that_runs(&knock(&socket));
            let policy = json!({ "mode": "workspace-write", "network_access": network });
            let mut wire = Wire::connect(Kind::Unix, &serving, None).await;
            let end = end_of_command(&mut wire, configure(&place, &model, &policy)).await;
            assert_ne!(end["msg"]["exit_code"], 0, "{folder}, {network}: {end}");
            assert!(end["msg"]["stderr"].as_str().unwrap().contains(why), "{end}");
        }
    }
}

/// QP-T18: the kernel lists the socket under its path, so that other sandboxes can cover it.
#[tokio::test(flavor = "multi_thread")]
async fn the_socket_is_listed_under_its_path() {
    let place = Place::new();
    // Relative to the folder to work in.
    let serving = Serving::start(&place, &["--unix", "socket"], 1).await;
    let path = place.work().canonicalize().unwrap().join("socket");
    assert_eq!(Path::new(serving.address(Kind::Unix)).canonicalize().unwrap(), path);
    let listed = std::fs::read_to_string("/proc/net/unix").unwrap();
    let name = format!(" {}", serving.address(Kind::Unix));
    assert!(listed.lines().any(|line| line.ends_with(&name)), "{name} is not listed");
}

/// QP-T18: where a port asks for no token, sessions that want network for their commands are
/// refused, on every transport.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_port_means_no_network() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let model = FakeModel::start([]);
    for kind in Kind::ALL {
        for mode in ["workspace-write", "read-only"] {
            let policy = json!({ "mode": mode, "network_access": true });
            let mut wire = Wire::connect(kind, &serving, None).await;
            wire.send(configure(&place, &model, &policy)).await;
            let refusal = wire.until("c error", &mut Vec::new()).await;
            assert!(refusal.contains("without a token"), "{kind:?}: {refusal}");
            wire.send(configure(&place, &model, &json!({ "mode": mode }))).await;
            wire.until("c session_configured", &mut Vec::new()).await;
        }
    }
}

/// QP-T18: with a token, commands may have network, and do not get to know it.
#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_hidden_from_commands() {
    let place = Place::new();
    let token = place.work().join("token");
    std::fs::write(&token, TOKEN).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let args = ["--tcp", "127.0.0.1:0", "--token-file", "token"];
    let serving = Serving::start(&place, &args, 1).await;
    let model = model_that_runs("cat token; env; true");
    let policy = json!({ "mode": "workspace-write", "network_access": true });
    let mut wire = Wire::connect(Kind::Tcp, &serving, Some(TOKEN)).await;
    let end = end_of_command(&mut wire, configure(&place, &model, &policy)).await;
    assert!(end["msg"]["stdout"].as_str().unwrap().contains("PATH="), "{end}");
    assert!(!end.to_string().contains(TOKEN), "{end}");
}
