//! Many viewers of one conversation beside many tasks, over connections of their own: nothing is lost
//! and nothing comes twice.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use sabir_ldp::{Stamp, Timestamp};
use sabir_store::{Reader, Scope, SessionId};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use sabir_testkit::{EventStream, NumberedEvent};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::browser::Browser;
use crate::world::{OWN, Wishes, World};

const VIEWERS: usize = 50;
const WORKERS: usize = 16;
const TASKS_EACH: usize = 3;
const TURNS: usize = 3;
const DELTAS: usize = 300;
/// What ends a turn.
const END: &str = "task_complete";

/// CO-12, CO-13: every viewer, whether steady, slow or cut off now and then, is told each row once and
/// in order, and in the end has what the journal has; tasks beside them end with what they should.
#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_misses_nothing_while_tasks_run() {
    let model = FakeModel::start((0..TURNS).map(turn));
    let world = World::with(Wishes { model: Some(&model), ..Wishes::default() }).await;
    let person = world.person().await;
    let begun = person.done("/api/sessions", json!({ "text": "Talk to me." })).await;
    let id = begun["id"].as_str().unwrap().to_owned();
    let path = format!("/api/sessions/{id}");
    let address: SocketAddr = world.url.trim_start_matches("http://").parse().unwrap();
    let watching = Arc::new(Semaphore::new(0));
    let mut viewers = JoinSet::new();
    for number in 0..VIEWERS {
        let viewer = Viewer {
            address,
            path: format!("{path}/events"),
            cookie: person.cookie.clone().unwrap(),
            random: 1 + number as u64,
            is_slow: number % 10 == 3,
            is_cut: number % 4 == 1,
        };
        viewers.spawn(viewer.watch(Arc::clone(&watching)));
    }
    let mut events = person.follow(&format!("{path}/events"), None).await;
    events.until(END).await;
    // From now on they see what happens while it does.
    watching.acquire_many(VIEWERS as u32).await.unwrap().forget();
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        match number % 2 {
            0 => workers.spawn(place_orders(person.clone(), number)),
            _ => workers.spawn(send_tasks(address, number)),
        };
    }
    for _ in 1..TURNS {
        person.done(&format!("{path}/input"), json!({ "text": "Go on." })).await;
        events.until(END).await;
    }
    workers.join_all().await;
    let seen = viewers.join_all().await;
    let reader = Reader::open(world.home.path()).unwrap();
    let lines = reader.journal(Scope::Session(&SessionId::new(id)), 0, usize::MAX).unwrap();
    let last = lines.iter().rfind(|line| line.tag == END).unwrap().seq;
    let told: Vec<NumberedEvent> = lines
        .into_iter()
        .filter(|it| it.seq <= last && matches!(it.kind.as_str(), "event" | "submission"))
        .map(|it| NumberedEvent {
            id: it.seq,
            event: if it.tag.is_empty() { it.kind } else { it.tag },
            data: it.body,
        })
        .collect();
    assert!(told.len() > TURNS * DELTAS, "{}", told.len());
    assert_eq!(seen.len(), VIEWERS);
    assert!(seen.iter().map(|(_, cuts)| cuts).sum::<usize>() > VIEWERS / 4);
    for (number, (rows, cuts)) in seen.iter().enumerate() {
        let ids = |rows: &[NumberedEvent]| rows.iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(ids(rows), ids(&told), "{number}, after {cuts} cuts");
        assert!(*rows == told, "{number}: other words");
    }
    model.assert_done();
    world.end().await;
}

fn turn(number: usize) -> Reply {
    let delta = |it| responses::text_delta(&format!("{number}.{it} as the tide comes and goes "));
    let end = responses::message("") + &responses::completed(&format!("r-{number}"));
    Reply::sse((0..DELTAS).map(delta).chain([end]))
}

struct Viewer {
    address: SocketAddr,
    path: String,
    cookie: String,
    random: u64,
    is_slow: bool,
    is_cut: bool,
}

