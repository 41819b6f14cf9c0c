//! A node under load, as the program that people start: viewers of one busy conversation in the
//! console, orders for the router and tasks of other agents, all at once. An event that is lost, twice
//! or out of order, an answer that is an error, memory that grows or a descriptor that stays open make
//! it fail.

mod child;
mod person;
mod random;
mod round;
mod talk;
mod verdict;
mod viewer;
mod wire;
mod work;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Serialize;
use tokio::time::{Instant, sleep};

use crate::Effort;
use crate::middle::median;
use child::{NodeChild, Probe, Sample};
use person::Person;
use round::{Round, Stage};
use talk::Turn;
use verdict::Told;
use viewer::Absence;

/// What is asked for on the command line.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) seconds: Option<u64>,
    /// Another program than the one beside this.
    pub(crate) program: Option<PathBuf>,
}

/// How much of everything.
struct Plan {
    viewers: usize,
    orders: usize,
    tasks: usize,
    people: usize,
    length: Duration,
    /// The same load before that, so that everything is open that stays open.
    rehearsal: Duration,
    between_samples: Duration,
    turn: Turn,
    absence: Absence,
}

impl Plan {
    fn of(effort: Effort, seconds: Option<u64>) -> Self {
        let length = |usual| Duration::from_secs(seconds.unwrap_or(usual));
        match effort {
            Effort::Quick => Self {
                viewers: 20,
                orders: 4,
                tasks: 4,
                people: 2,
                length: length(2),
                rehearsal: Duration::from_millis(500),
                between_samples: Duration::from_millis(100),
                turn: Turn { steps: 10, deltas_each: 10, pause: Duration::from_millis(50) },
                absence: Absence(Duration::from_millis(500)),
            },
            Effort::Full => Self {
                viewers: 200,
                orders: 32,
                tasks: 32,
                people: 16,
                length: length(60),
                rehearsal: Duration::from_secs(5),
                between_samples: Duration::from_secs(1),
                turn: Turn { steps: 80, deltas_each: 10, pause: Duration::from_millis(50) },
                absence: Absence(Duration::from_secs(4)),
            },
        }
    }
}

/// What was measured.
#[derive(Serialize)]
pub(crate) struct NodeLoad {
    viewers: usize,
    orders_at_once: usize,
    tasks_at_once: usize,
    seconds: f64,
    /// Of the conversation, each of which every viewer saw.
    rows: usize,
    rows_per_second: f64,
    events_per_second: f64,
    bytes_per_second: f64,
    /// Connections of viewers that were broken and taken up again.
    cuts: usize,
    /// From when a row was written to when a viewer had it, over steady viewers.
    lag: Spread,
    orders: Work,
    tasks: Work,
    memory: Memory,
    cpu_seconds: f64,
    descriptors: Descriptors,
}

/// Milliseconds.
#[derive(Serialize)]
struct Spread {
    count: usize,
    p50_ms: f64,
    p99_ms: f64,
    longest_ms: f64,
}

#[derive(Serialize)]
struct Work {
    done: usize,
    per_second: f64,
    took: Spread,
}

/// Medians of the resident memory of the node after the warm-up.
#[derive(Serialize)]
struct Memory {
    first_half_bytes: f64,
    second_half_bytes: f64,
    ratio: f64,
    /// What it grew by for each order and task that ended between the middles of the halves.
    grown_per_task: f64,
    tasks_between: f64,
    most_bytes: u64,
}

#[derive(Serialize)]
struct Descriptors {
    before: usize,
    after: usize,
}

