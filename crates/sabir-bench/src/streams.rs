//! Model streams: our decoder beside a bare loop of common parts, over bytes that come from a real
//! server through a real HTTP client.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures_util::StreamExt as _;
use sabir_engine::{ModelEvent, StreamDecoder, WireApi};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde::Serialize;
use serde_json::{Value, json};
use sse_stream::SseStream;

use crate::Effort;

/// One way to read a stream.
#[derive(Serialize)]
pub(crate) struct StreamRow {
    pub(crate) name: &'static str,
    pub(crate) events: usize,
    pub(crate) bytes: usize,
    /// Of the best round.
    pub(crate) ns_per_event: f64,
    /// Time as a multiple of the bare loop's.
    pub(crate) ratio: f64,
}

pub(crate) fn measure(effort: Effort) -> anyhow::Result<Vec<StreamRow>> {
    let (deltas, rounds) = match effort {
        Effort::Quick => (1_000, 1),
        Effort::Full => (100_000, 15),
    };
    let text = stream(deltas);
    let reply = Reply::sse([text.as_str()]).in_pieces(PIECE);
    let server = FakeModel::answering(move |_, _| Some(reply.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // The peer of this page is on this machine and speaks no TLS, but the client insists on a way.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = server.base_url();

    let mut best = [Duration::MAX; 2];
    for _ in 0..rounds {
        let (ours, seen) = runtime.block_on(ours(&client, &url))?;
        ensure!(seen == deltas, "our decoder saw {seen} of {deltas} deltas");
        let (bare, seen) = runtime.block_on(bare(&client, &url))?;
        ensure!(seen == deltas, "the bare loop saw {seen} of {deltas} deltas");
        best = [best[0].min(ours), best[1].min(bare)];
    }
    let per_event = best.map(|time| time.as_nanos() as f64 / deltas as f64);
    let row = |name, ns_per_event: f64| StreamRow {
        name,
        events: deltas,
        bytes: text.len(),
        ns_per_event,
        ratio: ns_per_event / per_event[1],
    };
    Ok(vec![row("sabir-engine", per_event[0]), row(BARE, per_event[1])])
}

pub(crate) fn table(rows: &[StreamRow]) -> String {
    use std::fmt::Write as _;

    let mut out = String::new();
    let _ = writeln!(
        out,
        "\n{:<34}{:>10}{:>12}{:>9}{:>12}",
        "model stream over loopback HTTP", "ns/event", "events/s", "MB/s", "x slower"
    );
    for row in rows {
        let seconds = row.ns_per_event * row.events as f64 / 1e9;
        let _ = writeln!(
            out,
            "{:<34}{:>10.0}{:>12.0}{:>9.0}{:>12.2}",
            row.name,
            row.ns_per_event,
            1e9 / row.ns_per_event,
            row.bytes as f64 / 1e6 / seconds,
            row.ratio,
        );
    }
    let _ = writeln!(out, "(x slower: time as a multiple of {BARE}; below 1 is faster)");
    out
}

/// Deltas with everything that servers put around them.
fn stream(deltas: usize) -> String {
    let mut text = responses::created("resp_1");
    for number in 0..deltas {
        text.push_str(&responses::event(&json!({
            "type": "response.output_text.delta",
            "sequence_number": number,
            "item_id": "msg_68af4030baa48193b0b43b4c2a176a1a0e6967589f080e78",
            "output_index": 0,
            "content_index": 0,
            "delta": WORDS[number % WORDS.len()],
            "logprobs": [],
            "obfuscation": "aGVsbG8gd29",
        })));
    }
    text + &responses::completed("resp_1")
}

async fn ours(client: &reqwest::Client, url: &str) -> anyhow::Result<(Duration, usize)> {
    let mut response = client.post(url).body("{}").send().await?;
    let start = Instant::now();
    let mut decoder = StreamDecoder::new(WireApi::Responses, "fallback");
    let mut events = Vec::new();
    let mut deltas = 0;
    while let Some(chunk) = response.chunk().await? {
        decoder.push_into(&chunk, &mut events);
        for event in events.drain(..) {
            deltas += usize::from(matches!(event, ModelEvent::TextDelta(_)));
            black_box(event);
        }
    }
    ensure!(decoder.is_over(), "the stream did not end");
    Ok((start.elapsed(), deltas))
}

async fn bare(client: &reqwest::Client, url: &str) -> anyhow::Result<(Duration, usize)> {
    let response = client.post(url).body("{}").send().await?;
    let start = Instant::now();
    let mut events = SseStream::from_bytes_stream(response.bytes_stream());
    let mut deltas = 0;
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| anyhow::anyhow!("{error}"))?;
        let value: Value = serde_json::from_str(&event.data.context("an event without data")?)?;
        if value["type"] == "response.output_text.delta" {
            deltas += 1;
            black_box(value["delta"].as_str().map(str::to_owned));
        }
    }
    Ok((start.elapsed(), deltas))
}

const BARE: &str = "reqwest + sse-stream + serde_json";

/// What a server's write and the kernel make of a busy stream.
const PIECE: usize = 16 * 1024;

const WORDS: [&str; 6] = [" the", " port", ",\n", " of \"Algiers\"", " é", " merchants"];
