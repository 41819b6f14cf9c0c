//! More than anyone can read: memory stays flat, and what is kept is bounded.

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::json;

use super::client::Client;
use super::place::{Place, calls, output_of, says};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

#[test]
fn a_flood_of_output_is_bounded_everywhere() {
    let place = Place::new();
    let flood = json!({
        "command": ["bash", "-c", "echo begin; yes 0123456789abcde | head -c 50000000; echo end"],
        "timeout_ms": 60000,
    });
    let model =
        FakeModel::start([calls("resp_1", "call_1", "shell", &flood), says("resp_2", "ok")]);
    let mut client = Client::open(&place, &model);
    let before = client.most_memory_kib();
    client.say("1", "go");
    let end = client.until("1", "exec_command_end");
    client.until("1", "task_complete");
    let grown = client.most_memory_kib() - before;
    client.close();
    assert!(grown < 32 * 1024, "the program grew by {grown} KiB");
    assert!(end.to_string().len() <= 4 * MIB);
    let kept = end["msg"]["stdout"].as_str().unwrap();
    assert!(kept.len() > MIB / 2, "{}", kept.len());
    assert!(kept.starts_with("begin\n") && kept.ends_with("end\n"));
    let told = output_of(&model.requests()[1], "call_1");
    assert!(told.len() <= 256 * KIB + KIB, "{}", told.len());
    assert!(told.contains("begin") && told.contains("end"));
}

/// In JSON, a zero takes six bytes.
#[test]
fn what_must_be_escaped_is_bounded_as_it_is_sent() {
    let place = Place::new();
    let script = "head -c 20000000 /dev/zero & head -c 20000000 /dev/zero >&2; wait";
    let flood = json!({ "command": ["bash", "-c", script], "timeout_ms": 60000 });
    let model =
        FakeModel::start([calls("resp_1", "call_1", "shell", &flood), says("resp_2", "ok")]);
    let mut client = Client::open(&place, &model);
    let before = client.most_memory_kib();
    client.say("1", "go");
    let end = client.until("1", "exec_command_end");
    client.until("1", "task_complete");
    let grown = client.most_memory_kib() - before;
    client.close();
    assert!(grown < 32 * 1024, "the program grew by {grown} KiB");
    let length = end.to_string().len();
    assert!(length <= 4 * MIB && length > MIB, "{length}");
    for delta in client.all_of("exec_command_output_delta") {
        assert!(delta.to_string().len() <= 32 * KIB);
    }
    let told = output_of(&model.requests()[1], "call_1");
    assert!(told.len() <= 256 * KIB, "{}", told.len());
}

/// A reader that takes its time slows the model, and loses nothing.
#[test]
fn a_slow_reader_loses_no_delta() {
    use std::io::{BufRead as _, BufReader, Write as _};

    const DELTAS: usize = 20_000;
    let place = Place::new();
    // More than the buffers of sockets and pipes hold.
    let padding = "x".repeat(1000);
    let delta = |n: usize| format!("<{n}>{padding}");
    let deltas: String = (0..DELTAS).map(|n| responses::text_delta(&delta(n))).collect();
    let whole = Reply::sse([deltas, responses::message("end"), responses::completed("resp_1")]);
    let model = FakeModel::start([whole]);
    let mut child = place.command(&["proto"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut op = super::client::settings_for(&place, &model, &json!({}));
    op["type"] = json!("configure_session");
    let say = json!({ "type": "user_input", "items": [{ "type": "text", "text": "go" }] });
    writeln!(stdin, "{}", json!({ "id": "c", "op": op })).unwrap();
    writeln!(stdin, "{}", json!({ "id": "1", "op": say })).unwrap();
    drop(stdin);
    model.wait_for_request(0);
    // Nothing is read until everything that can be on its way is on its way.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(model.finished_replies(), 0, "nobody read, and still all of it was taken");
    let mut next = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let event: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["msg"]["type"] == "agent_message_delta" && next < DELTAS {
            assert_eq!(event["msg"]["delta"], delta(next));
            next += 1;
        }
    }
    assert_eq!(next, DELTAS);
    assert_eq!(crate::process::wait(&mut child), Some(0));
}