impl Viewer {
    /// What it was told until the last turn ended, and how often it was cut off. Says when the first
    /// turn is over for it.
    async fn watch(mut self, watching: Arc<Semaphore>) -> (Vec<NumberedEvent>, usize) {
        let (mut rows, mut cuts, mut ends) = (Vec::<NumberedEvent>::new(), 0, 0);
        loop {
            let mut socket = self.open(rows.last().map(|row| row.id)).await;
            let (mut stream, mut until) = (EventStream::default(), self.draw());
            while !(self.is_cut && until == 0) {
                let mut raw = [0; 4096];
                // One that is slow takes little at a time, and others go first.
                let most = if self.is_slow { 256 } else { raw.len() };
                let count = socket.read(&mut raw[..most]).await.unwrap();
                assert_ne!(count, 0, "the node closed a stream");
                // What is behind a cut, in the middle of an event or not, does not arrive.
                let taken = if self.is_cut { count.min(until) } else { count };
                until = until.saturating_sub(count);
                stream.take(&raw[..taken]).unwrap();
                while let Some(row) = stream.next_event().unwrap() {
                    let is_end = row.event == END;
                    rows.push(row);
                    ends += usize::from(is_end);
                    if is_end && ends == 1 {
                        watching.add_permits(1);
                    }
                    if ends == TURNS {
                        return (rows, cuts);
                    }
                }
                tokio::task::yield_now().await;
            }
            cuts += 1;
        }
    }

    async fn open(&self, after: Option<u64>) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        if self.is_slow {
            // With less, the kernel would wait for its timers between two segments.
            socket.set_recv_buffer_size(16 * 1024).unwrap();
        }
        let mut socket = socket.connect(self.address).await.unwrap();
        let Self { address, path, cookie, .. } = self;
        let after = after.map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n{after}\r\n");
        socket.write_all(head.as_bytes()).await.unwrap();
        socket
    }

    /// After how many bytes it is cut off.
    fn draw(&mut self) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        // Enough for the head and for one row at least, or it would never come to an end.
        2_000 + usize::try_from(self.random % 60_000).unwrap()
    }
}

async fn place_orders(person: Browser, number: usize) {
    for count in 0..TASKS_EACH {
        let task = format!("order {number} {count}");
        let placed = person.done("/api/orders", json!({ "task": task, "skill": "echo" })).await;
        let path = format!("/api/orders/{}", placed["id"].as_str().unwrap());
        person.follow(&format!("{path}/events"), None).await.until("report").await;
        let order = person.see(&path).await;
        let said = (&order["state"], &order["output"]["instruction"]);
        assert_eq!(said, (&json!("done"), &json!(task)), "{order}");
    }
}

async fn send_tasks(address: SocketAddr, number: usize) {
    let from = format!("ldp:delegate:caller-{number}");
    let config = json!({ "preferred_payload_modes": ["text"], "trust_domain": "default" });
    let proposal = json!({ "type": "SESSION_PROPOSE", "config": config });
    let opened = send(address, &from, 0, "", proposal).await;
    let session = opened["session_id"].as_str().unwrap_or_else(|| panic!("{opened}"));
    for count in 0..TASKS_EACH {
        let task = format!("task {number} {count}");
        let submit = json!({
            "type": "TASK_SUBMIT", "task_id": format!("t-{number}-{count}"), "skill": "echo",
            "input": task,
        });
        let result = send(address, &from, count + 1, session, submit).await;
        let said = (&result["type"], &result["output"]);
        assert_eq!(said, (&json!("TASK_RESULT"), &json!(task)), "{result}");
    }
}

/// Sends a message over LDP and reads the body of the answer.
async fn send(address: SocketAddr, from: &str, count: usize, session: &str, body: Value) -> Value {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let now = Timestamp::from_millis(now.as_millis().try_into().unwrap());
    let message = json!({
        "message_id": format!("{from}-{count}"), "session_id": session, "from": from, "to": OWN,
        "timestamp": Stamp::from(now).text, "payload_mode": "text", "body": body,
    })
    .to_string();
    let mut socket = TcpStream::connect(address).await.unwrap();
    let length = message.len();
    let head = format!(
        "POST /ldp/messages HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    socket.write_all((head + &message).as_bytes()).await.unwrap();
    let mut raw = String::new();
    socket.read_to_string(&mut raw).await.unwrap();
    assert!(raw.starts_with("HTTP/1.1 200 "), "{raw}");
    let (_, answer) = raw.split_once("\r\n\r\n").unwrap();
    let mut answer: Value = serde_json::from_str(answer).unwrap();
    answer["body"].take()
}
