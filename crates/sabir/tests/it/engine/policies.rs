//! What is asked for under each policy: a sample of the rules, through everything that lies between
//! a model and a process.

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::json;

use super::client::Client;
use super::place::{Place, says};

/// Lets a model call all these commands at once, and returns which of them were asked for.
fn asked_for(policy: &str, commands: &[&[&str]]) -> Vec<String> {
    let place = Place::new();
    let mut events = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        let arguments = json!({ "command": command });
        events.push(responses::call(&format!("call_{number}"), "shell", &arguments));
    }
    events.push(responses::completed("resp_1"));
    let model = FakeModel::start([Reply::sse(events), says("resp_2", "ok")]);
    let mut client = Client::open_with(&place, &model, &json!({ "approval_policy": policy }));
    client.say("1", "go");
    client.until("1", "token_count");
    // Everything was judged when this is answered; what was asked for is denied.
    client.ask(&json!({ "type": "list_approvals" }));
    let asked: Vec<usize> = client
        .all_of("exec_approval_request")
        .iter()
        .map(|event| event["msg"]["call_id"].as_str().unwrap()["call_".len()..].parse().unwrap())
        .collect();
    for number in &asked {
        client.decide("no", &format!("call_{number}"), "denied");
    }
    client.until("1", "task_complete");
    client.close();
    asked.into_iter().map(|number| commands[number].join(" ")).collect()
}

const DESTRUCTIVE: [&[&str]; 18] = [
    &["rm", "-rf", "x"],
    &["rm", "-f", "x"],
    &["rm", "-fr", "x"],
    &["rm", "x", "-r"],
    &["rm", "--recursive", "x"],
    &["/bin/rm", "--force", "x"],
    &["git", "reset", "--hard"],
    &["git", "rm", "x"],
    &["git", "clean", "-fd"],
    &["git", "-C", "sub", "reset"],
    &["git", "-c", "a.b=c", "clean"],
    &["sudo", "rm", "-rf", "x"],
    &["env", "A=b", "rm", "-rf", "x"],
    &["bash", "-lc", "A=b rm -rf x"],
    &["sh", "-c", "rm -rf x"],
    &["bash", "-lc", "ls && rm -rf x"],
    &["bash", "-lc", "ls | xargs rm -rf"],
    &["bash", "-lc", "bash -c 'git reset --hard'"],
];

const HARMLESS: [&[&str]; 6] = [
    &["ls"],
    &["cat", "/dev/null"],
    &["git", "status"],
    &["bash", "-lc", "ls | wc -l"],
    &["head", "-n", "1", "/dev/null"],
    &["pwd"],
];

const NOT_TRUSTED: [&[&str]; 10] = [
    &["./ls"],
    &["touch", "x"],
    &["git", "-c", "core.pager=x", "status"],
    &["git", "diff", "--output=x"],
    &["git", "diff", "--ext-diff"],
    &["git", "branch", "-D", "main"],
    &["bash", "-lc", "ls > x"],
    &["bash", "-lc", "ls $(echo x)"],
    &["bash", "-lc", "cat <<E\nx\nE"],
    &["find", ".", "-delete"],
];

#[test]
fn on_request_asks_for_what_destroys() {
    let all: Vec<&[&str]> = DESTRUCTIVE.iter().chain(&HARMLESS).copied().collect();
    let wanted: Vec<String> = DESTRUCTIVE.iter().map(|it| it.join(" ")).collect();
    assert_eq!(asked_for("on-request", &all), wanted);
}

#[test]
fn untrusted_asks_for_all_that_is_not_known_to_only_read() {
    let all: Vec<&[&str]> =
        DESTRUCTIVE.iter().chain(&NOT_TRUSTED).chain(&HARMLESS).copied().collect();
    let wanted: Vec<String> =
        DESTRUCTIVE.iter().chain(&NOT_TRUSTED).map(|it| it.join(" ")).collect();
    assert_eq!(asked_for("untrusted", &all), wanted);
}

#[test]
fn never_asks_for_nothing() {
    assert!(asked_for("never", &[&["rm", "-rf", "x"], &["ls"]]).is_empty());
}

/// A folder that is named and cannot be made writable is told, not passed over.
#[test]
fn folders_that_cannot_be_writable_are_told() {
    let place = Place::new();
    let model = FakeModel::start([]);
    let roots = ["relative", "/tmp/..", "/no/such/folder", "/tmp"];
    let policy = json!({ "mode": "workspace-write", "writable_roots": roots });
    let mut client = Client::open_with(&place, &model, &json!({ "sandbox_policy": policy }));
    client.ask(&json!({ "type": "list_approvals" }));
    let told: Vec<String> = client
        .all_of("warning")
        .iter()
        .map(|event| event["msg"]["message"].as_str().unwrap().to_owned())
        .collect();
    client.close();
    assert_eq!(told.len(), 3, "{told:?}");
    for (told, root) in told.iter().zip(roots) {
        assert!(told.starts_with(&format!("{root} is not writable: ")), "{told}");
    }
}
