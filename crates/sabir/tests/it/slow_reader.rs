//! A hundred thousand deltas to somebody who reads slowly: nothing is lost, the memory stays small,
//! and the model is held back.

use std::time::Duration;

use sabir_testkit::fake_model::{FakeModel, Reply, responses};

use crate::driven::{Driven, configure, user_input};

const DELTAS: usize = 100_000;

/// What a process may grow by that has no more than queues in its memory.
const MOST_GROWTH_KIB: u64 = 64 * 1024;

fn delta(number: usize) -> String {
    format!("{number:06} is the number of this small piece; ")
}

/// The deltas in groups, as they would come over a network, and then `rest`.
fn stream(rest: impl IntoIterator<Item = String>) -> Reply {
    let deltas: Vec<String> = (0..DELTAS).map(|it| responses::text_delta(&delta(it))).collect();
    let groups = deltas.chunks(100).map(|group| group.concat());
    Reply::sse(groups.chain(rest))
}

fn peak_kib(engine: &Driven) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", engine.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Waits until the model writes no more, although it has not said everything.
fn wait_until_held_back(model: &FakeModel) {
    let mut still = 0;
    let mut before = model.written_bytes();
    while still < 20 {
        std::thread::sleep(Duration::from_millis(50));
        let now = model.written_bytes();
        still = if now == before { still + 1 } else { 0 };
        before = now;
    }
    assert_eq!(model.finished_replies(), 0, "the model was not held back");
}

#[test]
fn a_slow_reader_gets_everything_and_costs_little() {
    let (home, cwd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole: String = (0..DELTAS).map(delta).collect();
    let model = FakeModel::start([stream([responses::message(""), responses::completed("r1")])]);
    let mut engine = Driven::start(home.path());
    engine.submit("c", configure(&model.base_url(), cwd.path(), "read-only"));
    engine.until("c", "session_configured");
    let before = peak_kib(&engine);
    engine.submit("t", user_input("talk"));
    engine.until("t", "agent_message_delta");
    wait_until_held_back(&model);

    let mut said = delta(0);
    let mut count = 1;
    loop {
        let event = engine.event().unwrap();
        match event["msg"]["type"].as_str().unwrap() {
            "agent_message_delta" => said.push_str(event["msg"]["delta"].as_str().unwrap()),
            "task_complete" => break,
            _ => {}
        }
        count += 1;
        if count % 10_000 == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    let growth = peak_kib(&engine) - before;
    assert!(said == whole, "{} of {} bytes came", said.len(), whole.len());
    assert!(growth < MOST_GROWTH_KIB, "it grew by {growth} KiB");
    engine.end();
    model.assert_done();
}

#[test]
fn a_slow_reader_can_still_interrupt() {
    let (home, cwd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let model = FakeModel::start([stream([])]);
    let mut engine = Driven::start(home.path());
    engine.submit("c", configure(&model.base_url(), cwd.path(), "read-only"));
    engine.submit("t", user_input("talk"));
    engine.until("t", "agent_message_delta");
    wait_until_held_back(&model);
    engine.submit("i", serde_json::json!({ "type": "interrupt" }));
    // The model is left before anything more is read.
    model.wait_for_close(0);
    let seen = engine.until("t", "error");
    assert_eq!(seen.last().unwrap()["msg"]["message"], "interrupted");
    let deltas = seen.iter().filter(|event| event["msg"]["type"] == "agent_message_delta").count();
    assert!(deltas < DELTAS / 2, "{deltas} deltas came after the interrupt");
    engine.end();
}
