//! Kill -9 of a node with a thousand tasks: after a restart sessions go on, what was finished is told
//! from the store, what was not is reported as it is, and nothing runs twice.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

use super::harbor::{Node, logged, message, open_for_text, submit};

const TASKS: usize = 1_000;
const CALLERS: usize = 50;

#[test]
fn a_killed_node_tells_the_truth_afterwards() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    // Long enough that many run when the node dies.
    let script = format!("x=$(cat); echo \"$x\" >> '{}'; sleep 0.2; echo \"$x\"", log.display());
    let skill =
        format!("[[skills]]\nname = \"log\"\nrun = [\"sh\", \"-c\", {}]\n", Value::from(script));
    let node = Node::start(home.path(), &skill);
    let sessions: Vec<(String, String)> = (0..CALLERS)
        .map(|number| {
            let from = format!("ldp:delegate:caller-{number}");
            let session = open_for_text(&node, &from);
            (from, session)
        })
        .collect();

    // Twenty tasks of each caller at a time; the kill comes in the middle of the answers.
    let answered = Mutex::new(BTreeMap::new());
    let (count, address) = (AtomicUsize::new(0), node.address);
    let dying = Mutex::new(Some(node));
    thread::scope(|scope| {
        for number in 0..TASKS {
            let (from, session) = &sessions[number % CALLERS];
            let (answered, count, dying) = (&answered, &count, &dying);
            scope.spawn(move || {
                let task = message(
                    from,
                    session,
                    submit(&format!("t{number}"), "log", number.to_string()),
                );
                let answer = try_send(address, &task);
                let Some(answer) = answer else { return };
                if answer["body"]["type"] == "TASK_RESULT" {
                    answered.lock().unwrap().insert(number, answer["body"]["output"].clone());
                }
                if count.fetch_add(1, Ordering::Relaxed) == TASKS / 4
                    && let Some(node) = dying.lock().unwrap().take()
                {
                    node.kill();
                }
            });
        }
    });
    assert!(dying.lock().unwrap().is_none(), "the node was not killed");
    let answered = answered.into_inner().unwrap();
    println!("{} of {TASKS} were answered before the kill", answered.len());

    let node = Node::start(home.path(), &skill);
    let tally = Mutex::new((0, 0, 0));
    thread::scope(|scope| {
        for (caller, (from, session)) in sessions.iter().enumerate() {
            let node = &node;
            let (answered, tally, log) = (&answered, &tally, &log);
            scope.spawn(move || {
                for number in (caller..TASKS).step_by(CALLERS) {
                    let ran_before = logged_once(log, number);
                    let task = submit(&format!("t{number}"), "log", number.to_string());
                    let answer = node.send(&message(from, session, task));
                    let (body, mut tally) = (&answer["body"], tally.lock().unwrap());
                    match body["type"].as_str().unwrap() {
                        "TASK_RESULT" if ran_before => tally.0 += 1,
                        // It never arrived, and runs now for the first time.
                        "TASK_RESULT" => tally.2 += 1,
                        "TASK_FAILED" => {
                            assert_eq!(body["error"]["code"], "INTERRUPTED", "{answer}");
                            tally.1 += 1;
                        }
                        other => panic!("{other}: {answer}"),
                    }
                    if let Some(output) = answered.get(&number) {
                        assert_eq!(&body["output"], output, "task {number}: {answer}");
                    }
                    logged_once(log, number);
                }
            });
        }
    });
    let (done, interrupted, new) = tally.into_inner().unwrap();
    println!("{done} from the store, {interrupted} interrupted, {new} had not arrived");
    assert!(done >= answered.len());
    assert!(interrupted > 0, "nothing ran when it was killed");
    node.end();
}

/// Whether the task ran, which it may have done once.
fn logged_once(log: &std::path::Path, number: usize) -> bool {
    let wanted = format!("\"{number}\"");
    let times = logged(log).iter().filter(|line| **line == wanted).count();
    assert!(times <= 1, "task {number} ran {times} times");
    times == 1
}

/// The answer, if there was a whole one.
fn try_send(address: std::net::SocketAddr, message: &Value) -> Option<Value> {
    use std::io::{Read as _, Write as _};
    let mut socket = std::net::TcpStream::connect(address).ok()?;
    let body = message.to_string();
    write!(
        socket,
        "POST /ldp/messages HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut text = String::new();
    socket.read_to_string(&mut text).ok()?;
    serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()
}
