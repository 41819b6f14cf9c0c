//! A large collection: keeping its sources, finding words in them, packing them into a prompt, asking
//! about them. Beside it plain SQLite on the same texts, where it does something alike.

mod peer;
mod shelf;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use sabir_extractive::respond;
use sabir_host::{Ask, Desk, DeskModel, DeskSetup, ToolSet};
use sabir_lingua::tokens::Tokenizer;
use sabir_llmcp::{
    CitableSource, CitationStatus, PackOptions, PacketId, Request, SourceText, Timestamp, pack,
    verify_citation,
};
use sabir_store::library::{Matching, SearchRequest};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::Effort;
use crate::middle::{self, median};
use peer::Peer;
use shelf::Shelf;

#[derive(Serialize)]
pub(crate) struct LibraryTimes {
    sources: usize,
    bytes: usize,
    rows: Vec<LibraryRow>,
}

/// One thing that is done, in seconds of the median.
#[derive(Serialize)]
struct LibraryRow {
    name: &'static str,
    seconds: f64,
    peer: Option<PeerTime>,
}

#[derive(Serialize)]
struct PeerTime {
    name: &'static str,
    seconds: f64,
}

/// Beside the report: the folder for temporary files is often in memory, where syncing costs nothing.
pub(crate) fn measure(beside: &Path, effort: Effort) -> anyhow::Result<LibraryTimes> {
    let (sources, rounds) = match effort {
        Effort::Quick => (20, 1),
        Effort::Full => (1_000, 9),
    };
    let folder = beside.parent().filter(|it| it.is_dir()).unwrap_or(Path::new("."));
    let home = tempfile::tempdir_in(folder).context("cannot make a folder for the library")?;
    let texts = shelf::texts(sources);
    let peer = Peer::open(&home.path().join("peer.db"))?;
    let mut rows = Vec::new();

    let (shelf, insertion) = Shelf::fill(&home.path().join("home"), &texts)?;
    rows.push(insertion.beside("one row and one commit", peer.fill(&texts)?));
    rows.push(search(&shelf, &peer, rounds)?);
    let request = shelf.request(&shelf.question(0))?;
    rows.push(packing(&request, rounds)?);
    rows.extend(asking(&shelf, &peer, rounds)?);
    rows.push(verification(&shelf, rounds)?);
    rows.push(whole_ask(&shelf, rounds)?);

    let bytes = texts.iter().map(|text| text.markdown.len()).sum();
    Ok(LibraryTimes { sources, bytes, rows })
}

/// Words as people type them: rare ones, common ones, several.
fn search(shelf: &Shelf, peer: &Peer, rounds: usize) -> anyhow::Result<LibraryRow> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let subjects = [0, 7, 13].map(|number| shelf.subject(number).to_lowercase());
    let typed = [&subjects[0], "observatory", &subjects[1], "municipal tariff", &subjects[2]];
    for words in typed {
        let request = SearchRequest {
            words,
            matching: Matching::All,
            scope: Some(&shelf.collection),
            skip: 0,
            limit: 10,
        };
        let hits = shelf.library.search(&request)?;
        ensure!(!hits.is_empty(), "nothing found for {words}");
        ensure!(!peer.scan(words)?.is_empty(), "the scan finds nothing for {words}");
        ours.push(middle::one(rounds, || shelf.library.search(&request)));
        theirs.push(middle::one(rounds, || peer.scan(words)));
    }
    let row = LibraryRow::new("search, 10 hits with snippets", median(ours));
    Ok(row.beside("LIKE '%word%' over the same texts", median(theirs)))
}

fn packing(request: &Request, rounds: usize) -> anyhow::Result<LibraryRow> {
    let options = PackOptions {
        budget: BUDGET,
        tokenizer: Tokenizer::O200k,
        nonce: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        tools: &[],
        max_tool_calls: 1,
        max_sources: 20,
    };
    let packed = pack(request, &options)?;
    ensure!(packed.tokens <= BUDGET, "{} tokens", packed.tokens);
    Ok(LibraryRow::new("pack into 24,000 tokens", middle::one(rounds, || pack(request, &options))))
}

