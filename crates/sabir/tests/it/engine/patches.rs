//! Patches of a model: where they may write, what is kept of those that are not applied, and what a
//! person is shown of those that are.

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::client::Client;
use super::place::{Place, calls, output_of, says};

fn adds(name: &str) -> String {
    format!("*** Begin Patch\n*** Add File: {name}\n+echo mine\n*** End Patch\n")
}

/// A link to a folder that may not be changed does not make it one that may.
#[test]
fn a_linked_workdir_leads_nowhere_else() {
    for approval in ["never", "on-request"] {
        let place = Place::new();
        let outside = tempfile::tempdir_in("/var/tmp").unwrap();
        std::fs::create_dir_all(place.work.join(".git/hooks")).unwrap();
        let own = place.home.to_str().unwrap().to_owned();
        let targets = [".git/hooks", outside.path().to_str().unwrap(), own.as_str()];
        let mut events = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            let link = format!("l{number}");
            std::os::unix::fs::symlink(target, place.work.join(&link)).unwrap();
            let direct = json!({ "command": ["apply_patch", adds("pre-commit")], "workdir": link });
            let script = format!("cd {link} && apply_patch <<'EOF'\n{}EOF\n", adds("post-commit"));
            let in_shell = json!({ "command": ["bash", "-lc", script] });
            events.push(responses::call(&format!("a{number}"), "shell", &direct));
            events.push(responses::call(&format!("b{number}"), "shell", &in_shell));
        }
        events.push(responses::completed("resp_1"));
        let model = FakeModel::start([Reply::sse(events), says("resp_2", "ok")]);
        let settings = json!({ "approval_policy": approval, "approval_timeout_ms": 0 });
        let mut client = Client::open_with(&place, &model, &settings);
        client.say("1", "go");
        client.until("1", "task_complete");
        client.close();
        for number in 0..targets.len() {
            for name in ["pre-commit", "post-commit"] {
                let path = place.work.join(format!("l{number}")).join(name);
                assert!(!path.exists(), "{approval}: {}", path.display());
            }
            let told = output_of(&model.requests()[1], &format!("a{number}"));
            assert!(!told.contains("Success"), "{told}");
        }
    }
}

/// What was tried and not allowed is forgotten: neither folders nor files are held.
#[test]
fn denied_patches_hold_nothing() {
    const PATCHES: usize = 20;
    let place = Place::new();
    place.write("big", &"0123456789abcde\n".repeat(64 * 1024));
    let patch = "*** Begin Patch\n*** Update File: big\n@@\n-0123456789abcde\n+x\n*** End Patch\n";
    let mut replies: Vec<Reply> = (0..PATCHES)
        .map(|n| {
            calls(&format!("r{n}"), &format!("c{n}"), "apply_patch", &json!({ "input": patch }))
        })
        .collect();
    replies.push(says("last", "ok"));
    let model = FakeModel::start(replies);
    let settings = json!({ "approval_policy": "untrusted" });
    let mut client = Client::open_with(&place, &model, &settings);
    let files = |client: &Client| {
        std::fs::read_dir(format!("/proc/{}/fd", client.child.id())).unwrap().count()
    };
    let before = files(&client);
    client.say("1", "go");
    for number in 0..PATCHES {
        let asked = client.until("1", "apply_patch_approval_request");
        let call_id = &asked["msg"]["call_id"];
        assert_eq!(*call_id, json!(format!("c{number}")));
        let op = json!({ "type": "patch_approval", "call_id": call_id, "decision": "denied" });
        client.send("no", &op);
    }
    client.until("1", "task_complete");
    let after = files(&client);
    client.close();
    // A connection to the model may be kept.
    assert!(after <= before + 4, "{before} files were open, now {after}");
}

/// The diff of a turn is one that other programs can read.
#[test]
fn the_diff_of_a_turn_names_its_files() {
    let place = Place::new();
    place.write("a.txt", "one\n");
    place.write("b.txt", "b");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Delete File: b.txt\n*** Add File: c.txt\n+c\n*** End Patch\n";
    let model = FakeModel::start([
        calls("r1", "c1", "apply_patch", &json!({ "input": patch })),
        says("r2", "ok"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    let told = client.until("1", "turn_diff");
    client.until("1", "task_complete");
    client.close();
    let Value::String(diff) = &told["msg"]["unified_diff"] else { panic!("{told}") };
    let names = ["--- a/a.txt\n+++ b/a.txt\n", "--- a/b.txt\n+++ /dev/null\n", "+++ b/c.txt\n"];
    assert!(names.iter().all(|name| diff.contains(name)), "{diff}");
    // Taken back by another program.
    std::fs::write(place.work.join("diff"), diff).unwrap();
    let mut git = std::process::Command::new("git");
    let status = git.args(["apply", "-R", "diff"]).current_dir(&place.work).status().unwrap();
    assert!(status.success(), "{diff}");
    assert_eq!((place.read("a.txt").as_str(), place.read("b.txt").as_str()), ("one\n", "b"));
}
