//! Every row that a busy node writes can be read as JSON, AXON, LLMX and English, with what it costs in
//! each; the page and the commands say the same.

use std::fs;

use sabir_testkit::browser_driver;
use sabir_testkit::fake_model::FakeModel;
use serde_json::{Value, json};

use super::super::Script;
use super::delegated::{asking_home, counts, whole};
use super::stage::Stage;
use crate::agents::harbor::NODE;
use crate::process::run;

/// A skill that says something, again and again, until it is stopped.
pub(super) const CHATTER: &str = "[[skills]]\nname = \"chatter\"\n\
    run = [\"sh\", \"-c\", \"i=0; while :; do i=$((i+1)); echo step $i >&2; sleep 0.01; done\"]\n";

#[test]
fn joint_4_every_row_is_said_in_four_languages() {
    let Some(driver) = browser_driver() else { return };
    let (home, workspace) = (asking_home(), tempfile::tempdir().unwrap());
    // A task, and a conversation.
    let model = FakeModel::start([counts("c-1"), whole("r-2"), counts("c-3"), whole("r-4")]);
    let sections = format!("{CHATTER}[crew.coder]\ncwd = {:?}\n", workspace.path());
    let args = ["--base-url", &model.base_url(), "--model", "m"];
    let mut stage = Stage::open(home.path(), NODE, &sections, &args);
    let texts = tempfile::tempdir().unwrap();
    let script = Script::start_with(&driver, "said.mjs", &stage.link(), workspace.path());
    let steps = script.attend(|wish, more| match wish {
        // What `sabir tokens` counts in each of these texts.
        "tokens" => {
            let files = more.iter().enumerate().map(|(number, text)| {
                let file = texts.path().join(format!("{number}.txt"));
                fs::write(&file, text.as_str().unwrap()).unwrap();
                file.into_os_string().into_string().unwrap()
            });
            let files: Vec<String> = files.collect();
            let mut args = vec!["tokens", "--json", "--tokenizer", "o200k"];
            args.extend(files.iter().map(String::as_str));
            let counted = run(&args, "");
            assert_eq!(counted.code, 0, "{}", counted.stderr);
            let lines = counted.stdout.lines().map(|line| {
                let line: Value = serde_json::from_str(line).unwrap();
                line["counts"]["o200k"].clone()
            });
            json!(lines.collect::<Vec<Value>>())
        }
        wish => stage.does(wish, more),
    });
    assert_eq!(steps, ["busy", "everyKind", "whileRowsAreWritten"]);
    model.assert_done();
    stage.end();
}