/// The model that is built in, on all sources.
fn asking(shelf: &Shelf, peer: &Peer, rounds: usize) -> anyhow::Result<Vec<LibraryRow>> {
    let (mut requests, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..QUESTIONS {
        let question = shelf.question(number);
        requests.push(middle::one(1, || shelf.request(&question)));
        let request = shelf.request(&question)?;
        let (id, at) = (PacketId::new("answer-1")?, Timestamp::new("2026-01-01T00:00:00.000Z")?);
        ours.push(middle::one(rounds, || respond(&request, id.clone(), at.clone())));
        ensure!(!peer.rank(&question)?.is_empty(), "no source has a word of {question}");
        theirs.push(middle::one(rounds, || peer.rank(&question)));
    }
    let read = LibraryRow::new("read all sources into a request", median(requests));
    let row = LibraryRow::new("ask the built-in model", median(ours));
    Ok(vec![read, row.beside("bm25 of FTS5, ten sources", median(theirs))])
}

/// The citations of one answer, each held against its source.
fn verification(shelf: &Shelf, rounds: usize) -> anyhow::Result<LibraryRow> {
    let request = shelf.request(&shelf.question(0))?;
    let at = Timestamp::new("2026-01-01T00:00:00.000Z")?;
    let response = respond(&request, PacketId::new("answer-1")?, at);
    let citations = &response.assistant.citations;
    ensure!(!citations.is_empty(), "the answer cites nothing");
    let verify = || {
        let mut verified = 0;
        for citation in citations {
            let id = citation.source_id.as_ref().map(|id| id.as_str()).unwrap_or_default();
            let named = request.documents.iter().find(|document| document.doc_id.as_str() == id);
            let markdown = named.and_then(|document| document.content.markdown());
            let text = SourceText::new(markdown.unwrap_or_default());
            let source = CitableSource { id, hash: "", url: None, text: &text };
            let quote = citation.quote.as_deref().unwrap_or_default();
            let verdict = verify_citation(quote, id, &[source]);
            verified += usize::from(verdict.status == CitationStatus::Verified);
        }
        verified
    };
    ensure!(verify() == citations.len(), "the built-in model cites what is not there");
    Ok(LibraryRow::new("verify the citations of an answer", middle::one(rounds, verify)))
}

/// As a person asks: sources read from disk, the answer found, verified and kept.
fn whole_ask(shelf: &Shelf, rounds: usize) -> anyhow::Result<LibraryRow> {
    let desk = Desk::open(DeskSetup {
        home: shelf.library.home().to_owned(),
        allow_egress: Vec::new(),
        program: std::env::current_exe()?,
        model: DeskModel::Extractive,
        policy: Default::default(),
        integrations: None,
        visible_browser: false,
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut seconds = Vec::new();
    for number in 0..QUESTIONS {
        let ask = Ask {
            collection: shelf.collection.clone(),
            question: shelf.question(number),
            tools: ToolSet::None,
            with_history: false,
        };
        let answer = || runtime.block_on(desk.ask(&ask, None, &CancellationToken::new()));
        ensure!(!answer()?.citations.is_empty(), "no answer to {}", ask.question);
        seconds.push(middle::one(rounds, answer));
    }
    Ok(LibraryRow::new("ask, from disk to the kept answer", median(seconds)))
}

impl LibraryRow {
    fn new(name: &'static str, seconds: f64) -> Self {
        Self { name, seconds, peer: None }
    }

    fn beside(self, name: &'static str, seconds: f64) -> Self {
        Self { peer: Some(PeerTime { name, seconds }), ..self }
    }
}

impl LibraryTimes {
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let title = format!("{} sources of {} bytes", self.sources, self.bytes / self.sources);
        let _ = writeln!(out, "\n{title:<36}{:>12}{:>12}{:>12}", "ms", "peer ms", "x slower");
        for LibraryRow { name, seconds, peer } in &self.rows {
            let _ = write!(out, "{name:<36}{:>12.2}", seconds * 1e3);
            if let Some(peer) = peer {
                let ratio = seconds / peer.seconds;
                let _ = write!(out, "{:>12.2}{ratio:>12.2}  {}", peer.seconds * 1e3, peer.name);
            }
            out.push('\n');
        }
        let _ = writeln!(out, "(x slower: than what is named at the end of the line)");
        out
    }
}

/// What small local models can read.
const BUDGET: usize = 24_000;

const QUESTIONS: usize = 5;
