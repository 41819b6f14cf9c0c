//! How sessions end: by their clients, and with the server.

use std::time::Duration;

use rustix::process::Signal;
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::net::unix::pipe;

use super::server::{Place, Serving, soon, user_input};
use super::wires::{Kind, Wire};

/// A command that holds a pipe open as long as any of its processes lives.
struct Command {
    alive: pipe::Receiver,
    model: FakeModel,
}

/// What it does beside living.
#[derive(Clone, Copy)]
enum Does {
    Nothing,
    Talk,
}

impl Command {
    fn new(place: &Place, does: Does) -> Self {
        let path = place.work().join("alive");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let alive = pipe::OpenOptions::new().open_receiver(&path).unwrap();
        let rest = match does {
            Does::Nothing => "sleep 1000",
            Does::Talk => "while :; do echo tick; sleep 0.05; done",
        };
        let script = format!("exec 9> alive; echo here >&9; {rest}; true");
        let call = json!({ "command": ["sh", "-c", script] });
        let model = FakeModel::start([Reply::sse([
            responses::created("r1"),
            responses::call("call_1", "shell", &call),
            responses::completed("r1"),
        ])]);
        Self { alive, model }
    }

    /// Runs it over a wire, until it lives.
    async fn start(&mut self, place: &Place, wire: &mut Wire) {
        wire.send(place.configure(&self.model, "never")).await;
        wire.send(user_input("t", "go")).await;
        wire.until("t exec_command_begin", &mut Vec::new()).await;
        let mut here = [0; 5];
        soon("the command", self.alive.read_exact(&mut here)).await.unwrap();
    }

    /// Waits until none of its processes is left.
    async fn gone(mut self) {
        let mut rest = Vec::new();
        soon("the command to be gone", self.alive.read_to_end(&mut rest)).await.unwrap();
    }
}

/// QP-T7: what a client runs is stopped when it goes away.
async fn vanishes(kind: Kind, does: Does) {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let mut command = Command::new(&place, does);
    let mut wire = Wire::connect(kind, &serving, None).await;
    command.start(&place, &mut wire).await;
    wire.vanish().await;
    command.gone().await;
}

/// QP-T7: over TCP a closed connection is known when something is written to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_tcp_client_vanishes() {
    vanishes(Kind::Tcp, Does::Talk).await;
}

/// QP-T7: over TCP a reset is known at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_tcp_client_is_cut_off() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let mut command = Command::new(&place, Does::Nothing);
    let stream = TcpStream::connect(serving.address(Kind::Tcp)).await.unwrap();
    let at_once = Some(Duration::ZERO);
    rustix::net::sockopt::set_socket_linger(&stream, at_once).unwrap();
    let mut wire = Wire::of_tcp(stream);
    command.start(&place, &mut wire).await;
    wire.vanish().await;
    command.gone().await;
}

/// QP-T7: over a Unix socket.
#[tokio::test(flavor = "multi_thread")]
async fn a_unix_client_vanishes() {
    vanishes(Kind::Unix, Does::Nothing).await;
}

/// QP-T7: over WebSocket.
#[tokio::test(flavor = "multi_thread")]
async fn a_ws_client_vanishes() {
    vanishes(Kind::Ws, Does::Nothing).await;
}

/// QP-T7: over HTTP/2.
#[tokio::test(flavor = "multi_thread")]
async fn an_http_client_vanishes() {
    vanishes(Kind::Http, Does::Nothing).await;
}

/// QP-T7: over gRPC.
#[tokio::test(flavor = "multi_thread")]
async fn a_grpc_client_vanishes() {
    vanishes(Kind::Grpc, Does::Nothing).await;
}

/// QP-T7: over standard input and output.
#[tokio::test(flavor = "multi_thread")]
async fn a_stdio_client_vanishes() {
    let place = Place::new();
    let mut command = Command::new(&place, Does::Nothing);
    let mut wire = Wire::stdio(&place);
    command.start(&place, &mut wire).await;
    wire.vanish().await;
    command.gone().await;
}

/// QP-T8: a client that has said all it had to say gets the whole answer.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_input_is_not_the_end_of_the_task() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    for kind in [Kind::Tcp, Kind::Unix, Kind::Http, Kind::Grpc] {
        let wire = Wire::connect(kind, &serving, None).await;
        finishes(&place, wire).await;
    }
    // One process at a time may have the home open.
    drop(serving);
    let place = Place::new();
    finishes(&place, Wire::stdio(&place)).await;
}

async fn finishes(place: &Place, mut wire: Wire) {
    let gate = Gate::new();
    let model = FakeModel::start([Reply::sse([responses::created("r1")])
        .then_wait(&gate)
        .then(responses::message("done"))
        .then(responses::completed("r1"))]);
    wire.send(place.configure(&model, "never")).await;
    wire.send(user_input("t", "go")).await;
    wire.end_input();
    let mut heard = Vec::new();
    wire.until("t task_started", &mut heard).await;
    gate.open();
    wire.until("t task_complete", &mut heard).await;
    assert_eq!(wire.next().await, None);
}

/// QP-T14, QP-T15: signals end the server in good order: what runs is stopped, connections are
/// closed, the socket's file is removed.
#[tokio::test(flavor = "multi_thread")]
async fn signals_end_the_server() {
    for (signal, code) in [(Signal::TERM, 0), (Signal::INT, 130)] {
        let place = Place::new();
        let serving = Serving::everywhere(&place, &[]).await;
        let mut command = Command::new(&place, Does::Nothing);
        let mut wire = Wire::connect(Kind::Tcp, &serving, None).await;
        command.start(&place, &mut wire).await;
        // These wait for nothing.
        let mut idle = Vec::new();
        for kind in Kind::ALL {
            idle.push(Wire::connect(kind, &serving, None).await);
        }
        assert!(place.socket().exists());
        serving.signal(signal);
        let (status, said) = serving.ended().await;
        assert_eq!((status.code(), said.as_str()), (Some(code), ""));
        command.gone().await;
        assert!(!place.socket().exists());
        while wire.next().await.is_some() {}
    }
}

/// QP-T13: a client that does not read holds up nobody else, and loses nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_client_holds_up_nobody() {
    const DELTAS: usize = 20_000;
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let delta = responses::text_delta(&"word ".repeat(60));
    let flood = Reply::sse([responses::created("r1")])
        .then(delta.repeat(DELTAS))
        .then(responses::completed("r1"));
    let flooding = FakeModel::start([flood]);
    let mut slow = Wire::connect(Kind::Tcp, &serving, None).await;
    slow.send(place.configure(&flooding, "never")).await;
    slow.send(user_input("t", "flood")).await;
    slow.until("t agent_message_delta", &mut Vec::new()).await;
    for kind in Kind::ALL {
        let mut quick = Wire::connect(kind, &serving, None).await;
        let model = FakeModel::start([Reply::sse([
            responses::created("r1"),
            responses::message("quick"),
            responses::completed("r1"),
        ])]);
        quick.send(place.configure(&model, "never")).await;
        quick.send(user_input("q", "go")).await;
        quick.until("q task_complete", &mut Vec::new()).await;
    }
    let mut heard = vec!["t agent_message_delta".to_owned()];
    slow.until("t task_complete", &mut heard).await;
    assert_eq!(heard.iter().filter(|it| *it == "t agent_message_delta").count(), DELTAS);
}
