//! Tokens and dollars over time, by model and by delegate. What nobody said is not made up.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sabir_host::record::Journal;
use sabir_store::library::{Library, LibraryError};
use sabir_store::peers::Delegation;
use sabir_store::{LineFilter, Reader, SessionId, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input::Query;
use crate::refused::Answer;
use crate::state::{Console, now_ms};

/// Whose use it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Model(String),
    Delegate(String),
}

/// What was used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Used {
    input: u64,
    output: u64,
    /// Also of those who do not say which.
    tokens: u64,
    usd: f64,
    calls: u64,
}

/// Sums by time and by whom.
#[derive(Debug, Default)]
struct Usage {
    step_ms: u64,
    sums: BTreeMap<(u64, Who), Used>,
}

pub(crate) async fn show(State(console): State<Arc<Console>>, query: Query) -> Answer {
    let days = query.number::<u64>("days")?.unwrap_or(7).clamp(1, MOST_DAYS);
    let since = now_ms().saturating_sub(days * DAY_MS);
    let step_ms = if days <= 2 { HOUR_MS } else { DAY_MS };
    let mut usage = Usage { step_ms, ..Usage::default() };
    let counted = console.record(move |home| {
        let mut counted = Vec::new();
        for journal in Journal::open_all(home)? {
            if let Some(reader) = journal.reader() {
                counted.extend(of_sessions(reader, since)?);
            }
        }
        Ok(counted)
    });
    counted.await?.into_iter().for_each(|(at_ms, who, used)| usage.add(at_ms, who, used));
    let runs = console.library(move |library| of_runs(library, since)).await?;
    runs.into_iter().for_each(|(at_ms, who, used)| usage.add(at_ms, who, used));
    let given = console.peers(|peers| peers.delegations(MOST_DELEGATIONS)).await?;
    for delegation in given.iter().filter(|it| it.at_ms >= since) {
        if let Some((who, used)) = of_delegation(delegation) {
            usage.add(delegation.at_ms, who, used);
        }
    }
    let cards = console.setup.builtin.iter().filter_map(|it| it.card.as_ref());
    let own: Vec<&str> = cards.map(|card| card.delegate_id.as_str()).collect();
    Ok(Json(usage.to_json(days, &own)))
}

impl Usage {
    fn add(&mut self, at_ms: u64, who: Who, used: Used) {
        let at_ms = at_ms - at_ms % self.step_ms.max(1);
        self.sums.entry((at_ms, who)).or_default().add(used);
    }

    /// What our own delegates used, their models used: that is added up once.
    fn to_json(&self, days: u64, own: &[&str]) -> Value {
        let mut totals: BTreeMap<&Who, Used> = BTreeMap::new();
        let mut series = Vec::new();
        for ((at_ms, who), used) in &self.sums {
            totals.entry(who).or_default().add(*used);
            let mut point = who.to_json(used);
            point["at_ms"] = json!(at_ms);
            series.push(point);
        }
        let mut all = Used::default();
        for (who, used) in &totals {
            match who {
                Who::Delegate(id) if own.contains(&id.as_str()) => {}
                Who::Model(_) | Who::Delegate(_) => all.add(*used),
            }
        }
        let by: Vec<Value> = totals.iter().map(|(who, used)| who.to_json(used)).collect();
        let mut totals = all.to_json();
        totals["by"] = json!(by);
        json!({ "days": days, "step_ms": self.step_ms, "series": series, "totals": totals })
    }
}

impl Used {
    fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.usd += other.usd;
        self.calls = self.calls.saturating_add(other.calls);
    }

    fn to_json(self) -> Value {
        json!({
            "input_tokens": self.input, "output_tokens": self.output, "tokens": self.tokens,
            "usd": self.usd, "calls": self.calls,
        })
    }
}

impl Who {
    fn to_json(&self, used: &Used) -> Value {
        let mut shown = used.to_json();
        match self {
            Self::Model(name) => shown["model"] = json!(name),
            Self::Delegate(name) => shown["delegate"] = json!(name),
        }
        shown
    }
}

/// An event `token_count`.
#[derive(Deserialize)]
struct Event {
    msg: Counted,
}

/// What it says; what else it says does not matter here.
#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
}

type Entry = (u64, Who, Used);

/// What agents in sessions used, as their models said.
fn of_sessions(reader: &Reader, since_ms: u64) -> Result<Vec<Entry>, StoreError> {
    let mut models: BTreeMap<SessionId, String> = BTreeMap::new();
    let mut entries = Vec::new();
    let mut filter = LineFilter {
        kinds: vec!["event".to_owned()],
        tags: vec!["token_count".to_owned()],
        since_ms: Some(since_ms),
        ..LineFilter::default()
    };
    while entries.len() < MOST_EVENTS {
        let lines = reader.last_lines(&filter, EVENTS_TOGETHER)?;
        let Some(first) = lines.first() else { break };
        filter.before = Some(first.seq);
        for line in &lines {
            let Ok(Event { msg }) = serde_json::from_str(&line.body) else { continue };
            let Counted { input, output } = msg;
            if !models.contains_key(&line.session_id) {
                let session = reader.session(&line.session_id)?;
                let model = session.map(|it| it.model).unwrap_or_default();
                models.insert(line.session_id.clone(), model);
            }
            let model = models.get(&line.session_id).cloned().unwrap_or_default();
            let tokens = input.saturating_add(output);
            let used = Used { input, output, tokens, usd: 0.0, calls: 1 };
            entries.push((line.at_ms, Who::Model(model), used));
        }
    }
    Ok(entries)
}

/// What questions about collections used.
fn of_runs(library: &Library, since_ms: u64) -> Result<Vec<Entry>, LibraryError> {
    let (mut entries, mut before) = (Vec::new(), None);
    while entries.len() < MOST_EVENTS {
        let runs = library.runs(None, before, RUNS_TOGETHER)?;
        let Some(last) = runs.last() else { break };
        before = Some(last.num);
        let is_over = last.started_at_ms < since_ms;
        for run in runs.into_iter().filter(|run| run.started_at_ms >= since_ms) {
            let (input, output) = (run.input_tokens.unwrap_or(0), run.output_tokens.unwrap_or(0));
            let usd = run.cost_usd_micros.unwrap_or(0) as f64 / 1e6;
            let used = Used { input, output, tokens: input.saturating_add(output), usd, calls: 1 };
            entries.push((run.started_at_ms, Who::Model(run.model), used));
        }
        if is_over {
            break;
        }
    }
    Ok(entries)
}

/// What others said that they used for us.
fn of_delegation(delegation: &Delegation) -> Option<(Who, Used)> {
    let who = Who::Delegate(delegation.delegate_id.as_ref()?.as_str().to_owned());
    let provenance = delegation.provenance.as_deref();
    let provenance = provenance.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let tokens = provenance.as_ref().and_then(|it| it["tokens_used"].as_u64()).unwrap_or(0);
    let usd = delegation.cost_usd.unwrap_or(0.0);
    Some((who, Used { input: 0, output: 0, tokens, usd, calls: 1 }))
}

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;
const MOST_DAYS: u64 = 366;
/// Of one journal; older ones are left out.
const MOST_EVENTS: usize = 100_000;
const MOST_DELEGATIONS: usize = 10_000;
const EVENTS_TOGETHER: usize = 1000;
/// Each holds its packets.
const RUNS_TOGETHER: usize = 50;
