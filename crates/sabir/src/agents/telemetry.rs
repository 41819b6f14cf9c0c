//! What those who run a node are told of it: the log on standard error, and traces for a collector if
//! one was named.

use std::time::Duration;

use clap::{Args, ValueEnum};
use sabir_host::{NodeConfig, TelemetryConfig};
use sabir_telemetry::{
    Exporter, Filter, Format, LogGuard, OtlpSettings, Text, Withheld, start_log, topic,
};

use super::me;

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// What to log on standard error: off, error, warn, info, debug or trace, for all and for topics
    /// (node, door, task, order, approval, model, capture, telemetry), as in `info,door=debug`
    /// [default: SABIR_LOG, or what [telemetry] says, or info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<Filter>,
    /// How to write it [default: what [telemetry] says, or text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

/// The log, and the traces if there are any.
pub(super) struct Telemetry {
    guard: LogGuard,
    format: Format,
    withheld: Withheld,
    collector: Option<OtlpSettings>,
    exporter: Option<Exporter>,
}

impl LogArgs {
    /// From here on there is a log.
    pub(super) fn start(&self, config: &NodeConfig) -> anyhow::Result<Telemetry> {
        let TelemetryConfig { log, log_format, traced, .. } = &config.telemetry;
        let said = match me::environment("SABIR_LOG") {
            Some(text) if self.log.is_none() => {
                Some(text.parse().map_err(|error| anyhow::anyhow!("SABIR_LOG: {error}"))?)
            }
            _ => None,
        };
        let filter = self.log.clone().or(said).or_else(|| log.clone()).unwrap_or_default();
        let format = match self.log_format {
            Some(LogFormat::Text) => Format::Text,
            Some(LogFormat::Json) => Format::Json,
            None => log_format.unwrap_or_default(),
        };
        let collector = OtlpSettings::find(traced, &me::environment)?;
        let withheld = Withheld::default();
        for secret in sabir_host::secrets::values() {
            withheld.add(&secret);
        }
        for name in config.secret_variables() {
            if let Some(secret) = me::environment(&name) {
                withheld.add(&secret);
            }
        }
        let guard = start_log(filter, format, withheld.clone());
        Ok(Telemetry { guard, format, withheld, collector, exporter: None })
    }
}

impl Telemetry {
    /// Whether a program reads standard error, to which words for people would be nonsense.
    pub(super) fn is_for_programs(&self) -> bool {
        self.format == Format::Json
    }

    /// A secret that is in no variable.
    pub(super) fn withhold(&self, secret: &str) {
        self.withheld.add(secret);
    }

    /// Sends traces, if somebody named a collector.
    pub(super) fn trace(&mut self, delegate_id: &str) -> anyhow::Result<()> {
        let Some(settings) = self.collector.take() else { return Ok(()) };
        let collector = settings.shown();
        self.exporter = Some(Exporter::start(settings, delegate_id, self.withheld.clone())?);
        tracing::info!(target: topic::TELEMETRY, collector, "traces are sent");
        Ok(())
    }

    /// What was said last is not lost, as far as somebody takes it.
    pub(super) async fn stop(self) {
        if let Some(exporter) = self.exporter {
            exporter.stop(LAST_TRACES).await;
        }
        self.guard.flush(LAST_LINES);
    }
}

/// The numbers of a node that are not counted as it goes.
pub(super) fn gauges(setup: &Gauged, text: &mut Text) {
    let (running, waiting) = setup.orders.under_way();
    text.metric("sabir_orders", "gauge", "Tasks for the router that have not ended.");
    text.sample("sabir_orders", &[("state", "running")], running as f64);
    text.sample("sabir_orders", &[("state", "waiting")], waiting as f64);
    let help = "What waits for a person.";
    text.single("sabir_approvals_waiting", "gauge", help, setup.inbox.count() as f64);
    let counts: Vec<_> = setup.nodes.iter().map(|(name, node)| (*name, node.counts())).collect();
    text.metric("sabir_sessions", "gauge", "Sessions of other agents that are open.");
    for (name, counts) in &counts {
        text.sample("sabir_sessions", &[("delegate", name)], counts.sessions as f64);
    }
    let journals: Vec<_> =
        setup.nodes.iter().map(|(name, node)| (*name, node.journal_counts())).collect();
    text.metric("sabir_journal_commits_total", "counter", "Transactions of a journal.");
    for (name, counts) in &journals {
        text.sample("sabir_journal_commits_total", &[("journal", name)], counts.commits as f64);
    }
    text.metric("sabir_journal_rows_total", "counter", "Rows that a journal wrote.");
    for (name, counts) in &journals {
        text.sample("sabir_journal_rows_total", &[("journal", name)], counts.rows as f64);
    }
    let name = "sabir_journal_commit_duration_seconds";
    text.metric(name, "histogram", "How long transactions of a journal took.");
    for (journal, counts) in &journals {
        let labels = [("journal", *journal)];
        let bounds = &sabir_store::COMMIT_SECONDS;
        text.buckets(name, &labels, bounds, &counts.buckets, counts.time.as_secs_f64());
    }
}

/// Who is asked for numbers.
#[derive(Debug)]
pub(super) struct Gauged {
    pub(super) orders: sabir_net::Orders,
    pub(super) inbox: sabir_host::Inbox,
    /// The node's own delegates by their names, which are a closed list.
    pub(super) nodes: Vec<(&'static str, sabir_host::Node)>,
}

/// A collector that is there takes what is left in a moment.
const LAST_TRACES: Duration = Duration::from_secs(3);
const LAST_LINES: Duration = Duration::from_secs(1);
