//! A client for every transport, all alike: messages go in, messages come out.

use std::convert::Infallible;
use std::process::Stdio;

use futures_util::{SinkExt as _, Stream, StreamExt as _, TryStreamExt as _, stream};
use sabir_net::queue_pair_v1::Submission;
use sabir_net::queue_pair_v1::queue_pair_client::QueuePairClient;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpStream, UnixStream};
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest as _};
use tokio_util::io::StreamReader;

use super::server::{Place, Serving, name, soon};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tcp,
    Unix,
    Ws,
    Http,
    Grpc,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Tcp, Self::Unix, Self::Ws, Self::Http, Self::Grpc];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Ws => "ws",
            Self::Http => "http",
            Self::Grpc => "grpc",
        }
    }
}

/// A session's client. Dropping it makes it vanish: its connection is closed, without a word.
pub(super) struct Wire {
    to: Option<mpsc::Sender<String>>,
    from: mpsc::Receiver<String>,
    tasks: JoinSet<()>,
    child: Option<Child>,
}

impl Wire {
    pub(super) async fn send(&self, message: impl Into<String>) {
        self.to.as_ref().unwrap().send(message.into()).await.unwrap();
    }

    /// The next event, or nothing after the last.
    pub(super) async fn next(&mut self) -> Option<String> {
        soon("an event", self.from.recv()).await
    }

    /// Takes events up to this one, and returns it.
    pub(super) async fn until(&mut self, wanted: &str, transcript: &mut Vec<String>) -> String {
        loop {
            let Some(line) = self.next().await else {
                panic!("ended before {wanted:?}: {transcript:#?}")
            };
            transcript.push(name(&line));
            if name(&line) == wanted {
                return line;
            }
        }
    }

    /// Sends no more, and still listens.
    pub(super) fn end_input(&mut self) {
        self.to = None;
    }

    /// Waits until the connection is gone on our side.
    pub(super) async fn vanish(mut self) {
        self.tasks.shutdown().await;
        drop(self.from);
        // A client of standard input and output goes away by closing both.
        if let Some(mut child) = self.child.take() {
            soon("the program to end", child.wait()).await.unwrap();
        }
    }

    /// Connects, and says the token if there is one.
    pub(super) async fn connect(kind: Kind, serving: &Serving, token: Option<&str>) -> Self {
        let address = serving.address(kind);
        let bearer = token.map(|token| format!("Bearer {token}"));
        match kind {
            Kind::Tcp => {
                let stream = TcpStream::connect(address).await.unwrap();
                Self::greet(Self::of_tcp(stream), bearer).await
            }
            Kind::Unix => {
                let (read, write) = UnixStream::connect(address).await.unwrap().into_split();
                Self::greet(Self::of_lines(read, write), bearer).await
            }
            Kind::Ws => Self::ws(address, bearer).await,
            Kind::Http => Self::http(address, bearer).await,
            Kind::Grpc => Self::grpc(address, bearer).await.unwrap(),
        }
    }

    async fn greet(wire: Self, bearer: Option<String>) -> Self {
        if let Some(bearer) = bearer {
            wire.send(serde_json::json!({ "authorization": bearer }).to_string()).await;
        }
        wire
    }

    pub(super) fn of_tcp(stream: TcpStream) -> Self {
        let (read, write) = stream.into_split();
        Self::of_lines(read, write)
    }

    pub(super) fn stdio(place: &Place) -> Self {
        let mut child = place.proto().stdin(Stdio::piped()).spawn().unwrap();
        let (read, write) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        Self { child: Some(child), ..Self::of_lines(read, write) }
    }

    pub(super) fn of_channels(
        to: mpsc::Sender<String>,
        from: mpsc::Receiver<String>,
        tasks: JoinSet<()>,
    ) -> Self {
        Self { to: Some(to), from, tasks, child: None }
    }

    pub(super) fn of_lines(
        read: impl AsyncRead + Send + Unpin + 'static,
        mut write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (to, mut sent) = mpsc::channel::<String>(1);
        let (came, from) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Some(mut message) = sent.recv().await {
                message.push('\n');
                // A server that refuses us stops reading.
                if write.write_all(message.as_bytes()).await.is_err() {
                    return;
                }
            }
            let _ = write.shutdown().await;
        });
        tasks.spawn(async move {
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if came.send(line).await.is_err() {
                    return;
                }
            }
        });
        Self::of_channels(to, from, tasks)
    }

    async fn ws(address: &str, bearer: Option<String>) -> Self {
        let mut request = format!("ws://{address}/").into_client_request().unwrap();
        if let Some(bearer) = bearer {
            request.headers_mut().insert("authorization", bearer.parse().unwrap());
        }
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let (mut sink, mut frames) = socket.split();
        let (to, mut sent) = mpsc::channel::<String>(1);
        let (came, from) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Some(message) = sent.recv().await {
                sink.send(Message::text(message)).await.unwrap();
            }
        });
        tasks.spawn(async move {
            while let Some(Ok(message)) = frames.next().await {
                match message {
                    Message::Text(text) => {
                        if came.send(text.to_string()).await.is_err() {
                            return;
                        }
                    }
                    Message::Close(_) => return,
                    other => panic!("not a text frame: {other:?}"),
                }
            }
        });
        Self::of_channels(to, from, tasks)
    }

    async fn http(address: &str, bearer: Option<String>) -> Self {
        let (to, sent) = mpsc::channel::<String>(1);
        let lines = stream_of(sent).map(|line| Ok::<_, Infallible>(line + "\n"));
        let mut request = http_client()
            .post(format!("http://{address}/session"))
            .body(reqwest::Body::wrap_stream(lines));
        if let Some(bearer) = bearer {
            request = request.header("authorization", bearer);
        }
        let response = soon("the response", request.send()).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.version(), reqwest::Version::HTTP_2);
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        let (came, from) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let body = response.bytes_stream().map_err(std::io::Error::other);
            let mut lines = StreamReader::new(body).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if came.send(line).await.is_err() {
                    return;
                }
            }
        });
        Self::of_channels(to, from, tasks)
    }

    pub(super) async fn grpc(address: &str, bearer: Option<String>) -> Result<Self, tonic::Status> {
        let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}"));
        let channel = endpoint.unwrap().connect().await.unwrap();
        let (to, sent) = mpsc::channel::<String>(1);
        let mut request = tonic::Request::new(stream_of(sent).map(|json| Submission { json }));
        if let Some(bearer) = bearer {
            request.metadata_mut().insert("authorization", bearer.parse().unwrap());
        }
        let mut client = QueuePairClient::new(channel);
        let mut events = soon("the response", client.session(request)).await?.into_inner();
        let (came, from) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Ok(Some(event)) = events.message().await {
                if came.send(event.json).await.is_err() {
                    return;
                }
            }
        });
        Ok(Self::of_channels(to, from, tasks))
    }
}

/// A client that speaks HTTP/2 from its first byte.
pub(super) fn http_client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap()
}

fn stream_of(taken: mpsc::Receiver<String>) -> impl Stream<Item = String> + Send + 'static {
    stream::unfold(taken, |mut taken| async move { taken.recv().await.map(|it| (it, taken)) })
}
