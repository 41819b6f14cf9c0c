//! The key goes to the model's server and nowhere else.

use sabir_testkit::fake_model::{FakeModel, Reply};
use serde_json::json;

use super::client::{Client, settings_for};
use super::place::{Place, calls, output_of, runs, says};

const KEY: &str = "sk-open-sesame-1234567890";

#[test]
fn the_key_is_sent_as_bearer_and_kept_nowhere() {
    let place = Place::new();
    let look = "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; true";
    // With full access the processes of others are there; what root may read of them is root's.
    let look_near = "env; cat /proc/self/environ /proc/$PPID/environ | tr '\\0' '\\n'";
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["bash", "-c", look]),
        says("resp_2", "I see no key."),
        // A server that repeats what it was sent.
        Reply::error(400, "invalid", &format!("bad key {KEY}")),
    ]);
    for mode in ["workspace-write", "danger-full-access"] {
        let mut client = Client::spawn(place.command(&["proto"]).env("SABIR_API_KEY", KEY));
        let settings = json!({ "approval_policy": "never", "sandbox_policy": { "mode": mode } });
        client.configure("c", &settings_for(&place, &model, &settings));
        client.say("1", "go");
        client.until("1", "task_complete");
        if mode == "workspace-write" {
            client.say("2", "go");
            client.until("2", "error");
            model.push(runs("resp_4", "call_4", &["bash", "-c", look_near]));
            model.push(says("resp_5", "I still see no key."));
        }
        let stderr = client.close();
        let requests = model.requests();
        let bearer = format!("Bearer {KEY}");
        assert!(requests.iter().all(|it| it.header("authorization") == Some(&bearer)));
        assert!(requests.iter().all(|it| !it.body.to_string().contains(KEY)), "{mode}");
        let told = output_of(&requests[1], "call_1");
        assert!(told.contains("PATH="), "{told}");
        let shown: String = client.seen.iter().map(|event| event.to_string()).collect();
        assert!(!shown.contains(KEY), "{mode}: {shown}");
        assert!(!stderr.contains(KEY));
    }
    let home = place.home_bytes();
    assert!(!home.is_empty());
    let found = home.windows(KEY.len()).any(|window| window == KEY.as_bytes());
    assert!(!found, "the key is in the home");
    assert!(!place.run(&["sessions", "--json"]).stdout.contains(KEY));
}

/// Root may read it, so it must not be there.
#[test]
fn the_environment_of_the_program_holds_no_key() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "hi")]);
    let mut command = place.command(&["proto"]);
    command.env("SABIR_API_KEY", KEY).env("OTHER_TOKEN", KEY).env("HARMLESS", "visible");
    let mut client = Client::spawn(&mut command);
    client.configure("c", &settings_for(&place, &model, &json!({})));
    let process = std::path::PathBuf::from(format!("/proc/{}", client.child.id()));
    // Nobody else may look at all.
    if let Ok(environment) = std::fs::read(process.join("environ")) {
        let environment = String::from_utf8_lossy(&environment);
        assert!(environment.contains("HARMLESS=visible"), "{environment}");
        assert!(!environment.contains(KEY) && !environment.contains("API_KEY"), "{environment}");
    }
    let words = std::fs::read(process.join("cmdline")).unwrap();
    assert!(!String::from_utf8_lossy(&words).contains(KEY));
    assert_eq!(std::fs::read_to_string(process.join("comm")).unwrap(), "sabir\n");
    client.say("1", "go");
    client.until("1", "task_complete");
    client.close();
    let bearer = format!("Bearer {KEY}");
    assert_eq!(model.requests()[0].header("authorization"), Some(bearer.as_str()));
}

#[test]
fn without_a_key_nothing_is_sent() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "hi")]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "task_complete");
    client.close();
    assert_eq!(model.requests()[0].header("authorization"), None);
}

