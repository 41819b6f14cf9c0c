//! Streams that are cut: who comes back sees each update once, in order.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::{Value, json};

use super::harbor::{Node, connect, fresh, message, open_for_text, submit};

const ASKER: &str = "ldp:delegate:asker";
const UPDATES: usize = 1_000;
const CUTS: usize = 100;

/// Updates as fast as a shell writes them, with a breath now and then, so that some are live.
const COUNTING: &str = "\
[[skills]]
name = \"count\"
run = [\"sh\", \"-c\", \"i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo step $i >&2; \
[ $((i % 20)) -eq 0 ] && sleep 0.02; done; echo counted\"]
";

/// One event of a stream.
#[derive(Debug)]
struct Event {
    id: String,
    envelope: Value,
}

/// Submits the task and reads at most so many events.
fn follow(node: &Node, task: &str, session: &str, after: Option<&str>, most: usize) -> Vec<Event> {
    let body = message(ASKER, session, submit(task, "count", "go")).to_string();
    let last = after.map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
    let mut socket = connect(node.address);
    write!(
        socket,
        "POST /ldp/stream HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         accept: text/event-stream\r\n{last}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        node.address,
        body.len()
    )
    .unwrap();
    let mut events = Vec::new();
    let (mut id, mut data) = (None, String::new());
    for line in BufReader::new(socket).lines() {
        // Lengths of chunks stand between the lines; no field looks like one.
        let Ok(line) = line else { break };
        if let Some(value) = line.strip_prefix("id:") {
            id = Some(value.trim().to_owned());
        } else if let Some(value) = line.strip_prefix("data:") {
            data.push_str(value.trim_start());
        } else if line.is_empty() && !data.is_empty() {
            let envelope = serde_json::from_str(&data).unwrap();
            events.push(Event { id: id.take().unwrap(), envelope });
            data.clear();
            if events.len() == most {
                break;
            }
        }
    }
    events
}

#[test]
fn a_stream_that_is_cut_goes_on_where_it_was() {
    let home = tempfile::tempdir().unwrap();
    let node = Node::start(home.path(), COUNTING);
    let session = open_for_text(&node, ASKER);
    let seed = std::env::var("SABIR_STREAM_SEED").ok().map(|text| text.parse::<u64>().unwrap());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("SABIR_STREAM_SEED={seed}");
    let mut random = seed | 1;
    // Between the first update and the end, wherever that is.
    let mut below = |bound: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        1 + usize::try_from(random % bound as u64).unwrap()
    };
    let task = fresh("t");
    let mut seen: Vec<Event> = Vec::new();
    for _ in 0..CUTS {
        let after = seen.last().map(|event| event.id.clone());
        // So few that the end is not among them.
        let most = below(UPDATES / CUTS - 1);
        seen.extend(follow(&node, &task, &session, after.as_deref(), most));
    }
    let after = seen.last().map(|event| event.id.clone());
    seen.extend(follow(&node, &task, &session, after.as_deref(), usize::MAX));

    let last = seen.pop().unwrap();
    assert_eq!(last.envelope["body"]["type"], "TASK_RESULT", "{last:?}");
    assert_eq!(last.envelope["body"]["output"], "counted\n", "{last:?}");
    let steps: Vec<String> = seen
        .iter()
        .filter_map(|event| event.envelope["body"]["message"].as_str())
        .filter(|text| text.starts_with("step "))
        .map(str::to_owned)
        .collect();
    let expected: Vec<String> = (1..=UPDATES).map(|step| format!("step {step}")).collect();
    assert_eq!(steps, expected);
    let ids: BTreeSet<&str> = seen.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids.len(), seen.len(), "an id came twice");

    // A finished task is told again, also after a kill: from anywhere, or as a whole.
    let home_path = node.home.clone();
    node.kill();
    let node = Node::start(&home_path, COUNTING);
    let whole = follow(&node, &task, &session, None, usize::MAX);
    assert_eq!(whole.len(), seen.len() + 1);
    let half = &seen[seen.len() / 2];
    let rest = follow(&node, &task, &session, Some(&half.id), usize::MAX);
    assert_eq!(rest.len(), seen.len() - seen.len() / 2);
    assert_eq!(rest.last().unwrap().envelope["body"]["output"], "counted\n");
    node.end();
}

/// Who goes away does not take the task along.
#[test]
fn a_lost_connection_cancels_nothing() {
    let home = tempfile::tempdir().unwrap();
    let node = Node::start(home.path(), COUNTING);
    let session = open_for_text(&node, ASKER);
    assert_eq!(follow(&node, "t", &session, None, 1).len(), 1);
    let done = node.send(&message(ASKER, &session, submit("t", "count", "go")));
    assert_eq!(done["body"]["type"], "TASK_RESULT", "{done}");
    assert_eq!(done["body"]["output"], json!("counted\n"));
    node.end();
}
