//! The commands that look back say what the console shows, field by field; and when one byte of the
//! record was changed, both name the row.

use std::fs;
use std::path::Path;

use sabir_store::Store;
use sabir_testkit::browser_driver;
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::super::Script;
use super::delegated::{asking_home, counts, whole};
use super::said::CHATTER;
use super::stage::Stage;
use crate::agents::harbor::NODE;

/// What the row says that tells of the part, and no other row and no table.
const MARK: &[u8] = b"\"event\":\"child\"";

#[test]
fn joint_5_the_commands_and_the_console_agree() {
    let Some(driver) = browser_driver() else { return };
    let (home, workspace) = (asking_home(), tempfile::tempdir().unwrap());
    let child = json!({ "task": "INF(@a>@b): ok", "skill": "language.check" });
    let model = FakeModel::start([
        counts("c-1"),
        Reply::sse([responses::call("c-2", "spawn_agent", &child), responses::completed("r-2")]),
        counts("c-3"),
        whole("r-4"),
    ]);
    let sections = format!("{CHATTER}[crew.coder]\ncwd = {:?}\n", workspace.path());
    let args = ["--base-url", &model.base_url(), "--model", "m"];
    let mut stage = Stage::open(home.path(), NODE, &sections, &args);
    let script = Script::start(&driver, "agreed.mjs", &stage.link());
    let steps = script.attend(|wish, more| stage.does(wish, more));
    assert_eq!(steps, ["agreed", "whileRowsAreWritten"]);
    model.assert_done();
    stage.end();

    // One byte of one row, in a copy.
    let copy = tempfile::tempdir().unwrap();
    copy_folder(home.path(), copy.path());
    flip(copy.path());
    let sections = "[crew]\ncoder = false\nresearcher = false\nlinguist = false\n";
    let mut stage = Stage::open(copy.path(), NODE, sections, &[]);
    let verified = stage.sabir(&["audit", "verify", "--json"]);
    assert_eq!(verified["code"], 1, "{verified}");
    let said: Value = serde_json::from_str(verified["stdout"].as_str().unwrap()).unwrap();
    assert_eq!(said["result"], "tampered", "{said}");
    let row = said["seq"].as_u64().unwrap().to_string();
    let script = Script::start_with(&driver, "changed.mjs", &stage.link(), row);
    assert_eq!(script.attend(|wish, more| stage.does(wish, more)), ["changed"]);
    stage.end();
}

/// Changes a bit of the last letter of the mark.
fn flip(home: &Path) {
    // What was written last is beside the file until somebody closes it as the last.
    drop(Store::open(home).unwrap());
    let file = home.join("sabir.db");
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(MARK.len()).position(|it| it == MARK).unwrap();
    bytes[at + MARK.len() - 2] ^= 1;
    fs::write(file, bytes).unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => {
                fs::create_dir(&target).unwrap();
                copy_folder(&entry.path(), &target);
            }
            false if entry.file_type().unwrap().is_file() => {
                fs::copy(entry.path(), target).unwrap();
            }
            false => {}
        }
    }
}