/// What runs commands is the program that was started, whatever stands under its name by now.
#[test]
fn a_command_cannot_take_the_place_of_the_program() {
    let place = Place::new();
    let (program, escaped) = (place.work.join("program"), place.home.with_file_name("escaped"));
    let built = env!("CARGO_BIN_EXE_sabir");
    if std::fs::hard_link(built, &program).is_err() {
        std::fs::copy(built, &program).unwrap();
    }
    let script = format!("#!/bin/sh\ntouch {}\n", escaped.display());
    place.write("script", &script);
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["bash", "-c", "chmod +x script && mv -f script program"]),
        runs("resp_2", "call_2", &["bash", "-c", "echo again"]),
        says("resp_3", "ok"),
    ]);
    let mut command = std::process::Command::new(&program);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command.arg("proto").arg("--home").arg(&place.home).current_dir(&place.work);
    let mut client = Client::spawn(&mut command);
    // Outside of the temporary folders, so that only the workspace can be written.
    let policy = json!({ "sandbox_policy": {
        "mode": "workspace-write", "exclude_slash_tmp": true, "exclude_tmpdir_env_var": true,
    } });
    client.configure("c", &settings_for(&place, &model, &policy));
    client.say("1", "go");
    client.until("1", "task_complete");
    client.close();
    assert_eq!(std::fs::read_to_string(&program).unwrap(), script, "it was replaced");
    assert!(output_of(&model.requests()[2], "call_2").contains("again"));
    assert!(!escaped.exists(), "and what it was replaced with ran without a sandbox");
}

/// The agent's own state cannot be changed by what it runs, even inside a writable root.
#[test]
fn a_home_inside_the_workspace_is_read_only_to_commands() {
    let place = Place::new();
    let home = place.work.join("state");
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["bash", "-c", "touch state/x || echo refused; touch y"]),
        says("resp_2", "ok"),
    ]);
    let mut command = crate::process::sabir();
    command.arg("proto").arg("--home").arg(&home).current_dir(&place.work);
    let mut client = Client::spawn(&mut command);
    client.configure("c", &settings_for(&place, &model, &json!({})));
    client.say("1", "go");
    client.until("1", "task_complete");
    client.close();
    let told = output_of(&model.requests()[1], "call_1");
    assert!(told.contains("refused"), "{told}");
    assert!(!home.join("x").exists() && place.work.join("y").exists());
}

/// Neither a command in the sandbox nor a tool shows what is in a key file.
#[test]
fn a_key_file_is_hidden_from_commands_and_tools() {
    let place = Place::new();
    std::fs::create_dir_all(place.work.join("a/b")).unwrap();
    let key = place.work.join("a/b/my.key");
    std::fs::write(&key, "sk-kept-secret\n").unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&key, private).unwrap();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["cat", "a/b/my.key"]),
        calls("resp_2", "call_2", "read_file", &json!({ "path": "a/b/my.key" })),
        calls("resp_3", "call_3", "search", &json!({ "pattern": "sk-" })),
        // Nor can its folder be given another name, under which the next command would find it.
        runs("resp_4", "call_4", &["sh", "-c", "mv a/b a/c; mv a d; cat */my.key */*/my.key"]),
        runs("resp_5", "call_5", &["sh", "-c", "cat */my.key */*/my.key"]),
        // Outside of the sandbox it can, and the tools still know the file.
        calls(
            "resp_6",
            "call_6",
            "shell",
            &json!({
                "command": ["mv", "a", "d"], "with_escalated_permissions": true,
            }),
        ),
        calls("resp_7", "call_7", "read_file", &json!({ "path": "d/b/my.key" })),
        calls("resp_8", "call_8", "search", &json!({ "pattern": "sk-" })),
        says("resp_9", "nothing to see"),
    ]);
    std::fs::create_dir_all(&place.home).unwrap();
    let config = format!(
        "[providers.p]\nbase_url = {:?}\nmodel = \"m\"\nkey_file = {:?}\n",
        model.base_url(),
        key
    );
    std::fs::write(place.home.join("sabir.toml"), config).unwrap();
    let mut client = Client::start(&place);
    client.configure("c", &json!({ "cwd": place.work, "provider": { "name": "p" } }));
    client.say("1", "x");
    client.until("1", "exec_approval_request");
    assert!(key.exists(), "its folder was renamed");
    client.decide("2", "call_6", "approved");
    client.until("1", "task_complete");
    assert!(place.work.join("d/b/my.key").exists());
    let shown = serde_json::to_string(&client.seen).unwrap();
    client.close();
    let requests = model.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-kept-secret"));
    for (number, request) in requests.iter().enumerate().skip(1) {
        let told = output_of(request, &format!("call_{number}"));
        assert!(!told.contains("sk-kept-secret"), "{number}: {told}");
    }
    assert!(!shown.contains("sk-kept-secret"), "{shown}");
}
