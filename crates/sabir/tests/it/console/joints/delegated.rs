//! A task that is given in the console is an engine task of a delegate: routed, asked about, approved,
//! followed to its end, and accounted for.

use std::fs;

use sabir_testkit::browser_driver;
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::{Value, json};

use super::super::Script;
use super::stage::Stage;
use crate::agents::harbor::NODE;

/// Asks for a command that leaves a line each time it runs.
pub(super) fn counts(id: &str) -> Reply {
    let command = json!({ "command": ["bash", "-c", "echo ran >> ran.txt"] });
    Reply::sse([responses::call(id, "shell", &command), ends(id)])
}

/// Says how far it is, and looks around.
fn half(id: &str) -> Reply {
    let looks = responses::call(id, "list_dir", &json!({ "path": "." }));
    Reply::sse([responses::message("Half of it is done."), looks, ends(id)])
}

pub(super) fn whole(id: &str) -> Reply {
    Reply::sse([responses::message("All of it is done."), ends(id)])
}

fn ends(id: &str) -> String {
    responses::completed_with_usage(id, 1200, 80)
}

/// A home whose gate asks a person before any command.
pub(super) fn asking_home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("policy.toml"), "[[ask]]\ntool = \"shell\"\n").unwrap();
    home
}

#[test]
fn joint_1_a_delegated_task_is_an_engine_task() {
    let Some(driver) = browser_driver() else { return };
    let (home, workspace) = (asking_home(), tempfile::tempdir().unwrap());
    let gate = Gate::new();
    let held = |id: &str| Reply::sse([responses::created(id)]).then_wait(&gate);
    let model = FakeModel::start([
        // To the end, with a pause before it.
        counts("c-1"),
        half("c-2"),
        held("r-3").then(responses::message("All of it is done.")).then(ends("r-3")),
        // Two in one folder, which take turns.
        counts("c-11"),
        whole("r-12"),
        counts("c-13"),
        whole("r-14"),
        // Killed while it waits for a person; the next start goes on with it, to the end.
        counts("c-4"),
        counts("c-5"),
        whole("r-6"),
        // Killed while the result is on its way, which is asked for once more.
        counts("c-7"),
        half("c-8"),
        Reply::sse([responses::text_delta("All of")]).then_hold_open(),
        whole("r-9"),
    ]);
    let coder = format!("[crew.coder]\ncwd = {:?}\n", workspace.path());
    let args = ["--base-url", &model.base_url(), "--model", "m"];
    let mut stage = Stage::open(home.path(), NODE, &coder, &args);
    let ran = workspace.path().join("ran.txt");
    let script = Script::start(&driver, "delegated.mjs", &stage.link());
    let steps = script.attend(|wish, more| match wish {
        "open" => {
            gate.open();
            Value::Null
        }
        "ran" => json!(fs::read_to_string(&ran).unwrap_or_default().lines().count()),
        "wait" => {
            let number = more[0].as_u64().unwrap();
            model.wait_for_request(usize::try_from(number).unwrap());
            Value::Null
        }
        wish => stage.does(wish, more),
    });
    assert_eq!(steps, ["toTheEnd", "takingTurns", "whileItWaits", "whileItStreams"]);
    model.assert_done();
    stage.end();
}