/// The home lies beside the report: the folder for temporary files is often in memory.
pub(crate) fn measure(beside: &Path, effort: Effort, wishes: Wishes) -> anyhow::Result<NodeLoad> {
    // Not needed for what is not encrypted, but a client wants one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let plan = Plan::of(effort, wishes.seconds);
    let program = match wishes.program {
        Some(program) => program,
        None => std::env::current_exe()?.with_file_name("sabir"),
    };
    let folder = beside.parent().filter(|it| it.is_dir()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize()?;
    let home = tempfile::tempdir_in(folder).context("cannot make a folder for the node")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let model = talk::model(plan.turn);
    let node = NodeChild::start(&program, home.path(), &model.base_url())?;
    let measured = runtime.block_on(run(&node, &plan));
    let measured = measured.with_context(|| node.log())?;
    node.end()?;
    Ok(measured)
}

async fn run(node: &NodeChild, plan: &Plan) -> anyhow::Result<NodeLoad> {
    let address = node.url.trim_start_matches("http://").parse()?;
    let mut people = Vec::new();
    for _ in 0..plan.people {
        people.push(Person::sign_in(node).await?);
    }
    let conversation = &talk::begin(&people[0]).await?;
    let probe = node.probe();
    let (round, before, began, ended) = {
        let stage = Stage { plan, node, address, people: &people, conversation };
        let rehearsal = stage.play(0, plan.rehearsal, None).await.context("in the rehearsal")?;
        let before = settled(&probe, None).await?;
        let began = probe.sample()?;
        let round = stage.play(1, plan.length, Some(rehearsal.last_row)).await?;
        (round, before, began, probe.sample()?)
    };
    drop(people);
    let told = Told::read(&node.home, conversation, round.last_row)?;
    ensure!(round.seen.len() == plan.viewers, "{} viewers came to an end", round.seen.len());
    for seen in &round.seen {
        told.check(seen)?;
    }
    let after = settled(&probe, Some(before)).await?;
    let load = NodeLoad::new(plan, &round, &told, [began, ended], Descriptors { before, after });
    load.check()?;
    Ok(load)
}

/// How many descriptors are open once all that ends by itself has ended. Connections that nobody uses
/// are closed after a while, and those of the node to itself are of that kind.
async fn settled(probe: &Probe, wanted: Option<usize>) -> anyhow::Result<usize> {
    let end = Instant::now() + SETTLING;
    let (mut count, mut since) = (probe.descriptors()?, Instant::now());
    loop {
        sleep(Duration::from_millis(100)).await;
        let now = probe.descriptors()?;
        if now != count {
            (count, since) = (now, Instant::now());
        }
        let is_done = wanted.map_or(since.elapsed() >= STILL, |wanted| count <= wanted);
        if is_done || Instant::now() >= end {
            return Ok(count);
        }
    }
}

impl NodeLoad {
    fn new(
        plan: &Plan,
        round: &Round,
        told: &Told,
        [began, ended]: [Sample; 2],
        descriptors: Descriptors,
    ) -> Self {
        let seconds = round.took.as_secs_f64();
        let lags: Vec<f64> = told.lags(&round.seen).iter().map(|&it| it as f64).collect();
        let events: usize = round.seen.iter().map(|it| it.ids.len()).sum();
        let bytes: u64 = round.seen.iter().map(|it| it.bytes).sum();
        Self {
            viewers: plan.viewers,
            orders_at_once: plan.orders,
            tasks_at_once: plan.tasks,
            seconds,
            rows: told.rows(),
            rows_per_second: told.rows() as f64 / seconds,
            events_per_second: events as f64 / seconds,
            bytes_per_second: bytes as f64 / seconds,
            cuts: round.seen.iter().map(|it| it.cuts).sum(),
            lag: Spread::of(&lags),
            orders: Work::of(&round.orders, seconds),
            tasks: Work::of(&round.tasks, seconds),
            memory: Memory::of(&round.samples, round.orders.len() + round.tasks.len()),
            cpu_seconds: (ended.cpu - began.cpu).as_secs_f64(),
            descriptors,
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        let Memory { first_half_bytes, second_half_bytes, tasks_between, .. } = self.memory;
        let most = first_half_bytes * MOST_GROWTH + tasks_between * KEPT_PER_TASK;
        let grown = format!("{:.1} to {:.1} MiB", mib(first_half_bytes), mib(second_half_bytes));
        let is_flat = second_half_bytes <= most;
        ensure!(is_flat, "the memory of the node grows: from {grown}, and not to {:.1}", mib(most));
        let Descriptors { before, after } = self.descriptors;
        ensure!(after <= before, "{before} descriptors were open before, and {after} stay open");
        Ok(())
    }

    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, said: String| {
            let _ = writeln!(out, "{name:<34}{said}");
        };
        let Self { viewers, orders_at_once, tasks_at_once, seconds, .. } = self;
        line(
            "\na node for",
            format!(
                " {seconds:.1} s: {viewers} viewers, {orders_at_once} orders and {tasks_at_once} \
                 tasks at once"
            ),
        );
        line("rows of the conversation", format!("{}, seen by each once, in order", self.rows));
        let (rows, events) = (self.rows_per_second, self.events_per_second);
        line("", format!("{rows:.0} rows/s, {events:.0} events/s to viewers"));
        line("bytes to viewers", format!("{:.2} MB/s", self.bytes_per_second / 1e6));
        line("connections cut and resumed", self.cuts.to_string());
        line("from written to seen", self.lag.shown());
        for (name, work) in [("orders", &self.orders), ("tasks over LDP", &self.tasks)] {
            let Work { done, per_second, took } = work;
            line(name, format!("{done}, {per_second:.0}/s, {}", took.shown()));
        }
        let Memory { first_half_bytes, second_half_bytes, ratio, most_bytes, .. } = self.memory;
        let (first, second) = (mib(first_half_bytes), mib(second_half_bytes));
        line(
            "resident memory, by halves",
            format!("{first:.1} MiB, {second:.1} MiB: x {ratio:.3}; at most {:.1} MiB", {
                mib(most_bytes as f64)
            }),
        );
        line("", format!("{:.0} bytes for each task", self.memory.grown_per_task));
        let share = self.cpu_seconds / seconds;
        line("CPU of the node", format!("{:.1} s: {share:.2} of one core", self.cpu_seconds));
        let Descriptors { before, after } = self.descriptors;
        line("open descriptors", format!("{before} before, {after} after"));
        line("lost events, errors", "0".to_owned());
        out
    }
}

impl Spread {
    /// Of values in order.
    fn of(sorted: &[f64]) -> Self {
        let at = |percent: usize| {
            let at = sorted.len().saturating_sub(1) * percent / 100;
            sorted.get(at).copied().unwrap_or(f64::NAN)
        };
        Self { count: sorted.len(), p50_ms: at(50), p99_ms: at(99), longest_ms: at(100) }
    }

    fn shown(&self) -> String {
        let Self { p50_ms, p99_ms, longest_ms, .. } = self;
        format!("p50 {p50_ms:.0} ms, p99 {p99_ms:.0} ms, longest {longest_ms:.0} ms")
    }
}

impl Work {
    fn of(sorted: &[Duration], seconds: f64) -> Self {
        let took: Vec<f64> = sorted.iter().map(|it| it.as_secs_f64() * 1e3).collect();
        let done = sorted.len();
        Self { done, per_second: done as f64 / seconds, took: Spread::of(&took) }
    }
}

impl Memory {
    fn of(samples: &[Sample], tasks: usize) -> Self {
        let bytes: Vec<f64> = samples.iter().map(|it| it.resident_bytes as f64).collect();
        let warm = &bytes[bytes.len() / WARM_UP..];
        let (first, second) = warm.split_at(warm.len() / 2);
        let (first, second) = (median(first.to_vec()), median(second.to_vec()));
        let most_bytes = samples.iter().map(|it| it.resident_bytes).max().unwrap_or(0);
        let tasks_between = tasks as f64 * warm.len() as f64 / (2 * bytes.len().max(1)) as f64;
        Self {
            first_half_bytes: first,
            second_half_bytes: second,
            ratio: second / first,
            grown_per_task: (second - first) / tasks_between.max(1.0),
            tasks_between,
            most_bytes,
        }
    }
}

fn mib(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

/// The second half may have so much more than the first: what an allocator keeps moves by some
/// hundredths.
const MOST_GROWTH: f64 = 1.1;
/// And so many bytes for each task in between: a node remembers those that ended last, up to a number
/// that a minute does not reach, so that none is done twice.
const KEPT_PER_TASK: f64 = 2048.0;
/// The first sixth of the time is not counted.
const WARM_UP: usize = 6;
/// Longer than the node keeps a connection that nobody uses.
const SETTLING: Duration = Duration::from_secs(45);
const STILL: Duration = Duration::from_secs(2);
