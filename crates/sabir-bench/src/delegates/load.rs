//! Callers that do as little as they can: requests made beforehand, written to sockets that stay
//! open, one after the other on each. What is measured is the server.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What came of it.
pub(super) struct Load {
    pub(super) requests: usize,
    pub(super) took: Duration,
    /// What this process computed meanwhile: the server and the callers.
    pub(super) computed: Duration,
    /// From the first byte written to the last byte read, in order of length.
    pub(super) round_trips: Vec<Duration>,
}

impl Load {
    pub(super) fn per_second(&self) -> f64 {
        self.requests as f64 / self.took.as_secs_f64()
    }

    /// Of computing, for each request.
    pub(super) fn computed_each(&self) -> Duration {
        self.computed / u32::try_from(self.requests.max(1)).unwrap_or(u32::MAX)
    }

    /// The time that so many of a hundred round trips stay below.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        let at = self.round_trips.len().saturating_sub(1) * percent / 100;
        self.round_trips.get(at).copied().unwrap_or_default()
    }
}

/// A POST of JSON, whole.
pub(super) fn request(path: &str, address: SocketAddr, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    (head + body).into_bytes()
}

/// Sends the requests of each connection in turn, all connections at once. Every answer must be a
/// 200 that has `expected` in it.
pub(super) fn run(
    address: SocketAddr,
    connections: Vec<Vec<Vec<u8>>>,
    expected: &'static str,
) -> anyhow::Result<Load> {
    // On a thread of their own, so that the server's threads are the server's.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut sockets = Vec::with_capacity(connections.len());
        for _ in &connections {
            let socket = TcpStream::connect(address).await.context("cannot connect")?;
            socket.set_nodelay(true)?;
            sockets.push(socket);
        }
        let requests = connections.iter().map(Vec::len).sum();
        let (start, computed) = (Instant::now(), computed()?);
        let callers: Vec<_> = sockets
            .into_iter()
            .zip(connections)
            .map(|(socket, requests)| tokio::spawn(call_all(socket, requests, expected)))
            .collect();
        let mut round_trips = Vec::with_capacity(requests);
        for caller in callers {
            round_trips.extend(caller.await??);
        }
        let (took, computed) = (start.elapsed(), self::computed()?.saturating_sub(computed));
        round_trips.sort_unstable();
        Ok(Load { requests, took, computed, round_trips })
    })
}

/// By all threads of this process so far, in steps of a hundredth of a second.
fn computed() -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name before the bracket may hold anything. In user mode and in the kernel: the 14th and 15th.
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(11).take(2));
    let ticks = fields.context("/proc/self/stat has another form")?.map(str::parse::<u64>);
    let ticks: u64 = ticks.sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

async fn call_all(
    mut socket: TcpStream,
    requests: Vec<Vec<u8>>,
    expected: &str,
) -> anyhow::Result<Vec<Duration>> {
    let mut answer = Vec::with_capacity(4096);
    let mut round_trips = Vec::with_capacity(requests.len());
    for request in requests {
        let start = Instant::now();
        socket.write_all(&request).await?;
        answer.clear();
        while !is_whole(&answer)? {
            ensure!(socket.read_buf(&mut answer).await? > 0, "the server hung up");
        }
        round_trips.push(start.elapsed());
        if find(&answer, b"HTTP/1.1 200 ") != Some(0)
            || find(&answer, expected.as_bytes()).is_none()
        {
            bail!("not what was expected: {}", String::from_utf8_lossy(&answer));
        }
    }
    Ok(round_trips)
}

/// Whether head and body are there.
fn is_whole(answer: &[u8]) -> anyhow::Result<bool> {
    let Some(head) = find(answer, b"\r\n\r\n") else { return Ok(false) };
    let text = std::str::from_utf8(&answer[..head]).context("a head that is no text")?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    Ok(answer.len() >= head + 4 + length.context("an answer without a length")?)
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, wanted)
}
